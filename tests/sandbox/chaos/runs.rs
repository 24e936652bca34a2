//! One disturbed run of a story, and what follows it.

use std::time::Duration;

use machinepool::{
    cloud::sandbox::{Echoes, Lag},
    contract::request::Request,
};

use super::{
    super::{
        lab::Lab,
        round_trips::{apply_both, apply_stuttering, destroy_both, destroy_stuttering},
    },
    stories::{Story, Then},
    trouble::{self, KILLS, Spell, Trouble},
    verdict::{Closeness, Reference, Watch, assert_gone},
};

/// What is done after the trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequel {
    /// The same again, at once.
    Again,
    /// The same again, an hour later.
    Later,
    /// The same again, killed at this call, before it or after; and then the same again.
    AgainKilled(usize, Trouble),
    /// Back to the inputs before.
    Reverted,
    /// Other inputs.
    Changed,
    /// The end of the pool; after a destroy, its life anew.
    Opposite,
}

impl Sequel {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Again => "",
            Self::Later => ", the next an hour later",
            Self::AgainKilled(..) => ", the next killed too",
            Self::Reverted => ", then reverted",
            Self::Changed => ", then changed again",
            Self::Opposite => ", then the opposite",
        }
    }
}

/// What disturbs a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Disturbance {
    /// Something at the call of this number.
    At(usize, Trouble),
    /// Something all the time.
    Throughout(Spell),
}

/// One disturbed run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    /// Which story.
    pub(crate) story: usize,
    pub(crate) disturbance: Disturbance,
    pub(crate) sequel: Sequel,
}

impl Run {
    /// The kind of the fault, as the table has it.
    pub(crate) fn kind(&self) -> String {
        match self.disturbance {
            Disturbance::At(_, trouble) => format!("{}{}", trouble.label(), self.sequel.label()),
            Disturbance::Throughout(spell) => spell.label().to_owned(),
        }
    }
}

/// A story, told as far as the point at which it is disturbed.
pub(crate) struct Stage {
    pub(crate) story: Story,
    begin: Lab,
    wanted: Reference,
    before: Option<(Request, Reference)>,
    instead: Option<(Request, Reference)>,
    anew: Option<Reference>,
}

impl Stage {
    pub(crate) fn new(story: Story) -> Self {
        let begin = story.begin();
        let wanted = Reference::of_story(&story, &begin);
        let whither = |request: Option<Request>| {
            request.map(|request| {
                let reference = Reference::of(&begin, &request, story.name);
                (request, reference)
            })
        };
        let before = whither(story.before.clone());
        let instead = whither(story.instead.clone());
        let anew = story.can_begin_anew().then(|| Reference::of(&begin, &story.request, story.name));
        Self { story, begin, wanted, before, instead, anew }
    }

    /// All runs of this story; those of two kills only if `twice`.
    pub(crate) fn runs(&self, story: usize, twice: bool) -> Vec<Run> {
        let calls = &self.wanted.calls;
        let at = |at, trouble, sequel| Run { story, disturbance: Disturbance::At(at, trouble), sequel };
        let mut runs: Vec<Run> = Vec::new();
        let all = trouble::at_every_call(calls);
        runs.extend(all.iter().map(|(call, trouble)| at(*call, *trouble, Sequel::Again)));
        let kills: Vec<_> = all.iter().filter(|(_, trouble)| KILLS.contains(trouble)).copied().collect();
        let mut sequels = vec![Sequel::Later];
        sequels.extend(self.before.as_ref().map(|_| Sequel::Reverted));
        sequels.extend(self.instead.as_ref().map(|_| Sequel::Changed));
        if self.story.then == Then::Apply || self.anew.is_some() {
            sequels.push(Sequel::Opposite);
        }
        for sequel in sequels {
            runs.extend(kills.iter().map(|(call, trouble)| at(*call, *trouble, sequel)));
        }
        if twice {
            for (call, trouble) in &kills {
                let second = |(again, next): &(usize, Trouble)| {
                    at(*call, *trouble, Sequel::AgainKilled(*again, *next))
                };
                runs.extend(kills.iter().map(second));
            }
        }
        let throughout =
            |spell| Run { story, disturbance: Disturbance::Throughout(spell), sequel: Sequel::Again };
        runs.extend(trouble::spells().into_iter().map(throughout));
        runs
    }

    /// Plays one run; panics if it does not converge.
    pub(crate) fn play(&self, run: &Run) {
        let about = format!("{}, {:?}, {:?}", self.story.name, run.disturbance, run.sequel);
        let lab = self.begin.fork();
        match run.disturbance {
            Disturbance::At(call, trouble) => {
                trouble::arm(&lab, trouble, call);
                // What it answers does not matter: a call of clean-up may fail without harm.
                let _ = self.story.perform(&lab);
                lab.clear_fault();
                self.follow(&lab, trouble, run.sequel, &about);
            }
            Disturbance::Throughout(spell) => self.endure(&lab, spell, &about),
        }
    }

    fn follow(&self, lab: &Lab, trouble: Trouble, sequel: Sequel, about: &str) {
        let mut watch = Watch::default();
        watch.look(lab);
        let mut closeness = if trouble.takes_time() { Closeness::InTime } else { Closeness::Exact };
        match sequel {
            Sequel::Again => self.again(lab, about),
            Sequel::AgainKilled(call, trouble) => {
                trouble::arm(lab, trouble, call);
                let _ = self.story.perform(lab);
                lab.clear_fault();
                watch.look(lab);
                self.again(lab, about);
            }
            Sequel::Later => {
                closeness = Closeness::InTime;
                lab.wait(Duration::from_hours(1));
                watch.look(lab);
                self.again(lab, about);
            }
            Sequel::Reverted | Sequel::Changed => {
                let known = if sequel == Sequel::Reverted { &self.before } else { &self.instead };
                let (request, wanted) = known.as_ref().unwrap();
                succeed(lab.apply(request), about);
                watch.settle(lab, request, about);
                return wanted.check(lab, &self.begin, Closeness::ByAnotherWay, about);
            }
            Sequel::Opposite => return self.opposite(lab, about),
        }
        self.judge(lab, &mut watch, closeness, about);
    }

    /// One more command is enough: it succeeds, and leaves nothing to change.
    fn again(&self, lab: &Lab, about: &str) {
        succeed(self.story.perform(lab), about);
        if self.story.then == Then::Apply && lab.world().lag == Lag::default() {
            let plan = lab.plan(&self.story.request).unwrap().plan;
            assert!(plan.is_empty(), "{about}: it leaves changes: {:#?}", plan.changes);
        }
    }

    fn judge(&self, lab: &Lab, watch: &mut Watch, closeness: Closeness, about: &str) {
        if self.story.then == Then::Destroy {
            return assert_gone(lab, &self.begin, &self.story, about);
        }
        watch.settle(lab, &self.story.request, about);
        self.wanted.check(lab, &self.begin, closeness, about);
    }

    fn opposite(&self, lab: &Lab, about: &str) {
        let Some(anew) = &self.anew else {
            succeed(lab.destroy(&self.story.request.scope), about);
            return assert_gone(lab, &self.begin, &self.story, about);
        };
        succeed(lab.apply(&self.story.request), about);
        lab.settle(&self.story.request, about);
        anew.check(lab, &self.begin, Closeness::ByAnotherWay, about);
    }

    fn endure(&self, lab: &Lab, spell: Spell, about: &str) {
        let mut watch = Watch::default();
        match spell {
            Spell::Throttling => {
                trouble::throttle_every_call(lab, 5);
                let done = (0..400).any(|_| self.story.perform(lab).is_ok());
                assert!(done, "{about}: it never succeeds");
                lab.clear_fault();
            }
            Spell::SentTwice => succeed(self.stutter(lab), about),
            Spell::Company => {
                // One of them may be refused for what the other has just done.
                let outcomes = self.both(lab);
                assert!(outcomes.iter().any(Result::is_ok), "{about}: {outcomes:#?}");
                self.again(lab, about);
            }
            Spell::Lagging(lag) => self.endure_lag(lab, lag, about),
            Spell::LaggingGroup(groups) => {
                lab.edit(|world| world.lag = Lag { groups, ..Lag::default() });
                self.again(lab, about);
                self.again(lab, about);
                end_lag(lab);
            }
        }
        let closeness = match spell {
            Spell::Lagging(_) => Closeness::InTime,
            // Each of the two may have made a version.
            Spell::Company => Closeness::ByAnotherWay,
            _ => Closeness::Exact,
        };
        self.judge(lab, &mut watch, closeness, about);
    }

    /// A read of what was made a moment ago may fail, and so an apply; a destroy sees through all of it.
    fn endure_lag(&self, lab: &Lab, lag: Lag, about: &str) {
        lab.edit(|world| world.lag = lag);
        if self.story.then == Then::Destroy {
            self.again(lab, about);
            return end_lag(lab);
        }
        let done = (0..6).any(|_| {
            let applied = self.story.perform(lab);
            lab.wait(Duration::from_secs(30));
            applied.is_ok()
        });
        assert!(done, "{about}: it never succeeds");
        let request = &self.story.request;
        let seen = (0..12).any(|_| lab.plan(request).is_ok_and(|planned| planned.plan.is_empty()));
        assert!(seen, "{about}: the plan stays");
        end_lag(lab);
    }

    fn stutter(&self, lab: &Lab) -> Result<(), machinepool::error::Failure> {
        match self.story.then {
            Then::Apply => apply_stuttering(lab, &self.story.request),
            Then::Destroy => destroy_stuttering(lab, &self.story.request.scope).map(drop),
        }
    }

    fn both(&self, lab: &Lab) -> [Result<(), machinepool::error::Failure>; 2] {
        match self.story.then {
            Then::Apply => apply_both(lab, &self.story.request),
            Then::Destroy => destroy_both(lab, &self.story.request.scope),
        }
    }
}

fn end_lag(lab: &Lab) {
    lab.edit(|world| (world.lag, world.echoes) = (Lag::default(), Echoes::default()));
}

fn succeed<T>(outcome: Result<T, machinepool::error::Failure>, about: &str) {
    if let Err(failure) = outcome {
        panic!("{about}: {:#?}", failure.diagnostics);
    }
}
