//! Reads that lag behind writes.

use super::*;

fn lagging(change: fn(&mut Lag)) -> Lab {
    let lab = Lab::new();
    lab.sandbox.edit(|world| change(&mut world.lag));
    lab
}

fn seen(lab: &Lab) -> Option<Group> {
    run(lab.sandbox.group(GROUP)).unwrap()
}

#[test]
fn a_new_group_is_not_visible_for_n_reads() {
    let lab = lagging(|lag| lag.groups = 2);
    let template = lab.template("pool-1");
    lab.perform(&create_group(&template, 1)).unwrap();
    assert_eq!(lab.refusal(&create_group(&template, 1)).kind, ErrorKind::AlreadyExists);
    assert_eq!([seen(&lab).is_some(), seen(&lab).is_some(), seen(&lab).is_some()], [false, false, true]);
}

#[test]
fn tags_and_bounds_are_the_old_ones_for_n_reads() {
    let lab = Lab::with_group(1);
    lab.sandbox.edit(|world| world.lag.groups = 2);
    lab.perform(&Write::TagGroup { group: GROUP.to_owned(), tags: tags(&[("new", "tag")]) }).unwrap();
    lab.perform(&set_desired(2)).unwrap();
    for expected in [(false, 1), (false, 1), (true, 2)] {
        let group = lab.group();
        assert_eq!((group.tags.contains_key("new"), group.desired), expected);
    }
}

#[test]
fn another_write_makes_reads_lag_anew() {
    let lab = Lab::with_group(1);
    lab.sandbox.edit(|world| world.lag.groups = 2);
    lab.perform(&set_desired(2)).unwrap();
    assert_eq!(lab.group().desired, 1);
    lab.perform(&set_desired(3)).unwrap();
    assert_eq!([lab.group().desired, lab.group().desired, lab.group().desired], [1, 1, 3]);
}

#[test]
fn a_deleting_group_stays_visible_for_n_reads() {
    let lab = Lab::with_group(0);
    lab.sandbox.edit(|world| world.lag.groups = 3);
    lab.perform(&delete_group(false)).unwrap();
    assert_eq!((1..=3).filter(|_| lab.group().deleting).count(), 0, "not yet seen as deleting");
    assert!(lab.group().deleting);
    lab.wait(20);
    assert_eq!((1..=3).filter(|_| lab.group().deleting).count(), 3, "still seen after it is gone");
    assert_eq!(seen(&lab), None);
}

#[test]
fn refreshes_and_policies_lag_by_themselves() {
    let lab = Lab::with_group(1);
    lab.sandbox.edit(|world| (world.lag.refreshes, world.lag.policies) = (2, 1));
    let policy = Write::PutPolicy { group: GROUP.to_owned(), name: "cpu".to_owned(), target: 60.0 };
    lab.perform(&policy).unwrap();
    lab.perform(&Write::StartRefresh { group: GROUP.to_owned(), warmup_seconds: 0 }).unwrap();
    let shown = || {
        let refreshes = run(lab.sandbox.refreshes(GROUP)).unwrap().len();
        (refreshes, run(lab.sandbox.policies(GROUP)).unwrap().len())
    };
    assert_eq!([shown(), shown(), shown()], [(0, 0), (0, 1), (1, 1)]);
}

#[test]
fn templates_and_versions_lag() {
    let lab = lagging(|lag| lag.templates = 1);
    let id = lab.template("pool-1");
    let all = TemplateQuery::Id(id.clone());
    let count = || run(lab.sandbox.templates(&all)).unwrap().len();
    assert_eq!([count(), count()], [0, 1]);
    let versions = || run(lab.sandbox.versions(&VersionQuery::All(id.clone()))).unwrap().len();
    assert_eq!([versions(), versions()], [0, 1]);
    let next = Write::CreateTemplateVersion {
        template_id: id.clone(),
        description: String::new(),
        data: Box::new(lab.data()),
    };
    assert_eq!(lab.perform(&next).unwrap(), Answer::Version(2));
    assert_eq!([versions(), versions()], [1, 2]);
    lab.perform(&Write::DeleteTemplate { template_id: id.clone() }).unwrap();
    assert_eq!([count(), count()], [1, 0]);
}

#[test]
fn instances_lag_behind_the_members_of_the_group() {
    let lab = lagging(|lag| lag.instances = 2);
    let template = lab.template("pool-1");
    lab.perform(&create_group(&template, 1)).unwrap();
    lab.wait(5);
    assert_eq!(lab.members().len(), 1);
    let count = || lab.instances().len();
    assert_eq!([count(), count(), count()], [0, 0, 1]);
    lab.wait(60);
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(5);
    let state = || lab.instances()[0].state.clone();
    assert_eq!([state(), state(), state()], ["running", "running", "shutting-down"]);
}

#[test]
fn a_fresh_template_is_unknown_to_auto_scaling_for_a_while() {
    let lab = lagging(|lag| lag.template_use_seconds = 30);
    let template = lab.template("pool-1");
    let error = lab.refusal(&create_group(&template, 1));
    assert_eq!(error.kind, ErrorKind::Validation);
    assert!(error.message.contains("does not exist"), "{error}");
    lab.clock.advance(Duration::from_secs(30));
    lab.perform(&create_group(&template, 1)).unwrap();
}
