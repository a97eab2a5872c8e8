//! Requests of keys that seal messages and data keys, item by item.

use std::sync::Arc;

use keywright_custody::{HolderError, HolderOperation, Item, Items, KeyMaterial, Reply, Request};
use keywright_envelope::{Aad, Batch, Envelope, MessageId};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{Code, KeyVersion, Kind, Purpose};

use crate::Keystore;
use crate::cache::{Pair, Use};
use crate::readers::ReadingKey;

/// One request with the keys it needs.
pub(crate) struct Job<'a> {
    request: &'a Request,
    messages: Pairs,
    keys: Pairs,
    /// Of each version that was brought in from the seed service, the key that reads; empty if there is none.
    readers: Vec<Option<Arc<ReadingKey>>>,
}

/// The keys of a request's versions, in order. Nearly always there is one, which costs no allocation.
#[derive(Default)]
struct Pairs {
    first: Option<Pair>,
    rest: Vec<Option<Pair>>,
}

impl Pairs {
    fn get(&self, index: usize) -> Option<&Pair> {
        match index.checked_sub(1) {
            None => self.first.as_ref(),
            Some(index) => self.rest.get(index)?.as_ref(),
        }
    }

    fn first(&self) -> Option<&Pair> {
        self.first.as_ref()
    }
}

impl<'a> Job<'a> {
    pub(crate) fn new(store: &Keystore, request: &'a Request) -> Result<Self, HolderError> {
        // A key of either purpose does the work of its own alone: what one seals twice alike the other never does.
        let deterministic =
            |material: &Arc<KeyMaterial>| material.spec().purpose == Purpose::Deterministic;
        let mut versions = request.versions.iter();
        let wanted = match request.operation {
            HolderOperation::SealDeterministic | HolderOperation::OpenDeterministic => true,
            HolderOperation::Reseal => versions.clone().any(deterministic),
            _ => false,
        };
        if let Some(other) = versions.find(|version| deterministic(version) != wanted) {
            return Err(HolderError::Unsupported(other.spec().custody));
        }
        let pairs = |for_use| -> Result<Pairs, HolderError> {
            let mut pairs = request.versions.iter().map(|version| {
                let reads = version.reader().is_some();
                (!reads).then(|| store.pair(version, for_use)).transpose()
            });
            let first = pairs.next().transpose()?.flatten();
            Ok(Pairs {
                first,
                rest: pairs.collect::<Result<_, _>>()?,
            })
        };
        let readers = match request.operation {
            HolderOperation::Open | HolderOperation::Reseal => store.readers(&request.versions)?,
            _ => Vec::new(),
        };
        let (messages, keys) = match request.operation {
            HolderOperation::Seal
            | HolderOperation::Open
            | HolderOperation::SealDeterministic
            | HolderOperation::OpenDeterministic => (pairs(Use::Messages)?, Pairs::default()),
            HolderOperation::MakeDataKey | HolderOperation::OpenDataKey => {
                (Pairs::default(), pairs(Use::Keys)?)
            }
            // Such keys wrap no data keys.
            _ if wanted => (pairs(Use::Messages)?, Pairs::default()),
            // What is rewrapped may be a message or a data key.
            _ => (pairs(Use::Messages)?, pairs(Use::Keys)?),
        };
        Ok(Self {
            request,
            messages,
            keys,
            readers,
        })
    }

    /// The key that reads this item, if its version was brought in from the seed service.
    fn reader(&self, item: &Item<'_>) -> Option<&ReadingKey> {
        self.readers.get(item.version)?.as_deref()
    }

    pub(crate) fn run(
        &self,
        items: &Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        let first = self
            .request
            .versions
            .first()
            .ok_or(HolderError::PermitMismatch)?
            .version();
        let mut reply =
            Reply::with_capacity(items.len(), items.byte_len() + items.len() * self.growth());
        let many = self.messages.first().filter(|_| items.len() > 1);
        let mut batch = many.map(|pair| pair.0.batch(items.len()));
        for item in items.iter() {
            let of_item = || self.request.versions.get(item.version);
            let work = |out: &mut Vec<u8>| match self.request.operation {
                HolderOperation::Seal | HolderOperation::SealDeterministic => {
                    self.seal(&item, batch.as_mut(), (random, out))
                }
                _ => self.one(&item, random, out),
            };
            match self.request.operation {
                HolderOperation::Open
                | HolderOperation::OpenDataKey
                | HolderOperation::OpenDeterministic => {
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
            HolderOperation::Open
            | HolderOperation::OpenDataKey
            | HolderOperation::OpenDeterministic => 0,
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
        if let Some(reader) = self.reader(item) {
            return self.read(reader, item, random, out);
        }
        let aad = aad_of(item)?;
        match self.request.operation {
            HolderOperation::MakeDataKey if item.version != 0 => Err(Code::ValueInvalid),
            HolderOperation::Open | HolderOperation::OpenDeterministic => {
                open(&self.messages, Kind::Message, item, &aad, out)
            }
            HolderOperation::OpenDataKey => open(&self.keys, Kind::Key, item, &aad, out),
            HolderOperation::MakeDataKey => self.make_data_key(&aad, random, out),
            _ => self.reseal(item, &aad, random, out),
        }
    }

    /// Sealing in a batch, if it is one: what several items need is made at once there.
    fn seal(
        &self,
        item: &Item<'_>,
        batch: Option<&mut Batch<'_>>,
        (random, out): (&mut RandomStream, &mut Vec<u8>),
    ) -> Result<[u8; 16], Code> {
        let aad = aad_of(item)?;
        // Sealing uses the first version; an item for another was refused before it came here.
        if item.version != 0 {
            return Err(Code::ValueInvalid);
        }
        let (binding, text) = (self.request.binding, item.payload);
        message_of(match batch {
            Some(batch) => batch.seal_into(binding, &aad, text, random, out),
            None => {
                let (sealing, _) = &**self.messages.first().ok_or(Code::Internal)?;
                sealing.seal_into(binding, &aad, text, random, out)
            }
        })
    }

    /// Opens what the seed service sealed, or makes an envelope of it, bound as the request says: nothing in it says
    /// what it was bound to.
    fn read(
        &self,
        reader: &ReadingKey,
        item: &Item<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Code> {
        if self.request.operation == HolderOperation::Open {
            return reader.open(item, out);
        }
        let mut plain = Vec::with_capacity(item.payload.len());
        let opened = reader.open(item, &mut plain);
        let plain = SecretBytes::from_vec(plain);
        opened?;
        let (sealing, _) = &**self.messages.first().ok_or(Code::Internal)?;
        let (binding, aad) = (self.request.binding, &Aad::EMPTY);
        message_of(sealing.seal_into(binding, aad, plain.expose(), random, out))
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

/// Nearly all items have none, which is looked at first.
fn aad_of<'i>(item: &Item<'i>) -> Result<Aad<'i>, Code> {
    if item.aad.is_empty() && item.context.is_empty() {
        return Ok(Aad::EMPTY);
    }
    let aad = Aad::EMPTY.caller(item.aad).map_err(|_| Code::AadTooLarge)?;
    Ok(aad.derivation(item.context))
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

/// Header, nonce, commitment and tag of an envelope with a binding, rounded up.
pub(crate) const OVERHEAD: usize = 120;
/// id 16 + secret 32 (design 7.9).
const DATA_KEY_LEN: usize = 48;

#[cfg(test)]
mod tests {
    use keywright_clock::{Clock, WallTime};
    use keywright_custody::{KeyHolder as _, NewKey};
    use keywright_envelope::Binding;
    use keywright_password::Profile;
    use keywright_policy::Policy;
    use keywright_types::{KeyId, KeySpec, Operation, PrincipalId, TenantId};

    use super::*;
    use crate::Root;

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
