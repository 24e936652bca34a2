//! Node labels: registered on every boot, next to what the image has, and undone without a trace.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::host::{Host, INSTALLED, shells};

const DEBIAN: &str = "etc/default/kubelet";
const RED_HAT: &str = "etc/sysconfig/kubelet";
const RKE2: &str = "etc/rancher/rke2/config.yaml.d/50-captf-node-labels.yaml";
const LABELS: &[(&str, &str)] = &[("team", "platform"), ("example.com/x", "")];
const FLAG: &str = "--node-labels=example.com/x=,team=platform";

/// The line that counts: systemd and shells alike take the last one.
fn last_setting(text: &str) -> &str {
    text.lines().rfind(|line| line.starts_with("KUBELET_EXTRA_ARGS=")).unwrap()
}

#[test]
fn keeps_the_images_own_value_in_every_quoting() {
    // The image's file, and what comes before our flag in our line, with the quote that it opens with.
    let cases = [
        ("", "\""),
        ("# KUBELET_EXTRA_ARGS=--no\n", "\""),
        ("MY_KUBELET_EXTRA_ARGS=--no\nKUBELET_EXTRA_ARGS_X=--no\n", "\""),
        ("KUBELET_EXTRA_ARGS=\n", "\""),
        ("KUBELET_EXTRA_ARGS=\"\"\n", "\""),
        ("KUBELET_EXTRA_ARGS=''\n", "'"),
        ("KUBELET_EXTRA_ARGS=--a=b\n", "\"--a=b "),
        ("KUBELET_EXTRA_ARGS=--a=b", "\"--a=b "),
        ("KUBELET_EXTRA_ARGS=--a=b\r\n", "\"--a=b "),
        ("KUBELET_EXTRA_ARGS=--a --b  \n", "\"--a --b "),
        ("KUBELET_EXTRA_ARGS=\"--a --b\"\n", "\"--a --b "),
        ("KUBELET_EXTRA_ARGS=\"--a --b\"\r\nX=1\r\n", "\"--a --b "),
        ("KUBELET_EXTRA_ARGS='--a --b'\n", "'--a --b "),
        ("KUBELET_EXTRA_ARGS='--a --b'", "'--a --b "),
        ("export KUBELET_EXTRA_ARGS=\"--a\"\n", "\"--a "),
        ("  export\tKUBELET_EXTRA_ARGS='--a'\n", "'--a "),
        ("\tKUBELET_EXTRA_ARGS = --a\n", "\"--a "),
        ("KUBELET_EXTRA_ARGS=\"--a\" # why\n", "\"--a "),
        ("KUBELET_EXTRA_ARGS='--a'   \n", "'--a "),
        ("KUBELET_EXTRA_ARGS=--a # why\n", "\"--a "),
        ("KUBELET_EXTRA_ARGS= # none\n", "\""),
        ("KUBELET_EXTRA_ARGS=--a\nKUBELET_EXTRA_ARGS=\"--b\"\nX=\"1\"\n", "\"--b "),
        ("KUBELET_EXTRA_ARGS=\"--a\"\nKUBELET_EXTRA_ARGS=\n", "\""),
        // One level of quotes comes off, and only one.
        ("KUBELET_EXTRA_ARGS='--a=\"b c\"'\n", "'--a=\"b c\" "),
        ("KUBELET_EXTRA_ARGS=\"--a='b c'\"\n", "\"--a='b c' "),
        ("KUBELET_EXTRA_ARGS=\"--a=\\\"b c\\\"\"\n", "\"--a=\\\"b c\\\" "),
        ("KUBELET_EXTRA_ARGS=\"'--a'\"\n", "\"'--a' "),
        // Quotes inside an unquoted value are the value's own.
        ("KUBELET_EXTRA_ARGS=--a=\"b c\" --d\n", "'--a=\"b c\" --d "),
        ("KUBELET_EXTRA_ARGS=--a='b' --c=$d\n", "\"--a='b' --c=\\$d "),
        ("KUBELET_EXTRA_ARGS=\"--a\" \"--b\"\n", "'\"--a\" \"--b\" "),
        ("KUBELET_EXTRA_ARGS=--a=$HOME`x`\n", "'--a=$HOME`x` "),
        ("KUBELET_EXTRA_ARGS=\"--a=$HOME\"\n", "\"--a=$HOME "),
        // Values of several lines.
        ("KUBELET_EXTRA_ARGS=\"--a \\\n  --b\"\nX=1\n", "\"--a   --b "),
        ("KUBELET_EXTRA_ARGS=--a \\\r\n --b\r\n", "\"--a  --b "),
        ("KUBELET_EXTRA_ARGS='--a\n--b'\n", "'--a --b "),
    ];
    for shell in shells() {
        for (original, value) in cases {
            let host = Host::new(&shell);
            host.write(DEBIAN, original);
            host.boot(LABELS, "i-1").ok();
            let first = host.text(DEBIAN);
            let quote = &value[..1];
            assert_eq!(
                last_setting(&first),
                format!("KUBELET_EXTRA_ARGS={value}{FLAG}{quote}"),
                "{original:?}"
            );
            assert!(first.starts_with(original), "{original:?} was edited");
            host.boot(LABELS, "i-1").ok();
            assert_eq!(host.text(DEBIAN), first, "{original:?}: a second run differs");
            host.boot(&[], "i-1").ok();
            assert_eq!(host.text(DEBIAN), original, "not restored");
        }
    }
}

#[test]
fn registers_wherever_the_directory_exists() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.boot(LABELS, "i-1").ok();
        assert_eq!(host.names("etc/default"), ["kubelet"]);
        assert_eq!(host.mode(DEBIAN), 0o644);
        assert!(host.read(RED_HAT).is_none());
        assert!(!host.path("etc/sysconfig").exists());

        let host = Host::new(&shell);
        fs::remove_dir(host.path("etc/default")).unwrap();
        host.write("etc/sysconfig/other", "");
        host.boot(LABELS, "i-1").ok();
        assert_eq!(last_setting(&host.text(RED_HAT)), format!("KUBELET_EXTRA_ARGS=\"{FLAG}\""));
        assert!(!host.path("etc/default").exists());

        let host = Host::new(&shell);
        host.write(RED_HAT, "KUBELET_EXTRA_ARGS=--r\n");
        host.write(DEBIAN, "KUBELET_EXTRA_ARGS=--d\n");
        host.boot(LABELS, "i-1").ok();
        assert!(last_setting(&host.text(RED_HAT)).contains("\"--r "));
        assert!(last_setting(&host.text(DEBIAN)).contains("\"--d "));
    }
}

#[test]
fn no_labels_leave_no_trace() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.write("etc/sysconfig/kubelet", "X=1");
        let before = fs::metadata(host.path(RED_HAT)).unwrap();
        host.boot(&[], "i-1").ok();
        assert!(host.names("etc/default").is_empty());
        assert!(!host.path("etc/rancher").exists());
        assert_eq!(host.text(RED_HAT), "X=1");
        let after = fs::metadata(host.path(RED_HAT)).unwrap();
        assert_eq!(before.modified().unwrap(), after.modified().unwrap());
        // Given and taken away again, also from files that were empty or not there.
        host.write(DEBIAN, "");
        fs::remove_file(host.path(RED_HAT)).unwrap();
        host.boot(LABELS, "i-1").ok();
        host.boot(&[("other", "1")], "i-1").ok();
        host.boot(&[], "i-1").ok();
        assert_eq!(host.text(DEBIAN), "");
        assert!(host.names("etc/sysconfig").is_empty());
        assert!(host.read(RKE2).is_none());
    }
}

#[test]
fn labels_change_between_boots() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.write(DEBIAN, "KUBELET_EXTRA_ARGS='--a'");
        host.boot(&[("old", "1"), ("both", "1")], "i-1").ok();
        host.boot(&[("new", "1"), ("both", "2")], "i-1").ok();
        let text = host.text(DEBIAN);
        assert_eq!(last_setting(&text), "KUBELET_EXTRA_ARGS='--a --node-labels=both=2,new=1'");
        assert!(!text.contains("old"));
        assert_eq!(text.matches("BEGIN").count(), 1);
        assert_eq!(host.text(RKE2), "node-label+:\n  - \"both=2\"\n  - \"new=1\"\n");
    }
}

#[test]
fn what_others_add_behind_the_block_counts_and_stays() {
    for shell in shells() {
        for original in ["KUBELET_EXTRA_ARGS=--a\n", "KUBELET_EXTRA_ARGS=--a"] {
            let host = Host::new(&shell);
            host.write(DEBIAN, original);
            host.boot(LABELS, "i-1").ok();
            let added = "KUBELET_EXTRA_ARGS=\"--late\"\n";
            host.write(DEBIAN, format!("{}{added}", host.text(DEBIAN)));
            host.boot(LABELS, "i-1").ok();
            assert_eq!(last_setting(&host.text(DEBIAN)), format!("KUBELET_EXTRA_ARGS=\"--late {FLAG}\""));
            host.boot(&[], "i-1").ok();
            assert_eq!(host.text(DEBIAN), format!("KUBELET_EXTRA_ARGS=--a\n{added}"));
        }
        // A file that began as ours and has become somebody else's stays, without our block.
        let host = Host::new(&shell);
        host.boot(LABELS, "i-1").ok();
        host.write(DEBIAN, format!("X=1\n{}", host.text(DEBIAN)));
        host.boot(&[], "i-1").ok();
        assert_eq!(host.text(DEBIAN), "X=1\n");
        // An editor that saves with CRLF does not hide the block.
        let host = Host::new(&shell);
        host.write(DEBIAN, "X=1\n");
        host.boot(LABELS, "i-1").ok();
        host.write(DEBIAN, host.text(DEBIAN).replace('\n', "\r\n"));
        host.boot(&[], "i-1").ok();
        assert_eq!(host.text(DEBIAN), "X=1\r\n");
    }
}

#[test]
fn mode_and_links_stay() {
    for shell in shells() {
        for mode in [0o600, 0o640, 0o755] {
            let host = Host::new(&shell);
            host.write("etc/kubelet.real", "X=1\n");
            fs::set_permissions(host.path("etc/kubelet.real"), fs::Permissions::from_mode(mode)).unwrap();
            std::os::unix::fs::symlink("../kubelet.real", host.path(DEBIAN)).unwrap();
            for labels in [LABELS, LABELS, &[]] {
                host.boot(labels, "i-1").ok();
                assert!(host.path(DEBIAN).is_symlink());
                assert_eq!(host.mode("etc/kubelet.real"), mode);
            }
            assert_eq!(host.text("etc/kubelet.real"), "X=1\n");
            assert_eq!(host.names("etc"), ["cloud", "default", "kubelet.real", "rancher"]);
        }
    }
}

#[test]
fn rke2_gets_a_list_of_its_own() {
    for shell in shells() {
        for there in [true, false] {
            let host = Host::new(&shell);
            if there {
                host.write("etc/rancher/rke2/config.yaml", "node-label:\n- image=1\n");
            }
            for _ in 0..2 {
                host.boot(LABELS, "i-1").ok();
                assert_eq!(host.text(RKE2), "node-label+:\n  - \"example.com/x=\"\n  - \"team=platform\"\n");
            }
            assert_eq!(host.mode("etc/rancher/rke2/config.yaml.d"), 0o755);
            host.boot(&[], "i-1").ok();
            assert!(host.names("etc/rancher/rke2/config.yaml.d").is_empty());
            assert_eq!(host.read("etc/rancher/rke2/config.yaml").is_some(), there);
        }
    }
}

#[test]
fn one_place_that_fails_is_told_and_stops_no_other() {
    for shell in shells() {
        let host = Host::new(&shell);
        fs::create_dir(host.path(DEBIAN)).unwrap();
        host.write("etc/sysconfig/other", "");
        for _ in 0..2 {
            host.boot(LABELS, "i-1").failed("etc/default/kubelet");
            assert!(host.text(RED_HAT).contains(FLAG));
            assert!(host.read(RKE2).is_some());
            assert!(host.read(INSTALLED).is_some());
            assert_eq!(host.names("etc/default"), ["kubelet"]);
            assert!(host.names(DEBIAN).is_empty());
        }
        let host = Host::new(&shell);
        host.write("etc/rancher", "no directory");
        host.boot(LABELS, "i-1").failed("RKE2");
        assert!(host.text(DEBIAN).contains(FLAG));
        assert!(host.read(INSTALLED).is_some());
    }
}

#[test]
fn a_file_that_cannot_be_read_safely_is_left_alone() {
    for shell in shells() {
        let host = Host::new(&shell);
        host.write(DEBIAN, "A=1\n");
        host.boot(LABELS, "i-1").ok();
        let text = host.text(DEBIAN);
        let unterminated = format!("{}B=2\n", &text[..text.rfind("# END").unwrap()]);
        for broken in [unterminated.as_str(), "KUBELET_EXTRA_ARGS=\"--a\n", "KUBELET_EXTRA_ARGS='--a\nX=1\n"]
        {
            host.write(DEBIAN, broken);
            host.boot(LABELS, "i-1").failed("etc/default/kubelet");
            assert_eq!(host.text(DEBIAN), broken);
            assert_eq!(host.names("etc/default"), ["kubelet"]);
        }
    }
}
