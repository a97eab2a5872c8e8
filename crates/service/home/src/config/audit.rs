//! `[audit]`: the folder of the log, and when its records reach the disk.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The audit log.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Audit {
    /// The folder of its files.
    pub directory: PathBuf,
    /// When records reach the disk.
    #[serde(default)]
    pub sync: Sync,
}

/// When records reach the disk. Orders that change state and answers that hand out keys are synced
/// first in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both answers must be faced at start"
)]
pub enum Sync {
    /// Every 100 ms; before that they are with the operating system.
    #[default]
    Grouped,
    /// Before each answer.
    Strict,
}
