//! Orders that change state: one at a time, recorded before and after (design 7.29).
//!
//! Each goes the same way: record the order and sync it; let the holder make what is needed; commit
//! one transaction, which raises the epoch; record the end with the changed rows and sync it; publish
//! the next snapshot. A crash in between leaves an order without an end, which the next start settles
//! by what the store says.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keywright_audit::field::{Field, Row as RowField};
use keywright_audit::record::{Facts, Record};
use keywright_audit::writer::Writer;
use keywright_audit::{AuditError, RecordType, Room};
use keywright_clock::MonotonicTime;
use keywright_custody::rows::{self, Tenant};
use keywright_custody::{Description, HolderError, HolderOperation, Identity, Key, KeyMaterial, NewKey};
use keywright_policy::{Policy, PolicyDocument};
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_store::{Committed, Store, Table, Transaction};
use keywright_tls::ClientTrust;
use keywright_types::{
    BindingKind, Code, KeyId, KeySpec, KeyVersion, Name, Operation, RequestId, TenantId,
};

use crate::{Shared, Snapshot};

/// The one hand that changes state.
pub struct Admin {
    shared: Arc<Shared>,
    store: Store,
    /// Held for the whole of an order: orders are serial.
    writer: Mutex<Writer>,
}

/// A context that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreatedContext {
    /// Its id.
    pub id: KeyId,
    /// Its first version.
    pub version: KeyVersion,
}

/// Why an order was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// There is no tenant of this name.
    #[error("no such tenant")]
    TenantUnknown,
    /// There is no context of this name.
    #[error("no such context")]
    ContextUnknown,
    /// The holder cannot keep a key like this.
    #[error("the key holder does not support such a key")]
    Unsupported,
    /// The policy does not fit together.
    #[error(transparent)]
    Policy(#[from] keywright_policy::Error),
    /// The revocation list is older than the one in force.
    #[error("the revocation list is older than the one in force")]
    OlderTrust,
    /// Rows could not be read, or the change does not fit them.
    #[error(transparent)]
    Rows(#[from] rows::Error),
    /// The holder failed.
    #[error(transparent)]
    Holder(#[from] HolderError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] keywright_store::Error),
    /// The audit log failed: before the work, and nothing was done; after it, and it was done but
    /// cannot be acknowledged.
    #[error("the audit log cannot be written")]
    Audit(#[from] AuditError),
    /// There is no randomness.
    #[error("there is no randomness")]
    Randomness(#[from] keywright_primitives::Error),
}

impl AdminError {
    /// The code under which this is recorded and answered.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::TenantUnknown | Self::ContextUnknown => Code::ContextNotFound,
            Self::Unsupported => Code::Unsupported,
            Self::Policy(_) => Code::ValueInvalid,
            Self::OlderTrust => Code::StateConflict,
            Self::Rows(rows::Error::NameTaken) => Code::NameTaken,
            Self::Rows(rows::Error::NotFound) => Code::ContextNotFound,
            Self::Rows(rows::Error::State(_) | rows::Error::VersionsExhausted) => Code::StateConflict,
            Self::Rows(_) | Self::Store(_) => Code::StoreUnavailable,
            Self::Holder(error) => error.code(),
            Self::Audit(_) => Code::AuditUnavailable,
            Self::Randomness(_) => Code::Internal,
        }
    }
}

/// What an order changed: the commit, and the snapshot that follows from it.
struct Change<T> {
    answer: T,
    committed: Committed,
    next: Snapshot,
}

impl Admin {
    /// The hand for `store`, recording through `writer`.
    #[must_use]
    pub fn new(shared: Arc<Shared>, store: Store, writer: Writer) -> Self {
        Self { shared, store, writer: Mutex::new(writer) }
    }

    /// The state that requests are served from.
    #[must_use]
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Makes a tenant with a wrapping key of its own.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn create_tenant(&self, name: &Name) -> Result<TenantId, AdminError> {
        let mut random = RandomStream::new()?;
        let (tenant, key) = (TenantId::from_bytes(random.array()?), KeyId::from_bytes(random.array()?));
        let mut facts = self.facts(Operation::ContextCreate, &mut random)?;
        (facts.tenant, facts.key) = (tenant, key);
        self.carry_out(facts, &[Field::name(name)], |snapshot| {
            let identity = self.identity(tenant, key, KeySpec::wrap());
            let permit = Policy::owner().at(snapshot.epoch).permit(key, Operation::ContextCreate);
            let material = self.shared.holder().generate(&permit, NewKey { identity, parent: None })?;
            let committed = self.commit(rows::create_tenant(name, &material))?;
            let mut next = Snapshot::clone(snapshot);
            let made = Tenant::new(tenant, name.clone(), Arc::new(material));
            Arc::make_mut(&mut next.tenants).insert(tenant, made);
            Ok(Change { answer: tenant, committed, next })
        })
    }

    /// Makes a context: a key and its first version, active at once.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn create_context(
        &self,
        tenant: &Name,
        name: &Name,
        spec: KeySpec,
        binding: BindingKind,
    ) -> Result<CreatedContext, AdminError> {
        if !self.shared.holder().supports(&spec, HolderOperation::Seal) {
            return Err(AdminError::Unsupported);
        }
        let tenant = self.tenant(tenant)?;
        let mut random = RandomStream::new()?;
        let id = KeyId::from_bytes(random.array()?);
        let mut facts = self.facts(Operation::ContextCreate, &mut random)?;
        (facts.tenant, facts.key, facts.version) = (tenant.id, id, KeyVersion::FIRST);
        self.carry_out(facts, &[Field::name(name)], |snapshot| {
            let identity = self.identity(tenant.id, id, spec);
            let first = self.generate(snapshot, identity, &tenant, Operation::ContextCreate)?;
            let min_open = KeyVersion::FIRST;
            let description =
                Description { id, tenant: tenant.id, name: name.clone(), spec, binding, min_open };
            let committed = self.commit(rows::create_key(&description, &first))?;
            let next = self.with_key(snapshot, &tenant, id)?;
            let answer = CreatedContext { id, version: KeyVersion::FIRST };
            Ok(Change { answer, committed, next })
        })
    }

    /// Makes a new version active and retires the one before it (design 7.17).
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn rotate(&self, tenant: &Name, name: &Name) -> Result<KeyVersion, AdminError> {
        let tenant = self.tenant(tenant)?;
        let id = self.find(&tenant, name)?.id();
        let mut random = RandomStream::new()?;
        let mut facts = self.facts(Operation::KeyRotate, &mut random)?;
        (facts.tenant, facts.key) = (tenant.id, id);
        self.carry_out(facts, &[], |snapshot| {
            let key = rows::load_key(&self.store, &tenant, id)?;
            let identity = rows::next_identity(&key, self.shared.clock().wall())?;
            let new = self.generate(snapshot, identity, &tenant, Operation::KeyRotate)?;
            let committed = self.commit(rows::rotate(&self.store, &key, &new)?)?;
            let next = self.with_key(snapshot, &tenant, id)?;
            Ok(Change { answer: identity.version, committed, next })
        })
    }

    /// Puts a policy in force. Entries keep the ids that their names have now; new ones get fresh ids.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn apply_policy(&self, mut document: PolicyDocument) -> Result<u64, AdminError> {
        let mut random = RandomStream::new()?;
        let current = self.store.get(Table::Policies, POLICY_ROW)?;
        if let Some(row) = &current {
            document.adopt_ids(&PolicyDocument::from_json(&row.body)?)?;
        }
        let mut ids = Ok([0; 16]);
        document.complete(|| {
            ids = random.array();
            ids.unwrap_or_default()
        });
        ids?;
        let facts = self.facts(Operation::PolicyApply, &mut random)?;
        self.carry_out(facts, &[], |snapshot| {
            let tenants = |name: &Name| snapshot.tenant(name).map(|tenant| tenant.id);
            // Compiled before it is stored: what does not fit together is never in force.
            Policy::compile(&document, tenants, snapshot.epoch)?;
            let body = document.to_json()?;
            let transaction = match &current {
                None => Transaction::new().insert(Table::Policies, POLICY_ROW, TenantId::NONE, body),
                Some(row) => Transaction::new().update(Table::Policies, POLICY_ROW, row.revision, body),
            };
            let committed = self.commit(transaction)?;
            let mut next = Snapshot::clone(snapshot);
            next.policy = Arc::new(Policy::compile(&document, tenants, committed.epoch.0)?);
            Ok(Change { answer: committed.epoch.0, committed, next })
        })
    }

    /// Puts a new revocation list in force. `lists` is its text, which the store keeps, so that an older
    /// one is known as such at the next start.
    ///
    /// # Errors
    /// [`AdminError::OlderTrust`] for a list older than the one in force; else as the other orders.
    pub fn replace_trust(&self, trust: Arc<ClientTrust>, lists: &[u8]) -> Result<u64, AdminError> {
        if trust.is_older_than(&self.shared.snapshot().trust) {
            return Err(AdminError::OlderTrust);
        }
        let mut random = RandomStream::new()?;
        let facts = self.facts(Operation::PkiRevoke, &mut random)?;
        let current = self.store.get(Table::Policies, TRUST_ROW)?;
        self.carry_out(facts, &[Field::OrderDigest(sha256(lists))], |snapshot| {
            let transaction = match &current {
                None => Transaction::new().insert(Table::Policies, TRUST_ROW, TenantId::NONE, lists),
                Some(row) => Transaction::new().update(Table::Policies, TRUST_ROW, row.revision, lists),
            };
            let committed = self.commit(transaction)?;
            let mut next = Snapshot::clone(snapshot);
            next.trust = trust;
            Ok(Change { answer: committed.epoch.0, committed, next })
        })
    }

    /// The policy in force, as a document.
    ///
    /// # Errors
    /// [`AdminError::Store`] or [`AdminError::Policy`] if it cannot be read.
    pub fn policy(&self) -> Result<Option<PolicyDocument>, AdminError> {
        load_policy(&self.store)
    }

    /// The tenant of this name.
    ///
    /// # Errors
    /// [`AdminError::TenantUnknown`].
    pub fn tenant(&self, name: &Name) -> Result<Tenant, AdminError> {
        self.shared.snapshot().tenant(name).cloned().ok_or(AdminError::TenantUnknown)
    }

    /// The context that `tenant` knows as `name`.
    ///
    /// # Errors
    /// [`AdminError::ContextUnknown`].
    pub fn find(&self, tenant: &Tenant, name: &Name) -> Result<Arc<Key>, AdminError> {
        let snapshot = self.shared.snapshot();
        snapshot.keyring.find(tenant.id, name.as_str()).cloned().ok_or(AdminError::ContextUnknown)
    }

    /// The frame of every order; see the module's text.
    fn carry_out<T>(
        &self,
        facts: Facts,
        fields: &[Field<'_>],
        work: impl FnOnce(&Snapshot) -> Result<Change<T>, AdminError>,
    ) -> Result<T, AdminError> {
        let mut writer = self.writer();
        let started = self.shared.clock().monotonic();
        let snapshot = self.shared.snapshot_owned();
        let facts = Facts { epoch: snapshot.epoch, ..facts };
        let order = writer.begin_order(&Record { facts, fields }, Room::Ordinary)?;
        let done = work(&snapshot);
        let after = self.after(facts, &done, started);
        let rows = done.as_ref().map_or_else(|_| Vec::new(), |change| changed_rows(&change.committed));
        let mut fields = fields.to_vec();
        fields.extend(rows.iter().map(ChangedRow::field));
        let recorded = order.finish(&mut writer, &Record { facts: after, fields: &fields });
        let Change { answer, committed, mut next } = done?;
        next.epoch = committed.epoch.0;
        if next.policy.epoch() != next.epoch
            && let Some(policy) = self.policy()?
        {
            let tenants = |name: &Name| next.tenant(name).map(|tenant| tenant.id);
            next.policy = Arc::new(Policy::compile(&policy, tenants, next.epoch)?);
        }
        // The store is the truth: what is committed is published even where it cannot be acknowledged.
        self.shared.publish(next);
        recorded.map_err(|(_, error)| error)?;
        Ok(answer)
    }

    fn after<T>(&self, facts: Facts, done: &Result<Change<T>, AdminError>, started: MonotonicTime) -> Facts {
        let clock = self.shared.clock();
        let mut after = Facts { time: clock.wall(), duration: clock.monotonic().since(started), ..facts };
        match done {
            Ok(change) => after.epoch = change.committed.epoch.0,
            Err(error) => after.outcome = error.code(),
        }
        after
    }

    fn facts(&self, operation: Operation, random: &mut RandomStream) -> Result<Facts, AdminError> {
        let mut facts = Facts::new(RecordType::Request, operation, self.shared.clock().wall());
        facts.request = RequestId::from_bytes(random.array()?);
        facts.epoch = self.shared.snapshot().epoch;
        Ok(facts)
    }

    fn identity(&self, tenant: TenantId, key: KeyId, spec: KeySpec) -> Identity {
        let created = self.shared.clock().wall();
        Identity { tenant, key, version: KeyVersion::FIRST, spec, created }
    }

    fn generate(
        &self,
        snapshot: &Snapshot,
        identity: Identity,
        tenant: &Tenant,
        operation: Operation,
    ) -> Result<KeyMaterial, AdminError> {
        let permit = Policy::owner().at(snapshot.epoch).permit(identity.key, operation);
        let parent = Some(Arc::clone(&tenant.wrapping_key));
        Ok(self.shared.holder().generate(&permit, NewKey { identity, parent })?)
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed, AdminError> {
        Ok(self.store.commit(transaction).map_err(rows::explain)?)
    }

    /// `snapshot` with `id` as the store has it now.
    fn with_key(&self, snapshot: &Snapshot, tenant: &Tenant, id: KeyId) -> Result<Snapshot, AdminError> {
        let key = rows::load_key(&self.store, tenant, id)?;
        let mut next = Snapshot::clone(snapshot);
        next.keyring = next.keyring.with(Arc::new(key));
        Ok(next)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Admin({:?})", self.shared)
    }
}

/// The policy that a store has in force.
///
/// # Errors
/// [`AdminError::Store`] or [`AdminError::Policy`] if it cannot be read.
pub fn load_policy(store: &Store) -> Result<Option<PolicyDocument>, AdminError> {
    let row = store.get(Table::Policies, POLICY_ROW)?;
    Ok(row.map(|row| PolicyDocument::from_json(&row.body)).transpose()?)
}

/// The revocation lists that were last put in force.
///
/// # Errors
/// [`AdminError::Store`] if they cannot be read.
pub fn load_trust(store: &Store) -> Result<Option<Vec<u8>>, AdminError> {
    Ok(store.get(Table::Policies, TRUST_ROW)?.map(|row| row.body))
}

/// A changed row as its record tells it.
struct ChangedRow {
    table: Option<Name>,
    key: Vec<u8>,
    body: Vec<u8>,
    mac: [u8; 32],
}

impl ChangedRow {
    fn field(&self) -> Field<'_> {
        match &self.table {
            Some(table) if self.body.len() <= LONGEST_RECORDED_ROW => Field::Row(RowField {
                table: table.into(),
                key: &self.key,
                row: &self.body,
                mac: &self.mac,
            }),
            _ => Field::OrderDigest(sha256(&self.body)),
        }
    }
}

fn changed_rows(committed: &Committed) -> Vec<ChangedRow> {
    let rows = committed.rows.iter();
    rows.map(|(table, row)| ChangedRow {
        table: table.name().parse().ok(),
        key: row.key.clone(),
        body: row.body.clone(),
        mac: row.mac,
    })
    .collect()
}

/// A longer row, which only a very large policy is, stands in its record as a digest.
const LONGEST_RECORDED_ROW: usize = 256 << 10;
const POLICY_ROW: &[u8] = b"policy";
const TRUST_ROW: &[u8] = b"trust";
