//! Inputs: any file or option is read or refused, and what is refused is told on lines without controls.

use machinepool::{
    contract::{
        inputs::Inputs,
        problem::Diagnostic,
        request::{Request, Scope},
    },
    model::desired,
};

/// The demo pool's: what is fuzzed lies over them, so that one changed value gets through to its rules.
const BASE: &[u8] = include_bytes!("../../testdata/demo.tfvars.json");

/// Panics where these bytes are not dealt with as they must be.
pub(crate) fn check(data: &[u8]) {
    let mut inputs = Inputs::default();
    inputs.add_file("base", BASE).expect("the demo's inputs are read");
    let mut told = Vec::new();
    told.extend(inputs.add_file("fuzzed", data).err());
    if let Ok(text) = str::from_utf8(data) {
        let mut options = inputs.clone();
        told.extend(options.add_var(text).err());
        check_inputs(&options, &mut told);
    }
    check_inputs(&inputs, &mut told);
    for problem in told {
        let text = problem.to_string().replace("\n\n", "");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

fn check_inputs(inputs: &Inputs, told: &mut Vec<Diagnostic>) {
    if let Err(problems) = Scope::parse(inputs) {
        told.extend(problems.0);
    }
    match Request::parse(inputs) {
        // What is accepted can be turned into what AWS is asked for, or is refused there.
        Ok(request) => drop(desired::check(&request)),
        Err(problems) => {
            assert!(!problems.0.is_empty());
            told.extend(problems.0);
        }
    }
}
