//! What the Job's pod puts around the program: directories, a way to the Kubernetes API, and, where an image
//! is tried, that image's root.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Command,
};

// Paths, as this file is taken into more than one test binary.
#[path = "../kubernetes/authority.rs"]
mod authority;
#[path = "../kubernetes/mounted.rs"]
mod mounted;

use self::{authority::Authority, mounted::mounted};
use super::super::double::Double;

/// Names the root of an unpacked image, in which the program then runs, as `.ci/image-smoke` has it. Without
/// it, the program that was just compiled runs on this machine.
const IMAGE: &str = "MACHINEPOOL_TEST_IMAGE";

/// User and group in the image; as the pod's `fsGroup`, also the group of what is mounted.
const ID: u32 = 65532;

/// What the Job can write to.
const WRITABLE: [&str; 2] = ["captf/work", "tmp"];

/// What is mounted for the Job to read.
const READABLE: [&str; 3] = [CONFIG, CREDENTIALS, SERVICE_ACCOUNT];
pub(crate) const CONFIG: &str = "captf/config";
pub(crate) const CREDENTIALS: &str = "var/run/captf/credentials";
const SERVICE_ACCOUNT: &str = "var/run/secrets/kubernetes.io/serviceaccount";

/// The service account's token; all that the API accepts from within an image.
pub(crate) const TOKEN: &str = "service-account-token";

/// One pool's pod.
pub(crate) struct Pod {
    image: Option<PathBuf>,
    directory: tempfile::TempDir,
    authority: Authority,
    /// Where the Kubernetes API answers over TLS.
    port: u16,
    /// Its address without.
    plain: String,
}

impl Pod {
    pub(crate) fn new(kubernetes: &Double) -> Self {
        let (authority, double) = (Authority::new(), kubernetes.clone());
        let port = authority.listen("127.0.0.1", false, move |stream| double.serve(stream));
        let image = std::env::var_os(IMAGE).map(PathBuf::from);
        let plain = kubernetes.address.clone();
        let pod = Self { image, directory: tempfile::tempdir().unwrap(), authority, port, plain };
        for place in WRITABLE.into_iter().chain(READABLE) {
            fs::create_dir_all(pod.host(place)).unwrap();
        }
        match &pod.image {
            None => {
                let module = concat!(env!("CARGO_MANIFEST_DIR"), "/contract/module");
                symlink(module, pod.host("captf/module")).unwrap();
            }
            Some(image) => {
                kubernetes.require_token(TOKEN);
                pod.rotate(TOKEN);
                pod.assemble(image);
            }
        }
        pod
    }

    /// A place in the pod as this machine sees it.
    pub(crate) fn host(&self, place: &str) -> PathBuf {
        self.directory.path().join("mounts").join(place)
    }

    /// The same as the program sees it.
    pub(crate) fn inside(&self, place: &str) -> PathBuf {
        if self.image.is_some() { Path::new("/").join(place) } else { self.host(place) }
    }

    /// Makes a directory in which the program may write.
    pub(crate) fn make(&self, place: &str) {
        fs::create_dir_all(self.host(place)).unwrap();
        self.give(&self.host(place));
    }

    /// Mounts files for the Job to read, or brings them up to date.
    pub(crate) fn mount(&self, place: &str, files: &[(&str, &str)]) {
        mounted(&self.host(place), files, self.image.is_some().then_some(ID));
    }

    /// Gives the service account another token.
    pub(crate) fn rotate(&self, token: &str) {
        let ca = self.authority.pem();
        self.mount(SERVICE_ACCOUNT, &[("ca.crt", &ca), ("namespace", "captf-system"), ("token", token)]);
    }

    /// How `init` is told where the Kubernetes API is; outside an image there is no pod to find it from.
    pub(crate) fn backend(&self) -> String {
        match &self.image {
            Some(_) => "-backend-config=in_cluster_config=true".to_owned(),
            None => format!("-backend-config=host={}", self.plain),
        }
    }

    /// A kubeconfig that leads to the API over TLS, and what lies beside it: authority and token.
    pub(crate) fn kubeconfig(&self, token: &str) -> [(&'static str, String); 3] {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', certificate-authority: ca.crt}}}}]\n\
             users: [{{name: c, user: {{tokenFile: token}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: c}}}}]\n",
            self.port
        );
        [("kubeconfig", text), ("ca.crt", self.authority.pem()), ("token", token.to_owned())]
    }

    /// The program in the directory `place`, with what every container finds in its environment.
    pub(crate) fn program(&self, place: &str) -> Command {
        let Some(_) = &self.image else {
            let mut command = Command::new(env!("CARGO_BIN_EXE_machinepool"));
            command.env_clear().current_dir(self.host(place));
            return command;
        };
        let id = ID.to_string();
        let mut command = Command::new("setpriv");
        command.args(["--no-new-privs", "unshare", "--setgid", &id, "--setuid", &id]);
        command.arg("--root").arg(self.root()).arg("--wd").arg(self.inside(place)).arg("/captf/runtime");
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOSTNAME", "demo-pool-0-x7k2p")
            .env("KUBERNETES_SERVICE_HOST", "127.0.0.1")
            .env("KUBERNETES_SERVICE_PORT", self.port.to_string());
        command
    }

    /// The root that the program is locked into.
    fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    /// Makes the root: the image, read-only, and over it what the Job mounts.
    fn assemble(&self, image: &Path) {
        let root = self.root();
        fs::create_dir(&root).unwrap();
        for place in WRITABLE.into_iter().chain(READABLE) {
            fs::create_dir_all(image.join(place)).unwrap();
        }
        let mount = |how: &[&str], paths: &[&Path]| {
            assert!(Command::new("mount").args(how).args(paths).status().unwrap().success());
        };
        mount(&["--rbind"], &[image, &root]);
        mount(&["-o", "remount,bind,ro"], &[&root]);
        for place in WRITABLE {
            self.give(&self.host(place));
            mount(&["--bind", "-o", "nosuid,nodev"], &[&self.host(place), &root.join(place)]);
        }
        for place in READABLE {
            mount(&["--bind", "-o", "ro"], &[&self.host(place), &root.join(place)]);
        }
    }

    /// As kubelet leaves an empty directory to a pod with an `fsGroup`.
    fn give(&self, directory: &Path) {
        if self.image.is_some() {
            chown(directory, None, Some(ID)).unwrap();
            fs::set_permissions(directory, Permissions::from_mode(0o2777)).unwrap();
        }
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        if self.image.is_some() {
            // If it fails, the image is still read-only to the removal of the directory, which comes next.
            let _ = Command::new("umount").args(["--recursive", "--lazy"]).arg(self.root()).status();
        }
    }
}
