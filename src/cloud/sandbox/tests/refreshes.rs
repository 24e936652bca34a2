//! Instance refreshes.

use std::collections::BTreeSet;

use super::*;
use crate::model::observed::TemplateUse;

/// Points the group at a second template.
fn repoint(lab: &Lab) {
    lab.template("pool-2");
    let template = Some(TemplateRef::Named("pool-2".to_owned()));
    lab.perform(&Write::UpdateGroup(UpdateGroup { template, ..update() })).unwrap();
}

fn by_hand(lab: &Lab, options: RefreshOptions) -> String {
    let now = lab.clock.now();
    lab.sandbox.edit(|world| world.start_refresh_by_hand(GROUP, options, now)).unwrap()
}

fn in_service(lab: &Lab) -> usize {
    lab.group().members.iter().filter(|member| member.lifecycle == "InService").count()
}

#[test]
fn a_refresh_replaces_members_of_another_template_new_ones_first() {
    let lab = Lab::with_group(5);
    let before: BTreeSet<String> = lab.members().into_iter().collect();
    repoint(&lab);
    let Answer::Refresh(id) = lab.perform(&start_refresh()).unwrap() else { panic!("a refresh") };
    assert_eq!((lab.refresh().id, lab.refresh().status.as_str()), (id, "Pending"));
    lab.wait(6);
    let refresh = lab.refresh();
    assert_eq!(
        (refresh.status.as_str(), refresh.percentage, refresh.remaining),
        ("InProgress", Some(0), Some(5))
    );
    let mut percentages = BTreeSet::new();
    for _ in 0..300 {
        lab.wait(1);
        assert!(in_service(&lab) >= 5, "at least 100 % healthy");
        assert!(
            lab.group().members.iter().filter(|m| m.lifecycle != "Terminating").count() <= 10,
            "at most 200 %"
        );
        percentages.insert(lab.refresh().percentage.unwrap());
    }
    assert!(percentages.len() > 2, "{percentages:?}");
    let refresh = lab.refresh();
    assert_eq!(
        (refresh.status.as_str(), refresh.percentage, refresh.remaining),
        ("Successful", Some(100), Some(0))
    );
    assert!(refresh.end > refresh.start);
    assert_eq!(lab.members().len(), 5);
    assert!(lab.members().iter().all(|id| !before.contains(id)));
    assert!(lab.group().members.iter().all(|m| m.template.as_ref().unwrap().name == "pool-2"));
}

#[test]
fn a_refresh_waits_for_the_warmup() {
    let lab = Lab::with_group(1);
    repoint(&lab);
    lab.perform(&Write::StartRefresh { group: GROUP.to_owned(), warmup_seconds: 300 }).unwrap();
    lab.wait(310);
    assert_eq!((lab.refresh().status.as_str(), in_service(&lab)), ("InProgress", 2));
    lab.wait(30);
    assert_eq!(lab.refresh().status, "Successful");
}

#[test]
fn a_start_during_a_refresh_is_in_progress() {
    let lab = Lab::with_group(1);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    for wait in [0, 10] {
        lab.wait(wait);
        let error = lab.refusal(&start_refresh());
        assert_eq!(
            (error.kind, error.code.as_str()),
            (ErrorKind::RefreshInProgress, "InstanceRefreshInProgress")
        );
    }
    lab.perform(&Write::CancelRefresh { group: GROUP.to_owned() }).unwrap();
    assert_eq!(lab.refresh().status, "Cancelling");
    assert_eq!(lab.refusal(&start_refresh()).kind, ErrorKind::RefreshInProgress);
    lab.wait(10);
    assert_eq!(lab.refresh().status, "Cancelled");
    lab.perform(&start_refresh()).unwrap();
    let refreshes = run(lab.sandbox.refreshes(GROUP)).unwrap();
    assert_eq!(refreshes.iter().map(|r| r.status.as_str()).collect::<Vec<_>>(), ["Pending", "Cancelled"]);
}

#[test]
fn a_refresh_with_skip_matching_leaves_those_that_match() {
    let lab = Lab::with_group(3);
    let before = lab.members();
    lab.perform(&start_refresh()).unwrap();
    lab.wait(60);
    let refresh = lab.refresh();
    assert_eq!((refresh.status.as_str(), refresh.percentage), ("Successful", Some(100)));
    assert_eq!(lab.members(), before);
}

#[test]
fn a_refresh_with_skip_matching_replaces_older_versions_of_the_same_template() {
    let lab = Lab::with_group(2);
    let before = lab.members();
    let Launch::Template(template) = lab.group().launch else { panic!("a template") };
    lab.perform(&Write::CreateTemplateVersion {
        template_id: template.id,
        description: String::new(),
        data: Box::new(lab.data()),
    })
    .unwrap();
    lab.perform(&set_desired(3)).unwrap();
    lab.wait(60);
    let newest: Vec<String> = lab.members().into_iter().filter(|id| !before.contains(id)).collect();
    lab.perform(&start_refresh()).unwrap();
    lab.wait(300);
    assert_eq!(lab.refresh().status, "Successful");
    let after = lab.members();
    assert!(after.contains(&newest[0]), "it already ran version 2");
    assert!(before.iter().all(|id| !after.contains(id)));
}

#[test]
fn a_refresh_without_skip_matching_replaces_everybody() {
    let lab = Lab::with_group(3);
    let before = lab.members();
    by_hand(&lab, RefreshOptions::default());
    lab.wait(300);
    assert_eq!(lab.refresh().status, "Successful");
    assert_eq!(lab.members().len(), 3);
    assert!(lab.members().iter().all(|id| !before.contains(id)));
}

#[test]
fn protected_members_are_refreshed_and_standby_ones_ignored() {
    let lab = Lab::with_group(3);
    let before = lab.members();
    lab.edit_instance(&before[0], |instance| instance.protected = true);
    lab.edit_instance(&before[1], |instance| instance.lifecycle = Some("Standby".to_owned()));
    lab.edit_group(|group| group.desired = 2);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    lab.wait(400);
    assert_eq!(lab.refresh().status, "Successful");
    let after = lab.members();
    assert_eq!(after.len(), 3);
    assert!(!after.contains(&before[0]) && after.contains(&before[1]) && !after.contains(&before[2]));
}

#[test]
fn protected_members_stay_if_the_refresh_ignores_them() {
    let lab = Lab::with_group(2);
    let before = lab.members();
    lab.edit_instance(&before[0], |instance| instance.protected = true);
    by_hand(&lab, RefreshOptions::default());
    lab.wait(300);
    assert!(lab.members().contains(&before[0]) && !lab.members().contains(&before[1]));
}

#[test]
fn cancelling_takes_a_while_and_rolls_nothing_back() {
    let lab = Lab::with_group(4);
    repoint(&lab);
    let cancel = Write::CancelRefresh { group: GROUP.to_owned() };
    let none = lab.refusal(&cancel);
    assert_eq!(
        (none.kind, none.code.as_str()),
        (ErrorKind::NoActiveRefresh, "ActiveInstanceRefreshNotFound")
    );
    lab.perform(&start_refresh()).unwrap();
    lab.wait(20);
    assert_eq!(lab.members().len(), 6, "two replacements are launching");
    lab.perform(&cancel).unwrap();
    assert_eq!(lab.refusal(&cancel).kind, ErrorKind::NoActiveRefresh);
    assert_eq!(lab.refresh().status, "Cancelling");
    lab.wait(120);
    assert_eq!(lab.refresh().status, "Cancelled");
    assert!(lab.refresh().end.is_some());
    let members = lab.group().members;
    let renewed = members.iter().filter(|m| m.template.as_ref().unwrap().name == "pool-2").count();
    assert_eq!((members.len(), renewed), (4, 2), "what was launched stays, and no more is replaced");
}

#[test]
fn a_refresh_of_an_empty_group_succeeds() {
    let lab = Lab::with_group(0);
    lab.perform(&start_refresh()).unwrap();
    lab.wait(6);
    assert_eq!((lab.refresh().status.as_str(), lab.refresh().percentage), ("Successful", Some(100)));
}

#[test]
fn a_group_scaled_to_zero_ends_its_refresh() {
    let lab = Lab::with_group(4);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    lab.wait(20);
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(120);
    assert_eq!((lab.refresh().status.as_str(), lab.members().len()), ("Successful", 0));
}

#[test]
fn scaling_during_a_refresh_does_not_confuse_it() {
    for desired in [1, 2, 7] {
        let lab = Lab::with_group(4);
        repoint(&lab);
        lab.perform(&start_refresh()).unwrap();
        lab.wait(30);
        lab.perform(&set_desired(desired)).unwrap();
        lab.wait(600);
        assert_eq!(lab.refresh().status, "Successful");
        let members = lab.group().members;
        assert_eq!(members.len(), desired as usize);
        assert!(members.iter().all(|m| m.template.as_ref().unwrap().name == "pool-2"));
    }
}

#[test]
fn failing_launches_fail_the_refresh_and_leave_the_members() {
    let lab = Lab::with_group(2);
    let before = lab.members();
    repoint(&lab);
    lab.sandbox.edit(|world| world.launch_error = Some("Insufficient capacity.".to_owned()));
    lab.perform(&start_refresh()).unwrap();
    lab.wait(20);
    assert_eq!(lab.refresh().status, "InProgress");
    lab.wait(200);
    let refresh = lab.refresh();
    assert_eq!((refresh.status.as_str(), refresh.remaining), ("Failed", Some(2)));
    assert!(refresh.reason.unwrap().contains("Insufficient capacity"));
    assert_eq!(lab.members(), before);
}

#[test]
fn a_suspended_process_holds_a_refresh() {
    for process in ["Launch", "Terminate", "InstanceRefresh"] {
        let lab = Lab::with_group(2);
        let before = lab.members();
        repoint(&lab);
        let group = GROUP.to_owned();
        let process = process.to_owned();
        lab.perform(&Write::SuspendProcess { group: group.clone(), process: process.clone() }).unwrap();
        lab.perform(&start_refresh()).unwrap();
        lab.wait(300);
        assert_eq!((lab.refresh().status.as_str(), lab.members()), ("InProgress", before), "{process}");
        lab.perform(&Write::ResumeProcess { group, process }).unwrap();
        lab.wait(300);
        assert_eq!(lab.refresh().status, "Successful");
    }
}

#[test]
fn a_template_update_during_a_refresh_with_a_desired_configuration_is_refused() {
    let lab = Lab::with_group(1);
    let id = lab.template("pool-2");
    let desired = TemplateUse { id, name: "pool-2".to_owned(), version: "$Latest".to_owned() };
    by_hand(&lab, RefreshOptions { desired: Some(desired.clone()), ..RefreshOptions::default() });
    assert_eq!(lab.refresh().desired_template.as_ref(), Some(&desired));
    let template = Some(TemplateRef::Named("pool-1".to_owned()));
    let repoint = Write::UpdateGroup(UpdateGroup { template, ..update() });
    let error = lab.refusal(&repoint);
    assert_eq!(error.kind, ErrorKind::Validation);
    assert!(error.message.contains("active instance refresh with a desired configuration"), "{error}");
    lab.perform(&set_desired(2)).unwrap();
    lab.wait(300);
    assert_eq!(lab.group().launch, Launch::Template(desired), "the group gets it on success");
    assert!(lab.group().members.iter().all(|m| m.template.as_ref().unwrap().name == "pool-2"));
    lab.perform(&repoint).unwrap();
}

#[test]
fn a_template_update_during_a_refresh_without_one_is_accepted() {
    let lab = Lab::with_group(1);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    let template = Some(TemplateRef::Named("pool-1".to_owned()));
    lab.perform(&Write::UpdateGroup(UpdateGroup { template, ..update() })).unwrap();
}

#[test]
fn statuses_set_by_hand_stay_and_count_as_active_unless_final() {
    let lab = Lab::with_group(1);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    lab.edit_group(|group| "Baking".clone_into(&mut group.refreshes[0].status));
    lab.wait(120);
    assert_eq!(lab.refresh().status, "Baking");
    assert_eq!(lab.refusal(&start_refresh()).kind, ErrorKind::RefreshInProgress);
    lab.edit_group(|group| "RollbackSuccessful".clone_into(&mut group.refreshes[0].status));
    lab.perform(&start_refresh()).unwrap();
}

#[test]
fn a_refresh_that_begins_while_the_group_empties_ends() {
    let lab = Lab::with_group(3);
    repoint(&lab);
    lab.perform(&start_refresh()).unwrap();
    lab.wait(3);
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(120);
    assert_eq!((lab.refresh().status.as_str(), lab.members().len()), ("Successful", 0));
}
