//! The edits, and what becomes of each.

use machinepool::model::{
    observed::{Launch, TemplateUse},
    resources::TemplateData,
};
use serde_json::{Value, json};

use super::{
    super::{
        chaos::hands::{self, group},
        lab::{GROUP, Lab},
    },
    Edit,
    Outcome::{self, Left, Mended, Refused},
    touch::{
        add_policy, add_version, group_tag, launch, object, object_tag, policy, roll_half_way, template,
        template_tag, used,
    },
};

pub(super) fn fixed() -> Value {
    json!({"additional_tags": {"team": "blue"}})
}

fn scaled() -> Value {
    json!({"additional_tags": {"team": "blue"}, "autoscaling": {"enabled": true, "min": 2, "max": 6}})
}

pub(super) fn rolling() -> Value {
    json!({"additional_tags": {"team": "blue"}, "kubernetes_version": "v1.35.0"})
}

fn edit(name: &'static str, hand: fn(&mut Lab), outcome: Outcome) -> Edit {
    Edit { name, pool: fixed, hand, outcome }
}

fn of(pool: fn() -> Value, edit: Edit) -> Edit {
    Edit { pool, ..edit }
}

pub(crate) fn edits() -> Vec<Edit> {
    [of_group(), of_launch(), of_tags(), of_object(), of_policy(), of_refresh()]
        .into_iter()
        .flatten()
        .collect()
}

fn of_group() -> Vec<Edit> {
    vec![
        edit("group deleted", hands::delete_group_and_wait, Mended("min_size")),
        edit("group being deleted", hands::delete_group, Mended("min_size")),
        edit("minimum", |lab| lab.edit(|w| group(w).min = 1), Mended("min_size")),
        edit("maximum", |lab| lab.edit(|w| group(w).max = 9), Mended("max_size")),
        edit(
            "desired capacity",
            |lab| {
                lab.edit(|w| (group(w).max, group(w).desired) = (5, 5));
            },
            Mended("desired_capacity"),
        ),
        of(
            scaled,
            edit("desired capacity of a scaled pool", |lab| lab.edit(|w| group(w).desired = 5), Left("")),
        ),
        edit("a subnet less", |lab| lab.edit(|w| group(w).subnets.truncate(2)), Mended("subnets")),
        edit(
            "a subnet more",
            |lab| {
                lab.edit(|w| group(w).subnets.push("subnet-0d".to_owned()));
            },
            Mended("subnets"),
        ),
        edit(
            "health check",
            |lab| {
                lab.edit(|w| "ELB".clone_into(&mut group(w).health_check_type));
            },
            Mended("health_check_type"),
        ),
        edit(
            "capacity rebalance",
            |lab| {
                lab.edit(|w| group(w).capacity_rebalance = true);
            },
            Mended("capacity_rebalance"),
        ),
        edit(
            "AZRebalance resumed",
            |lab| lab.edit(|w| group(w).suspended.clear()),
            Mended("suspended_processes"),
        ),
        edit(
            "ReplaceUnhealthy suspended",
            |lab| {
                lab.edit(|w| _ = group(w).suspended.insert("ReplaceUnhealthy".to_owned()));
            },
            Left("Suspended on the group: ReplaceUnhealthy"),
        ),
        edit(
            "Launch suspended",
            |lab| {
                lab.edit(|w| _ = group(w).suspended.insert("Launch".to_owned()));
            },
            Left("Suspended on the group: Launch"),
        ),
        edit(
            "scheduled action and warm pool",
            |lab| {
                lab.edit(|w| {
                    group(w).warm_pool = true;
                    group(w).scheduled_actions.insert("nightly".to_owned());
                });
            },
            Left(""),
        ),
        edit(
            "deletion protection",
            |lab| {
                lab.edit(|w| group(w).deletion_protection = Some("prevent-all-deletion".to_owned()));
            },
            Left(""),
        ),
        edit("members protected", hands::protect, Left("")),
        edit(
            "a member terminated",
            |lab| {
                lab.edit(|w| {
                    let id = w.active_members(GROUP).remove(0);
                    "shutting-down".clone_into(&mut w.instances.get_mut(&id).unwrap().state);
                });
            },
            Left(""),
        ),
    ]
}

fn of_launch() -> Vec<Edit> {
    vec![
        edit(
            "template deleted",
            |lab| {
                let id = used(lab).id;
                lab.edit(|w| drop(w.templates.remove(&id)));
            },
            Mended("launch_template"),
        ),
        edit(
            "version added",
            |lab| {
                add_version(lab, |data| data.instance_type = Some("c5.large".to_owned()));
            },
            Mended("instance_type"),
        ),
        edit(
            "bare version added",
            |lab| add_version(lab, |data| *data = TemplateData::default()),
            Mended("image_id"),
        ),
        edit(
            "version added and made the default",
            |lab| {
                add_version(lab, |data| data.instance_type = Some("c5.large".to_owned()));
                template(lab, |t| t.default_version = t.last_version);
            },
            Mended("instance_type"),
        ),
        edit("default version moved", |lab| add_version(lab, |_| ()), Mended("default_version")),
        edit(
            "fixed version",
            |lab| {
                launch(lab, Launch::Template(TemplateUse { version: "1".to_owned(), ..used(lab) }));
            },
            Mended("launch_template"),
        ),
        edit("mixed instances", |lab| launch(lab, Launch::Mixed(used(lab))), Mended("launch_template")),
        edit("no launch template", |lab| launch(lab, Launch::Other), Mended("launch_template")),
    ]
}

fn of_tags() -> Vec<Edit> {
    const ZONES: &str = "machinepool.captf.io/inherited-zones";
    vec![
        edit("group: tag edited", |lab| group_tag(lab, "team", "red"), Mended("tags[\"team\"]")),
        edit(
            "group: tag removed",
            |lab| {
                lab.edit(|w| drop(group(w).tags.remove("team")));
            },
            Mended("tags[\"team\"]"),
        ),
        edit(
            "group: tag made to propagate",
            |lab| {
                lab.edit(|w| group(w).tags.get_mut("team").unwrap().propagate = true);
            },
            Mended("propagate_at_launch"),
        ),
        edit(
            "group: identity tag removed",
            |lab| {
                lab.edit(|w| drop(group(w).tags.remove("captf.io/name")));
            },
            Mended("tags[\"captf.io/name\"]"),
        ),
        edit("group: another owner", |lab| group_tag(lab, "captf.io/cluster", "other"), Refused),
        edit("group: no tag at all", |lab| lab.edit(|w| group(w).tags.clear()), Refused),
        edit("group: a tag of theirs", |lab| group_tag(lab, "theirs", "x"), Left("")),
        edit(
            "group: zone record removed",
            |lab| {
                lab.edit(|w| drop(group(w).tags.remove(ZONES)));
            },
            Mended(ZONES),
        ),
        edit(
            "group: roll mark removed",
            |lab| {
                lab.edit(|w| drop(group(w).tags.remove("machinepool.captf.io/roll")));
            },
            Mended("machinepool.captf.io/roll"),
        ),
        edit(
            "group: roll mark edited",
            |lab| {
                group_tag(lab, "machinepool.captf.io/roll", "nonsense");
            },
            Mended("machinepool.captf.io/roll"),
        ),
        edit("template: tag edited", |lab| template_tag(lab, "team", "red"), Mended("tags[\"team\"]")),
        edit(
            "template: tag removed",
            |lab| template(lab, |t| drop(t.tags.remove("team"))),
            Mended("tags[\"team\"]"),
        ),
        edit("template: another owner", |lab| template_tag(lab, "captf.io/cluster", "other"), Refused),
        edit("template: a tag of theirs", |lab| template_tag(lab, "theirs", "x"), Left("")),
        edit(
            "template: roll key edited",
            |lab| {
                template_tag(lab, "machinepool.captf.io/kubernetes-version", "v1.0.0");
            },
            Mended("machinepool.captf.io/kubernetes-version"),
        ),
        edit(
            "template: records removed",
            |lab| {
                template(lab, |t| t.tags.retain(|key, _| !key.starts_with("machinepool.captf.io/")));
            },
            Mended("machinepool.captf.io/bootstrap-bucket"),
        ),
        edit("object: another owner", |lab| object_tag(lab, "captf.io/cluster", "other"), Refused),
        edit("object: a tag of theirs", |lab| object_tag(lab, "theirs", "x"), Mended("tags[\"theirs\"]")),
        edit(
            "object: tag removed",
            |lab| {
                object(lab, |o| drop(o.tags.remove("captf.io/name")));
            },
            Mended("tags[\"captf.io/name\"]"),
        ),
    ]
}

fn of_object() -> Vec<Edit> {
    vec![
        edit(
            "object overwritten",
            |lab| object(lab, |o| o.sha256 = Some("AAAA".to_owned())),
            Mended("sha256"),
        ),
        edit("object without a checksum", |lab| object(lab, |o| o.sha256 = None), Mended("sha256")),
        edit(
            "object of another type",
            |lab| {
                object(lab, |o| o.content_type = Some("text/plain".to_owned()));
            },
            Mended("content_type"),
        ),
        edit(
            "object of another encryption",
            |lab| {
                object(lab, |o| o.encryption = Some("aws:kms".to_owned()));
            },
            Mended("server_side_encryption"),
        ),
        edit(
            "object deleted",
            |lab| {
                lab.edit(|w| drop(w.buckets.get_mut("demo-bootstrap").unwrap().remove("pool/demo-pool-0")));
            },
            Mended("sha256"),
        ),
    ]
}

fn of_policy() -> Vec<Edit> {
    vec![
        of(
            scaled,
            edit("policy removed", |lab| lab.edit(|w| group(w).policies.clear()), Mended("target_value")),
        ),
        of(
            scaled,
            edit(
                "policy's target",
                |lab| {
                    policy(lab, |p| p.target_tracking = Some(("ASGAverageCPUUtilization".to_owned(), 10.0)));
                },
                Mended("target_value"),
            ),
        ),
        of(
            scaled,
            edit(
                "policy's metric",
                |lab| {
                    policy(lab, |p| p.target_tracking = Some(("ASGAverageNetworkIn".to_owned(), 60.0)));
                },
                Mended("metric"),
            ),
        ),
        of(
            scaled,
            edit(
                "policy's scale-in disabled",
                |lab| {
                    policy(lab, |p| drop(p.extras.insert("disable_scale_in".to_owned(), "true".to_owned())));
                },
                Mended("disable_scale_in"),
            ),
        ),
        edit(
            "policy of ours where none is wanted",
            |lab| {
                add_policy(lab, "captf-cpu-target-tracking");
            },
            Mended("target_value"),
        ),
        edit("policy of theirs", |lab| add_policy(lab, "theirs"), Left("")),
    ]
}

fn of_refresh() -> Vec<Edit> {
    vec![
        edit("refresh started", hands::start_refresh, Left("instance refresh")),
        edit("refresh with a template started", hands::start_desired_refresh, Left("instance refresh")),
        of(
            rolling,
            edit(
                "roll cancelled",
                |lab| {
                    roll_half_way(lab);
                    hands::cancel_refresh(lab);
                },
                Left("The roll was stopped: its instance refresh is Cancelled"),
            ),
        ),
        of(
            rolling,
            edit(
                "roll of an unknown status",
                |lab| {
                    roll_half_way(lab);
                    hands::make_status_unknown(lab);
                },
                Left("is Contemplating"),
            ),
        ),
    ]
}
