//! Which suites may be used, and how long inputs may be.
//!
//! An [`Admitted`] suite is the only way to a context, and only a policy admits one: a suite that is off the
//! list has failed before a group operation was made for it.

use crate::kdf::{Stages, SuiteId};
use crate::schedule::psk_id_hash;
use crate::{Error, Suite};

/// Bytes in the longest hash of a two-stage suite.
const MAX_HASH_LEN: usize = 64;

/// How many bytes an input may have. Keys, `enc` and ciphertexts have their lengths from the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a caller states every bound that he changes"
)]
pub struct Limits {
    /// Of the application's `info`.
    pub info: usize,
    /// Of a pre-shared key, and of its id.
    pub psk: usize,
    /// Of the context of an export.
    pub exporter_context: usize,
}

impl Limits {
    /// What OpenSSL takes, so that it can read whatever is made under these: 1,024 bytes of info, 66 of a
    /// pre-shared key, its id and an exporter context.
    pub const INTEROPERABLE: Self = Self {
        info: 1024,
        psk: 66,
        exporter_context: 66,
    };

    /// The most that every suite can take: what two bytes can count (the one-stage suites write lengths so).
    pub const WIDEST: Self = Self {
        info: 0xFFFF,
        psk: 0xFFFF,
        exporter_context: 0xFFFF,
    };

    fn within(self, other: Self) -> Self {
        Self {
            info: self.info.min(other.info),
            psk: self.psk.min(other.psk),
            exporter_context: self.exporter_context.min(other.exporter_context),
        }
    }
}

/// A list of suites that may be used.
///
/// ```
/// use keywright_hpke::{Aead, Error, Kdf, Kem, Policy, Suite};
///
/// let policy = Policy::default();
/// assert!(policy.admit(Suite::X_WING_DRAFT).is_ok());
/// let rare = Suite { kem: Kem::P521HkdfSha512, kdf: Kdf::HkdfSha512, aead: Aead::Aes256Gcm };
/// assert_eq!(policy.admit(rare).err(), Some(Error::SuiteRefused));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    suites: Vec<Suite>,
    /// For each suite the hash of no pre-shared key's id, which is the same for ever.
    no_psk_id: Vec<[u8; MAX_HASH_LEN]>,
    limits: Limits,
}

/// The three suites of [`Suite::X_WING_DRAFT`], [`Suite::X25519`] and [`Suite::P256`], under
/// [`Limits::INTEROPERABLE`].
impl Default for Policy {
    fn default() -> Self {
        Self::of(&[Suite::X_WING_DRAFT, Suite::X25519, Suite::P256])
    }
}

impl Policy {
    /// These suites and no others, under [`Limits::INTEROPERABLE`].
    #[must_use]
    pub fn of(suites: &[Suite]) -> Self {
        Self {
            suites: suites.to_vec(),
            no_psk_id: suites.iter().map(|suite| no_psk_id(*suite)).collect(),
            limits: Limits::INTEROPERABLE,
        }
    }

    /// The same suites under other limits, at most [`Limits::WIDEST`].
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self {
            limits: limits.within(Limits::WIDEST),
            ..self
        }
    }

    /// The suites.
    #[must_use]
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// The suite, if it is on the list.
    ///
    /// # Errors
    /// [`Error::SuiteRefused`] if it is not.
    pub fn admit(&self, suite: Suite) -> Result<Admitted, Error> {
        let mut rows = self.suites.iter().zip(&self.no_psk_id);
        let row = rows.find(|(admitted, _)| **admitted == suite);
        let (_, no_psk_id) = row.ok_or(Error::SuiteRefused)?;
        Ok(Admitted {
            suite,
            no_psk_id: *no_psk_id,
            limits: self.limits,
        })
    }

    /// As [`Policy::admit`], for the numbers that a peer wrote.
    ///
    /// # Errors
    /// [`Error::SuiteUnknown`] or [`Error::SuiteRefused`].
    pub fn admit_ids(&self, ids: [u16; 3]) -> Result<Admitted, Error> {
        self.admit(Suite::from_ids(ids)?)
    }
}

/// A suite that a policy has admitted, with the policy's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Admitted {
    suite: Suite,
    no_psk_id: [u8; MAX_HASH_LEN],
    limits: Limits,
}

impl Admitted {
    /// The suite.
    #[must_use]
    pub const fn suite(self) -> Suite {
        self.suite
    }

    /// The limits.
    #[must_use]
    pub const fn limits(self) -> Limits {
        self.limits
    }

    /// The hash of no pre-shared key's id, for suites of two stages.
    pub(crate) fn no_psk_id_hash(&self) -> &[u8] {
        &self.no_psk_id[..self.suite.kdf.hash_len()]
    }
}

fn no_psk_id(suite: Suite) -> [u8; MAX_HASH_LEN] {
    let mut out = [0; MAX_HASH_LEN];
    if let Stages::Two(hash) = suite.kdf.stages() {
        let made = psk_id_hash(hash, &SuiteId::suite(suite), &[]);
        out[..made.expose().len()].copy_from_slice(made.expose());
    }
    out
}
