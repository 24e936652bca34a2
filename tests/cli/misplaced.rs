//! Values in the wrong place: whatever was meant, no message repeats what may be a secret.

use serde_json::{Value, json};

use super::{Bench, demo};

/// Bootstrap data and credentials as they get into the wrong place.
const SECRETS: [&str; 8] = [
    "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6CiAgLSBrdWJlYWRtIGpvaW4gLS10b2tlbiBhYmNkZWYuMDEyMzQ1Njc4OWFiY2RlZgo=",
    "c2VjcmV0LWpvaW4=",
    "abcdef.0123456789abcdef",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "{\"bootstrap_data\":\"cGxhbnRlZA==\"}",
    "#cloud-config\nruncmd: [planted]",
    "https://user:planted@example.com/x",
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
];

/// Each command line, `@` being the secret.
const LINES: [&str; 44] = [
    "validate -var-file @",
    "validate -var-file=@",
    "plan -var-file @ -var replicas=1",
    "validate -json -var-file @",
    "plan -json -var-file @",
    "validate -var @",
    "validate DEMO -var @=1",
    "validate DEMO -var bootstrap_format=@",
    "validate -json DEMO -var bootstrap_format=@",
    "validate DEMO -var root_volume_type=@",
    "validate DEMO -var instance_type=@",
    "validate DEMO -var replicas=@",
    "validate DEMO -var spot=@",
    "validate DEMO -var machinepool_name=@",
    "validate DEMO -var ssh_key_name=@ -var replicas=x",
    "plan --sandbox s.json DEMO -var autoscaler=@",
    "destroy --sandbox s.json DEMO -var machinepool_name=@",
    "apply @",
    "apply -json @",
    "show @",
    "show -json @",
    "plan --sandbox s.json DEMO -out=no-such/@",
    "plan DEMO @",
    "apply --timeout @",
    "apply --timeout=@",
    "apply -lock-timeout=@",
    "apply -input=@",
    "apply -parallelism=@",
    "plan --format @",
    "plan --no-color=@",
    "iam-policy --region @ --all-pools",
    "iam-policy --account @ --all-pools",
    "iam-policy --compare no-such/@ --all-pools",
    "--log @ plan",
    "plan --@",
    "plan --foo=@",
    "plan -foo=@",
    "@",
    "help @",
    "schema @",
    "completions @",
    "man @",
    "outputs @",
    "-chdir=@ version",
];

#[test]
fn no_secret_in_the_wrong_place_is_repeated() {
    let bench = Bench::new();
    let demo = format!("-var-file={}", demo().display());
    for secret in SECRETS {
        // Parts of it are as bad.
        let parts: Vec<&str> = secret
            .split(['/', '\n', '"', ' '])
            .filter(|part| part.len() >= 8 && *part != "bootstrap_data")
            .collect();
        for line in LINES {
            let words = line.split(' ').map(|word| word.replace("DEMO", &demo).replace('@', secret));
            let outcome = super::Outcome::of(&bench.command(words).output().unwrap());
            let told = outcome.out + &outcome.err;
            // A token looks like an instance type or the name of a pool: then it is one.
            if outcome.code == 0 && secret.starts_with("abcdef.") {
                continue;
            }
            assert_eq!(outcome.code, 1, "{line} {secret}: {told}");
            for part in &parts {
                assert!(!told.contains(part), "{line} {secret}: {told}");
            }
        }
    }
}

#[test]
fn a_file_that_is_none_is_told_with_what_to_give() {
    let bench = Bench::new();
    let outcome =
        bench.run("validate -var-file {\"replicas\":3}").fails("Error: Cannot read the inputs from (a name");
    for part in ["-var-file", "does not look like the name of a file", "-var NAME=VALUE"] {
        assert!(outcome.err.contains(part), "{part}: {}", outcome.err);
    }
    let outcome = bench
        .run("apply c2VjcmV0LWpvaW4=")
        .fails("Error: Failed to load \"(a name of 16 bytes, not shown)\"");
    assert!(outcome.err.contains("PLANFILE"), "{}", outcome.err);
    bench.run("validate -var-file=").fails("Error: Cannot read the inputs from \"\"\n");
}

#[test]
fn what_is_no_secret_is_repeated_as_it_was_given() {
    let bench = Bench::new();
    let demo = format!("-var-file={}", demo().display());
    for (line, part) in [
        ("apply --timeout 5x", "'5x'"),
        ("plan --format yaml", "'yaml'"),
        ("iam-policy --all-pools --region US-EAST-1", "'US-EAST-1'"),
        ("plan pool-0.tfplan", "'pool-0.tfplan'"),
        ("apply no-such.tfplan", "\"no-such.tfplan\""),
        ("apply clusters/demo/no-such", "\"clusters/demo/no-such\""),
        ("plan -detailed-exitcod", "'--detailed-exitcod'"),
        (
            "validate DEMO -var bootstrap_format=CloudConfig",
            "bootstrap_format is \"CloudConfig\", but must be",
        ),
        ("validate DEMO -var root_volume_type=gp4", "root_volume_type is \"gp4\", but must be"),
        ("validate DEMO -var instance_type=m6ilarge", "\"m6ilarge\""),
        ("validate DEMO -var replicas=many", "\"many\""),
        ("validate DEMO -var machine_image={\"id\":\"ami-xyz\"}", "\"ami-xyz\""),
        (
            "validate DEMO -var root_volume_kms_key_id=arn:aws:kms:us-east-1:111122223333:alias/disks",
            "alias/disks",
        ),
        ("validate DEMO -var no_such_input=1", "no_such_input"),
    ] {
        bench.run(&line.replace("DEMO", &demo)).fails(part);
    }
}

/// What no output may hold, whatever it was set for.
const PLANTED: [&str; 3] = [
    "k3y9dx.0q1w2e3r4t5y6u7i",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Zk3QvF9sWqB2\n-----END RSA PRIVATE KEY-----\n",
    "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6CiAgLSBrdWJlYWRtIGpvaW4gLS10b2tlbiBhYmNkZWYuMDEyMzQ1Njc4OWFiY2RlZgo=",
];

/// A pool's life. The first commands may refuse the value, and then all the others do.
const LIFE: [&str; 10] = [
    "validate",
    "validate -json",
    "plan --sandbox s.json",
    "plan --sandbox s.json --format json",
    "plan -json --sandbox s.json",
    "apply -json -auto-approve --sandbox t.json",
    "doctor --sandbox s.json",
    "apply -auto-approve --sandbox s.json --log debug",
    "status --sandbox s.json --format json",
    "status --sandbox s.json",
];

/// Every input with a text in it, and all variables.
fn complete() -> Value {
    let mut all: Value = serde_json::from_str(&std::fs::read_to_string(demo()).unwrap()).unwrap();
    let variables = json!({
        "additional_security_group_ids": ["sg-0a1b2c3d4e5f60777"],
        "additional_tags": {"team": "x"},
        "autoscaler": "native",
        "instance_type": "m6i.large",
        "machine_image": {
            "id": "", "owner": "self", "name_format": "capa-{semver}-*", "architecture": "x86_64",
            "root_device_name": "/dev/sda1",
        },
        "root_volume_kms_key_id": "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "root_volume_type": "gp3",
        "ssh_key_name": "ops",
    });
    all.as_object_mut().unwrap().extend(variables.as_object().unwrap().clone());
    all
}

/// The ways to every text, as JSON pointers.
fn texts(value: &Value, way: &str, found: &mut Vec<String>) {
    let step = |key: &str| format!("{way}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::String(_) => found.push(way.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(item, &step(&at.to_string()), found));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, item)| texts(item, &step(key), found)),
        _ => {}
    }
}

/// Whether an output has a piece of a secret in it, be it across lines or cells.
fn holds(told: &str, secret: &str) -> bool {
    let bare: String = told.chars().filter(char::is_ascii_graphic).collect();
    let body: Vec<&str> = secret.lines().filter(|line| !line.starts_with("-----")).collect();
    body.iter().any(|line| {
        let pieces = line.as_bytes().windows(16).map(|piece| std::str::from_utf8(piece).unwrap());
        pieces.into_iter().any(|piece| bare.contains(piece) || told.contains(piece))
    })
}

#[test]
fn no_command_shows_a_credential_whatever_it_was_set_for() {
    let complete = complete();
    let mut ways = Vec::new();
    texts(&complete, "", &mut ways);
    // The name of an object in Kubernetes is no secret, and part of the group's name.
    ways.retain(|way| way != "/machinepool_name");
    assert!(ways.len() > 40, "{ways:?}");
    ways.extend(["/additional_tags/", "/captf_tags/", "/node_labels/"].map(str::to_owned));
    let mut lived = 0;
    for way in ways {
        for secret in PLANTED {
            let bench = Bench::new();
            let mut inputs = complete.clone();
            match way.strip_suffix('/') {
                Some(map) => inputs.pointer_mut(map).unwrap()[secret] = json!("x"),
                None => *inputs.pointer_mut(&way).unwrap() = json!(secret),
            }
            bench.write("pool.json", &inputs.to_string());
            for (number, line) in LIFE.iter().enumerate() {
                let outcome = bench.run(&format!("{line} -var-file=pool.json"));
                let told = outcome.out + &outcome.err;
                assert!(!holds(&told, secret), "{way}: {line}: {told}");
                lived += usize::from(number > 6 && outcome.code == 0);
                if number == 3 && outcome.code != 0 {
                    break;
                }
            }
        }
    }
    assert!(lived > 60, "most of the values are accepted: {lived}");
}
