//! What `-json` prints: one JSON object per line, in the shapes of Terraform's machine-readable UI.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{TERRAFORM_VERSION, address::Parts, plan_json::OutputChange, secrets::Secrets};
use crate::{
    clock::Clock,
    contract::{
        mask::masked_json,
        problem::{Diagnostic, Severity},
    },
    engine::context::{Event, Progress},
    model::plan::{Action, Address, Change, Counts, Plan},
    view,
};

/// The version of the messages' shapes, as Terraform 1.11 counts them.
const UI_VERSION: &str = "1.2";

/// The type of the line that tells outputs.
const OUTPUTS: &str = "outputs";

/// What a change summary sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A plan.
    Plan,
    /// An apply.
    Apply,
    /// A destroy.
    Destroy,
}

/// An output as it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<'a> {
    /// Name in the root.
    pub name: &'a str,
    /// Type in Terraform's notation.
    pub kind: Value,
    /// Value.
    pub value: &'a Value,
    /// Whether it must not be shown.
    pub sensitive: bool,
}

/// Writes lines, each one JSON object, each flushed at once.
pub struct Lines<'a> {
    writer: RefCell<Box<dyn Write + 'a>>,
    clock: &'a dyn Clock,
    secrets: RefCell<Secrets>,
    failed: RefCell<Option<io::Error>>,
    steps: RefCell<Steps>,
}

/// What is known of the steps under way.
#[derive(Default)]
struct Steps {
    /// What becomes of each resource, from the plan.
    actions: BTreeMap<Address, Action>,
    /// How many steps of each resource are still to come.
    left: BTreeMap<Address, usize>,
    /// Resources that were begun and are not complete.
    open: BTreeSet<Address>,
    /// Resources of which anything was told.
    told: BTreeSet<Address>,
    /// Resources of which a step failed.
    failed: BTreeSet<Address>,
    /// The resource whose step began last.
    latest: Option<Address>,
    /// How long the steps of each resource have taken so far.
    took: BTreeMap<Address, Duration>,
}

impl<'a> Lines<'a> {
    /// Lines on `writer`, with the times of `clock`.
    pub fn new(writer: impl Write + 'a, clock: &'a dyn Clock) -> Self {
        Self {
            writer: RefCell::new(Box::new(writer)),
            clock,
            secrets: RefCell::default(),
            failed: RefCell::default(),
            steps: RefCell::default(),
        }
    }

    /// Values that no line may hold, from now on.
    pub fn hide(&self, secrets: Secrets) {
        *self.secrets.borrow_mut() = secrets;
    }

    /// The first error of the writer, if there was one.
    pub fn failure(&self) -> Option<io::Error> {
        self.failed.borrow_mut().take()
    }

    /// The line that begins every run: which program, which shapes.
    pub fn version(&self) {
        let message = concat!("machinepool ", env!("CARGO_PKG_VERSION"));
        self.line(
            "info",
            message,
            "version",
            [("terraform", json!(TERRAFORM_VERSION)), ("ui", json!(UI_VERSION))],
        );
    }

    /// A planned change of a resource.
    pub fn planned(&self, change: &Change) {
        let parts = Parts::of(change.address);
        let message = format!("{}: Plan to {}", parts.address, verb(change.action));
        let mut told = json!({"resource": resource(parts), "action": verb(change.action)});
        if change.action == Action::Replace {
            told["reason"] = json!("cannot_update");
        }
        self.line("info", &message, "planned_change", [("change", told)]);
    }

    /// All changes of a plan, then their number.
    pub fn plan(&self, plan: &Plan) {
        plan.changes.iter().for_each(|change| self.planned(change));
        self.summary(plan.counts(), Operation::Plan);
    }

    /// How many resources change or have changed. The message is the sentence that people see.
    pub fn summary(&self, counts: Counts, operation: Operation) {
        let (sentence, name) = match operation {
            Operation::Plan => (view::plan_summary(counts), "plan"),
            Operation::Apply => (view::apply_complete(counts), "apply"),
            Operation::Destroy => (view::destroy_complete(counts), "destroy"),
        };
        let changes = json!({
            "add": counts.add, "change": counts.change, "import": 0, "remove": counts.destroy, "operation": name,
        });
        self.line("info", sentence.trim_end(), "change_summary", [("changes", changes)]);
    }

    /// What becomes of the outputs when the plan is applied.
    pub fn planned_outputs(&self, changes: &[OutputChange]) {
        if changes.is_empty() {
            return;
        }
        let outputs: Map<String, Value> = changes
            .iter()
            .map(|c| (c.name.clone(), json!({"sensitive": c.sensitive, "action": verb(c.action)})))
            .collect();
        self.outputs_line(outputs);
    }

    /// The outputs as they are recorded.
    pub fn outputs(&self, recorded: &[Recorded<'_>]) {
        if recorded.is_empty() {
            return;
        }
        let outputs: Map<String, Value> = recorded
            .iter()
            .map(|output| {
                let mut fields = json!({"sensitive": output.sensitive, "type": output.kind});
                if !output.sensitive {
                    fields["value"] = output.value.clone();
                }
                (output.name.to_owned(), fields)
            })
            .collect();
        self.outputs_line(outputs);
    }

    fn outputs_line(&self, outputs: Map<String, Value>) {
        let message = format!("Outputs: {}", outputs.len());
        self.line("info", &message, OUTPUTS, [("outputs", Value::Object(outputs))]);
    }

    /// An error or a warning. An error after a failed step is that resource's.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        let (level, heading, severity) = match diagnostic.severity {
            Severity::Error => ("error", "Error", "error"),
            Severity::Warning => ("warn", "Warning", "warning"),
        };
        let mut told =
            json!({"severity": severity, "summary": diagnostic.summary, "detail": diagnostic.detail});
        let steps = self.steps.borrow();
        if let (Severity::Error, 1, Some(address)) =
            (diagnostic.severity, steps.failed.len(), steps.failed.first())
        {
            told["address"] = json!(address);
        }
        drop(steps);
        let message = format!("{heading}: {}", diagnostic.summary);
        self.line(level, &message, "diagnostic", [("diagnostic", told)]);
    }

    /// Something worth knowing that is none of the others.
    pub fn log(&self, message: &str) {
        self.line("info", message, "log", []);
    }

    /// What is going to be carried out: the steps that follow are told as these changes.
    pub fn begin(&self, plan: &Plan) {
        let actions = plan.changes.iter().map(|change| (change.address, change.action)).collect();
        let mut steps = Steps { actions, ..Steps::default() };
        for step in plan.stages.iter().flatten().flatten() {
            *steps.left.entry(step.address).or_default() += 1;
        }
        *self.steps.borrow_mut() = steps;
    }

    /// All of it is done: changes that needed no step of their own (records kept in another's tags) are told
    /// now.
    pub fn finish(&self) {
        let steps = self.steps.take();
        for (address, action) in &steps.actions {
            if !steps.told.contains(address) {
                self.apply_start(*address, *action);
            }
            if !steps.told.contains(address) || steps.open.contains(address) {
                let took = steps.took.get(address).copied().unwrap_or_default();
                self.apply_complete(*address, *action, took);
            }
        }
    }

    fn apply_start(&self, address: Address, action: Action) {
        let (parts, [doing, ..]) = (Parts::of(address), words(action));
        let hook = json!({"resource": resource(parts), "action": verb(action)});
        self.line("info", &format!("{}: {doing}...", parts.address), "apply_start", [("hook", hook)]);
    }

    fn apply_complete(&self, address: Address, action: Action, took: Duration) {
        let (parts, [_, done, _]) = (Parts::of(address), words(action));
        let message = format!("{}: {done} complete after {}s", parts.address, took.as_secs());
        self.line("info", &message, "apply_complete", [("hook", ended(parts, action, took))]);
    }

    fn apply_errored(&self, address: Address, action: Action, took: Duration) {
        let (parts, [_, done, _]) = (Parts::of(address), words(action));
        let message = format!("{}: {done} errored after {}s", parts.address, took.as_secs());
        self.line("info", &message, "apply_errored", [("hook", ended(parts, action, took))]);
    }

    fn apply_progress(&self, address: Address, action: Action, what: &str, waited: Duration) {
        let (parts, [_, _, still]) = (Parts::of(address), words(action));
        let message = format!("{}: Still {still}: {what} [{}s elapsed]", parts.address, waited.as_secs());
        self.line("info", &message, "apply_progress", [("hook", ended(parts, action, waited))]);
    }

    /// One line; `@message` and every text in the members are free of secrets, and of all that looks like one. Only
    /// the outputs, which programs read as data, are what they are.
    fn line<const N: usize>(&self, level: &str, message: &str, kind: &str, members: [(&str, Value); N]) {
        if self.failed.borrow().is_some() {
            return;
        }
        let secrets = self.secrets.borrow();
        let mut line = Map::new();
        line.insert("@level".to_owned(), json!(level));
        line.insert("@message".to_owned(), json!(secrets.mask(message)));
        line.insert("@module".to_owned(), json!("terraform.ui"));
        line.insert("@timestamp".to_owned(), json!(self.clock.now().rfc3339()));
        line.insert("type".to_owned(), json!(kind));
        for (name, value) in members {
            line.insert(name.to_owned(), masked(value, &secrets));
        }
        let text = format!("{}\n", Value::Object(line));
        let text = if kind == OUTPUTS { text } else { masked_json(&text, &[]).into_owned() };
        let mut writer = self.writer.borrow_mut();
        if let Err(error) = writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
            *self.failed.borrow_mut() = Some(error);
        }
    }
}

impl Progress for Lines<'_> {
    fn tell(&self, event: Event) {
        match event {
            Event::Started { address, what } => self.step_started(address, &what),
            Event::Done { address, took, .. } => self.step_done(address, took),
            Event::Failed { address, took, .. } => {
                let action = {
                    let mut steps = self.steps.borrow_mut();
                    steps.failed.insert(address);
                    steps.open.remove(&address);
                    steps.action(address)
                };
                self.apply_errored(address, action, took);
            }
            Event::Waiting { what, waited } => {
                let steps = self.steps.borrow();
                let current = steps.latest.filter(|address| steps.open.contains(address));
                let current = current.map(|address| (address, steps.action(address)));
                drop(steps);
                match current {
                    Some((address, action)) => self.apply_progress(address, action, &what, waited),
                    None => self.log(&format!("Waiting: {what} [{}s elapsed]", waited.as_secs())),
                }
            }
            // The words of the wait say it, too.
            Event::Share { .. } => {}
            Event::Warning(warning) => self.diagnostic(&warning),
        }
    }
}

impl Lines<'_> {
    /// A resource begins with its first step; clean-up beside the plan's changes is an update.
    fn step_started(&self, address: Address, what: &str) {
        let (first, action) = {
            let mut steps = self.steps.borrow_mut();
            steps.latest = Some(address);
            steps.told.insert(address);
            (steps.open.insert(address), steps.action(address))
        };
        if first {
            self.apply_start(address, action);
        } else {
            self.apply_progress(address, action, what, Duration::ZERO);
        }
    }

    /// A resource is complete with its last step.
    fn step_done(&self, address: Address, took: Duration) {
        let (complete, action, total) = {
            let mut steps = self.steps.borrow_mut();
            let total = *steps.took.entry(address).and_modify(|total| *total += took).or_insert(took);
            let left = steps.left.entry(address).or_default();
            *left = left.saturating_sub(1);
            let complete = *left == 0;
            if complete {
                steps.open.remove(&address);
            }
            (complete, steps.action(address), total)
        };
        if complete {
            self.apply_complete(address, action, total);
        }
    }
}

impl Steps {
    fn action(&self, address: Address) -> Action {
        self.actions.get(&address).copied().unwrap_or(Action::Update)
    }
}

fn masked(value: Value, secrets: &Secrets) -> Value {
    super::plan_json::mask(value, secrets)
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Update => "update",
        Action::Replace => "replace",
        Action::Delete => "delete",
    }
}

/// Doing, done, still doing.
fn words(action: Action) -> [&'static str; 3] {
    match action {
        Action::Create => ["Creating", "Creation", "creating"],
        Action::Update => ["Modifying", "Modifications", "modifying"],
        Action::Replace => ["Replacing", "Replacement", "replacing"],
        Action::Delete => ["Destroying", "Destruction", "destroying"],
    }
}

fn resource(parts: Parts) -> Value {
    json!({
        "addr": parts.address,
        "module": parts.module,
        "resource": parts.resource,
        "implied_provider": parts.implied_provider(),
        "resource_type": parts.kind,
        "resource_name": parts.name,
        "resource_key": parts.index,
    })
}

fn ended(parts: Parts, action: Action, took: Duration) -> Value {
    json!({"resource": resource(parts), "action": verb(action), "elapsed_seconds": took.as_secs()})
}

#[cfg(test)]
#[path = "ui_json_tests.rs"]
mod tests;
