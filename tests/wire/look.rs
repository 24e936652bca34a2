//! What AWS holds of a pool, seen by somebody else.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_autoscaling::types::{AutoScalingGroup, InstanceRefresh, ScalingPolicy};
use aws_sdk_ec2::types::{Filter, Instance, LaunchTemplate, LaunchTemplateVersion};
use aws_sdk_s3::operation::head_object::HeadObjectOutput;

use crate::harness::Pool;

impl Pool {
    pub(crate) async fn find_group(&self) -> Option<AutoScalingGroup> {
        let request = self.hand.autoscaling.describe_auto_scaling_groups();
        let answer = request.auto_scaling_group_names(&self.names.group).send().await.unwrap();
        answer.auto_scaling_groups().first().cloned()
    }

    pub(crate) async fn group(&self) -> AutoScalingGroup {
        self.find_group().await.expect("the group is there")
    }

    /// Minimum, maximum, desired capacity.
    pub(crate) async fn capacity(&self) -> [i32; 3] {
        let group = self.group().await;
        [group.min_size(), group.max_size(), group.desired_capacity()].map(|n| n.unwrap())
    }

    /// The members that the group lists.
    pub(crate) async fn members(&self) -> BTreeSet<String> {
        self.group().await.instances().iter().map(|m| m.instance_id().unwrap().to_owned()).collect()
    }

    pub(crate) async fn group_tags(&self) -> BTreeMap<String, String> {
        let tag = |tag: &aws_sdk_autoscaling::types::TagDescription| {
            assert_eq!(tag.propagate_at_launch(), Some(false), "{tag:?}");
            (tag.key().unwrap().to_owned(), tag.value().unwrap_or_default().to_owned())
        };
        self.group().await.tags().iter().map(tag).collect()
    }

    pub(crate) async fn subnets(&self) -> BTreeSet<String> {
        self.group().await.vpc_zone_identifier().unwrap().split(',').map(ToOwned::to_owned).collect()
    }

    pub(crate) async fn machines(&self) -> Vec<Instance> {
        let filter =
            Filter::builder().name("tag:aws:autoscaling:groupName").values(&self.names.group).build();
        let answer = self.hand.ec2.describe_instances().filters(filter).send().await.unwrap();
        answer.reservations().iter().flat_map(|r| r.instances().to_vec()).collect()
    }

    /// All launch templates of the account.
    pub(crate) async fn templates(&self) -> Vec<LaunchTemplate> {
        let answer = self.hand.ec2.describe_launch_templates().send().await.unwrap();
        answer.launch_templates().to_vec()
    }

    /// The one launch template.
    pub(crate) async fn template(&self) -> LaunchTemplate {
        let mut templates = self.templates().await;
        assert_eq!(templates.len(), 1, "{templates:?}");
        templates.remove(0)
    }

    /// The newest version of the one launch template.
    pub(crate) async fn version(&self) -> LaunchTemplateVersion {
        let template = self.template().await;
        let id = template.launch_template_id().unwrap();
        let request = self.hand.ec2.describe_launch_template_versions().launch_template_id(id);
        let answer = request.versions("$Latest").send().await.unwrap();
        answer.launch_template_versions()[0].clone()
    }

    pub(crate) async fn policies(&self) -> Vec<ScalingPolicy> {
        let request = self.hand.autoscaling.describe_policies();
        let answer = request.auto_scaling_group_name(&self.names.group).send().await.unwrap();
        answer.scaling_policies().to_vec()
    }

    /// Newest first. Looking moves none of them on: tests say when.
    pub(crate) async fn refreshes(&self) -> Vec<InstanceRefresh> {
        self.behaviour(serde_json::json!({"refresh_by_looks": false}));
        let request = self.hand.autoscaling.describe_instance_refreshes();
        let answer = request.auto_scaling_group_name(&self.names.group).send().await.unwrap();
        answer.instance_refreshes().to_vec()
    }

    pub(crate) async fn find_object(&self) -> Option<HeadObjectOutput> {
        let request =
            self.hand.s3.head_object().bucket(&self.surroundings.bucket).key(&self.names.object_key);
        request.checksum_mode(aws_sdk_s3::types::ChecksumMode::Enabled).send().await.ok()
    }

    pub(crate) async fn object_body(&self) -> Vec<u8> {
        let request = self.hand.s3.get_object().bucket(&self.surroundings.bucket).key(&self.names.object_key);
        request.send().await.unwrap().body.collect().await.unwrap().into_bytes().to_vec()
    }

    pub(crate) async fn object_tags(&self) -> BTreeMap<String, String> {
        let request =
            self.hand.s3.get_object_tagging().bucket(&self.surroundings.bucket).key(&self.names.object_key);
        let answer = request.send().await.unwrap();
        answer.tag_set().iter().map(|tag| (tag.key().to_owned(), tag.value().to_owned())).collect()
    }
}
