//! Where an undisturbed run leads, and whether a disturbed one got there.

use std::{collections::BTreeSet, time::Duration};

use machinepool::{cloud::sandbox::World, contract::request::Request};

use super::{
    super::{
        lab::{GROUP, Lab},
        shape::{Members, Settings, assert_same, strangers, templates},
    },
    stories::{Story, Then},
};

/// Where a story leads when nothing disturbs it.
pub(crate) struct Reference {
    settings: Settings,
    members: Members,
    versions: usize,
    /// The calls of the command.
    pub(crate) calls: Vec<&'static str>,
}

/// How close to an undisturbed run a disturbed one has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    /// Nothing is launched that an undisturbed run would not have launched.
    Exact,
    /// Time has passed, and an earlier roll may have gone on meanwhile: each member may have been replaced for
    /// that one, and once for this one.
    InTime,
    /// Another way to the same inputs: the members run the same template, in whatever version.
    ByAnotherWay,
}

impl Reference {
    /// Where `request` leads from here.
    pub(crate) fn of(begin: &Lab, request: &Request, about: &str) -> Self {
        let lab = begin.fork();
        lab.cloud.clear();
        lab.apply(request).unwrap();
        let calls = lab.cloud.operations();
        lab.settle(request, about);
        Self { calls, ..Self::found(&lab) }
    }

    /// Where the story leads.
    pub(crate) fn of_story(story: &Story, begin: &Lab) -> Self {
        if story.then == Then::Apply {
            return Self::of(begin, &story.request, story.name);
        }
        let lab = begin.fork();
        lab.cloud.clear();
        lab.destroy(&story.request.scope).unwrap();
        Self { calls: lab.cloud.operations(), ..Self::found(&lab) }
    }

    fn found(lab: &Lab) -> Self {
        let world = lab.world();
        let versions = templates(&world).map(|(_, t)| t.versions.len()).sum();
        Self { settings: Settings::of(&world), members: Members::of(&world), versions, calls: Vec::new() }
    }

    /// Panics unless the account is, but for its history, what an undisturbed run leaves.
    pub(crate) fn check(&self, lab: &Lab, begin: &Lab, closeness: Closeness, about: &str) {
        let found = Self::found(lab);
        assert_same(&self.settings, &found.settings, about);
        assert_same(&strangers(&begin.world()), &strangers(&lab.world()), about);
        if closeness == Closeness::ByAnotherWay {
            assert_eq!(self.members.total(), found.members.total(), "{about}: members");
            assert_same(&self.members.templates(), &found.members.templates(), about);
            return;
        }
        assert_same(&self.members.runs, &found.members.runs, about);
        assert_eq!(self.versions, found.versions, "{about}: template versions");
        let (wanted, launches) = (self.members.launches, found.members.launches);
        if closeness == Closeness::Exact {
            assert_eq!(wanted, launches, "{about}: launches");
        } else {
            assert!(launches <= wanted + 2 * self.members.total(), "{about}: {launches} launches");
        }
    }
}

/// Panics unless nothing is left of the pool, and a further destroy finds nothing to do.
pub(crate) fn assert_gone(lab: &Lab, begin: &Lab, story: &Story, about: &str) {
    let world = lab.world();
    assert_same(&Settings::none(), &Settings::of(&world), about);
    let members = Members::of(&world);
    assert!(members.runs.is_empty(), "{about}: {members:?}");
    assert_same(&strangers(&begin.world()), &strangers(&world), about);
    lab.cloud.clear();
    assert_eq!(lab.destroy(&story.request.scope).unwrap().destroy, 0, "{about}: destroying again");
    assert!(lab.cloud.writes().is_empty(), "{about}: the second destroy writes");
}

/// Members that were seen: whoever runs what all run in the end must still be there then.
#[derive(Default)]
pub(crate) struct Watch(BTreeSet<Seen>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    id: String,
    subnet: String,
    template: (String, String),
}

fn members(world: &World) -> impl Iterator<Item = Seen> {
    let active = world.instances.iter().filter(|(_, i)| i.is_member_of(GROUP) && i.is_active());
    active.map(|(id, instance)| {
        let used = instance.template.clone().unwrap_or_default();
        Seen { id: id.clone(), subnet: instance.subnet.clone(), template: (used.name, used.version) }
    })
}

impl Watch {
    /// Takes note of everybody.
    pub(crate) fn look(&mut self, lab: &Lab) {
        self.0.extend(members(&lab.world()));
    }

    /// Applies until all is quiet, looking at every turn; panics if somebody was replaced who ran the
    /// right template already, in a zone that the pool still spans.
    pub(crate) fn settle(&mut self, lab: &Lab, request: &Request, about: &str) {
        for _ in 0..8 {
            self.look(lab);
            lab.wait(Duration::from_mins(4));
        }
        lab.settle(request, about);
        self.look(lab);
        let world = lab.world();
        let group = &world.groups[GROUP];
        let last: BTreeSet<_> = members(&world).map(|seen| seen.template).collect();
        let there: BTreeSet<String> = members(&world).map(|seen| seen.id).collect();
        let right: BTreeSet<&String> = self
            .0
            .iter()
            .filter(|seen| last.contains(&seen.template) && group.subnets.contains(&seen.subnet))
            .map(|seen| &seen.id)
            .collect();
        let replaced: Vec<_> = right.iter().filter(|id| !there.contains(**id)).collect();
        let surplus = right.len().saturating_sub(group.desired as usize);
        assert!(
            replaced.len() <= surplus,
            "{about}: replaced though they ran the right template: {replaced:?}"
        );
    }
}
