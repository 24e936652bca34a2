//! Scenarios as data: `testdata/scenarios/README.md` says how they are written.

use std::{fmt::Write as _, path::Path, time::Duration};

use machinepool::{
    clock::Clock as _,
    cloud::sandbox::RefreshOptions,
    contract::request::Request,
    error::Failure,
    model::{
        names::Names,
        observed::{Launch, TemplateUse},
    },
};
use serde::Deserialize;
use serde_json::Value;
use similar::TextDiff;

use super::{
    lab::{GROUP, Lab, base_inputs, merge, read, request, run, scenarios},
    text::{self, Aliases},
};

/// Set to accept what comes out now.
const BLESS: &str = "MACHINEPOOL_BLESS";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    about: String,
    /// What happened before; not shown.
    #[serde(default)]
    given: Vec<Step>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    what: String,
    /// Merge patch on the inputs; later steps keep it.
    #[serde(default)]
    inputs: Option<Value>,
    /// Merge patch on the account, by somebody else's hands.
    #[serde(default)]
    world: Option<Value>,
    /// What somebody does through AWS's API.
    #[serde(default)]
    by_hand: Vec<Hand>,
    /// Time that passes: `90s`, `5m`, `2h`.
    #[serde(default)]
    wait: Option<String>,
    #[serde(rename = "do", default)]
    command: Command,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Command {
    /// Plan, apply, plan again.
    #[default]
    Apply,
    /// Plan only.
    Plan,
    Destroy,
    Outputs,
    Nothing,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Hand {
    /// Deletes the group and its members.
    DeleteGroup,
    /// Starts an instance refresh without `SkipMatching`.
    StartRefresh,
    /// Starts one with the group's own template as desired configuration.
    StartDesiredRefresh,
    CancelRefresh,
}

struct Player {
    lab: Lab,
    inputs: Value,
    aliases: Aliases,
    text: String,
}

impl Player {
    fn new() -> Self {
        let mut player =
            Self { lab: Lab::new(), inputs: base_inputs(), aliases: Aliases::default(), text: String::new() };
        player.aliases.learn_request(&request(&player.inputs));
        player
    }

    fn prepare(&mut self, step: &Step) {
        if let Some(patch) = &step.inputs {
            merge(&mut self.inputs, patch);
            self.aliases.learn_request(&request(&self.inputs));
        }
        if let Some(patch) = &step.world {
            let patch: Value = serde_json::from_str(&self.aliases.lengthen(&patch.to_string())).unwrap();
            self.lab.edit(|world| {
                let mut value = serde_json::to_value(&*world).unwrap();
                merge(&mut value, &patch);
                *world =
                    serde_json::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", step.what));
            });
        }
        for hand in &step.by_hand {
            self.by_hand(hand);
        }
        if let Some(wait) = &step.wait {
            self.lab.wait(duration(wait));
        }
        self.aliases.learn_world(&self.lab.world());
    }

    fn by_hand(&self, hand: &Hand) {
        use machinepool::{cloud::Cloud, model::resources::Write};
        let group = GROUP.to_owned();
        let sandbox = self.lab.cloud.inner();
        match hand {
            Hand::DeleteGroup => {
                run(sandbox.perform(&Write::DeleteGroup { group, force: true })).unwrap();
            }
            Hand::CancelRefresh => {
                run(sandbox.perform(&Write::CancelRefresh { group })).unwrap();
            }
            Hand::StartRefresh => self.start_refresh(None),
            Hand::StartDesiredRefresh => {
                let launch = self.lab.world().groups[GROUP].launch.clone();
                let Launch::Template(used) = launch else { panic!("{launch:?}") };
                self.start_refresh(Some(used));
            }
        }
    }

    fn start_refresh(&self, desired: Option<TemplateUse>) {
        let now = self.lab.clock.now();
        let options = RefreshOptions { warmup_seconds: 300, desired, ..RefreshOptions::default() };
        self.lab.edit(|world| world.start_refresh_by_hand(GROUP, options, now)).expect("it starts");
    }

    fn play(&mut self, step: &Step) {
        self.prepare(step);
        let request = request(&self.inputs);
        match step.command {
            Command::Nothing => {}
            Command::Outputs => {
                let outputs = self.lab.outputs(&request.scope).unwrap();
                let text = serde_json::to_string_pretty(&outputs).unwrap();
                let _ = writeln!(self.text, "Outputs: {text}");
            }
            Command::Plan => match self.lab.plan(&request) {
                Ok(planned) => self.text.push_str(&text::plan(&planned.plan)),
                Err(failure) => self.fail(&failure),
            },
            Command::Apply => self.apply(&request, &step.what),
            Command::Destroy => self.destroy(&request, &step.what),
        }
        self.aliases.learn_world(&self.lab.world());
    }

    fn apply(&mut self, request: &Request, what: &str) {
        let planned = match self.lab.plan(request) {
            Ok(planned) => planned,
            Err(failure) => return self.fail(&failure),
        };
        let again = self.lab.plan(request).unwrap();
        assert_eq!(text::plan(&planned.plan), text::plan(&again.plan), "{what}: planning twice");
        self.text.push_str(&text::plan(&planned.plan));
        self.lab.cloud.clear();
        let applied = self.lab.apply_planned(request, &planned);
        self.writes();
        match applied {
            Ok(applied) => {
                let _ = writeln!(self.text, "Health: {}", applied.outputs.health.message);
            }
            Err(failure) => return self.fail(&failure),
        }
        let after = self.lab.plan(request).unwrap().plan;
        assert!(after.changes.is_empty(), "{what}: apply leaves changes: {}", text::plan(&after));
        self.text.push_str("Afterwards:\n");
        self.text.push_str(&text::account(&self.lab.world(), &Names::of(&request.scope)));
        for note in after.notes {
            let _ = writeln!(self.text, "- note: {note}");
        }
    }

    fn destroy(&mut self, request: &Request, what: &str) {
        match self.lab.plan_destroy(&request.scope) {
            Ok(teardown) => self.text.push_str(&text::plan(&teardown.plan)),
            Err(failure) => return self.fail(&failure),
        }
        self.lab.cloud.clear();
        match self.lab.destroy(&request.scope) {
            Ok(counts) => {
                let _ = writeln!(self.text, "{} destroyed.", counts.destroy);
            }
            Err(failure) => self.fail(&failure),
        }
        self.writes();
        let left = text::account(&self.lab.world(), &Names::of(&request.scope));
        let _ = writeln!(self.text, "Left:\n{left}");
        if left.is_empty() {
            self.lab.cloud.clear();
            assert_eq!(self.lab.destroy(&request.scope).unwrap().destroy, 0, "{what}: destroying twice");
            assert!(self.lab.cloud.writes().is_empty(), "{what}: the second destroy writes");
        }
    }

    fn writes(&mut self) {
        self.text.push_str("Writes:\n");
        for write in self.lab.cloud.writes() {
            let _ = writeln!(self.text, "- {}", text::write(&write));
        }
    }

    fn fail(&mut self, failure: &Failure) {
        for diagnostic in &failure.diagnostics {
            self.text.push_str(&text::diagnostic("Error", diagnostic));
        }
    }
}

fn duration(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => Duration::from_secs(number),
        "m" => Duration::from_mins(number),
        "h" => Duration::from_hours(number),
        _ => panic!("{text}: wanted a number and s, m or h"),
    }
}

fn play(path: &Path) -> String {
    let scenario: Scenario =
        serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut player = Player::new();
    for step in &scenario.given {
        player.play(step);
        assert!(!player.text.contains("Error: "), "{}: {}", path.display(), player.text);
    }
    let mut text = format!("{}\n", scenario.about);
    for step in &scenario.steps {
        player.text.clear();
        player.play(step);
        let _ = write!(text, "\n== {}\n{}", step.what, player.aliases.shorten(&player.text));
    }
    text
}

/// Every directory beside the README holds a scenario, and plays as its `expected.txt` says.
#[test]
fn scenarios_play_as_expected() {
    let mut paths: Vec<_> = std::fs::read_dir(scenarios())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.is_dir())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for directory in paths {
        let played = play(&directory.join("scenario.json"));
        let expected = directory.join("expected.txt");
        let before = std::fs::read_to_string(&expected).unwrap_or_default();
        if before == played {
            continue;
        }
        if std::env::var_os(BLESS).is_some() {
            std::fs::write(&expected, played).unwrap();
        } else {
            let diff = TextDiff::from_lines(&before, &played).unified_diff().to_string();
            wrong.push((directory.file_name().unwrap().display().to_string(), diff));
        }
    }
    let told: Vec<String> = wrong.iter().map(|(name, diff)| format!("{name}:\n{diff}")).collect();
    assert!(
        wrong.is_empty(),
        "{}\n{} scenarios play differently; {BLESS}=1 accepts that",
        told.join("\n"),
        told.len()
    );
}
