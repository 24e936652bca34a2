//! The scaling policy. Policies of other names are somebody else's.

use super::{Draft, Phase, View};
use crate::model::{
    diff::Fields,
    names::POLICY,
    plan::{Action, Address},
    resources::Write,
};

const METRIC: &str = "ASGAverageCPUUtilization";

pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    let group = &view.desired.names.group;
    let live = view.live.and_then(|_| view.observed.policies.iter().find(|p| p.name == POLICY));
    let mut fields = Fields::default();
    let tracking = live.and_then(|p| p.target_tracking.as_ref());
    match (live, view.desired.policy) {
        (None, None) => {}
        (Some(_), None) => {
            fields.optional("metric", tracking.map(|t| &t.0), None::<&str>);
            fields.optional("target_value", tracking.map(|t| t.1), None::<f64>);
            draft.change(Address::Policy, POLICY, Action::Delete, fields.into_vec());
            let write = Write::DeletePolicy { group: group.clone(), name: POLICY.to_owned() };
            // Once the bounds are right, and whatever becomes of a roll: nobody else may share the number.
            draft.write(Phase::Settle, Address::Policy, write);
        }
        (live, Some(target)) => {
            fields.value("metric", tracking.map(|t| &t.0), METRIC);
            fields.value("target_value", tracking.map(|t| t.1), target);
            for (name, now) in live.iter().flat_map(|p| &p.extras) {
                fields.optional(name, Some(now), None::<&str>);
            }
            let fields = fields.into_vec();
            if fields.is_empty() {
                return;
            }
            let action = if live.is_some() { Action::Update } else { Action::Create };
            draft.change(Address::Policy, POLICY, action, fields);
            let write = Write::PutPolicy { group: group.clone(), name: POLICY.to_owned(), target };
            draft.write(Phase::Settle, Address::Policy, write);
        }
    }
}
