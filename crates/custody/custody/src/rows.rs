//! How tenants, contexts and key versions stand in the store.
//!
//! | table | key | body |
//! |---|---|---|
//! | tenants | tenant 16 | `TenantRow` |
//! | names | tenant 16 + lower-case name | the key's id: a name is given out once, in any case (7.3); names of tenants stand under the tenant zero |
//! | keys | key 16 | `KeyRow` |
//! | key_versions | key 16 + version u32 | `VersionRow` |
//!
//! Bodies are JSON with a version number and no unknown fields. The store puts its MAC over each row
//! (7.15); the secret inside is sealed besides, over the attributes of 7.12, so that a row that was
//! moved or edited neither verifies nor opens. Each change is one transaction. A version that seals in a token
//! gets a counter of its seals with its row (7.19).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_encoding::{base64, hex};
use keywright_primitives::hash::sha256;
use keywright_store::{Row, Store, Table, Transaction};
use keywright_types::{BindingKind, KeyId, KeySpec, KeyVersion, Name, State, TenantId};
use serde::{Deserialize, Serialize};

use crate::fit::runs_in_tokens;
use crate::lifecycle::{self, Conflict, Facts, Order};
use crate::{
    BadRule, Description, Detail, Identity, Key, KeyMaterial, Keyring, Life, ReaderDetail, Rules,
    Version,
};

pub mod approvals;
pub mod life;
pub mod restore;

/// A tenant: its name and the key that wraps its keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TenantRow {
    v: u8,
    name: Name,
    key: KeyId,
    spec: KeySpec,
    created_ms: u64,
    sealed: String,
}

/// What is fixed about a context.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRow {
    v: u8,
    name: Name,
    spec: KeySpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Arc<Detail>>,
    binding: BindingKind,
    min_open: KeyVersion,
    #[serde(default, skip_serializing_if = "Rules::is_default")]
    rules: Rules,
    created_ms: u64,
}

/// One version of a key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionRow {
    v: u8,
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before_suspension: Option<State>,
    created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activated_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retired_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduled_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destroyed_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<Arc<str>>,
    /// Of a version that was brought in from the seed service: how it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reader: Option<ReaderDetail>,
    /// Empty once the version is destroyed.
    sealed: String,
}

/// A tenant as the service knows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name.
    pub name: Name,
    /// The key that wraps its keys.
    pub wrapping_key: Arc<KeyMaterial>,
}

impl Tenant {
    /// A tenant of these parts.
    #[must_use]
    pub const fn new(id: TenantId, name: Name, wrapping_key: Arc<KeyMaterial>) -> Self {
        Self {
            id,
            name,
            wrapping_key,
        }
    }
}

/// Everything the store knows of keys.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Contents {
    /// All tenants.
    pub tenants: Vec<Tenant>,
    /// All keys.
    pub keyring: Keyring,
}

/// Why rows could not be read or a change not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is in use, or was once, in this or another case.
    #[error("the name is taken")]
    NameTaken,
    /// There is no such key.
    #[error("no such key")]
    NotFound,
    /// The version's state does not allow the order.
    #[error(transparent)]
    State(#[from] Conflict),
    /// The key has no such version.
    #[error("the key has no such version")]
    NoVersion,
    /// A rule of the context is outside its limits.
    #[error(transparent)]
    Rule(#[from] BadRule),
    /// Nothing could be opened any more that is sealed from now on.
    #[error("the least version that opens cannot be above the active one")]
    MinimumAboveActive,
    /// Another version has the label.
    #[error("a version of the context has this label already")]
    LabelTaken,
    /// No version number is left.
    #[error("the key has used all its version numbers")]
    VersionsExhausted,
    /// A row that its MAC calls ours does not parse: written by a newer version, or a bug.
    #[error("a row of table {0:?} cannot be read by this version")]
    Unreadable(Table),
    /// A row that a record of the audit log has was not written by this store: its MAC does not fit.
    #[error("a record of the audit log has a row of table {0:?} whose MAC is not the store's")]
    ForeignRow(Table),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] keywright_store::Error),
}

/// Reads everything.
///
/// # Errors
/// [`Error::Store`], or [`Error::Unreadable`] for a row that does not parse.
pub fn load(store: &Store) -> Result<Contents, Error> {
    let tenants = load_tenants(store)?;
    let mut versions = store.range(Table::KeyVersions, &[])?.into_iter().peekable();
    let mut keys = Vec::new();
    let by_id: HashMap<_, _> = tenants.iter().map(|tenant| (tenant.id, tenant)).collect();
    // Both tables are in order of the key's id, so one walk joins them.
    for row in store.range(Table::Keys, &[])? {
        let parent = by_id
            .get(&row.tenant)
            .ok_or(Error::Unreadable(Table::Keys))?;
        let (description, _) = parse_key(&row)?;
        let mut own = Vec::new();
        while let Some(version) = versions.next_if(|version| version.key.starts_with(&row.key)) {
            own.push(parse_version(&version, &description, &parent.wrapping_key)?);
        }
        keys.push(Arc::new(Key::new(description, own)));
    }
    // A version of no key would stop the walk, and later keys would seem to have none.
    if versions.peek().is_some() {
        return Err(Error::Unreadable(Table::KeyVersions));
    }
    Ok(Contents {
        tenants,
        keyring: Keyring::new(keys),
    })
}

/// Reads one key as it stands now.
///
/// # Errors
/// [`Error::NotFound`] if there is none, else as [`load`].
pub fn load_key(store: &Store, tenant: &Tenant, id: KeyId) -> Result<Key, Error> {
    let row = store
        .get(Table::Keys, id.as_bytes())?
        .ok_or(Error::NotFound)?;
    let (description, _) = parse_key(&row)?;
    if description.tenant != tenant.id {
        return Err(Error::NotFound);
    }
    let versions = store.range(Table::KeyVersions, id.as_bytes())?;
    let versions = versions
        .iter()
        .map(|version| parse_version(version, &description, &tenant.wrapping_key))
        .collect::<Result<_, _>>()?;
    Ok(Key::new(description, versions))
}

/// The transaction that makes a tenant.
pub fn create_tenant(name: &Name, wrapping_key: &KeyMaterial) -> Transaction {
    let tenant = wrapping_key.tenant();
    let body = TenantRow {
        v: ROW_FORMAT,
        name: name.clone(),
        key: wrapping_key.key(),
        spec: *wrapping_key.spec(),
        created_ms: wrapping_key.created().unix_millis(),
        sealed: base64::encode(wrapping_key.sealed()),
    };
    Transaction::new()
        .insert(
            Table::Names,
            name_key(TenantId::NONE, name),
            tenant,
            *tenant.as_bytes(),
        )
        .insert(Table::Tenants, *tenant.as_bytes(), tenant, json(&body))
}

/// The transaction that makes a context with its first version, active at once.
pub fn create_key(description: &Description, first: &KeyMaterial) -> Transaction {
    let Description {
        id,
        tenant,
        name,
        spec,
        detail,
        binding,
        min_open,
        rules,
    } = description;
    let created_ms = first.created().unix_millis();
    let (binding, min_open) = (*binding, *min_open);
    let body = KeyRow {
        v: ROW_FORMAT,
        name: name.clone(),
        spec: *spec,
        detail: detail.clone(),
        binding,
        min_open,
        rules: rules.clone(),
        created_ms,
    };
    let transaction = Transaction::new()
        .insert(
            Table::Names,
            name_key(*tenant, name),
            *tenant,
            *id.as_bytes(),
        )
        .insert(Table::Keys, *id.as_bytes(), *tenant, json(&body));
    insert_version(transaction, first, State::Active)
}

/// The transaction that makes `new` the active version and retires the one before it (7.17).
///
/// # Errors
/// [`Error::State`] if the old version cannot be retired, or as [`load`].
pub fn rotate(store: &Store, key: &Key, new: &KeyMaterial) -> Result<Transaction, Error> {
    // What the decision rests on may not change before the commit.
    let row = store
        .get(Table::Keys, key.id().as_bytes())?
        .ok_or(Error::NotFound)?;
    let mut transaction =
        Transaction::new().require(Table::Keys, *key.id().as_bytes(), row.revision);
    if let Some(active) = key.active() {
        let row_key = version_key(key.id(), active.number());
        let row = store
            .get(Table::KeyVersions, &row_key)?
            .ok_or(Error::NotFound)?;
        let mut body: VersionRow = read(&row, Table::KeyVersions)?;
        let facts = Facts {
            another_is_active: false,
            later_was_active: false,
            never_used: false,
            before_suspension: body.before_suspension,
        };
        body.state = lifecycle::step(body.state, Order::Retire, facts)?;
        body.retired_ms = Some(new.created().unix_millis());
        transaction = transaction.update(Table::KeyVersions, row_key, row.revision, json(&body));
    }
    Ok(insert_version(transaction, new, State::Active))
}

/// `key` as the store has it once the transaction of [`rotate`] is committed.
#[must_use]
pub fn rotated(key: &Key, new: Arc<KeyMaterial>) -> Key {
    let at = Some(new.created());
    let retire = |version: &Version| match version.state() {
        State::Active => version.clone().retired_at(at),
        _ => version.clone(),
    };
    let mut versions: Vec<_> = key.versions().iter().map(retire).collect();
    versions.push(Version::new(new, State::Active).with_times(at, None));
    key.with_versions(versions)
}

/// The transaction that adds a version which only opens: retired from the first moment on.
///
/// # Errors
/// [`Error::LabelTaken`], [`Error::NotFound`], or as [`load`].
pub fn add_reader(store: &Store, key: &Key, new: &KeyMaterial) -> Result<Transaction, Error> {
    let label = new.reader().map_or("", |reader| &reader.label);
    if key.reader(label).is_some() {
        return Err(Error::LabelTaken);
    }
    let row = store
        .get(Table::Keys, key.id().as_bytes())?
        .ok_or(Error::NotFound)?;
    let transaction = Transaction::new().require(Table::Keys, *key.id().as_bytes(), row.revision);
    Ok(insert_version(transaction, new, State::Retired))
}

/// `key` as the store has it once the transaction of [`add_reader`] is committed.
#[must_use]
pub fn with_reader(key: &Key, new: Arc<KeyMaterial>) -> Key {
    let at = Some(new.created());
    let mut versions = key.versions().to_vec();
    versions.push(Version::new(new, State::Retired).with_times(None, at));
    key.with_versions(versions)
}

/// Whether a row names this version.
///
/// # Errors
/// [`Error::Store`].
pub fn has_version(store: &Store, key: KeyId, version: KeyVersion) -> Result<bool, Error> {
    let row = store.get(Table::KeyVersions, &version_key(key, version))?;
    Ok(row.is_some())
}

/// A row as an audit record may have it: without its sealed secret, in whose place stands its SHA-256. A record
/// outlives the key: with the secret in it, a key that was destroyed could be had back from the log.
#[must_use]
pub fn recorded<'a>(table: Table, body: &'a [u8]) -> Cow<'a, [u8]> {
    if !matches!(table, Table::KeyVersions | Table::Tenants) {
        return Cow::Borrowed(body);
    }
    let Ok(mut row) = serde_json::from_slice::<serde_json::Map<_, _>>(body) else {
        return Cow::Owned(Vec::new());
    };
    if let Some(sealed) = row.remove("sealed") {
        let digest = sha256(sealed.as_str().unwrap_or_default().as_bytes());
        row.insert("sealed_sha256".to_owned(), hex::encode(&digest).into());
    }
    Cow::Owned(serde_json::to_vec(&row).unwrap_or_default())
}

/// Who the next version of `key` is.
///
/// # Errors
/// [`Error::VersionsExhausted`] after 2^32 - 1 versions.
pub fn next_identity(key: &Key, now: WallTime) -> Result<Identity, Error> {
    let newest = key
        .versions()
        .last()
        .map_or(KeyVersion::NONE, Version::number);
    let version = newest.next().ok_or(Error::VersionsExhausted)?;
    Ok(Identity {
        tenant: key.tenant(),
        key: key.id(),
        version,
        spec: *key.spec(),
        created: now,
    })
}

/// Says what a refused insert of a name means.
#[must_use]
pub fn explain(error: keywright_store::Error) -> Error {
    match error {
        keywright_store::Error::Exists {
            table: Table::Names,
        } => Error::NameTaken,
        other => Error::Store(other),
    }
}

fn insert_version(transaction: Transaction, material: &KeyMaterial, state: State) -> Transaction {
    let created_ms = material.created().unix_millis();
    let body = VersionRow {
        v: ROW_FORMAT,
        state,
        before_suspension: None,
        created_ms,
        activated_ms: (state == State::Active).then_some(created_ms),
        retired_ms: (state == State::Retired).then_some(created_ms),
        scheduled_ms: None,
        due_ms: None,
        destroyed_ms: None,
        public_key: None,
        reader: material.reader().cloned(),
        sealed: base64::encode(material.sealed()),
    };
    let (id, version, tenant) = (material.key(), material.version(), material.tenant());
    let transaction = transaction.insert(
        Table::KeyVersions,
        version_key(id, version),
        tenant,
        json(&body),
    );
    if runs_in_tokens(material.spec().algorithm) {
        // Its check value was the first seal (7.21).
        transaction.open_counter(id, version, tenant, 1)
    } else {
        transaction
    }
}

fn load_tenants(store: &Store) -> Result<Vec<Tenant>, Error> {
    store
        .range(Table::Tenants, &[])?
        .iter()
        .map(parse_tenant)
        .collect()
}

fn parse_tenant(row: &Row) -> Result<Tenant, Error> {
    let body: TenantRow = read(row, Table::Tenants)?;
    let identity = Identity {
        tenant: row.tenant,
        key: body.key,
        version: KeyVersion::FIRST,
        spec: body.spec,
        created: WallTime::from_unix_millis(body.created_ms),
    };
    let sealed = unseal_text(&body.sealed, Table::Tenants)?;
    let wrapping_key = Arc::new(KeyMaterial::new(identity, sealed, None));
    Ok(Tenant {
        id: row.tenant,
        name: body.name,
        wrapping_key,
    })
}

fn parse_key(row: &Row) -> Result<(Description, WallTime), Error> {
    let body: KeyRow = read(row, Table::Keys)?;
    let id = <[u8; 16]>::try_from(&row.key[..]).map_err(|_| Error::Unreadable(Table::Keys))?;
    let description = Description {
        id: KeyId::from_bytes(id),
        tenant: row.tenant,
        name: body.name,
        spec: body.spec,
        detail: body.detail,
        binding: body.binding,
        min_open: body.min_open,
        rules: body.rules,
    };
    Ok((description, WallTime::from_unix_millis(body.created_ms)))
}

fn parse_version(row: &Row, of: &Description, parent: &Arc<KeyMaterial>) -> Result<Version, Error> {
    let body: VersionRow = read(row, Table::KeyVersions)?;
    assemble(&body, number_of(row, of)?, of, parent)
}

fn number_of(row: &Row, of: &Description) -> Result<KeyVersion, Error> {
    let number = row
        .key
        .get(16..)
        .and_then(|tail| <[u8; 4]>::try_from(tail).ok());
    let number = number
        .filter(|_| row.tenant == of.tenant)
        .ok_or(Error::Unreadable(Table::KeyVersions))?;
    Ok(KeyVersion::from_number(u32::from_be_bytes(number)))
}

fn assemble(
    body: &VersionRow,
    version: KeyVersion,
    of: &Description,
    parent: &Arc<KeyMaterial>,
) -> Result<Version, Error> {
    let identity = Identity {
        tenant: of.tenant,
        key: of.id,
        version,
        spec: of.spec,
        created: WallTime::from_unix_millis(body.created_ms),
    };
    let sealed = unseal_text(&body.sealed, Table::KeyVersions)?;
    let material = KeyMaterial::new(identity, sealed, Some(Arc::clone(parent)));
    let reader = body.reader.clone();
    let own = reader.map(|reader| Arc::new(Detail::Reader(reader)));
    let material = Arc::new(material.with_detail(own.or_else(|| of.detail.clone())));
    let time = |ms: Option<u64>| ms.map(WallTime::from_unix_millis);
    Ok(Version::new(material, body.state).with_life(Life {
        activated: time(body.activated_ms),
        retired: time(body.retired_ms),
        scheduled: time(body.scheduled_ms),
        due: time(body.due_ms),
        destroyed: time(body.destroyed_ms),
        public_key: body.public_key.clone(),
    }))
}

fn read<'a, T: Deserialize<'a> + Versioned>(row: &'a Row, table: Table) -> Result<T, Error> {
    let body: T = serde_json::from_slice(&row.body).map_err(|_| Error::Unreadable(table))?;
    if body.format() == ROW_FORMAT {
        Ok(body)
    } else {
        Err(Error::Unreadable(table))
    }
}

fn unseal_text(text: &str, table: Table) -> Result<Vec<u8>, Error> {
    base64::decode(text).map_err(|_| Error::Unreadable(table))
}

#[expect(
    clippy::expect_used,
    reason = "a struct of strings and numbers always has a JSON form"
)]
fn json<T: Serialize>(body: &T) -> Vec<u8> {
    serde_json::to_vec(body).expect("a row has a JSON form")
}

fn version_key(key: KeyId, version: KeyVersion) -> [u8; 20] {
    let mut out = [0; 20];
    out[..16].copy_from_slice(key.as_bytes());
    out[16..].copy_from_slice(&version.number().to_be_bytes());
    out
}

fn name_key(tenant: TenantId, name: &Name) -> Vec<u8> {
    [tenant.as_bytes(), name.case_folded().as_str().as_bytes()].concat()
}

trait Versioned {
    fn format(&self) -> u8;
}

macro_rules! versioned {
    ($($name:ident)*) => { $(impl Versioned for $name {
        fn format(&self) -> u8 {
            self.v
        }
    })* };
}
versioned! { TenantRow KeyRow VersionRow }

const ROW_FORMAT: u8 = 1;
