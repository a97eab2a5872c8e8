//! Answering whoever has read a record.
//!
//! 1. The first frame is parsed; it names a record or a one-time prekey of this side that still holds.
//! 2. A head under the record alone was not seen before; one under a one-time prekey uses that up, at the end.
//! 3. The caller knows the sender's card, from elsewhere.
//! 4. The handshake is computed again from this side's own record and keys. Of the frame it takes what was
//!    offered and encapsulated; the choice among the offers is checked against the rule, not believed.
//! 5. The session opens the first message, and checks the signature in it where the record wants one.
//!
//! Only then is anything remembered: what fails before has used up neither a prekey nor room.

use std::collections::{BTreeMap, BTreeSet};

use keywright_hpke::binder::Bound;
use keywright_hpke::{Kem, PrivateKey, Psk, Recipient, RecipientMode};
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Packet, SessionSecret};
use keywright_secret::{Secret, SecretBytes};
use keywright_wire::{InitParts, Mode, PrekeyHead, SenderKeyId};

use crate::identity::short_hash;
use crate::initiate::{Ends, Talk, curve_bytes, curve_key};
use crate::offered::{Offered, Way};
use crate::opening::{Opening, Signed};
use crate::prekeys::Lattice;
use crate::record::Prekeys;
use crate::x3dh::{Agreed, Material, Public};
use crate::{
    Card, CardId, Error, First, Identity, OneTime, PrekeySecrets, Received, Record, Role, Session,
    Setting, Terms,
};

/// First frames without a one-time prekey that are remembered for one record.
pub const MAX_SEEN: usize = 1 << 16;

/// Somebody who may begin a session.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what is known of a peer")]
pub struct Peer<'a> {
    /// Name and keys.
    pub card: &'a Card,
    /// The secret that is shared with him, if there is one.
    pub psk: Option<Psk<'a>>,
}

/// The owner of a record.
pub struct Responder {
    identity: Identity,
    record: Record,
    prekey: X25519PrivateKey,
    lattice: Option<Lattice>,
    one_time: BTreeMap<[u8; 16], X25519PrivateKey>,
    seen: BTreeSet<[u8; 16]>,
}

/// A session that somebody has begun, and his first message.
#[derive(Debug)]
#[non_exhaustive]
pub struct Accepted {
    /// The session.
    pub session: Session,
    /// The first message.
    pub first: Received,
}

impl Responder {
    /// Publishes a record under these terms.
    ///
    /// # Errors
    /// [`Error::Terms`] if no record is made of them: no suite or one of another KEM than the identity's, an
    /// ML-KEM key beside another curve than X25519, an end before the beginning; [`Error::Backend`].
    pub fn publish(
        identity: Identity,
        secrets: &PrekeySecrets,
        terms: &Terms<'_>,
    ) -> Result<Self, Error> {
        let prekey = X25519PrivateKey::from_bytes(&secrets.ratchet)?;
        let made = secrets.lattice.as_ref();
        let made = made.map(|seed| {
            Ok::<_, Error>((
                PrivateKey::from_bytes(
                    Kem::MlKem768Draft,
                    &SecretBytes::from_vec(seed.expose().to_vec()),
                )?,
                seed,
            ))
        });
        let made = made.transpose()?;
        let public = prekey.public_bytes()?;
        let prekeys = Prekeys {
            ratchet: &public,
            lattice: made.as_ref().map(|(key, _)| key.public_key()),
        };
        let record = Record::sign(&identity.signing, identity.card(), &prekeys, terms)?;
        let lattice = made.map(|(key, seed)| Lattice::new(&identity, key, seed));
        Ok(Self {
            lattice: lattice.transpose()?,
            identity,
            record,
            prekey,
            one_time: BTreeMap::new(),
            seen: BTreeSet::new(),
        })
    }

    /// The record to publish.
    #[must_use]
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// A new one-time prekey, for one reader of the record.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no randomness.
    pub fn one_time(&mut self) -> Result<OneTime, Error> {
        self.one_time_from(&RandomStream::new()?.secret()?)
    }

    /// The one-time prekey of these bytes, which must never make two: for whoever keeps them elsewhere.
    ///
    /// # Errors
    /// [`Error::Backend`].
    pub fn one_time_from(&mut self, secret: &Secret<32>) -> Result<OneTime, Error> {
        let key = X25519PrivateKey::from_bytes(secret)?;
        let signing = &self.identity.signing;
        let made = OneTime::sign(signing, self.record.id(), key.public_bytes()?);
        self.one_time.insert(*made.id().as_bytes(), key);
        Ok(made)
    }

    /// One-time prekeys that nobody has used.
    #[must_use]
    pub fn one_time_left(&self) -> usize {
        self.one_time.len()
    }

    /// The session that a first frame begins. `peer` says who may begin one. Nothing changes here unless the
    /// first message opens.
    ///
    /// # Errors
    /// By what everybody can see: [`Error::Malformed`], [`Error::UnknownRecord`] for a record that is not
    /// this one or a one-time prekey that was used, [`Error::RecordExpired`], [`Error::UnknownSender`],
    /// [`Error::Repeated`], [`Error::SeenFull`], [`Error::Handshake`], [`Error::Suite`]. Everything else is
    /// [`Error::Rejected`].
    pub fn accept<'p>(
        &mut self,
        frame: &[u8],
        context: &[u8],
        peer: &dyn Fn(CardId) -> Option<Peer<'p>>,
        (setting, random): (&Setting<'_>, &mut RandomStream),
    ) -> Result<Accepted, Error> {
        let offered = Offered::parse(frame)?;
        self.record.require_valid(setting.now)?;
        let one_time = self.one_time.get(offered.read.as_bytes());
        let own = offered.read == self.record.id();
        if one_time.is_none() && !own {
            return Err(Error::UnknownRecord);
        }
        let digest = short_hash(&[offered.head]);
        if one_time.is_none() {
            self.require_unseen(&digest)?;
        }
        let peer = peer(CardId(*offered.sender.as_bytes())).ok_or(Error::UnknownSender)?;
        let met = Met {
            peer,
            one_time,
            setting,
        };
        let (agreed, prekey) = match &offered.way {
            Way::Prekeys(head) => self.agree_x3dh(head, &met)?,
            Way::Encapsulated(parts) => self.agree_hpke(parts, &offered, &met)?,
        };
        let opening = Opening::received(offered.head);
        let expected = Opening::signed(&agreed, offered.head);
        let ends = Role::Responder.ends(peer.card, &self.record);
        let mut session = Session::responded(agreed, &ends, opening, (prekey, random))?;
        let signed = Signed {
            bytes: expected,
            key: peer.card.verifying_key(),
        };
        let bytes = offered.message;
        let first = session.receive_first(&Packet { bytes, context }, &signed, setting.now)?;
        if self.one_time.remove(offered.read.as_bytes()).is_none() {
            self.seen.insert(digest);
        }
        Ok(Accepted { session, first })
    }

    /// [`crate::hazmat::impersonate`].
    pub(crate) fn impersonated(
        &self,
        victim: &Card,
        setting: &Setting<'_>,
        random: &mut RandomStream,
    ) -> Result<Session, Error> {
        let ephemeral = X25519PrivateKey::from_bytes(&random.secret()?)?;
        let own = curve_bytes(&self.record.card)?;
        let mut material = Material::new();
        material.agree(&self.prekey, curve_bytes(victim)?)?;
        material.agree(&ephemeral, own)?;
        material.agree(&ephemeral, &self.record.prekey)?;
        let public = ephemeral.public_bytes()?;
        let parts = PrekeyHead {
            record: self.record.id(),
            sender: SenderKeyId::from_bytes(*victim.id().as_bytes()),
            ephemeral: &public,
            kem_ciphertext: None,
        };
        let agreed = material.finish(&Public {
            initiator: victim,
            record: &self.record,
            one_time: None,
            head: &parts,
            application: setting.application,
        })?;
        let mut head = Vec::new();
        parts.encode_into(&mut head);
        let signature = (self.record.first == First::Signed).then_some([0; 64]);
        let ends = Role::Initiator.ends(victim, &self.record);
        let opening = Opening::Sent { head, signature };
        Session::initiated(agreed, &ends, opening, (&self.record.prekey, random))
    }

    /// Forgets which first frames have begun a session.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }

    fn require_unseen(&self, digest: &[u8; 16]) -> Result<(), Error> {
        if self.seen.contains(digest) {
            return Err(Error::Repeated);
        }
        match self.seen.len() < MAX_SEEN {
            true => Ok(()),
            false => Err(Error::SeenFull),
        }
    }

    /// The other side of what the initiator computed, and the key that the ratchet begins with.
    fn agree_x3dh(
        &self,
        head: &PrekeyHead<'_>,
        met: &Met<'_, '_>,
    ) -> Result<(Agreed, X25519PrivateKey), Error> {
        // Where there is a lattice key it is used; nobody can leave it out on the way.
        let lattice = match (&self.lattice, head.kem_ciphertext) {
            (Some(key), Some(ciphertext)) => Some((key, ciphertext)),
            (None, None) => None,
            _ => return Err(Error::Handshake),
        };
        let own = curve_key(&self.identity.agreement)?;
        let mut material = Material::new();
        material.agree(&self.prekey, curve_bytes(met.peer.card)?)?;
        material.agree(own, head.ephemeral)?;
        material.agree(&self.prekey, head.ephemeral)?;
        let mut one_time = None;
        if let Some(key) = met.one_time {
            material.agree(key, head.ephemeral)?;
            one_time = Some(key.public_bytes()?);
        }
        if let Some((key, ciphertext)) = lattice {
            let shared = key.decapsulation.decapsulate(ciphertext);
            material.push(&shared.map_err(|_| Error::Rejected)?);
        }
        let agreed = material.finish(&Public {
            initiator: met.peer.card,
            record: &self.record,
            one_time: one_time.as_ref(),
            head,
            application: met.setting.application,
        })?;
        Ok((agreed, again(&self.prekey)?))
    }

    fn agree_hpke(
        &self,
        parts: &InitParts<'_>,
        offered: &Offered<'_>,
        met: &Met<'_, '_>,
    ) -> Result<(Agreed, X25519PrivateKey), Error> {
        let prekey = met.one_time.unwrap_or(&self.prekey);
        let suites = parts.offer.suites().iter();
        let suites = suites.map(|suite| [suite.kem(), suite.kdf(), suite.aead()]);
        let ends = Ends {
            initiator: met.peer.card,
            record: &self.record,
            read: offered.read,
            prekey: prekey.public_bytes()?,
        };
        let talk = Talk::of(ends, suites.collect(), met.setting)?;
        let negotiation = talk.negotiation();
        let policy = met.setting.policy;
        let stated = [parts.chosen.kem(), parts.chosen.kdf(), parts.chosen.aead()];
        let _chosen = negotiation.confirm(policy, stated)?;
        let from = met.peer.card.agreement_key();
        let bound = match (parts.mode, parts.kem_ciphertext, met.peer.psk) {
            (Mode::AuthPsk, None, Some(psk)) => {
                let mode = RecipientMode::AuthPsk(from, psk);
                let key = &self.identity.agreement;
                negotiation.accept(policy, key, mode, parts.encapsulation)?
            }
            (Mode::AuthPskPq, Some(ciphertext), _) => {
                let keys = self.lattice.as_ref().ok_or(Error::Handshake)?;
                let enc = [parts.encapsulation, ciphertext].concat();
                negotiation.accept_pq(policy, &keys.recipient, from, &enc)?
            }
            _ => return Err(Error::Handshake),
        };
        Ok((agreed(&bound)?, again(prekey)?))
    }
}

/// Who has come, and with what.
struct Met<'a, 'p> {
    peer: Peer<'p>,
    one_time: Option<&'a X25519PrivateKey>,
    setting: &'a Setting<'a>,
}

fn agreed(bound: &Bound<Recipient>) -> Result<Agreed, Error> {
    Ok(Agreed {
        secret: SessionSecret::new(bound.exporter().export(SessionSecret::LABEL)?),
        binder: bound.binder()?,
        transcript: *bound.transcript().as_bytes(),
    })
}

/// The ratchet owns the key that it begins with.
fn again(key: &X25519PrivateKey) -> Result<X25519PrivateKey, Error> {
    Ok(X25519PrivateKey::from_bytes(&key.to_bytes()?)?)
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder")
            .field("record", &self.record.id())
            .field("one_time_left", &self.one_time.len())
            .finish_non_exhaustive()
    }
}
