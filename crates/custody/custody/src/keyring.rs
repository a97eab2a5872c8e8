//! The contexts and versions that a snapshot of the service knows.
//!
//! The map is cut into shards behind `Arc`s. A change copies one shard and the list of shards and
//! shares the rest, so that publishing a new snapshot costs little however many keys there are.
//! Reading takes no lock.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use keywright_clock::WallTime;
use keywright_types::map::{IdHasher, NameHasher};
use keywright_types::{BindingKind, KeyId, KeySpec, KeyVersion, Name, State, TenantId};

use crate::{Detail, KeyMaterial, Rules, lifecycle};

/// One version of a key, as the snapshot sees it.
#[derive(Clone, Debug)]
pub struct Version {
    material: Arc<KeyMaterial>,
    state: State,
    life: Life,
}

/// The times of a version's life, and what is left of it at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of a version's row")]
pub struct Life {
    /// When it began to seal.
    pub activated: Option<WallTime>,
    /// When it stopped sealing.
    pub retired: Option<WallTime>,
    /// When its destruction was ordered.
    pub scheduled: Option<WallTime>,
    /// From when on it may be destroyed.
    pub due: Option<WallTime>,
    /// When it was destroyed.
    pub destroyed: Option<WallTime>,
    /// The public key of a destroyed version that had one, as a JSON Web Key.
    pub public_key: Option<Arc<str>>,
}

impl Version {
    /// A version in `state`.
    #[must_use]
    pub const fn new(material: Arc<KeyMaterial>, state: State) -> Self {
        Self {
            material,
            state,
            life: Life {
                activated: None,
                retired: None,
                scheduled: None,
                due: None,
                destroyed: None,
                public_key: None,
            },
        }
    }

    /// The same, with all of its life.
    #[must_use]
    pub fn with_life(self, life: Life) -> Self {
        Self { life, ..self }
    }

    /// The times of its life.
    #[must_use]
    pub const fn life(&self) -> &Life {
        &self.life
    }

    /// The same, with the times of its life.
    #[must_use]
    pub fn with_times(self, activated: Option<WallTime>, retired: Option<WallTime>) -> Self {
        let life = Life {
            activated,
            retired,
            ..self.life
        };
        Self { life, ..self }
    }

    /// The same, retired then.
    pub(crate) fn retired_at(self, retired: Option<WallTime>) -> Self {
        let life = Life {
            retired,
            ..self.life
        };
        Self {
            state: State::Retired,
            life,
            ..self
        }
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> KeyVersion {
        self.material.version()
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// What a holder needs to use it.
    #[must_use]
    pub const fn material(&self) -> &Arc<KeyMaterial> {
        &self.material
    }

    /// When it began to seal.
    #[must_use]
    pub const fn activated(&self) -> Option<WallTime> {
        self.life.activated
    }

    /// When it stopped sealing.
    #[must_use]
    pub const fn retired(&self) -> Option<WallTime> {
        self.life.retired
    }
}

/// A key, which is a context, with all its versions in order of their numbers.
#[derive(Clone, Debug)]
pub struct Key {
    id: KeyId,
    tenant: TenantId,
    name: Name,
    spec: KeySpec,
    detail: Option<Arc<Detail>>,
    binding: BindingKind,
    min_open: KeyVersion,
    rules: Rules,
    versions: Vec<Version>,
}

/// What is fixed about a context besides its key's specification.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new attribute must be faced wherever a key is made"
)]
pub struct Description {
    /// The key, and so the context.
    pub id: KeyId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What people call it.
    pub name: Name,
    /// What is fixed about its key.
    pub spec: KeySpec,
    /// What is fixed besides, if its purpose needs that.
    pub detail: Option<Arc<Detail>>,
    /// What its new envelopes are bound to.
    pub binding: BindingKind,
    /// Versions below this do not open.
    pub min_open: KeyVersion,
    /// What its owner may change.
    pub rules: Rules,
}

impl Key {
    /// A key with these versions; they are put in order.
    #[must_use]
    pub fn new(description: Description, mut versions: Vec<Version>) -> Self {
        versions.sort_by_key(Version::number);
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
        Self {
            id,
            tenant,
            name,
            spec,
            detail,
            binding,
            min_open,
            rules,
            versions,
        }
    }

    /// The same key with these versions; they are put in order.
    #[must_use]
    pub(crate) fn with_versions(&self, mut versions: Vec<Version>) -> Self {
        versions.sort_by_key(Version::number);
        Self {
            versions,
            name: self.name.clone(),
            detail: self.detail.clone(),
            rules: self.rules.clone(),
            ..*self
        }
    }

    /// The same key under these rules.
    #[must_use]
    pub(crate) fn with_rules(&self, rules: Rules, min_open: KeyVersion) -> Self {
        Self {
            rules,
            min_open,
            ..self.clone()
        }
    }

    /// What its owner may change.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Versions below this do not open.
    #[must_use]
    pub const fn min_open(&self) -> KeyVersion {
        self.min_open
    }

    /// The key's id, which is the context's.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// Whose it is.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// What people call it.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Whether it is what this tenant knows by this name.
    fn is_named(&self, tenant: TenantId, name: &str) -> bool {
        self.tenant == tenant && self.name.as_str() == name
    }

    /// What is fixed about it.
    #[must_use]
    pub const fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// What is fixed besides, if its purpose needs that.
    #[must_use]
    pub const fn detail(&self) -> Option<&Arc<Detail>> {
        self.detail.as_ref()
    }

    /// What its new envelopes are bound to.
    #[must_use]
    pub const fn binding(&self) -> BindingKind {
        self.binding
    }

    /// All versions, oldest first.
    #[must_use]
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// The version that seals.
    #[must_use]
    pub fn active(&self) -> Option<&Version> {
        // The active version is nearly always the newest.
        self.versions
            .iter()
            .rev()
            .find(|version| lifecycle::may_seal(version.state))
    }

    /// The version with this number.
    #[must_use]
    pub fn version(&self, number: KeyVersion) -> Option<&Version> {
        let found = self.versions.binary_search_by_key(&number, Version::number);
        found.ok().map(|index| &self.versions[index])
    }

    /// The version that was brought in from the seed service under this label.
    #[must_use]
    pub fn reader(&self, label: &str) -> Option<&Version> {
        self.versions.iter().find(|version| {
            let reader = version.material.reader();
            reader.is_some_and(|reader| reader.label == label)
        })
    }

    /// Whether `version` may open: by its state and by the context's minimum (design 7.8).
    #[must_use]
    pub fn may_open(&self, version: &Version) -> bool {
        lifecycle::may_open(version.state) && version.number() >= self.min_open
    }
}

/// Every key of every tenant, by the name under which its tenant knows it.
#[derive(Clone, Default)]
pub struct Keyring {
    shards: Arc<Vec<Arc<Shard>>>,
    count: usize,
}

/// Each key at the hash of its tenant and its name.
type Shard = HashTable<Arc<Key>>;

impl Keyring {
    /// A keyring of these keys; a later key replaces an earlier one of the same name.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = Arc<Key>>) -> Self {
        let mut shards = vec![Shard::default(); SHARDS];
        let mut count = 0;
        for key in keys {
            let hash = hash_of_key(&key);
            count += usize::from(put(&mut shards[shard_of(hash)], hash, key));
        }
        Self {
            shards: Arc::new(shards.into_iter().map(Arc::new).collect()),
            count,
        }
    }

    /// The key that `tenant` knows as `name`.
    #[must_use]
    pub fn find(&self, tenant: TenantId, name: &str) -> Option<&Arc<Key>> {
        let hash = hash_of(tenant, name);
        let shard = self.shards.get(shard_of(hash))?;
        shard.find(hash, |key| key.is_named(tenant, name))
    }

    /// This keyring with `key` added or replaced. Other shards are shared.
    #[must_use]
    pub fn with(&self, key: Arc<Key>) -> Self {
        if self.shards.is_empty() {
            return Self::new([key]);
        }
        let mut shards = Vec::clone(&self.shards);
        let hash = hash_of_key(&key);
        let added = put(Arc::make_mut(&mut shards[shard_of(hash)]), hash, key);
        Self {
            shards: Arc::new(shards),
            count: self.count + usize::from(added),
        }
    }

    /// All keys, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Key>> {
        self.shards.iter().flat_map(|shard| shard.iter())
    }

    /// Number of keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyring({} keys)", self.count)
    }
}

const SHARDS: usize = 256;

/// Adds a key in the place of the one that its tenant knew by its name. Whether there was none.
fn put(shard: &mut Shard, hash: u64, key: Arc<Key>) -> bool {
    let same = |other: &Arc<Key>| other.is_named(key.tenant, key.name.as_str());
    match shard.entry(hash, same, |other| hash_of_key(other)) {
        Entry::Occupied(mut known) => {
            *known.get_mut() = key;
            false
        }
        Entry::Vacant(free) => {
            free.insert(key);
            true
        }
    }
}

/// Ids are random, so one of them may be put over the hash of a name as it is.
fn hash_of(tenant: TenantId, name: &str) -> u64 {
    let names = BuildHasherDefault::<NameHasher>::default().hash_one(name);
    names ^ BuildHasherDefault::<IdHasher>::default().hash_one(tenant)
}

fn hash_of_key(key: &Key) -> u64 {
    hash_of(key.tenant, key.name.as_str())
}

fn shard_of(hash: u64) -> usize {
    // The tables inside use the low bits and the highest ones.
    usize::try_from(hash >> 32).unwrap_or(0) % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    fn key(tenant: u8, name: &str, states: &[State]) -> Arc<Key> {
        let description = Description {
            id: KeyId::from_bytes([7; 16]),
            tenant: TenantId::from_bytes([tenant; 16]),
            name: name.parse().unwrap(),
            spec: KeySpec::seal(),
            detail: None,
            binding: BindingKind::None,
            min_open: KeyVersion::FIRST,
            rules: Rules::default(),
        };
        let versions = (1..).zip(states).map(|(number, state)| {
            let identity = Identity {
                tenant: description.tenant,
                key: description.id,
                version: KeyVersion::from_number(number),
                spec: description.spec,
                created: WallTime::from_unix_millis(0),
            };
            Version::new(Arc::new(KeyMaterial::new(identity, vec![], None)), *state)
        });
        Arc::new(Key::new(description.clone(), versions.collect()))
    }

    #[test]
    fn a_name_is_known_to_its_tenant_alone() {
        let ring = Keyring::new([key(1, "a", &[]), key(2, "b", &[])]);
        let tenant = |byte| TenantId::from_bytes([byte; 16]);
        assert!(ring.find(tenant(1), "a").is_some());
        assert!(ring.find(tenant(2), "a").is_none());
        assert!(ring.find(tenant(1), "b").is_none());
        assert!(ring.find(tenant(1), "A").is_none());
        let both = ring
            .with(key(1, "b", &[]))
            .with(key(2, "b", &[State::Active]));
        assert_eq!((both.len(), both.iter().count()), (3, 3));
        assert_eq!(both.find(tenant(1), "b").unwrap().versions().len(), 0);
        assert_eq!(both.find(tenant(2), "b").unwrap().versions().len(), 1);
        assert!(Keyring::default().find(tenant(1), "a").is_none());
    }

    #[test]
    fn an_older_keyring_does_not_see_a_later_key() {
        let before = (0..1000)
            .map(|n| key(1, &format!("k{n}"), &[]))
            .collect::<Vec<_>>();
        let before = Keyring::new(before);
        let after = before.with(key(1, "new", &[]));
        assert_eq!((before.len(), after.len()), (1000, 1001));
        assert!(before.find(TenantId::from_bytes([1; 16]), "new").is_none());
        let shared = before.shards.iter().zip(after.shards.iter());
        assert_eq!(shared.filter(|(a, b)| !Arc::ptr_eq(a, b)).count(), 1);
        assert_eq!(Keyring::default().with(key(1, "x", &[])).iter().count(), 1);
    }

    #[test]
    fn the_active_version_and_what_opens_follow_the_states() {
        let key = key(
            1,
            "a",
            &[
                State::Destroyed,
                State::Retired,
                State::Active,
                State::PreActive,
            ],
        );
        assert_eq!(
            key.active().map(|version| version.number().number()),
            Some(3)
        );
        let opens: Vec<_> = key
            .versions()
            .iter()
            .map(|version| key.may_open(version))
            .collect();
        assert_eq!(opens, [false, true, true, true]);
        assert!(key.version(KeyVersion::from_number(5)).is_none());
        assert!(key.version(KeyVersion::NONE).is_none());
    }

    #[test]
    fn a_minimum_keeps_older_versions_shut() {
        let mut key = Key::clone(&key(1, "a", &[State::Retired, State::Active]));
        key.min_open = KeyVersion::from_number(2);
        assert!(!key.may_open(&key.versions()[0]) && key.may_open(&key.versions()[1]));
    }
}
