//! The state that decisions rest on, swapped as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use keywright_custody::Keyring;
use keywright_custody::rows::{self, Tenant};
use keywright_policy::Policy;
use keywright_store::Store;
use keywright_tls::ClientTrust;
use keywright_types::{Name, TenantId};

use crate::meter::Meters;
use crate::{AdminError, load_policy};

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
    /// How full the buckets of limited principals are, filled in where the snapshot is published.
    pub(crate) meters: Arc<Meters>,
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
        let tenants = tenants
            .into_iter()
            .map(|tenant| (tenant.id, tenant))
            .collect();
        Self {
            epoch,
            policy: Arc::new(policy),
            trust,
            keyring,
            tenants: Arc::new(tenants),
            meters: Arc::default(),
        }
    }

    /// What the store says now. Nobody may write to it meanwhile.
    ///
    /// # Errors
    /// [`AdminError::Rows`], [`AdminError::Store`] or [`AdminError::Policy`] if it cannot be read.
    pub fn load(store: &Store, trust: Arc<ClientTrust>) -> Result<Self, AdminError> {
        let contents = rows::load(store)?;
        let epoch = store.epoch();
        let nobody = Policy::empty(epoch);
        let mut snapshot = Self::new(epoch, nobody, trust, contents.keyring, contents.tenants);
        snapshot.policy = Arc::new(snapshot.compile_policy(store)?);
        Ok(snapshot)
    }

    /// The policy that the store has in force, for this epoch and these tenants. Without one nobody is
    /// anybody.
    pub(crate) fn compile_policy(&self, store: &Store) -> Result<Policy, AdminError> {
        let Some(document) = load_policy(store)? else {
            return Ok(Policy::empty(self.epoch));
        };
        let tenants = |name: &Name| self.tenant(name).map(|tenant| tenant.id);
        Ok(Policy::compile(&document, tenants, self.epoch)?)
    }

    /// The tenant of this name.
    #[must_use]
    pub fn tenant(&self, name: &Name) -> Option<&Tenant> {
        self.tenants.values().find(|tenant| tenant.name == *name)
    }
}
