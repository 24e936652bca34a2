//! What `doctor` finds, over the wire.

use serde_json::{Value, json};

use crate::{
    calls::{Call, depth, is_write},
    harness::{Outcome, Pool},
};

impl Pool {
    /// A pool whose surroundings have all that its cluster's own role would have made.
    async fn with_roles() -> Option<Self> {
        let pool = Self::new().await?;
        let iam = &pool.hand.iam;
        iam.create_instance_profile().instance_profile_name("workers").send().await.unwrap();
        let role = iam.create_role().role_name("workers").assume_role_policy_document("{}");
        role.send().await.unwrap();
        let add = iam.add_role_to_instance_profile().instance_profile_name("workers").role_name("workers");
        add.send().await.unwrap();
        let linked = iam.create_service_linked_role().aws_service_name("autoscaling.amazonaws.com");
        linked.send().await.unwrap();
        Some(pool)
    }

    fn doctor(&self) -> Outcome {
        self.run(&["doctor", "--format", "json"])
    }

    /// Exactly this check ends so, and its words are said; the others pass.
    #[track_caller]
    fn finds(&self, id: &str, status: &str, words: &str) {
        let outcome = self.doctor();
        let report = outcome.json();
        let checks = report["checks"].as_array().unwrap();
        let others: Vec<&Value> =
            checks.iter().filter(|check| check["id"] != id && check["status"] != "pass").collect();
        assert!(others.is_empty(), "{others:#?}");
        let check =
            checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {report:#}"));
        assert_eq!(check["status"], status, "{check:#}");
        assert!(check.to_string().contains(words), "{words}: {check:#}");
        assert_eq!(outcome.code, i32::from(status == "fail"));
    }
}

/// Calls that changed something; those that were only tried did not.
fn changes(calls: &[Call]) -> Vec<&Call> {
    let tried = |call: &Call| call.parameters["DryRun"] == "true";
    calls.iter().filter(|call| is_write(&call.operation) && !tried(call)).collect()
}

#[tokio::test]
async fn all_is_well_before_and_after_an_apply_and_nothing_is_changed() {
    let Some(pool) = Pool::with_roles().await else { return };
    pool.finds("permissions.create_template", "pass", "tried, not done");
    pool.apply();
    pool.finds("permissions.launch", "pass", "tried, not done");
    let calls = pool.calls_of(|pool| drop(pool.doctor()));
    assert!(changes(&calls).is_empty(), "{calls:#?}");
    assert!(calls.iter().any(|call| call.operation == "RunInstances"), "{calls:#?}");
    let text = pool.run(&["doctor"]).ok();
    assert!(text.out.starts_with("Check-up of the pool "), "{}", text.out);
    pool.is_settled();
}

#[tokio::test]
async fn it_takes_three_round_trips() {
    let Some(pool) = Pool::with_roles().await else { return };
    pool.latency(250);
    let calls = pool.calls_of(|pool| drop(pool.doctor()));
    assert!(depth(&calls) <= 3, "{calls:#?}");
}

#[tokio::test]
async fn the_bucket() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    pool.inputs["captf_cluster_outputs"]["bootstrap_bucket"] = "no-such-bucket-anywhere".into();
    pool.finds("bucket", "fail", "no-such-bucket-anywhere does not exist");
    pool.run(&["doctor", "--quiet"]).exits(1).says("Fix: Check bootstrap_bucket");
}

#[tokio::test]
async fn a_subnet_of_another_zone() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    let zones = pool.surroundings.zones.clone();
    let domains = &mut pool.inputs["captf_cluster_outputs"]["failure_domains"];
    domains[&zones[0].0]["subnet_id"] = zones[1].1.clone().into();
    domains[&zones[1].0]["subnet_id"] = zones[0].1.clone().into();
    pool.finds("subnets.zones", "fail", &zones[0].1);
}

#[tokio::test]
async fn subnets_and_security_groups_that_are_not_there_or_in_another_vpc() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    let good = pool.inputs.clone();
    pool.set("additional_security_group_ids", json!(["sg-0fffffffffffffff0"]));
    pool.finds("security_groups", "fail", "sg-0fffffffffffffff0");
    pool.inputs.clone_from(&good);
    let (zone, _) = pool.surroundings.zones[0].clone();
    pool.inputs["captf_cluster_outputs"]["failure_domains"][&zone]["subnet_id"] =
        "subnet-0fffffffffffffff0".into();
    pool.finds("subnets", "fail", "subnet-0fffffffffffffff0");
    pool.inputs = good;
    let vpc = pool.hand.ec2.create_vpc().cidr_block("10.1.0.0/16").send().await.unwrap();
    let vpc = vpc.vpc().unwrap().vpc_id().unwrap().to_owned();
    let group = pool.hand.ec2.create_security_group().vpc_id(&vpc).group_name("x").description("x");
    let group = group.send().await.unwrap().group_id().unwrap().to_owned();
    pool.set("additional_security_group_ids", json!([group]));
    pool.finds("vpc", "fail", &vpc);
}

#[tokio::test]
async fn the_instance_profile() {
    let Some(pool) = Pool::new().await else { return };
    let status = |id: &str| {
        let report = pool.doctor().exits(1).json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["id"] == id).unwrap()
    };
    let profile = status("instance_profile");
    assert_eq!(profile["status"], "fail");
    assert!(profile["title"].as_str().unwrap().contains("does not exist"), "{profile}");
    pool.hand.iam.create_instance_profile().instance_profile_name("workers").send().await.unwrap();
    assert!(status("instance_profile")["title"].as_str().unwrap().contains("no role"));
    assert_eq!(status("roles.autoscaling")["status"], "warning");
}

#[tokio::test]
async fn images_and_instance_types() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    let good = pool.inputs.clone();
    pool.set("instance_type", "m6g.large".into());
    pool.finds("image.architecture", "fail", "needs arm64");
    pool.inputs.clone_from(&good);
    pool.set("machine_image", json!({"root_device_name": "/dev/xvda"}));
    pool.finds("image.root_device", "warning", "/dev/sda1");
    pool.inputs.clone_from(&good);
    pool.set("root_volume_size_gib", 14.into());
    pool.finds("volume", "fail", "15");
    pool.inputs.clone_from(&good);
    pool.set("kubernetes_version", "v1.99.0".into());
    pool.finds("image", "fail", "1.99.0");
    pool.inputs.clone_from(&good);
    pool.set("machine_image", json!({"id": "ami-0fffffffffffffff0"}));
    pool.finds("image", "fail", "ami-0fffffffffffffff0");
    pool.inputs.clone_from(&good);
    pool.set("ssh_key_name", "no-such-key".into());
    pool.finds("key_pair", "fail", "no-such-key");
    pool.inputs = good;
    pool.set("instance_type", "m6i.huge".into());
    let report = pool.doctor().exits(1).json();
    let failed: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "fail").collect();
    assert_eq!(failed[0]["id"], "instance_type", "{report:#}");
}

#[tokio::test]
async fn a_zone_without_the_instance_type() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    let vpc =
        pool.hand.ec2.describe_subnets().subnet_ids(&pool.surroundings.zones[0].1).send().await.unwrap();
    let vpc = vpc.subnets()[0].vpc_id().unwrap().to_owned();
    let subnet = pool.hand.subnet(&vpc, 9, "us-east-1e").await;
    pool.inputs["captf_cluster_outputs"]["failure_domains"]["us-east-1e"] = json!({"subnet_id": subnet});
    pool.set("failure_domains", json!(["us-east-1e"]));
    pool.finds("instance_type.zones", "fail", "us-east-1e");
}

#[tokio::test]
async fn addresses() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    pool.set("replicas", 400.into());
    pool.finds("subnets.addresses", "warning", "twice the size of 400");
    pool.set("replicas", 800.into());
    pool.finds("subnets.addresses", "fail", "for a pool of 800");
}

#[tokio::test]
async fn quotas() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    pool.finds("quota.vcpus", "pass", "On-Demand quota: 10000 vCPUs");
    // A quota of no other family's instances: the double knows none of G.
    pool.set("instance_type", "g4dn.xlarge".into());
    pool.finds("quota.vcpus", "skipped", "no such quota");
}

#[tokio::test]
async fn an_account_that_is_not_active_yet() {
    let Some(pool) = Pool::with_roles().await else { return };
    let message = "You are not subscribed to this service.";
    let rule = json!({"operation": "DescribeI*", "kind": "error", "status": 401, "code": "OptInRequired",
                      "message": message});
    pool.faults(&json!([rule]));
    let report = pool.doctor().exits(1).json();
    let reads = report["checks"].as_array().unwrap().iter().find(|one| one["id"] == "permissions.reads");
    assert_eq!(reads.unwrap()["status"], "fail", "{report:#}");
    assert!(reads.unwrap().to_string().contains(message), "{report:#}");
}

#[tokio::test]
async fn a_launch_that_ec2_refuses() {
    let Some(pool) = Pool::with_roles().await else { return };
    pool.apply();
    let refused = json!({"operation": "RunInstances", "kind": "error", "status": 400,
                         "code": "InvalidParameterValue", "message": "Invalid IAM Instance Profile name"});
    pool.faults(&json!([refused]));
    pool.finds("permissions.launch", "fail", "Invalid IAM Instance Profile name");
}

#[tokio::test]
async fn a_wrong_region() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    pool.inputs["captf_cluster_outputs"]["region"] = "eu-west-1".into();
    let outcome = pool.run(&["doctor"]).exits(1);
    let told = outcome.out.replace("\n      ", " ");
    assert!(told.contains("Wrong region: us-east-1a, us-east-1b, us-east-1c are not in eu-west-1"), "{told}");
    assert!(told.contains("wrong region or wrong account?"), "{told}");
}

/// It says why there is no connection, rather than how long it has waited.
#[tokio::test]
async fn no_connection() {
    let Some(pool) = Pool::new().await else { return };
    let mut command = pool.command(&["doctor", "--format", "json"]);
    // Nobody listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = command.env("AWS_ENDPOINT_URL", format!("http://{free}")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let check = &report["checks"][0];
    assert_eq!((&check["id"], &check["status"]), (&json!("credentials"), &json!("fail")), "{report:#}");
    assert_eq!(check["title"], "AWS cannot be reached");
    assert!(check["detail"].as_str().unwrap().starts_with("no connection to AWS: "), "{check:#}");
}

#[tokio::test]
async fn no_credentials() {
    let Some(pool) = Pool::new().await else { return };
    let mut command = pool.command(&["doctor", "--format", "json"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["checks"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&report["checks"][0]["id"], &report["checks"][0]["status"]),
        (&json!("credentials"), &json!("fail"))
    );
    assert_eq!(report["account"], Value::Null);
}

#[tokio::test]
async fn what_is_denied_is_skipped_where_only_doctor_looks_and_fails_where_all_do() {
    let Some(mut pool) = Pool::with_roles().await else { return };
    pool.set("ssh_key_name", "ops".into());
    let denied = |operations: &[&str]| {
        let rules: Vec<Value> =
            operations.iter().map(|one| json!({"operation": one, "kind": "denied"})).collect();
        pool.faults(&rules.into());
        let report = pool.doctor().json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks
            .into_iter()
            .filter(|check| check["status"] != "pass")
            .map(|check| format!("{} {}", check["id"].as_str().unwrap(), check["status"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let only_doctors = [
        "DescribeSubnets",
        "DescribeSecurityGroups",
        "DescribeKeyPairs",
        "DescribeInstanceTypes",
        "DescribeInstanceTypeOfferings",
        "GetInstanceProfile",
        "GetRole",
        "GetServiceQuota",
        "DescribeAccountLimits",
    ];
    assert_eq!(
        denied(&only_doctors),
        [
            "subnets skipped",
            "security_groups skipped",
            "instance_profile skipped",
            "instance_type skipped",
            "instance_type.zones skipped",
            "key_pair skipped",
            "limits.groups skipped",
            "quota.vcpus skipped",
            "roles.autoscaling skipped",
        ]
    );
    pool.hand.ec2.create_key_pair().key_name("ops").send().await.unwrap();
    assert_eq!(denied(&["DescribeInstanceRefreshes"]), ["permissions.reads fail"]);
    assert_eq!(denied(&["DescribeScheduledActions"]), ["permissions.reads warning"]);
    assert_eq!(denied(&["CreateLaunchTemplate"]), ["permissions.create_template fail"]);
    pool.faults(&json!([]));
    pool.apply();
    assert_eq!(denied(&["RunInstances"]), ["permissions.launch fail"]);
}
