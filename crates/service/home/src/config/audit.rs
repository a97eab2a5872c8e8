//! `[audit]`: the folder of the log, when its records reach the disk, and how much they say.

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
    /// What the record of a batch says of its items.
    #[serde(default)]
    pub items: ItemDetail,
    /// The newest head that a store knows which took no writes for a while before the node ended: such a store is no
    /// other than one that was put back, and only an operator can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_at_head: Option<u64>,
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

/// What the record of a batch says of its items. That of a single item names its message in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both answers must be faced at start"
)]
pub enum ItemDetail {
    /// The id of each message too: 16 bytes more for each.
    Each,
    /// How many of each version and outcome there were, and a digest over all of them.
    #[default]
    Groups,
}
