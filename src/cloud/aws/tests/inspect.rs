//! What only a check-up asks: filters, "not there" as an answer, dry runs.

use super::{Canned, always, ec2_error, query_error, reply};
use crate::{
    cloud::{Cloud as _, ErrorKind},
    contract::request::Tags,
    model::checkup::{InstanceType, Question, Rehearsal, Reply, Subnet},
};

#[tokio::test]
async fn subnets_are_asked_for_by_filter_so_that_one_that_is_missing_hides_no_other() {
    let canned = Canned::new(|_| {
        let subnet = "<item><subnetId>subnet-0a</subnetId><vpcId>vpc-1</vpcId><availabilityZone>eu-west-1a\
                      </availabilityZone><availableIpAddressCount>7</availableIpAddressCount></item>";
        reply(
            200,
            format!("<DescribeSubnetsResponse><subnetSet>{subnet}</subnetSet></DescribeSubnetsResponse>"),
        )
    });
    let question = Question::Subnets(vec!["subnet-0a".into(), "subnet-0b".into()]);
    let wanted =
        Subnet { id: "subnet-0a".into(), zone: "eu-west-1a".into(), vpc: "vpc-1".into(), free_addresses: 7 };
    assert_eq!(canned.aws(1).answer(&question).await.unwrap(), Reply::Subnets(vec![wanted]));
    let sent = canned.sent()[0].fields();
    assert_eq!((&*sent["Filter.1.Name"], &*sent["Filter.1.Value.2"]), ("subnet-id", "subnet-0b"));
    assert!(!sent.keys().any(|field| field.starts_with("SubnetId")), "{sent:?}");
}

#[tokio::test]
async fn what_is_not_there_is_an_answer_and_what_is_denied_is_an_error() {
    let missing = query_error("NoSuchEntity", "not found");
    let (aws, _) = always(404, missing);
    let profile = Question::InstanceProfile("workers".into());
    let role = Question::Role("AWSServiceRoleForAutoScaling".into());
    assert_eq!(aws.answer(&profile).await.unwrap(), Reply::InstanceProfile(None));
    assert_eq!(aws.answer(&role).await.unwrap(), Reply::There(false));
    let (aws, _) = always(403, query_error("AccessDenied", "no"));
    for (question, call) in [(profile, "iam:GetInstanceProfile"), (role, "iam:GetRole")] {
        let error = aws.answer(&question).await.unwrap_err();
        assert_eq!((error.kind, error.operation), (ErrorKind::AccessDenied, call));
    }
    let json = |code: &str| format!(r#"{{"__type": "{code}", "message": "no"}}"#);
    let quota = Question::Quota("L-1216C47A".into());
    let (aws, _) = always(400, json("NoSuchResourceException"));
    assert_eq!(aws.answer(&quota).await.unwrap(), Reply::Quota(None));
    let (aws, _) = always(400, json("AccessDeniedException"));
    assert_eq!(aws.answer(&quota).await.unwrap_err().kind, ErrorKind::AccessDenied);
    let (aws, _) = always(200, r#"{"Quota": {"QuotaCode": "L-1216C47A", "Value": 64.0}}"#);
    assert_eq!(aws.answer(&quota).await.unwrap(), Reply::Quota(Some(64.0)));
}

#[tokio::test]
async fn instance_types_and_their_zones() {
    let canned = Canned::new(|sent| match &*sent.fields()["Action"] {
        "DescribeInstanceTypes" => reply(
            200,
            "<DescribeInstanceTypesResponse><instanceTypeSet><item><instanceType>m7g.large</instanceType>\
             <processorInfo><supportedArchitectures><item>arm64</item></supportedArchitectures></processorInfo>\
             <vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo></item></instanceTypeSet>\
             </DescribeInstanceTypesResponse>",
        ),
        _ => reply(
            200,
            "<DescribeInstanceTypeOfferingsResponse><instanceTypeOfferingSet><item>\
             <instanceType>m7g.large</instanceType><location>eu-west-1b</location></item>\
             </instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>",
        ),
    });
    let aws = canned.aws(1);
    let wanted = InstanceType { architectures: ["arm64".to_owned()].into(), vcpus: 2 };
    let found = aws.answer(&Question::InstanceType("m7g.large".into())).await.unwrap();
    assert_eq!(found, Reply::InstanceType(Some(wanted)));
    let none = aws.answer(&Question::InstanceType("m7g.nope".into())).await.unwrap();
    assert_eq!(none, Reply::InstanceType(None));
    let zones = aws.answer(&Question::Offerings("m7g.large".into())).await.unwrap();
    assert_eq!(zones, Reply::Zones(["eu-west-1b".to_owned()].into()));
    assert_eq!(canned.sent()[2].fields()["LocationType"], "availability-zone");
}

#[tokio::test]
async fn everything_that_is_tried_is_a_dry_run() {
    let template_id = "lt-0a".to_owned();
    let rehearsals = [
        Rehearsal::NewTemplate { name: "captf-x".into(), tags: Tags::from([("k".into(), "v".into())]) },
        Rehearsal::NewVersion { template_id: template_id.clone() },
        Rehearsal::DeleteTemplate { template_id: template_id.clone() },
        Rehearsal::Launch { template_id, subnet: "subnet-0a".into(), interface: Some(vec!["sg-0a".into()]) },
    ];
    for rehearsal in rehearsals {
        let question = Question::Rehearsal(rehearsal);
        let (aws, canned) = always(412, ec2_error("DryRunOperation", "Request would have succeeded"));
        assert_eq!(aws.answer(&question).await.unwrap(), Reply::Allowed);
        assert_eq!(canned.sent()[0].fields()["DryRun"], "true", "{question:?}");
        let (aws, _) = always(403, ec2_error("UnauthorizedOperation", "no"));
        assert_eq!(aws.answer(&question).await.unwrap_err().kind, ErrorKind::AccessDenied);
    }
}

#[tokio::test]
async fn a_launch_names_its_subnet_once_and_where_the_template_does() {
    let sent = async |interface: Option<Vec<String>>| {
        let (aws, canned) = always(412, ec2_error("DryRunOperation", "Request would have succeeded"));
        let launch = Rehearsal::Launch { template_id: "lt-0a".into(), subnet: "subnet-0a".into(), interface };
        aws.answer(&Question::Rehearsal(launch)).await.unwrap();
        canned.sent()[0].fields()
    };
    let alone = sent(None).await;
    assert_eq!(alone["SubnetId"], "subnet-0a");
    assert!(!alone.keys().any(|field| field.starts_with("NetworkInterface")), "{alone:?}");
    let within = sent(Some(vec!["sg-0a".into()])).await;
    assert_eq!(within["NetworkInterface.1.SubnetId"], "subnet-0a");
    assert_eq!(within["NetworkInterface.1.SecurityGroupId.1"], "sg-0a");
    assert!(!within.contains_key("SubnetId"), "{within:?}");
}
