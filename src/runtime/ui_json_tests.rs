#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet as Set;

use super::*;
use crate::{
    clock::Timestamp,
    contract::inputs::Inputs,
    model::{
        plan::{Step, Task},
        planner, testing,
    },
};

/// A clock that stands still.
struct Noon;

#[async_trait::async_trait(?Send)]
impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp(1_770_000_000_123)
    }

    async fn sleep(&self, _: Duration) {}
}

fn written(work: impl FnOnce(&Lines<'_>)) -> Vec<Value> {
    let mut bytes = Vec::new();
    let lines = Lines::new(&mut bytes, &Noon);
    work(&lines);
    assert!(lines.failure().is_none());
    drop(lines);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

fn messages(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["@message"].as_str().unwrap()).collect()
}

fn started(address: Address) -> Event {
    Event::Started { address, what: "doing it".into() }
}

fn done(address: Address, seconds: u64) -> Event {
    Event::Done { address, what: "doing it".into(), took: Duration::from_secs(seconds) }
}

#[test]
fn every_line_has_level_message_module_time_and_type() {
    let lines = written(|lines| {
        lines.version();
        lines.log("x\ny");
    });
    for line in &lines {
        assert_eq!(line["@module"], "terraform.ui");
        assert_eq!(line["@timestamp"], "2026-02-02T02:40:00.123Z");
        assert!(line["@level"].is_string() && line["@message"].is_string() && line["type"].is_string());
    }
    assert_eq!((&lines[0]["terraform"], &lines[0]["ui"]), (&json!("1.11.4"), &json!("1.2")));
}

#[test]
fn summaries_are_the_sentences_that_people_see() {
    let counts = Counts { add: 5, change: 1, destroy: 2 };
    let lines = written(|lines| {
        for operation in [Operation::Plan, Operation::Apply, Operation::Destroy] {
            lines.summary(counts, operation);
        }
    });
    assert_eq!(
        messages(&lines),
        [
            "Plan: 5 to add, 1 to change, 2 to destroy.",
            "Apply complete! Resources: 5 added, 1 changed, 2 destroyed.",
            "Destroy complete! Resources: 2 destroyed.",
        ]
    );
    assert_eq!(
        lines[1]["changes"],
        json!({"add": 5, "change": 1, "import": 0, "remove": 2, "operation": "apply"})
    );
}

#[test]
fn planned_changes_name_resource_and_action() {
    let mut request = testing::request(|_| {});
    request.kubernetes_version = Some("v1.35.0".into());
    let plan = planner::plan(&request, &crate::runtime::planfile::tests::applied(|_| {})).unwrap().1;
    let lines = written(|lines| lines.plan(&plan));
    assert_eq!(kinds(&lines), ["planned_change", "planned_change", "planned_change", "change_summary"]);
    let template = &lines[0];
    assert_eq!(
        template["@message"],
        "module.role.aws_launch_template.pool_launch_template[0]: Plan to replace"
    );
    assert_eq!(template["change"]["action"], "replace");
    assert_eq!(template["change"]["reason"], "cannot_update");
    assert_eq!(
        template["change"]["resource"],
        json!({
            "addr": "module.role.aws_launch_template.pool_launch_template[0]",
            "module": "module.role",
            "resource": "aws_launch_template.pool_launch_template[0]",
            "implied_provider": "aws",
            "resource_type": "aws_launch_template",
            "resource_name": "pool_launch_template",
            "resource_key": 0,
        })
    );
}

#[test]
fn each_change_is_begun_and_completed_once() {
    let plan = planner::plan(&testing::request(|_| {}), &testing::nothing()).unwrap().1;
    let lines = written(|lines| {
        lines.begin(&plan);
        for step in plan.stages.iter().flatten().flatten() {
            lines.tell(started(step.address));
            lines.tell(done(step.address, 2));
        }
        lines.finish();
    });
    for kind in ["apply_start", "apply_complete"] {
        let addresses: Vec<&str> = lines
            .iter()
            .filter(|line| line["type"] == kind)
            .map(|line| line["hook"]["resource"]["addr"].as_str().unwrap())
            .collect();
        let unique: Set<&str> = addresses.iter().copied().collect();
        assert_eq!(
            (addresses.len(), unique.len()),
            (plan.changes.len(), plan.changes.len()),
            "{addresses:?}"
        );
    }
    let group = lines.iter().find(|l| {
        l["type"] == "apply_complete" && l["hook"]["resource"]["resource_type"] == "aws_autoscaling_group"
    });
    // Two steps: it is created, and a process is suspended.
    assert_eq!(group.unwrap()["hook"]["elapsed_seconds"], 4);
    assert!(messages(&lines).contains(&"module.role.aws_s3_object.bootstrap_object[0]: Creating..."));
}

#[test]
fn a_failure_names_its_resource() {
    let lines = written(|lines| {
        lines.tell(started(Address::Group));
        lines.tell(Event::Waiting { what: "it lags".into(), waited: Duration::from_secs(5) });
        lines.tell(Event::Failed { address: Address::Group, what: "x".into(), took: Duration::from_secs(7) });
        lines.tell(Event::Waiting { what: "the lock".into(), waited: Duration::from_secs(1) });
        lines.diagnostic(&Diagnostic::error("It failed", "because"));
        lines.diagnostic(&Diagnostic::warning("Odd", ""));
    });
    assert_eq!(
        kinds(&lines),
        ["apply_start", "apply_progress", "apply_errored", "log", "diagnostic", "diagnostic"]
    );
    assert_eq!(lines[1]["hook"]["elapsed_seconds"], 5);
    assert_eq!(lines[2]["hook"]["resource"]["addr"], Address::Group.as_str());
    assert_eq!((&lines[4]["@level"], &lines[4]["@message"]), (&json!("error"), &json!("Error: It failed")));
    assert_eq!(
        lines[4]["diagnostic"],
        json!({"severity": "error", "summary": "It failed", "detail": "because", "address": Address::Group.as_str()})
    );
    assert_eq!(lines[5]["@level"], "warn");
    assert!(lines[5]["diagnostic"].get("address").is_none());
}

#[test]
fn clean_up_and_destroy_are_told_without_a_plan_of_steps() {
    let plan = Plan {
        stages: vec![vec![vec![Step {
            address: Address::Template,
            task: Task::AwaitGroupGone { group: "g".into() },
            optional: true,
        }]]],
        ..Plan::default()
    };
    let lines = written(|lines| {
        lines.begin(&plan);
        lines.tell(started(Address::Template));
        lines.tell(done(Address::Template, 0));
        for _ in 0..2 {
            lines.tell(started(Address::Group));
            lines.tell(done(Address::Group, 0));
        }
        lines.finish();
    });
    assert_eq!(kinds(&lines), ["apply_start", "apply_complete"].repeat(3));
    assert_eq!(lines[0]["hook"]["action"], "update");
}

#[test]
fn outputs_have_types_and_secrets_stay_away() {
    let value = json!(["aws:///us-east-1a/i-1"]);
    let mut inputs = Inputs::default();
    inputs.add_var("bootstrap_data=c2VjcmV0").unwrap();
    let lines = written(|lines| {
        lines.hide(Secrets::of(&inputs, &["bootstrap_data".to_owned()].into()));
        let output =
            |name, sensitive| Recorded { name, kind: json!(["list", "string"]), value: &value, sensitive };
        lines.outputs(&[output("provider_id_list", false), output("other", true)]);
        lines.outputs(&[]);
        lines.diagnostic(&Diagnostic::error("no c2VjcmV0", "c2VjcmV0"));
    });
    assert_eq!(
        lines[0]["outputs"],
        json!({
            "other": {"sensitive": true, "type": ["list", "string"]},
            "provider_id_list": {"sensitive": false, "type": ["list", "string"], "value": value},
        })
    );
    assert_eq!(lines[0]["@message"], "Outputs: 2");
    assert!(!lines[1].to_string().contains("c2VjcmV0"), "{}", lines[1]);
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_reader_that_goes_away_stops_nothing() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::new(Gone, &Noon);
    lines.version();
    lines.version();
    assert_eq!(lines.failure().unwrap().kind(), io::ErrorKind::BrokenPipe);
}
