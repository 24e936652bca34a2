//! Writes: every field that AWS receives, and none besides.

use std::collections::{BTreeMap, BTreeSet};

use super::{Canned, always, reply};
use crate::{
    cloud::{Cloud as _, ErrorKind},
    model::resources::{Answer, CreateGroup, TemplateData, TemplateRef, UpdateGroup, Write},
};

/// What one write sends, as `name=value` in order of the names.
async fn sent(write: Write) -> Vec<String> {
    let (aws, canned) = always(200, "<R/>");
    // Some writes miss an id in this answer; what they sent is all that matters here.
    let _ = aws.perform(&write).await;
    let [sent] = &canned.sent()[..] else { panic!("one request") };
    sent.fields().into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_new_group_is_spelled_out() {
    let group = CreateGroup {
        name: "g".into(),
        template: TemplateRef::Named("g-0".into()),
        min: 0,
        max: 0,
        desired: 0,
        subnets: vec!["subnet-b".into(), "subnet-a".into()],
        capacity_rebalance: false,
        tags: tags(&[("k", "v w"), ("e", "")]),
    };
    assert_eq!(
        sent(Write::CreateGroup(group)).await,
        [
            "Action=CreateAutoScalingGroup",
            "AutoScalingGroupName=g",
            "CapacityRebalance=false",
            "DesiredCapacity=0",
            "HealthCheckType=EC2",
            "LaunchTemplate.LaunchTemplateName=g-0",
            "LaunchTemplate.Version=$Latest",
            "MaxSize=0",
            "MinSize=0",
            "Tags.member.1.Key=e",
            "Tags.member.1.PropagateAtLaunch=false",
            "Tags.member.1.ResourceId=g",
            "Tags.member.1.ResourceType=auto-scaling-group",
            "Tags.member.1.Value=",
            "Tags.member.2.Key=k",
            "Tags.member.2.PropagateAtLaunch=false",
            "Tags.member.2.ResourceId=g",
            "Tags.member.2.ResourceType=auto-scaling-group",
            "Tags.member.2.Value=v w",
            "VPCZoneIdentifier=subnet-b,subnet-a",
        ]
    );
}

#[tokio::test]
async fn an_update_sends_what_changes_and_nothing_else() {
    let bounds = UpdateGroup { name: "g".into(), min: Some(0), max: Some(5), ..UpdateGroup::default() };
    assert_eq!(
        sent(Write::UpdateGroup(bounds)).await,
        ["Action=UpdateAutoScalingGroup", "AutoScalingGroupName=g", "MaxSize=5", "MinSize=0"]
    );
    let template = TemplateRef::Id("lt-1".into());
    let rest = UpdateGroup {
        name: "g".into(),
        template: Some(template),
        desired: Some(0),
        subnets: Some(vec!["subnet-a".into(), "subnet-b".into()]),
        health_check_type: Some("EC2".into()),
        capacity_rebalance: Some(false),
        ..UpdateGroup::default()
    };
    assert_eq!(
        sent(Write::UpdateGroup(rest)).await,
        [
            "Action=UpdateAutoScalingGroup",
            "AutoScalingGroupName=g",
            "CapacityRebalance=false",
            "DesiredCapacity=0",
            "HealthCheckType=EC2",
            "LaunchTemplate.LaunchTemplateId=lt-1",
            "LaunchTemplate.Version=$Latest",
            "VPCZoneIdentifier=subnet-a,subnet-b",
        ]
    );
}

#[tokio::test]
async fn an_instance_refresh_rolls_ahead_and_skips_what_matches() {
    assert_eq!(
        sent(Write::StartRefresh { group: "g".into(), warmup_seconds: 0 }).await,
        [
            "Action=StartInstanceRefresh",
            "AutoScalingGroupName=g",
            "Preferences.InstanceWarmup=0",
            "Preferences.MaxHealthyPercentage=200",
            "Preferences.MinHealthyPercentage=100",
            "Preferences.ScaleInProtectedInstances=Refresh",
            "Preferences.SkipMatching=true",
            "Preferences.StandbyInstances=Ignore",
            "Strategy=Rolling",
        ]
    );
}

#[tokio::test]
async fn an_instance_refresh_without_an_id_is_not_taken_for_one() {
    let answer = |result: &str| {
        format!(
            "<StartInstanceRefreshResponse><StartInstanceRefreshResult>{result}</StartInstanceRefreshResult>\
             </StartInstanceRefreshResponse>"
        )
    };
    for nothing in ["", "<InstanceRefreshId></InstanceRefreshId>"] {
        let (aws, _) = always(200, answer(nothing));
        let start = Write::StartRefresh { group: "g".into(), warmup_seconds: 0 };
        let error = aws.perform(&start).await.unwrap_err();
        assert!(error.message.contains("no instance refresh id"), "{nothing:?}: {error}");
    }
}

#[tokio::test]
async fn a_policy_has_metric_and_target_alone() {
    assert_eq!(
        sent(Write::PutPolicy { group: "g".into(), name: "p".into(), target: 60.5 }).await,
        [
            "Action=PutScalingPolicy",
            "AutoScalingGroupName=g",
            "PolicyName=p",
            "PolicyType=TargetTrackingScaling",
            "TargetTrackingConfiguration.PredefinedMetricSpecification.PredefinedMetricType=ASGAverageCPUUtilization",
            "TargetTrackingConfiguration.TargetValue=60.5",
        ]
    );
}

#[tokio::test]
async fn small_writes() {
    let group = || "g".to_owned();
    let keys = || BTreeSet::from(["k".to_owned()]);
    let template = || "lt-1".to_owned();
    for (write, expected) in [
        (
            Write::UntagGroup { group: group(), keys: keys() },
            "Action=DeleteTags Tags.member.1.Key=k Tags.member.1.ResourceId=g \
             Tags.member.1.ResourceType=auto-scaling-group",
        ),
        (
            Write::UntagTemplate { template_id: template(), keys: keys() },
            "Action=DeleteTags ResourceId.1=lt-1 Tag.1.Key=k",
        ),
        (
            Write::TagTemplate { template_id: template(), tags: tags(&[("k", "")]) },
            "Action=CreateTags ResourceId.1=lt-1 Tag.1.Key=k Tag.1.Value=",
        ),
        (
            Write::DeleteGroup { group: group(), force: false },
            "Action=DeleteAutoScalingGroup AutoScalingGroupName=g ForceDelete=false",
        ),
        (
            Write::DeleteWarmPool { group: group() },
            "Action=DeleteWarmPool AutoScalingGroupName=g ForceDelete=true",
        ),
        (
            Write::SuspendProcess { group: group(), process: "AZRebalance".into() },
            "Action=SuspendProcesses AutoScalingGroupName=g ScalingProcesses.member.1=AZRebalance",
        ),
        (
            Write::ResumeProcess { group: group(), process: "Terminate".into() },
            "Action=ResumeProcesses AutoScalingGroupName=g ScalingProcesses.member.1=Terminate",
        ),
        (
            Write::Unprotect { group: group(), instances: vec!["i-1".into(), "i-2".into()] },
            "Action=SetInstanceProtection AutoScalingGroupName=g InstanceIds.member.1=i-1 \
             InstanceIds.member.2=i-2 ProtectedFromScaleIn=false",
        ),
        (
            Write::DeletePolicy { group: group(), name: "p".into() },
            "Action=DeletePolicy AutoScalingGroupName=g PolicyName=p",
        ),
        (
            Write::DeleteScheduledAction { group: group(), name: "s".into() },
            "Action=DeleteScheduledAction AutoScalingGroupName=g ScheduledActionName=s",
        ),
        (Write::CancelRefresh { group: group() }, "Action=CancelInstanceRefresh AutoScalingGroupName=g"),
        (
            Write::DeleteTemplateVersions { template_id: template(), versions: vec![3, 1] },
            "Action=DeleteLaunchTemplateVersions LaunchTemplateId=lt-1 LaunchTemplateVersion.1=3 \
             LaunchTemplateVersion.2=1",
        ),
        (
            Write::DeleteTemplate { template_id: template() },
            "Action=DeleteLaunchTemplate LaunchTemplateId=lt-1",
        ),
    ] {
        assert_eq!(sent(write).await.join(" "), expected);
    }
}

#[tokio::test]
async fn the_default_version_is_set_by_number_or_not_at_all() {
    let write = |version| Write::SetDefaultVersion { template_id: "lt-1".into(), version };
    let fields = sent(write(Some(7))).await;
    assert!(fields.contains(&"SetDefaultVersion=7".to_owned()), "{fields:?}");
    let (aws, canned) = always(200, "<R/>");
    assert_eq!(aws.perform(&write(None)).await.unwrap_err().kind, ErrorKind::Validation);
    assert!(canned.sent().is_empty());
}

#[tokio::test]
async fn a_new_version_inherits_nothing_and_its_token_lives_as_long_as_its_call() {
    let canned = Canned::new(|_| reply(503, ""));
    let aws = canned.aws(3);
    let data = Box::new(TemplateData { image_id: Some("ami-1".into()), ..TemplateData::default() });
    let write =
        Write::CreateTemplateVersion { template_id: "lt-1".into(), description: "pool b".into(), data };
    for _ in 0..2 {
        assert_eq!(aws.perform(&write).await.unwrap_err().kind, ErrorKind::Server);
    }
    let fields: Vec<_> = canned.sent().iter().map(super::Sent::fields).collect();
    assert!(fields.iter().all(|fields| !fields.contains_key("SourceVersion")));
    assert!(fields.iter().all(|fields| fields["LaunchTemplateData.ImageId"] == "ami-1"));
    let tokens: Vec<&str> = fields.iter().map(|fields| &*fields["ClientToken"]).collect();
    assert_eq!(tokens.len(), 6, "three attempts a call");
    assert!(tokens[..3].iter().all(|token| *token == tokens[0]));
    assert!(tokens[3..].iter().all(|token| *token == tokens[3]));
    assert_ne!(tokens[0], tokens[3]);
}

#[tokio::test]
async fn a_new_template_is_born_with_its_tags_and_answers_with_its_id() {
    let (aws, canned) = always(
        200,
        "<CreateLaunchTemplateResponse><launchTemplate><launchTemplateId>lt-9</launchTemplateId>\
         </launchTemplate></CreateLaunchTemplateResponse>",
    );
    let write = Write::CreateTemplate {
        name: "g-0".into(),
        description: "pool b".into(),
        data: Box::new(TemplateData {
            user_data: Some("#cloud-boothook\n".into()),
            ..TemplateData::default()
        }),
        tags: tags(&[("captf.io/name", "b")]),
    };
    assert_eq!(aws.perform(&write).await.unwrap(), Answer::Template { id: "lt-9".into() });
    let fields = canned.sent()[0].fields();
    assert_eq!(fields["LaunchTemplateName"], "g-0");
    assert_eq!(fields["VersionDescription"], "pool b");
    assert_eq!(fields["LaunchTemplateData.UserData"], "I2Nsb3VkLWJvb3Rob29rCg==");
    assert_eq!(fields["TagSpecification.1.ResourceType"], "launch-template");
    assert_eq!(fields["TagSpecification.1.Tag.1.Key"], "captf.io/name");
    assert!(!fields["ClientToken"].is_empty());
}

#[tokio::test]
async fn versions_that_were_kept_are_an_error_and_those_gone_already_are_not() {
    let answer = |code: &str| {
        format!(
            "<DeleteLaunchTemplateVersionsResponse><unsuccessfullyDeletedLaunchTemplateVersionSet><item>\
             <versionNumber>3</versionNumber><responseError><code>{code}</code><message>why</message>\
             </responseError></item></unsuccessfullyDeletedLaunchTemplateVersionSet>\
             </DeleteLaunchTemplateVersionsResponse>"
        )
    };
    let write = Write::DeleteTemplateVersions { template_id: "lt-1".into(), versions: vec![3] };
    let (aws, _) = always(200, answer("launchTemplateVersionDoesNotExist"));
    assert_eq!(aws.perform(&write).await.unwrap(), Answer::Done);
    let (aws, _) = always(200, answer("unexpectedError"));
    let error = aws.perform(&write).await.unwrap_err();
    assert!(error.message.contains("version 3: unexpectedError: why"), "{error}");
}
