//! The embedded keystore as a [`KeyHolder`].

use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Item, Items, KeyHolder, KeyMaterial, NewKey, Placement, Reply,
    Request, RootKey,
};
use keywright_envelope::{Aad, Binding, Envelope, MessageId};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::locked::Locking;
use keywright_secret::{Secret, SecretBytes, wipe};
use keywright_types::{
    Code, Custody, InstallationId, KeyId, KeySpec, KeyVersion, Kind, Operation, Purpose,
};

use crate::cache::{Cache, Loaded, Pair, derive_pair, suite_of};
use crate::root::{Error, OpenRoot, Root};

/// The embedded holder.
#[derive(Debug)]
pub struct Keystore {
    root: Box<dyn RootKey>,
    cache: Cache,
    clock: Clock,
}

/// A secret of the service itself, sealed by the root: neither a tenant's nor a caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceKey {
    /// The seed that signs heads of the audit log.
    AuditSigning,
    /// The key of the MAC over rows of the store.
    StoreRows,
}

impl ServiceKey {
    /// What the sealed secret is nailed to, so that one cannot stand in for the other.
    const fn attributes(self) -> &'static [u8] {
        match self {
            Self::AuditSigning => b"keywright/service-key/v1/audit-signing",
            Self::StoreRows => b"keywright/service-key/v1/store-rows",
        }
    }
}

impl Keystore {
    /// A holder over an opened root with room for `slots` unwrapped keys.
    ///
    /// # Errors
    /// [`Error::Io`] if the arena cannot be mapped, [`Error::Seal`] if the backend refuses.
    pub fn new(root: &Root, slots: usize, clock: Clock) -> Result<Self, Error> {
        Self::with_root(Box::new(OpenRoot::new(root)?), slots, clock)
    }

    /// A holder under a root that is kept somewhere else, such as in a token.
    ///
    /// # Errors
    /// [`Error::Io`] if the arena cannot be mapped.
    pub fn with_root(root: Box<dyn RootKey>, slots: usize, clock: Clock) -> Result<Self, Error> {
        let cache = Cache::new(slots).map_err(Error::Io)?;
        Ok(Self { root, cache, clock })
    }

    /// Which installation this is the root of.
    #[must_use]
    pub fn installation(&self) -> InstallationId {
        self.root.installation()
    }

    /// Whether the memory for unwrapped keys is locked.
    #[must_use]
    pub fn locking(&self) -> Locking {
        self.cache.locking()
    }

    /// Makes a secret of the service itself and returns it sealed by the root.
    ///
    /// # Errors
    /// [`Error::Backend`] or [`Error::Seal`] if the backend refuses.
    pub fn generate_service_key(&self, which: ServiceKey) -> Result<Vec<u8>, Error> {
        let mut random = RandomStream::new()?;
        let message = key_message(self.root.key_id(), &random.secret()?);
        let aad = Aad::EMPTY.attributes(which.attributes());
        let mut out = Vec::new();
        self.root.seal(&message, &aad, &mut random, &mut out)?;
        Ok(out)
    }

    /// Opens a secret of the service itself.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is not `which` of this root.
    pub fn open_service_key(&self, which: ServiceKey, sealed: &[u8]) -> Result<Secret<32>, Error> {
        let aad = Aad::EMPTY.attributes(which.attributes());
        self.open_under_root(sealed, &aad, self.root.key_id())
            .map_err(|error| match error {
                HolderError::KeyRejected => Error::Rejected,
                other => Error::Root(other),
            })
    }

    fn open_under_root(
        &self,
        sealed: &[u8],
        aad: &Aad<'_>,
        id: KeyId,
    ) -> Result<Secret<32>, HolderError> {
        open_key(sealed, id, |envelope, out| {
            self.root.open(envelope, aad, out)
        })
    }

    /// The keys for envelopes of `kind` under `material`, unwrapped first if need be.
    fn pair(&self, material: &Arc<KeyMaterial>, kind: Kind) -> Result<Pair, HolderError> {
        let loaded = || {
            material
                .cell()
                .with(|loaded: &Loaded| loaded.pair(material, kind).cloned())
        };
        if let Some(pair) = loaded() {
            return pair;
        }
        let secret = self.unwrap(material)?;
        self.cache.load(material, secret.expose());
        // More threads than slots may have left no room, or have taken it again already. The key is
        // in hand, and works once without a place in the arena.
        loaded().unwrap_or_else(|| derive_pair(secret.expose(), material, kind))
    }

    fn unwrap(&self, material: &KeyMaterial) -> Result<Secret<32>, HolderError> {
        let attributes = material.attributes();
        let aad = Aad::EMPTY.attributes(&attributes);
        let (sealed, id) = (material.sealed(), material.key());
        let Some(parent) = material.parent() else {
            return self.open_under_root(sealed, &aad, id);
        };
        let pair = self.pair(parent, Kind::Key)?;
        open_key(sealed, id, |envelope, out| {
            let opened = pair.1.open_into(envelope, &aad, out);
            opened.map_err(|_| HolderError::KeyRejected)
        })
    }
}

impl KeyHolder for Keystore {
    fn name(&self) -> &'static str {
        "keystore"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        let message = matches!(
            operation,
            HolderOperation::Seal
                | HolderOperation::Open
                | HolderOperation::Reseal
                | HolderOperation::MakeDataKey
                | HolderOperation::OpenDataKey
        );
        spec.custody == Custody::Wrapped
            && suite_of(spec.algorithm).is_some()
            && spec.purpose == Purpose::Seal
            && message
    }

    fn placement(&self) -> Placement {
        self.root.placement()
    }

    /// Keys in the arena wait for nobody, wherever the root is. One that is evicted at this very moment costs
    /// its thread one operation of the root.
    fn placement_of(&self, request: &Request) -> Placement {
        let loaded = |material: &Arc<KeyMaterial>| material.cell().is_loaded();
        if request.versions.iter().all(loaded) {
            Placement::Inline
        } else {
            self.root.placement()
        }
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        let NewKey { identity, parent } = new;
        let makes = matches!(
            permit.operation(),
            Operation::ContextCreate | Operation::KeyRotate | Operation::HomeCreate
        );
        if permit.key() != identity.key || !makes {
            return Err(HolderError::PermitMismatch);
        }
        let spec = identity.spec;
        let keeps = matches!(spec.purpose, Purpose::Seal | Purpose::Wrap)
            && suite_of(spec.algorithm).is_some();
        if spec.custody != Custody::Wrapped || !keeps {
            return Err(HolderError::Unsupported(spec.custody));
        }
        let mut random = RandomStream::new().map_err(|_| HolderError::Unavailable)?;
        let secret = random.secret().map_err(|_| HolderError::Unavailable)?;
        let message = key_message(identity.key, &secret);
        let attributes = KeyMaterial::new(identity, Vec::new(), None).attributes();
        let aad = Aad::EMPTY.attributes(&attributes);
        let mut sealed = Vec::new();
        match &parent {
            None => self.root.seal(&message, &aad, &mut random, &mut sealed)?,
            Some(parent) => {
                let pair = self.pair(parent, Kind::Key)?;
                let (text, binding) = (message.expose(), Binding::None);
                pair.0
                    .seal_into(binding, &aad, text, &mut random, &mut sealed)
                    .map_err(|_| HolderError::Unavailable)?;
            }
        }
        Ok(KeyMaterial::new(identity, sealed, parent))
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        request.check(permit)?;
        if request.expired(&self.clock) {
            return Err(HolderError::DeadlineExceeded);
        }
        Job::new(self, request)?.run(&items, random)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.root.probe().map_err(|_| HolderError::Unavailable)
    }
}

/// One request with the keys it needs.
struct Job<'a> {
    request: &'a Request,
    messages: Pairs,
    keys: Pairs,
}

/// The keys of a request's versions, in order. Nearly always there is one, which costs no allocation.
#[derive(Default)]
struct Pairs {
    first: Option<Pair>,
    rest: Vec<Pair>,
}

impl Pairs {
    fn get(&self, index: usize) -> Option<&Pair> {
        match index.checked_sub(1) {
            None => self.first.as_ref(),
            Some(index) => self.rest.get(index),
        }
    }

    fn first(&self) -> Option<&Pair> {
        self.first.as_ref()
    }
}

impl<'a> Job<'a> {
    fn new(store: &Keystore, request: &'a Request) -> Result<Self, HolderError> {
        let pairs = |kind| -> Result<Pairs, HolderError> {
            let mut pairs = request
                .versions
                .iter()
                .map(|version| store.pair(version, kind));
            let first = pairs.next().transpose()?;
            Ok(Pairs {
                first,
                rest: pairs.collect::<Result<_, _>>()?,
            })
        };
        let (messages, keys) = match request.operation {
            HolderOperation::Seal | HolderOperation::Open => {
                (pairs(Kind::Message)?, Pairs::default())
            }
            HolderOperation::MakeDataKey | HolderOperation::OpenDataKey => {
                (Pairs::default(), pairs(Kind::Key)?)
            }
            // What is rewrapped may be a message or a data key.
            _ => (pairs(Kind::Message)?, pairs(Kind::Key)?),
        };
        Ok(Self {
            request,
            messages,
            keys,
        })
    }

    fn run(&self, items: &Items, random: &mut RandomStream) -> Result<Reply, HolderError> {
        let first = self
            .request
            .versions
            .first()
            .ok_or(HolderError::PermitMismatch)?
            .version();
        let mut reply =
            Reply::with_capacity(items.len(), items.byte_len() + items.len() * self.growth());
        for item in items.iter() {
            let of_item = || self.request.versions.get(item.version);
            let work = |out: &mut Vec<u8>| self.one(&item, random, out);
            match self.request.operation {
                HolderOperation::Open | HolderOperation::OpenDataKey => {
                    let used = of_item().map_or(KeyVersion::NONE, |version| version.version());
                    reply.push_opened(used, item.payload, work);
                }
                HolderOperation::Reseal => reply.push_opened(first, item.payload, work),
                _ => reply.push(first, work),
            }
        }
        Ok(reply)
    }

    /// By how much a result can be longer than its item. Never too small: a buffer that grows leaves
    /// a copy of what it held, which nobody wipes.
    const fn growth(&self) -> usize {
        match self.request.operation {
            HolderOperation::Open | HolderOperation::OpenDataKey => 0,
            HolderOperation::MakeDataKey => OVERHEAD + 2 * DATA_KEY_LEN,
            _ => OVERHEAD,
        }
    }

    fn one(
        &self,
        item: &Item<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Code> {
        let aad = Aad::EMPTY.caller(item.aad).map_err(|_| Code::AadTooLarge)?;
        match self.request.operation {
            // Sealing uses the first version; an item for another was refused before it came here.
            HolderOperation::Seal | HolderOperation::MakeDataKey if item.version != 0 => {
                Err(Code::ValueInvalid)
            }
            HolderOperation::Seal => {
                let (sealing, _) = &**self.messages.first().ok_or(Code::Internal)?;
                message_of(sealing.seal_into(self.request.binding, &aad, item.payload, random, out))
            }
            HolderOperation::Open => open(&self.messages, Kind::Message, item, &aad, out),
            HolderOperation::OpenDataKey => open(&self.keys, Kind::Key, item, &aad, out),
            HolderOperation::MakeDataKey => self.make_data_key(&aad, random, out),
            _ => self.reseal(item, &aad, random, out),
        }
    }

    /// 48 bytes of data key (id and secret, design 7.9), then the envelope that holds them.
    fn make_data_key(
        &self,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Code> {
        let (sealing, _) = &**self.keys.first().ok_or(Code::Internal)?;
        let data_key: Secret<DATA_KEY_LEN> =
            random.secret().map_err(|_| Code::HolderUnavailable)?;
        out.extend_from_slice(data_key.expose());
        message_of(sealing.seal_into(self.request.binding, aad, data_key.expose(), random, out))
    }

    fn reseal(
        &self,
        item: &Item<'_>,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Code> {
        let envelope = Envelope::parse(item.payload).map_err(|_| Code::CiphertextMalformed)?;
        let header = *envelope.header();
        let pairs = if header.kind == Kind::Key {
            &self.keys
        } else {
            &self.messages
        };
        let mut plain = Vec::with_capacity(envelope.plaintext_len());
        open(pairs, header.kind, item, aad, &mut plain)?;
        let plain = SecretBytes::from_vec(plain);
        let (sealing, _) = &**pairs.first().ok_or(Code::Internal)?;
        message_of(sealing.seal_into(header.binding, aad, plain.expose(), random, out))
    }
}

/// The id of what was sealed; only a backend that fails makes sealing fail.
fn message_of(sealed: Result<MessageId, keywright_envelope::Error>) -> Result<[u8; 16], Code> {
    sealed
        .map(|message| *message.as_bytes())
        .map_err(|_| Code::HolderUnavailable)
}

fn open(
    pairs: &Pairs,
    kind: Kind,
    item: &Item<'_>,
    aad: &Aad<'_>,
    out: &mut Vec<u8>,
) -> Result<[u8; 16], Code> {
    let envelope = Envelope::parse(item.payload).map_err(|_| Code::CiphertextMalformed)?;
    if envelope.header().kind != kind {
        return Err(Code::DecryptionFailed);
    }
    let (_, opening) = &**pairs.get(item.version).ok_or(Code::DecryptionFailed)?;
    opening
        .open_into(&envelope, aad, out)
        .map_err(|_| Code::DecryptionFailed)?;
    Ok(*envelope.message_id().as_bytes())
}

/// Opens an envelope of kind 2 and takes the secret out of it, if it is the secret of `id`.
fn open_key(
    sealed: &[u8],
    id: KeyId,
    open: impl FnOnce(&Envelope<'_>, &mut Vec<u8>) -> Result<(), HolderError>,
) -> Result<Secret<32>, HolderError> {
    let envelope = Envelope::parse(sealed).map_err(|_| HolderError::KeyRejected)?;
    // Room for what a device appends before its zeros are taken away: a buffer that grows leaves a copy.
    let mut plain = Vec::with_capacity(envelope.plaintext_len() + OVERHEAD);
    open(&envelope, &mut plain)?;
    let secret = plain
        .strip_prefix(id.as_bytes())
        .and_then(Secret::copy_from);
    wipe(&mut plain);
    secret.ok_or(HolderError::KeyRejected)
}

/// id 16 + secret 32: the message of an envelope of kind 2 (design 7.9).
fn key_message(id: KeyId, secret: &Secret<32>) -> Secret<48> {
    Secret::from_fill(|buffer| {
        buffer[..16].copy_from_slice(id.as_bytes());
        buffer[16..].copy_from_slice(secret.expose());
    })
}

/// Header, nonce, commitment and tag of an envelope with a binding, rounded up.
const OVERHEAD: usize = 120;
/// id 16 + secret 32 (design 7.9).
const DATA_KEY_LEN: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_clock::WallTime;
    use keywright_password::Profile;
    use keywright_policy::Policy;
    use keywright_types::{PrincipalId, TenantId};

    #[test]
    fn no_result_outgrows_the_room_that_is_asked_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let password = SecretBytes::from_vec(b"p".to_vec());
        let root = Root::create(&folder.path().join("root"), &password, Profile::Fast).unwrap();
        let store = Keystore::new(&root, 4, Clock::system()).unwrap();
        let key = KeyId::from_bytes([1; 16]);
        let (tenant, version) = (TenantId::from_bytes([2; 16]), KeyVersion::FIRST);
        let created = WallTime::from_unix_millis(0);
        let identity = keywright_custody::Identity {
            tenant,
            key,
            version,
            spec: KeySpec::seal(),
            created,
        };
        let permit = Policy::owner().permit(key, Operation::ContextCreate);
        let made = store
            .generate(
                &permit,
                NewKey {
                    identity,
                    parent: None,
                },
            )
            .unwrap();
        let versions = vec![Arc::new(made)];
        let binding = Binding::Principal(PrincipalId::from_bytes([3; 16]));
        for operation in [HolderOperation::Seal, HolderOperation::MakeDataKey] {
            let versions = versions.clone();
            let request = Request {
                operation,
                versions: versions.into(),
                binding,
                deadline_ns: u64::MAX,
            };
            let job = Job::new(&store, &request).unwrap();
            let mut items = Items::default();
            items.push_slices(0, b"text", b"").unwrap();
            let reply = job.run(&items, &mut RandomStream::unseeded()).unwrap();
            assert_eq!(reply.iter().next().unwrap().code, Code::Ok);
            assert!(
                reply.byte_len() <= items.byte_len() + job.growth(),
                "{operation:?}"
            );
        }
    }
}
