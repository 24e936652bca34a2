//! Creating, changing and deleting groups.

use super::*;

#[test]
fn second_create_of_a_group_is_already_exists() {
    let lab = Lab::with_group(1);
    let template = lab.group().launch;
    let Launch::Template(template) = template else { panic!("{template:?}") };
    let error = lab.refusal(&create_group(&template.id, 1));
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::AlreadyExists, "AlreadyExists"));
    assert_eq!(error.operation, "autoscaling:CreateAutoScalingGroup");
}

#[test]
fn a_group_being_deleted_blocks_its_name_and_is_seen_for_a_while() {
    let lab = Lab::with_group(0);
    let template = lab.template("pool-2");
    lab.perform(&delete_group(false)).unwrap();
    assert!(lab.group().deleting);
    let error = lab.refusal(&create_group(&template, 1));
    assert_eq!(error.kind, ErrorKind::AlreadyExists);
    assert!(error.message.contains("pending delete"), "{error}");
    lab.wait(5);
    assert!(lab.group().deleting);
    lab.wait(10);
    assert_eq!(run(lab.sandbox.group(GROUP)).unwrap(), None);
    lab.perform(&create_group(&template, 1)).unwrap();
}

#[test]
fn a_group_being_deleted_takes_no_change() {
    let lab = Lab::with_group(1);
    lab.perform(&delete_group(true)).unwrap();
    let group = GROUP.to_owned();
    let writes = [
        set_desired(0),
        start_refresh(),
        Write::TagGroup { group: group.clone(), tags: tags(&[("a", "b")]) },
        Write::UntagGroup { group: group.clone(), keys: ["a".to_owned()].into() },
        Write::SuspendProcess { group: group.clone(), process: "AZRebalance".to_owned() },
        Write::PutPolicy { group: group.clone(), name: "p".to_owned(), target: 50.0 },
        Write::Unprotect { group, instances: lab.members() },
    ];
    for write in writes {
        let error = lab.refusal(&write);
        assert_eq!(error.kind, ErrorKind::Validation, "{error}");
        assert!(error.message.contains("pending delete"), "{error}");
    }
    assert_eq!(lab.refusal(&delete_group(true)).kind, ErrorKind::InUse);
}

#[test]
fn writes_to_a_missing_group_are_not_found() {
    let lab = Lab::new();
    let group = GROUP.to_owned();
    let error = lab.refusal(&set_desired(1));
    assert_eq!(error.message, "AutoScalingGroup name not found - null");
    let name = "p".to_owned();
    let writes = [
        set_desired(1),
        start_refresh(),
        delete_group(true),
        Write::CancelRefresh { group: group.clone() },
        Write::TagGroup { group: group.clone(), tags: tags(&[("a", "b")]) },
        Write::UntagGroup { group: group.clone(), keys: ["a".to_owned()].into() },
        Write::SuspendProcess { group: group.clone(), process: "Launch".to_owned() },
        Write::ResumeProcess { group: group.clone(), process: "Launch".to_owned() },
        Write::PutPolicy { group: group.clone(), name: name.clone(), target: 50.0 },
        Write::DeletePolicy { group: group.clone(), name: name.clone() },
        Write::Unprotect { group: group.clone(), instances: vec!["i-1".to_owned()] },
        Write::DeleteScheduledAction { group: group.clone(), name },
        Write::DeleteWarmPool { group },
    ];
    for write in writes {
        let error = lab.refusal(&write);
        assert_eq!((error.kind, error.code.as_str()), (ErrorKind::NotFound, "ValidationError"), "{error}");
    }
}

#[test]
fn reads_of_a_missing_group_are_empty() {
    let lab = Lab::new();
    assert_eq!(run(lab.sandbox.group(GROUP)).unwrap(), None);
    assert_eq!(lab.instances(), []);
    assert_eq!(run(lab.sandbox.policies(GROUP)).unwrap(), []);
    assert_eq!(run(lab.sandbox.refreshes(GROUP)).unwrap(), []);
    assert_eq!(run(lab.sandbox.activities(GROUP)).unwrap(), []);
    assert_eq!(run(lab.sandbox.scheduled_actions(GROUP)).unwrap(), Vec::<String>::new());
}

#[test]
fn create_refuses_what_a_launch_would_trip_over() {
    let lab = Lab::new();
    let change = |change: fn(&mut TemplateData)| {
        let mut data = lab.data();
        change(&mut data);
        data
    };
    let cases = [
        ("ImageId", change(|data| data.image_id = None)),
        ("image id '[ami-0dead]' does not exist", change(|d| d.image_id = Some("ami-0dead".to_owned()))),
        ("InstanceType", change(|data| data.instance_type = None)),
        ("key pair 'none' does not exist", change(|data| data.key_name = Some("none".to_owned()))),
        ("Invalid IAM Instance Profile", change(|d| d.instance_profile = Some("none".to_owned()))),
        (
            "security group 'sg-02' does not exist",
            change(|d| d.interfaces.entry(0).or_default().security_groups.push("sg-02".to_owned())),
        ),
    ];
    for (index, (words, data)) in cases.into_iter().enumerate() {
        lab.perform(&create_template(&format!("bad-{index}"), data)).unwrap();
        let template = TemplateRef::Named(format!("bad-{index}"));
        let error = lab.refusal(&Write::CreateGroup(CreateGroup { template, ..new_group("", 0) }));
        assert_eq!(error.kind, ErrorKind::Validation);
        assert!(error.message.contains("fully-formed launch template"), "{error}");
        assert!(error.message.contains(words), "{words}: {error}");
    }
    for template in [TemplateRef::Id("lt-0".to_owned()), TemplateRef::Named("none".to_owned())] {
        let error = lab.refusal(&Write::CreateGroup(CreateGroup { template, ..new_group("", 0) }));
        assert_eq!(error.kind, ErrorKind::Validation, "{error}");
        assert!(error.message.contains("does not exist"), "{error}");
    }
}

#[test]
fn unknown_or_no_subnets_are_refused() {
    let lab = Lab::with_group(1);
    let template = lab.template("pool-2");
    let subnets = vec!["subnet-0a".to_owned(), "subnet-0f".to_owned()];
    let name = "other".to_owned();
    let create = |subnets: &[String]| CreateGroup {
        name: name.clone(),
        subnets: subnets.to_vec(),
        ..new_group(&template, 0)
    };
    let error = lab.refusal(&Write::CreateGroup(create(&subnets)));
    assert!(error.message.contains("The subnet ID 'subnet-0f' does not exist"), "{error}");
    assert_eq!(lab.refusal(&Write::CreateGroup(create(&[]))).kind, ErrorKind::Validation);
    let error = lab.refusal(&Write::UpdateGroup(UpdateGroup { subnets: Some(subnets), ..update() }));
    assert!(error.message.contains("subnet-0f"), "{error}");
    assert_eq!(lab.group().subnets.len(), 3);
}

#[test]
fn desired_outside_the_bounds_is_refused() {
    let lab = Lab::new();
    let template = lab.template("pool-1");
    for (min, max, desired) in [(0, 2, 3), (2, 3, 1), (3, 2, 3)] {
        let create = CreateGroup { min, max, desired, ..new_group(&template, 0) };
        assert_eq!(lab.refusal(&Write::CreateGroup(create)).kind, ErrorKind::Validation);
    }
    lab.perform(&create_group(&template, 2)).unwrap();
    let before = lab.group();
    for (min, max, desired) in [
        (None, None, Some(11)),
        (Some(3), None, Some(2)),
        (Some(11), None, None),
        (Some(5), Some(4), None),
        (None, Some(1), Some(2)),
    ] {
        let error = lab.refusal(&Write::UpdateGroup(UpdateGroup { min, max, desired, ..update() }));
        assert_eq!(error.kind, ErrorKind::Validation, "{error}");
    }
    assert_eq!(lab.group(), before);
}

#[test]
fn bounds_move_a_desired_capacity_that_falls_outside() {
    let lab = Lab::with_group(4);
    let bounds = |min, max| Write::UpdateGroup(UpdateGroup { min: Some(min), max: Some(max), ..update() });
    for (min, max, desired) in [(0, 3, 3), (0, 5, 3), (5, 6, 5), (0, 0, 0)] {
        lab.perform(&bounds(min, max)).unwrap();
        assert_eq!(lab.group().desired, desired);
    }
}

#[test]
fn deletion_with_members_is_resource_in_use() {
    let lab = Lab::with_group(1);
    let error = lab.refusal(&delete_group(false));
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::InUse, "ResourceInUse"));
    lab.perform(&set_desired(0)).unwrap();
    lab.wait(5);
    assert_eq!(lab.group().members[0].lifecycle, "Terminating");
    assert_eq!(lab.refusal(&delete_group(false)).code, "ResourceInUse");
    lab.wait(20);
    assert_eq!(lab.members(), Vec::<String>::new());
    lab.perform(&delete_group(false)).unwrap();
}

#[test]
fn deletion_before_the_first_launch_is_a_scaling_activity_in_progress() {
    let lab = Lab::new();
    let template = lab.template("pool-1");
    lab.perform(&create_group(&template, 1)).unwrap();
    let error = lab.refusal(&delete_group(false));
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::InUse, "ScalingActivityInProgress"));
}

#[test]
fn forced_deletion_takes_members_and_all_that_hangs_on_the_group() {
    let lab = Lab::with_group(3);
    lab.perform(&start_refresh()).unwrap();
    lab.edit_group(|group| {
        group.scheduled_actions.insert("nightly".to_owned());
        group.suspended.insert("Terminate".to_owned());
        group.termination_hook_seconds = 3_600;
    });
    lab.perform(&Write::PutPolicy { group: GROUP.to_owned(), name: "p".to_owned(), target: 50.0 }).unwrap();
    let members = lab.members();
    lab.edit_instance(&members[0], |instance| instance.protected = true);
    lab.edit_instance(&members[1], |instance| instance.lifecycle = Some("Standby".to_owned()));
    lab.perform(&delete_group(true)).unwrap();
    assert!(lab.instances().iter().all(|instance| instance.state == "shutting-down"));
    lab.wait(12);
    assert!(lab.group().deleting, "visible while a member is left");
    lab.wait(10);
    assert_eq!(run(lab.sandbox.group(GROUP)).unwrap(), None);
    assert!(lab.instances().iter().all(|instance| instance.state == "terminated"));
    assert_eq!(lab.instances().len(), 3);
    assert_eq!(run(lab.sandbox.policies(GROUP)).unwrap(), []);
    assert_eq!(run(lab.sandbox.refreshes(GROUP)).unwrap(), []);
    assert_eq!(run(lab.sandbox.scheduled_actions(GROUP)).unwrap(), Vec::<String>::new());
    lab.wait(3_600);
    assert_eq!(lab.instances(), []);
}

#[test]
fn limits_on_group_tags_hold() {
    let lab = Lab::with_group(0);
    let tag = |tags: Tags| Write::TagGroup { group: GROUP.to_owned(), tags };
    let bad = [("aws:x", "v"), ("AWS:x", "v"), ("", "v"), ("k", "a,b"), (&"k".repeat(129), "v")];
    for (key, value) in bad {
        assert_eq!(lab.refusal(&tag(tags(&[(key, value)]))).kind, ErrorKind::Validation, "{key}");
    }
    assert_eq!(lab.refusal(&tag(tags(&[("k", &"v".repeat(257))]))).kind, ErrorKind::Validation);
    // In characters, not bytes.
    lab.perform(&tag(tags(&[(&"ä".repeat(128), &"ä".repeat(256))]))).unwrap();
    let many = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect();
    lab.perform(&tag(many(48))).unwrap();
    assert_eq!(lab.group().tags.len(), 50);
    assert_eq!(lab.refusal(&tag(many(49))).code, "LimitExceeded");
    lab.perform(&tag(many(48))).unwrap();
    lab.perform(&Write::UntagGroup {
        group: GROUP.to_owned(),
        keys: ["t0".to_owned(), "none".to_owned()].into(),
    })
    .unwrap();
    assert_eq!(lab.group().tags.len(), 49);
    assert!(lab.group().tags.values().all(|tag| !tag.propagate));
    let mut create = new_group("", 0);
    create.name = "other".to_owned();
    create.template = TemplateRef::Named("pool-1".to_owned());
    create.tags = many(51);
    assert_eq!(lab.refusal(&Write::CreateGroup(create)).code, "LimitExceeded");
}

#[test]
fn a_policy_is_replaced_by_name_and_goes_once() {
    let lab = Lab::with_group(0);
    let put = |target| Write::PutPolicy { group: GROUP.to_owned(), name: "p".to_owned(), target };
    lab.perform(&put(50.0)).unwrap();
    lab.edit_group(|group| {
        group.policies.get_mut("p").unwrap().extras.insert("cooldown".to_owned(), "3".to_owned());
    });
    lab.perform(&put(60.5)).unwrap();
    let policies = run(lab.sandbox.policies(GROUP)).unwrap();
    assert_eq!(policies.len(), 1);
    assert_eq!(policies[0].target_tracking, Some(("ASGAverageCPUUtilization".to_owned(), 60.5)));
    assert!(policies[0].extras.is_empty());
    assert_eq!(lab.refusal(&put(0.0)).kind, ErrorKind::Validation);
    let delete = Write::DeletePolicy { group: GROUP.to_owned(), name: "p".to_owned() };
    lab.perform(&delete).unwrap();
    assert_eq!(lab.refusal(&delete).code, "ValidationError");
}

#[test]
fn unprotect_takes_members_in_service_fifty_at_a_time() {
    let lab = Lab::with_group(2);
    let unprotect =
        |instances: &[String]| Write::Unprotect { group: GROUP.to_owned(), instances: instances.to_vec() };
    let members = lab.members();
    lab.edit_instance(&members[0], |instance| instance.protected = true);
    let foreign = [members[0].clone(), "i-0dead".to_owned()];
    let error = lab.refusal(&unprotect(&foreign));
    assert_eq!(error.kind, ErrorKind::Validation);
    assert!(error.message.contains("i-0dead is not part of Auto Scaling group"), "{error}");
    assert!(lab.group().members[0].protected, "all or nothing");
    assert_eq!(lab.refusal(&unprotect(&vec!["i-1".to_owned(); 51])).kind, ErrorKind::Validation);
    lab.perform(&unprotect(&members)).unwrap();
    assert!(!lab.group().members[0].protected);
}

#[test]
fn scheduled_actions_and_a_warm_pool_are_deleted_once() {
    let lab = Lab::with_group(0);
    lab.edit_group(|group| {
        group.scheduled_actions.insert("nightly".to_owned());
        group.warm_pool = true;
    });
    assert!(lab.group().warm_pool);
    assert_eq!(lab.refusal(&delete_group(false)).code, "ResourceInUse");
    assert_eq!(run(lab.sandbox.scheduled_actions(GROUP)).unwrap(), ["nightly"]);
    let group = GROUP.to_owned();
    let writes = [
        Write::DeleteScheduledAction { group: group.clone(), name: "nightly".to_owned() },
        Write::DeleteWarmPool { group },
    ];
    for write in &writes {
        lab.perform(write).unwrap();
        assert_eq!(lab.refusal(write).code, "ValidationError");
    }
    lab.perform(&delete_group(false)).unwrap();
}

#[test]
fn arns_name_the_partition_and_ids_are_the_same_every_time() {
    let arn = Lab::with_group(1).group().arn;
    let (front, back) = arn.split_once(":autoScalingGroup:").unwrap();
    assert_eq!(front, "arn:aws:autoscaling:us-east-1:210987654321");
    assert!(back.ends_with(&format!(":autoScalingGroupName/{GROUP}")), "{arn}");
    let again = Lab::with_group(1);
    assert_eq!(again.group().arn, arn);
    assert_eq!(again.members(), Lab::with_group(1).members());
}
