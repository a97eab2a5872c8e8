//! The state that decisions rest on, swapped as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use keywright_custody::Keyring;
use keywright_custody::rows::Tenant;
use keywright_policy::Policy;
use keywright_tls::ClientTrust;
use keywright_types::{Name, TenantId};

/// Policy, trust and keys at one epoch. A request sees one snapshot from its decision to its record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The state epoch.
    pub epoch: u64,
    /// Who may do what.
    pub policy: Arc<Policy>,
    /// Which certificates are believed, revocation included.
    pub trust: Arc<ClientTrust>,
    /// All contexts and their versions.
    pub keyring: Keyring,
    /// All tenants, by id.
    pub tenants: Arc<HashMap<TenantId, Tenant>>,
}

impl Snapshot {
    /// A snapshot of these parts.
    #[must_use]
    pub fn new(
        epoch: u64,
        policy: Policy,
        trust: Arc<ClientTrust>,
        keyring: Keyring,
        tenants: impl IntoIterator<Item = Tenant>,
    ) -> Self {
        let tenants = tenants.into_iter().map(|tenant| (tenant.id, tenant)).collect();
        Self { epoch, policy: Arc::new(policy), trust, keyring, tenants: Arc::new(tenants) }
    }

    /// The tenant of this name.
    #[must_use]
    pub fn tenant(&self, name: &Name) -> Option<&Tenant> {
        self.tenants.values().find(|tenant| tenant.name == *name)
    }
}
