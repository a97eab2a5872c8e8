//! `[compat]`: doors for programs that speak another API.

use serde::{Deserialize, Serialize};

/// Doors for programs that speak another API.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Compat {
    /// Whether routes of Vault's transit engine are there.
    pub vault_transit: bool,
    /// How long a token of its login works, in seconds.
    pub vault_token_s: u64,
    /// Whether the seed service's routes are there.
    pub seed: bool,
}

impl Default for Compat {
    fn default() -> Self {
        Self {
            vault_transit: false,
            vault_token_s: 3600,
            seed: false,
        }
    }
}
