//! What somebody else's policy lacks of ours.

use super::{
    Policy,
    conditions::{self, Holds, Test},
    document::{Document, Foreign, Patterns},
    glob, statements,
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
    /// Only statements allow it whose conditions do not hold for what we ask.
    Shut(Vec<String>),
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
        let known = statements::known(statement, &ours.identity);
        let facts: Vec<Test> =
            conditions::tests(&statement.conditions).chain(conditions::tests(&known)).collect();
        for &action in &statement.actions {
            for resource in &statement.resources {
                let facts: Vec<Test> = facts.iter().cloned().chain(region_of(resource)).collect();
                let Some(verdict) = judge(action, resource, &facts, theirs) else { continue };
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

/// A resource that lies in a region is asked for there.
fn region_of(resource: &str) -> Option<Test> {
    let region = resource.split(':').nth(3).filter(|region| !region.is_empty())?;
    Some(Test {
        operator: "StringLike".to_owned(),
        key: "aws:RequestedRegion".to_owned(),
        values: vec![region.to_owned()],
    })
}

/// How far patterns take something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    None,
    Part,
    Whole,
}

fn judge(action: &str, resource: &str, facts: &[Test], theirs: &Document) -> Option<Verdict> {
    let action = action.to_ascii_lowercase();
    let (mut allowed, mut allowed_in_part, mut shut) = (false, Vec::new(), Vec::new());
    let mut denied_in_part = Vec::new();
    for (number, statement) in theirs.statements.iter().enumerate() {
        if reach(&statement.actions, &action) != Reach::Whole {
            continue;
        }
        let on = reach_of_resources(&statement.resources, resource);
        if on == Reach::None {
            continue;
        }
        let (held, keys) = conditions::all_hold(&statement.conditions, facts);
        let name = || statement.sid.clone().unwrap_or_else(|| format!("number {}", number + 1));
        match (statement.denies, on, held) {
            (true, _, Holds::Never) => {}
            (true, Reach::Whole, Holds::Always) => return Some(Verdict::Denied(name())),
            (true, ..) => denied_in_part.push(doubt(statement, on, held, &keys, &name())),
            (false, Reach::Whole, Holds::Always) => allowed = true,
            (false, _, Holds::Never) => shut.push(doubt(statement, on, held, &keys, &name())),
            (false, ..) => allowed_in_part.push(doubt(statement, on, held, &keys, &name())),
        }
    }
    match (allowed, allowed_in_part.is_empty(), shut.is_empty()) {
        // What allows in part is no doubt where something allows the whole; what denies in part always is.
        (true, ..) if denied_in_part.is_empty() => None,
        (true, ..) => Some(Verdict::Unclear(denied_in_part)),
        (false, false, _) => Some(Verdict::Unclear([allowed_in_part, denied_in_part].concat())),
        (false, true, false) => Some(Verdict::Shut(shut)),
        (false, true, true) => Some(Verdict::Lacking),
    }
}

/// How far a statement allows or denies, and what nobody can judge of it.
fn doubt(statement: &Foreign, on: Reach, held: Holds, keys: &[&str], name: &str) -> String {
    let verb = if statement.denies { "denies" } else { "allows" };
    let mut limits = Vec::new();
    if on == Reach::Part {
        let side = if statement.resources.negated { "everything but " } else { "" };
        limits.push(format!("on {side}{}", statement.resources.texts.join(", ")));
    }
    let whether = match held {
        Holds::Always => None,
        Holds::Never => Some("does not hold"),
        Holds::Perhaps if statement.denies => Some("may hold"),
        Holds::Perhaps => Some("may not hold"),
    };
    limits.extend(whether.map(|words| format!("under a condition that {words} ({})", keys.join(", "))));
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
