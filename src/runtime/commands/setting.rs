//! The directory that a command works in: its root module if there is one, and what follows from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Context as _;

use crate::{
    app::{Ui, load},
    cli::InputArgs,
    contract::{
        inputs::Inputs,
        outputs::Outputs,
        problem::Diagnostic,
        request::{Request, Scope},
    },
    error::{Failure, Kind},
    model::desired,
    runtime::{
        private_file,
        root::{self, Root},
        secrets::Secrets,
        state::{self, OutputValue},
        ui_json,
    },
};

/// No root module is larger. In bytes.
const LARGEST_ROOT: u64 = 16 << 20;

/// Where a command works.
pub(crate) struct Setting {
    /// The root module; without a file of its own, that of [`Root::of_operator`].
    pub(super) root: Root,
    /// Whether the directory has a root module.
    pub(super) has_root: bool,
}

/// The inputs of the role, and what of them is secret.
pub(crate) struct Given {
    pub(crate) inputs: Inputs,
    pub(super) secrets: Secrets,
    /// What the command line said of them.
    said: InputArgs,
}

impl Setting {
    /// The working directory.
    pub(crate) fn here() -> anyhow::Result<Self> {
        let path = Path::new(root::FILE);
        let unreadable = || format!("Cannot read {}", root::FILE);
        // To take a root that cannot be read for none would be to work without its state and lock.
        if !load::is_there(path).with_context(unreadable)? {
            return Ok(Self { root: Root::of_operator(), has_root: false });
        }
        let text = private_file::read(path, LARGEST_ROOT).with_context(unreadable)?;
        let root = Root::parse(&text).map_err(Failure::from)?;
        Ok(Self { root, has_root: true })
    }

    /// The working directory, which must have a root module.
    pub(super) fn with_root(command: &str) -> anyhow::Result<Self> {
        let setting = Self::here()?;
        if setting.has_root {
            return Ok(setting);
        }
        let detail = format!(
            "{command} works in a directory with a {} (-chdir=DIR). Without one there is no state: what is live in \
             AWS is all there is.",
            root::FILE
        );
        Err(Failure::new(Kind::Usage, format!("No {} here", root::FILE), detail).into())
    }

    /// What was said, as the root wires it to the role. From here on nothing secret is told.
    pub(crate) fn inputs(&self, ui: &Ui, args: &InputArgs) -> anyhow::Result<Given> {
        let said = load::inputs(args)?;
        let (inputs, warnings) = if self.has_root { self.root.inputs(&said) } else { (said, Vec::new()) };
        let given = self.given(ui, inputs, &BTreeSet::new(), args);
        ui.tell(&warnings);
        Ok(given)
    }

    /// Inputs that are the role's already, such as those of a saved plan. What is called `sensitive` is so beside
    /// what the root says; `said` is what the command line said of them.
    pub(super) fn given(
        &self,
        ui: &Ui,
        mut inputs: Inputs,
        sensitive: &BTreeSet<String>,
        said: &InputArgs,
    ) -> Given {
        let sensitive = &self.root.sensitive() | sensitive;
        let secrets = Secrets::of(&inputs, &sensitive);
        inputs.hide(sensitive);
        ui.hide(&secrets);
        Given { inputs, secrets, said: said.clone() }
    }

    /// Refuses a root that passes what the role does not take, or asks for what it does not give.
    pub(super) fn check(&self) -> Result<(), Failure> {
        refused(self.root.check())
    }

    /// Refuses only outputs that there are not: a refresh works whatever the inputs are.
    pub(super) fn check_outputs(&self) -> Result<(), Failure> {
        refused(self.root.check_outputs())
    }

    /// The outputs as the root names them.
    pub(super) fn outputs(&self, outputs: &Outputs) -> BTreeMap<String, OutputValue> {
        let all = serde_json::to_value(outputs).unwrap_or_default();
        self.root
            .outputs
            .iter()
            .map(|(name, output)| {
                let value = all.get(&output.output).cloned().unwrap_or_default();
                (name.clone(), OutputValue { value, sensitive: output.sensitive })
            })
            .collect()
    }
}

impl Given {
    /// Everything, checked: for plan, apply and doctor.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        desired::request(&self.inputs).map_err(|problems| load::told(problems, &self.said))
    }

    /// Names and a place, read leniently: for what only reads, and for destroy.
    pub(crate) fn scope(&self) -> Result<Scope, Failure> {
        Scope::parse(&self.inputs).map_err(|problems| load::told(problems, &self.said))
    }
}

fn refused(diagnostics: Vec<Diagnostic>) -> Result<(), Failure> {
    if diagnostics.is_empty() { Ok(()) } else { Err(Failure { kind: Kind::Input, diagnostics }) }
}

/// Outputs as the lines of `-json` list them: those that are null are none.
pub(super) fn listed(outputs: &BTreeMap<String, OutputValue>) -> Vec<ui_json::Recorded<'_>> {
    outputs
        .iter()
        .filter(|(_, output)| !output.value.is_null())
        .map(|(name, output)| ui_json::Recorded {
            name,
            kind: state::output_type(name, &output.value),
            value: &output.value,
            sensitive: output.sensitive,
        })
        .collect()
}
