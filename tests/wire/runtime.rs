//! The controller's runner in front, AWS over the wire behind: each operation of a pool's life.

#[path = "../kubernetes/double.rs"]
mod double;
// Shared with the tests of the runner on the sandbox, which use all of it.
#[allow(dead_code)]
#[path = "../runtime/module_made.rs"]
mod module_made;
#[allow(dead_code)]
#[path = "../runtime/runner.rs"]
pub(crate) mod runner;

use aws_sdk_ec2::types::{RequestLaunchTemplateData, ResourceType, Tag, TagSpecification};
use base64::Engine as _;
use serde_json::{Value, json};

use self::runner::Runner;
use super::{
    calls::{sorted, writes},
    harness::Pool,
    inputs,
};

/// A runner whose Jobs work in the pool's account.
pub(crate) fn runner_of(pool: &Pool) -> Runner {
    let mut runner = Runner::new();
    runner.variables = vec![
        ("AWS_ENDPOINT_URL", pool.double.endpoint()),
        ("AWS_ACCESS_KEY_ID", pool.key()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        // An empty name is no sandbox.
        ("MACHINEPOOL_SANDBOX", String::new()),
    ];
    render(&runner, pool);
    runner
}

pub(crate) fn render(runner: &Runner, pool: &Pool) {
    runner.render(|inputs| *inputs = pool.inputs.clone());
}

fn actions(shown: &Value, kind: &str) -> Value {
    let changes = shown["resource_changes"].as_array().unwrap();
    let change = changes.iter().find(|c| c["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {shown}"));
    change["change"]["actions"].clone()
}

#[tokio::test]
async fn the_runner_leads_a_pool_through_its_life() {
    let Some(mut pool) = Pool::new().await else { return };
    let runner = runner_of(&pool);
    let made = runner.apply().ok();
    assert!(made.starts_with("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.\n"), "{made}");
    assert_eq!(pool.members().await.len(), 3);
    runner.assert_unlocked();

    // What comes every minute: two calls to AWS, and nothing written but the lock.
    runner.refresh().ok();
    let before = (runner.version(), runner.state().unwrap());
    runner.kubernetes.seen();
    pool.forget_calls();
    let refreshed = runner.refresh().ok();
    assert!(refreshed.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
    assert_eq!(sorted(&pool.calls()), ["DescribeAutoScalingGroups", "DescribeInstances"]);
    let written = runner.kubernetes.calls();
    assert!(written.iter().all(|c| c.ends_with(" leases") || c == "list secrets"), "{written:?}");
    assert_eq!((runner.version(), runner.state().unwrap()), before);
    let health = &before.1["outputs"]["health"]["value"];
    assert_eq!((&health["state"], &health["healthy"]), (&json!("running"), &json!(true)), "{health}");

    // What comes every few minutes: one write, and no new serial.
    pool.set("bootstrap_data", json!(inputs::bootstrap(2)));
    render(&runner, &pool);
    pool.forget_calls();
    let rotated = runner.apply().ok();
    assert!(
        rotated.starts_with("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.\n"),
        "{rotated}"
    );
    assert_eq!(writes(&pool.calls()), ["PutObject"]);
    assert_eq!(runner.version(), before.0);

    // A guarded roll.
    pool.set("kubernetes_version", json!("v1.34.2"));
    render(&runner, &pool);
    runner.init();
    assert_eq!(runner.plan("apply.tfplan", &[]).code, 2);
    assert_eq!(actions(&runner.show("apply.tfplan"), "aws_launch_template"), json!(["create", "delete"]));
    runner.apply_file("apply.tfplan").ok();
    assert_eq!(pool.refreshes().await.len(), 1);

    let gone = runner.destroy().ok();
    assert!(gone.contains("Destroy complete! Resources: 5 destroyed."), "{gone}");
    assert!(pool.find_group().await.is_none());
    assert!(pool.templates().await.is_empty());
    assert_eq!(runner.run(&["state", "list"]).ok(), "");
    runner.assert_unlocked();
}

/// The pool as the Terraform module leaves it in AWS: a template of a generated name, and no record of ours.
/// Returns the template's id and name, and the group's ARN.
async fn module_made(pool: &Pool) -> (String, String, String) {
    let tags = pool.inputs["captf_tags"].as_object().unwrap().iter();
    let mut tags: Vec<(String, String)> =
        tags.map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect();
    let put = pool.hand.s3.put_object().bucket(&pool.surroundings.bucket).key(&pool.names.object_key);
    let tagging: Vec<String> = tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    put.body(b"earlier".to_vec().into()).tagging(tagging.join("&")).send().await.unwrap();

    tags.push(("kubernetes.io/cluster/demo".to_owned(), "owned".to_owned()));
    let name = format!("{}-20260101120000000000000001", pool.names.group);
    let specification = TagSpecification::builder()
        .resource_type(ResourceType::LaunchTemplate)
        .set_tags(Some(
            tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect(),
        ))
        .build();
    let user_data = base64::engine::general_purpose::STANDARD.encode("#cloud-boothook\n");
    let data = RequestLaunchTemplateData::builder()
        .instance_type("m6i.large".into())
        .image_id(inputs::NEWEST_1_34_1)
        .user_data(user_data)
        .build();
    let create =
        pool.hand.ec2.create_launch_template().launch_template_name(&name).launch_template_data(data);
    let template = create.tag_specifications(specification).send().await.unwrap();
    let id = template.launch_template().unwrap().launch_template_id().unwrap().to_owned();

    let tag = |(key, value): &(String, String)| {
        aws_sdk_autoscaling::types::Tag::builder()
            .resource_id(&pool.names.group)
            .resource_type("auto-scaling-group")
            .key(key)
            .value(value)
            .propagate_at_launch(false)
            .build()
    };
    let used = aws_sdk_autoscaling::types::LaunchTemplateSpecification::builder()
        .launch_template_id(&id)
        .version("$Latest")
        .build();
    let subnets: Vec<&str> = pool.surroundings.zones.iter().map(|(_, subnet)| subnet.as_str()).collect();
    let create = pool.hand.autoscaling.create_auto_scaling_group().auto_scaling_group_name(&pool.names.group);
    let create = create.launch_template(used).min_size(3).max_size(3).desired_capacity(3);
    let create = create.vpc_zone_identifier(subnets.join(",")).set_tags(Some(tags.iter().map(tag).collect()));
    create.send().await.unwrap();
    let arn = pool.group().await.auto_scaling_group_arn().unwrap().to_owned();
    (id, name, arn)
}

#[tokio::test]
async fn a_pool_that_the_module_made_is_taken_over() {
    let Some(mut pool) = Pool::new().await else { return };
    let (id, name, arn) = module_made(&pool).await;
    let mut runner = runner_of(&pool);
    runner.variables.push(("MACHINEPOOL_LOG", "debug".to_owned()));
    let state = module_made::state(&id, &arn, &inputs::bootstrap(1)).to_string();
    let state = state
        .replace(module_made::TEMPLATE, &name)
        .replace("captf-team-a-demo-pool-0-43c6d828", &pool.names.group)
        .replace("v1.34.1", "v1.34.1+rke2r1")
        .replace("captf-team-a-demo-bootstrap", &pool.surroundings.bucket);
    runner.put_state(&serde_json::from_str(&state).unwrap());
    let members = pool.members().await;
    let clean = |runner: &Runner| {
        let state = runner.state().unwrap();
        let text = state.to_string();
        assert!(!text.contains(inputs::TOKEN) && !text.contains(&inputs::bootstrap(1)), "{text}");
        assert_eq!(state["lineage"], module_made::LINEAGE);
        state
    };
    let silent = |outcome: runner::Outcome| {
        for said in [&outcome.out, &outcome.err] {
            for secret in [inputs::TOKEN.to_owned(), inputs::bootstrap(0), inputs::bootstrap(1)] {
                assert!(!said.contains(&secret), "{said}");
            }
        }
        outcome
    };
    let record = |state: &Value| {
        let resources = state["resources"].as_array().unwrap();
        let record = resources.iter().find(|r| r["name"] == "kubernetes_version_roll").unwrap();
        record["instances"][0]["attributes"].clone()
    };

    // A refresh comes first. Then AWS refuses a step: what only the state knows is still there.
    silent(runner.refresh()).ok();
    let refreshed = clean(&runner);
    assert_eq!(refreshed["serial"], 42);
    pool.faults(&json!([{"operation": "CreateLaunchTemplateVersion", "kind": "denied"}]));
    let denied = silent(runner.apply()).fails("launch template");
    assert!(denied.err.contains("CreateLaunchTemplateVersion"), "{}", denied.err);
    assert_eq!(record(&clean(&runner)), record(&refreshed));
    pool.faults(&json!([]));

    let done = silent(runner.apply()).ok();
    assert!(done.contains(" 0 destroyed."), "{done}");
    let applied = clean(&runner);
    assert_eq!(record(&applied), record(&refreshed));
    assert_eq!(pool.template().await.launch_template_id(), Some(id.as_str()), "its template stays");
    assert_eq!(pool.members().await, members);
    assert!(pool.refreshes().await.is_empty(), "nothing rolls");
    assert_eq!(applied["outputs"]["provider_id_list"]["value"].as_array().unwrap().len(), 3);
    pool.forget_calls();
    runner.apply().ok();
    assert_eq!(writes(&pool.calls()), <[&str; 0]>::default());

    pool.set("kubernetes_version", json!("v1.34.2"));
    render(&runner, &pool);
    silent(runner.apply()).ok();
    runner.apply().ok();
    assert_eq!(pool.refreshes().await.len(), 1);
    pool.act("refresh", json!({"steps": 9}));
    runner.apply().ok();
    assert!(pool.members().await.is_disjoint(&members));
    assert_ne!(pool.template().await.launch_template_id(), Some(id.as_str()));
    assert_eq!(pool.refreshes().await.len(), 1, "it rolls once");
    assert_eq!(record(&clean(&runner))["triggers_replace"]["value"]["kubernetes_version"], "v1.34.2");
}
