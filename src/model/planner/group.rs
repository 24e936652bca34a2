//! The Auto Scaling group, its zones and its tags.

use std::collections::{BTreeMap, BTreeSet};

use super::{Draft, Phase, View, tag_limit};
use crate::contract::{problem::Diagnostic, request::Tags};
use crate::model::{
    diff::{self, Fields},
    observed::{Group, Launch},
    plan::{Action, Address, Task},
    processes::SUSPENDED,
    records::{self, RollMark},
    resources::{CreateGroup, TemplateRef, UpdateGroup, Write},
    roll, target,
};

/// The only health check a pool uses.
const HEALTH_CHECK: &str = "EC2";

pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    zone_record(view, draft);
    match view.live {
        None => create(view, draft),
        Some(live) => update(view, live, draft),
    }
}

fn zone_record(view: &View<'_>, draft: &mut Draft) {
    let zones = &view.desired.zones;
    if !zones.recorded {
        let mut fields = Fields::default();
        fields.value("zones", None::<&str>, &zones.record);
        draft.change(Address::InheritedZones, &view.desired.names.group, Action::Create, fields.into_vec());
    }
    if let Some(offered) = &zones.offered {
        draft.notes.push(format!(
            "The pool stays in the zones of its first apply ({}); the cluster now has {}. Set failure_domains to \
             change that.",
            zones.record.replace('/', ", "),
            offered.join(", ")
        ));
    }
}

fn template_ref(view: &View<'_>) -> TemplateRef {
    match view.target.existing {
        Some(template) => TemplateRef::Id(template.id.clone()),
        None => TemplateRef::Named(view.target.name.clone()),
    }
}

fn create(view: &View<'_>, draft: &mut Draft) {
    let wanted = &view.desired.group;
    let name = &view.desired.names.group;
    if view.observed.group.is_some() {
        draft
            .notes
            .push(format!("Auto Scaling group {name} is being deleted; apply waits until it is gone."));
        draft.chain(Phase::Clear, Address::Group, [Task::AwaitGroupGone { group: name.clone() }]);
    }
    if let Some(warning) = moved_capacity(view) {
        draft.warnings.push(warning);
    }
    let mut tags = wanted.tags.clone();
    tags.insert(
        records::ROLL.to_owned(),
        RollMark { hash: view.desired.key.hash(), newest: None }.to_string(),
    );
    let mut fields = Fields::default();
    fields.value("launch_template", None::<&str>, &view.target.name);
    fields.value("min_size", None::<&str>, wanted.min);
    fields.value("max_size", None::<&str>, wanted.max);
    fields.value("desired_capacity", None::<&str>, wanted.initial);
    fields.set("subnets", None::<&BTreeSet<String>>, &wanted.subnets);
    fields.value("capacity_rebalance", None::<&str>, wanted.capacity_rebalance);
    fields.value("health_check_type", None::<&str>, HEALTH_CHECK);
    fields.value("suspended_processes", None::<&str>, SUSPENDED);
    fields.tags("tags", &Tags::new(), &tags, &BTreeSet::new());
    draft.change(Address::Group, name, Action::Create, fields.into_vec());
    draft.write(
        Phase::Group,
        Address::Group,
        Write::CreateGroup(CreateGroup {
            name: name.clone(),
            template: template_ref(view),
            min: wanted.min,
            max: wanted.max,
            desired: wanted.initial,
            subnets: wanted.subnets.clone(),
            capacity_rebalance: wanted.capacity_rebalance,
            tags,
        }),
    );
    suspend(name, draft);
}

fn suspend(group: &str, draft: &mut Draft) {
    let write = Write::SuspendProcess { group: group.to_owned(), process: SUSPENDED.to_owned() };
    draft.write(Phase::Settle, Address::Group, write);
}

fn moved_capacity(view: &View<'_>) -> Option<Diagnostic> {
    let wanted = &view.desired.group;
    let asked = view.desired.replicas;
    (wanted.scaled && asked != wanted.initial).then(|| {
        Diagnostic::warning(
            format!("The pool begins with {} instances, not {asked}", wanted.initial),
            format!(
                "Autoscaling is enabled with a minimum of {} and a maximum of {}, and replicas is {asked}. \
                 From then on the scaler decides.",
                wanted.min, wanted.max
            ),
        )
    })
}

fn update(view: &View<'_>, live: &Group, draft: &mut Draft) {
    let name = &view.desired.names.group;
    let mut fields = Fields::default();
    let update = attributes(view, live, &mut fields);

    if !live.suspended.contains(SUSPENDED) {
        fields.optional("suspended_processes", None::<&str>, Some(SUSPENDED));
        suspend(name, draft);
    }
    tags(view, live, &mut fields, draft);
    mark(view, live, &mut fields, draft);

    if update != (UpdateGroup { name: name.clone(), ..UpdateGroup::default() }) {
        draft.write(Phase::Group, Address::Group, Write::UpdateGroup(update));
    }
    let fields = fields.into_vec();
    if !fields.is_empty() {
        draft.change(Address::Group, name, Action::Update, fields);
    }
}

/// Compares what `UpdateAutoScalingGroup` can change, and fills in what it has to.
fn attributes(view: &View<'_>, live: &Group, fields: &mut Fields) -> UpdateGroup {
    let wanted = &view.desired.group;
    let mut update = UpdateGroup { name: view.desired.names.group.clone(), ..UpdateGroup::default() };
    let launches = matches!(&live.launch, Launch::Template(used)
        if used.version == "$Latest" && view.target.existing.is_some_and(|t| t.id == used.id));
    if !launches {
        let now = match &live.launch {
            Launch::Template(used) => format!("{} {}", used.name, used.version),
            Launch::Mixed(used) => format!("mixed instances policy with {} {}", used.name, used.version),
            Launch::Other => "no launch template".to_owned(),
        };
        let then = format!("{} $Latest", view.target.name);
        let now = match target::current_use(live) {
            // Names are unique: another template of this one is no longer there.
            Some(used) if now == then => format!("{now} ({}, which is gone)", used.id),
            _ => now,
        };
        fields.value("launch_template", Some(now), then);
        update.template = Some(template_ref(view));
    }
    if live.min != wanted.min {
        fields.value("min_size", Some(live.min), wanted.min);
        update.min = Some(wanted.min);
    }
    if live.max != wanted.max {
        fields.value("max_size", Some(live.max), wanted.max);
        update.max = Some(wanted.max);
    }
    if !wanted.scaled && live.desired != wanted.initial {
        fields.value("desired_capacity", Some(live.desired), wanted.initial);
        update.desired = Some(wanted.initial);
    }
    if live.subnets != wanted.subnets.iter().cloned().collect() {
        fields.set("subnets", Some(&live.subnets), &wanted.subnets);
        update.subnets = Some(wanted.subnets.clone());
    }
    if live.health_check_type != HEALTH_CHECK {
        fields.value("health_check_type", Some(&live.health_check_type), HEALTH_CHECK);
        update.health_check_type = Some(HEALTH_CHECK.to_owned());
    }
    if live.capacity_rebalance != wanted.capacity_rebalance {
        fields.value("capacity_rebalance", Some(live.capacity_rebalance), wanted.capacity_rebalance);
        update.capacity_rebalance = Some(wanted.capacity_rebalance);
    }
    update
}

fn tags(view: &View<'_>, live: &Group, fields: &mut Fields, draft: &mut Draft) {
    let wanted = &view.desired.group.tags;
    let name = &view.desired.names.group;
    let now = live.tags();
    // What an earlier apply set stands in the template that the group uses; it is the target, or the
    // one that the target replaces.
    let used = target::current_use(live);
    let data = used
        .and_then(|used| view.observed.templates.iter().find(|t| t.id == used.id))
        .into_iter()
        .flat_map(|t| target::versions(view.observed, t))
        .map(|v| &v.data);
    let mut set = diff::tags_to_set(&now, wanted);
    let remove = diff::tags_to_remove(&now, wanted, data);
    let remove: BTreeSet<String> = remove.into_iter().filter(|key| key != records::ROLL).collect();
    fields.tags("tags", &now, &set, &remove);
    let mut all = wanted.clone();
    all.insert(records::ROLL.to_owned(), String::new());
    let resource = format!("Auto Scaling group {name}");
    draft.problems.extend(tag_limit::check(&resource, &now, &all, &remove));
    let propagated: BTreeMap<&String, &String> =
        wanted.iter().filter(|(key, _)| live.tags.get(*key).is_some_and(|tag| tag.propagate)).collect();
    for (key, value) in propagated {
        fields.value(&format!("tags[\"{key}\"].propagate_at_launch"), Some(true), false);
        set.insert(key.clone(), value.clone());
    }
    if !set.is_empty() {
        draft.write(Phase::Settle, Address::Group, Write::TagGroup { group: name.clone(), tags: set });
    }
    if !remove.is_empty() {
        draft.write(Phase::Clear, Address::Group, Write::UntagGroup { group: name.clone(), keys: remove });
    }
}

/// The roll mark. It is written before an active refresh is ended and before the group is pointed
/// elsewhere: a run that dies in between must not leave a refresh that it ended itself looking like
/// one that an operator cancelled.
fn mark(view: &View<'_>, live: &Group, fields: &mut Fields, draft: &mut Draft) {
    let group = view.desired.names.group.clone();
    let hash = view.desired.key.hash();
    let now = roll::mark(live);
    let refreshes = &view.observed.refreshes;
    let differs = view.repoints() || now.as_ref().is_none_or(|mark| mark.hash != hash);
    let newest = if differs && !view.repoints() && now.is_none() {
        let own = roll::belonging(None, &hash, view.target.existing, refreshes);
        refreshes.iter().find(|r| !own.iter().any(|o| o.id == r.id))
    } else {
        refreshes.first()
    };
    let mark = RollMark { hash: hash.clone(), newest: newest.map(|r| r.id.clone()) }.to_string();
    if differs || view.ends_refresh() {
        let before = live.tags.get(records::ROLL).map(|tag| &tag.value);
        fields.value(&format!("tags[\"{}\"]", records::ROLL), before, &mark);
    }
    if view.ends_refresh() {
        let task = Task::Supersede { group, template: view.target.name.clone(), hash };
        draft.chain(Phase::Clear, Address::Group, [task]);
    } else if differs {
        let tags = Tags::from([(records::ROLL.to_owned(), mark)]);
        draft.write(Phase::Prepare, Address::Group, Write::TagGroup { group, tags });
    }
}
