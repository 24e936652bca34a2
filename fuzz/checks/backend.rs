//! Backend settings: HCL from the command line and from files, and the names that come of it.

use machinepool::runtime::backend::Settings;

/// Panics where these bytes are not dealt with as they must be.
pub(crate) fn check(data: &[u8]) {
    let open = |_: &std::path::Path| Ok(data.to_vec());
    for file in ["fuzzed.hcl", "fuzzed.json"] {
        check_settings(&[file.to_owned()], &open);
    }
    let Ok(text) = str::from_utf8(data) else { return };
    for name in ["labels", "config_paths", "exec"] {
        check_settings(&[format!("{name}={text}")], &open);
    }
    if !text.is_empty() {
        check_settings(&[text.to_owned()], &open);
    }
}

fn check_settings(flags: &[String], open: &dyn Fn(&std::path::Path) -> std::io::Result<Vec<u8>>) {
    let Ok(settings) = Settings::given(&[], flags, open) else { return };
    let Ok(names) = settings.names("default") else { return };
    // Whatever was given, only what Kubernetes takes comes out.
    for name in [&names.secret, &names.lease, &names.namespace] {
        assert!(
            name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)),
            "{name:?}"
        );
    }
    for (key, value) in &names.labels {
        assert!(key.len() <= 317 && value.len() <= 63 && !key.is_empty(), "{key:?} {value:?}");
    }
}
