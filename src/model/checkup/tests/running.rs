use super::*;
use crate::model::observed::{Activity, Launch, TemplateUse};

/// A pool that is there, whose group launches from the template of this name.
fn pool(change: impl FnOnce(&mut PoolFacts, &mut Group)) -> Checkup {
    let names = Names::of(&request(|_| {}).scope);
    let wanted = names.template(&desired::roll_key(&request(|_| {})));
    found(
        |_| {},
        |facts| {
            let identity = request(|_| {}).scope.identity;
            let template = Template {
                id: "lt-1".into(),
                name: wanted.clone(),
                tags: identity.clone(),
                ..Template::default()
            };
            let used = TemplateUse { id: "lt-1".into(), name: wanted, version: "1".into() };
            let tag = |value: String| GroupTag { value, propagate: false };
            let mut group = Group {
                name: names.group.clone(),
                launch: Launch::Template(used),
                tags: identity.into_iter().map(|(key, value)| (key, tag(value))).collect(),
                ..Group::default()
            };
            facts.pool.templates = Look::Seen(vec![template]);
            change(&mut facts.pool, &mut group);
            facts.pool.group = Look::Seen(Some(group));
        },
    )
}

#[track_caller]
fn ends(found: &Checkup, id: &str, status: Status, words: &str) {
    let check = check(found, id);
    assert_eq!(check.status, status, "{check:#?}");
    let told = format!("{} {} {}", check.title, check.detail, check.fix.clone().unwrap_or_default());
    assert!(told.contains(words), "{words}: {told}");
    assert_eq!(check.fix.is_some(), status == Status::Warning, "{check:#?}");
}

#[test]
fn processes_that_are_suspended() {
    ends(&pool(|_, _| {}), "processes", Status::Pass, "");
    for process in ["Launch", "Terminate", "InstanceRefresh", "HealthCheck"] {
        let found = pool(|_, group| group.suspended = [process.into()].into());
        ends(&found, "processes", Status::Warning, &format!("--scaling-processes {process}"));
    }
    let own = pool(|_, group| group.suspended = ["AZRebalance".into()].into());
    ends(&own, "processes", Status::Pass, "");
}

#[test]
fn launches_that_failed() {
    let capacity = "We currently do not have sufficient m6i.large capacity";
    let activity = |status: &str, description: &str| Activity {
        status: status.into(),
        description: description.into(),
        message: (status == "Failed").then(|| capacity.to_owned()),
        ..testing::activity("Successful", "")
    };
    let launching = "Launching a new EC2 instance.  Status Reason: no";
    let (failed, well) =
        (activity("Failed", launching), activity("Successful", "Launching a new EC2 instance: i-1"));
    let gone = activity("Successful", "Terminating EC2 instance: i-2");
    let going = activity("InProgress", launching);
    let seen = |activities: &[&Activity]| {
        let activities = activities.iter().map(|one| (*one).clone()).collect();
        pool(|pool, _| pool.activities = Look::Seen(activities))
    };
    ends(&seen(&[&gone, &going, &failed, &failed, &well]), "launches", Status::Warning, "latest 2 launches");
    ends(&seen(&[&failed]), "launches", Status::Warning, "take another instance_type");
    ends(&seen(&[&well, &failed]), "launches", Status::Pass, "");
    ends(&seen(&[]), "launches", Status::Pass, "");
    let call = "autoscaling:DescribeScalingActivities";
    ends(&pool(|pool, _| pool.activities = failed_look(call)), "launches", Status::Skipped, "no luck");
}

fn failed_look<T>(call: &'static str) -> Look<T> {
    failed(call, Trouble::Other)
}

#[test]
fn a_template_that_is_gone() {
    ends(&pool(|_, _| {}), "template", Status::Pass, "exists");
    let gone = pool(|pool, _| pool.templates = Look::Seen(Vec::new()));
    ends(&gone, "template", Status::Warning, "machinepool apply");
}

#[test]
fn without_a_group_there_is_nothing_to_say() {
    let found = found(|_| {}, |_| {});
    let ids = ["processes", "launches", "template"];
    assert!(found.checks.iter().all(|check| !ids.contains(&check.id)), "{found:#?}");
}
