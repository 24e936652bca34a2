//! The node labels that new members register.

use super::*;

/// What the inputs ask for is no news of the pool: they may be short, or not applied yet.
#[test]
fn labels_are_those_of_the_version_that_the_group_launches() {
    let plan = Plan::default();
    let labels = |seen: &Seen, asked: &[(&str, &str)], compared: Compared<'_>| {
        let scope = testing::request(|r| r.scope.node_labels = testing::tags(asked)).scope;
        let status = status(&scope, "us-east-1", seen, compared, NOW);
        let labels = serde_json::to_value(&status).unwrap();
        assert_eq!(faults(&labels), [""; 0], "{labels:#}");
        status.node_labels
    };
    let live = testing::tags(&[("team", "a")]);
    let seen = testing::seen(&[2]);
    for (asked, compared, as_asked) in [
        (&[][..], EMPTY, None),
        (&[("team", "b")], EMPTY, None),
        (&[("team", "b")], Compared::With(&plan), Some(false)),
        (&[("team", "a")], Compared::With(&plan), Some(true)),
        (&[("team", "a"), ("kubernetes.io/role", "x")], Compared::With(&plan), Some(true)),
    ] {
        let shown = labels(&seen, asked, compared);
        assert_eq!((shown.count, shown.registered.as_ref()), (Some(1), Some(&live)), "{asked:?}");
        assert_eq!(shown.as_asked, as_asked, "{asked:?}");
    }
    let unknown = |edit: fn(&mut Seen)| {
        let mut seen = testing::seen(&[2]);
        edit(&mut seen);
        let shown = labels(&seen, &[("team", "a")], Compared::With(&plan));
        assert_eq!((shown.count, shown.digest, shown.registered, shown.as_asked), (None, None, None, None));
    };
    unknown(|seen| seen.group = None);
    unknown(|seen| seen.versions.clear());
    unknown(|seen| seen.versions[0].data.user_data = None);
    unknown(|seen| seen.versions[0].data.user_data = Some("#!/bin/sh\nlabels='team=a'\n".into()));
    unknown(|seen| seen.versions[0].number = 1);
    unknown(|seen| seen.group.as_mut().unwrap().launch = Launch::Other);
}
