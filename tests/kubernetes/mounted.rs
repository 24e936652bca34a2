//! Files as kubelet mounts them from a Secret, a ConfigMap or a service account.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::Path,
};

/// Puts files into a directory as kubelet does: each name is a link through `..data` into a directory of
/// this version, and an update moves `..data` in one step. Owner and group may read them.
pub(crate) fn mounted(directory: &Path, files: &[(&str, &str)], group: Option<u32>) {
    let earlier = fs::read_dir(directory).unwrap().count();
    let version = format!("..2026_01_31_12_00_00.{earlier}");
    fs::create_dir(directory.join(&version)).unwrap();
    for (name, text) in files {
        let path = directory.join(&version).join(name);
        fs::write(&path, text).unwrap();
        chown(&path, None, group).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let link = directory.join(name);
        if !link.is_symlink() {
            symlink(Path::new("..data").join(name), link).unwrap();
        }
    }
    let moving = directory.join("..data_tmp");
    symlink(&version, &moving).unwrap();
    fs::rename(moving, directory.join("..data")).unwrap();
}
