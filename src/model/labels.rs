//! Which node labels a kubelet may register for itself.
//!
//! Source: the kubelet's own list (`k8s.io/kubelet`, `well_known_labels.go`) and the NodeRestriction
//! admission plugin. A kubelet that is started with any other label of Kubernetes' own namespaces
//! refuses to run.

use std::collections::BTreeMap;

/// Namespaces that belong to Kubernetes, with all their subdomains.
const RESERVED: [&str; 2] = ["kubernetes.io", "k8s.io"];

/// Namespaces among them that are open to kubelets, with all their subdomains.
const OPEN: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Single labels among them that a kubelet may set.
const OPEN_LABELS: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Splits labels into those a kubelet may set on its own node and the sorted names of the others.
pub fn split(labels: &BTreeMap<String, String>) -> (BTreeMap<String, String>, Vec<String>) {
    let (open, closed): (BTreeMap<_, _>, BTreeMap<_, _>) =
        labels.clone().into_iter().partition(|(name, _)| is_open(name));
    (open, closed.into_keys().collect())
}

fn is_open(name: &str) -> bool {
    // A name without a prefix is in nobody's namespace.
    let Some((namespace, _)) = name.split_once('/') else { return true };
    let within = |domains: &[&str]| domains.iter().any(|domain| is_within(namespace, domain));
    !within(&RESERVED) || within(&OPEN) || OPEN_LABELS.contains(&name)
}

/// Whether `namespace` is `domain` or a subdomain of it.
fn is_within(namespace: &str, domain: &str) -> bool {
    namespace.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
        labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn known_answer() {
        let (open, dropped) = split(&map(&[
            ("cluster.x-k8s.io/cluster-name", "demo"),
            ("node-role.kubernetes.io/worker", ""),
            ("node.kubernetes.io/pool", "general"),
            ("team", "platform"),
            ("topology.kubernetes.io/zone", "us-east-1a"),
            ("example.k8s.io/blocked", "yes"),
        ]));
        assert_eq!(
            open,
            map(&[
                ("cluster.x-k8s.io/cluster-name", "demo"),
                ("node.kubernetes.io/pool", "general"),
                ("team", "platform"),
                ("topology.kubernetes.io/zone", "us-east-1a"),
            ])
        );
        assert_eq!(dropped, ["example.k8s.io/blocked", "node-role.kubernetes.io/worker"]);
    }

    #[test]
    fn a_kubelet_may_set_these() {
        let open = [
            "kubelet.kubernetes.io/x",
            "a.kubelet.kubernetes.io/x",
            "node.kubernetes.io/x",
            "foo.node.kubernetes.io/x",
            "a.b.node.kubernetes.io/x",
            "kubernetes.io/hostname",
            "kubernetes.io/os",
            "kubernetes.io/arch",
            "beta.kubernetes.io/os",
            "beta.kubernetes.io/arch",
            "beta.kubernetes.io/instance-type",
            "node.kubernetes.io/instance-type",
            "topology.kubernetes.io/zone",
            "topology.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region",
            // Nobody's, or somebody else's namespace, however much it looks like Kubernetes' own.
            "team",
            "kubernetes.io",
            "k8s.io",
            "node-role.kubernetes.io",
            "mykubernetes.io/x",
            "my-k8s.io/x",
            "cluster.x-k8s.io/cluster-name",
            "kubernetes.io.example.com/x",
            "example.com/kubernetes.io",
            "k8s.io.org/x",
        ];
        for name in open {
            assert!(split(&map(&[(name, "v")])).1.is_empty(), "{name} was dropped");
        }
    }

    #[test]
    fn a_kubelet_may_not_set_these() {
        let closed = [
            "kubernetes.io/x",
            "kubernetes.io/role",
            "kubernetes.io/hostname2",
            "k8s.io/x",
            "x.k8s.io/y",
            "x.k8s.io/hostname",
            "k8s.io/os",
            "node-role.kubernetes.io/worker",
            "node-restriction.kubernetes.io/x",
            "topology.kubernetes.io/rack",
            "a.topology.kubernetes.io/zone",
            "beta.kubernetes.io/zone",
            "failure-domain.kubernetes.io/zone",
            "mynode.kubernetes.io/x",
            "mykubelet.kubernetes.io/x",
            "node.k8s.io/x",
            "cluster-autoscaler.kubernetes.io/x",
        ];
        for name in closed {
            let (open, dropped) = split(&map(&[(name, "v")]));
            assert!(open.is_empty(), "{name} was kept");
            assert_eq!(dropped, [name]);
        }
    }
}
