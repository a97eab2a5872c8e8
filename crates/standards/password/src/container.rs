//! The container's bytes.

use keywright_encoding::Reader;
use keywright_primitives::aead::{TAG_LEN, Tag, Xaes256Gcm};
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::{RandomStream, hedged_nonce};
use keywright_secret::locked::Locking;
use keywright_secret::{Secret, SecretBytes, ct_eq};

use crate::stretch::stretch;
use crate::{Cost, Error, Limits, Profile};

/// Bytes in every container.
pub const CONTAINER_LEN: usize = HEADER_LEN + SECRET_LEN + TAG_LEN;

const MAGIC: &[u8; 4] = b"KWPW";
/// Version 1, Argon2id 0x13, XAES-256-GCM, no flags.
const NUMBERS: [u8; 4] = [1, 1, 1, 0];
const LABEL: &[u8] = b"keywright/password/v1";
/// From magic to salt.
const PREFIX_LEN: usize = 4 + 4 + 12 + 16;
/// From magic to nonce: what the AEAD takes as associated data.
const HEADER_LEN: usize = PREFIX_LEN + 32 + 24;
const SECRET_LEN: usize = 48;

/// A container whose parts are known; nothing about it is verified yet.
#[derive(Clone, Copy, Debug)]
pub struct Container<'a> {
    header: &'a [u8],
    prefix: &'a [u8],
    cost: Cost,
    salt: &'a [u8; 16],
    commitment: &'a [u8; 32],
    nonce: &'a [u8; 24],
    ciphertext: &'a [u8; SECRET_LEN],
    tag: &'a Tag,
}

/// What a container held.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The data key's 48 bytes.
    pub secret: Secret<48>,
    /// Whether the memory of the password derivation was kept out of swap.
    pub locking: Locking,
}

/// A new container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sealed {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether the memory of the password derivation was kept out of swap.
    pub locking: Locking,
}

impl<'a> Container<'a> {
    /// Takes `bytes` apart.
    ///
    /// # Errors
    /// [`Error::Malformed`] for another magic, number or length.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != MAGIC || *reader.array()? != NUMBERS || bytes.len() != CONTAINER_LEN {
            return Err(Error::Malformed);
        }
        let cost = Cost {
            memory_kib: reader.u32()?,
            passes: reader.u32()?,
            lanes: reader.u32()?,
        };
        Ok(Self {
            header: &bytes[..HEADER_LEN],
            prefix: &bytes[..PREFIX_LEN],
            cost,
            salt: reader.array()?,
            commitment: reader.array()?,
            nonce: reader.array()?,
            ciphertext: reader.array()?,
            tag: reader.array()?,
        })
    }

    /// What opening it will cost; as the file says it, not yet checked.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// Opens `bytes`.
    ///
    /// # Errors
    /// [`Error::Malformed`] and [`Error::OutOfBounds`] before anything is allocated, [`Error::Busy`] and
    /// [`Error::OutOfMemory`] before anything is computed, [`Error::Rejected`] for a wrong password or a
    /// changed container.
    pub fn open(bytes: &[u8], password: &SecretBytes, limits: &Limits) -> Result<Opened, Error> {
        let container = Container::parse(bytes)?;
        limits.check(container.cost)?;
        let (key, locking) = stretch(password.expose(), container.salt, container.cost, limits)?;
        let (subkey, commitment) = keys(&key, container.prefix)?;
        if !ct_eq(container.commitment, &commitment) {
            return Err(Error::Rejected);
        }
        let secret = Secret::try_from_fill(|secret| {
            secret.copy_from_slice(container.ciphertext);
            Xaes256Gcm::new(subkey.expose())?
                .open(container.nonce, container.header, secret, container.tag)
                .map_err(|_| Error::Rejected)
        })?;
        Ok(Opened { secret, locking })
    }

    /// Seals the 48 bytes of a data key under a password.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::OutOfMemory`] or [`Error::Backend`].
    pub fn seal(
        secret: &Secret<48>,
        password: &SecretBytes,
        profile: Profile,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        Container::seal_and_report(secret, password, profile, random).map(|sealed| sealed.bytes)
    }

    /// As [`Container::seal`], and says whether the memory was locked.
    ///
    /// # Errors
    /// As [`Container::seal`].
    pub fn seal_and_report(
        secret: &Secret<48>,
        password: &SecretBytes,
        profile: Profile,
        random: &mut RandomStream,
    ) -> Result<Sealed, Error> {
        let chosen = Chosen {
            cost: profile.cost(),
            salt: random.array()?,
            nonce: Nonce::Hedged(random.array()?),
        };
        seal_with(secret, password, &chosen, &Limits::standard())
    }
}

/// What a new container has besides secret and password.
pub(crate) struct Chosen {
    pub(crate) cost: Cost,
    pub(crate) salt: [u8; 16],
    pub(crate) nonce: Nonce,
}

/// Where the nonce of a new container comes from.
#[derive(Clone, Copy)]
pub(crate) enum Nonce {
    /// From these random bytes, the key and the secret: were salt and bytes given out before, another secret
    /// would still have another nonce.
    Hedged([u8; 24]),
    /// It is stated, by tests.
    Stated([u8; 24]),
}

pub(crate) fn seal_with(
    secret: &Secret<48>,
    password: &SecretBytes,
    chosen: &Chosen,
    limits: &Limits,
) -> Result<Sealed, Error> {
    let mut bytes = Vec::with_capacity(CONTAINER_LEN);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&NUMBERS);
    for number in [
        chosen.cost.memory_kib,
        chosen.cost.passes,
        chosen.cost.lanes,
    ] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.extend_from_slice(&chosen.salt);
    let (key, locking) = stretch(password.expose(), &chosen.salt, chosen.cost, limits)?;
    let (subkey, commitment) = keys(&key, &bytes)?;
    bytes.extend_from_slice(&commitment);
    let nonce = match &chosen.nonce {
        Nonce::Stated(nonce) => *nonce,
        Nonce::Hedged(fresh) => hedged_nonce(key.expose(), fresh, &[&bytes, secret.expose()]),
    };
    bytes.extend_from_slice(&nonce);
    let cipher = Xaes256Gcm::new(subkey.expose())?;
    let mut tag = [0; TAG_LEN];
    // Encrypted in a buffer that wipes itself: what is copied out of it is ciphertext.
    let sealed = Secret::<SECRET_LEN>::try_from_fill(|text| {
        text.copy_from_slice(secret.expose());
        tag = cipher.seal(&nonce, &bytes, text)?;
        Ok::<(), Error>(())
    })?;
    bytes.extend_from_slice(sealed.expose());
    bytes.extend_from_slice(&tag);
    Ok(Sealed { bytes, locking })
}

/// Subkey + commitment = HKDF-Expand-SHA-256(P, label + magic..salt, 32 + 32).
fn keys(key: &Secret<32>, prefix: &[u8]) -> Result<(Secret<32>, [u8; 32]), Error> {
    let made =
        Secret::<64>::try_from_fill(|made| expand_sha256(key.expose(), &[LABEL, prefix], made))?;
    let mut commitment = [0; 32];
    commitment.copy_from_slice(&made.expose()[32..]);
    let subkey = Secret::from_fill(|subkey| subkey.copy_from_slice(&made.expose()[..32]));
    Ok((subkey, commitment))
}
