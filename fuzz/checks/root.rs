//! Root modules: any text is read or refused, and all that follows from it can be asked.

use machinepool::{
    contract::{inputs::Inputs, request::Request},
    runtime::{backend::Settings, root::Root, secrets::Secrets},
};

const BASE: &[u8] = include_bytes!("../../testdata/demo.tfvars.json");

/// Panics where these bytes are not dealt with as they must be.
pub(crate) fn check(data: &[u8]) {
    let Ok(root) = Root::parse(data) else { return };
    drop((root.check(), root.check_outputs()));
    let mut given = Inputs::default();
    given.add_file("base", BASE).expect("the demo's inputs are read");
    let (inputs, _) = root.inputs(&given);
    let secrets = Secrets::of(&inputs, &root.sensitive());
    if let Err(problems) = Request::parse(&inputs) {
        drop(secrets.mask_all(&problems.0));
    }
    if let Some(block) = &root.backend
        && let Ok(settings) = Settings::given(block, &[], &|_| panic!("no file is named"))
    {
        drop(settings.names("default"));
    }
}
