//! One request on its way through a session: which key each item is for, and what becomes of it.

use keywright_custody::{HolderOperation, Input, Item, Items, KeyMaterial, Reply, Request, Usage};
use keywright_envelope::{Aad, Binding, DeviceKey, Envelope, Identity, Sealing};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{Algorithm, Code, Kind, Suite};
use smallvec::SmallVec;

use crate::device::Fault;
use crate::holder::shape::Shape;
use crate::holder::{reading, work};
use crate::locate::{self, Located};
use crate::pool::PooledSession;

/// One request with a session and the keys it needs.
pub(crate) struct Job<'a> {
    session: &'a PooledSession,
    request: &'a Request,
    /// Nearly always one, which costs no allocation.
    keys: SmallVec<[Located<'a>; 1]>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(session: &'a PooledSession, request: &'a Request) -> Result<Self, Fault> {
        let keys = request
            .versions
            .iter()
            .map(|material| locate::key(session, material))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            session,
            request,
            keys,
        })
    }

    /// If all keys are known in this connection and in memory.
    pub(crate) fn at_hand(session: &'a PooledSession, request: &'a Request) -> Option<Self> {
        let keys = request
            .versions
            .iter()
            .map(|material| locate::at_hand(session, material))
            .collect::<Option<_>>()?;
        Some(Self {
            session,
            request,
            keys,
        })
    }

    /// The first failure of the token ends the request: what comes after would fail as well.
    pub(crate) fn run(&self, items: &Items, random: &mut RandomStream) -> Result<Reply, Fault> {
        let room = items.byte_len() + items.len() * self.growth();
        let mut reply = Reply::with_capacity(items.len(), room);
        let mut lost = None;
        for item in items.iter() {
            let used = self.version_of(&item);
            let version = self
                .request
                .versions
                .get(used)
                .map_or(keywright_types::KeyVersion::NONE, |material| {
                    material.version()
                });
            let work = |out: &mut Vec<u8>| {
                self.one(&item, random, out).map_err(|fault| {
                    let code = fault.of_item();
                    if fault.is_of_token() {
                        lost = Some(fault);
                    }
                    code
                })
            };
            if self.opens() {
                reply.push_opened(version, item.payload, work);
            } else {
                reply.push(version, work);
            }
            if let Some(fault) = lost {
                return Err(fault);
            }
        }
        Ok(reply)
    }

    /// By how much the result of an item can be longer than the item: a buffer that grows leaves a copy behind.
    fn growth(&self) -> usize {
        match self.request.operation {
            HolderOperation::PublicKey => LONGEST_PUBLIC_KEY,
            HolderOperation::Sign => match self.keys.first().map(|key| key.shape) {
                Some(Shape::Signs(signature)) => signature.mechanism(Input::Message).growth(),
                _ => 0,
            },
            _ => OVERHEAD + 2 * DATA_KEY_LEN,
        }
    }

    const fn opens(&self) -> bool {
        matches!(
            self.request.operation,
            HolderOperation::Open | HolderOperation::OpenDataKey
        )
    }

    const fn seals(&self) -> bool {
        self.request.operation.seals()
    }

    /// Sealing names the version it sealed with, anything else the one that it was done with.
    const fn version_of(&self, item: &Item<'_>) -> usize {
        if self.seals() { 0 } else { item.version }
    }

    fn one(
        &self,
        item: &Item<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Fault> {
        let operation = self.request.operation;
        if !self.opens() && !self.seals() {
            return self.work(item, out).map(|()| [0; 16]);
        }
        if let Some(read) = self.read(item, random, out) {
            return read;
        }
        let aad = Aad::EMPTY
            .caller(item.aad)
            .map_err(|_| Fault::Item(Code::AadTooLarge))?
            .derivation(item.context);
        match operation {
            HolderOperation::Seal | HolderOperation::MakeDataKey if item.version != 0 => {
                Err(Fault::Item(Code::ValueInvalid))
            }
            HolderOperation::Seal => {
                let text = item.payload;
                self.seal(
                    (Kind::Message, self.request.binding),
                    &aad,
                    text,
                    (random, out),
                )
            }
            HolderOperation::Open => self.open(Kind::Message, item, &aad, out),
            HolderOperation::OpenDataKey => self.open(Kind::Key, item, &aad, out),
            HolderOperation::MakeDataKey => {
                let data_key: Secret<DATA_KEY_LEN> = random
                    .secret()
                    .map_err(|_| Fault::Item(Code::HolderUnavailable))?;
                out.extend_from_slice(data_key.expose());
                let text = data_key.expose();
                self.seal((Kind::Key, self.request.binding), &aad, text, (random, out))
            }
            HolderOperation::Reseal => {
                let envelope = parse(item.payload)?;
                let header = *envelope.header();
                let mut plain = Vec::with_capacity(item.payload.len());
                self.open(header.kind, item, &aad, &mut plain)?;
                let plain = SecretBytes::from_vec(plain);
                let text = plain.expose();
                self.seal((header.kind, header.binding), &aad, text, (random, out))
            }
            _ => Err(Fault::Item(Code::Unsupported)),
        }
    }

    /// What becomes of an item whose version was brought in from the seed service. In an envelope that is made of it
    /// nothing says what it was bound to, so the request does.
    fn read(
        &self,
        item: &Item<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Option<Result<[u8; 16], Fault>> {
        let material = self.request.versions.get(item.version)?;
        let reader = material.reader()?;
        let key = self.keys.get(item.version)?;
        let open = |out: &mut Vec<u8>| {
            let unclear = || locate::still_there(self.session, &key.key, material);
            reading::open((&key.key, reader), item, out, unclear)
        };
        Some(match self.request.operation {
            HolderOperation::Open => open(out),
            HolderOperation::Reseal => {
                let mut plain = Vec::with_capacity(item.payload.len());
                let opened = open(&mut plain);
                let plain = SecretBytes::from_vec(plain);
                let whose = (Kind::Message, self.request.binding);
                opened.and_then(|_| self.seal(whose, &Aad::EMPTY, plain.expose(), (random, out)))
            }
            _ => Err(Fault::Item(Code::DecryptionFailed)),
        })
    }

    /// What is no envelope: associated data is a usage then.
    fn work(&self, item: &Item<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
        let version = self.request.versions.get(item.version);
        let both = version.zip(self.keys.get(item.version));
        let (material, key) = both.ok_or(Fault::Item(Code::VersionNotFound))?;
        let usage = Usage::read(item.aad).ok_or(Fault::Item(Code::Internal))?;
        let asked = (self.request.operation, &**material);
        work::one(asked, key, (&usage, item.payload), out)
    }

    fn seal(
        &self,
        (kind, binding): (Kind, Binding),
        aad: &Aad<'_>,
        plaintext: &[u8],
        (random, out): (&mut RandomStream, &mut Vec<u8>),
    ) -> Result<[u8; 16], Fault> {
        let sealing = Sealing {
            binding,
            aad,
            plaintext,
        };
        let versions = self.request.versions.first().zip(self.keys.first());
        let (material, key) = versions.ok_or(Fault::Item(Code::Internal))?;
        key.key
            .seal(device_key(material, kind)?, &sealing, random, out)
    }

    fn open(
        &self,
        kind: Kind,
        item: &Item<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Fault> {
        let envelope = parse(item.payload)?;
        if envelope.header().kind != kind {
            return Err(Fault::Item(Code::DecryptionFailed));
        }
        let (Some(material), Some(key)) = (
            self.request.versions.get(item.version),
            self.keys.get(item.version),
        ) else {
            return Err(Fault::Item(Code::DecryptionFailed));
        };
        let device = device_key(material, kind)?;
        let mut attempt = || key.key.open(device, &envelope, aad, out);
        let opened = match attempt() {
            // The token's word may mean the ciphertext or itself. What must open tells which; and what the token meant of
            // itself it does not say again while that opens.
            Err(Fault::Unclear(_)) => {
                locate::still_there(self.session, &key.key, material)?;
                attempt().map_err(Fault::blaming_the_item)
            }
            opened => opened,
        };
        opened.map(|()| *envelope.message_id().as_bytes())
    }
}

fn parse(bytes: &[u8]) -> Result<Envelope<'_>, Fault> {
    Envelope::parse(bytes).map_err(|_| Fault::Item(Code::CiphertextMalformed))
}

/// The envelope side of a version's key.
pub(crate) fn device_key(material: &KeyMaterial, kind: Kind) -> Result<DeviceKey, Fault> {
    let suite = match material.spec().algorithm {
        Algorithm::TokenGcm12 => Suite::TokenGcm12,
        Algorithm::TokenGcm16 => Suite::TokenGcm16,
        _ => return Err(Fault::Item(Code::Unsupported)),
    };
    let identity = Identity {
        suite,
        kind,
        key: material.key(),
        version: material.version(),
    };
    DeviceKey::new(identity).map_err(|_| Fault::Item(Code::Unsupported))
}

/// Header with a binding, nonce, zeros and tag, rounded up; also what the token needs beyond the text.
const OVERHEAD: usize = 128;
/// id 16 + secret 32 (design 7.9).
const DATA_KEY_LEN: usize = 48;
/// What is shown of an RSA key of 3072 bits, three times.
const LONGEST_PUBLIC_KEY: usize = 2048;
