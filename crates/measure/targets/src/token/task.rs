//! What a token is asked to do, and the keys that this takes.

use keywright_pkcs11::{Curve, Hash, Mechanism, MlDsa, Over, PairKind, Purpose, SecretKind};

use super::keys::Wanted;

/// An operation of a token and whose key it is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what an operation depends on")]
pub struct Shape {
    /// What is done.
    pub task: Task,
    /// With which key.
    pub whose: Whose,
}

/// Whose key an operation is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a key is there or it is made")]
pub enum Whose {
    /// One that is made for the measurement.
    Made,
    /// The one that the caller has named.
    Named,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// A shared secret of two pairs, read out of the token.
    Agree(Curve),
    /// The shared key of an ML-KEM-768 encapsulation, destroyed again.
    Decapsulate,
    /// RSA decryption.
    Decrypt(Padding, u32),
    /// An encapsulation to an ML-KEM-768 key; the shared key is destroyed again.
    Encapsulate,
    /// RSA encryption.
    Encrypt(Padding, u32),
    /// A search for the one object with a label.
    Find,
    /// A hash.
    Hash(Hash),
    /// Log-in and log-out.
    Login,
    /// A message authentication code made.
    Mac(Code),
    /// A message authentication code verified.
    MacVerify(Code),
    /// A pair made as a session object, and destroyed.
    MakePair(PairKind),
    /// A secret key made as a session object, and destroyed.
    MakeSecret(SecretKind),
    /// A call that does nothing: what the way to the token and back costs.
    Null,
    /// AES-GCM decryption with a key of so many bytes.
    Open(u16),
    /// A session opened and closed.
    OpenSession,
    /// Random bytes.
    Random,
    /// AES-GCM encryption with a key of so many bytes, a fresh nonce each time.
    Seal(u16),
    /// A signature made.
    Sign(Signature),
    /// A wrapped AES-256 key unwrapped as a session object, and destroyed.
    Unwrap,
    /// A signature verified.
    Verify(Signature),
    /// An AES-256 key wrapped under another one (RFC 3394).
    Wrap,
}

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signature {
    /// ECDSA; the hash is made here, as strong as the curve.
    Ecdsa(Curve),
    /// Ed25519 or Ed448.
    Eddsa(Curve),
    /// ML-DSA-65; of a key that the caller named, whichever set it has.
    MlDsa,
    /// PKCS#1 v1.5 with SHA-256, made by the token.
    RsaPkcs1 {
        /// Bits of the modulus.
        bits: u32,
    },
    /// PSS with SHA-256, made by the token, and a salt of 32 bytes.
    RsaPss {
        /// Bits of the modulus.
        bits: u32,
    },
}

/// How RSA pads what it encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Padding {
    /// OAEP with this hash.
    Oaep(Hash),
    /// PKCS#1 v1.5, which old formats have.
    Pkcs1,
}

/// Which message authentication code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// AES-CMAC with AES-256.
    Cmac,
    /// HMAC-SHA-256 with a key of 32 bytes.
    HmacSha256,
}

impl Padding {
    pub(super) const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Oaep(hash) => Mechanism::RsaOaep { hash, label: &[] },
            Self::Pkcs1 => Mechanism::RsaPkcs1,
        }
    }
}

impl Code {
    pub(super) const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Cmac => Mechanism::AesCmac,
            Self::HmacSha256 => Mechanism::Hmac(Hash::Sha256),
        }
    }

    const fn key(self) -> SecretKind {
        match self {
            Self::Cmac => SecretKind::Aes { len: 32 },
            Self::HmacSha256 => SecretKind::Generic { len: 32 },
        }
    }
}

impl Signature {
    const fn pair(self) -> PairKind {
        match self {
            Self::Ecdsa(curve) | Self::Eddsa(curve) => PairKind::Curve(curve),
            Self::MlDsa => PairKind::MlDsa(MlDsa::MlDsa65),
            Self::RsaPkcs1 { bits } | Self::RsaPss { bits } => PairKind::Rsa { bits },
        }
    }

    /// The mechanism, which for ECDSA takes a hash and otherwise data.
    pub(super) const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Ecdsa(_) => Mechanism::Ecdsa,
            Self::Eddsa(_) => Mechanism::Eddsa,
            Self::MlDsa => Mechanism::MlDsa { context: &[] },
            Self::RsaPkcs1 { .. } => Mechanism::RsaPkcs1Hash(Hash::Sha256),
            Self::RsaPss { .. } => Mechanism::RsaPss {
                hash: Hash::Sha256,
                salt_len: 32,
                over: Over::Data,
            },
        }
    }
}

impl Task {
    /// The key that it takes, if it takes one.
    pub(super) const fn key(self) -> Option<Wanted> {
        Some(match self {
            Self::Agree(curve) => Wanted::Pair(PairKind::Curve(curve), Purpose::Derive),
            Self::Decapsulate | Self::Encapsulate => {
                Wanted::Pair(PairKind::MlKem { set: 2 }, Purpose::Encapsulate)
            }
            Self::Decrypt(_, bits) | Self::Encrypt(_, bits) => {
                Wanted::Pair(PairKind::Rsa { bits }, Purpose::Encrypt)
            }
            Self::Mac(code) | Self::MacVerify(code) => Wanted::Secret(code.key(), Purpose::Mac),
            Self::Open(len) | Self::Seal(len) => {
                Wanted::Secret(SecretKind::Aes { len }, Purpose::Encrypt)
            }
            Self::Sign(how) | Self::Verify(how) => Wanted::Pair(how.pair(), Purpose::Sign),
            Self::Unwrap | Self::Wrap => Wanted::Secret(SecretKind::Aes { len: 32 }, Purpose::Wrap),
            Self::Find => Wanted::Secret(SecretKind::Aes { len: 32 }, Purpose::Encrypt),
            Self::Hash(_)
            | Self::Login
            | Self::MakePair(_)
            | Self::MakeSecret(_)
            | Self::Null
            | Self::OpenSession
            | Self::Random => return None,
        })
    }

    /// Whether it logs everybody out, so that nothing else can be measured beside it.
    pub(super) const fn is_alone(self) -> bool {
        matches!(self, Self::Login)
    }
}
