//! Which suites are offered and chosen, and what they say about lengths.

use std::fmt;

use keywright_encoding::Reader;

use crate::Error;

/// The most suites that a frame offers.
pub const MAX_OFFERED: usize = 8;

/// How the first key is made: the modes of RFC 9180, and one profile on top of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// RFC 9180 mode 0: nobody is authenticated to the responder.
    Base,
    /// RFC 9180 mode 1: a pre-shared key.
    Psk,
    /// RFC 9180 mode 2: the sender's key.
    Auth,
    /// RFC 9180 mode 3: both.
    AuthPsk,
    /// Mode 3 whose pre-shared key is derived from an ML-KEM-768 encapsulation.
    AuthPskPq,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [
        Self::Base,
        Self::Psk,
        Self::Auth,
        Self::AuthPsk,
        Self::AuthPskPq,
    ];

    /// The mode's byte.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Base => 0,
            Self::Psk => 1,
            Self::Auth => 2,
            Self::AuthPsk => 3,
            Self::AuthPskPq => 4,
        }
    }

    /// Whether the frame names the sender's key.
    #[must_use]
    pub const fn names_sender(self) -> bool {
        matches!(self, Self::Auth | Self::AuthPsk | Self::AuthPskPq)
    }

    /// Whether the frame carries an ML-KEM-768 ciphertext beside the encapsulated key.
    #[must_use]
    pub const fn has_kem_ciphertext(self) -> bool {
        matches!(self, Self::AuthPskPq)
    }

    pub(crate) fn from_number(number: u8) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|mode| mode.number() == number);
        found.ok_or(Error::ModeUnknown(number))
    }
}

/// The numbers of a suite in the HPKE registries of IANA. They may name what nobody here knows: a sender
/// may offer what an older responder passes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SuiteIds {
    kem: u16,
    kdf: u16,
    aead: u16,
}

impl SuiteIds {
    pub(crate) const LEN: usize = 6;

    /// KEM, KDF and AEAD.
    #[must_use]
    pub const fn new(kem: u16, kdf: u16, aead: u16) -> Self {
        Self { kem, kdf, aead }
    }

    /// The number of the KEM.
    #[must_use]
    pub const fn kem(self) -> u16 {
        self.kem
    }

    /// The number of the KDF.
    #[must_use]
    pub const fn kdf(self) -> u16 {
        self.kdf
    }

    /// The number of the AEAD.
    #[must_use]
    pub const fn aead(self) -> u16 {
        self.aead
    }

    /// KEM, KDF and AEAD, two bytes each.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [a, b] = self.kem.to_be_bytes();
        let [c, d] = self.kdf.to_be_bytes();
        let [e, f] = self.aead.to_be_bytes();
        [a, b, c, d, e, f]
    }

    /// Reads what [`SuiteIds::to_bytes`] writes.
    #[must_use]
    pub const fn from_bytes([a, b, c, d, e, f]: [u8; Self::LEN]) -> Self {
        Self {
            kem: u16::from_be_bytes([a, b]),
            kdf: u16::from_be_bytes([c, d]),
            aead: u16::from_be_bytes([e, f]),
        }
    }

    /// Bytes of the encapsulated key of a suite that can be chosen.
    ///
    /// # Errors
    /// [`Error::SuiteUnknown`] if one of the three is not known.
    pub const fn encapsulation_len(self) -> Result<usize, Error> {
        match self.known() {
            Some(kem) => Ok(kem.encapsulation),
            None => Err(Error::SuiteUnknown(self)),
        }
    }

    /// Whether the KEM can prove who encapsulated (RFC 9180 section 5.1.3).
    pub(crate) const fn authenticates(self) -> bool {
        matches!(self.known(), Some(kem) if kem.authenticates)
    }

    pub(crate) const fn is_x25519(self) -> bool {
        self.kem == X25519
    }

    const fn known(self) -> Option<Kem> {
        if !matches!(self.kdf, HKDF_SHA256..=HKDF_SHA512 | SHAKE256) {
            return None;
        }
        if !matches!(self.aead, AES_128_GCM..=CHACHA20_POLY1305 | EXPORT_ONLY) {
            return None;
        }
        Some(match self.kem {
            P256 => Kem::of_group(65),
            P384 => Kem::of_group(97),
            P521 => Kem::of_group(133),
            X25519 => Kem::of_group(32),
            ML_KEM_768 => Kem::post_quantum(1088),
            ML_KEM_1024 => Kem::post_quantum(1568),
            X_WING => Kem::post_quantum(1120),
            _ => return None,
        })
    }
}

impl fmt::Display for SuiteIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}/{:04x}/{:04x}", self.kem, self.kdf, self.aead)
    }
}

/// What the layout has to know about a KEM.
struct Kem {
    encapsulation: usize,
    authenticates: bool,
}

impl Kem {
    const fn of_group(encapsulation: usize) -> Self {
        Self {
            encapsulation,
            authenticates: true,
        }
    }

    const fn post_quantum(encapsulation: usize) -> Self {
        Self {
            encapsulation,
            authenticates: false,
        }
    }
}

const P256: u16 = 0x0010;
const P384: u16 = 0x0011;
const P521: u16 = 0x0012;
const X25519: u16 = 0x0020;
const ML_KEM_768: u16 = 0x0041;
const ML_KEM_1024: u16 = 0x0042;
const X_WING: u16 = 0x647a;
const HKDF_SHA256: u16 = 0x0001;
const HKDF_SHA512: u16 = 0x0003;
const SHAKE256: u16 = 0x0011;
const AES_128_GCM: u16 = 0x0001;
const CHACHA20_POLY1305: u16 = 0x0003;
const EXPORT_ONLY: u16 = 0xffff;

/// One to eight suites in the order of the sender's preference, none of them twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Those behind `count` are zero, so that equal offers are equal here.
    suites: [SuiteIds; MAX_OFFERED],
    count: u8,
}

impl Offer {
    /// Takes the suites in order.
    ///
    /// # Errors
    /// [`Error::OfferCount`] for none or more than eight, [`Error::OfferRepeats`] if two are equal.
    pub fn new(suites: &[SuiteIds]) -> Result<Self, Error> {
        let mut offer = Self {
            suites: [SuiteIds::default(); MAX_OFFERED],
            count: checked_count(suites.len())?,
        };
        for (place, suite) in offer.suites.iter_mut().zip(suites) {
            *place = *suite;
        }
        offer.distinct()
    }

    /// The suites in order.
    #[must_use]
    pub fn suites(&self) -> &[SuiteIds] {
        let count = usize::from(self.count).min(MAX_OFFERED);
        self.suites.split_at(count).0
    }

    /// Whether this suite is among them.
    #[must_use]
    pub fn contains(&self, suite: SuiteIds) -> bool {
        self.suites().contains(&suite)
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let count = checked_count(usize::from(reader.u8()?))?;
        let mut suites = [SuiteIds::default(); MAX_OFFERED];
        for place in suites.iter_mut().take(usize::from(count)) {
            *place = SuiteIds::from_bytes(*reader.array()?);
        }
        Self { suites, count }.distinct()
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        out.push(self.count);
        for suite in self.suites() {
            out.extend_from_slice(&suite.to_bytes());
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        1 + SuiteIds::LEN * self.suites().len()
    }

    fn distinct(self) -> Result<Self, Error> {
        let mut rest = self.suites();
        while let Some((first, others)) = rest.split_first() {
            if others.contains(first) {
                return Err(Error::OfferRepeats);
            }
            rest = others;
        }
        Ok(self)
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Offer").field(&self.suites()).finish()
    }
}

fn checked_count(count: usize) -> Result<u8, Error> {
    match u8::try_from(count) {
        Ok(small) if (1..=MAX_OFFERED).contains(&count) => Ok(small),
        _ => Err(Error::OfferCount(count)),
    }
}
