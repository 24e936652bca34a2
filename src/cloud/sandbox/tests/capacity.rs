//! Instances over time: launches, scale-in, zones, suspended processes, failing launches.

use std::collections::BTreeMap;

use super::*;

fn zones(lab: &Lab) -> BTreeMap<String, usize> {
    lab.group().members.iter().fold(BTreeMap::new(), |mut zones, member| {
        *zones.entry(member.zone.clone()).or_default() += 1;
        zones
    })
}

fn count(lab: &Lab, lifecycle: &str) -> usize {
    lab.group().members.iter().filter(|member| member.lifecycle == lifecycle).count()
}

fn in_zones(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(zone, count)| (format!("us-east-1{zone}"), *count)).collect()
}

fn suspend(process: &str) -> Write {
    Write::SuspendProcess { group: GROUP.to_owned(), process: process.to_owned() }
}

fn resume(process: &str) -> Write {
    Write::ResumeProcess { group: GROUP.to_owned(), process: process.to_owned() }
}

#[test]
fn instances_come_up_over_time() {
    let lab = Lab::new();
    let template = lab.template("pool-1");
    lab.perform(&create_group(&template, 2)).unwrap();
    assert_eq!(lab.members(), Vec::<String>::new(), "the first launch takes a moment");
    lab.wait(5);
    assert_eq!(count(&lab, "Pending"), 2);
    assert!(lab.instances().iter().all(|i| i.state == "pending" && i.addresses.len() == 1));
    lab.wait(20);
    assert_eq!(count(&lab, "InService"), 2);
    assert!(lab.instances().iter().all(|i| i.state == "running"));
    let activities = run(lab.sandbox.activities(GROUP)).unwrap();
    assert_eq!(activities.len(), 2);
    assert!(activities.iter().all(|a| a.status == "Successful" && a.message.is_none()));
    let addresses: std::collections::BTreeSet<_> =
        lab.instances().iter().map(|i| i.addresses.clone()).collect();
    assert_eq!(addresses.len(), 2);
}

#[test]
fn instances_spread_evenly_over_the_subnets() {
    let lab = Lab::with_group(7);
    assert_eq!(zones(&lab), in_zones(&[("a", 3), ("b", 2), ("c", 2)]));
    for instance in lab.sandbox.world().instances.values() {
        assert_eq!(instance.subnet, format!("subnet-0{}", instance.zone.chars().last().unwrap()));
    }
}

#[test]
fn scale_in_takes_from_the_fullest_zone_and_shows_the_terminated_for_a_while() {
    let lab = Lab::with_group(4);
    let before = lab.members();
    lab.perform(&set_desired(3)).unwrap();
    lab.wait(5);
    assert_eq!(count(&lab, "Terminating"), 1);
    let gone: Vec<Instance> = lab.instances().into_iter().filter(|i| i.state == "shutting-down").collect();
    assert_eq!((gone.len(), gone[0].zone.as_str()), (1, "us-east-1a"));
    lab.wait(20);
    assert_eq!(zones(&lab), in_zones(&[("a", 1), ("b", 1), ("c", 1)]));
    assert_eq!(lab.instances().len(), before.len(), "EC2 still shows it");
    let shown = lab.instances().into_iter().find(|i| i.id == gone[0].id).unwrap();
    assert_eq!((shown.state.as_str(), shown.addresses.len()), ("terminated", 0));
    lab.wait(3_600);
    assert_eq!(lab.instances().len(), 3);
}

#[test]
fn scale_in_spares_protected_and_standby_members() {
    let lab = Lab::with_group(4);
    let members = lab.members();
    lab.edit_instance(&members[0], |instance| instance.protected = true);
    lab.edit_instance(&members[1], |instance| instance.lifecycle = Some("Standby".to_owned()));
    lab.edit_group(|group| group.desired = 3);
    lab.wait(60);
    assert_eq!(lab.members(), members, "standby does not count against the desired capacity");
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(120);
    assert_eq!(lab.members(), &members[..2]);
    lab.perform(&Write::Unprotect { group: GROUP.to_owned(), instances: vec![members[0].clone()] }).unwrap();
    lab.wait(60);
    assert_eq!(lab.members(), &members[1..2]);
}

#[test]
fn suspended_launch_launches_nothing() {
    let lab = Lab::with_group(1);
    lab.perform(&suspend("Launch")).unwrap();
    lab.perform(&set_desired(3)).unwrap();
    lab.wait(300);
    assert_eq!(lab.members().len(), 1);
    lab.perform(&resume("Launch")).unwrap();
    lab.wait(60);
    assert_eq!(lab.members().len(), 3);
}

#[test]
fn suspended_terminate_terminates_nothing() {
    let lab = Lab::with_group(2);
    lab.perform(&suspend("Terminate")).unwrap();
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(300);
    assert_eq!(count(&lab, "InService"), 2);
    lab.perform(&resume("Terminate")).unwrap();
    lab.wait(60);
    assert_eq!(lab.members().len(), 0);
}

#[test]
fn a_process_that_does_not_exist_is_refused() {
    let lab = Lab::with_group(0);
    assert_eq!(lab.refusal(&suspend("Rest")).kind, ErrorKind::Validation);
    lab.perform(&suspend("AZRebalance")).unwrap();
    lab.perform(&suspend("AZRebalance")).unwrap();
    assert_eq!(lab.group().suspended, ["AZRebalance".to_owned()].into());
    lab.perform(&resume("Launch")).unwrap();
}

#[test]
fn uneven_zones_are_balanced_unless_that_is_suspended() {
    for suspended in [true, false] {
        let lab = Lab::with_group(6);
        if suspended {
            lab.perform(&suspend("AZRebalance")).unwrap();
        }
        lab.sandbox.edit(|world| {
            for instance in world.instances.values_mut() {
                "us-east-1a".clone_into(&mut instance.zone);
                "subnet-0a".clone_into(&mut instance.subnet);
            }
        });
        lab.wait(1_000);
        assert_eq!(lab.members().len(), 6);
        let even = in_zones(&[("a", 2), ("b", 2), ("c", 2)]);
        assert_eq!(zones(&lab) == even, !suspended, "{:?}", zones(&lab));
    }
}

#[test]
fn members_in_a_removed_subnet_are_replaced_elsewhere_new_ones_first() {
    let lab = Lab::with_group(6);
    lab.perform(&suspend("AZRebalance")).unwrap();
    let subnets = Some(vec!["subnet-0a".to_owned(), "subnet-0b".to_owned()]);
    lab.perform(&Write::UpdateGroup(UpdateGroup { subnets, ..update() })).unwrap();
    for _ in 0..300 {
        lab.wait(1);
        assert!(count(&lab, "InService") >= 6);
    }
    assert_eq!(zones(&lab), in_zones(&[("a", 3), ("b", 3)]));
}

#[test]
fn a_member_stopped_or_terminated_by_hand_is_replaced() {
    let lab = Lab::with_group(2);
    let members = lab.members();
    lab.edit_instance(&members[0], |instance| "stopped".clone_into(&mut instance.state));
    lab.edit_instance(&members[1], |instance| "shutting-down".clone_into(&mut instance.state));
    lab.wait(120);
    assert_eq!(count(&lab, "InService"), 2);
    assert!(lab.members().iter().all(|id| !members.contains(id)));
}

#[test]
fn a_stopped_member_stays_while_its_replacement_is_suspended() {
    let lab = Lab::with_group(1);
    lab.perform(&suspend("ReplaceUnhealthy")).unwrap();
    let members = lab.members();
    lab.edit_instance(&members[0], |instance| "stopped".clone_into(&mut instance.state));
    lab.wait(300);
    assert_eq!(lab.members(), members);
    assert_eq!(lab.instances()[0].state, "stopped");
}

#[test]
fn a_termination_hook_holds_members_unless_deletion_is_forced() {
    let lab = Lab::with_group(2);
    lab.edit_group(|group| group.termination_hook_seconds = 600);
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(300);
    assert_eq!(count(&lab, "Terminating:Wait"), 2);
    assert!(lab.instances().iter().all(|i| i.state == "running"));
    lab.wait(330);
    assert_eq!(lab.members().len(), 0);
    lab.perform(&set_desired(1)).unwrap();
    lab.wait(60);
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(10);
    lab.perform(&delete_group(true)).unwrap();
    lab.wait(30);
    assert_eq!(run(lab.sandbox.group(GROUP)).unwrap(), None);
}

#[test]
fn failing_launches_are_failed_activities_in_aws_words() {
    let lab = Lab::with_group(1);
    let image = lab.data().image_id.unwrap();
    lab.sandbox.edit(|world| world.deregistered.insert(image.clone()));
    lab.perform(&set_desired(2)).unwrap();
    lab.wait(60);
    assert_eq!(lab.members().len(), 1);
    let activities = run(lab.sandbox.activities(GROUP)).unwrap();
    assert_eq!(activities[0].status, "Failed");
    let words = format!("The image id '[{image}]' does not exist");
    assert!(activities[0].description.contains("Launching a new EC2 instance.  Status Reason: "));
    assert!(activities[0].description.contains(&words), "{:?}", activities[0]);
    assert!(activities[0].message.as_ref().unwrap().contains(&words));
    assert!(activities[0].start >= activities[1].start, "newest first");
    lab.sandbox.edit(|world| world.deregistered.clear());
    lab.wait(120);
    assert_eq!(lab.members().len(), 2);
}

#[test]
fn at_most_twenty_activities_are_answered() {
    let lab = Lab::with_group(1);
    lab.sandbox.edit(|world| world.launch_error = Some("We currently do not have capacity".to_owned()));
    lab.perform(&set_desired(2)).unwrap();
    for _ in 0..30 {
        lab.clock.advance(Duration::from_mins(10));
    }
    assert_eq!(run(lab.sandbox.activities(GROUP)).unwrap().len(), 20);
    assert!(lab.sandbox.world().groups[GROUP].activities.len() <= 100);
}

#[test]
fn members_keep_the_template_and_version_they_were_launched_from() {
    let lab = Lab::new();
    let id = lab.template("pool-1");
    lab.perform(&create_group(&id, 1)).unwrap();
    lab.wait(60);
    let version = Write::CreateTemplateVersion {
        template_id: id.clone(),
        description: String::new(),
        data: Box::new(lab.data()),
    };
    assert_eq!(lab.perform(&version).unwrap(), Answer::Version(2));
    lab.perform(&set_desired(2)).unwrap();
    lab.wait(60);
    lab.perform(&Write::DeleteTemplate { template_id: id.clone() }).unwrap();
    lab.wait(60);
    let mut members = lab.group().members;
    let versions: std::collections::BTreeSet<String> = members
        .iter_mut()
        .map(|member| {
            let template = member.template.take().unwrap();
            assert_eq!((template.id.as_str(), template.name.as_str()), (id.as_str(), "pool-1"));
            template.version
        })
        .collect();
    assert_eq!(versions, ["1".to_owned(), "2".to_owned()].into());
}

#[test]
fn launches_from_a_deleted_template_fail_and_one_made_again_has_another_id() {
    let lab = Lab::with_group(1);
    let Launch::Template(used) = lab.group().launch else { panic!("a template") };
    lab.perform(&Write::DeleteTemplate { template_id: used.id.clone() }).unwrap();
    let again = lab.template("pool-1");
    assert_ne!(again, used.id);
    lab.perform(&set_desired(2)).unwrap();
    lab.wait(60);
    assert_eq!(lab.members().len(), 1);
    assert_eq!(run(lab.sandbox.activities(GROUP)).unwrap()[0].status, "Failed");
    let template = Some(TemplateRef::Named("pool-1".to_owned()));
    lab.perform(&Write::UpdateGroup(UpdateGroup { template, ..update() })).unwrap();
    lab.wait(60);
    assert_eq!(lab.members().len(), 2);
}

#[test]
fn a_group_goes_to_zero_and_back() {
    let lab = Lab::with_group(3);
    for desired in [0, 2] {
        lab.perform(&set_desired(desired)).unwrap();
        lab.wait(90);
        assert_eq!(lab.members().len(), desired as usize);
    }
}

#[test]
fn a_long_absence_ends_like_a_close_watch() {
    let watched = Lab::with_group(5);
    let absent = Lab::new();
    let template = absent.template("pool-1");
    absent.perform(&create_group(&template, 5)).unwrap();
    absent.clock.advance(Duration::from_mins(2));
    assert_eq!(absent.group(), watched.group());
    for lab in [&watched, &absent] {
        lab.perform(&start_refresh()).unwrap();
    }
    watched.wait(600);
    absent.clock.advance(Duration::from_mins(10));
    assert_eq!(absent.group(), watched.group());
    assert_eq!(absent.instances(), watched.instances());
    assert_eq!(absent.refresh(), watched.refresh());
}
