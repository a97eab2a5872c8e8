//! DHKEM (RFC 9180, section 4.1): X25519 and the NIST curves.
//!
//! Keys of the four groups in one type each, and what the group has to say: lengths, hash, bit mask of a
//! candidate. Every shared secret is looked at for zeros, whatever the group ([`shared`]).

use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, P384PrivateKey, P384PublicKey, P521PrivateKey, P521PublicKey,
    X25519PrivateKey, X25519PublicKey,
};
use keywright_secret::{Secret, SecretBytes, ct_eq};

use crate::kdf::{Hkdf, SuiteId};
use crate::short::Short;
use crate::{Error, Kem};

/// The longest public key: a point of P-521.
pub(crate) const MAX_PUBLIC_LEN: usize = 133;

macro_rules! groups {
    ($( $variant:ident: $kem:ident, $private:ident, $public:ident, $read:expr; )*) => {
        pub(crate) enum DhPublic {
            $( $variant($public), )*
        }

        pub(crate) enum DhPrivate {
            $( $variant($private), )*
        }

        impl DhPublic {
            /// `DeserializePublicKey`: points uncompressed, nothing else.
            pub(crate) fn parse(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
                match kem {
                    $( Kem::$kem => {
                        let bytes = bytes.try_into().map_err(|_| Error::KeyRejected)?;
                        let read: fn(&[u8; $public::LEN]) -> _ = $read;
                        read(bytes).map(Self::$variant).map_err(|_| Error::KeyRejected)
                    } )*
                    _ => Err(Error::KeyRejected),
                }
            }
        }

        impl DhPrivate {
            pub(crate) fn generate(kem: Kem) -> Result<Self, Error> {
                match kem {
                    $( Kem::$kem => Ok(Self::$variant($private::generate()?)), )*
                    _ => Err(Error::KeyMismatch),
                }
            }

            /// `DeserializePrivateKey`
            pub(crate) fn parse(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
                match kem {
                    $( Kem::$kem => {
                        let bytes = Secret::copy_from(bytes).ok_or(Error::KeyRejected)?;
                        let key = $private::from_bytes(&bytes);
                        key.map(Self::$variant).map_err(|_| Error::KeyRejected)
                    } )*
                    _ => Err(Error::KeyRejected),
                }
            }

            pub(crate) fn to_bytes(&self) -> Result<SecretBytes, Error> {
                Ok(match self {
                    $( Self::$variant(key) => SecretBytes::from_vec(key.to_bytes()?.expose().to_vec()), )*
                })
            }

            /// The public half as it is written.
            pub(crate) fn public_bytes(&self) -> Result<PublicBytes, Error> {
                Ok(match self {
                    $( Self::$variant(key) => PublicBytes::of(&key.public_bytes()?), )*
                })
            }

            /// `DH(self, peer)`, appended to `out`.
            pub(crate) fn agree(&self, peer: &DhPublic, out: &mut Short) -> Result<(), Error> {
                match (self, peer) {
                    $( (Self::$variant(key), DhPublic::$variant(peer)) => {
                        let secret = key.agree(peer).map_err(|_| Error::KeyAgreement)?;
                        out.push(shared(secret.expose())?);
                    } )*
                    _ => return Err(Error::KeyMismatch),
                }
                Ok(())
            }
        }
    };
}

groups! {
    X25519: X25519HkdfSha256, X25519PrivateKey, X25519PublicKey, X25519PublicKey::from_bytes;
    P256: P256HkdfSha256, P256PrivateKey, P256PublicKey, |point| P256PublicKey::from_sec1(point);
    P384: P384HkdfSha384, P384PrivateKey, P384PublicKey, |point| P384PublicKey::from_sec1(point);
    P521: P521HkdfSha512, P521PrivateKey, P521PublicKey, |point| P521PublicKey::from_sec1(point);
}

/// The secret, unless it is all zero (section 7.1.4), in time that does not depend on it. Of X25519 that
/// means a point of small order, which the backend refuses too; of the NIST curves nobody ever finds one.
pub(super) fn shared(secret: &[u8]) -> Result<&[u8], Error> {
    const ZEROS: [u8; 66] = [0; 66];
    if ct_eq(secret, &ZEROS[..secret.len()]) {
        return Err(Error::KeyAgreement);
    }
    Ok(secret)
}

/// A public key of a group, as it is written.
pub(crate) struct PublicBytes {
    bytes: [u8; MAX_PUBLIC_LEN],
    len: usize,
}

impl PublicBytes {
    fn of(key: &[u8]) -> Self {
        let mut bytes = [0; MAX_PUBLIC_LEN];
        bytes[..key.len()].copy_from_slice(key);
        Self {
            bytes,
            len: key.len(),
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The hash inside a DHKEM, which is not the one of the suite.
const fn inner(kem: Kem) -> Hkdf {
    match kem {
        Kem::P384HkdfSha384 => Hkdf::Sha384,
        Kem::P521HkdfSha512 => Hkdf::Sha512,
        _ => Hkdf::Sha256,
    }
}

/// Bytes in the shared secret (`Nsecret`): one hash.
const fn secret_len(kem: Kem) -> usize {
    match inner(kem) {
        Hkdf::Sha256 => 32,
        Hkdf::Sha384 => 48,
        Hkdf::Sha512 => 64,
    }
}

/// `ExtractAndExpand(dh, kem_context)`
pub(crate) fn shared_secret(kem: Kem, dh: &Short, context: [&[u8]; 3]) -> Result<Short, Error> {
    let (hash, id) = (inner(kem), SuiteId::kem(kem));
    let extracted = hash.extract(&id, b"eae_prk", dh.expose());
    let prk = hash.prk(&extracted)?;
    Short::try_fill(secret_len(kem), |out| {
        prk.expand(&id, b"shared_secret", context, out)
    })
}

/// `DeriveKeyPair(ikm)` (section 7.1.3)
pub(crate) fn derive(kem: Kem, ikm: &[u8]) -> Result<DhPrivate, Error> {
    let (hash, id) = (inner(kem), SuiteId::kem(kem));
    let prk = hash.prk(&hash.extract(&id, b"dkp_prk", ikm))?;
    let expand = |label: &[u8], info: &[u8]| {
        Short::try_fill(kem.private_key_len(), |out| {
            prk.expand(&id, label, [info, &[], &[]], out)
        })
    };
    if kem == Kem::X25519HkdfSha256 {
        return DhPrivate::parse(kem, expand(b"sk", &[])?.expose());
    }
    first_scalar(kem, |counter| expand(b"candidate", &[counter]))
}

/// The first of 256 candidates that is a scalar of the group: not zero, below the order.
fn first_scalar(
    kem: Kem,
    candidate: impl Fn(u8) -> Result<Short, Error>,
) -> Result<DhPrivate, Error> {
    for counter in 0..=u8::MAX {
        let mut bytes = candidate(counter)?;
        // bitmask: P-521 has 521 bits in 66 bytes, the other curves fill theirs.
        if kem == Kem::P521HkdfSha512
            && let Some(first) = bytes.expose_mut().first_mut()
        {
            *first &= 0x01;
        }
        if let Ok(key) = DhPrivate::parse(kem, bytes.expose()) {
            return Ok(key);
        }
    }
    Err(Error::KeyRejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders of the three groups, from SP 800-186.
    const ORDERS: [(Kem, &str); 3] = [
        (
            Kem::P256HkdfSha256,
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        ),
        (
            Kem::P384HkdfSha384,
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf\
             581a0db248b0a77aecec196accc52973",
        ),
        (
            Kem::P521HkdfSha512,
            "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\
             ffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
        ),
    ];

    fn order(text: &str) -> Vec<u8> {
        keywright_encoding::hex::decode(text).unwrap()
    }

    fn short(bytes: &[u8]) -> Short {
        let mut short = Short::empty();
        short.push(bytes);
        short
    }

    #[test]
    fn t08_a_rejected_candidate_is_followed_by_the_next() {
        for (kem, text) in ORDERS {
            let order = order(text);
            let mut below = order.clone();
            *below.last_mut().unwrap() -= 1;
            let zero = vec![0; order.len()];
            let ones = vec![0xFF; order.len()];
            let candidates = [&order, &zero, &ones, &below];
            let key = first_scalar(kem, |counter| Ok(short(candidates[usize::from(counter)])));
            // P-521 masks the first byte of the ones, which is still above the order.
            assert_eq!(key.unwrap().to_bytes().unwrap().expose(), below, "{kem}");
        }
    }

    #[test]
    fn t08_without_a_candidate_there_is_no_key() {
        for (kem, text) in ORDERS {
            let refused = first_scalar(kem, |_| Ok(short(&order(text)))).err();
            assert_eq!(refused, Some(Error::KeyRejected));
        }
    }

    #[test]
    fn a_secret_of_zeros_is_none_in_any_group() {
        for length in [32, 48, 66] {
            let mut secret = vec![0; length];
            assert_eq!(shared(&secret), Err(Error::KeyAgreement));
            for place in 0..length {
                secret.fill(0);
                secret[place] = 0x80;
                assert!(shared(&secret).is_ok());
            }
        }
    }

    #[test]
    fn keys_of_two_groups_do_not_agree() {
        let one = DhPrivate::generate(Kem::P256HkdfSha256).unwrap();
        let two = DhPrivate::generate(Kem::X25519HkdfSha256).unwrap();
        let two = two.public_bytes().unwrap();
        let two = DhPublic::parse(Kem::X25519HkdfSha256, two.as_slice()).unwrap();
        let refused = one.agree(&two, &mut Short::empty());
        assert_eq!(refused, Err(Error::KeyMismatch));
        assert!(DhPrivate::generate(Kem::XWingDraft).is_err());
    }
}
