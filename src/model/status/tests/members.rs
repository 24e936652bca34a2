//! Members one by one, and how many there are of each kind.

use super::*;

#[test]
fn a_member_is_compared_with_what_the_group_launches() {
    use Behind::{DeletedTemplate, No, NoTemplate, OlderVersion, OtherTemplate, Unknown};
    let mut seen = testing::seen(&[2, 1, 0, 2, 2]);
    let group = seen.group.as_mut().unwrap();
    group.members[3].template = None;
    // Made again under the same name.
    group.members[4].template.as_mut().unwrap().id = "lt-gone".into();
    let behind = |seen: &Seen| of(seen).members.iter().map(|m| m.behind).collect::<Vec<_>>();
    // By zone: members 0 and 3, 1 and 4, 2.
    assert_eq!(behind(&seen), [No, NoTemplate, OlderVersion, DeletedTemplate, OtherTemplate]);
    let counts = of(&seen).counts;
    assert_eq!((counts.on_older_version, counts.on_deleted_template, counts.on_other_template), (1, 1, 1));
    let pinned = |version: &str| {
        let mut seen = testing::seen(&[2, 1]);
        let launch = Launch::Template(TemplateUse { version: version.into(), ..testing::used(2) });
        seen.group.as_mut().unwrap().launch = launch;
        (behind(&seen), of(&seen).warnings.len())
    };
    assert_eq!(pinned("$Latest"), (vec![No, OlderVersion], 0));
    assert_eq!(pinned("1"), (vec![OlderVersion, No], 1), "a fixed version is worth a warning");
    assert_eq!(pinned("$Default"), (vec![OlderVersion, No], 1));
    seen.templates.clear();
    assert_eq!(behind(&seen)[0], Unknown, "no template is listed");
    assert_eq!(of(&seen).template.unwrap().version, None);
}

#[test]
fn everybody_alive_or_listed_is_shown() {
    let mut seen = testing::seen(&[2, 2, 2]);
    let listed = |id: &str, lifecycle: &str| GroupMember {
        id: id.into(),
        zone: "us-east-1a".into(),
        lifecycle: lifecycle.into(),
        ..GroupMember::default()
    };
    let group = seen.group.as_mut().unwrap();
    group.members.extend([listed("i-8", "Pending"), listed("i-9", "Terminating:Wait")]);
    for (id, state) in [("i-5", "terminated"), ("i-6", "shutting-down"), ("i-7", "running")] {
        seen.instances.push(Instance { id: id.into(), state: state.into(), ..Instance::default() });
    }
    let status = of(&seen);
    let shown: Vec<(&str, &str, bool)> =
        status.members.iter().map(|m| (m.instance_id.as_str(), m.state.as_str(), m.leaving)).collect();
    assert!(
        shown.contains(&("i-8", "pending", false)) && shown.contains(&("i-9", "pending", true)),
        "{shown:?}"
    );
    assert!(shown.contains(&("i-6", "shutting-down", true)) && shown.contains(&("i-7", "running", false)));
    assert!(!shown.iter().any(|(id, ..)| *id == "i-5"), "{shown:?}");
    assert_eq!((status.counts.members, status.counts.leaving), (6, 2));
}

#[test]
fn a_limit_on_members_counts_members_only() {
    let mut seen = testing::seen(&vec![2; 10_000]);
    let warned =
        |seen: &Seen| of(seen).warnings.iter().any(|w| w.summary.contains("more than 10000 members"));
    seen.instances.push(Instance { id: "i-z".into(), state: "shutting-down".into(), ..Instance::default() });
    assert!(!warned(&seen), "one that leaves is none");
    seen.instances[10_000].state = "running".into();
    assert!(warned(&seen));
}
