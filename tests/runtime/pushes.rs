//! `state push`: what may come into the place of what, and under which serial.

use serde_json::{Value, json};

use super::runner::{Outcome, Runner};

/// A state with one output and one resource, or as a destroy leaves it.
pub(crate) fn state(lineage: &str, serial: u64, replicas: Option<u32>) -> Value {
    let outputs = replicas.map_or(json!({}), |count| json!({"replicas": {"value": count, "type": "number"}}));
    let resource = |count: u32| {
        json!({
            "mode": "managed",
            "type": "terraform_data",
            "name": "x",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{"schema_version": 0, "attributes": {"id": format!("of-{count}")}}],
        })
    };
    json!({
        "version": 4,
        "terraform_version": "1.5.7",
        "serial": serial,
        "lineage": lineage,
        "outputs": outputs,
        "resources": replicas.map(resource).into_iter().collect::<Vec<_>>(),
        "check_results": null,
    })
}

fn push(runner: &Runner, options: &[&str], pushed: &Value) -> Outcome {
    std::fs::write(runner.work("pushed.tfstate"), pushed.to_string()).unwrap();
    let file = runner.path("pushed.tfstate");
    runner.run(&[&["state", "push"], options, &[&file]].concat())
}

/// Serial, lineage and replicas of what is stored.
fn stored(runner: &Runner) -> (Value, Value, Value) {
    let state = runner.state().unwrap();
    (state["serial"].clone(), state["lineage"].clone(), state["outputs"]["replicas"]["value"].clone())
}

#[test]
fn a_state_of_the_same_serial_is_not_overwritten_by_another_one() {
    let runner = Runner::new();
    runner.init();
    runner.put_state(&state("a", 8, Some(3)));
    let version = runner.version();
    let refused = push(&runner, &[], &state("a", 8, Some(5))).fails("The state was not replaced");
    for part in ["serial is 8", "state pull", "-force"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    // The same said in other words is the same.
    let mut same = state("a", 8, Some(3));
    same["terraform_version"] = json!("1.11.4");
    same["outputs"]["replicas"]["sensitive"] = json!(false);
    push(&runner, &[], &same).ok();
    assert_eq!(runner.version(), version, "nothing is written");
    push(&runner, &[], &state("a", 9, Some(5))).ok();
    assert_eq!(stored(&runner), (json!(9), json!("a"), json!(5)));
    runner.assert_unlocked();
}

#[test]
fn what_a_destroy_left_gives_way_to_every_state() {
    let runner = Runner::new();
    runner.init();
    for (lineage, serial, becomes) in [("b", 3, 9), ("a", 8, 9), ("b", 8, 9), ("b", 12, 12)] {
        runner.put_state(&state("a", 8, None));
        push(&runner, &[], &state(lineage, serial, Some(3))).ok();
        assert_eq!(stored(&runner), (json!(becomes), json!(lineage), json!(3)), "{lineage} {serial}");
    }
}

#[test]
fn no_serial_gets_another_content() {
    let runner = Runner::new();
    runner.init();
    for (lineage, serial, becomes) in [("a", 2, 9), ("a", 8, 9), ("a", 9, 9), ("b", 2, 9), ("b", 20, 20)] {
        runner.put_state(&state("a", 8, Some(3)));
        push(&runner, &["-force"], &state(lineage, serial, Some(5))).ok();
        assert_eq!(stored(&runner), (json!(becomes), json!(lineage), json!(5)), "{lineage} {serial}");
    }
    // Where nothing changes, or nothing is there, the serial stays.
    runner.put_state(&state("a", 8, Some(3)));
    let version = runner.version();
    push(&runner, &["-force"], &state("a", 2, Some(3))).ok();
    assert_eq!(runner.version(), version);
}

#[test]
fn an_empty_file_is_called_empty() {
    let runner = Runner::new();
    runner.init();
    let file = runner.path("pushed.tfstate");
    for text in ["", " \n"] {
        std::fs::write(runner.work("pushed.tfstate"), text).unwrap();
        let refused = runner.run(&["state", "push", &file]).fails("The state to push is empty");
        assert!(!refused.err.contains("{}"), "{}", refused.err);
    }
    assert!(runner.state().is_none());
}
