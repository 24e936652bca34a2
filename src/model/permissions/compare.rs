//! What somebody else's policy lacks of ours.

use super::{
    Policy,
    document::{Document, Foreign, Patterns},
    glob,
};

/// What is found about one action on some resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The action.
    pub action: &'static str,
    /// What it is for: the purpose of our statement.
    pub purpose: &'static str,
    /// Our patterns of resources that it is about.
    pub resources: Vec<String>,
    /// What is the matter.
    pub verdict: Verdict,
}

/// What is the matter with an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No statement allows it there.
    Lacking,
    /// A statement denies it, whatever others allow: its name, or its number.
    Denied(String),
    /// It is allowed, or denied, only under conditions or for resources that nobody can judge from here.
    Unclear(Vec<String>),
}

impl Finding {
    /// Whether the program cannot do the action, as far as this policy goes.
    pub fn is_lacking(&self) -> bool {
        !matches!(self.verdict, Verdict::Unclear(_))
    }
}

/// Compares; nothing where all is allowed without a doubt. In the order of our statements.
pub fn compare(ours: &Policy, theirs: &Document) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for statement in &ours.statements {
        for &action in &statement.actions {
            for resource in &statement.resources {
                let Some(verdict) = judge(action, resource, theirs) else { continue };
                let same = findings.iter_mut().find(|known| {
                    known.action == action && known.purpose == statement.purpose && known.verdict == verdict
                });
                match same {
                    Some(known) => known.resources.push(resource.clone()),
                    None => findings.push(Finding {
                        action,
                        purpose: statement.purpose,
                        resources: vec![resource.clone()],
                        verdict,
                    }),
                }
            }
        }
    }
    findings
}

/// How far patterns take something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    None,
    Part,
    Whole,
}

fn judge(action: &str, resource: &str, theirs: &Document) -> Option<Verdict> {
    let action = action.to_ascii_lowercase();
    let mut doubts = Vec::new();
    let mut allowed = false;
    for (number, statement) in theirs.statements.iter().enumerate() {
        if reach(&statement.actions, &action) != Reach::Whole {
            continue;
        }
        let on = reach_of_resources(&statement.resources, resource);
        let name = || statement.sid.clone().unwrap_or_else(|| format!("number {}", number + 1));
        match (statement.denies, on, statement.conditions.is_empty()) {
            (_, Reach::None, _) => {}
            (true, Reach::Whole, true) => return Some(Verdict::Denied(name())),
            (false, Reach::Whole, true) => allowed = true,
            (denies, on, _) => doubts.push((denies, doubt(statement, on, &name()))),
        }
    }
    // What allows in part is no doubt where something allows the whole; what denies in part always is.
    let doubts: Vec<String> =
        doubts.into_iter().filter(|(denies, _)| *denies || !allowed).map(|(_, text)| text).collect();
    match (allowed, doubts.is_empty()) {
        (true, true) => None,
        (_, false) if allowed || theirs_allows(theirs, &action, resource) => Some(Verdict::Unclear(doubts)),
        _ => Some(Verdict::Lacking),
    }
}

/// Whether anything allows it at all, if only in part.
fn theirs_allows(theirs: &Document, action: &str, resource: &str) -> bool {
    theirs.statements.iter().any(|statement| {
        !statement.denies
            && reach(&statement.actions, action) == Reach::Whole
            && reach_of_resources(&statement.resources, resource) != Reach::None
    })
}

fn doubt(statement: &Foreign, on: Reach, name: &str) -> String {
    let verb = if statement.denies { "denies" } else { "allows" };
    let mut limits = Vec::new();
    if on == Reach::Part {
        let side = if statement.resources.negated { "everything but " } else { "" };
        limits.push(format!("on {side}{}", statement.resources.texts.join(", ")));
    }
    if !statement.conditions.is_empty() {
        limits.push(format!("under a condition on {}", statement.conditions.join(", ")));
    }
    format!("statement {name} {verb} it {}", limits.join(" "))
}

/// An action that takes no resource is asked for `*`, which only such a pattern takes.
fn reach_of_resources(patterns: &Patterns, resource: &str) -> Reach {
    match (resource, patterns.texts.iter().any(|pattern| glob::covers(pattern, resource))) {
        ("*", covered) if covered != patterns.negated => Reach::Whole,
        ("*", _) => Reach::None,
        _ => reach(patterns, resource),
    }
}

fn reach(patterns: &Patterns, wanted: &str) -> Reach {
    let widest = patterns.texts.iter().map(|pattern| {
        if glob::covers(pattern, wanted) {
            Reach::Whole
        } else if pattern.contains("${") || glob::meet(pattern, wanted) {
            // A policy variable may stand for anything.
            Reach::Part
        } else {
            Reach::None
        }
    });
    let widest = widest.max().unwrap_or(Reach::None);
    match (patterns.negated, widest) {
        (false, reach) => reach,
        (true, Reach::None) => Reach::Whole,
        (true, Reach::Part) => Reach::Part,
        (true, Reach::Whole) => Reach::None,
    }
}
