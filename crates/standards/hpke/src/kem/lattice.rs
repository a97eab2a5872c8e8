//! ML-KEM alone and X-Wing, as draft-ietf-hpke-pq and draft-connolly-cfrg-xwing-kem define them.
//!
//! A private key is kept as its seed; the long form that decapsulation needs is made once, when the key is.

use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::hash::{Shake256, sha3_256};
use keywright_primitives::hazmat::ml_kem::{encapsulate_768, encapsulate_1024};
use keywright_primitives::kem::{
    MlKem768DecapsulationKey, MlKem768EncapsulationKey, MlKem1024DecapsulationKey,
    MlKem1024EncapsulationKey, SEED_LEN,
};
use keywright_secret::{Secret, SecretBytes, wipe};

use super::{Enc, Randomness, dh};
use crate::kdf::{Shake, SuiteId};
use crate::short::Short;
use crate::{Error, Kem};

/// The end of what X-Wing hashes: `\.//^\`.
const X_WING_LABEL: &[u8; 6] = b"\\.//^\\";
/// Where the X25519 part of a public key of X-Wing begins.
const X_WING_SPLIT: usize = MlKem768EncapsulationKey::LEN;
/// Where it begins in an encapsulation.
const X_WING_ENC_SPLIT: usize = MlKem768EncapsulationKey::CIPHERTEXT_LEN;

#[expect(clippy::large_enum_variant, reason = "always behind one box")]
pub(crate) enum LatticePublic {
    MlKem768(MlKem768EncapsulationKey),
    MlKem1024(MlKem1024EncapsulationKey),
    XWing(MlKem768EncapsulationKey, X25519PublicKey),
}

#[expect(clippy::large_enum_variant, reason = "always behind one box")]
pub(crate) enum LatticePrivate {
    MlKem768(Secret<SEED_LEN>, MlKem768DecapsulationKey),
    MlKem1024(Secret<SEED_LEN>, MlKem1024DecapsulationKey),
    XWing(Secret<32>, MlKem768DecapsulationKey, X25519PrivateKey),
}

impl LatticePublic {
    pub(crate) fn parse(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        let rejected = |_| Error::KeyRejected;
        match kem {
            Kem::MlKem768Draft => ml_kem_768(bytes).map(Self::MlKem768),
            Kem::MlKem1024Draft => {
                let bytes = bytes.try_into().map_err(|_| Error::KeyRejected)?;
                let key = MlKem1024EncapsulationKey::from_bytes(bytes);
                key.map(Self::MlKem1024).map_err(rejected)
            }
            Kem::XWingDraft => {
                let halves = bytes.split_at_checked(X_WING_SPLIT);
                let (lattice, curve) = halves.ok_or(Error::KeyRejected)?;
                let curve = curve.try_into().map_err(|_| Error::KeyRejected)?;
                let curve = X25519PublicKey::from_bytes(curve).map_err(rejected)?;
                Ok(Self::XWing(ml_kem_768(lattice)?, curve))
            }
            _ => Err(Error::KeyRejected),
        }
    }

    /// `Encap(pkR)`
    pub(crate) fn encap(&self, randomness: Randomness<'_>) -> Result<(Enc, Short), Error> {
        let given = randomness.given()?;
        match self {
            Self::MlKem768(key) => {
                let (enc, secret) = match given {
                    None => key.encapsulate()?,
                    Some(m) => encapsulate_768(key, &secret(m)?)?,
                };
                Ok((Enc::large(&enc), Short::take(*secret.expose())))
            }
            Self::MlKem1024(key) => {
                let (enc, secret) = match given {
                    None => key.encapsulate()?,
                    Some(m) => encapsulate_1024(key, &secret(m)?)?,
                };
                Ok((Enc::large(&enc), Short::take(*secret.expose())))
            }
            Self::XWing(lattice, curve) => x_wing_encap(lattice, curve, given),
        }
    }
}

impl LatticePrivate {
    pub(crate) fn generate(kem: Kem) -> Result<Self, Error> {
        let mut random = keywright_primitives::random::RandomStream::new()?;
        let seed = Short::try_fill(kem.private_key_len(), |out| random.fill(out))?;
        Self::parse(kem, seed.expose())
    }

    /// The key of a seed. Every seed of the right length is one.
    pub(crate) fn parse(kem: Kem, seed: &[u8]) -> Result<Self, Error> {
        match kem {
            Kem::MlKem768Draft => {
                let seed = Secret::copy_from(seed).ok_or(Error::KeyRejected)?;
                let key = MlKem768DecapsulationKey::from_seed(&seed)?;
                Ok(Self::MlKem768(seed, key))
            }
            Kem::MlKem1024Draft => {
                let seed = Secret::copy_from(seed).ok_or(Error::KeyRejected)?;
                let key = MlKem1024DecapsulationKey::from_seed(&seed)?;
                Ok(Self::MlKem1024(seed, key))
            }
            Kem::XWingDraft => {
                let seed = Secret::copy_from(seed).ok_or(Error::KeyRejected)?;
                let (lattice, curve) = x_wing_expand(&seed)?;
                Ok(Self::XWing(seed, lattice, curve))
            }
            _ => Err(Error::KeyRejected),
        }
    }

    /// `DeriveKeyPair(ikm)` of the draft: one labelled derivation gives the seed.
    pub(crate) fn derive(kem: Kem, ikm: &[u8]) -> Result<Self, Error> {
        let seed = Short::try_fill(kem.private_key_len(), |out| {
            Shake::Shake256.derive(&SuiteId::kem(kem), &[ikm], (b"DeriveKeyPair", &[]), out)
        })?;
        Self::parse(kem, seed.expose())
    }

    /// The seed.
    pub(crate) fn to_bytes(&self) -> SecretBytes {
        SecretBytes::from_vec(match self {
            Self::MlKem768(seed, _) | Self::MlKem1024(seed, _) => seed.expose().to_vec(),
            Self::XWing(seed, ..) => seed.expose().to_vec(),
        })
    }

    pub(crate) fn public_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(match self {
            Self::MlKem768(_, key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::MlKem1024(_, key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::XWing(_, lattice, curve) => [
                &lattice.encapsulation_key().as_bytes()[..],
                &curve.public_bytes()?,
            ]
            .concat(),
        })
    }

    /// `Decap(enc, skR)`. `public` is the key's own public half as it is written.
    pub(crate) fn decap(&self, enc: &[u8], public: &[u8]) -> Result<Short, Error> {
        let secret = match self {
            Self::MlKem768(_, key) => key.decapsulate(foreign(enc)?),
            Self::MlKem1024(_, key) => key.decapsulate(foreign(enc)?),
            Self::XWing(_, lattice, curve) => {
                let (enc, theirs) = enc
                    .split_at_checked(X_WING_ENC_SPLIT)
                    .ok_or(Error::Rejected)?;
                let theirs: &[u8; 32] = foreign(theirs)?;
                let point = X25519PublicKey::from_bytes(theirs).map_err(|_| Error::Rejected)?;
                let (lattice, curve) = (
                    lattice.decapsulate(foreign(enc)?),
                    curve.agree(&point).map_err(|_| Error::Rejected)?,
                );
                let lattice = lattice.map_err(|_| Error::Rejected)?;
                dh::shared(curve.expose()).map_err(|_| Error::Rejected)?;
                return Ok(combine(&lattice, &curve, theirs, &public[X_WING_SPLIT..]));
            }
        };
        let secret = secret.map_err(|_| Error::Rejected)?;
        Ok(Short::take(*secret.expose()))
    }
}

/// SHAKE256 of the seed: d and z of ML-KEM, then the scalar of X25519.
fn x_wing_expand(seed: &Secret<32>) -> Result<(MlKem768DecapsulationKey, X25519PrivateKey), Error> {
    let mut state = Shake256::new();
    state.update(seed.expose());
    let mut expanded = [0; SEED_LEN + 32];
    state.finish_into(&mut expanded);
    let lattice = Secret::from_fill(|out| out.copy_from_slice(&expanded[..SEED_LEN]));
    let curve = Secret::from_fill(|out| out.copy_from_slice(&expanded[SEED_LEN..]));
    wipe(&mut expanded);
    Ok((
        MlKem768DecapsulationKey::from_seed(&lattice)?,
        X25519PrivateKey::from_bytes(&curve)?,
    ))
}

fn x_wing_encap(
    lattice: &MlKem768EncapsulationKey,
    curve: &X25519PublicKey,
    given: Option<&[u8]>,
) -> Result<(Enc, Short), Error> {
    let (ephemeral, (ciphertext, lattice_secret)) = match given {
        None => (X25519PrivateKey::generate()?, lattice.encapsulate()?),
        Some(bytes) => {
            let (m, scalar) = bytes.split_at_checked(32).ok_or(Error::IkmLength)?;
            let scalar = X25519PrivateKey::from_bytes(&secret(scalar)?)?;
            (scalar, encapsulate_768(lattice, &secret(m)?)?)
        }
    };
    let ours = ephemeral.public_bytes()?;
    let curve_secret = ephemeral.agree(curve).map_err(|_| Error::KeyAgreement)?;
    dh::shared(curve_secret.expose())?;
    let shared = combine(&lattice_secret, &curve_secret, &ours, curve.as_bytes());
    Ok((Enc::large(&[&ciphertext[..], &ours].concat()), shared))
}

/// `SHA3-256(ss_M || ss_X || ct_X || pk_X || label)`
fn combine(lattice: &Secret<32>, curve: &Secret<32>, theirs: &[u8], own: &[u8]) -> Short {
    Short::take(sha3_256(&[
        lattice.expose(),
        curve.expose(),
        theirs,
        own,
        X_WING_LABEL,
    ]))
}

fn ml_kem_768(bytes: &[u8]) -> Result<MlKem768EncapsulationKey, Error> {
    let bytes = bytes.try_into().map_err(|_| Error::KeyRejected)?;
    MlKem768EncapsulationKey::from_bytes(bytes).map_err(|_| Error::KeyRejected)
}

fn secret<const N: usize>(bytes: &[u8]) -> Result<Secret<N>, Error> {
    Secret::copy_from(bytes).ok_or(Error::IkmLength)
}

fn foreign<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Rejected)
}
