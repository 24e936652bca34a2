//! Groups and times far larger than those that people try things out with.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use super::*;

/// A group of `desired` members in all three zones, of which nothing has been looked at yet.
fn large(desired: u32) -> Lab {
    let lab = Lab::new();
    let template = lab.template("pool-1");
    let group = CreateGroup { max: u32::MAX, ..new_group(&template, desired) };
    lab.perform(&Write::CreateGroup(group)).unwrap();
    lab
}

fn set_desired_and_wait(lab: &Lab, desired: u32) -> usize {
    lab.perform(&set_desired(desired)).unwrap();
    lab.clock.advance(Duration::from_mins(5));
    lab.group().members.len()
}

/// A roll of all, a scale-in to half, a zone that goes, and the end.
fn life(members: u32) -> Duration {
    let began = Instant::now();
    let lab = large(members);
    lab.clock.advance(Duration::from_mins(2));
    assert_eq!(lab.group().members.len(), members as usize);
    let new = Write::CreateTemplateVersion {
        template_id: lab.sandbox.world().templates.keys().next().unwrap().clone(),
        description: "new".to_owned(),
        data: Box::new(TemplateData { instance_type: Some("m6i.xlarge".into()), ..lab.data() }),
    };
    lab.perform(&new).unwrap();
    lab.perform(&start_refresh()).unwrap();
    lab.clock.advance(Duration::from_mins(15));
    assert_eq!(lab.refresh().status, "Successful");
    assert_eq!(set_desired_and_wait(&lab, members / 2), members as usize / 2);
    let two = vec!["subnet-0a".to_owned(), "subnet-0b".to_owned()];
    lab.perform(&Write::UpdateGroup(UpdateGroup { subnets: Some(two), ..update() })).unwrap();
    lab.clock.advance(Duration::from_mins(30));
    let outside =
        lab.sandbox.world().instances.values().filter(|i| i.subnet == "subnet-0c" && i.is_active()).count();
    assert_eq!(outside, 0, "all have moved");
    assert_eq!(set_desired_and_wait(&lab, 0), 0);
    began.elapsed()
}

#[test]
fn ten_times_the_members_take_about_ten_times_as_long() {
    // A hundred times, were it to grow with the square. A machine that is busy with other things is asked again.
    let is_linear = |_| life(4_000) < life(400) * 40;
    assert!((0..3).any(is_linear));
}

#[test]
#[ignore = "prints what it measures; a minute"]
fn sizes() {
    for members in [1_000, 10_000, 50_000] {
        println!("{members:6} members: {:?}", life(members));
    }
}

#[test]
fn an_account_holds_so_many_instances_and_says_so() {
    let lab = large(u32::MAX);
    lab.sandbox.edit(|world| {
        for number in 0..199_990_u32 {
            world.instances.insert(format!("i-{number:017x}"), StoredInstance::default());
        }
    });
    lab.clock.advance(Duration::from_secs(10));
    assert_eq!(lab.group().members.len(), 10);
    let activities = run(lab.sandbox.activities(GROUP)).unwrap();
    let message = activities.iter().find_map(|activity| activity.message.clone()).unwrap();
    assert!(message.contains("The sandbox holds no more than 200000 instances"), "{message}");
}

/// Whoever waits beside a call: a signal, for one.
#[test]
fn what_happened_in_a_long_time_leaves_others_a_turn_and_can_be_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("account.json");
    let clock = Rc::new(ManualClock::default());
    let sandbox = Sandbox::open(&path, &seed(), clock.clone()).unwrap();
    run(sandbox.perform(&create_template("pool-1", data(&sandbox)))).unwrap();
    let template = TemplateRef::Named("pool-1".to_owned());
    let group = CreateGroup { max: 20_000, template, ..new_group("", 20_000) };
    run(sandbox.perform(&Write::CreateGroup(group))).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    clock.advance(Duration::from_hours(1));
    let given_up = run(async {
        tokio::select! {
            biased;
            _ = sandbox.group(GROUP) => false,
            () = yield_now() => true,
        }
    });
    assert!(given_up, "it had a turn before all had happened");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "what was given up was not written");
    let (group, instances) =
        run(async { futures_util::join!(sandbox.group(GROUP), sandbox.instances(GROUP)) });
    assert_eq!((group.unwrap().unwrap().members.len(), instances.unwrap().len()), (20_000, 20_000));
    assert_eq!(Sandbox::open(&path, &seed(), clock).unwrap().world().instances.len(), 20_000);
}
