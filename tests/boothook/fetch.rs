//! The bootstrap data: fetched once per instance, judged, installed whole or not at all.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::host::{Boot, Host, INSTALLED, OBJECT, SECRET, find, script, shells};

const DIR: &str = "etc/cloud/cloud.cfg.d";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new(find("gzip").unwrap())
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn first_boot_installs_the_payload() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(&[], "i-1").ok();
        assert_eq!(host.text(INSTALLED), format!("#cloud-config\ntoken: {SECRET}\n"));
        assert_eq!(host.mode(INSTALLED), 0o600);
        assert_eq!(host.names(DIR), ["99-captf-bootstrap.cfg"]);
        let calls = host.notes("calls");
        assert_eq!(calls.len(), 1);
        let (options, target) = calls[0].split_once(&format!(" {OBJECT} ")).unwrap();
        assert!(options.starts_with("s3 cp --region eu-west-1 "), "{options}");
        let target = Path::new(target);
        // On the same file system, and not yet cloud-init's to read.
        assert_eq!(target.parent(), Some(host.path(DIR).as_path()));
        assert_ne!(target.extension().unwrap(), "cfg");
        assert!(host.notes("sleeps").is_empty());
    }
}

/// A way that swallows everything lets the CLI wait a minute for each of its five tries, unless it is told not to.
#[test]
fn each_try_is_bounded() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.cli("env >@/env; cat @/payload >\"$destination\"");
        host.boot(&[], "i-1").ok();
        let call = &host.notes("calls")[0];
        assert!(call.contains(" --cli-connect-timeout 5 --cli-read-timeout 15 "), "{call}");
        let variables = host.notes("env");
        for bound in ["AWS_MAX_ATTEMPTS=1", "AWS_RETRY_MODE=standard"] {
            assert!(variables.iter().any(|variable| variable == bound), "{bound}: {variables:?}");
        }
    }
}

#[test]
fn later_boots_fetch_nothing_even_after_a_rotation() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(&[("a", "1")], "i-1").ok();
        let first = host.read(INSTALLED);
        host.serve(b"#cloud-config\nrotated: true\n");
        host.boot(&[("a", "2")], "i-1").ok();
        host.without_cli();
        host.boot(&[("a", "3")], "i-1").ok();
        assert_eq!(host.notes("calls").len(), 1);
        assert_eq!(host.read(INSTALLED), first);
        assert!(host.text("etc/default/kubelet").contains("a=3"), "labels are every boot's");
    }
}

#[test]
fn an_image_made_of_a_member_gets_its_own() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(&[], "i-donor").ok();
        host.serve(b"#cloud-config\nmine: true\n");
        host.boot(&[], "i-1").ok();
        assert_eq!(host.text(INSTALLED), "#cloud-config\nmine: true\n");
        host.boot(&[], "i-1").ok();
        assert_eq!(host.notes("calls").len(), 2);
    }
}

#[test]
fn the_donors_file_goes_before_the_first_fetch() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(&[], "i-donor").ok();
        host.cli(&format!("[ -e {} ] && echo there >>@/seen\nexit 1", host.path(INSTALLED).display()));
        host.boot(&[], "i-1").failed("60 tries");
        assert!(host.notes("seen").is_empty());
        assert!(host.names(DIR).is_empty());

        let host = Host::new(&shell);
        host.boot(&[], "i-donor").ok();
        host.without_cli();
        host.boot(&[], "i-1").failed("no AWS CLI");
        assert!(host.names(DIR).is_empty());
        // Back as the donor: what it once had is gone, and nothing pretends otherwise.
        host.serve(b"#cloud-config\n");
        host.boot(&[], "i-donor").ok();
        assert_eq!(host.text(INSTALLED), "#cloud-config\n");
    }
}

#[test]
fn a_file_of_unknown_origin_is_replaced() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.write(INSTALLED, "#cloud-config\nwhose: unknown\n");
        host.without_cli();
        host.boot(&[], "i-1").failed("no AWS CLI");
        assert_eq!(host.read(INSTALLED), None);
    }
}

#[test]
fn a_crash_at_any_moment_ends_in_a_new_fetch() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(&[], "i-1").ok();
        // The record is there, the file is not yet, or is empty after a power cut.
        fs::remove_file(host.path(INSTALLED)).unwrap();
        host.boot(&[], "i-1").ok();
        host.write(INSTALLED, "");
        // What a kill in the middle of a download leaves, the CLI's own temporary file included.
        host.write("etc/cloud/cloud.cfg.d/.99-captf-bootstrap.new", SECRET);
        host.write("etc/cloud/cloud.cfg.d/.99-captf-bootstrap.new.a1B2c3D4", SECRET);
        host.boot(&[], "i-1").ok();
        assert_eq!(host.notes("calls").len(), 3);
        assert_eq!(host.names(DIR), ["99-captf-bootstrap.cfg"]);
        assert_eq!(host.mode(INSTALLED), 0o600);
    }
}

#[test]
fn the_instance_id_comes_from_cloud_init_alone() {
    type Place = (&'static str, fn(&Host, &str));
    let places: [Place; 3] = [
        ("data", |host, id| host.write("var/lib/cloud/data/instance-id", format!("{id}\n"))),
        ("run", |host, id| host.write("run/cloud-init/.instance-id", id)),
        ("link", |host, id| {
            let link = host.path("var/lib/cloud/instance");
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(format!("/var/lib/cloud/instances/{id}"), link).unwrap();
        }),
    ];
    for shell in shells() {
        for (name, put) in places {
            let host = Host::new(&shell);
            put(&host, "i-1");
            host.boot_unnamed(&[]).ok();
            host.boot_unnamed(&[]).ok();
            // The same instance, now named by the environment.
            host.boot(&[], "i-1").ok();
            assert_eq!(host.notes("calls").len(), 1, "{name}");
            put(&host, "i-2");
            host.boot_unnamed(&[]).ok();
            assert_eq!(host.notes("calls").len(), 2, "{name}");
        }
        // Nobody knows: never trust what is there.
        let host = Host::new(&shell);
        for calls in 1..=2 {
            let boot = host.boot_unnamed(&[]);
            boot.ok();
            assert!(boot.said.contains("no instance id"));
            assert_eq!(host.notes("calls").len(), calls);
        }
    }
}

#[test]
fn accepts_cloud_config_byte_for_byte() {
    let mut binary = b"#cloud-config\r\nquote: 'it\"s $HOME `x` \\n'\r\n".to_vec();
    binary.extend(0..=255);
    binary.extend(b"no line end");
    let long = format!("#cloud-config {}", "x".repeat(300_000)).into_bytes();
    let payloads: [&[u8]; 9] = [
        b"#cloud-config\n",
        b"#cloud-config",
        b"#cloud-config\r\n",
        b"#cloud-config # from Cluster API\nx: 1\n",
        b"## template: jinja\n#cloud-config\nx: {{ v1.local_hostname }}\n",
        b"## template: jinja\r\n#cloud-config\r\nx: 1\r\n",
        b"## template: jinja\n#cloud-config",
        &binary,
        &long,
    ];
    for shell in shells() {
        for payload in payloads {
            for body in [payload.to_vec(), gzip(payload)] {
                let host = Host::new(&shell);
                host.serve(&body);
                host.boot(&[], "i-1").ok();
                assert!(host.read(INSTALLED).as_deref() == Some(payload), "bytes differ");
                assert_eq!(host.mode(INSTALLED), 0o600);
                assert_eq!(host.names(DIR), ["99-captf-bootstrap.cfg"]);
            }
        }
    }
}

#[test]
fn refuses_anything_else() {
    let payloads: [&[u8]; 18] = [
        b"#!/bin/sh\n",
        b"\n#cloud-config\n",
        b" #cloud-config\n",
        b"\xef\xbb\xbf#cloud-config\n",
        b"#cloud\0-config\n",
        b"#Cloud-Config\n",
        b"# cloud-config\n",
        b"#cloud-boothook\n",
        b"#cloud-config-archive\n- x\n",
        b"#cloud-config-jsonp\n[]\n",
        b"#include\nhttp://example.com\n",
        b"Content-Type: multipart/mixed\n",
        b"## template: jinja\n#!/bin/sh\n",
        b"## template: jinja\n\n#cloud-config\n",
        b"## template: jinja\n",
        b"## template: mako\n#cloud-config\n",
        b"{\"ignition\":{\"version\":\"3.0.0\"}}",
        b"\0",
    ];
    for shell in shells() {
        for payload in payloads {
            for body in [payload.to_vec(), gzip(payload)] {
                let host = Host::new(&shell);
                host.serve(&[&body[..], &gzip(SECRET.as_bytes())].concat());
                host.boot(&[], "i-1").failed(OBJECT);
                assert!(host.names(DIR).is_empty(), "{payload:?} left {:?}", host.names(DIR));
                assert_eq!(host.notes("calls").len(), 1, "{payload:?} was fetched again");
            }
        }
    }
}

#[test]
fn refuses_what_is_empty_or_damaged() {
    let whole = gzip(format!("#cloud-config\n{SECRET}\n{}", "x: 1\n".repeat(5000)).as_bytes());
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    for shell in shells() {
        for payload in [&b""[..], &whole[..whole.len() / 2], &whole[..2], &flipped, &gzip(b""), &gzip(&whole)]
        {
            let host = Host::new(&shell);
            host.serve(payload);
            host.boot(&[], "i-1").failed(OBJECT);
            assert!(host.names(DIR).is_empty());
            // Nothing is held against the next boot.
            host.serve(b"#cloud-config\n");
            host.boot(&[], "i-1").ok();
            assert_eq!(host.text(INSTALLED), "#cloud-config\n");
        }
    }
}

#[test]
fn a_download_that_made_no_file_is_refused() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.cli("exit 0");
        host.boot(&[], "i-1").failed("empty");
    }
}

#[test]
fn says_at_once_that_there_is_no_cli() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.without_cli();
        host.boot(&[("a", "1")], "i-1").failed("no AWS CLI");
        assert!(host.notes("sleeps").is_empty());
        assert!(host.text("etc/default/kubelet").contains("a=1"), "labels come first");
    }
}

#[test]
fn finds_a_cli_outside_cloud_inits_path() {
    for shell in shells() {
        for place in ["usr/local/bin/aws", "snap/bin/aws"] {
            let host = Host::new(&shell);
            let cli = fs::read(host.path("../fakes/aws")).unwrap();
            host.without_cli();
            host.write(place, cli);
            let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
            fs::set_permissions(host.path(place), executable).unwrap();
            host.boot(&[], "i-1").ok();
        }
    }
}

#[test]
fn tries_sixty_times_five_seconds_apart() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.fail(59);
        host.boot(&[], "i-1").ok();
        assert_eq!(host.notes("calls").len(), 60);
        assert_eq!(host.notes("sleeps"), ["5"; 59]);
        assert_eq!(host.names(DIR), ["99-captf-bootstrap.cfg"]);
        assert_eq!(host.text(INSTALLED), format!("#cloud-config\ntoken: {SECRET}\n"));

        let host = Host::new(&shell);
        host.fail(60);
        let boot = host.boot(&[], "i-1");
        boot.failed("60 tries");
        assert!(boot.said.contains("denied"), "the CLI's own words are worth having");
        assert_eq!(host.notes("calls").len(), 60);
        assert_eq!(host.notes("sleeps").len(), 59);
        assert!(host.names(DIR).is_empty());
    }
}

#[test]
fn a_signal_leaves_nothing_behind() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.cli(
            "echo half >\"$destination\"\necho half >\"$destination\".a1B2c3D4\n\
             echo started >>@/started\nexec sleep 30",
        );
        let begin = Instant::now();
        let child = host.command(&script(&[]), Some("i-1")).spawn().unwrap();
        while host.notes("started").is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(20), "never started");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!host.names(DIR).is_empty());
        let kill = format!("kill -TERM {}", child.id());
        assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
        let boot = Boot::of(&child.wait_with_output().unwrap());
        assert!(begin.elapsed() < Duration::from_secs(20), "waited for the download to end");
        assert_eq!(boot.code, Some(143));
        assert!(host.names(DIR).is_empty());
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    for shell in shells() {
        let host = Host::new(&shell);
        fs::remove_dir(host.path(DIR)).unwrap();
        host.write(DIR, "no directory");
        assert_ne!(host.boot(&[], "i-1").code, Some(0));
        assert!(host.notes("calls").is_empty());

        // Made when it is not there.
        let host = Host::new(&shell);
        fs::remove_dir_all(host.path("etc/cloud")).unwrap();
        host.boot(&[], "i-1").ok();
        assert_eq!(host.mode(DIR), 0o755);
        assert_eq!(host.mode(INSTALLED), 0o600);
    }
}
