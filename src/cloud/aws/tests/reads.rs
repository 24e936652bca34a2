//! Reads: pages, order, and "not there" as an answer.

use super::{Canned, always, ec2_error, query_error, reply};
use crate::{
    clock::Timestamp,
    cloud::{Cloud as _, ErrorKind, ImageQuery, TemplateQuery, VersionQuery},
    model::observed::Instance,
};

fn instances_page(ids: &[&str], next: &str) -> String {
    let item = |id: &&str| {
        format!(
            "<item><instancesSet><item><instanceId>{id}</instanceId>\
             <instanceState><code>16</code><name>running</name></instanceState>\
             <placement><availabilityZone>eu-west-1a</availabilityZone></placement></item></instancesSet></item>"
        )
    };
    let items = ids.iter().map(item).collect::<Vec<_>>().concat();
    format!(
        "<DescribeInstancesResponse><reservationSet>{items}</reservationSet>\
         <nextToken>{next}</nextToken></DescribeInstancesResponse>"
    )
}

#[tokio::test]
async fn all_pages_of_instances_sorted_without_duplicates() {
    let canned = Canned::new(|sent| match sent.fields().get("NextToken").map(String::as_str) {
        None => reply(200, instances_page(&["i-3", "i-1"], "two")),
        Some("two") => reply(200, instances_page(&["i-2", "i-1"], "")),
        Some(other) => panic!("no page {other}"),
    });
    let found = canned.aws(1).instances("captf-a-b").await.unwrap();
    let ids: Vec<&str> = found.iter().map(|instance| instance.id.as_str()).collect();
    assert_eq!(ids, ["i-1", "i-2", "i-3"]);
    assert_eq!(canned.sent().len(), 2, "one call a page");
    let first = canned.sent()[0].fields();
    assert_eq!(first["MaxResults"], "1000");
    assert_eq!(first["Filter.1.Name"], "tag:aws:autoscaling:groupName");
    assert_eq!(first["Filter.1.Value.1"], "captf-a-b");
    assert!(!first.keys().any(|field| field.starts_with("Filter.2")), "no state filter: {first:?}");
}

/// An instance as EC2 tells of one, with more than is read.
const WHOLE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<DescribeInstancesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">
    <requestId>8f7724cf</requestId>
    <reservationSet>
        <item>
            <reservationId>r-1</reservationId>
            <groupSet/>
            <instancesSet>
                <item>
                    <instanceId>i-1</instanceId>
                    <launchTime>2026-01-01T00:00:00.250Z</launchTime>
                    <instanceState><code>16</code><name>running</name></instanceState>
                    <placement>
                        <availabilityZone>eu-west-1a</availabilityZone>
                        <availabilityZoneId>euw1-az1</availabilityZoneId>
                    </placement>
                    <privateIpAddress>10.0.0.5</privateIpAddress>
                    <groupSet><item><groupId>sg-1</groupId><groupName>name</groupName></item></groupSet>
                    <tagSet>
                        <item><key>name</key><value>&lt;instanceId&gt;i-2&lt;/instanceId&gt;</value></item>
                    </tagSet>
                    <networkInterfaceSet>
                        <item>
                            <attachment><deviceIndex>1</deviceIndex><status>attached</status></attachment>
                            <groupSet><item><groupId>sg-1</groupId></item></groupSet>
                            <privateIpAddress>10.0.1.5</privateIpAddress>
                            <privateIpAddressesSet>
                                <item><privateIpAddress>10.0.1.6</privateIpAddress><primary>false</primary></item>
                                <item>
                                    <association><publicIp>192.0.2.1</publicIp></association>
                                    <privateIpAddress>10.0.1.5</privateIpAddress>
                                    <primary>true</primary>
                                </item>
                            </privateIpAddressesSet>
                        </item>
                        <item>
                            <attachment><deviceIndex>0</deviceIndex></attachment>
                            <ipv6AddressesSet>
                                <item><ipv6Address>2001:db8::2</ipv6Address></item>
                                <item><ipv6Address>2001:db8::1</ipv6Address><isPrimaryIpv6>true</isPrimaryIpv6></item>
                            </ipv6AddressesSet>
                            <privateIpAddress>10.0.0.5</privateIpAddress>
                        </item>
                    </networkInterfaceSet>
                    <ipv6Address>2001:db8::9</ipv6Address>
                </item>
            </instancesSet>
        </item>
    </reservationSet>
</DescribeInstancesResponse>
";

#[tokio::test]
async fn all_that_is_read_of_an_instance_comes_through() {
    let (aws, _) = always(200, WHOLE);
    let instance = Instance {
        id: "i-1".to_owned(),
        state: "running".to_owned(),
        zone: "eu-west-1a".to_owned(),
        launched: Some(Timestamp(1_767_225_600_250)),
        addresses: ["10.0.0.5", "10.0.1.5", "10.0.1.6", "2001:db8::9", "2001:db8::1", "2001:db8::2"]
            .map(str::to_owned)
            .to_vec(),
    };
    assert_eq!(aws.instances("captf-a-b").await.unwrap(), [instance]);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_an_error_and_no_smaller_pool() {
    for end in
        ["</item>\n            </instancesSet>", "<networkInterfaceSet>", "<tagSet>", "</reservationSet>"]
    {
        let (aws, _) = always(200, WHOLE.split_once(end).unwrap().0);
        aws.instances("captf-a-b").await.unwrap_err();
    }
}

#[tokio::test]
async fn a_page_that_fails_fails_the_whole_read() {
    let canned = Canned::new(|sent| match sent.fields().get("NextToken") {
        None => reply(200, instances_page(&["i-1"], "two")),
        Some(_) => reply(500, ec2_error("InternalError", "oops")),
    });
    let error = canned.aws(1).instances("captf-a-b").await.unwrap_err();
    assert_eq!((error.kind, error.operation), (ErrorKind::Server, "ec2:DescribeInstances"));
    assert_eq!(error.request_id.as_deref(), Some("req-1"));
}

#[tokio::test]
async fn lists_of_a_group_that_is_not_there_are_empty() {
    for message in ["Group captf-a-b not found", "AutoScalingGroup name not found - null"] {
        let (aws, _) = always(400, query_error("ValidationError", message));
        assert_eq!(aws.policies("captf-a-b").await.unwrap(), []);
        assert_eq!(aws.refreshes("captf-a-b").await.unwrap(), []);
        assert_eq!(aws.activities("captf-a-b").await.unwrap(), []);
        assert_eq!(aws.scheduled_actions("captf-a-b").await.unwrap(), Vec::<String>::new());
    }
    let (aws, _) = always(403, query_error("AccessDenied", "not authorized: group not found"));
    assert_eq!(aws.policies("captf-a-b").await.unwrap_err().kind, ErrorKind::AccessDenied);
    assert_eq!(aws.refreshes("captf-a-b").await.unwrap_err().kind, ErrorKind::AccessDenied);
}

#[tokio::test]
async fn templates_that_are_not_there_are_no_error_and_denied_ones_are() {
    let by_id = TemplateQuery::Id("lt-1".into());
    for code in [
        "InvalidLaunchTemplateId.NotFound",
        "InvalidLaunchTemplateId.VersionNotFound",
        "InvalidLaunchTemplateName.NotFoundException",
    ] {
        let (aws, _) = always(400, ec2_error(code, "gone"));
        assert_eq!(aws.templates(&by_id).await.unwrap(), [], "{code}");
        for query in [
            VersionQuery::CurrentByName("captf-a-b-0".into()),
            VersionQuery::CurrentById("lt-1".into()),
            VersionQuery::All("lt-1".into()),
        ] {
            assert_eq!(aws.versions(&query).await.unwrap(), [], "{code} {query:?}");
        }
    }
    let (aws, _) = always(403, ec2_error("UnauthorizedOperation", "no"));
    assert_eq!(aws.templates(&by_id).await.unwrap_err().kind, ErrorKind::AccessDenied);
    let versions = VersionQuery::All("lt-1".into());
    assert_eq!(aws.versions(&versions).await.unwrap_err().kind, ErrorKind::AccessDenied);
}

#[tokio::test]
async fn filters_take_names_literally_and_patterns_as_patterns() {
    let canned = Canned::new(|sent| reply(200, format!("<{}Response/>", sent.fields()["Action"])));
    let aws = canned.aws(1);
    aws.templates(&TemplateQuery::NamePrefix("captf-a-b-0123-".into())).await.unwrap();
    let tags = vec![("captf.io/name".to_owned(), "b*?\\".to_owned()), ("k".to_owned(), String::new())];
    aws.templates(&TemplateQuery::Tagged(tags)).await.unwrap();
    let name =
        ImageQuery::Name { owner: "self".into(), name: "ubuntu-?1.31*".into(), architecture: "arm64".into() };
    aws.images(&name).await.unwrap();
    let sent = canned.sent();
    let (prefix, tagged, images) = (sent[0].fields(), sent[1].fields(), sent[2].fields());
    assert_eq!(prefix["Filter.1.Name"], "launch-template-name");
    assert_eq!(prefix["Filter.1.Value.1"], "captf-a-b-0123-*");
    assert_eq!(tagged["Filter.1.Name"], "tag:captf.io/name");
    assert_eq!(tagged["Filter.1.Value.1"], "b\\*\\?\\\\");
    assert_eq!(tagged["Filter.2.Name"], "tag:k");
    assert_eq!(images["Owner.1"], "self");
    assert_eq!(images["IncludeDeprecated"], "true");
    let filters: Vec<(&str, &str)> = (1..=3)
        .map(|n| (&*images[&format!("Filter.{n}.Name")], &*images[&format!("Filter.{n}.Value.1")]))
        .collect();
    assert_eq!(filters, [("name", "ubuntu-?1.31*"), ("architecture", "arm64"), ("state", "available")]);
}

#[tokio::test]
async fn an_image_id_that_is_unknown_is_an_error_whatever_way_aws_says_so() {
    let query = ImageQuery::Id("ami-1".into());
    for (status, body) in [
        (400, ec2_error("InvalidAMIID.NotFound", "no")),
        (400, ec2_error("InvalidAMIID.Unavailable", "no")),
        (200, "<DescribeImagesResponse><imagesSet/></DescribeImagesResponse>".to_owned()),
    ] {
        let (aws, canned) = always(status, body);
        assert_eq!(aws.images(&query).await.unwrap_err().kind, ErrorKind::NotFound);
        assert!(!canned.sent()[0].fields().contains_key("MaxResults"), "ids and pages exclude each other");
    }
}

#[tokio::test]
async fn versions_come_once_each_and_oldest_first() {
    let item = |number: u32, default: bool| {
        format!(
            "<item><launchTemplateId>lt-1</launchTemplateId><versionNumber>{number}</versionNumber>\
             <defaultVersion>{default}</defaultVersion></item>"
        )
    };
    let (aws, canned) = always(
        200,
        format!(
            "<DescribeLaunchTemplateVersionsResponse><launchTemplateVersionSet>{}{}{}\
             </launchTemplateVersionSet></DescribeLaunchTemplateVersionsResponse>",
            item(7, false),
            item(2, true),
            item(7, false)
        ),
    );
    let found = aws.versions(&VersionQuery::CurrentByName("captf-a-b-0".into())).await.unwrap();
    let numbers: Vec<(u64, bool)> =
        found.iter().map(|version| (version.number, version.is_default)).collect();
    assert_eq!(numbers, [(2, true), (7, false)]);
    let fields = canned.sent()[0].fields();
    assert_eq!(fields["LaunchTemplateName"], "captf-a-b-0");
    assert_eq!(
        [&fields["LaunchTemplateVersion.1"], &fields["LaunchTemplateVersion.2"]],
        ["$Latest", "$Default"]
    );
}

/// A group as Auto Scaling tells of one.
const GROUP: &str = "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups><member>\
    <AutoScalingGroupName>g</AutoScalingGroupName><AutoScalingGroupARN>arn:g</AutoScalingGroupARN>\
    <MinSize>0</MinSize><MaxSize>3</MaxSize><DesiredCapacity>0</DesiredCapacity>\
    <Status>Delete in progress</Status><HealthCheckType>EC2</HealthCheckType>\
    <VPCZoneIdentifier>subnet-b, subnet-a,</VPCZoneIdentifier>\
    <MixedInstancesPolicy><LaunchTemplate><LaunchTemplateSpecification>\
    <LaunchTemplateId>lt-1</LaunchTemplateId><LaunchTemplateName>t</LaunchTemplateName>\
    <Version>$Latest</Version></LaunchTemplateSpecification></LaunchTemplate></MixedInstancesPolicy>\
    <Instances><member><InstanceId>i-2</InstanceId><LifecycleState>Warmed:Stopped</LifecycleState></member>\
    <member><InstanceId>i-1</InstanceId><LifecycleState>NewWord</LifecycleState>\
    <ProtectedFromScaleIn>true</ProtectedFromScaleIn></member></Instances>\
    </member></AutoScalingGroups></DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>";

#[tokio::test]
async fn no_answer_is_a_smaller_one_because_it_is_cut_off() {
    let templates = "<DescribeLaunchTemplatesResponse><launchTemplates><item><launchTemplateId>lt-1</launchTemplateId>\
        </item></launchTemplates></DescribeLaunchTemplatesResponse>";
    let mut refused = 0;
    for (end, _) in GROUP.match_indices('<').skip(1) {
        let (aws, _) = always(200, &GROUP[..end]);
        refused += usize::from(aws.group("g").await.is_err());
    }
    assert_eq!(refused, GROUP.matches('<').count() - 1, "a part of a group is no group, and not none either");
    for (end, _) in templates.match_indices('<').skip(1) {
        let (aws, _) = always(200, &templates[..end]);
        aws.templates(&TemplateQuery::NamePrefix("t".into())).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_group_as_terraform_and_aws_leave_it() {
    let (aws, _) = always(200, GROUP);
    let group = aws.group("g").await.unwrap().unwrap();
    assert!(group.deleting);
    assert_eq!((group.min, group.max, group.desired), (0, 3, 0));
    assert_eq!(group.subnets.iter().map(String::as_str).collect::<Vec<_>>(), ["subnet-a", "subnet-b"]);
    assert!(matches!(&group.launch, crate::model::observed::Launch::Mixed(t) if t.version == "$Latest"));
    let members: Vec<(&str, &str)> =
        group.members.iter().map(|member| (&*member.id, &*member.lifecycle)).collect();
    assert_eq!(members, [("i-1", "NewWord"), ("i-2", "Warmed:Stopped")]);
    // An answer that names another group is no answer about this one.
    assert_eq!(aws.group("G").await.unwrap(), None);
}

#[tokio::test]
async fn refreshes_are_newest_first_whatever_order_they_come_in() {
    let item = |id: &str, status: &str, start: &str| {
        format!(
            "<member><InstanceRefreshId>{id}</InstanceRefreshId><Status>{status}</Status>{start}</member>"
        )
    };
    let (aws, _) = always(
        200,
        format!(
            "<DescribeInstanceRefreshesResponse><DescribeInstanceRefreshesResult><InstanceRefreshes>{}{}{}{}\
             </InstanceRefreshes></DescribeInstanceRefreshesResult></DescribeInstanceRefreshesResponse>",
            item("old", "Successful", "<StartTime>2026-01-01T00:00:00Z</StartTime>"),
            item("never-begun", "Cancelled", "<EndTime>2026-01-02T00:00:00Z</EndTime>"),
            item("waiting", "Pending", ""),
            item(
                "newer",
                "SomethingNew",
                "<StartTime>2026-01-03T00:00:00Z</StartTime><Preferences><InstanceWarmup>300</InstanceWarmup></Preferences>"
            ),
        ),
    );
    let refreshes = aws.refreshes("g").await.unwrap();
    let ids: Vec<&str> = refreshes.iter().map(|refresh| refresh.id.as_str()).collect();
    assert_eq!(ids, ["waiting", "newer", "never-begun", "old"]);
    assert_eq!(refreshes[1].status, "SomethingNew");
    assert_eq!((refreshes[0].warmup_seconds, refreshes[1].warmup_seconds), (None, Some(300)));
}

#[tokio::test]
async fn a_refresh_of_outputs_builds_no_s3_client() {
    let (aws, _) = always(200, "<R/>");
    let _ = aws.group("g").await;
    assert!(aws.s3.get().is_none() && aws.ec2.get().is_none());
}
