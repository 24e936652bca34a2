//! Members beyond the size that is wanted, as a roll that launches first has them while it goes on.

use super::{
    members,
    observed::{Group, GroupMember},
};
use crate::contract::problem::Diagnostic;

/// How many members that the group counts there are beyond its desired capacity.
fn beyond(group: &Group) -> usize {
    let counts = |member: &&GroupMember| members::is_counted(&member.lifecycle);
    group.members.iter().filter(counts).count().saturating_sub(group.desired as usize)
}

/// What becomes of the members that a roll has launched beside those it was to replace, if it is cancelled now.
pub fn of_a_cancelled_roll(group: &Group) -> Option<Diagnostic> {
    let more = beyond(group);
    let noun = if more == 1 { "1 member".to_owned() } else { format!("{more} members") };
    let verb = if more == 1 { "is" } else { "are" };
    (more > 0).then(|| {
        Diagnostic::warning(
            format!("{noun} more than the {} wanted {verb} left by the roll", group.desired),
            format!(
                "Once the roll is cancelled, Auto Scaling may terminate as many, without drain. Which, its termination \
                 policy says: with the default one those of the oldest launch template first, so members that were not \
                 replaced yet. Those that are protected from scale-in stay. To keep all for now:\n\n  aws autoscaling \
                 suspend-processes --auto-scaling-group-name {} --scaling-processes Terminate",
                group.name
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing;

    #[test]
    fn only_those_that_the_group_counts_are_too_many() {
        let told = |edit: &dyn Fn(&mut Group)| {
            let mut group = testing::seen(&[2, 2, 1, 1, 1]).group.unwrap();
            group.desired = 3;
            edit(&mut group);
            of_a_cancelled_roll(&group).map(|told| told.summary)
        };
        assert_eq!(told(&|_| {}).unwrap(), "2 members more than the 3 wanted are left by the roll");
        assert_eq!(
            told(&|group| group.members[0].lifecycle = "Terminating:Wait".into()).unwrap(),
            "1 member more than the 3 wanted is left by the roll"
        );
        for lifecycle in ["Standby", "Warmed:Stopped", "Detaching"] {
            let aside = |group: &mut Group| {
                group.members[..2].iter_mut().for_each(|member| member.lifecycle = lifecycle.into());
            };
            assert_eq!(told(&aside), None, "{lifecycle}");
        }
    }
}
