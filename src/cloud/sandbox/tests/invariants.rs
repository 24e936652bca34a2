//! Whatever is done in whatever order, the account stays sound and comes to rest.

use proptest::prelude::*;

use super::*;

/// One thing that somebody does.
#[derive(Clone, Debug)]
enum Deed {
    Wait(u64),
    Desired(u32),
    Bounds(u32, u32),
    Zones(usize),
    Repoint(u32),
    Version,
    StartRefresh,
    CancelRefresh,
    Process(usize, bool),
    Protect(usize),
    Standby(usize),
    Stop(usize),
    Terminate(usize),
    BreakLaunches(bool),
}

const SUSPENDABLE: [&str; 4] = ["Launch", "Terminate", "AZRebalance", "InstanceRefresh"];

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..120u64).prop_map(Deed::Wait),
        2 => (0..8u32).prop_map(Deed::Desired),
        1 => (0..4u32, 4..9u32).prop_map(|(min, max)| Deed::Bounds(min, max)),
        1 => (1..=3usize).prop_map(Deed::Zones),
        1 => (1..=2u32).prop_map(Deed::Repoint),
        1 => Just(Deed::Version),
        2 => Just(Deed::StartRefresh),
        1 => Just(Deed::CancelRefresh),
        1 => (0..SUSPENDABLE.len(), any::<bool>()).prop_map(|(process, on)| Deed::Process(process, on)),
        1 => (0..8usize).prop_map(Deed::Protect),
        1 => (0..8usize).prop_map(Deed::Standby),
        1 => (0..8usize).prop_map(Deed::Stop),
        1 => (0..8usize).prop_map(Deed::Terminate),
        1 => any::<bool>().prop_map(Deed::BreakLaunches),
    ]
}

/// Refusals are part of the game; what matters is the state after them.
fn attempt(lab: &Lab, write: &Write) {
    let _ = lab.perform(write);
}

fn on_member(lab: &Lab, index: usize, change: impl FnOnce(&mut StoredInstance)) {
    if let Some(id) = lab.members().get(index) {
        lab.edit_instance(id, change);
    }
}

fn act(lab: &Lab, deed: &Deed) {
    let group = GROUP.to_owned();
    match *deed {
        Deed::Wait(seconds) => lab.clock.advance(Duration::from_secs(seconds)),
        Deed::Desired(desired) => attempt(lab, &set_desired(desired)),
        Deed::Bounds(min, max) => {
            attempt(lab, &Write::UpdateGroup(UpdateGroup { min: Some(min), max: Some(max), ..update() }));
        }
        Deed::Zones(count) => {
            let subnets = Some(new_group("", 0).subnets.into_iter().take(count).collect());
            attempt(lab, &Write::UpdateGroup(UpdateGroup { subnets, ..update() }));
        }
        Deed::Repoint(number) => {
            let template = Some(TemplateRef::Named(format!("pool-{number}")));
            attempt(lab, &Write::UpdateGroup(UpdateGroup { template, ..update() }));
        }
        Deed::Version => {
            let template_id = lab.sandbox.world().template_named("pool-1").unwrap().0.clone();
            let data = Box::new(lab.data());
            attempt(lab, &Write::CreateTemplateVersion { template_id, description: String::new(), data });
        }
        Deed::StartRefresh => attempt(lab, &start_refresh()),
        Deed::CancelRefresh => attempt(lab, &Write::CancelRefresh { group }),
        Deed::Process(index, suspend) => {
            let process = SUSPENDABLE[index].to_owned();
            let suspension = Write::SuspendProcess { group: group.clone(), process: process.clone() };
            attempt(lab, &if suspend { suspension } else { Write::ResumeProcess { group, process } });
        }
        Deed::Protect(index) => on_member(lab, index, |instance| instance.protected = true),
        Deed::Standby(index) => on_member(lab, index, |instance| {
            if instance.lifecycle.as_deref() == Some("InService") {
                instance.lifecycle = Some("Standby".to_owned());
            }
        }),
        Deed::Stop(index) => on_member(lab, index, |instance| {
            if instance.state == "running" {
                "stopped".clone_into(&mut instance.state);
            }
        }),
        Deed::Terminate(index) => on_member(lab, index, |instance| {
            "shutting-down".clone_into(&mut instance.state);
            instance.until = None;
        }),
        Deed::BreakLaunches(broken) => {
            lab.sandbox.edit(|world| world.launch_error = broken.then(|| "No capacity".to_owned()));
        }
    }
}

fn is_sound(world: &World) {
    let group = &world.groups[GROUP];
    assert!(group.min <= group.desired && group.desired <= group.max);
    assert!(group.refreshes.iter().filter(|refresh| refresh.is_active()).count() <= 1);
    for refresh in &group.refreshes {
        assert!(refresh.batch.is_subset(&refresh.left));
        assert_eq!(refresh.is_active(), refresh.end.is_none());
    }
    for (id, instance) in &world.instances {
        assert_eq!(instance.zone, world.subnets[&instance.subnet]);
        if instance.state == "terminated" {
            assert_eq!(instance.lifecycle, None, "{id}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_account_stays_sound_and_comes_to_rest(deeds in prop::collection::vec(deed(), 1..40)) {
        let lab = Lab::with_group(3);
        lab.template("pool-2");
        for deed in &deeds {
            act(&lab, deed);
            lab.sandbox.edit_nothing();
            is_sound(&lab.sandbox.world());
        }
        lab.sandbox.edit(|world| {
            world.launch_error = None;
            world.groups.get_mut(GROUP).unwrap().suspended.clear();
            for instance in world.instances.values_mut() {
                instance.protected = false;
            }
        });
        lab.clock.advance(Duration::from_mins(40));
        let group = lab.group();
        is_sound(&lab.sandbox.world());
        let in_service = group.members.iter().filter(|member| member.lifecycle == "InService").count();
        prop_assert_eq!(in_service, group.desired as usize);
        prop_assert!(group.members.iter().all(|m| m.lifecycle == "InService" || m.lifecycle == "Standby"));
        let served = group.members.iter().filter(|m| m.lifecycle == "InService");
        for member in served {
            prop_assert!(group.subnets.contains(&lab.sandbox.world().instances[&member.id].subnet));
        }
        prop_assert!(lab.sandbox.world().groups[GROUP].active_refresh().is_none());
        let before = lab.sandbox.world();
        lab.clock.advance(Duration::from_secs(30));
        prop_assert_eq!(&lab.sandbox.world().groups, &before.groups, "at rest");
    }
}
