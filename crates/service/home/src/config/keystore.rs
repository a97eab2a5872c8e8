//! `[store]` and `[keystore]`: where rows are kept, and the key above all keys.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where rows are kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct StoreSection {
    /// The SQLite file.
    pub file: PathBuf,
}

/// The embedded key holder.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Keystore {
    /// Where the root key is.
    #[serde(default)]
    pub root_key: RootPlace,
    /// The root file; for a root key in the token, its description.
    pub root: PathBuf,
    /// The file that holds the root's password, readable by its owner alone. None for a root key in the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// Unwrapped keys that are kept in memory at most.
    #[serde(default = "default_unwrapped")]
    pub unwrapped_keys: usize,
    /// What to do where the system forbids locking memory.
    #[serde(default)]
    pub memory_lock: MemoryLock,
}

/// Where the root key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both places must be faced at start"
)]
pub enum RootPlace {
    /// In a file, under a password.
    #[default]
    File,
    /// In the token, which it never leaves.
    Token,
}

/// What to do where the system forbids locking memory (design 7.24).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both answers must be faced at start"
)]
pub enum MemoryLock {
    /// Start, and say so in log and health.
    #[default]
    Try,
    /// Refuse to start.
    Require,
}

const fn default_unwrapped() -> usize {
    16_384
}
