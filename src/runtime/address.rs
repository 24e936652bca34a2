//! The parts of a resource's address, as Terraform's formats list them.

use crate::model::plan::Address;

/// A resource's address taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// All of it: `module.role.aws_launch_template.pool_launch_template[0]`.
    pub address: &'static str,
    /// `module.role`
    pub module: &'static str,
    /// Without the module: `aws_launch_template.pool_launch_template[0]`.
    pub resource: &'static str,
    /// `aws_launch_template`
    pub kind: &'static str,
    /// `pool_launch_template`
    pub name: &'static str,
    /// `0`, where the resource has an index.
    pub index: Option<u32>,
}

/// The address of the module that all resources belong to.
pub const MODULE: &str = "module.role";

impl Parts {
    /// The parts of `address`.
    pub fn of(address: Address) -> Self {
        let whole = address.as_str();
        let resource = whole.strip_prefix("module.role.").unwrap_or(whole);
        let (kind, name) = resource.split_once('.').unwrap_or((resource, ""));
        let (name, index) = match name.strip_suffix("[0]") {
            Some(name) => (name, Some(0)),
            None => (name, None),
        };
        Self { address: whole, module: MODULE, resource, kind, name, index }
    }

    /// The provider's source address, as plans write it.
    pub fn provider(self) -> &'static str {
        if self.kind.starts_with("aws_") {
            "registry.terraform.io/hashicorp/aws"
        } else {
            "terraform.io/builtin/terraform"
        }
    }

    /// The provider that the resource's type implies.
    pub fn implied_provider(self) -> &'static str {
        self.kind.split('_').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_an_index() {
        let group = Parts::of(Address::Group);
        assert_eq!(
            (group.kind, group.name, group.index),
            ("aws_autoscaling_group", "pool_autoscaling_group", Some(0))
        );
        assert_eq!(
            (group.resource, group.implied_provider()),
            ("aws_autoscaling_group.pool_autoscaling_group[0]", "aws")
        );
        let zones = Parts::of(Address::InheritedZones);
        assert_eq!((zones.kind, zones.name, zones.index), ("terraform_data", "inherited_zones", None));
        assert_eq!(
            (zones.provider(), zones.implied_provider()),
            ("terraform.io/builtin/terraform", "terraform")
        );
    }
}
