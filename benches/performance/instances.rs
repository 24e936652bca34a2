//! `DescribeInstances` as EC2 answers it: of what it says about an instance, the program reads four things.

use machinepool::model::observed::Instance;

use super::{aws::EC2, xml::Xml};

/// What there is beside the instances themselves.
pub(crate) struct Page<'a> {
    pub(crate) group: &'a str,
    pub(crate) instances: &'a [Instance],
    pub(crate) next: Option<String>,
}

impl Page<'_> {
    pub(crate) fn to_xml(&self) -> String {
        Xml::document("DescribeInstancesResponse", EC2, |xml| {
            xml.leaf("requestId", "8f7724cf-496f-496e-8fe3-example00001");
            xml.list("reservationSet", "item", self.instances, |xml, instance| {
                let id = &instance.id[2..];
                xml.leaf("reservationId", format!("r-{id}"));
                xml.leaf("ownerId", "210987654321");
                xml.empty("groupSet");
                xml.list("instancesSet", "item", [instance], |xml, instance| item(xml, instance, self.group));
                xml.leaf("requesterId", "940372691376");
            });
            xml.leaf_if("nextToken", self.next.as_ref());
        })
    }
}

fn item(xml: &mut Xml, instance: &Instance, group: &str) {
    let address = instance.addresses.first().map_or("", String::as_str);
    let host = format!("ip-{}.ec2.internal", address.replace('.', "-"));
    xml.leaves(&[("instanceId", &instance.id), ("imageId", "ami-0a1b2c3d4e5f60718")]);
    xml.node("instanceState", |xml| xml.leaves(&[("code", "16"), ("name", &instance.state)]));
    xml.leaf("privateDnsName", &host);
    xml.leaves(&[("dnsName", ""), ("reason", ""), ("amiLaunchIndex", "0"), ("productCodes", "")]);
    xml.leaves(&[("instanceType", "m6i.large"), ("launchTime", "2026-01-31T12:00:00.000Z")]);
    xml.node("placement", |xml| {
        xml.leaf("availabilityZone", &instance.zone);
        xml.leaves(&[("availabilityZoneId", "use1-az1"), ("groupName", ""), ("tenancy", "default")]);
    });
    xml.node("monitoring", |xml| xml.leaf("state", "disabled"));
    xml.leaves(&[("subnetId", "subnet-0a1b2c3d4e5f60711"), ("vpcId", "vpc-0a1b2c3d4e5f60718")]);
    xml.leaves(&[("privateIpAddress", address), ("sourceDestCheck", "true")]);
    security_groups(xml);
    xml.leaves(&[("architecture", "x86_64"), ("rootDeviceType", "ebs"), ("rootDeviceName", "/dev/sda1")]);
    xml.list("blockDeviceMapping", "item", [()], |xml, ()| {
        xml.leaf("deviceName", "/dev/sda1");
        xml.node("ebs", |xml| {
            xml.leaf("volumeId", format!("vol-{}", &instance.id[2..]));
            xml.leaves(&[("status", "attached"), ("attachTime", "2026-01-31T12:00:01.000Z")]);
            xml.leaf("deleteOnTermination", "true");
        });
    });
    xml.leaf("virtualizationType", "hvm");
    xml.leaf("clientToken", format!("fleet-{}-0", &instance.id[2..]));
    tags(xml, instance, group);
    xml.leaf("hypervisor", "xen");
    xml.list("networkInterfaceSet", "item", [()], |xml, ()| interface(xml, instance, address, &host));
    xml.node("iamInstanceProfile", |xml| {
        xml.leaf("arn", "arn:aws:iam::210987654321:instance-profile/captf-team-a-demo-worker");
        xml.leaf("id", "AIPA0123456789EXAMPLE");
    });
    options(xml);
}

fn security_groups(xml: &mut Xml) {
    xml.list("groupSet", "item", [()], |xml, ()| {
        xml.leaves(&[("groupId", "sg-0a1b2c3d4e5f60712"), ("groupName", "captf-team-a-demo-worker")]);
    });
}

fn tags(xml: &mut Xml, instance: &Instance, group: &str) {
    let template = format!("lt-{}", &instance.id[2..]);
    let tags = [
        ("Name", group),
        ("aws:autoscaling:groupName", group),
        ("aws:ec2launchtemplate:id", &template),
        ("aws:ec2launchtemplate:version", "1"),
        ("captf.io/cluster", "demo"),
        ("captf.io/kind", "TerraformMachinePool"),
        ("captf.io/managed-by", "captf"),
        ("captf.io/name", "demo-pool-0"),
        ("captf.io/namespace", "team-a"),
        ("captf.io/template", "demo-worker-pool"),
        ("kubernetes.io/cluster/demo", "owned"),
    ];
    xml.list("tagSet", "item", tags, |xml, (key, value)| xml.leaves(&[("key", key), ("value", value)]));
}

fn interface(xml: &mut Xml, instance: &Instance, address: &str, host: &str) {
    let id = &instance.id[2..];
    xml.leaf("networkInterfaceId", format!("eni-{id}"));
    xml.leaves(&[("subnetId", "subnet-0a1b2c3d4e5f60711"), ("vpcId", "vpc-0a1b2c3d4e5f60718")]);
    xml.leaves(&[("description", ""), ("ownerId", "210987654321"), ("status", "in-use")]);
    xml.leaves(&[("macAddress", "02:de:ad:be:ef:01"), ("privateIpAddress", address)]);
    xml.leaves(&[("privateDnsName", host), ("sourceDestCheck", "true")]);
    security_groups(xml);
    xml.node("attachment", |xml| {
        xml.leaf("attachmentId", format!("eni-attach-{id}"));
        xml.leaves(&[("deviceIndex", "0"), ("status", "attached")]);
        xml.leaves(&[("attachTime", "2026-01-31T12:00:00.000Z"), ("deleteOnTermination", "true")]);
        xml.leaf("networkCardIndex", "0");
    });
    xml.list("privateIpAddressesSet", "item", [()], |xml, ()| {
        xml.leaves(&[("privateIpAddress", address), ("privateDnsName", host), ("primary", "true")]);
    });
    xml.empty("ipv6AddressesSet");
    xml.leaf("interfaceType", "interface");
    xml.node("operator", |xml| xml.leaf("managed", "false"));
}

fn options(xml: &mut Xml) {
    xml.leaves(&[("ebsOptimized", "false"), ("enaSupport", "true")]);
    xml.node("cpuOptions", |xml| xml.leaves(&[("coreCount", "1"), ("threadsPerCore", "2")]));
    xml.node("capacityReservationSpecification", |xml| xml.leaf("capacityReservationPreference", "open"));
    xml.node("hibernationOptions", |xml| xml.leaf("configured", "false"));
    xml.node("metadataOptions", |xml| {
        xml.leaves(&[("state", "applied"), ("httpTokens", "required"), ("httpPutResponseHopLimit", "1")]);
        xml.leaves(&[("httpEndpoint", "enabled"), ("httpProtocolIpv6", "disabled")]);
        xml.leaf("instanceMetadataTags", "disabled");
    });
    xml.node("enclaveOptions", |xml| xml.leaf("enabled", "false"));
    xml.leaves(&[("platformDetails", "Linux/UNIX"), ("usageOperation", "RunInstances")]);
    xml.leaf("usageOperationUpdateTime", "2026-01-31T12:00:00.000Z");
    xml.node("privateDnsNameOptions", |xml| {
        xml.leaves(&[("hostnameType", "ip-name"), ("enableResourceNameDnsARecord", "false")]);
        xml.leaf("enableResourceNameDnsAAAARecord", "false");
    });
    xml.node("maintenanceOptions", |xml| {
        xml.leaves(&[("autoRecovery", "default"), ("rebootMigration", "default")]);
    });
    xml.leaves(&[("currentInstanceBootMode", "legacy-bios"), ("bootMode", "uefi-preferred")]);
    xml.node("networkPerformanceOptions", |xml| xml.leaf("bandwidthWeighting", "default"));
    xml.node("operator", |xml| xml.leaf("managed", "false"));
}
