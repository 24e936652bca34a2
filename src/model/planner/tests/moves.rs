//! An object that a bucket's change leaves behind.

use super::*;

const MOVED: Edit = |r| r.exports.bootstrap_bucket = "new-bootstrap".parse().unwrap();

/// The demo pool as it was in the first bucket, changed by `edit`; the second has no object yet.
fn before(edit: impl FnOnce(&mut Observed)) -> Observed {
    let mut observed = settled(unchanged);
    observed.object = Object::Missing;
    edit(&mut observed);
    observed
}

/// The demo pool in the second bucket, with the object in the first still recorded. Its members run version 1 of the
/// template, and version 2 names the second bucket.
fn after(edit: impl FnOnce(&mut Observed)) -> Observed {
    let mut observed = settled(MOVED);
    let template = &mut observed.templates[0];
    template.tags.insert(records::BUCKET.into(), "new-bootstrap/demo-bootstrap".into());
    (template.default_version, template.latest_version) = (2, 2);
    observed.versions[0].number = 2;
    edit(&mut observed);
    observed
}

fn removed(plan: &Plan) -> Vec<&str> {
    let steps = plan.stages.iter().flatten().flatten();
    steps
        .filter_map(|step| match &step.task {
            Task::RemoveObject { bucket, .. } => Some(bucket.as_str()),
            _ => None,
        })
        .collect()
}

fn is_kept(plan: &Plan, why: &str) -> bool {
    let records_new_only = writes(plan).iter().any(|write| {
        matches!(write, Write::TagTemplate { tags, .. } if tags.get(records::BUCKET).is_some_and(|b| b == "new-bootstrap"))
    });
    removed(plan).is_empty() && !records_new_only && plan.notes.iter().any(|note| note.contains(why))
}

#[test]
fn an_object_that_a_starting_member_may_fetch_stays() {
    for lifecycle in ["Pending", "Pending:Wait", "Pending:Proceed", "Warmed:Pending:Wait"] {
        let starting = |o: &mut Observed| group_of(o).members[1].lifecycle = lifecycle.into();
        for observed in [before(starting), after(starting)] {
            let plan = plan_for(MOVED, &observed);
            assert!(is_kept(&plan, "a member that is starting may still fetch it"), "{lifecycle}: {plan:#?}");
        }
    }
    assert_eq!(removed(&plan_for(MOVED, &before(|_| {}))), ["demo-bootstrap"]);
}

#[test]
fn a_starting_member_that_asks_the_bucket_of_today_keeps_nothing() {
    let starting = |o: &mut Observed| {
        let member = &mut group_of(o).members[1];
        member.lifecycle = "Pending:Wait".into();
        member.template.as_mut().unwrap().version = "2".into();
    };
    let plan = plan_for(MOVED, &after(starting));
    assert_eq!(removed(&plan), ["demo-bootstrap"]);
    assert_eq!(actions(&plan), [(Address::Object, Action::Update)]);
    // Of another template's version of that number nobody knows where it asks.
    let plan = plan_for(
        MOVED,
        &after(|o| {
            starting(o);
            group_of(o).members[1].template.as_mut().unwrap().id = "lt-9".into();
        }),
    );
    assert!(is_kept(&plan, "a member that is starting"), "{plan:#?}");
}

#[test]
fn whether_a_member_may_fetch_is_asked_before_a_try_is_recorded() {
    let tried = |task: &Task| match task {
        Task::Write(Write::TagTemplate { tags, .. }) => {
            tags.get(records::BUCKET).is_some_and(|buckets| buckets.ends_with('/'))
        }
        _ => false,
    };
    for observed in [before(|_| {}), after(|_| {})] {
        let plan = plan_for(MOVED, &observed);
        let chains: Vec<_> = plan.stages.iter().flatten().collect();
        let of_the_try = chains.iter().filter(|chain| chain.iter().any(|step| tried(&step.task)));
        let positions: Vec<_> = of_the_try
            .map(|chain| {
                let check = chain.iter().position(|s| matches!(s.task, Task::CheckFetchers { .. }));
                check < chain.iter().position(|s| tried(&s.task)) && check.is_some()
            })
            .collect();
        assert_eq!(positions, [true], "{plan:#?}");
    }
}

#[test]
fn an_object_that_a_roll_or_a_launch_under_way_may_fetch_stays() {
    let rolling = |o: &mut Observed| o.refreshes = vec![refresh("r-1", "InProgress")];
    assert!(is_kept(&plan_for(MOVED, &before(rolling)), "what a roll launches"));
    let roll: Edit = |r| {
        MOVED(r);
        v2(r);
    };
    assert!(is_kept(&plan_for(roll, &before(|_| {})), "what a roll launches"));
    let launching = |o: &mut Observed| {
        group_of(o).members.pop();
    };
    assert!(is_kept(&plan_for(MOVED, &before(launching)), "that the group launches"));
    // What is launched from now on asks the bucket of today.
    assert_eq!(removed(&plan_for(MOVED, &after(launching))), ["demo-bootstrap"]);
}

#[test]
fn what_may_go_at_last_is_a_change_and_what_may_not_is_none() {
    let plan = plan_for(MOVED, &after(|_| {}));
    assert_eq!(actions(&plan), [(Address::Object, Action::Update)]);
    assert_eq!(plan.changes[0].fields[0].now.as_deref(), Some("s3://demo-bootstrap/pool/demo-pool-0"));
    assert_eq!(removed(&plan), ["demo-bootstrap"]);
    let waiting = after(|o| group_of(o).members[0].lifecycle = "Pending".into());
    assert!(plan_for(MOVED, &waiting).is_empty());
    // Where something else changes, it goes with that.
    let plan = plan_for(
        |r| {
            MOVED(r);
            r.replicas = 4;
        },
        &after(|_| {}),
    );
    assert_eq!(actions(&plan), [(Address::Group, Action::Update)]);
    assert_eq!(removed(&plan), ["demo-bootstrap"]);
}

#[test]
fn an_object_that_two_templates_record_is_told_and_deleted_once() {
    let mut observed = repointed();
    observed.refreshes = vec![refresh("r-1", "Successful")];
    observed.object = Object::Missing;
    let roll: Edit = |r| {
        MOVED(r);
        v2(r);
    };
    let plan = plan_for(roll, &observed);
    assert_eq!(removed(&plan), ["demo-bootstrap"]);
    assert_eq!(
        plan.notes.iter().filter(|note| note.contains("s3://demo-bootstrap")).count(),
        1,
        "{:?}",
        plan.notes
    );
    let forgotten = writes(&plan).into_iter().filter(|write| {
        matches!(write, Write::TagTemplate { tags, .. } if tags.get(records::BUCKET).is_some_and(|b| b == "new-bootstrap"))
    });
    assert_eq!(forgotten.count(), 2, "each template forgets it");
}
