//! A token as a [`KeyHolder`]: keys that never leave it, one token operation for each seal and each open.
//!
//! Suites 3 and 4 (design 7.6). A key's object has `CKA_ID` = key id + version (7.12); what the store keeps
//! of it in place of a sealed secret is its check value (7.21): an envelope of the text `keywright check`,
//! sealed over the key's attributes. Before a handle is first used in a connection, that envelope must open
//! with it. So a handle that came to mean another object, an object that was replaced and a row that was
//! edited are all found out before they do harm.
//!
//! What failed is judged here: a ciphertext that does not open is its item's failure; a session, a handle or a
//! token that is gone fails the request, after one attempt with a new connection. Where a token has one code
//! for both, the check value decides.
//!
//! Not here: threads (the service has a bounded pool of them and runs holders on it), and counting seals
//! against their limit (7.19), which needs the store.

use std::fmt;
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Item, Items, KeyHolder, KeyMaterial, NewKey, Placement, Reply,
    Request,
};
use keywright_envelope::{Aad, Binding, DeviceKey, Envelope, Identity, Sealing};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{
    Algorithm, Code, Custody, KeySpec, Kind, Operation, Origin, Purpose, Suite, VersionLabel,
};

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::kinds::SecretKind;
use crate::locate::{self, Wanted};
use crate::pool::{Copies, PooledSession, SessionPool};
use crate::purpose::{self, KeyPlan};
use crate::session::Session;

/// Keys in a token.
pub struct TokenHolder {
    pool: Arc<SessionPool>,
    clock: Clock,
    /// Whether the token makes nonces itself when it is asked to.
    makes_nonces: Nonces,
}

/// Who makes nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nonces {
    Ours,
    TokensToo,
}

impl TokenHolder {
    /// A holder over the sessions of `pool`.
    #[must_use]
    pub fn new(pool: Arc<SessionPool>, clock: Clock) -> Self {
        let makes_nonces = match pool.module().interface_version() {
            (major, _) if major >= 3 => Nonces::TokensToo,
            _ => Nonces::Ours,
        };
        Self {
            pool,
            clock,
            makes_nonces,
        }
    }

    /// The sessions.
    #[must_use]
    pub const fn pool(&self) -> &Arc<SessionPool> {
        &self.pool
    }

    fn keeps(&self, spec: &KeySpec) -> bool {
        spec.custody == Custody::Token
            && spec.purpose == Purpose::Seal
            && spec.origin == Origin::Generated
            && match spec.algorithm {
                Algorithm::TokenGcm12 => true,
                Algorithm::TokenGcm16 => self.makes_nonces == Nonces::TokensToo,
                _ => false,
            }
    }

    /// Makes the object and its check value. An object whose check value cannot be made is destroyed.
    fn make(&self, session: &Session, blank: &KeyMaterial) -> Result<Vec<u8>, Fault> {
        let wanted = Wanted::of(blank);
        session.must_be_new(&wanted.template())?;
        let label = VersionLabel {
            key: blank.key(),
            version: blank.version(),
        };
        let mut plan = KeyPlan::new(purpose::Purpose::Encrypt)
            .id(&wanted.id())
            .label(&label.to_string());
        if self.pool.options().copies == Copies::WhereAllowed {
            // SoftHSM copies only what may be changed. What may be changed are names and usage; a key never
            // becomes less secret than it was.
            plan = plan.modifiable();
        }
        let object = session.generate_secret(SecretKind::Aes { len: 32 }, &plan)?;
        let key = TokenKey::new(session, object);
        let checked = check_value(&key, blank);
        if checked.is_err() {
            drop(session.destroy_object(object));
        }
        checked
    }

    fn attempt(
        &self,
        request: &Request,
        items: &Items,
        random: &mut RandomStream,
    ) -> Result<Reply, Fault> {
        let session = self.pool.take()?;
        let done = Job::new(&session, request).and_then(|job| job.run(items, random));
        if let Err(Fault::Token(error)) = &done {
            session.heed(error);
        }
        done
    }
}

impl KeyHolder for TokenHolder {
    fn name(&self) -> &'static str {
        "token"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        let known = matches!(
            operation,
            HolderOperation::Seal
                | HolderOperation::Open
                | HolderOperation::Reseal
                | HolderOperation::MakeDataKey
                | HolderOperation::OpenDataKey
        );
        self.keeps(spec) && known
    }

    fn placement(&self) -> Placement {
        Placement::Pool
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
        if !self.keeps(&identity.spec) {
            return Err(HolderError::Unsupported(identity.spec.custody));
        }
        let blank = KeyMaterial::new(identity, Vec::new(), parent.clone());
        let session = self.pool.open_writing().map_err(Fault::Token);
        let sealed = session.and_then(|session| self.make(&session, &blank));
        let sealed = sealed.map_err(|fault| fault.of_request())?;
        Ok(KeyMaterial::new(identity, sealed, parent))
    }

    /// Destroys the object of a version that no row names. Only one that opens the version's check value is it.
    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        if permit.key() != material.key() || !self.keeps(material.spec()) {
            return;
        }
        let Ok(session) = self.pool.open_writing() else {
            return;
        };
        let Ok(object) = session.find_one(&Wanted::of(material).template()) else {
            return;
        };
        if check_opens(&TokenKey::new(&session, object), material).is_ok() {
            // Nobody uses it; what is left of it keeps the version's number from being given out again.
            drop(session.destroy_object(object));
        }
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
        let done = match self.attempt(request, &items, random) {
            // Sessions that a token forgot over a pause come back with the next connection.
            Err(fault) if fault.is_loss() && !request.expired(&self.clock) => {
                self.attempt(request, &items, random)
            }
            done => done,
        };
        done.map_err(|fault| fault.of_request())
    }

    fn probe(&self) -> Result<(), HolderError> {
        let session = self.pool.take().map_err(Fault::Token);
        let session = session.map_err(|fault| fault.of_request())?;
        let checked = session.check().map_err(|error| {
            session.heed(&error);
            Fault::Token(error)
        });
        checked.map_err(|fault| fault.of_request())
    }
}

impl fmt::Debug for TokenHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHolder({:?})", self.pool)
    }
}

/// One request with a session and the keys it needs.
struct Job<'a> {
    session: &'a PooledSession,
    request: &'a Request,
    keys: Vec<TokenKey<'a>>,
}

impl<'a> Job<'a> {
    fn new(session: &'a PooledSession, request: &'a Request) -> Result<Self, Fault> {
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

    /// The first failure of the token ends the request: what comes after would fail as well.
    fn run(&self, items: &Items, random: &mut RandomStream) -> Result<Reply, Fault> {
        let each = OVERHEAD + 2 * DATA_KEY_LEN;
        let room = items.byte_len() + items.len() * each;
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

    const fn opens(&self) -> bool {
        matches!(
            self.request.operation,
            HolderOperation::Open | HolderOperation::OpenDataKey
        )
    }

    /// Sealing names the version it sealed with, opening the one that it opened with.
    const fn version_of(&self, item: &Item<'_>) -> usize {
        if self.opens() { item.version } else { 0 }
    }

    fn one(
        &self,
        item: &Item<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 16], Fault> {
        let aad = Aad::EMPTY
            .caller(item.aad)
            .map_err(|_| Fault::Item(Code::AadTooLarge))?;
        match self.request.operation {
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
        key.seal(device_key(material, kind)?, &sealing, random, out)
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
        match key.open(device_key(material, kind)?, &envelope, aad, out) {
            // The token's word may mean the ciphertext or itself. What must open tells which.
            Err(Fault::Unclear(_)) => {
                locate::still_there(self.session, key, material)?;
                Err(Fault::Item(Code::DecryptionFailed))
            }
            Ok(()) => Ok(*envelope.message_id().as_bytes()),
            Err(fault) => Err(fault),
        }
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

/// What is kept of a key in the token: an envelope over its attributes that only this key opens.
pub(crate) fn check_value(key: &TokenKey<'_>, material: &KeyMaterial) -> Result<Vec<u8>, Fault> {
    let mut random = RandomStream::new().map_err(|_| Fault::Item(Code::HolderUnavailable))?;
    let attributes = material.attributes();
    let aad = Aad::EMPTY.attributes(&attributes);
    let sealing = Sealing {
        binding: Binding::None,
        aad: &aad,
        plaintext: CHECK_TEXT,
    };
    let mut out = Vec::new();
    let device = device_key(material, Kind::Message)?;
    key.seal(device, &sealing, &mut random, &mut out)?;
    Ok(out)
}

/// Whether a check value opens with this key and says what it must.
pub(crate) fn check_opens(key: &TokenKey<'_>, material: &KeyMaterial) -> Result<(), Fault> {
    let rejected = || Fault::Token(Error::WrongKey);
    let envelope = Envelope::parse(material.sealed()).map_err(|_| rejected())?;
    let attributes = material.attributes();
    let aad = Aad::EMPTY.attributes(&attributes);
    let mut text = Vec::new();
    let device = device_key(material, Kind::Message)?;
    match key.open(device, &envelope, &aad, &mut text) {
        Ok(()) if text == CHECK_TEXT => Ok(()),
        Ok(()) | Err(Fault::Item(_)) => Err(rejected()),
        Err(fault) => Err(fault),
    }
}

/// What a check value says (design 7.21).
const CHECK_TEXT: &[u8] = b"keywright check";
/// Header with a binding, nonce, zeros and tag, rounded up; also what the token needs beyond the text.
const OVERHEAD: usize = 128;
/// id 16 + secret 32 (design 7.9).
const DATA_KEY_LEN: usize = 48;
