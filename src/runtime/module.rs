//! The module that a root calls: whether its files describe this role.

use std::collections::BTreeSet;

use super::root::labelled;
use crate::contract::{
    inputs::shown_name,
    json::Json,
    known::{KNOWN, Kind},
};

/// The input that no other role has.
const OURS: &str = "machinepool_name";

/// How many variables of a kind are named.
const NAMED: usize = 3;

/// Whether Terraform reads a file of this name as part of a module.
pub fn is_terraform(file: &str) -> bool {
    is_json(file) || file.strip_suffix(".tf").is_some()
}

fn is_json(file: &str) -> bool {
    file.strip_suffix(".tf.json").is_some()
}

/// The variables that a file of a module declares; none, if it is no file of Terraform's or not in its language.
pub fn variables(file: &str, text: &[u8]) -> BTreeSet<String> {
    if is_json(file) {
        let json = Json::parse(text).unwrap_or(Json::Null);
        return labelled(&json, "variable").into_iter().map(|(name, _)| name.to_owned()).collect();
    }
    let text = std::str::from_utf8(text).ok().filter(|_| is_terraform(file));
    let Some(Ok(body)) = text.map(hcl::parse) else { return BTreeSet::new() };
    body.blocks()
        .filter(|block| block.identifier() == "variable")
        .filter_map(|block| Some(block.labels().first()?.as_str().to_owned()))
        .collect()
}

/// Why a module that declares these variables is another one than this role's, as the end of a sentence; `None`
/// if it is this one. A module may speak of machine pools without being the role: one that has variables of its
/// own is the role only if it takes all inputs of the contract.
pub fn stranger(declared: &BTreeSet<String>) -> Option<String> {
    if !declared.contains(OURS) {
        return Some(format!(
            "no .tf file there declares the variable {OURS}. This program is the machinepool role and no other."
        ));
    }
    let foreign: Vec<&str> = declared
        .iter()
        .map(String::as_str)
        .filter(|name| KNOWN.iter().all(|(known, _)| known != name))
        .collect();
    let inputs = KNOWN.iter().filter(|(_, kind)| matches!(kind, Kind::Required | Kind::Nullable));
    let missing: Vec<&str> = inputs.map(|(name, _)| *name).filter(|name| !declared.contains(*name)).collect();
    if missing.is_empty() || foreign.is_empty() {
        return None;
    }
    Some(format!(
        "its .tf files declare {OURS} beside variables that the machinepool role does not have ({}), and not all \
         that it has (missing: {}). It is another module, or one of another version of the contract.",
        some(&foreign),
        some(&missing)
    ))
}

/// The first of some names, and how many more there are.
fn some(names: &[&str]) -> String {
    let first = names.iter().take(NAMED).map(|name| shown_name(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> &'static str {
        include_str!("../../contract/module/variables.tf")
    }

    #[test]
    fn the_roles_own_description_is_known_in_both_syntaxes() {
        let declared = variables("variables.tf", ours().as_bytes());
        assert_eq!(declared.len(), KNOWN.len());
        assert_eq!(stranger(&declared), None);
        let json: serde_json::Value =
            declared.iter().map(|name| (name.clone(), serde_json::json!({}))).collect();
        let json = serde_json::json!({"variable": json}).to_string();
        assert_eq!(variables("variables.tf.json", json.as_bytes()), declared);
        for other in ["variables.tf.bak", "README.md", "variables.json", "tf"] {
            assert!(variables(other, ours().as_bytes()).is_empty(), "{other}");
        }
        assert!(
            variables("a.tf", b"variable \xff").is_empty() && variables("a.tf", b"variable {{").is_empty()
        );
    }

    #[test]
    fn a_module_that_only_mentions_the_role_is_another() {
        let why = |text: &str| stranger(&variables("main.tf", text.as_bytes())).unwrap_or_default();
        for other in [
            "",
            "# variable \"machinepool_name\" {}",
            "output \"machinepool_name\" {\n  value = var.x\n}",
            "module \"pool\" {\n  machinepool_name = \"machinepool_name\"\n}",
            "variable \"description\" {\n  default = \"as \\\"machinepool_name\\\" says\"\n}",
        ] {
            assert!(why(other).contains("declares the variable machinepool_name"), "{other}: {}", why(other));
        }
        let few = why("variable \"machinepool_name\" {}\nvariable \"vpc_id\" {}");
        assert!(few.contains("does not have (vpc_id)"), "{few}");
        assert!(few.contains("missing: captf_contract, captf_cluster, captf_object and 9 more"), "{few}");
        let other = ours().replace("variable \"bootstrap_data\"", "variable \"user_data\"");
        assert!(why(&other).contains("(missing: bootstrap_data)"), "{}", why(&other));
        // A later description may have more variables, a shortened one fewer.
        assert_eq!(why(&format!("{}\nvariable \"later\" {{}}\n", ours())), "");
        assert_eq!(why("variable \"machinepool_name\" {}"), "");
    }
}
