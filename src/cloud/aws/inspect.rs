//! What only a check-up asks: who calls, the network, instance types, IAM, quotas; and writes that are only
//! tried.

use std::collections::BTreeSet;

use aws_sdk_ec2::types::{
    Filter, InstanceNetworkInterfaceSpecification, InstanceType as SdkInstanceType,
    LaunchTemplateSpecification, LocationType, RequestLaunchTemplateData, ResourceType,
};

use super::{Aws, convert, empty_if_missing, errors::Asked};
use crate::{
    cloud::{CloudError, operations},
    contract::request::Tags,
    model::checkup::{
        Caller, InstanceProfile, InstanceType, Limits, Question, Rehearsal, Reply, SecurityGroup, Subnet,
    },
};

/// EC2's answer to a dry run that would have been allowed.
const WOULD_WORK: &str = "DryRunOperation";

/// The type in a template that is only tried; it does not matter which.
const ANY_TYPE: &str = "t3.micro";

impl Aws {
    pub(super) async fn inspect(&self, question: &Question) -> Result<Reply, CloudError> {
        let asked = self.asked(operations::of_question(question), operations::resource_of_question(question));
        match question {
            Question::Caller => self.caller(asked).await.map(Reply::Caller),
            Question::Subnets(ids) => self.subnets(asked, ids).await.map(Reply::Subnets),
            Question::SecurityGroups(ids) => {
                self.security_groups(asked, ids).await.map(Reply::SecurityGroups)
            }
            Question::KeyPair(name) => self.has_key_pair(asked, name).await.map(Reply::There),
            Question::InstanceType(name) => self.instance_type(asked, name).await.map(Reply::InstanceType),
            Question::Offerings(name) => self.zones_with(asked, name).await.map(Reply::Zones),
            Question::InstanceProfile(name) => {
                empty_if_missing(self.instance_profile(asked, name).await).map(Reply::InstanceProfile)
            }
            Question::Role(name) => empty_if_missing(self.has_role(asked, name).await).map(Reply::There),
            Question::Quota(code) => self.quota(asked, code).await.map(Reply::Quota),
            Question::Limits => self.limits(asked).await.map(Reply::Limits),
            Question::Rehearsal(rehearsal) => {
                would_work(self.rehearse(asked, rehearsal).await).map(|()| Reply::Allowed)
            }
        }
    }

    async fn caller(&self, asked: Asked<'_>) -> Result<Caller, CloudError> {
        let request = self.sts().get_caller_identity();
        let answer = self.call(&asked, || request.send()).await?;
        Ok(Caller { account: convert::text(answer.account()), arn: convert::text(answer.arn()) })
    }

    /// By filter, not by id: an id that is not there is left out then, not an error for all of them.
    async fn subnets(&self, asked: Asked<'_>, ids: &[String]) -> Result<Vec<Subnet>, CloudError> {
        let pages =
            self.ec2().describe_subnets().filters(any("subnet-id", ids)).into_paginator().items().send();
        let found = self.call(&asked, || pages.try_collect()).await?;
        let mut subnets: Vec<Subnet> = found
            .iter()
            .map(|subnet| Subnet {
                id: convert::text(subnet.subnet_id()),
                zone: convert::text(subnet.availability_zone()),
                vpc: convert::text(subnet.vpc_id()),
                free_addresses: convert::count(subnet.available_ip_address_count()).unwrap_or_default(),
            })
            .collect();
        subnets.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(subnets)
    }

    async fn security_groups(
        &self,
        asked: Asked<'_>,
        ids: &[String],
    ) -> Result<Vec<SecurityGroup>, CloudError> {
        let request = self.ec2().describe_security_groups().filters(any("group-id", ids));
        let pages = request.into_paginator().items().send();
        let found = self.call(&asked, || pages.try_collect()).await?;
        let mut groups: Vec<SecurityGroup> = found
            .iter()
            .map(|group| SecurityGroup {
                id: convert::text(group.group_id()),
                vpc: convert::text(group.vpc_id()),
            })
            .collect();
        groups.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(groups)
    }

    async fn has_key_pair(&self, asked: Asked<'_>, name: &str) -> Result<bool, CloudError> {
        let request = self.ec2().describe_key_pairs().filters(any("key-name", [name]));
        let answer = self.call(&asked, || request.send()).await?;
        Ok(answer.key_pairs().iter().any(|pair| pair.key_name() == Some(name)))
    }

    async fn instance_type(&self, asked: Asked<'_>, name: &str) -> Result<Option<InstanceType>, CloudError> {
        let request = self.ec2().describe_instance_types().filters(any("instance-type", [name]));
        let pages = request.into_paginator().items().send();
        let found = self.call(&asked, || pages.try_collect()).await?;
        let found = found.iter().find(|one| one.instance_type().map(SdkInstanceType::as_str) == Some(name));
        Ok(found.map(|one| InstanceType {
            architectures: one
                .processor_info()
                .into_iter()
                .flat_map(|processor| processor.supported_architectures())
                .map(ToString::to_string)
                .collect(),
            vcpus: convert::count(one.v_cpu_info().and_then(|cpus| cpus.default_v_cpus()))
                .unwrap_or_default(),
        }))
    }

    async fn zones_with(&self, asked: Asked<'_>, name: &str) -> Result<BTreeSet<String>, CloudError> {
        let pages = self
            .ec2()
            .describe_instance_type_offerings()
            .location_type(LocationType::AvailabilityZone)
            .filters(any("instance-type", [name]))
            .into_paginator()
            .items()
            .send();
        let found = self.call(&asked, || pages.try_collect()).await?;
        Ok(found.iter().filter_map(|offering| offering.location()).map(str::to_owned).collect())
    }

    async fn instance_profile(
        &self,
        asked: Asked<'_>,
        name: &str,
    ) -> Result<Option<InstanceProfile>, CloudError> {
        let request = self.iam().get_instance_profile().instance_profile_name(name);
        let answer = self.call(&asked, || request.send()).await?;
        Ok(answer.instance_profile().map(|profile| InstanceProfile {
            roles: profile.roles().iter().map(|role| role.role_name().to_owned()).collect(),
        }))
    }

    async fn has_role(&self, asked: Asked<'_>, name: &str) -> Result<bool, CloudError> {
        let request = self.iam().get_role().role_name(name);
        self.call(&asked, || request.send()).await.map(|answer| answer.role().is_some())
    }

    async fn quota(&self, asked: Asked<'_>, code: &str) -> Result<Option<f64>, CloudError> {
        let request = self.servicequotas().get_service_quota().service_code("ec2").quota_code(code);
        match self.call(&asked, || request.send()).await {
            Ok(answer) => Ok(answer.quota().and_then(|quota| quota.value())),
            Err(error) if error.code == "NoSuchResourceException" => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn limits(&self, asked: Asked<'_>) -> Result<Limits, CloudError> {
        let request = self.autoscaling().describe_account_limits();
        let answer = self.call(&asked, || request.send()).await?;
        Ok(Limits {
            max_groups: convert::count(answer.max_number_of_auto_scaling_groups()).unwrap_or(u32::MAX),
            groups: convert::count(answer.number_of_auto_scaling_groups()).unwrap_or_default(),
        })
    }

    async fn rehearse(&self, asked: Asked<'_>, rehearsal: &Rehearsal) -> Result<(), CloudError> {
        match rehearsal {
            Rehearsal::NewTemplate { name, tags } => self.try_template(asked, name, tags).await,
            Rehearsal::NewVersion { template_id } => {
                let request = self.ec2().create_launch_template_version().launch_template_id(template_id);
                let request = request.launch_template_data(any_data()).dry_run(true);
                self.call(&asked, || request.send()).await.map(drop)
            }
            Rehearsal::DeleteTemplate { template_id } => {
                let request =
                    self.ec2().delete_launch_template().launch_template_id(template_id).dry_run(true);
                self.call(&asked, || request.send()).await.map(drop)
            }
            Rehearsal::Launch { template_id, subnet, interface } => {
                self.try_launch(asked, template_id, subnet, interface.as_deref()).await
            }
        }
    }

    async fn try_template(&self, asked: Asked<'_>, name: &str, tags: &Tags) -> Result<(), CloudError> {
        let request = self
            .ec2()
            .create_launch_template()
            .launch_template_name(name)
            .launch_template_data(any_data())
            .tag_specifications(convert::tag_specification(&ResourceType::LaunchTemplate, tags))
            .dry_run(true);
        self.call(&asked, || request.send()).await.map(drop)
    }

    /// From the template, as its group launches; only the subnet is not in it. EC2 takes one for the whole
    /// launch or in a network interface, never the first where the template has the second.
    async fn try_launch(
        &self,
        asked: Asked<'_>,
        template_id: &str,
        subnet: &str,
        interface: Option<&[String]>,
    ) -> Result<(), CloudError> {
        let template =
            LaunchTemplateSpecification::builder().launch_template_id(template_id).version("$Latest").build();
        let request =
            self.ec2().run_instances().launch_template(template).min_count(1).max_count(1).dry_run(true);
        let request = match interface {
            None => request.subnet_id(subnet),
            Some(security_groups) => request.network_interfaces(
                InstanceNetworkInterfaceSpecification::builder()
                    .device_index(0)
                    .subnet_id(subnet)
                    .set_groups(Some(security_groups.to_vec()))
                    .build(),
            ),
        };
        self.call(&asked, || request.send()).await.map(drop)
    }
}

fn any_data() -> RequestLaunchTemplateData {
    RequestLaunchTemplateData::builder().instance_type(ANY_TYPE.into()).build()
}

/// A filter that any of the values passes.
fn any<T: AsRef<str>>(name: &str, values: impl IntoIterator<Item = T>) -> Filter {
    let values = values.into_iter().map(|value| super::ec2::literal(value.as_ref())).collect();
    Filter::builder().name(name).set_values(Some(values)).build()
}

/// A dry run never succeeds: it is refused, or answered with an error that says it would not have been.
fn would_work(answer: Result<(), CloudError>) -> Result<(), CloudError> {
    match answer {
        Err(error) if error.code == WOULD_WORK => Ok(()),
        other => other,
    }
}
