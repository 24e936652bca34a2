//! Whether there is a Terraform to compare with. Usable by any test through `#[path]`.

use std::{
    env,
    io::{Write as _, stderr},
    sync::Once,
};

/// Whether `terraform` is on the PATH. If not, that is said loudly, once; in CI it is a failure.
pub(crate) fn terraform_found() -> bool {
    static TOLD: Once = Once::new();
    let is_in = |directory: std::path::PathBuf| directory.join("terraform").is_file();
    let found = env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(is_in));
    assert!(
        found || env::var_os("CI").is_none(),
        "CI must run the tests beside Terraform: no terraform on the PATH"
    );
    if !found {
        TOLD.call_once(|| {
            // Not `eprintln!`: the test harness would keep that to itself.
            let _ = writeln!(
                stderr(),
                "\nSKIPPED: the tests beside Terraform did not run: no terraform on the PATH\n"
            );
        });
    }
    found
}
