//! What accepted inputs mean.

use serde_json::{Value, json};

use super::{demo, demo_with, refused, request};
use crate::contract::{
    inputs::Inputs,
    request::{Autoscaler, Autoscaling, IDENTITY_TAGS, Request, Scope, Tags},
};

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn with_var(assignment: &str) -> Request {
    let mut inputs = demo();
    inputs.add_var(assignment).unwrap();
    Request::parse(&inputs).unwrap()
}

fn scope(json: &Value) -> Scope {
    let mut inputs = Inputs::default();
    inputs.add_file("x.json", json.to_string().as_bytes()).unwrap();
    Scope::parse(&inputs).unwrap()
}

#[test]
fn the_demo_input() {
    let request = Request::parse(&demo()).unwrap();
    assert_eq!(request.scope.namespace, "team-a");
    assert_eq!(request.scope.name, "demo-pool-0");
    assert_eq!(request.scope.region.as_ref().unwrap().as_str(), "us-east-1");
    assert_eq!(request.scope.bucket.as_ref(), Some(&request.exports.bootstrap_bucket));
    assert_eq!(request.scope.replicas, Some(3));
    assert_eq!(request.scope.node_labels, request.node_labels);
    assert_eq!(request.captf_tags.len(), 6);
    assert_eq!(
        request.exports.failure_domains.keys().collect::<Vec<_>>(),
        ["us-east-1a", "us-east-1b", "us-east-1c"]
    );
    assert!(request.bootstrap_data.expose().starts_with(b"#cloud-config\n"));
    assert_eq!(request.kubernetes_version.as_deref(), Some("v1.34.1"));
    assert_eq!(request.autoscaling, Autoscaling::Off);
    assert!(request.failure_domains.is_empty());
    assert_eq!(request.warnings, []);
    assert_eq!(Scope::parse(&demo()).unwrap(), request.scope, "both ways of reading agree");
}

#[test]
fn numbers_and_bools_become_text_as_terraform_writes_them() {
    let version =
        |json: &str| request(&format!("{{\"kubernetes_version\": {json}}}")).kubernetes_version.unwrap();
    assert_eq!(version("\"1.10\""), "1.10");
    assert_eq!(version("1.10"), "1.1");
    assert_eq!(version("1e2"), "100");
    assert_eq!(version("true"), "true");
    assert_eq!(version("12345678901234567890123"), "12345678901234567890123");
    assert_eq!(with_var("kubernetes_version=1.10").kubernetes_version.unwrap(), "1.10");
    let labels = request(r#"{"node_labels": {"a": 1.50, "b": false, "c": "1.50"}}"#).node_labels;
    assert_eq!(labels, tags(&[("a", "1.5"), ("b", "false"), ("c", "1.50")]));
}

#[test]
fn options_convert_as_files_do() {
    assert_eq!(with_var("replicas=40").replicas, 40);
    assert_eq!(with_var("replicas=1e2").replicas, 100);
    assert!(with_var("spot=true").spot);
    assert_eq!(with_var("ssh_key_name=null").ssh_key_name, None);
    assert_eq!(with_var("ssh_key_name=").ssh_key_name, None);
    assert_eq!(with_var(r#"failure_domains=["us-east-1b"]"#).failure_domains, ["us-east-1b"]);
}

#[test]
fn absent_null_and_empty_text_are_the_same() {
    let absent = request("{}");
    for text in ["null", "\"\""] {
        assert_eq!(request(&format!("{{\"ssh_key_name\": {text}}}")), absent);
        assert_eq!(request(&format!("{{\"root_volume_kms_key_id\": {text}}}")), absent);
        assert_eq!(request(&format!("{{\"machine_image\": {{\"id\": {text}}}}}")), absent);
    }
}

#[test]
fn who_scales_within_which_bounds() {
    let bounds = |rest: &str| {
        request(&format!("{{\"autoscaling\": {{\"enabled\": true, \"min\": 0, \"max\": \"7\"}}{rest}}}"))
            .autoscaling
    };
    let on = |by| Autoscaling::On { min: 0, max: 7, by };
    assert_eq!(bounds(""), on(Autoscaler::Native(60.0)));
    assert_eq!(bounds(r#", "autoscaling_target_cpu_percent": "62.5""#), on(Autoscaler::Native(62.5)));
    assert_eq!(bounds(r#", "autoscaler": "external""#), on(Autoscaler::External));
    assert_eq!(request(r#"{"autoscaling": {"enabled": "false", "min": "x"}}"#).autoscaling, Autoscaling::Off);
    // A bad target is told even where nothing uses it.
    assert_eq!(refused(r#"{"autoscaler": "external", "autoscaling_target_cpu_percent": 0}"#).0.len(), 1);
}

#[test]
fn zones_keep_their_order_and_lose_repetitions() {
    let request =
        request(r#"{"failure_domains": ["c", "a", "c"], "cluster_failure_domains": ["b", "b", "a"]}"#);
    assert_eq!(request.failure_domains, ["c", "a"]);
    assert_eq!(request.cluster_failure_domains, ["b", "a"]);
}

#[test]
fn identity_is_what_the_tags_say_else_what_the_object_is() {
    let derived = tags(&[
        ("captf.io/cluster", "demo"),
        ("captf.io/kind", "TerraformMachinePool"),
        ("captf.io/name", "demo-pool-0"),
        ("captf.io/namespace", "team-a"),
    ]);
    assert_eq!(request(r#"{"captf_tags": {}}"#).scope.identity, derived);
    assert_eq!(request("{}").scope.identity, derived);
    let said = request(r#"{"captf_tags": {"captf.io/name": "other", "captf.io/cluster": "west", "x": "y"}}"#);
    assert_eq!(said.scope.identity["captf.io/name"], "other");
    assert_eq!(said.scope.identity["captf.io/cluster"], "west");
    assert_eq!(said.scope.identity.len(), IDENTITY_TAGS.len());
    assert_eq!(said.captf_tags.len(), 3, "tags stay as sent");
    // Only what contradicts captf_object is odd; the cluster's name may be written in other ways.
    assert_eq!(said.warnings.len(), 1);
    assert!(said.warnings[0].detail.contains("captf.io/name"), "{:?}", said.warnings);
}

#[test]
fn scope_needs_two_names_only() {
    let least = json!({"captf_object": {"namespace": "team-a"}, "machinepool_name": "p", "nonsense": 1});
    let least = scope(&least);
    assert_eq!((least.region, least.bucket, least.replicas), (None, None, None));
    assert_eq!(
        least.identity,
        tags(&[("captf.io/namespace", "team-a"), ("captf.io/kind", "TerraformMachinePool")])
    );
    let problems = Scope::parse(&Inputs::default()).unwrap_err().0;
    assert_eq!(problems.len(), 2);
    assert_eq!(problems[0].summary, "Missing required input captf_object");
    assert_eq!(problems[1].summary, "Missing required input machinepool_name");
    let both = demo_with(r#"{"captf_object": {"namespace": "$(id)"}, "machinepool_name": "a/b"}"#);
    assert_eq!(Scope::parse(&both).unwrap_err().0.len(), 2);
}

#[test]
fn scope_ignores_every_other_fault() {
    let faulty = demo_with(
        r#"{"captf_contract": 7, "captf_cluster": [], "captf_tags": {"captf.io/name": ["x"], "captf.io/kind": "a;b"},
            "captf_object": {"kind": 1, "name": "pool-object", "namespace": "team-a"},
            "replicas": -1, "bootstrap_data": {}, "node_labels": {"a": []}, "machine_image": 3, "unknown": 1,
            "captf_cluster_outputs": {"region": "eu-west-1", "bootstrap_bucket": "Not_A_Bucket"}}"#,
    );
    let scope = Scope::parse(&faulty).unwrap();
    assert_eq!(scope.region.unwrap().as_str(), "eu-west-1");
    assert_eq!((scope.bucket, scope.replicas, scope.node_labels.len()), (None, None, 0));
    let known = [
        ("captf.io/kind", "TerraformMachinePool"),
        ("captf.io/name", "pool-object"),
        ("captf.io/namespace", "team-a"),
    ];
    assert_eq!(scope.identity, tags(&known));
}

#[test]
fn scope_takes_its_place_from_the_exports_that_apply() {
    let place = |own: Value, external: Value| {
        let scope = scope(&json!({
            "captf_object": {"namespace": "n"}, "machinepool_name": "p",
            "captf_cluster_outputs": own, "external_cluster_exports": external,
        }));
        scope.region.map(|region| region.to_string())
    };
    let (east, west) = (json!({"region": "us-east-1"}), json!({"region": "us-west-2"}));
    assert_eq!(place(east.clone(), west.clone()).unwrap(), "us-east-1");
    assert_eq!(place(json!({}), west.clone()).unwrap(), "us-west-2");
    assert_eq!(place(Value::Null, west.clone()).unwrap(), "us-west-2");
    assert_eq!(place(json!({"vpc_id": "x"}), west.clone()), None, "incomplete exports hide the others");
    assert_eq!(place(json!("us-east-1"), west), None);
    let schema = |schema: &str| json!({"schema": schema, "region": "us-east-1"});
    assert_eq!(place(schema("captf.io/aws-cluster/v2"), Value::Null).unwrap(), "us-east-1");
    assert_eq!(place(schema("captf.io/other-cluster/v1"), Value::Null), None);
    assert_eq!(place(Value::Null, Value::Null), None);
}

#[test]
fn messages_name_input_value_rule_and_origin() {
    let mut inputs = demo_with(r#"{"machine_image": {"id": "ami-XYZ"}, "replicas": 1}"#);
    inputs.add_var("replicas=-1").unwrap();
    let problems = Request::parse(&inputs).unwrap_err().0;
    assert_eq!(problems[0].summary, "Invalid value for replicas");
    assert_eq!(
        problems[0].detail,
        "replicas is \"-1\", but must be a whole number from 0 to 2147483647 (-var)."
    );
    assert_eq!(problems[1].summary, "Invalid value for machine_image");
    assert_eq!(
        problems[1].detail,
        "machine_image.id is \"ami-XYZ\", but must be an AMI id such as ami-0a1b2c3d4e5f60718 (case.json)."
    );
}

#[test]
fn tags_in_all_are_counted_on_the_fullest_resource() {
    let many = |own: usize, captf: usize| {
        let map =
            |prefix: &str, count| (0..count).map(|i| (format!("{prefix}{i}"), json!(""))).collect::<Value>();
        let mut sent = map("captf", captf);
        sent.as_object_mut().unwrap().extend(IDENTITY_TAGS.map(|key| (key.to_owned(), json!("x"))));
        json!({"additional_tags": map("own", own), "captf_tags": sent}).to_string()
    };
    // 40 + 4 + 2 of the controller, the cluster's, 3 records of the launch template: 50.
    assert_eq!(request(&many(40, 2)).additional_tags.len(), 40);
    let problems = refused(&many(40, 3)).0;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].detail.contains("51 tags") && problems[0].detail.contains("40 of additional_tags"));
    assert_eq!(request(&many(36, 6)).captf_tags.len(), 10);
}

#[test]
fn a_pool_larger_than_its_outputs_is_warned_of() {
    let warnings = |json: &str| request(json).warnings.into_iter().map(|w| w.summary).collect::<Vec<_>>();
    assert_eq!(warnings(r#"{"replicas": 10000}"#), [""; 0]);
    assert_eq!(warnings(r#"{"replicas": 10001}"#), ["replicas is larger than the outputs can tell"]);
    assert_eq!(request(r#"{"replicas": 2147483647}"#).replicas, 2_147_483_647);
    let scaled = |max: u32| {
        warnings(
            &json!({"autoscaling": {"enabled": true, "min": 1, "max": max}, "replicas": 20000}).to_string(),
        )
    };
    assert_eq!(scaled(10_000), [""; 0], "replicas is not the size then");
    assert_eq!(scaled(10_001), ["autoscaling.max is larger than the outputs can tell"]);
}

#[test]
fn a_few_missing_inputs_are_told_one_by_one_and_say_what_to_do() {
    let some = |json: &Value| {
        let mut inputs = Inputs::default();
        inputs.add_file("x.json", json.to_string().as_bytes()).unwrap();
        Scope::parse(&inputs).unwrap_err().0
    };
    let one = some(&json!({"machinepool_name": "p"}));
    assert_eq!(one.len(), 1);
    assert!(one[0].detail.contains("-var-file=FILE") && !one[0].detail.contains("always sends"), "{one:?}");
    let nulls = some(&json!({"machinepool_name": null}));
    assert_eq!(nulls.len(), 2, "null is a fault of its own: {nulls:?}");
}
