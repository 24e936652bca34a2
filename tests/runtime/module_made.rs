//! A pool as the Terraform module leaves it, in AWS and in its state.

use std::fs;

use serde_json::{Value, json};

use super::runner::Runner;

pub(crate) const LINEAGE: &str = "0f3c2f5e-7a61-4a0e-8b86-0d0c3f0b9a11";
/// The name that the module's provider gave to its launch template.
pub(crate) const TEMPLATE: &str = "captf-team-a-demo-pool-0-43c6d828-20260101120000000000000001";

/// The state of the module for the demo pool, with this bootstrap data in it.
pub(crate) fn state(template_id: &str, arn: &str, bootstrap_data: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/state/module.json");
    let text = fs::read_to_string(path).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let old_arn = found["resources"][1]["instances"][0]["attributes"]["arn"].as_str().unwrap();
    let text = text
        .replace(old_arn, arn)
        .replace("lt-0123456789abcdef0", template_id)
        .replace("\"demo-bootstrap", "\"captf-team-a-demo-bootstrap")
        .replace("v1.33.0", "v1.34.1")
        .replace("cGxhbnRlZC1qb2luLXRva2Vu", bootstrap_data);
    let mut state: Value = serde_json::from_str(&text).unwrap();
    let resources = state["resources"].as_array_mut().unwrap();
    resources.retain(|resource| resource["type"] != "aws_autoscaling_policy");
    let zones = json!({"value": ["us-east-1a", "us-east-1b", "us-east-1c"], "type": ["list", "string"]});
    let record = resources.iter_mut().find(|resource| resource["name"] == "inherited_zones").unwrap();
    for member in ["input", "output"] {
        record["instances"][0]["attributes"][member] = zones.clone();
    }
    state
}

impl Runner {
    /// Applies the demo pool, lets its members come up, and makes it the module's: a template of a generated
    /// name, none of our records in AWS, and its state.
    pub(crate) fn module_made(bootstrap_data: &str) -> Self {
        let runner = Self::new();
        runner.apply().ok();
        runner.come_up();
        let mut account = runner.account();
        let world = &mut account["world"];
        let (id, ours) = {
            let (id, template) = world["templates"].as_object().unwrap().iter().next().unwrap();
            (id.clone(), template["name"].as_str().unwrap().to_owned())
        };
        let template = &mut world["templates"][&id];
        for version in template["versions"].as_object_mut().unwrap().values_mut() {
            version["data"]["user_data"] = json!("#cloud-boothook\n");
        }
        forget(&mut template["tags"]);
        let group = world["groups"].as_object_mut().unwrap().values_mut().next().unwrap();
        forget(&mut group["tags"]);
        let arn = group["arn"].as_str().unwrap().to_owned();
        fs::write(runner.work("account.json"), account.to_string().replace(&ours, TEMPLATE)).unwrap();
        runner.put_state(&state(&id, &arn, bootstrap_data));
        runner
    }
}

fn forget(tags: &mut Value) {
    tags.as_object_mut().unwrap().retain(|key, _| !key.starts_with("machinepool.captf.io/"));
}
