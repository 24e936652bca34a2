//! What to do about a launch that AWS refused, told from AWS's words.
//!
//! Auto Scaling reports a failed launch as prose; the codes of EC2 behind it are not in it. The phrases
//! are those of Auto Scaling's troubleshooting guide ("Troubleshoot Amazon EC2 Auto Scaling") and of EC2's
//! error codes. AWS's own words are always shown beside the advice: a phrase that is not known here is no
//! worse off than before.

use serde::Serialize;

/// What a launch fails for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// AWS has no machines of the type to give at the moment.
    Capacity,
    /// The zone does not have the type at all, or the type not the configuration.
    NotOffered,
    /// A quota of the account.
    Quota,
    /// The KMS key of the root volume.
    Kms,
    /// The image is gone, or not this account's to use.
    Image,
    /// The image and the instance type do not fit.
    Architecture,
    /// The root volume does not fit the image.
    Volume,
    /// The IAM instance profile.
    InstanceProfile,
    /// A security group.
    SecurityGroup,
    /// The subnet is full or gone.
    Subnet,
    /// The SSH key pair.
    KeyPair,
    /// The launch template is gone.
    Template,
    /// A service-linked role is missing.
    ServiceRole,
    /// A permission of the service or of the caller.
    Permission,
    /// A lifecycle hook that nobody completes.
    Hook,
    /// The account itself.
    Account,
    /// AWS limits the rate of launches.
    Throttled,
}

/// A cause, the phrases that tell it (lower case; all words of one must be there), and what to do.
type Rule = (Cause, &'static [&'static [&'static str]], &'static str);

/// The first rule that fits decides: the more particular ones stand first.
const RULES: [Rule; 20] = [
    (
        Cause::Capacity,
        &[&["no spot capacity"], &["spot", "capacity-not-available"], &["unfulfillablecapacity"]],
        "No Spot capacity. Auto Scaling goes on trying; to get nodes now set spot to false, or take another \
         instance_type or more zones.",
    ),
    (
        Cause::Quota,
        &[&["max spot instance count exceeded"], &["maxspotinstancecountexceeded"]],
        "The account's quota of Spot vCPUs is used up. Raise it (Service Quotas, EC2, \"All Standard ... Spot \
         Instance Requests\") or set spot to false.",
    ),
    (
        Cause::Capacity,
        &[
            &["do not have sufficient", "capacity"],
            &["insufficientinstancecapacity"],
            &["insufficient capacity"],
        ],
        "AWS has none of this instance type left in that zone. Auto Scaling goes on trying, also in the pool's \
         other zones; to get nodes now take another instance_type or more zones.",
    ),
    (
        Cause::NotOffered,
        &[&["not supported in your requested availability zone"]],
        "That zone does not have this instance type, and never will by waiting. Take another instance_type, or \
         leave the zone out of failure_domains.",
    ),
    (
        Cause::NotOffered,
        &[&["requested configuration is currently not supported"]],
        "This instance type cannot be launched so in that zone: the type, spot, or an option of it is not offered \
         there. Take another instance_type, or leave the zone out of failure_domains.",
    ),
    (
        Cause::Quota,
        &[
            &["vcpu limit"],
            &["vcpulimitexceeded"],
            &["your current instance limit"],
            &["instancelimitexceeded"],
            &["volumelimitexceeded"],
            &["maximum number of", "volume"],
            &["volume storage", "limit"],
        ],
        "A quota of the account is used up. Raise it (Service Quotas, EC2 or EBS), or lower the pool's size; Auto \
         Scaling goes on trying.",
    ),
    (
        Cause::Kms,
        &[&["client.internalerror"], &["client error on launch"], &["kms"], &["invalidkmskey"]],
        "Most likely the root volume's KMS key: let the role AWSServiceRoleForAutoScaling use it (key policy or a \
         grant with kms:CreateGrant), and see that the key is enabled and in this region.",
    ),
    (
        Cause::Architecture,
        &[&["architecture", "does not match"]],
        "The image is not made for this instance type. Make machine_image (its architecture) and instance_type fit \
         each other.",
    ),
    (
        Cause::Image,
        &[
            &["image id", "does not exist"],
            &["image id", "is not available"],
            &["invalidamiid"],
            &["ami ", "is pending"],
            &["ami ", "is no longer available"],
            &["not authorized for images"],
        ],
        "The image was deregistered, or is not shared with this account. Set machine_image (or a version that has \
         an image) and apply: a new template version takes it.",
    ),
    (
        Cause::Volume,
        &[&["smaller than snapshot"], &["invalid device name"]],
        "The root volume does not fit the image. Raise root_volume_size_gib, and see that \
         machine_image.root_device_name is the image's own.",
    ),
    (
        Cause::InstanceProfile,
        &[&["iaminstanceprofile"], &["iam instance profile"], &["instance profile"]],
        "The workers' instance profile does not exist, or the caller may not pass its role. Check \
         instance_profiles.worker of the cluster exports, and iam:PassRole.",
    ),
    (
        Cause::SecurityGroup,
        &[&["security group", "does not exist"], &["invalidgroup.notfound"]],
        "A security group is gone or in another VPC. Check those of the cluster exports and \
         additional_security_group_ids, then apply.",
    ),
    (
        Cause::Subnet,
        &[&["not enough free addresses"], &["insufficientfreeaddresses"], &["insufficient free addresses"]],
        "The subnet has no free addresses. Free some, or give the pool more zones (failure_domains); Auto Scaling \
         goes on trying.",
    ),
    (
        Cause::Subnet,
        &[&["subnet id", "does not exist"], &["invalidsubnetid"]],
        "A subnet of the pool is gone. Apply the cluster first, then the pool with the cluster's new exports.",
    ),
    (
        Cause::KeyPair,
        &[&["key pair", "does not exist"], &["invalidkeypair"]],
        "The SSH key pair does not exist in this region. Make it, or set ssh_key_name to another one or to null, \
         and apply.",
    ),
    (
        Cause::Template,
        &[&["launch template", "does not exist"], &["launch template", "could not be found"]],
        "The launch template was deleted. Apply makes it again.",
    ),
    (
        Cause::ServiceRole,
        &[&["service-linked role"], &["servicelinkedrole"]],
        "A service-linked role is missing. Make it once per account: aws iam create-service-linked-role \
         --aws-service-name spot.amazonaws.com (or autoscaling.amazonaws.com).",
    ),
    (
        Cause::Permission,
        &[&["not authorized"], &["unauthorizedoperation"], &["accessdenied"], &["access denied"]],
        "A permission is missing: iam:PassRole on the workers' role, ec2:RunInstances or ec2:CreateTags of whoever \
         applies, or a policy of the organisation forbids the launch.",
    ),
    (
        Cause::Hook,
        &[&["lifecycle action", "abandoned"], &["lifecycle action", "timeout"]],
        "A lifecycle hook of the group was not completed in time. See what should complete it, or delete the hook.",
    ),
    (
        Cause::Account,
        &[
            &["account is currently blocked"],
            &["pendingverification"],
            &["optinrequired"],
            &["pending verification"],
        ],
        "AWS does not let this account launch instances. Its owner must settle that with AWS.",
    ),
];

/// Throttling stands apart: it is the one cause that needs nobody.
const THROTTLED: &str =
    "AWS limits the rate of launches. Auto Scaling goes on trying; nothing is to be done.";

/// What AWS's words say a launch fails for, and what to do about it; `None` if they are not known here.
pub fn advice(words: &str) -> Option<(Cause, &'static str)> {
    let words = words.to_lowercase();
    let says = |phrase: &&[&str]| phrase.iter().all(|word| words.contains(word));
    let rule = RULES.iter().find(|(_, phrases, _)| phrases.iter().any(says));
    let throttled = ["request limit exceeded", "requestlimitexceeded", "rate exceeded", "throttl"];
    rule.map(|(cause, _, what)| (*cause, *what)).or_else(|| {
        throttled.iter().any(|word| words.contains(word)).then_some((Cause::Throttled, THROTTLED))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As AWS has been seen to say it.
    const SEEN: [(&str, Cause); 27] = [
        (
            "We currently do not have sufficient m6i.large capacity in the Availability Zone you requested \
             (us-east-1a). Our system will be working on provisioning additional capacity. You can currently get \
             m6i.large capacity by not specifying an Availability Zone in your request or choosing us-east-1b. \
             Launching EC2 instance failed.",
            Cause::Capacity,
        ),
        (
            "There is no Spot capacity available that matches your request. Launching EC2 instance failed.",
            Cause::Capacity,
        ),
        (
            "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded.",
            Cause::Quota,
        ),
        (
            "Your requested instance type (m7i.large) is not supported in your requested Availability Zone \
             (us-east-1e). Please retry your request by not specifying an Availability Zone or choosing us-east-1a.",
            Cause::NotOffered,
        ),
        (
            "The requested configuration is currently not supported. Please check the documentation.",
            Cause::NotOffered,
        ),
        (
            "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket \
             that the specified instance type belongs to.",
            Cause::Quota,
        ),
        (
            "You have requested more instances (21) than your current instance limit of 20 allows.",
            Cause::Quota,
        ),
        ("You have exceeded your maximum gp3 volume storage limit of 50 TiB in this region.", Cause::Quota),
        (
            "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: \
             Client.InternalError: Client error on launch",
            Cause::Kms,
        ),
        ("Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", Cause::Kms),
        (
            "The image id '[ami-0123456789abcdef0]' does not exist. Launching EC2 instance failed.",
            Cause::Image,
        ),
        ("The image id '[ami-01]' is not available: deregistered", Cause::Image),
        ("AMI ami-0123 is pending, and cannot be run. Launching EC2 instance failed.", Cause::Image),
        ("Not authorized for images: [ami-0123456789abcdef0]. Launching EC2 instance failed.", Cause::Image),
        (
            "The architecture 'arm64' of the specified instance type does not match the architecture 'x86_64' of \
             the specified AMI.",
            Cause::Architecture,
        ),
        ("Volume of size 8GB is smaller than snapshot 'snap-01', expect size >= 20GB", Cause::Volume),
        (
            "Value (demo-worker) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name.",
            Cause::InstanceProfile,
        ),
        ("The security group 'sg-01' does not exist. Launching EC2 instance failed.", Cause::SecurityGroup),
        (
            "There are not enough free addresses in subnet 'subnet-01' to satisfy the requested number of instances.",
            Cause::Subnet,
        ),
        ("The subnet ID 'subnet-01' does not exist", Cause::Subnet),
        ("The key pair 'ops' does not exist. Launching EC2 instance failed.", Cause::KeyPair),
        ("The specified launch template, with template ID lt-01, does not exist.", Cause::Template),
        (
            "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
            Cause::ServiceRole,
        ),
        (
            "You are not authorized to perform this operation. Encoded authorization failure message: abc",
            Cause::Permission,
        ),
        (
            "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token 01 was abandoned: \
             Heartbeat Timeout",
            Cause::Hook,
        ),
        ("Your account is currently blocked. Please contact aws-verification@amazon.com", Cause::Account),
        ("Request limit exceeded. Launching EC2 instance failed.", Cause::Throttled),
    ];

    #[test]
    fn awss_words_lead_to_a_cause() {
        for (words, cause) in SEEN {
            assert_eq!(advice(words).map(|(cause, _)| cause), Some(cause), "{words}");
        }
        assert_eq!(advice("Something that nobody has seen yet."), None);
        assert_eq!(advice(""), None);
    }

    #[test]
    fn every_rule_is_reached_and_written_as_it_is_compared() {
        for (cause, phrases, what) in RULES {
            assert!(
                SEEN.iter().any(|(words, _)| advice(words).is_some_and(|(_, told)| told == what)),
                "{cause:?}"
            );
            assert!(what.ends_with('.') && what.len() > 30, "{cause:?}");
            for word in phrases.concat() {
                assert_eq!(word, word.to_lowercase(), "{cause:?}");
            }
        }
    }
}
