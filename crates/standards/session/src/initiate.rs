//! Beginning a session with the owner of a record.
//!
//! 1. The record holds at this time, and the one-time prekey, where there is one, belongs to it.
//! 2. The handshake makes a shared secret, the transcript of what was negotiated, and the head of the first
//!    frames: prekeys after X3DH (`x3dh`), or HPKE in mode AuthPSK with a pre-shared key, or with one out of
//!    ML-KEM-768 (`keywright_hpke::authpsk_pq`), whose suite is the first of the record's that this side admits.
//! 3. Where the record wants it, the head and the transcript are signed.
//! 4. The ratchet starts: its first agreement is with the record's ratchet prekey or, after HPKE, with the
//!    one-time prekey where there is one.
//!
//! Not here: that the record is who it says it is. It was verified when it was read.

use keywright_clock::WallTime;
use keywright_encoding::lp;
use keywright_hpke::authpsk_pq::RecipientPublicKey;
use keywright_hpke::binder::{Bound, Identity as Named, Negotiation, SuiteNumbers};
use keywright_hpke::{Kem, Policy, PrivateKey, Psk, Sender, SenderMode};
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::hash::sha256;
use keywright_primitives::kem::MlKem768EncapsulationKey;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::SessionSecret;
use keywright_wire::{
    InitHead, InitParts, Mode, Offer, PrekeyHead, RecordId, SenderKeyId, SuiteIds,
};

use crate::identity::copied;
use crate::opening::Opening;
use crate::x3dh::{Agreed, Material, Public};
use crate::{Card, Error, First, Identity, OneTime, Record, Role, Session};

const APPLICATION_LABEL: &[u8] = b"keywright/session/v1";

/// What the initiator has read about the responder.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what there is to read")]
pub struct Bundle<'a> {
    /// The record.
    pub record: &'a Record,
    /// A prekey that nobody else got, if one was left.
    pub one_time: Option<&'a OneTime>,
}

/// How the first key is made. All ways prove both sides to each other.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "another handshake is another protocol; every match must face it"
)]
pub enum Handshake<'a> {
    /// HPKE AuthPSK with a secret that both sides share already: what a quantum computer does not break,
    /// and what the theft of the responder's keys alone does not open.
    AuthPsk(Psk<'a>),
    /// HPKE AuthPSK whose pre-shared key comes out of ML-KEM-768 ([`authpsk_pq`](keywright_hpke::authpsk_pq)).
    AuthPskPq,
    /// X3DH with the record's signed prekey, its ML-KEM key if it has one, and the one-time prekey if there
    /// is one. Either side can deny it, unless the record wants the first message signed.
    X3dh,
}

/// What both sides bring to a handshake beside their keys.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever begins states every field"
)]
pub struct Setting<'a> {
    /// The suites that this side uses; the initiator offers all of them, at most eight.
    pub policy: &'a Policy,
    /// What else both must agree on: another channel's exporter, a purpose. It is not sent.
    pub application: &'a [u8],
    /// The time.
    pub now: WallTime,
}

impl Bundle<'_> {
    /// What a first frame names.
    pub(crate) fn id(&self) -> RecordId {
        self.one_time.map_or(self.record.id(), OneTime::id)
    }
}

impl Identity {
    /// A session with the owner of a record. Its frames carry the handshake until the first answer has come.
    ///
    /// # Errors
    /// [`Error::RecordExpired`], [`Error::Handshake`] if record and handshake do not fit together,
    /// [`Error::Suite`] if no suite is in both lists, [`Error::Rejected`] for a one-time prekey of another
    /// record or keys that make no secret, [`Error::TooLong`], [`Error::Backend`].
    pub fn initiate(
        &self,
        to: &Bundle<'_>,
        handshake: Handshake<'_>,
        setting: &Setting<'_>,
        random: &mut RandomStream,
    ) -> Result<Session, Error> {
        to.record.require_valid(setting.now)?;
        if to
            .one_time
            .is_some_and(|prekey| prekey.record() != to.record.id())
        {
            return Err(Error::Rejected);
        }
        let begun = match handshake {
            Handshake::X3dh => self.begin_x3dh(to, setting, random)?,
            Handshake::AuthPsk(psk) => self.begin_psk(to, psk, setting)?,
            Handshake::AuthPskPq => self.begin_pq(to, setting)?,
        };
        let Begun {
            agreed,
            head,
            prekey,
        } = begun;
        let signature = match to.record.first {
            First::Deniable => None,
            First::Signed => Some(self.signing.sign(&Opening::signed(&agreed, &head))),
        };
        let opening = Opening::Sent { head, signature };
        let ends = Role::Initiator.ends(self.card(), to.record);
        Session::initiated(agreed, &ends, opening, (&prekey, random))
    }

    fn begin_x3dh(
        &self,
        to: &Bundle<'_>,
        setting: &Setting<'_>,
        random: &mut RandomStream,
    ) -> Result<Begun, Error> {
        let record = to.record;
        let own = curve_key(&self.agreement)?;
        let theirs = curve_bytes(record.card())?;
        let one_time = to.one_time.map(|prekey| &prekey.prekey);
        let ephemeral = X25519PrivateKey::from_bytes(&random.secret()?)?;
        let mut material = Material::new();
        material.agree(own, &record.prekey)?;
        material.agree(&ephemeral, theirs)?;
        material.agree(&ephemeral, &record.prekey)?;
        if let Some(one_time) = one_time {
            material.agree(&ephemeral, one_time)?;
        }
        let encapsulated = record.lattice.as_ref().map(|key| {
            let key: &[u8; 1184] = key.as_bytes().try_into().map_err(|_| Error::Handshake)?;
            Ok::<_, Error>(MlKem768EncapsulationKey::from_bytes(key)?.encapsulate()?)
        });
        let encapsulated = encapsulated.transpose()?;
        if let Some((_, shared)) = &encapsulated {
            material.push(shared);
        }
        let public = ephemeral.public_bytes()?;
        let parts = PrekeyHead {
            record: to.id(),
            sender: SenderKeyId::from_bytes(*self.card().id().as_bytes()),
            ephemeral: &public,
            kem_ciphertext: encapsulated.as_ref().map(|(ciphertext, _)| ciphertext),
        };
        let agreed = material.finish(&Public {
            initiator: self.card(),
            record,
            one_time,
            head: &parts,
            application: setting.application,
        })?;
        let mut head = Vec::new();
        parts.encode_into(&mut head);
        Ok(Begun {
            agreed,
            head,
            prekey: record.prekey,
        })
    }

    fn begin_psk(
        &self,
        to: &Bundle<'_>,
        psk: Psk<'_>,
        setting: &Setting<'_>,
    ) -> Result<Begun, Error> {
        let talk = Talk::new(self.card(), to, setting)?;
        let negotiation = talk.negotiation();
        let mode = SenderMode::AuthPsk(&self.agreement, psk);
        let responder = to.record.card().agreement_key();
        let (enc, bound) = negotiation.initiate(setting.policy, responder, mode)?;
        let head = self.head(Mode::AuthPsk, &talk, enc.as_bytes(), setting)?;
        talk.begun(&bound, head)
    }

    fn begin_pq(&self, to: &Bundle<'_>, setting: &Setting<'_>) -> Result<Begun, Error> {
        let record = to.record;
        let lattice = record.lattice.as_ref().ok_or(Error::Handshake)?;
        let curve = copied(record.card().agreement_key())?;
        let keys = RecipientPublicKey::from_parts(curve, copied(lattice)?)?;
        let talk = Talk::new(self.card(), to, setting)?;
        let negotiation = talk.negotiation();
        let (enc, bound) = negotiation.initiate_pq(setting.policy, &keys, &self.agreement)?;
        let head = self.head(Mode::AuthPskPq, &talk, &enc, setting)?;
        talk.begun(&bound, head)
    }

    /// The head of the first frame around what HPKE made.
    fn head(
        &self,
        mode: Mode,
        talk: &Talk<'_>,
        enc: &[u8],
        setting: &Setting<'_>,
    ) -> Result<Vec<u8>, Error> {
        let chosen = talk.negotiation().choose(setting.policy)?.suite();
        let ids = |[kem, kdf, aead]: SuiteNumbers| SuiteIds::new(kem, kdf, aead);
        let offered: Vec<SuiteIds> = talk.offered.iter().copied().map(ids).collect();
        let (encapsulation, kem_ciphertext) = match mode {
            Mode::AuthPskPq => {
                let split = enc.split_at_checked(32).ok_or(Error::Handshake)?;
                let ciphertext = split.1.try_into().map_err(|_| Error::Handshake)?;
                (split.0, Some(ciphertext))
            }
            _ => (enc, None),
        };
        let head = InitHead::new(InitParts {
            mode,
            chosen: ids(chosen.ids()),
            offer: Offer::new(&offered).map_err(|_| Error::Suite)?,
            record: talk.read,
            sender: Some(SenderKeyId::from_bytes(*self.card().id().as_bytes())),
            encapsulation,
            kem_ciphertext,
        });
        let mut bytes = Vec::new();
        head.map_err(|_| Error::Handshake)?.encode_into(&mut bytes);
        Ok(bytes)
    }
}

/// A handshake that is done on this side.
struct Begun {
    agreed: Agreed,
    head: Vec<u8>,
    prekey: [u8; 32],
}

/// What the two sides of an HPKE handshake believe, in the form that the binder takes.
pub(crate) struct Talk<'a> {
    pub(crate) offered: Vec<SuiteNumbers>,
    pub(crate) read: RecordId,
    initiator: &'a Card,
    record: &'a Record,
    prekey: [u8; 32],
    application: Vec<u8>,
}

impl<'a> Talk<'a> {
    fn new(initiator: &'a Card, to: &Bundle<'a>, setting: &Setting<'_>) -> Result<Self, Error> {
        let offered = setting.policy.suites().iter().map(|suite| suite.ids());
        let prekey = to.one_time.map_or(to.record.prekey, |one| one.prekey);
        let ends = Ends {
            initiator,
            record: to.record,
            read: to.id(),
            prekey,
        };
        Self::of(ends, offered.collect(), setting)
    }

    pub(crate) fn of(
        ends: Ends<'a>,
        offered: Vec<SuiteNumbers>,
        setting: &Setting<'_>,
    ) -> Result<Self, Error> {
        let application = lp(&[
            APPLICATION_LABEL,
            &sha256(ends.record.as_bytes()),
            ends.read.as_bytes(),
            setting.application,
        ]);
        Ok(Self {
            offered,
            read: ends.read,
            initiator: ends.initiator,
            record: ends.record,
            prekey: ends.prekey,
            application: application.map_err(|_| Error::TooLong)?,
        })
    }

    pub(crate) fn negotiation(&self) -> Negotiation<'_> {
        Negotiation {
            offered: &self.offered,
            published: &self.record.suites,
            initiator: named(self.initiator),
            responder: named(self.record.card()),
            ratchet_prekey: &self.prekey,
            application: &self.application,
        }
    }

    fn begun(&self, bound: &Bound<Sender>, head: Vec<u8>) -> Result<Begun, Error> {
        Ok(Begun {
            agreed: Agreed {
                secret: SessionSecret::new(bound.exporter().export(SessionSecret::LABEL)?),
                binder: bound.binder()?,
                transcript: *bound.transcript().as_bytes(),
            },
            head,
            prekey: self.prekey,
        })
    }
}

/// Who talks, about which record, with which ratchet prekey.
pub(crate) struct Ends<'a> {
    pub(crate) initiator: &'a Card,
    pub(crate) record: &'a Record,
    pub(crate) read: RecordId,
    pub(crate) prekey: [u8; 32],
}

fn named(card: &Card) -> Named<'_> {
    Named {
        name: card.name(),
        key: card.verifying_key().as_bytes(),
    }
}

/// The key of a card that agrees by X25519.
pub(crate) fn curve_bytes(card: &Card) -> Result<&[u8; 32], Error> {
    match card.agreement_key().kem() {
        Kem::X25519HkdfSha256 => {
            let bytes = card.agreement_key().as_bytes();
            bytes.try_into().map_err(|_| Error::Handshake)
        }
        _ => Err(Error::Handshake),
    }
}

/// The private half as X25519 takes it.
pub(crate) fn curve_key(key: &PrivateKey) -> Result<&X25519PrivateKey, Error> {
    key.as_x25519().ok_or(Error::Handshake)
}
