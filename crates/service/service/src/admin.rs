//! What an operator orders: tenants, contexts, rotations, policies, revocation lists.
//!
//! Each order prepares one transaction and the snapshot that follows from it; the frame of
//! `crate::order` does the rest, the same for all.

use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, Mutex};

use keywright_audit::field::Field;
use keywright_audit::record::Facts;
use keywright_audit::writer::Writer;
use keywright_audit::{AuditError, RecordType};
use keywright_custody::budget::Spent;
use keywright_custody::fit::{self, Misfit};
use keywright_custody::reader::BadReader;
use keywright_custody::rows::{self, Tenant};
use keywright_custody::{HolderError, Identity, Key, KeyMaterial, NewKey, Particulars, Version};
use keywright_policy::{Policy, PolicyDocument};
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_store::{Store, Table, Transaction};
use keywright_tls::{ClientTrust, Older};
use keywright_types::{
    BindingKind, Code, KeyId, KeySpec, KeyVersion, Name, Operation, Purpose, RequestId, State,
    TenantId,
};

use crate::Shared;
use crate::clock_watch::Watched;
use crate::imports::Imports;
use crate::keep::{NewContext, new_words, slow_secret};
use crate::life::Author;
use crate::metrics::Ended;
use crate::order::{Hand, Intent, Prepared};
use crate::readers::NotBound;

/// The one hand that changes state.
pub struct Admin {
    pub(crate) shared: Arc<Shared>,
    pub(crate) store: Store,
    /// Held for the whole of an order: orders are serial.
    pub(crate) hand: Mutex<Hand>,
    /// What is known of the clock; nothing before the first look.
    pub(crate) watched: Mutex<Option<Watched>>,
    /// Keys to which others are wrapped that are brought in.
    pub(crate) imports: Imports,
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
    /// No holder could keep a key like this, or there is none for it.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The format cannot be kept, with the place in its text where there is one.
    #[error("the format of the context: {0}")]
    Format(#[source] keywright_format::Error),
    /// A tree's public nodes and its private keys cannot both leave.
    #[error(
        "a tree that hands out public nodes never lets a private key out, so its export is never"
    )]
    SoftExport,
    /// A tree has one seed for ever.
    #[error("a tree has one seed for ever and is not rotated; create another context")]
    OneSeed,
    /// A tree has no key of its own that could leave.
    #[error("the context is a wallet: what may leave it is its seed")]
    Wallet,
    /// Only trees have seeds.
    #[error("the context is no wallet and has no seed")]
    NoWallet,
    /// The key was made to stay.
    #[error("the key of this context was made to stay: its export is never")]
    NeverLeaves,
    /// Keys that make tokens, and deterministic ones, are rotated by hand alone.
    #[error(
        "a key of this purpose is rotated by hand alone: what it made does not say which version made it"
    )]
    ByHandOnly,
    /// A key of the seed service cannot be brought in like this.
    #[error(transparent)]
    Reader(#[from] BadReader),
    /// No key of the token was bound.
    #[error(transparent)]
    NotBound(#[from] NotBound),
    /// The order needs the word of others.
    #[error(
        "the order needs the approval of two other principals, to exactly this order, not older than a day"
    )]
    ApprovalMissing,
    /// The version is in use.
    #[error("the version was used or asked for too lately, or its campaign is open")]
    KeyInUse,
    /// The day of the destruction has not come.
    #[error("the day of the destruction has not come")]
    NotYetDue,
    /// The clock jumped.
    #[error(
        "the clock jumped, or the node was down for long: nothing is destroyed until the clock is confirmed"
    )]
    ClockUncertain,
    /// No import key has this id.
    #[error(
        "there is no such import key: it was used, is a day old, or the node was started again since"
    )]
    ImportUnknown,
    /// It was wrapped otherwise, or to another key.
    #[error("the wrapped key does not open with this import key, which is spent now")]
    ImportRejected,
    /// The key is not the one that was meant.
    #[error("the key that is brought in is another than its check value says")]
    CheckValue,
    /// Nobody uses the import keys that there are.
    #[error("16 import keys wait to be used already; they are forgotten after a day")]
    TooManyImports,
    /// The tweak's policy takes bytes from a caller that no caller of the service gives.
    #[error("the policy caller takes a tweak from the caller as it is, which the service does not")]
    CallersTweak,
    /// The policy does not fit together.
    #[error(transparent)]
    Policy(#[from] keywright_policy::Error),
    /// A list is older than the one in force.
    #[error(transparent)]
    OlderTrust(#[from] Older),
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
            Self::Unsupported
            | Self::Misfit(_)
            | Self::SoftExport
            | Self::OneSeed
            | Self::Wallet
            | Self::NoWallet
            | Self::ByHandOnly => Code::Unsupported,
            Self::NotBound(why) => why.code(),
            Self::NeverLeaves => Code::OperationDenied,
            Self::ApprovalMissing => Code::ApprovalMissing,
            Self::KeyInUse => Code::KeyInUse,
            Self::NotYetDue => Code::NotYetDue,
            Self::ClockUncertain => Code::ClockUncertain,
            Self::Rows(rows::Error::NoVersion) => Code::VersionNotFound,
            Self::Rows(rows::Error::Rule(_) | rows::Error::MinimumAboveActive) => {
                Code::ValueInvalid
            }
            Self::Policy(_)
            | Self::Format(_)
            | Self::CallersTweak
            | Self::ImportRejected
            | Self::Reader(_)
            | Self::CheckValue => Code::ValueInvalid,
            Self::OlderTrust(_) | Self::ImportUnknown | Self::TooManyImports => Code::StateConflict,
            Self::Rows(rows::Error::NameTaken | rows::Error::LabelTaken) => Code::NameTaken,
            Self::Rows(rows::Error::NotFound) => Code::ContextNotFound,
            Self::Rows(rows::Error::State(_) | rows::Error::VersionsExhausted) => {
                Code::StateConflict
            }
            Self::Rows(rows::Error::Store(error)) | Self::Store(error) => store_code(error),
            Self::Rows(_) => Code::StoreUnavailable,
            Self::Holder(error) => error.code(),
            Self::Audit(_) => Code::AuditUnavailable,
            Self::Randomness(_) => Code::Internal,
        }
    }
}

impl Admin {
    /// The hand for `store`, recording through `writer`.
    #[must_use]
    pub fn new(shared: Arc<Shared>, store: Store, writer: Writer) -> Self {
        // Weak, because a holder behind the shared state may keep the store for its counters.
        let counted = Arc::downgrade(&shared);
        let told = store.observe(Box::new(move |took, done| {
            if let Some(shared) = counted.upgrade() {
                let ended = match done.is_err_and(keywright_store::Error::is_failure) {
                    true => Ended::Failed,
                    false => Ended::Worked,
                };
                shared.metrics().note_commit(took, ended);
            }
        }));
        debug_assert!(told, "one hand for a store");
        Self {
            shared,
            store,
            hand: Mutex::new(Hand::new(writer)),
            watched: Mutex::new(None),
            imports: Imports::default(),
        }
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
        let (tenant, key) = (
            TenantId::from_bytes(random.array()?),
            KeyId::from_bytes(random.array()?),
        );
        let mut facts = self.facts(Operation::ContextCreate, &mut random)?;
        (facts.tenant, facts.key) = (tenant, key);
        let intent = Intent {
            facts,
            fields: &[Field::name(name)],
            trust: None,
        };
        let made = self.carry_out(intent, |mut next| {
            let identity = self.first_identity((tenant, key), KeySpec::wrap());
            let order = (Operation::ContextCreate, Particulars::default());
            let material = self.generate(identity, None, order)?;
            let transaction = rows::create_tenant(name, &material);
            let made = Tenant::new(tenant, name.clone(), Arc::new(material));
            Arc::make_mut(&mut next.tenants).insert(tenant, made);
            Ok(Prepared {
                answer: tenant,
                transaction,
                next,
            })
        });
        made.map(|(tenant, _)| tenant)
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
        self.create_context_with(tenant, name, NewContext::new(spec, binding))
    }

    /// As [`Admin::create_context`], for a key that has more to it than a specification.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn create_context_with(
        &self,
        tenant: &Name,
        name: &Name,
        new: NewContext<'_>,
    ) -> Result<CreatedContext, AdminError> {
        self.create_wallet(tenant, name, new).map(|(made, _)| made)
    }

    /// As [`Admin::create_context_with`], with the words of the seed where the key is a tree whose seed is made of
    /// words. Nobody can be shown them again: they are kept nowhere.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn create_wallet(
        &self,
        tenant: &Name,
        name: &Name,
        new: NewContext<'_>,
    ) -> Result<(CreatedContext, Option<SecretBytes>), AdminError> {
        if !new.is_imported() && fit::check(&new.spec).is_ok() {
            let secret = slow_secret(&new.spec)?;
            if let Some(secret) = &secret {
                let new = NewContext {
                    secret: Some(secret),
                    ..new
                };
                return self
                    .make_context(tenant, name, &new)
                    .map(|made| (made, None));
            }
        }
        if !new.wants_words() {
            return self
                .make_context(tenant, name, &new)
                .map(|made| (made, None));
        }
        let (seed, words) = new_words(&mut RandomStream::new()?)?;
        let new = NewContext {
            secret: Some(&seed),
            ..new
        };
        let made = self.make_context(tenant, name, &new)?;
        Ok((made, Some(words)))
    }

    fn make_context(
        &self,
        tenant: &Name,
        name: &Name,
        new: &NewContext<'_>,
    ) -> Result<CreatedContext, AdminError> {
        let mut random = RandomStream::new()?;
        let id = KeyId::from_bytes(random.array()?);
        let mut facts = self.facts(Operation::ContextCreate, &mut random)?;
        facts.tenant = self
            .tenant(tenant)
            .map_or(TenantId::NONE, |tenant| tenant.id);
        (facts.key, facts.version) = (id, KeyVersion::FIRST);
        let intent = Intent {
            facts,
            fields: &[Field::name(name)],
            trust: None,
        };
        let material = OnceCell::new();
        let made = self.carry_out(intent, |mut next| {
            self.check_new(new)?;
            let parent = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
            let description = new.description(id, parent.id, name);
            let identity = self.first_identity((parent.id, id), new.spec);
            let unwrapped = new.wrapped.map(|wrapped| self.unwrap_key(&wrapped));
            let unwrapped = unwrapped.transpose()?;
            let mut particulars = new.particulars();
            particulars.secret = unwrapped.as_ref().or(particulars.secret);
            let order = (Operation::ContextCreate, particulars);
            let first = self.generate(identity, Some(parent), order)?;
            let first = material.get_or_init(|| Arc::new(first));
            if let (Some(wrapped), Some(secret)) = (&new.wrapped, &unwrapped) {
                self.hold_against(first, secret, wrapped.check)?;
            }
            let transaction = rows::create_key(&description, first);
            let activated = Some(first.created());
            let first = Version::new(Arc::clone(first), State::Active).with_times(activated, None);
            next.keyring = next
                .keyring
                .with(Arc::new(Key::new(description, vec![first])));
            let answer = CreatedContext {
                id,
                version: KeyVersion::FIRST,
            };
            Ok(Prepared {
                answer,
                transaction,
                next,
            })
        });
        let made = self.unless_kept(made, material.into_inner(), Operation::ContextCreate);
        made.map(|(created, _)| created)
    }

    /// Makes a new version active and retires the one before it (design 7.17).
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn rotate(&self, tenant: &Name, name: &Name) -> Result<KeyVersion, AdminError> {
        self.rotate_as(&Author::owner(), tenant, name)
    }

    /// As [`Admin::rotate`], ordered by `author`.
    ///
    /// # Errors
    /// As [`Admin::rotate`].
    pub fn rotate_as(
        &self,
        author: &Author,
        tenant: &Name,
        name: &Name,
    ) -> Result<KeyVersion, AdminError> {
        let named = (tenant, name);
        let facts = self.facts_about(author, Operation::KeyRotate, named, KeyVersion::NONE)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        // An order for a context that is not there is refused where all are; nothing is made for it.
        let known = self
            .tenant(tenant)
            .and_then(|tenant| self.find(&tenant, name));
        let secret = known.map_or(Ok(None), |key| slow_secret(key.spec()))?;
        let material = OnceCell::new();
        let rotated = self.carry_out(intent, |mut next| {
            let tenant = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
            let known = next.keyring.find(tenant.id, name.as_str());
            let known = known.ok_or(AdminError::ContextUnknown)?;
            if known.spec().purpose == Purpose::Tree {
                return Err(AdminError::OneSeed);
            }
            let id = known.id();
            let key = rows::load_key(&self.store, tenant, id)?;
            let identity = rows::next_identity(&key, self.shared.clock().wall())?;
            let particulars = Particulars {
                detail: key.detail().cloned(),
                secret: secret.as_ref(),
            };
            let order = (Operation::KeyRotate, particulars);
            let new = self.generate(identity, Some(tenant), order)?;
            let new = material.get_or_init(|| Arc::new(new));
            let transaction = rows::rotate(&self.store, &key, new)?;
            let rotated = rows::rotated(&key, Arc::clone(new));
            next.keyring = next.keyring.with(Arc::new(rotated));
            Ok(Prepared {
                answer: identity.version,
                transaction,
                next,
            })
        });
        let rotated = self.unless_kept(rotated, material.into_inner(), Operation::KeyRotate);
        rotated.map(|(version, _)| version)
    }

    /// Rotates a key whose version has sealed as often as it should (design 7.19); `None` if that version seals
    /// no more anyway. Two at once may rotate twice, which costs a version and nothing else.
    ///
    /// # Errors
    /// As [`Admin::rotate`].
    pub fn rotate_spent(&self, spent: Spent) -> Result<Option<KeyVersion>, AdminError> {
        let snapshot = self.shared.snapshot();
        let key = snapshot.keyring.iter().find(|key| key.id() == spent.key);
        let key = key.ok_or(AdminError::ContextUnknown)?;
        if key.active().map(Version::number) != Some(spent.version) {
            return Ok(None);
        }
        let tenant = snapshot.tenants.get(&key.tenant());
        let tenant = tenant.ok_or(AdminError::TenantUnknown)?;
        self.rotate(&tenant.name, key.name()).map(Some)
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
        let body = document.to_json()?;
        let facts = self.facts(Operation::PolicyApply, &mut random)?;
        let intent = Intent {
            facts,
            fields: &[Field::OrderDigest(sha256(&body))],
            trust: None,
        };
        let applied = self.carry_out(intent, |mut next| {
            let tenants = |name: &Name| next.tenant(name).map(|tenant| tenant.id);
            // Compiled before it is stored: what does not fit together is never in force.
            let policy = Policy::compile(&document, tenants, next.epoch)?;
            next.policy = Arc::new(policy);
            let revision = current.map(|row| row.revision);
            Ok(Prepared {
                answer: (),
                transaction: put(POLICY_ROW, revision, body),
                next,
            })
        });
        applied.map(|((), epoch)| epoch)
    }

    /// Puts a new revocation list in force. `lists` is its text, which the store keeps, so that an older
    /// one is known as such at the next start.
    ///
    /// # Errors
    /// [`AdminError::OlderTrust`] for a list older than the one in force; else as the other orders.
    pub fn replace_trust(&self, trust: Arc<ClientTrust>, lists: &[u8]) -> Result<u64, AdminError> {
        let mut random = RandomStream::new()?;
        let facts = self.facts(Operation::PkiRevoke, &mut random)?;
        let fields = [Field::OrderDigest(sha256(lists))];
        let intent = Intent {
            facts,
            fields: &fields,
            trust: Some(Arc::clone(&trust)),
        };
        let replaced = self.carry_out(intent, |mut next| {
            if let Some(older) = trust.older_than(&next.trust) {
                return Err(older.into());
            }
            next.trust = trust;
            let current = self.store.get(Table::Policies, TRUST_ROW)?;
            let transaction = put(TRUST_ROW, current.map(|row| row.revision), lists);
            Ok(Prepared {
                answer: (),
                transaction,
                next,
            })
        });
        replaced.map(|((), epoch)| epoch)
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
        self.shared
            .snapshot()
            .tenant(name)
            .cloned()
            .ok_or(AdminError::TenantUnknown)
    }

    /// The context that `tenant` knows as `name`.
    ///
    /// # Errors
    /// [`AdminError::ContextUnknown`].
    pub fn find(&self, tenant: &Tenant, name: &Name) -> Result<Arc<Key>, AdminError> {
        let snapshot = self.shared.snapshot();
        snapshot
            .keyring
            .find(tenant.id, name.as_str())
            .cloned()
            .ok_or(AdminError::ContextUnknown)
    }

    pub(crate) fn facts(
        &self,
        operation: Operation,
        random: &mut RandomStream,
    ) -> Result<Facts, AdminError> {
        let mut facts = Facts::new(RecordType::Request, operation, self.shared.clock().wall());
        facts.request = RequestId::from_bytes(random.array()?);
        facts.epoch = self.shared.snapshot().epoch;
        Ok(facts)
    }

    fn first_identity(&self, (tenant, key): (TenantId, KeyId), spec: KeySpec) -> Identity {
        let created = self.shared.clock().wall();
        Identity {
            tenant,
            key,
            version: KeyVersion::FIRST,
            spec,
            created,
        }
    }

    /// The holder's secret for a version under its tenant's key; without a tenant, under the root.
    pub(crate) fn generate(
        &self,
        identity: Identity,
        tenant: Option<&Tenant>,
        (operation, particulars): (Operation, Particulars<'_>),
    ) -> Result<KeyMaterial, AdminError> {
        let epoch = self.shared.snapshot().epoch;
        let permit = Policy::owner().at(epoch).permit(identity.key, operation);
        let parent = tenant.map(|tenant| Arc::clone(&tenant.wrapping_key));
        let new = NewKey { identity, parent };
        Ok(self
            .shared
            .holder()
            .generate_with(&permit, new, particulars)?)
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
    Ok(row
        .map(|row| PolicyDocument::from_json(&row.body))
        .transpose()?)
}

/// The revocation lists that were last put in force.
///
/// # Errors
/// [`AdminError::Store`] if they cannot be read.
pub fn load_trust(store: &Store) -> Result<Option<Vec<u8>>, AdminError> {
    Ok(store.get(Table::Policies, TRUST_ROW)?.map(|row| row.body))
}

/// Whether the order came too late or the store is not there.
const fn store_code(error: &keywright_store::Error) -> Code {
    match error {
        keywright_store::Error::Conflict { .. } | keywright_store::Error::Exists { .. } => {
            Code::StateConflict
        }
        _ => Code::StoreUnavailable,
    }
}

/// Writes a row of the policy table over the one that was read.
fn put(key: &[u8], revision: Option<u64>, body: impl Into<Vec<u8>>) -> Transaction {
    match revision {
        None => Transaction::new().insert(Table::Policies, key, TenantId::NONE, body),
        Some(revision) => Transaction::new().update(Table::Policies, key, revision, body),
    }
}

/// The key of the policy in its table.
pub const POLICY_ROW: &[u8] = b"policy";
/// The key of anchors and revocation lists in the table of policies.
pub const TRUST_ROW: &[u8] = b"trust";
