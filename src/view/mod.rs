//! Text for people and programs: pure functions from values to `String`, nothing is printed here.
//!
//! Whatever comes from inputs or from AWS passes through [`text::line`] or [`text::block`] first, so
//! that no value can steer a terminal.

mod abridge;
mod affected;
mod checkup;
mod diagnostics;
mod diff;
mod duration;
mod line;
mod outcome;
mod outputs;
mod permissions;
mod plan;
mod plan_json;
mod progress;
mod status;
mod style;
mod table;
pub mod text;
mod verdict;

pub use checkup::{checkup, checkup_json};
pub use diagnostics::{Validation, diagnostic};
pub use duration::human as duration;
pub use outcome::{
    apply_complete, confirmation, destroy_complete, nobody_to_roll, nothing_to_cancel, nothing_to_roll,
    only_aside, plan_summary, rollout_cancelled, rollout_complete, rollout_runs, rollout_started,
    sandbox_notice,
};
pub use outputs::{check_output_name, outputs_json, outputs_table};
pub use permissions::{comparison, explanation, permissions_markdown, policy_json};
pub use plan::{Purpose, Subject, plan};
pub use plan_json::{PlannedOutput, plan_json, refresh_json};
pub use progress::{done, live, started, waiting};
pub use status::{
    Excerpt, Freshness, Trouble, rollout, status, status_json, status_json_line, trouble_begins,
    trouble_ends, watched_status,
};
pub use style::{Style, Tone};
