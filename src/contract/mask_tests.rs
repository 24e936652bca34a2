use sha2::{Digest as _, Sha256};

use super::*;

const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX: &str = "0123456789abcdef";

/// A credential of each kind, and more of those of which the look differs.
const CREDENTIALS: [&str; 19] = [
    "abcdef.0123456789abcdef",
    "k3y9dx.0q1w2e3r4t5y6u7i",
    "abcdef.ghijklmnopqrstuv",
    "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6CiAgLSBrdWJlYWRtIGpvaW4gLS10b2tlbiBhYmNkZWYuMDEyMzQ1Njc4OWFiY2RlZgo=",
    "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6Cg==",
    "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6",
    "IyEvYmluL3NoCmE=",
    "IyMgdGVtcGxhdGU6IGppbmphCg==",
    "H4sIAAAAAAAAA0vOyS9N0U3Oz0vLTOcCAHDHkUUNAAAA",
    "Q29udGVudC1UeXBlOiBtdWx0aXBhcnQ=",
    "eyJpZ25pdGlvbiI6e319",
    "ewogICJpZ25pdGlvbiI6IHt9",
    "LS0tLS1CRUdJTiBLRVktLS0tLQ",
    "cGxhbnRlZC1qb2luLXRva2VuMQ==",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
    "K102fd4e1c67a2d28fced849ee1bb76e7391b93eb122fd4e1c67a2d28fced849ee1::server:0123",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Zk3QvF9sWq\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE----- MIIEowIBAAKCAQEAx7Zk3QvF9sWq",
];

/// What is shown as it is: AWS's words, and what people and programs name things.
const PLAIN: [&str; 46] = [
    "",
    "captf-team-a-demo-pool-0-43c6d828-0123456789abcdef0123456789",
    "sha256:2fd4e1c67a2d28fced849ee1bb76e7391b93eb122fd4e1c67a2d28fced849ee1",
    "sha256/2FD4E1C67A2D28FCED849EE1BB76E7391B93EB122FD4E1C67A2D28FCED849EE1",
    "v1.31.0+2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "v1.31.0-14+2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12",
    "v1.31.0-14-g2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "Prod-ClusterNodegroupRole569FD347-5cPEspsHMeLR",
    "WorkersInstanceRole3F2504E0-1XTPQ8ZKJ3V2M",
    "assumed-role/Prod-ClusterNodegroupRole569FD347-5cPEspsHMeLR/i-0123456789abcdef0",
    "export WorkersInstanceRole3F2504E0=\"x\" WorkersInstanceRole3F2504E0='' a",
    "WorkersInstanceRole3F2504E0=,Name=a",
    "JaneDoeMacBookPro2024Ed25519",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "jane.doe@example.com",
    "https://user@example.com/a:b",
    "https://127.0.0.1:4566/a@b",
    "ssh://git@github.com:22/a",
    "c2VjcmV0LWpvaW4=",
    "module.example.autoscaling.pools",
    "prefix.autoscalinggroup.pools and pools.prefix.autoscalinggroup",
    "a2b4c6.0123456789abcdef0 Xabcdef.0123456789abcdef 1abcdef.0123456789abcdef",
    "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "arn:aws:kms:us-east-1:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab",
    "arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
    "arn:aws:iam::1:role/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY Key=arn:aws:iam::1:role/abcdef.0123456789abcdef",
    "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_AdministratorAccess_0123456789abcdef/x@example.com",
    "arn:aws:servicecatalog:us-east-1:111122223333:/applications/0aqmvxnlmdopw4rzjtlk4tlyqc",
    "s3://Prod2Data9Bucket4/aB3dEfG7hIjKaB3dEfG7hIjKaB3dEfG7hIjKaB3dEfG7hIjK/pool",
    "AmazonEC2ReadOnlyAccess and AmazonEC2ContainerRegistryReadOnly",
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted: not now",
    "InvalidLaunchTemplateName.AlreadyExistsException (request 79104EXAMPLEB723)",
    "Access denied for AROAIOSFODNN7EXAMPLE0:session",
    "Invalid id: \"ami-0ABCDEF1234567890\" (expecting \"ami-...\")",
    "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20230516",
    "/tmp/.tmpX8sK2jQ9aB/plan.deploy.0123456789abcdef.tfplan",
    "/home/ops/Deployments/Production2/EuWest1/Clusters/Pool4/inputs",
    "https://s3.us-east-1.amazonaws.com/a-bucket/pool/demo-pool-0?x-id=PutObject",
    "export KUBELET_EXTRA_ARGS=\"${KUBELET_EXTRA_ARGS:-} --node-labels=$labels\"",
    "module.role.aws_autoscaling_group.pool_autoscaling_group[0]",
    "DescribeLaunchTemplateVersionsPaginatorConfiguration",
    "==== = a= =b",
    "größe 名前 🦀",
    "K10abc::def K102fd4e1c67a2d28fced849ee1bb76e7391b93eb122fd4e1c67a2d28fced849ee:1",
    "You are not authorized. Encoded authorization failure message: \
     wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0wJalrXUtnFEMIK7MDENG-wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0 (x)",
];

/// Characters of an alphabet, the same ones for the same numbers.
fn word(number: u32, alphabet: &str, length: usize) -> String {
    let alphabet = alphabet.as_bytes();
    let blocks =
        (0_u32..).flat_map(|block| Sha256::digest([number.to_be_bytes(), block.to_be_bytes()].concat()));
    blocks.take(length).map(|byte| char::from(alphabet[usize::from(byte) % alphabet.len()])).collect()
}

/// The names and ids of all kinds that programs and people make by chance.
fn chance_names(number: u32) -> Vec<String> {
    let of = |alphabet: &[&str], length| word(number, &alphabet.concat(), length);
    let sha = of(&[HEX], 40);
    let stack = of(&[DIGITS, UPPER], 13);
    let camel: String = (0..10)
        .map(|at| {
            word(number, UPPER, 10)[at..=at].to_owned()
                + &word(number + u32::try_from(at).unwrap_or_default(), LOWER, 4)
        })
        .collect();
    let logical = format!("WorkersInstanceRole{}", of(&[HEX], 8).to_uppercase());
    let instance = format!("i-{}", of(&[HEX], 17));
    let role = format!(
        "Prod-ClusterNodegroupRole{}-{}",
        of(&[HEX], 8).to_uppercase(),
        of(&[DIGITS, LOWER, UPPER], 12)
    );
    let ulid = of(&["0123456789ABCDEFGHJKMNPQRSTVWXYZ"], 26);
    vec![
        format!("assumed-role/{role}/{instance}"),
        format!("arn:aws:sts::111122223333:assumed-role/{role}/{instance}"),
        role,
        format!("{logical}-{stack}"),
        format!("demo-{logical}-{}", of(&[DIGITS, LOWER, UPPER], 12)),
        format!("AROA{}:{instance}", of(&[DIGITS, UPPER], 17)),
        format!("AIDA{}", of(&[DIGITS, UPPER], 17)),
        format!("AKIA{}", of(&[DIGITS, UPPER], 16)),
        ulid.to_lowercase(),
        ulid,
        of(&[DIGITS, LOWER, UPPER], 27),
        format!("c{}", of(&[DIGITS, LOWER], 24)),
        format!("a{}", of(&[DIGITS, LOWER], 23)),
        of(&[DIGITS, LOWER, UPPER, "_-"], 21),
        format!("Z{}", of(&[DIGITS, UPPER], 20)),
        format!("arn:aws:servicecatalog:us-east-1:1:/applications/{}", of(&[DIGITS, LOWER], 26)),
        of(&[DIGITS, LOWER], 20),
        format!("v1.31.0+{sha}"),
        format!("v1.31.0-4-g{sha}"),
        format!("{}-{}-{}-{}-{}", &sha[..8], &sha[8..12], &sha[12..16], &sha[16..20], &sha[20..32]),
        of(&[HEX], 64),
        format!("sha256:{}", of(&[HEX], 64)),
        camel,
        format!("{}@{}.com", of(&[DIGITS, LOWER], 20), of(&[LOWER], 12)),
        format!("https://{}@{}.com/{sha}", of(&[DIGITS, LOWER], 20), of(&[LOWER], 12)),
        instance,
    ]
}

#[test]
fn names_that_are_chance_are_shown() {
    for name in (0..1000).flat_map(chance_names) {
        for text in [name.clone(), format!("a='{name}'"), format!("(x/{name}: {name}.")] {
            assert_eq!(masked(&text), text);
        }
    }
}

#[test]
fn what_is_no_credential_is_shown() {
    for text in PLAIN {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn credentials_are_hidden_wherever_they_stand() {
    for credential in CREDENTIALS {
        let hidden = size(credential.len());
        assert_eq!(masked(credential), hidden, "{credential}");
        if credential.ends_with("9sWq") {
            continue;
        }
        for (before, after) in [
            ("The key pair '", "' does not exist"),
            ("InvalidKeyPair.NotFound: ", ""),
            ("", " is not valid"),
            ("größe \"", "\", ami-0abcdef1234567890"),
            ("Value=", " Key=a"),
            ("A=1 B=", ""),
            ("tags[\"", "\"]"),
            ("one\n", "\ntwo"),
            ("{\"a\":\"", "\"}"),
        ] {
            let text = format!("{before}{credential}{after} {before}{credential}{after}");
            let wanted = format!("{before}{hidden}{after} {before}{hidden}{after}");
            assert_eq!(masked(&text), wanted, "{text}");
        }
    }
}

#[test]
fn the_rest_of_a_word_is_shown() {
    for (text, wanted) in [
        ("s3://abcdef.0123456789abcdef/pool/a", "s3://(23 bytes, not shown)/pool/a"),
        ("kubernetes.io/cluster/abcdef.0123456789abcdef", "kubernetes.io/cluster/(23 bytes, not shown)"),
        ("Use abcdef.0123456789abcdef.", "Use (23 bytes, not shown)."),
        ("https://user:pa,s=s@word@example.com/x", "https://user:(11 bytes, not shown)@example.com/x"),
        ("a://b/https://:x@h", "a://b/https://:(1 bytes, not shown)@h"),
        ("a-----BEGIN x-----END x-----b", "a(27 bytes, not shown)b"),
    ] {
        assert_eq!(masked(text), wanted);
    }
}

#[test]
fn random_bytes_in_base64_are_a_credential() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let shown = |length: usize| {
        let keys =
            (0_u32..2000).map(|number| STANDARD.encode(&Sha256::digest(number.to_be_bytes())[..length]));
        keys.filter(|text| masked(text) == *text).count()
    };
    // Few have no digit, or too little mixture.
    for (length, most) in [(30, 10), (32, 10), (19, 80)] {
        let shown = shown(length);
        assert!(shown <= most, "{length}: {shown}");
    }
}

#[test]
fn strings_and_keys_of_a_document_are_masked_one_by_one() {
    for credential in CREDENTIALS {
        // The credential is the key as well.
        let document = |text: &str| {
            let key = serde_json::json!({text: format!("x {text}")});
            serde_json::json!(["a\"\\", 1.5, text, ["x\n\\"], key, "größe"]).to_string()
        };
        assert_eq!(masked_json(&document(credential), &[]), document(&size(credential.len())));
        assert_eq!(
            masked_json(&document(credential), &[credential, &format!("x {credential}")]),
            document(credential)
        );
    }
    for document in ["", "[]", "\"", "\"open\\", "{\"a\":\"b\"}", "[1,null]"] {
        assert_eq!(masked_json(document, &[]), document);
    }
}

#[test]
fn texts_that_differ_look_different_in_a_document() {
    let (one, other) = ("abcdef.0123456789abcdef", "abcdef.0123456789abcdeg");
    let document = format!("{{\"{one}\":\"{other}\",\"{other}\":\"{one}\",\"a {one}\":1}}");
    assert_eq!(
        masked_json(&document, &[]),
        "{\"(23 bytes, not shown)\":\"(23 bytes, not shown) (2)\",\
         \"(23 bytes, not shown) (2)\":\"(23 bytes, not shown)\",\"a (23 bytes, not shown)\":1}"
    );
}

#[test]
fn lines_stay_lines() {
    let text = "a\n-----BEGIN KEY-----\nabc\n\n-----END KEY-----\nb abcdef.0123456789abcdef\nc";
    assert_eq!(
        masked_lines(text),
        [
            "a\n",
            "(19 bytes, not shown)\n",
            "(3 bytes, not shown)\n",
            "\n",
            "(17 bytes, not shown)\n",
            "b (23 bytes, not shown)\n",
            "c"
        ]
    );
    assert!(masked_lines("").is_empty());
}

/// Each would take hours if anything were looked at again for each part.
#[test]
fn long_texts_take_no_longer_than_they_are() {
    for piece in [
        "-----BEGIN",
        "-----END",
        "-----BEGIN-----END",
        "-",
        "=",
        "a=",
        "a==\"",
        "/",
        "a/",
        "aB3",
        "aB3/",
        "eyJ",
        "eyJa.",
        "eyJ-",
        "eyJ ",
        "K10",
        "abcdef.0123456789abcdef ",
        "abcdef.",
        ".",
        "://",
        "://:@",
        "://a:",
        "@",
        "\"",
        "\\\"",
        " ",
        "\n",
        "I2Nsb3VkLWNvbmZpZ",
        "arn:",
        "s3://",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        assert!(masked(&text).len() <= 3 * text.len(), "{piece}");
        assert_eq!(masked_lines(&text).len(), text.split_inclusive('\n').count(), "{piece}");
        masked_json(&text, &[]);
    }
    let token = format!("K10{}::", "a".repeat(64));
    assert_eq!(masked(&token.repeat(4000)), size(4000 * token.len()));
}

proptest::proptest! {
    #[test]
    fn no_text_panics_and_nothing_else_is_lost(text in "[ a-zA-Z0-9=/+.:@'\n\u{e9}-]{0,80}") {
        check(&text)?;
        let shown = masked(&text);
        proptest::prop_assert_eq!(masked(&shown), shown.clone());
    }

    #[test]
    fn no_blocks_and_tokens_panic(
        parts in proptest::collection::vec("-----(BEGIN|END)|-{1,6}| |\n|=|\u{e9}|abcdef|[.]0123456789abcdef|arn:|s3://|://a:b@|eyJ|K10", 0..30)
    ) {
        check(&parts.concat())?;
    }
}

fn check(text: &str) -> Result<(), proptest::test_runner::TestCaseError> {
    let shown = masked(text);
    if !shown.contains("not shown") {
        proptest::prop_assert_eq!(&*shown, text);
    }
    let lines = masked_lines(text);
    proptest::prop_assert_eq!(lines.len(), text.split_inclusive('\n').count());
    proptest::prop_assert_eq!(lines.concat() == text, shown == text);
    Ok(())
}
