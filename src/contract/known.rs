//! The one table of names that inputs may have.

/// What kind of input a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A contract input that must be there and not null.
    Required,
    /// A contract input that may be null, but must be there.
    Nullable,
    /// A contract input that may be left out or null.
    Optional,
    /// A user variable: left out or null means its default.
    Variable,
}

/// The one input that is a secret: no message shows its value, its length or the keys inside it.
pub const BOOTSTRAP_DATA: &str = "bootstrap_data";

/// The longest unknown name that is repeated in a message or compared with the known ones.
pub(crate) const MAX_SHOWN_NAME: usize = 64;

/// Every contract input, then every user variable, in the order in which faults are reported.
pub const KNOWN: [(&str, Kind); 29] = [
    ("captf_contract", Kind::Required),
    ("captf_cluster", Kind::Required),
    ("captf_object", Kind::Required),
    ("captf_cluster_outputs", Kind::Nullable),
    ("captf_tags", Kind::Required),
    ("machinepool_name", Kind::Required),
    ("replicas", Kind::Required),
    (BOOTSTRAP_DATA, Kind::Required),
    ("bootstrap_format", Kind::Required),
    ("failure_domains", Kind::Required),
    ("cluster_failure_domains", Kind::Required),
    ("kubernetes_version", Kind::Optional),
    ("node_labels", Kind::Required),
    ("autoscaling", Kind::Required),
    ("additional_security_group_ids", Kind::Variable),
    ("additional_tags", Kind::Variable),
    ("autoscaler", Kind::Variable),
    ("autoscaling_target_cpu_percent", Kind::Variable),
    ("external_cluster_exports", Kind::Variable),
    ("instance_metadata_hop_limit", Kind::Variable),
    ("instance_type", Kind::Variable),
    ("machine_image", Kind::Variable),
    ("public_ip", Kind::Variable),
    ("rollout_instance_warmup_seconds", Kind::Variable),
    ("root_volume_kms_key_id", Kind::Variable),
    ("root_volume_size_gib", Kind::Variable),
    ("root_volume_type", Kind::Variable),
    ("spot", Kind::Variable),
    ("ssh_key_name", Kind::Variable),
];

/// The known name that somebody most likely meant, if any is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_SHOWN_NAME {
        return None;
    }
    let meant = name.to_lowercase().replace(['-', ' ', '.'], "_");
    known
        .into_iter()
        .map(|known| {
            let begun = meant.len() >= 4 && known.starts_with(&meant);
            (f64::from(u8::from(begun)) + strsim::normalized_damerau_levenshtein(&meant, known), known)
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_the_name_meant() {
        let meant = |name| nearest(name, KNOWN.map(|(known, _)| known));
        assert_eq!(meant("replica"), Some("replicas"));
        assert_eq!(meant("instance-type"), Some("instance_type"));
        assert_eq!(meant("instanceType"), Some("instance_type"));
        assert_eq!(meant("machine_pool_name"), Some("machinepool_name"));
        assert_eq!(meant("root_volume_size"), Some("root_volume_size_gib"));
        assert_eq!(meant("vpc"), None);
        assert_eq!(meant(""), None);
        assert_eq!(meant(&"replicas".repeat(1000)), None);
    }
}
