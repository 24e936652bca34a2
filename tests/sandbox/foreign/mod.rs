//! Somebody else's hands: every edit behind our back is shown by a plan and mended by an apply, or left
//! alone, or refused because it says that the thing is no longer ours. [`super::chaos`] interrupts the
//! mending of each.

mod edits;
mod touch;

use machinepool::{
    error::Kind,
    model::{plan::Plan, resources::TemplateData},
};
use serde_json::{Value, json};

use super::{
    lab::{GROUP, Lab, patched},
    shape::{Members, Settings, assert_same, templates},
};

use Outcome::{Left, Mended, Refused};
pub(crate) use edits::edits;
use edits::{fixed, rolling};
use touch::add_version;

/// One edit.
pub(crate) struct Edit {
    pub(crate) name: &'static str,
    /// Merge patch on the shared inputs that the pool was made from.
    pub(crate) pool: fn() -> Value,
    pub(crate) hand: fn(&mut Lab),
    pub(crate) outcome: Outcome,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// A plan shows a change of this field, and an apply takes it back.
    Mended(&'static str),
    /// No change; a warning or a note says this, if it is worth saying.
    Left(&'static str),
    /// It has become somebody else's.
    Refused,
}

/// The pool before the edit.
fn made(edit: &Edit) -> Lab {
    let lab = Lab::new();
    let before = if (edit.pool)() == rolling() { fixed() } else { (edit.pool)() };
    let request = patched(before);
    lab.apply(&request).unwrap();
    lab.settle(&request, edit.name);
    lab
}

fn shows(plan: &Plan, field: &str) -> bool {
    plan.changes.iter().flat_map(|change| &change.fields).any(|shown| shown.field.contains(field))
}

fn says(plan: &Plan, words: &str) -> bool {
    let words = words.to_lowercase();
    let warnings = plan.warnings.iter().map(ToString::to_string);
    warnings.chain(plan.notes.iter().cloned()).any(|text| text.to_lowercase().contains(&words))
}

#[test]
fn every_edit_is_mended_left_alone_or_refused() {
    for edit in edits() {
        let (name, mut lab) = (edit.name, made(&edit));
        let before = (Settings::of(&lab.world()), Members::of(&lab.world()));
        let request = patched((edit.pool)());
        (edit.hand)(&mut lab);
        let after = Settings::of(&lab.world());
        lab.cloud.clear();
        match edit.outcome {
            Mended(field) => {
                let plan = lab.plan(&request).unwrap().plan;
                assert!(shows(&plan, field), "{name}: {plan:#?}");
                assert!(plan.replaced.is_empty(), "{name}: {:?}", plan.replaced);
                lab.apply(&request).unwrap();
                assert!(lab.plan(&request).unwrap().plan.is_empty(), "{name}");
                lab.settle(&request, name);
                assert_same(&before.0, &Settings::of(&lab.world()), name);
                if lab.world().groups[GROUP].activities.len() >= before.1.launches {
                    assert_same(&before.1.templates(), &Members::of(&lab.world()).templates(), name);
                }
            }
            Left(words) => {
                let plan = lab.plan(&request).unwrap().plan;
                assert!(plan.is_empty() && says(&plan, words) | words.is_empty(), "{name}: {plan:#?}");
                lab.apply(&request).unwrap();
                assert!(lab.cloud.writes().is_empty(), "{name}: {:?}", lab.cloud.writes());
                assert_same(&after, &Settings::of(&lab.world()), name);
            }
            Refused => {
                let failures = [lab.apply(&request).unwrap_err(), lab.destroy(&request.scope).unwrap_err()];
                assert!(failures.iter().all(|failure| failure.kind == Kind::Refused), "{name}: {failures:?}");
                assert!(lab.cloud.writes().is_empty(), "{name}: {:?}", lab.cloud.writes());
            }
        }
    }
}

/// A version of somebody's making says nothing of the tags that an earlier apply set; the one before does.
#[test]
fn a_tag_goes_though_somebody_added_a_bare_version() {
    let lab = Lab::new();
    lab.apply(&patched(fixed())).unwrap();
    add_version(&lab, |data| *data = TemplateData::default());
    let without = patched(json!({}));
    lab.apply(&without).unwrap();
    lab.settle(&without, "without the tag");
    let world = lab.world();
    assert!(!world.groups[GROUP].tags.contains_key("team"), "{:?}", world.groups[GROUP].tags);
    assert!(templates(&world).all(|(_, t)| !t.tags.contains_key("team")));
}
