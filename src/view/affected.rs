//! The running instances that a plan costs: who they are, why, and how they go.

use std::collections::BTreeSet;

use super::{
    abridge,
    style::{Style, Tone},
    table::table,
    text,
};
use crate::model::plan::{AffectedMember, Plan, SUBNET_EXCHANGED, ZONE_REMOVED};

/// How many instances the opening sentence names; the tables name more.
const NAMED: usize = 4;

/// A plan's instances by what happens to them.
pub(super) struct Affected<'a> {
    /// Replaced by a roll, which launches each replacement first.
    rolled: Vec<&'a AffectedMember>,
    /// In a zone that the pool leaves: Auto Scaling ends them and launches others elsewhere.
    leaving: Vec<&'a AffectedMember>,
    /// In a zone that gets another subnet: Auto Scaling may end them and launch others.
    moving: Vec<&'a AffectedMember>,
    /// How many more a scale-in ends; which, Auto Scaling decides.
    terminated: u32,
    /// How many of those replaced it ends at least.
    overlap: u32,
}

impl<'a> Affected<'a> {
    pub(super) fn of(plan: &'a Plan) -> Self {
        let (leaving, others): (Vec<_>, Vec<_>) =
            plan.replaced.iter().partition(|member| member.why == ZONE_REMOVED);
        let (moving, rolled) = others.into_iter().partition(|member| member.why == SUBNET_EXCHANGED);
        Self { rolled, leaving, moving, terminated: plan.terminated, overlap: plan.overlap }
    }

    /// Whether running instances are replaced or terminated, which, and why; `template` is why the
    /// launch template is replaced, if it is.
    pub(super) fn sentence(&self, template: Option<&str>) -> String {
        let mut sentences = Vec::new();
        if self.rolled.is_empty() && self.leaving.is_empty() && self.moving.is_empty() {
            sentences.push("No running instance is replaced.".to_owned());
        }
        if !self.rolled.is_empty() {
            sentences.push(format!("{} replaced, because {}.", named(&self.rolled), self.why(template)));
        }
        if !self.leaving.is_empty() {
            let whose = if self.leaving.len() == 1 { "its zone is" } else { "their zones are" };
            sentences.push(format!(
                "{} may be terminated without drain and replaced elsewhere, because {whose} removed.",
                subjects(&self.leaving)
            ));
        }
        if !self.moving.is_empty() {
            let whose = if self.moving.len() == 1 { "its zone gets" } else { "their zones get" };
            sentences.push(format!(
                "{} may be terminated without drain and replaced, because {whose} another subnet.",
                subjects(&self.moving)
            ));
        }
        if self.overlap > 0 {
            let verb = if self.overlap == 1 { "is" } else { "are" };
            sentences.push(format!(
                "At least {} of these {verb} terminated without drain and not replaced, because the pool shrinks.",
                self.overlap
            ));
        }
        match self.terminated {
            0 => {}
            1 => sentences
                .push("1 running instance is terminated without drain, because the pool shrinks.".to_owned()),
            many => sentences.push(format!(
                "{many} running instances are terminated without drain, because the pool shrinks."
            )),
        }
        sentences.join(" ")
    }

    /// Why the template is replaced, else what the members run; in words that fit behind "because".
    fn why(&self, template: Option<&str>) -> String {
        if let Some(reason) = template {
            return format!("the launch template was {}", text::line(reason));
        }
        match common_reason(&self.rolled) {
            Some(only) if self.rolled.len() == 1 => format!("it {}", text::line(only)),
            Some(only) => format!("each {}", text::line(only)),
            None => "they run from other launch templates than the pool's".to_owned(),
        }
    }

    /// A table for each of the kinds that are known by name.
    pub(super) fn tables(&self, style: Style) -> Vec<String> {
        let rolled = if self.rolled.len() == 1 {
            "a replacement launched before it goes; its node is not drained"
        } else {
            "a replacement launched before each one goes; nodes are not drained"
        };
        let leaving = if self.leaving.len() == 1 {
            "perhaps terminated without drain, its replacement launched in another zone"
        } else {
            "perhaps terminated without drain, replacements launched in other zones"
        };
        let moving = if self.moving.len() == 1 {
            "Auto Scaling may terminate it without drain and launch another"
        } else {
            "Auto Scaling may terminate them without drain and launch others"
        };
        let kinds = [
            ("to replace", rolled, &self.rolled),
            ("in removed zones", leaving, &self.leaving),
            ("in zones that get another subnet", moving, &self.moving),
        ];
        kinds
            .into_iter()
            .filter(|(.., members)| !members.is_empty())
            .map(|(what, how, members)| {
                let instances = text::count(members.len(), "running instance");
                members_table(&format!("{instances} {what}, {how}"), members, style)
            })
            .collect()
    }
}

/// `2 running instances (i-1 and i-2) are`.
fn named(members: &[&AffectedMember]) -> String {
    let verb = if members.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", subjects(members))
}

/// `2 running instances (i-1 and i-2)`.
fn subjects(members: &[&AffectedMember]) -> String {
    let ids: Vec<String> = members.iter().map(|member| text::line(&member.id)).collect();
    format!("{} ({})", text::count(ids.len(), "running instance"), text::list_some(&ids, NAMED))
}

/// The reason, if all have the same.
fn common_reason<'a>(members: &[&'a AffectedMember]) -> Option<&'a str> {
    let reasons: BTreeSet<&str> = members.iter().map(|member| member.why.as_str()).collect();
    if reasons.len() == 1 { reasons.first().copied() } else { None }
}

/// The first few members. A reason that all have stands above the table, not in every row.
fn members_table(heading: &str, members: &[&AffectedMember], style: Style) -> String {
    let common = common_reason(members);
    let heading = match common {
        Some(why) if [ZONE_REMOVED, SUBNET_EXCHANGED].contains(&why) => format!("{heading}:"),
        Some(why) if members.len() == 1 => format!("{heading}; it {}:", text::line(why)),
        Some(why) => format!("{heading}; each {}:", text::line(why)),
        None => format!("{heading}:"),
    };
    let columns = if common.is_some() { 2 } else { 3 };
    let rows: Vec<Vec<String>> = members
        .iter()
        .take(abridge::SHOWN)
        .map(|member| {
            let cells = [&member.id, &member.zone, &member.why];
            cells[..columns].iter().map(|cell| text::line(cell)).collect()
        })
        .collect();
    let mut lines = vec![
        style.paint(Tone::Bad, &text::wrap(&heading, style.width)),
        table(&["instance", "zone", "why"][..columns], &rows, style),
    ];
    let untold = members.len().saturating_sub(abridge::SHOWN);
    if untold > 0 {
        lines.push(text::wrap(&abridge::rest(untold), style.width));
    }
    lines.join("\n")
}
