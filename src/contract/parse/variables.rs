//! The variables that users set, each with its default.

use super::{
    convert::{
        MAX_COUNT, attribute, boolean, collect, list, map, name, number, object, one_of, optional, text_like,
        whole,
    },
    fault::{Fault, Faults, Report},
    syntax,
};
use crate::contract::{
    ids::{ImageId, SecurityGroupId},
    json::Json,
    known::nearest,
    request::{Autoscaler, MachineImage, Tags},
};

/// The most tags that a user can add.
const MAX_ADDITIONAL_TAGS: usize = 40;

/// Key prefixes that the controller, the pool's records and the cluster keep for themselves.
const RESERVED_TAGS: [&str; 3] = ["captf.io/", super::controller::RECORD_PREFIX, "kubernetes.io/cluster/"];

/// The attributes of `machine_image`, sorted.
const IMAGE_ATTRIBUTES: [&str; 5] = ["architecture", "id", "name_format", "owner", "root_device_name"];

/// The user's variables, but for `external_cluster_exports`.
pub(super) struct Variables {
    pub(super) additional_security_group_ids: Vec<SecurityGroupId>,
    pub(super) additional_tags: Tags,
    pub(super) autoscaler: Autoscaler,
    pub(super) instance_metadata_hop_limit: u32,
    pub(super) instance_type: String,
    pub(super) machine_image: MachineImage,
    pub(super) public_ip: bool,
    pub(super) rollout_instance_warmup_seconds: u32,
    pub(super) root_volume_kms_key_id: Option<String>,
    pub(super) root_volume_size_gib: u32,
    pub(super) root_volume_type: String,
    pub(super) spot: bool,
    pub(super) ssh_key_name: Option<String>,
}

impl Variables {
    /// Reads all of them, so that every fault is reported; `None` if there was one.
    pub(super) fn read(report: &mut Report<'_>) -> Option<Self> {
        let security_groups = report.or_default("additional_security_group_ids", Vec::new(), |json| {
            list(json, "a list of strings (security group ids)", name)
        });
        let additional_tags = report.or_default("additional_tags", Tags::new(), additional_tags);
        let external = report.or_default("autoscaler", false, |json| {
            one_of(json, &["native", "external"]).map(|word| word == "external")
        });
        let target = report.or_default("autoscaling_target_cpu_percent", 60.0, target_cpu_percent);
        let hop_limit = report.or_default("instance_metadata_hop_limit", 1, |json| whole(json, 1..=64));
        let instance_type = report.or_default("instance_type", "m6i.large".to_owned(), |json| {
            text_like(json, "an instance type such as m6i.large", syntax::is_instance_type)
        });
        let machine_image = read_machine_image(report);
        let public_ip = report.or_default("public_ip", false, boolean);
        let warmup =
            report.or_default("rollout_instance_warmup_seconds", 300, |json| whole(json, 0..=MAX_COUNT));
        let kms_key = report.or_default("root_volume_kms_key_id", None, |json| optional(json, kms_key));
        let volume_size = report.or_default("root_volume_size_gib", 40, |json| whole(json, 8..=16384));
        let volume_type =
            report.or_default("root_volume_type", "gp3".to_owned(), |json| one_of(json, &["gp3", "gp2"]));
        let spot = report.or_default("spot", false, boolean);
        let ssh_key_name = report.or_default("ssh_key_name", None, |json| optional(json, ssh_key_name));
        Some(Self {
            additional_security_group_ids: security_groups?,
            additional_tags: additional_tags?,
            autoscaler: if external? { Autoscaler::External } else { Autoscaler::Native(target?) },
            instance_metadata_hop_limit: hop_limit?,
            instance_type: instance_type?,
            machine_image: machine_image?,
            public_ip: public_ip?,
            rollout_instance_warmup_seconds: warmup?,
            root_volume_kms_key_id: kms_key?,
            root_volume_size_gib: volume_size?,
            root_volume_type: volume_type?,
            spot: spot?,
            ssh_key_name: ssh_key_name?,
        })
    }
}

fn additional_tags(json: &Json) -> Result<Tags, Faults> {
    let tags = map(json, "a map of strings (AWS tags)", |key, value| {
        syntax::tag_faults(key, value, &RESERVED_TAGS)
    })?;
    if tags.len() > MAX_ADDITIONAL_TAGS {
        let complaint = format!("has {} tags, but at most {MAX_ADDITIONAL_TAGS} are allowed", tags.len());
        return Err(Fault::new(complaint).into());
    }
    Ok(tags)
}

/// Above 0, at most 100, and a number that a double holds without rounding: AWS takes a double.
fn target_cpu_percent(json: &Json) -> Result<f64, Fault> {
    number(json)
        .ok()
        .and_then(|number| number.to_f64())
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .ok_or_else(|| {
            Fault::unlike(json, "a number greater than 0 and at most 100, with at most 15 digits or so")
        })
}

fn kms_key(json: &Json) -> Result<String, Fault> {
    let wanted = "the ARN of a KMS key such as \
                  arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    text_like(json, wanted, |text| syntax::kms_key_region(text).is_some())
}

fn ssh_key_name(json: &Json) -> Result<String, Fault> {
    text_like(json, "the name of a key pair, 1 to 255 characters and not all of them blank", |text| {
        syntax::is_plain(text, 1, 255) && !text.trim().is_empty()
    })
}

fn default_image() -> MachineImage {
    MachineImage {
        id: None,
        owner: "819546954734".to_owned(),
        name_format: "capa-ami-ubuntu-24.04-?{semver}-*".to_owned(),
        architecture: "x86_64".to_owned(),
        root_device_name: "/dev/sda1".to_owned(),
    }
}

fn read_machine_image(report: &mut Report<'_>) -> Option<MachineImage> {
    for name in report.given("machine_image").map(unknown_attributes).unwrap_or_default() {
        let mut detail = format!("machine_image has no attribute \"{name}\"; it is ignored.");
        if let Some(meant) = nearest(&name, IMAGE_ATTRIBUTES) {
            detail = format!("{detail} Did you mean \"{meant}\"?");
        }
        report.warn(format!("Unknown attribute \"{name}\" in machine_image"), detail);
    }
    report.or_default("machine_image", default_image(), machine_image)
}

/// Unknown attributes, fit to be shown; as with faults, only the first few.
fn unknown_attributes(json: &Json) -> Vec<String> {
    let Json::Object(fields) = json else { return Vec::new() };
    fields
        .iter()
        .filter(|(name, _)| !IMAGE_ATTRIBUTES.contains(&name.as_str()))
        .map(|(name, _)| crate::contract::inputs::shown_name(name))
        .take(20)
        .collect()
}

fn is_empty_text(json: &Json) -> bool {
    matches!(json, Json::String(text) if text.is_empty())
}

/// A pattern that images are `searched` by must be one that a name can match.
fn name_format_of(json: &Json, searched: bool) -> Result<String, Fault> {
    let wanted = "a name pattern that holds {semver} or {version}, of 1 to 1024 characters, with no line end or other \
                  control character";
    let format = text_like(json, wanted, |text| {
        syntax::is_plain(text, 1, 1024) && (text.contains("{semver}") || text.contains("{version}"))
    })?;
    match syntax::name_format_fault(&format).filter(|_| searched) {
        Some(complaint) => {
            Err(Fault::new(complaint).or_without_value("is no pattern that the name of an AMI can match"))
        }
        None => Ok(format),
    }
}

fn machine_image(json: &Json) -> Result<MachineImage, Faults> {
    object(json, "an object {id, owner, name_format, architecture, root_device_name}")?;
    let MachineImage { owner, name_format, architecture, root_device_name, .. } = default_image();
    let or = |name: &str, default: String, read: &dyn Fn(&Json) -> Result<String, Fault>| match json.get(name)
    {
        None | Some(Json::Null) => Ok(default),
        Some(_) => attribute(json, name, read).map_err(Faults::from),
    };
    let is_pinned = json.get("id").is_some_and(|id| !matches!(id, Json::Null) && !is_empty_text(id));
    let texts = [
        or("owner", owner, &|json| {
            text_like(
                json,
                "an account of 12 digits, self, amazon or aws-marketplace",
                syntax::is_image_owner,
            )
        }),
        or("name_format", name_format, &|json| name_format_of(json, !is_pinned)),
        or("architecture", architecture, &|json| one_of(json, &["x86_64", "arm64"])),
        or("root_device_name", root_device_name, &|json| {
            text_like(json, "/dev/ and lower-case letters and digits, such as /dev/sda1", syntax::is_device)
        }),
    ];
    let id: Result<Option<ImageId>, Faults> = match json.get("id") {
        None | Some(Json::Null) => Ok(None),
        Some(_) => attribute(json, "id", |json| optional(json, name)).map_err(Faults::from),
    };
    let (id, texts) = match (id, collect(texts.into_iter())) {
        (Ok(id), Ok(texts)) => (id, texts),
        (id, texts) => {
            let faults = [id.err(), texts.err()].into_iter().flatten().flat_map(|Faults(faults)| faults);
            return Err(Faults(faults.collect()));
        }
    };
    let mut texts = texts.into_iter();
    let mut next = || texts.next().unwrap_or_default();
    Ok(MachineImage {
        id,
        owner: next(),
        name_format: next(),
        architecture: next(),
        root_device_name: next(),
    })
}
