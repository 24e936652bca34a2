//! Which zones a pool spans, and what it remembers of its first apply.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    observed::{Group, Known, Template},
    records, target,
};
use crate::contract::{problem::Diagnostic, quote, request::Request};

/// A pool's zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Zones that the group spans, sorted.
    pub spanned: Vec<String>,
    /// The record of the first apply, as its tag holds it.
    pub record: String,
    /// Whether the record was found in AWS, rather than made now.
    pub recorded: bool,
    /// The cluster's zones of today, where a pool that inherits them began with others.
    pub offered: Option<Vec<String>>,
    /// The cluster's zones of today, each with its subnet.
    pub subnets: BTreeMap<String, String>,
    /// That somebody has edited the record, if its copies disagree.
    pub edited: Option<Diagnostic>,
}

/// The record as the group and a launch template hold it. Both are written from one and never changed: where they
/// differ, somebody has edited one.
struct Copies<'a> {
    group: Option<(&'a str, &'a str)>,
    template: Option<(&'a str, &'a str)>,
}

impl<'a> Copies<'a> {
    /// Of several templates, the one that the group uses counts first. An empty tag is none.
    fn of(group: Option<&'a Group>, templates: &[&'a Template]) -> Self {
        let of_group = |group: &'a Group| {
            Some((group.name.as_str(), group.tags.get(records::ZONES)?.value.as_str()))
                .filter(|c| !c.1.is_empty())
        };
        let of_template = |template: &&'a Template| {
            Some((template.name.as_str(), template.tags.get(records::ZONES)?.as_str()))
                .filter(|c| !c.1.is_empty())
        };
        let used = group.and_then(target::current_use);
        let current = templates.iter().find(|t| used.is_some_and(|used| used.id == t.id));
        Self {
            group: group.and_then(of_group),
            template: current.and_then(of_template).or_else(|| templates.iter().find_map(of_template)),
        }
    }

    /// The copy that counts. Where they differ: the one that is what the group spans; else the group's, unless the
    /// cluster knows none of its zones. With `failure_domains` a group spans those, which says nothing of the record:
    /// then the one that has all zones of the other and more, else the template's.
    fn record(&self, request: &Request, group: Option<&Group>) -> Option<&'a str> {
        let (Some((_, ours)), Some((_, copy))) = (self.group, self.template) else {
            return self.group.or(self.template).map(|(_, record)| record);
        };
        let known = &request.exports.failure_domains;
        let spanned: BTreeSet<&str> = known
            .iter()
            .filter(|(_, subnet)| group.is_some_and(|group| group.subnets.contains(subnet.as_str())))
            .map(|(zone, _)| zone.as_str())
            .collect();
        let zones = |record: &'a str| -> BTreeSet<&'a str> {
            record.split('/').filter(|zone| known.contains_key(*zone)).collect()
        };
        let (ours_known, copy_known) = (zones(ours), zones(copy));
        if !request.failure_domains.is_empty() {
            let has_more = ours_known.is_superset(&copy_known) && ours_known != copy_known;
            return Some(if has_more { ours } else { copy });
        }
        let counts = match (ours_known == spanned, copy_known == spanned) {
            (true, false) => ours,
            (false, true) => copy,
            _ if ours_known.is_empty() => copy,
            _ => ours,
        };
        Some(counts)
    }

    fn warning(&self, record: &str) -> Option<Diagnostic> {
        let ((group, ours), (template, copy)) = self.group.zip(self.template)?;
        (ours != copy).then(|| {
            Diagnostic::warning(
                "Somebody has edited the record of the pool's zones",
                format!(
                    "The tag {} is {ours:?} on Auto Scaling group {group} and {copy:?} on launch template {template}. \
                     {record:?} fits the pool: apply puts it back. To change a pool's zones, set failureDomains of the \
                     MachinePool.",
                    records::ZONES
                ),
            )
        })
    }
}

/// The zones of a pool. The record is read from the group and from the pool's templates (so that it survives a
/// group deleted by hand, and an edit by hand); a pool that has none gets one now, if the state of a pool that
/// Terraform made says so, the one it had there.
pub fn zones(
    request: &Request,
    group: Option<&Group>,
    templates: &[&Template],
    known: &Known,
) -> Result<Zones, Diagnostic> {
    let copies = Copies::of(group, templates);
    let found = copies.record(request, group);
    let edited = found.and_then(|record| copies.warning(record));
    let record = match found {
        Some(value) => value.to_owned(),
        None => to_record(&known.zones.clone().unwrap_or_else(|| initial(request, group)))?,
    };
    if record.chars().count() > records::VALUE_CHARS {
        return Err(Diagnostic::error(
            "Too many zones to record",
            format!(
                "The pool's zones make a tag value of {} characters ({record}), and AWS allows {}. Give the \
                 cluster fewer failure domains.",
                record.chars().count(),
                records::VALUE_CHARS
            ),
        ));
    }
    let spanned =
        if request.failure_domains.is_empty() { inherited(request, &record)? } else { asked_for(request)? };
    let today = initial(request, None);
    let differs = request.failure_domains.is_empty() && today.join("/") != record;
    let known = &request.exports.failure_domains;
    let subnets = known.iter().map(|(zone, subnet)| (zone.clone(), subnet.to_string())).collect();
    Ok(Zones {
        spanned,
        record,
        recorded: found.is_some(),
        offered: differs.then_some(today),
        subnets,
        edited,
    })
}

/// The zones as their tag will hold them, from which they must come back as they were.
fn to_record(zones: &[String]) -> Result<String, Diagnostic> {
    match zones.iter().find(|zone| zone.contains('/') || !records::fits_tag(zone)) {
        None => Ok(zones.join("/")),
        Some(odd) => Err(Diagnostic::error(
            format!("{} is no zone of AWS's", quote::quoted(odd)),
            "The cluster's failure domains name it (cluster_failure_domains), and the pool's zones are recorded in \
             a tag, which cannot hold it. Mend the cluster's failure domains.",
        )),
    }
}

/// The zones of `failure_domains`, sorted; each must have a subnet.
pub fn asked_for(request: &Request) -> Result<Vec<String>, Diagnostic> {
    let known = &request.exports.failure_domains;
    let mut unknown: Vec<&str> = request
        .failure_domains
        .iter()
        .map(String::as_str)
        .filter(|zone| !known.contains_key(*zone))
        .collect();
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let zones: Vec<&str> = known.keys().map(String::as_str).collect();
        let unknown: Vec<String> = unknown.into_iter().map(quote::within_quotes).collect();
        return Err(Diagnostic::error(
            format!("Unknown failure domain {}", unknown.join(", ")),
            format!(
                "failure_domains names it, but the cluster has a subnet only in {}. Take it out of the \
                 MachinePool's failureDomains, or add the zone to the cluster.",
                zones.join(", ")
            ),
        ));
    }
    let mut zones = request.failure_domains.clone();
    zones.sort_unstable();
    Ok(zones)
}

fn inherited(request: &Request, record: &str) -> Result<Vec<String>, Diagnostic> {
    let known = &request.exports.failure_domains;
    let mut zones: Vec<String> =
        record.split('/').filter(|zone| known.contains_key(*zone)).map(str::to_owned).collect();
    zones.sort_unstable();
    zones.dedup();
    if zones.is_empty() {
        let known: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(Diagnostic::error(
            "No zone left for the pool",
            format!(
                "The pool began in {record}, and the cluster has a subnet only in {}. Set failureDomains of \
                 the MachinePool to zones that the cluster has.",
                known.join(", ")
            ),
        ));
    }
    Ok(zones)
}

/// What a pool without a record begins with: the zones that a group already spans (one that Terraform
/// made), else the cluster's, sorted, whether or not they have a subnet today.
fn initial(request: &Request, group: Option<&Group>) -> Vec<String> {
    let known = &request.exports.failure_domains;
    let spanned: Vec<String> = match group {
        Some(group) if request.failure_domains.is_empty() => known
            .iter()
            .filter(|(_, subnet)| group.subnets.contains(subnet.as_str()))
            .map(|(zone, _)| zone.clone())
            .collect(),
        _ => Vec::new(),
    };
    if !spanned.is_empty() {
        return spanned;
    }
    let listed = &request.cluster_failure_domains;
    if listed.is_empty() {
        return known.keys().cloned().collect();
    }
    let mut zones = listed.clone();
    zones.sort_unstable();
    zones.dedup();
    zones
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        observed::{GroupTag, Launch, TemplateUse},
        testing,
    };

    fn recorded(value: &str) -> Group {
        let mut group = Group::default();
        group.tags.insert(records::ZONES.into(), GroupTag { value: value.into(), propagate: false });
        group
    }

    #[test]
    fn the_first_apply_records_the_clusters_zones() {
        let all = zones(&testing::request(|_| {}), None, &[], &Known::default()).unwrap();
        assert_eq!(all.record, "us-east-1a/us-east-1b/us-east-1c");
        assert!(!all.recorded);
        let listed =
            testing::request(|r| r.cluster_failure_domains = vec!["us-east-1c".into(), "us-east-1a".into()]);
        assert_eq!(zones(&listed, None, &[], &Known::default()).unwrap().record, "us-east-1a/us-east-1c");
        // failure_domains decide what is spanned, and leave the record to the cluster.
        let asked = testing::request(|r| r.failure_domains = vec!["us-east-1b".into()]);
        let asked = zones(&asked, None, &[], &Known::default()).unwrap();
        assert_eq!(asked.spanned, ["us-east-1b"]);
        assert_eq!(asked.record, "us-east-1a/us-east-1b/us-east-1c");
    }

    #[test]
    fn the_record_outlives_what_the_cluster_gains_and_loses() {
        let request = testing::request(|r| {
            r.exports.failure_domains.remove("us-east-1b");
        });
        let kept = zones(&request, Some(&recorded("us-east-1a/us-east-1b")), &[], &Known::default()).unwrap();
        assert_eq!(kept.spanned, ["us-east-1a"]);
        assert_eq!(kept.record, "us-east-1a/us-east-1b");
        assert!(kept.recorded);
        let gone = zones(&request, Some(&recorded("us-east-1b")), &[], &Known::default()).unwrap_err();
        assert!(gone.detail.contains("us-east-1b") && gone.detail.contains("us-east-1a, us-east-1c"));
    }

    #[test]
    fn a_group_deleted_by_hand_leaves_the_record_on_the_template() {
        let template =
            Template { tags: testing::tags(&[(records::ZONES, "us-east-1c")]), ..Template::default() };
        let kept = zones(&testing::request(|_| {}), None, &[&template], &Known::default()).unwrap();
        assert_eq!(kept.spanned, ["us-east-1c"]);
        assert!(kept.recorded);
    }

    fn copy(value: &str) -> Template {
        let tags = testing::tags(&[(records::ZONES, value)]);
        Template { id: "lt-1".into(), name: "the-template".into(), tags, ..Template::default() }
    }

    const ALL: &str = "us-east-1a/us-east-1b/us-east-1c";

    /// (the group's copy, the template's, subnets of the group, what counts)
    const EDITS: [(&str, &str, &[&str], &str); 9] = [
        ("us-east-1a", ALL, &["subnet-00", "subnet-01", "subnet-02"], ALL),
        (ALL, "us-east-1a", &["subnet-00", "subnet-01", "subnet-02"], ALL),
        ("nonsense", ALL, &["subnet-00", "subnet-01", "subnet-02"], ALL),
        (ALL, "nonsense", &["subnet-00", "subnet-01", "subnet-02"], ALL),
        // The cluster has lost a zone of the record since.
        (
            "us-east-1a",
            "us-east-1a/us-east-1b/us-east-1z",
            &["subnet-00", "subnet-01"],
            "us-east-1a/us-east-1b/us-east-1z",
        ),
        // The group spans something else, or there is none: the group's counts, if it says anything.
        ("us-east-1a", "us-east-1b", &["subnet-02"], "us-east-1a"),
        ("nonsense", "us-east-1b", &["subnet-02"], "us-east-1b"),
        ("us-east-1a", "us-east-1b", &[], "us-east-1a"),
        // Both fit.
        ("us-east-1a/gone", "us-east-1a/went", &["subnet-00"], "us-east-1a/gone"),
    ];

    #[test]
    fn of_two_copies_that_differ_the_one_that_fits_counts_and_the_edit_is_told() {
        for (ours, theirs, subnets, counts) in EDITS {
            let group =
                Group { subnets: subnets.iter().map(|s| (*s).to_owned()).collect(), ..recorded(ours) };
            let found =
                zones(&testing::request(|_| {}), Some(&group), &[&copy(theirs)], &Known::default()).unwrap();
            assert_eq!(found.record, counts, "{ours} {theirs}");
            assert!(found.recorded);
            let told = found.edited.unwrap().detail;
            assert!(told.contains(&format!("{ours:?}")) && told.contains(&format!("{theirs:?}")), "{told}");
            assert!(told.contains("the-template") && told.contains(records::ZONES), "{told}");
        }
        let same = zones(&testing::request(|_| {}), Some(&recorded(ALL)), &[&copy(ALL)], &Known::default());
        assert!(same.unwrap().edited.is_none());
    }

    #[test]
    fn with_failure_domains_no_copy_is_narrowed_by_an_edit() {
        let request = testing::request(|r| r.failure_domains = vec!["us-east-1a".into()]);
        for (ours, theirs, counts) in [
            ("us-east-1a", ALL, ALL),
            (ALL, "us-east-1a", ALL),
            ("nonsense", ALL, ALL),
            (ALL, "nonsense", ALL),
            ("us-east-1a", "us-east-1b", "us-east-1b"),
            ("us-east-1a/gone", "us-east-1a/went", "us-east-1a/went"),
        ] {
            let group = Group { subnets: ["subnet-00".to_owned()].into(), ..recorded(ours) };
            let found = zones(&request, Some(&group), &[&copy(theirs)], &Known::default()).unwrap();
            assert_eq!(found.record, counts, "{ours} {theirs}");
            assert!(found.edited.is_some());
        }
    }

    #[test]
    fn an_empty_copy_is_none() {
        for (ours, theirs) in [("", "us-east-1b"), ("us-east-1b", "")] {
            let found =
                zones(&testing::request(|_| {}), Some(&recorded(ours)), &[&copy(theirs)], &Known::default());
            let found = found.unwrap();
            assert_eq!((found.record.as_str(), found.recorded, found.edited), ("us-east-1b", true, None));
        }
    }

    #[test]
    fn the_copy_of_the_template_in_use_counts_before_an_older_ones() {
        let older = Template { id: "lt-0".into(), name: "a".into(), ..copy("us-east-1a") };
        let launch = Launch::Template(TemplateUse { id: "lt-1".into(), ..TemplateUse::default() });
        let group = Group { launch, ..recorded("") };
        let found = zones(&testing::request(|_| {}), Some(&group), &[&older, &copy(ALL)], &Known::default());
        assert_eq!(found.unwrap().record, ALL);
    }

    #[test]
    fn a_pool_that_terraform_made_keeps_the_zones_it_spans() {
        let group = Group { subnets: ["subnet-01".to_owned()].into(), ..Group::default() };
        let kept = zones(&testing::request(|_| {}), Some(&group), &[], &Known::default()).unwrap();
        assert_eq!(kept.record, "us-east-1b");
        assert!(!kept.recorded);
    }

    #[test]
    fn unknown_zones_are_named_with_the_clusters_own() {
        let request =
            testing::request(|r| r.failure_domains = vec!["us-east-1z".into(), "us-east-1a".into()]);
        let problem = zones(&request, None, &[], &Known::default()).unwrap_err();
        assert!(problem.summary.contains("us-east-1z") && !problem.summary.contains("us-east-1a"));
        assert!(problem.detail.contains("us-east-1a, us-east-1b, us-east-1c"));
    }

    #[test]
    fn bootstrap_data_in_the_place_of_a_zone_is_not_repeated() {
        const DATA: &str = "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6Ci0gU0VDUkVUVE9LRU4xMjM0NTY3ODkwYWJjZGVmCg==";
        let asked = testing::request(|r| r.failure_domains = vec![DATA.into()]);
        let listed = testing::request(|r| r.cluster_failure_domains = vec![DATA.into(), "a,b".into()]);
        for request in [asked, listed] {
            let problem = zones(&request, None, &[], &Known::default()).unwrap_err();
            assert!(!format!("{problem:?}").contains(&DATA[..12]), "{problem:?}");
        }
    }

    #[test]
    fn what_no_tag_can_hold_is_refused() {
        for odd in ["bad,zone", "a/b", " us-east-1a", "zöne"] {
            let request =
                testing::request(|r| r.cluster_failure_domains = vec!["us-east-1a".into(), odd.into()]);
            let problem = zones(&request, None, &[], &Known::default()).unwrap_err();
            assert!(problem.summary.contains(odd), "{}", problem.summary);
            // A pool that has its record needs no other.
            zones(&request, Some(&recorded("us-east-1a")), &[], &Known::default()).unwrap();
        }
    }

    #[test]
    fn zones_that_fit_no_tag_are_refused() {
        let request = testing::request(|r| {
            for i in 0..30 {
                r.exports.failure_domains.insert(format!("us-east-1-lax-{i}a"), "subnet-0f".parse().unwrap());
            }
        });
        let problem = zones(&request, None, &[], &Known::default()).unwrap_err();
        assert!(problem.detail.contains("256"));
    }
}
