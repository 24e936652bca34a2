//! Which launch template a pool's group belongs on.

use super::{
    desired::Desired,
    names::{Names, RollKey},
    observed::{Group, Launch, Observed, Template, TemplateUse, TemplateVersion},
    ownership, records,
};

/// The template that the group is to launch from, and the one it launches from now.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// Its name.
    pub name: String,
    /// The template, if there is one already.
    pub existing: Option<&'a Template>,
    /// What the live group launches from now.
    pub current: Option<&'a TemplateUse>,
    /// Why the pool's earlier template no longer serves: its roll key in words.
    pub replaces: Option<&'a Template>,
    /// Whether `existing` has no record of a roll key and is taken as it is.
    pub taken_over: bool,
}

impl Target<'_> {
    /// Whether a live group has to be pointed at another template.
    pub fn repoints(&self) -> bool {
        match (self.existing, self.current) {
            (Some(existing), Some(current)) => existing.id != current.id,
            _ => true,
        }
    }
}

/// What a group launches from, as far as this program knows it.
pub fn current_use(group: &Group) -> Option<&TemplateUse> {
    match &group.launch {
        Launch::Template(template) | Launch::Mixed(template) => Some(template),
        Launch::Other => None,
    }
}

/// Finds the target: the group's own template if it was made for the wanted roll key, else the one
/// named for it, else another of the pool's that records it; a template without any record is taken
/// over as it is; else a new one is to be made.
pub fn target<'a>(desired: &Desired, observed: &'a Observed) -> Target<'a> {
    let group = observed.group.as_ref().filter(|g| !g.deleting);
    let current = group.and_then(current_use);
    let pool: Vec<&Template> = pool_templates(desired, observed);
    let own = current.and_then(|used| pool.iter().copied().find(|t| t.id == used.id));
    let wanted = &desired.template.name;
    let mark =
        group.and_then(|g| g.tags.get(records::ROLL)).and_then(|tag| records::RollMark::parse(&tag.value));
    let named_by_us = |t: &Template| {
        t.name == *wanted
            || mark
                .as_ref()
                .is_some_and(|m| t.name == format!("{}{}", desired.names.template_prefix(), m.hash))
            || is_our_naming(&desired.names, &t.name)
    };
    // What a state says of the group's template counts as its record, where it has none.
    let told = observed.known.key.as_ref().filter(|_| own.is_some_and(|t| !records::has_key(&t.tags)));
    let holds = |t: &Template| {
        records::holds_key(&t.tags, &desired.key)
            || (told == Some(&desired.key) && own.is_some_and(|own| own.id == t.id))
    };
    let serves = |t: &Template| t.name == *wanted || (!named_by_us(t) && holds(t));
    let untold = |t: &Template| !named_by_us(t) && !records::has_key(&t.tags) && told.is_none();

    let taken_over = own.is_some_and(untold) && !own.is_some_and(serves);
    let existing = own
        .filter(|t| serves(t) || untold(t))
        .or_else(|| pool.iter().copied().find(|t| t.name == *wanted))
        .or_else(|| pool.iter().copied().find(|t| serves(t)));
    let replaces = own
        .or_else(|| pool.first().copied())
        .filter(|earlier| existing.is_none_or(|target| target.id != earlier.id));
    Target {
        name: existing.map_or_else(|| wanted.clone(), |t| t.name.clone()),
        existing,
        current,
        replaces: replaces.filter(|_| own.is_some() || existing.is_none()),
        taken_over,
    }
}

/// The templates that carry this pool's identity.
pub fn pool_templates<'a>(desired: &Desired, observed: &'a Observed) -> Vec<&'a Template> {
    observed.templates.iter().filter(|t| ownership::is_ours(&desired.identity, &t.tags)).collect()
}

/// Whether a name has this program's form: the prefix and 26 hex digits of a digest. Terraform's
/// generated names have the same length, and begin with 18 decimal digits of a time
/// (`terraform-plugin-sdk`, `id.PrefixedUniqueId`); a digest does so once in 4,700 times, and then the
/// template's record, which says the same as its name, decides.
fn is_our_naming(names: &Names, name: &str) -> bool {
    name.strip_prefix(&names.template_prefix()).is_some_and(|suffix| {
        suffix.len() == RollKey::default().hash().len()
            && suffix.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            && !suffix.bytes().take(18).all(|b| b.is_ascii_digit())
    })
}

/// The versions of a template that were read: the latest, and the default if that is another one.
pub fn versions<'a>(
    observed: &'a Observed,
    template: &Template,
) -> impl Iterator<Item = &'a TemplateVersion> {
    observed.versions.iter().filter(|v| v.template_id == template.id)
}

/// The latest version of a template that was read, if any.
pub fn latest<'a>(observed: &'a Observed, template: &Template) -> Option<&'a TemplateVersion> {
    versions(observed, template).max_by_key(|v| v.number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing;

    const GENERATED: &str = "captf-team-a-demo-pool-0-43c6d828-20260101120000000000000001";

    fn template(id: &str, name: &str, key: Option<&RollKey>) -> Template {
        let mut tags = testing::request(|_| {}).captf_tags;
        if let Some(key) = key {
            tags.extend(records::key_tags(key));
        }
        Template { id: id.into(), name: name.into(), tags, ..Template::default() }
    }

    fn world(current: &str, templates: Vec<Template>) -> Observed {
        let launch = templates.iter().find(|t| t.id == current).map(|t| {
            Launch::Template(TemplateUse {
                id: t.id.clone(),
                name: t.name.clone(),
                version: "$Latest".into(),
            })
        });
        let group = launch.map(|launch| Group { launch, ..Group::default() });
        Observed { group, templates, ..testing::nothing() }
    }

    fn key(version: &str) -> RollKey {
        RollKey { kubernetes_version: Some(version.into()), machine_image_id: None }
    }

    fn named(key: &RollKey) -> String {
        Names::from_parts("team-a", "demo-pool-0").template(key)
    }

    #[test]
    fn the_name_decides_for_templates_of_our_naming() {
        let desired = testing::desired(|_| {});
        let (old, new) = (key("v1.33.0"), key("v1.34.1"));
        // The old one's record was edited to say what is wanted: its name still says otherwise.
        let world = world("lt-1", vec![template("lt-1", &named(&old), Some(&new))]);
        let target = target(&desired, &world);
        assert_eq!(target.name, named(&new));
        assert!(target.existing.is_none() && target.repoints());
        assert_eq!(target.replaces.unwrap().id, "lt-1");
    }

    #[test]
    fn the_record_decides_for_templates_of_another_name() {
        let desired = testing::desired(|_| {});
        for (recorded, keeps) in [(None, true), (Some("v1.34.1"), true), (Some("v1.33.0"), false)] {
            let key = recorded.map(key);
            let world = world("lt-1", vec![template("lt-1", GENERATED, key.as_ref())]);
            let target = target(&desired, &world);
            assert_eq!(target.existing.is_some(), keeps, "{recorded:?}");
            assert_eq!(target.repoints(), !keeps, "{recorded:?}");
            assert_eq!(target.taken_over, recorded.is_none());
        }
    }

    #[test]
    fn a_record_serves_as_it_was_written_whatever_its_version_looks_like() {
        for version in [
            "v1.31.0+2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
            "v1.31.0-4-g2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
            "v1.31.0+wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEYaB3dE",
            "v1.31.0+abcdef.0123456789abcdef",
        ] {
            let desired = testing::desired(|r| r.kubernetes_version = Some(version.into()));
            let mut earlier = template("lt-1", GENERATED, None);
            earlier.tags.insert(records::VERSION.into(), version.into());
            earlier.tags.insert(records::IMAGE.into(), String::new());
            let world = world("lt-1", vec![earlier]);
            let target = target(&desired, &world);
            assert!(target.existing.is_some() && !target.repoints() && !target.taken_over, "{version}");
        }
    }

    #[test]
    fn a_state_tells_what_a_template_without_a_record_was_made_for() {
        let desired = testing::desired(|_| {});
        for (known, keeps) in [("v1.34.1", true), ("v1.33.0", false)] {
            let mut world = world("lt-1", vec![template("lt-1", GENERATED, None)]);
            world.known.key = Some(key(known));
            let target = target(&desired, &world);
            assert_eq!((target.existing.is_some(), target.repoints()), (keeps, !keeps), "{known}");
            assert!(!target.taken_over, "nothing is guessed");
            assert_eq!(target.replaces.is_some(), !keeps);
        }
        // A record in the tags is newer than any state.
        let mut world = world("lt-1", vec![template("lt-1", GENERATED, Some(&key("v1.34.1")))]);
        world.known.key = Some(key("v1.33.0"));
        assert!(!target(&desired, &world).repoints());
    }

    #[test]
    fn going_back_finds_the_earlier_template() {
        let desired = testing::desired(|_| {});
        let old = key("v1.35.0");
        let ours = world(
            "lt-2",
            vec![template("lt-2", &named(&old), Some(&old)), template("lt-1", &named(&key("v1.34.1")), None)],
        );
        assert_eq!(target(&desired, &ours).existing.unwrap().id, "lt-1");
        let modules = world(
            "lt-2",
            vec![
                template("lt-1", GENERATED, Some(&key("v1.34.1"))),
                template("lt-2", &named(&old), Some(&old)),
            ],
        );
        let found = target(&desired, &modules);
        assert_eq!((found.existing.unwrap().id.as_str(), found.repoints()), ("lt-1", true));
    }

    #[test]
    fn strangers_templates_are_never_targets() {
        let desired = testing::desired(|_| {});
        let mut foreign = template("lt-1", GENERATED, None);
        foreign.tags.insert("captf.io/cluster".into(), "prod".into());
        let world = world("lt-1", vec![foreign]);
        let target = target(&desired, &world);
        assert!(target.existing.is_none() && target.repoints() && target.replaces.is_none());
    }
}
