//! Signature schemes: what a key can make, what was asked for, and which mechanism that is.

use keywright_pkcs11::{Hash, Mechanism, MlDsa, ObjectHandle, Over, Session};
use keywright_pkcs11_names::{AttributeType, KeyType};

use crate::desk::hash_name;
use crate::error::Error;
use crate::pairs::type_name;
use crate::public_key::curve;
use keywright_encoding::der;

/// How to sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what a signature depends on")]
pub struct How {
    /// The scheme; that of the key's type if there is none.
    pub scheme: Option<Scheme>,
    /// The hash; that of the key's size if there is none.
    pub hash: Option<Hash>,
    /// What the input is.
    pub input: Given,
    /// How an ECDSA signature is written.
    pub form: SignatureForm,
}

/// A signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Scheme {
    /// ECDSA.
    Ecdsa,
    /// Ed25519 or Ed448, as the key is.
    Eddsa,
    /// ML-DSA, pure and without a context (FIPS 204, algorithm 2), in the parameter set of the key.
    MlDsa,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSASSA-PSS, salt as long as the hash.
    Pss,
}

impl Scheme {
    /// On the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecdsa => "ecdsa",
            Self::Eddsa => "eddsa",
            Self::MlDsa => "ml-dsa",
            Self::Pkcs1 => "pkcs1v15",
            Self::Pss => "pss",
        }
    }

    /// Whether it signs the hash of data, which may then be made elsewhere.
    pub(crate) const fn hashes_first(self) -> bool {
        !matches!(self, Self::Eddsa | Self::MlDsa)
    }
}

/// What is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Given {
    /// Data.
    #[default]
    Data,
    /// The hash of the data.
    Hash,
}

/// How an ECDSA signature is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum SignatureForm {
    /// A SEQUENCE of r and s, as X.509 and OpenSSL have it.
    Der,
    /// r and s side by side, as PKCS#11 and JOSE have it.
    #[default]
    Raw,
}

/// What a key and the wishes for it come to.
pub(crate) struct Settled {
    pub(crate) scheme: Scheme,
    pub(crate) hash: Hash,
    /// Bytes of r and of s.
    pub(crate) half: usize,
    pub(crate) key_type: &'static str,
    pub(crate) form: SignatureForm,
}

impl Settled {
    pub(crate) fn new(session: &Session, key: ObjectHandle, how: How) -> Result<Self, Error> {
        let kind = session.attribute(key, AttributeType::KEY_TYPE)?.number();
        let (scheme, hash, half, key_type) = match kind.map(KeyType::new) {
            Some(KeyType::RSA) => (Scheme::Pkcs1, Hash::Sha256, 0, type_name(None)),
            Some(KeyType::EC | KeyType::EC_EDWARDS) => {
                let curve = curve(session, key)?;
                let half = usize::try_from(curve.bits().div_ceil(8)).unwrap_or(0);
                // FIPS 186-5 6.1.1: a hash as strong as the curve.
                let hash = match half {
                    0..=32 => Hash::Sha256,
                    33..=48 => Hash::Sha384,
                    _ => Hash::Sha512,
                };
                let scheme = match curve.is_weierstrass() {
                    true => Scheme::Ecdsa,
                    false => Scheme::Eddsa,
                };
                (scheme, hash, half, type_name(Some(curve)))
            }
            Some(KeyType::ML_DSA) => {
                let set = session.attribute(key, AttributeType::PARAMETER_SET)?;
                let set = set.number().and_then(MlDsa::from_number);
                let set = set.ok_or(Error::Unreadable(AttributeType::PARAMETER_SET))?;
                (Scheme::MlDsa, Hash::Sha512, 0, set.name())
            }
            Some(other) => {
                return Err(Error::Unusable(format!("keys of type {other} do not sign")));
            }
            None => return Err(Error::Unreadable(AttributeType::KEY_TYPE)),
        };
        let chosen = match (how.scheme, scheme) {
            (None, own) => own,
            (Some(Scheme::Pss), Scheme::Pkcs1) => Scheme::Pss,
            (Some(wanted), own) if wanted == own => own,
            (Some(wanted), _) => {
                let name = wanted.name();
                return Err(Error::Unusable(format!(
                    "{key_type} keys do not make {name} signatures"
                )));
            }
        };
        if !chosen.hashes_first() && (how.hash.is_some() || how.input == Given::Hash) {
            return Err(Error::Unusable(format!(
                "{key_type} has its own hash and signs data"
            )));
        }
        Ok(Self {
            scheme: chosen,
            hash: how.hash.unwrap_or(hash),
            half,
            key_type,
            form: how.form,
        })
    }

    /// Over data, hashed by the token.
    pub(crate) const fn over_data(&self) -> Mechanism<'static> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::EcdsaHash(self.hash),
            Scheme::Eddsa => Mechanism::Eddsa,
            Scheme::MlDsa => Mechanism::MlDsa { context: &[] },
            Scheme::Pkcs1 => Mechanism::RsaPkcs1Hash(self.hash),
            Scheme::Pss => Mechanism::RsaPss {
                hash: self.hash,
                salt_len: self.hash.len(),
                over: Over::Data,
            },
        }
    }

    /// Over a hash.
    pub(crate) const fn over_hash(&self) -> Mechanism<'static> {
        match self.scheme {
            Scheme::Ecdsa => Mechanism::Ecdsa,
            Scheme::Eddsa => Mechanism::Eddsa,
            Scheme::MlDsa => Mechanism::MlDsa { context: &[] },
            Scheme::Pkcs1 => Mechanism::RsaPkcs1,
            Scheme::Pss => Mechanism::RsaPss {
                hash: self.hash,
                salt_len: self.hash.len(),
                over: Over::Hash,
            },
        }
    }

    /// What is signed in place of the data: the hash, in a DigestInfo for PKCS#1 v1.5 (RFC 8017 9.2).
    pub(crate) fn prepared(&self, digest: &[u8]) -> Result<Vec<u8>, Error> {
        if digest.len() != self.hash.len() {
            return Err(Error::Value(format!(
                "the input has {} bytes, a {} hash has {}",
                digest.len(),
                hash_name(self.hash),
                self.hash.len()
            )));
        }
        if self.scheme != Scheme::Pkcs1 {
            return Ok(digest.to_vec());
        }
        let algorithm = der::sequence(&[&hash_oid(self.hash), der::NULL]);
        Ok(der::sequence(&[&algorithm, &der::octet_string(digest)]))
    }
}

/// The object identifier of a hash.
fn hash_oid(hash: Hash) -> Vec<u8> {
    // 2.16.840.1.101.3.4.2.n
    let nist = |n: u8| vec![6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, n];
    match hash {
        // 1.3.14.3.2.26
        Hash::Sha1 => vec![6, 5, 0x2B, 0x0E, 3, 2, 0x1A],
        Hash::Sha224 => nist(4),
        Hash::Sha256 => nist(1),
        Hash::Sha384 => nist(2),
        Hash::Sha512 => nist(3),
        Hash::Sha3_224 => nist(7),
        Hash::Sha3_256 => nist(8),
        Hash::Sha3_384 => nist(9),
        _ => nist(10),
    }
}
