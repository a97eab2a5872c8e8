//! What a responder publishes so that others can begin a session with it, signed.
//!
//! ```text
//! record   = "KWSR" | 1 version | flags u8 (1 ML-KEM key, 2 hedged, 4 first message signed) | card
//!          | count u8, suites 6 each | ratchet prekey 32 | ML-KEM-768 key 1184, by flag
//!          | not before u64 | not after u64 | Ed25519 signature 64
//! one-time = "KWSO" | 1 version | record id 16 | prekey 32 | Ed25519 signature 64
//! signature over label + all before it; labels "keywright/session/record/v1", ".../one-time/v1"
//! id       = the first 16 bytes of SHA-256(label + all of it)
//! ```
//!
//! Everything that the two sides must choose alike stands in it, so there is nothing left to agree on in the
//! clear: how the session is protected from copies of its state, whether the first message carries a
//! signature, and that ML-KEM is used where there is a key for it. Times are seconds since 1970.
//!
//! The ratchet prekey is what X3DH calls the signed prekey. A one-time prekey is handed out to one reader
//! beside the record; whoever used one cannot be imitated by a copy of his first frame.
//!
//! Not here: how records travel, and why a reader trusts a signing key.

use keywright_clock::WallTime;
use keywright_encoding::Reader;
use keywright_hpke::binder::SuiteNumbers;
use keywright_hpke::{Kem, PublicKey};
use keywright_primitives::signature::SigningKey;
use keywright_ratchet::Mode;
use keywright_wire::{MAX_OFFERED, RecordId};

use crate::Error;
use crate::identity::{Card, short_hash};

const MAGIC: &[u8; 4] = b"KWSR";
const ONE_TIME_MAGIC: &[u8; 4] = b"KWSO";
const VERSION: u8 = 1;
const LABEL: &[u8] = b"keywright/session/record/v1";
const ONE_TIME_LABEL: &[u8] = b"keywright/session/one-time/v1";
const LATTICE_LEN: usize = 1184;

const HAS_LATTICE: u8 = 1;
const HEDGED: u8 = 2;
const SIGNED: u8 = 4;

/// Whether the first message carries a signature of the initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "it is signed or it is not; every match must face it"
)]
pub enum First {
    /// The initiator can deny the session later. Whoever steals the responder's keys can pose as anybody
    /// towards him.
    Deniable,
    /// 64 bytes more, until the responder has answered. A stolen responder's key poses as nobody, and the
    /// initiator cannot deny that he began the session.
    Signed,
}

/// What a record says beside its keys.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever publishes a record states every field"
)]
pub struct Terms<'a> {
    /// The suites in the responder's order, all of the KEM of its card: one to eight, none twice.
    pub suites: &'a [SuiteNumbers],
    /// How the session is protected from copies of its state.
    pub mode: Mode,
    /// Whether the first message is signed.
    pub first: First,
    /// The first second at which the record holds.
    pub not_before: WallTime,
    /// The first second at which it does not hold any more.
    pub not_after: WallTime,
}

/// A responder's record whose signature fits the card in it.
#[derive(Debug)]
pub struct Record {
    pub(crate) card: Card,
    pub(crate) suites: Vec<SuiteNumbers>,
    pub(crate) mode: Mode,
    pub(crate) first: First,
    pub(crate) prekey: [u8; 32],
    pub(crate) lattice: Option<PublicKey>,
    not_before: u64,
    not_after: u64,
    bytes: Vec<u8>,
    id: RecordId,
}

/// The public prekeys of a record.
pub(crate) struct Prekeys<'a> {
    pub(crate) ratchet: &'a [u8; 32],
    pub(crate) lattice: Option<&'a PublicKey>,
}

impl Record {
    pub(crate) fn sign(
        key: &SigningKey,
        card: &Card,
        prekeys: &Prekeys<'_>,
        terms: &Terms<'_>,
    ) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.push(flags(prekeys, terms));
        bytes.extend_from_slice(&card.to_bytes());
        bytes.push(u8::try_from(terms.suites.len()).map_err(|_| Error::Terms)?);
        for number in terms.suites.iter().flatten() {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(prekeys.ratchet);
        if let Some(lattice) = prekeys.lattice {
            bytes.extend_from_slice(lattice.as_bytes());
        }
        bytes.extend_from_slice(&terms.not_before.unix_seconds().to_be_bytes());
        bytes.extend_from_slice(&terms.not_after.unix_seconds().to_be_bytes());
        let signature = key.sign(&[LABEL, &bytes].concat());
        bytes.extend_from_slice(&signature);
        // What cannot be read must not be published.
        Self::parse(&bytes).map_err(|_| Error::Terms)
    }

    /// Reads all of `bytes` and verifies the signature under the key that the card names. Whether that key
    /// is the right one is for the caller to know: it is in [`Record::card`].
    ///
    /// # Errors
    /// [`Error::Malformed`], or [`Error::Rejected`] for a signature that does not fit.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != MAGIC || reader.u8()? != VERSION {
            return Err(Error::Malformed);
        }
        let flags = reader.u8()?;
        if flags & !(HAS_LATTICE | HEDGED | SIGNED) != 0 {
            return Err(Error::Malformed);
        }
        let card = Card::read(&mut reader)?;
        let suites = suites(&mut reader, &card)?;
        let prekey = *reader.array()?;
        let lattice = match flags & HAS_LATTICE {
            0 => None,
            _ => Some(lattice(reader.take(LATTICE_LEN)?, &card)?),
        };
        let (not_before, not_after) = (reader.u64()?, reader.u64()?);
        let signature = reader.array()?;
        if !reader.is_empty() || not_before >= not_after {
            return Err(Error::Malformed);
        }
        let (signed, _) = bytes.split_at(bytes.len() - signature.len());
        let verified = card
            .verifying_key()
            .verify(&[LABEL, signed].concat(), signature);
        verified.map_err(|_| Error::Rejected)?;
        Ok(Self {
            card,
            suites,
            mode: if flags & HEDGED == 0 {
                Mode::Fenced
            } else {
                Mode::Hedged
            },
            first: if flags & SIGNED == 0 {
                First::Deniable
            } else {
                First::Signed
            },
            prekey,
            lattice,
            not_before,
            not_after,
            bytes: bytes.to_vec(),
            id: RecordId::from_bytes(short_hash(&[LABEL, bytes])),
        })
    }

    /// The record's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Who published it.
    #[must_use]
    pub const fn card(&self) -> &Card {
        &self.card
    }

    /// Its name in frames.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// How its sessions are protected from copies of their state.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the first message is signed.
    #[must_use]
    pub const fn first(&self) -> First {
        self.first
    }

    /// Whether there is an ML-KEM key in it, which then is used.
    #[must_use]
    pub const fn has_lattice(&self) -> bool {
        self.lattice.is_some()
    }

    pub(crate) fn require_valid(&self, now: WallTime) -> Result<(), Error> {
        match (self.not_before..self.not_after).contains(&now.unix_seconds()) {
            true => Ok(()),
            false => Err(Error::RecordExpired),
        }
    }
}

fn flags(prekeys: &Prekeys<'_>, terms: &Terms<'_>) -> u8 {
    let lattice = if prekeys.lattice.is_some() {
        HAS_LATTICE
    } else {
        0
    };
    let mode = match terms.mode {
        Mode::Fenced => 0,
        Mode::Hedged => HEDGED,
    };
    let first = match terms.first {
        First::Deniable => 0,
        First::Signed => SIGNED,
    };
    lattice | mode | first
}

/// One to eight different ones, all of the card's KEM.
fn suites(reader: &mut Reader<'_>, card: &Card) -> Result<Vec<SuiteNumbers>, Error> {
    let count = usize::from(reader.u8()?);
    if !(1..=MAX_OFFERED).contains(&count) {
        return Err(Error::Malformed);
    }
    let mut suites = Vec::with_capacity(count);
    for _ in 0..count {
        let suite = [reader.u16()?, reader.u16()?, reader.u16()?];
        let [kem, ..] = suite;
        if kem != card.agreement_key().kem().id() || suites.contains(&suite) {
            return Err(Error::Malformed);
        }
        suites.push(suite);
    }
    Ok(suites)
}

/// ML-KEM stands beside X25519 only: the handshakes that use it are defined for that.
fn lattice(bytes: &[u8], card: &Card) -> Result<PublicKey, Error> {
    if card.agreement_key().kem() != Kem::X25519HkdfSha256 {
        return Err(Error::Malformed);
    }
    PublicKey::from_bytes(Kem::MlKem768Draft, bytes).map_err(|_| Error::Malformed)
}

/// A prekey that one session begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneTime {
    record: RecordId,
    pub(crate) prekey: [u8; 32],
    bytes: Vec<u8>,
    id: RecordId,
}

impl OneTime {
    pub(crate) fn sign(key: &SigningKey, record: RecordId, prekey: [u8; 32]) -> Self {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(ONE_TIME_MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(record.as_bytes());
        bytes.extend_from_slice(&prekey);
        let signature = key.sign(&[ONE_TIME_LABEL, &bytes].concat());
        bytes.extend_from_slice(&signature);
        let id = RecordId::from_bytes(short_hash(&[ONE_TIME_LABEL, &bytes]));
        Self {
            record,
            prekey,
            bytes,
            id,
        }
    }

    /// Reads all of `bytes`, which must belong to `record`.
    ///
    /// # Errors
    /// [`Error::Malformed`], or [`Error::Rejected`] for another record or a signature that does not fit.
    pub fn parse(bytes: &[u8], record: &Record) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != ONE_TIME_MAGIC || reader.u8()? != VERSION {
            return Err(Error::Malformed);
        }
        let of = RecordId::from_bytes(*reader.array()?);
        let (prekey, signature) = (*reader.array()?, reader.array()?);
        if !reader.is_empty() {
            return Err(Error::Malformed);
        }
        let (signed, _) = bytes.split_at(bytes.len() - signature.len());
        let verified = record
            .card
            .verifying_key()
            .verify(&[ONE_TIME_LABEL, signed].concat(), signature);
        if verified.is_err() || of != record.id {
            return Err(Error::Rejected);
        }
        Ok(Self {
            record: of,
            prekey,
            bytes: bytes.to_vec(),
            id: RecordId::from_bytes(short_hash(&[ONE_TIME_LABEL, bytes])),
        })
    }

    /// The bytes to hand out.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The record that it belongs to.
    #[must_use]
    pub const fn record(&self) -> RecordId {
        self.record
    }

    /// What a first frame names instead of the record.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }
}
