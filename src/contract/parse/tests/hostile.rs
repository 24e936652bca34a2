//! Inputs that nobody writes by mistake: nothing panics, nothing takes long, no secret shows.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{demo_with, refused, request};
use crate::contract::{
    inputs::Inputs,
    json::tests::any_json,
    known::KNOWN,
    problem::{Diagnostic, Problems},
    request::{Request, Scope},
};

fn both(text: &str) -> Result<(), Problems> {
    let inputs = demo_with(text);
    let _ = Scope::parse(&inputs);
    Request::parse(&inputs).map(drop)
}

fn whole_text(problems: &[Diagnostic]) -> String {
    let texts: Vec<String> = problems.iter().map(|problem| format!("{problem}\n{problem:?}")).collect();
    texts.join("\n")
}

#[test]
fn nothing_reaches_a_shell_or_a_name_unchecked() {
    let attacks = [
        "'", "\"", "`id`", "$(id)", "a\nb", "a;b", "a b", "a\\", "a\u{0}b", "a\r", "ａ", "a&b", "../a", "a|b",
    ];
    let inputs = ["captf_object.namespace", "machinepool_name"];
    for attack in attacks {
        for exports in ["region", "bootstrap_bucket"] {
            let case = json!({"captf_cluster_outputs": {
                "schema": "captf.io/aws-cluster/v1", exports: attack,
            }});
            assert!(both(&case.to_string()).is_err(), "{exports} {attack:?}");
            let scope = Scope::parse(&demo_with(&case.to_string())).unwrap();
            assert_eq!((scope.region, scope.bucket), (None, None), "{exports} {attack:?}");
        }
        for input in inputs {
            let case = match input.split_once('.') {
                Some((object, name)) => {
                    json!({object: {name: attack, "kind": "TerraformMachinePool", "name": "x"}})
                }
                None => json!({input: attack}),
            };
            assert!(both(&case.to_string()).is_err(), "{input} {attack:?}");
            assert!(Scope::parse(&demo_with(&case.to_string())).is_err(), "{input} {attack:?}");
        }
        for label in [json!({attack: "x"}), json!({"x": attack})] {
            assert!(both(&json!({"node_labels": label}).to_string()).is_err(), "label {attack:?}");
        }
    }
}

#[test]
fn large_inputs_are_read_in_linear_time_and_told_in_short() {
    let start = Instant::now();
    let count = 20_000;
    let map = |value: Value| (0..count).map(|i| (format!("bad key {i}"), value.clone())).collect::<Value>();
    let list = vec![json!("us-east-1"); count];
    for (name, value) in [
        ("node_labels", map(json!("x"))),
        ("captf_tags", map(json!([]))),
        ("additional_tags", map(json!("a;b"))),
        ("failure_domains", list.clone().into()),
        ("additional_security_group_ids", list.into()),
        ("machine_image", map(json!(1))),
        (
            "captf_cluster_outputs",
            json!({"schema": "captf.io/aws-cluster/v1", "failure_domains": map(json!({}))}),
        ),
        ("instance_type", "m".repeat(count * 100).into()),
        ("bootstrap_data", STANDARD.encode(vec![b'x'; 1 << 20]).into()),
        ("autoscaling", json!({"enabled": true, "min": "9".repeat(count * 100), "max": 1})),
    ] {
        if let Err(problems) = both(&json!({name: value}).to_string()) {
            assert!(problems.0.len() <= 21, "{name}");
            assert!(whole_text(&problems.0).len() < 50_000, "{name}");
        }
    }
    let problems = refused(&map(json!(1)).to_string());
    assert_eq!(problems.0.len(), 21, "unknown names are told in short, too");
    assert!(start.elapsed() < Duration::from_mins(2), "quadratic work would take hours");
}

#[test]
fn a_payload_of_any_bytes_arrives_whole() {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let case = json!({"bootstrap_data": STANDARD.encode(&bytes)}).to_string();
    assert_eq!(request(&case).bootstrap_data.expose(), bytes);
}

#[test]
fn a_secret_in_the_place_of_a_name_is_not_repeated() {
    let secret = STANDARD.encode([b"PLANTED-SECRET".as_slice(), &[b'x'; 60]].concat());
    let mut inputs = demo_with(&json!({&secret: "x"}).to_string());
    inputs.add_var(&format!("{secret}==")).unwrap();
    let problems = Request::parse(&inputs).unwrap_err();
    assert!(!whole_text(&problems.0).contains(&secret[..20]), "{problems:#?}");
}

proptest! {
    #[test]
    fn any_value_of_any_input_is_accepted_or_refused(index in 0..KNOWN.len(), value in any_json()) {
        let (name, _) = KNOWN[index];
        if let Err(Problems(problems)) = both(&json!({name: value}).to_string()) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(problem.summary.contains(name) || problem.summary.contains("external_cluster_exports"));
                prop_assert!(!problem.to_string().replace("\n\n", "").contains(char::is_control), "{:?}", problem);
            }
        }
    }

    #[test]
    fn any_attributes_are_accepted_or_refused(
        index in 0..5_usize,
        values in prop::collection::vec(any_json(), 8),
    ) {
        let object = ["captf_object", "captf_cluster_outputs", "autoscaling", "machine_image", "captf_cluster"][index];
        let attributes = [
            "name", "namespace", "enabled", "min", "max", "id", "owner", "architecture", "region", "failure_domains",
            "security_group_ids", "bootstrap_bucket", "kind", "schema", "name_format",
        ];
        let fields: Value =
            attributes.into_iter().zip(values.iter().cycle()).map(|(k, v)| (k.to_owned(), v.clone())).collect();
        let _ = both(&json!({object: fields}).to_string());
    }

    #[test]
    fn whole_documents_are_accepted_or_refused(value in any_json()) {
        let mut inputs = Inputs::default();
        if inputs.add_file("x", value.to_string().as_bytes()).is_ok() {
            prop_assert!(Request::parse(&inputs).is_err(), "nothing is complete by chance");
            let _ = Scope::parse(&inputs);
        }
    }

    #[test]
    fn options_never_panic(text in ".{0,40}") {
        let mut inputs = Inputs::default();
        let _ = inputs.add_var(&text);
        let _ = Request::parse(&inputs);
    }

    #[test]
    fn planted_secrets_show_in_no_problem(before in "[ -~]{0,10}", after in "[ -~\n]{0,10}", shape in 0..6_usize) {
        let secret = format!("{before}PLANTED{after}");
        let value = match shape {
            0 => json!(secret),
            1 => json!([secret]),
            2 => json!({&secret: secret}),
            3 => json!({"a": {&secret: [secret]}}),
            4 => json!(format!("{}!", STANDARD.encode(format!("PLANTED{secret}")))),
            _ => json!(format!("{secret}{}", "A".repeat(1000))),
        };
        let text = json!({"bootstrap_data": value, "replicas": -1, "spott": true}).to_string();
        let problems = both(&text).unwrap_err();
        let told = whole_text(&problems.0);
        prop_assert!(!told.contains("PLANTED") && !told.contains("UExBTlRFR"), "{}", told);
        let mut inputs = Inputs::default();
        let errors = [
            inputs.add_file("x", text.replace(",\"replicas\"", ",,\"replicas\"").as_bytes()).err(),
            inputs.add_file("x", &text.as_bytes()[..text.len() - 1]).err(),
            inputs.add_var(&format!("bootstrap_data={{{value}")).err(),
        ];
        let told = whole_text(&errors.into_iter().flatten().collect::<Vec<_>>());
        prop_assert!(!told.contains("PLANTED") && !told.contains("UExBTlRFR"), "{}", told);
    }

    #[test]
    fn whole_numbers_mean_the_same_however_written(n in 8_u32..=16384, zeros in 0..5_usize) {
        let zeros = "0".repeat(zeros);
        for text in [
            n.to_string(),
            format!("{n}.0{zeros}"),
            format!("{n}{zeros}e-{}", zeros.len()),
            format!("\"{n}\""),
            format!("\"{zeros}{n}.{zeros}\""),
            format!("\"+{n}{zeros}E-{}\"", zeros.len()),
        ] {
            let size = request(&format!("{{\"root_volume_size_gib\": {text}}}")).root_volume_size_gib;
            prop_assert_eq!(size, n, "{}", text);
        }
    }
}
