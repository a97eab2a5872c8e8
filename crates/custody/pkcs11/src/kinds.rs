//! Kinds of keys that a token can be asked for, with the parameters that each is made from.

use cryptoki_sys as ck;

use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::names::attribute;
use crate::template::Template;

/// A secret key to be made or brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretKind {
    /// AES with 16, 24 or 32 bytes.
    Aes {
        /// Bytes.
        len: u16,
    },
    /// A generic secret, for HMAC and HKDF.
    Generic {
        /// Bytes.
        len: u16,
    },
}

impl SecretKind {
    pub(crate) const fn key_type(self) -> u64 {
        match self {
            Self::Aes { .. } => ck::CKK_AES,
            Self::Generic { .. } => ck::CKK_GENERIC_SECRET,
        }
    }

    pub(crate) const fn len(self) -> u16 {
        match self {
            Self::Aes { len } | Self::Generic { len } => len,
        }
    }

    /// Not every token refuses an AES key of seven bytes.
    pub(crate) fn check(self) -> Result<(), Error> {
        let size = u64::from(self.len());
        let (min, max) = match self {
            Self::Aes { len: 16 | 24 | 32 } => return Ok(()),
            Self::Aes { .. } => (16, 32),
            Self::Generic { .. } if size > 0 => return Ok(()),
            Self::Generic { .. } => (1, u64::from(u16::MAX)),
        };
        Err(Error::KeySize {
            mechanism: self.mechanism().kind(),
            min,
            max,
            size,
        })
    }

    /// The mechanism that makes one.
    #[must_use]
    pub const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Aes { .. } => Mechanism::AesKeyGen,
            Self::Generic { .. } => Mechanism::GenericSecretKeyGen,
        }
    }
}

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Curve {
    P256,
    P384,
    P521,
    Secp256k1,
    Ed25519,
    Ed448,
    X25519,
    X448,
}

impl Curve {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::P256,
        Self::P384,
        Self::P521,
        Self::Secp256k1,
        Self::Ed25519,
        Self::Ed448,
        Self::X25519,
        Self::X448,
    ];

    /// `CKA_EC_PARAMS`: its object identifier.
    #[must_use]
    pub const fn parameters(self) -> &'static [u8] {
        match self {
            Self::P256 => &[6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
            Self::P384 => &[6, 5, 0x2B, 0x81, 4, 0, 0x22],
            Self::P521 => &[6, 5, 0x2B, 0x81, 4, 0, 0x23],
            Self::Secp256k1 => &[6, 5, 0x2B, 0x81, 4, 0, 0x0A],
            Self::X25519 => &[6, 3, 0x2B, 0x65, 0x6E],
            Self::X448 => &[6, 3, 0x2B, 0x65, 0x6F],
            Self::Ed25519 => &[6, 3, 0x2B, 0x65, 0x70],
            Self::Ed448 => &[6, 3, 0x2B, 0x65, 0x71],
        }
    }

    /// The older spelling of the parameters, a name, which some tokens want.
    pub(crate) const fn name(self) -> Option<&'static [u8]> {
        match self {
            Self::Ed25519 => Some(b"\x13\x0Cedwards25519"),
            Self::Ed448 => Some(b"\x13\x0Aedwards448"),
            Self::X25519 => Some(b"\x13\x0Acurve25519"),
            Self::X448 => Some(b"\x13\x08curve448"),
            _ => None,
        }
    }

    /// The curve with these parameters, in either spelling.
    #[must_use]
    pub fn from_parameters(parameters: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|curve| curve.parameters() == parameters || curve.name() == Some(parameters))
    }

    /// Whether its points have two coordinates.
    #[must_use]
    pub const fn is_weierstrass(self) -> bool {
        matches!(self, Self::P256 | Self::P384 | Self::P521 | Self::Secp256k1)
    }

    /// Bits of its field.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::P256 | Self::Secp256k1 => 256,
            Self::P384 => 384,
            Self::P521 => 521,
            Self::Ed25519 | Self::X25519 => 255,
            Self::Ed448 | Self::X448 => 448,
        }
    }

    /// Bytes of a public key: of a point in uncompressed form, or of the one coordinate.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::P256 | Self::Secp256k1 => 65,
            Self::P384 => 97,
            Self::P521 => 133,
            Self::Ed25519 | Self::X25519 => 32,
            Self::Ed448 => 57,
            Self::X448 => 56,
        }
    }
}

/// A parameter set of ML-DSA (FIPS 204, section 4, table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "the standard has three")]
pub enum MlDsa {
    MlDsa44,
    MlDsa65,
    MlDsa87,
}

impl MlDsa {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// `CKA_PARAMETER_SET`.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::MlDsa44 => ck::CKP_ML_DSA_44,
            Self::MlDsa65 => ck::CKP_ML_DSA_65,
            Self::MlDsa87 => ck::CKP_ML_DSA_87,
        }
    }

    /// The set with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.number() == number)
    }

    /// Its object identifier, 2.16.840.1.101.3.4.3.17 to 19 (RFC 9881, 2).
    #[must_use]
    pub const fn algorithm(self) -> &'static [u8] {
        match self {
            Self::MlDsa44 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17],
            Self::MlDsa65 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 18],
            Self::MlDsa87 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 19],
        }
    }

    /// The algorithm's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
        }
    }

    /// Bytes of a public key (FIPS 204, table 2).
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// Bytes of a signature (FIPS 204, table 2).
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }
}

/// A parameter set of ML-KEM (FIPS 203, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "the standard has three")]
pub enum MlKem {
    MlKem512,
    MlKem768,
    MlKem1024,
}

impl MlKem {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MlKem512, Self::MlKem768, Self::MlKem1024];

    /// `CKA_PARAMETER_SET`.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::MlKem512 => 1,
            Self::MlKem768 => 2,
            Self::MlKem1024 => 3,
        }
    }

    /// The set with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|set| u64::from(set.number()) == number)
    }

    /// Its object identifier, 2.16.840.1.101.3.4.4.1 to 3 (RFC 9935, 3).
    #[must_use]
    pub const fn algorithm(self) -> &'static [u8] {
        match self {
            Self::MlKem512 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 4, 1],
            Self::MlKem768 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 4, 2],
            Self::MlKem1024 => &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 4, 3],
        }
    }

    /// The algorithm's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => "ML-KEM-512",
            Self::MlKem768 => "ML-KEM-768",
            Self::MlKem1024 => "ML-KEM-1024",
        }
    }

    /// Bytes of a public key (FIPS 203, table 3).
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }
}

/// A parameter set of SLH-DSA (FIPS 205, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "the standard has twelve")]
pub enum SlhDsa {
    Sha2_128s,
    Sha2_128f,
    Sha2_192s,
    Sha2_192f,
    Sha2_256s,
    Sha2_256f,
    Shake128s,
    Shake128f,
    Shake192s,
    Shake192f,
    Shake256s,
    Shake256f,
}

/// What is known of a set of SLH-DSA.
struct SlhDsaRow {
    number: u32,
    algorithm: &'static [u8],
    name: &'static str,
    public_len: usize,
    signature_len: usize,
}

impl SlhDsa {
    /// All of them, in the order of their object identifiers.
    pub const ALL: [Self; 12] = [
        Self::Sha2_128s,
        Self::Sha2_128f,
        Self::Sha2_192s,
        Self::Sha2_192f,
        Self::Sha2_256s,
        Self::Sha2_256f,
        Self::Shake128s,
        Self::Shake128f,
        Self::Shake192s,
        Self::Shake192f,
        Self::Shake256s,
        Self::Shake256f,
    ];

    /// The number of the header, the last arc of 2.16.840.1.101.3.4.3 (RFC 9909, 3), the name, and the bytes of keys and
    /// signatures (FIPS 205, table 2).
    #[rustfmt::skip]
    const fn row(self) -> SlhDsaRow {
        macro_rules! row {
            ($number:literal, $arc:literal, $name:literal, $public_len:literal, $signature_len:literal) => {
                SlhDsaRow {
                    number: $number,
                    algorithm: &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, $arc],
                    name: concat!("SLH-DSA-", $name),
                    public_len: $public_len,
                    signature_len: $signature_len,
                }
            };
        }
        match self {
            Self::Sha2_128s => row!(1, 20, "SHA2-128s", 32, 7856),
            Self::Sha2_128f => row!(3, 21, "SHA2-128f", 32, 17_088),
            Self::Sha2_192s => row!(5, 22, "SHA2-192s", 48, 16_224),
            Self::Sha2_192f => row!(7, 23, "SHA2-192f", 48, 35_664),
            Self::Sha2_256s => row!(9, 24, "SHA2-256s", 64, 29_792),
            Self::Sha2_256f => row!(11, 25, "SHA2-256f", 64, 49_856),
            Self::Shake128s => row!(2, 26, "SHAKE-128s", 32, 7856),
            Self::Shake128f => row!(4, 27, "SHAKE-128f", 32, 17_088),
            Self::Shake192s => row!(6, 28, "SHAKE-192s", 48, 16_224),
            Self::Shake192f => row!(8, 29, "SHAKE-192f", 48, 35_664),
            Self::Shake256s => row!(10, 30, "SHAKE-256s", 64, 29_792),
            Self::Shake256f => row!(12, 31, "SHAKE-256f", 64, 49_856),
        }
    }

    /// `CKA_PARAMETER_SET`.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.row().number
    }

    /// The set with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|set| u64::from(set.number()) == number)
    }

    /// Its object identifier, 2.16.840.1.101.3.4.3.20 to 31 (RFC 9909, 3).
    #[must_use]
    pub const fn algorithm(self) -> &'static [u8] {
        self.row().algorithm
    }

    /// The algorithm's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of a public key.
    #[must_use]
    pub const fn public_len(self) -> usize {
        self.row().public_len
    }

    /// Bytes of a signature.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        self.row().signature_len
    }
}

/// A pair to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairKind {
    /// RSA with the exponent 65537.
    Rsa {
        /// Bits of the modulus.
        bits: u32,
    },
    /// On a curve.
    Curve(Curve),
    /// ML-DSA.
    MlDsa(MlDsa),
    /// ML-KEM-512, -768 or -1024: 1, 2 or 3.
    MlKem {
        /// `CKP_ML_KEM_`.
        set: u32,
    },
    /// SLH-DSA: 1 to 12.
    SlhDsa {
        /// `CKP_SLH_DSA_`.
        set: u32,
    },
}

impl PairKind {
    pub(crate) const fn key_type(self) -> u64 {
        match self {
            Self::Rsa { .. } => ck::CKK_RSA,
            Self::Curve(Curve::Ed25519 | Curve::Ed448) => ck::CKK_EC_EDWARDS,
            Self::Curve(Curve::X25519 | Curve::X448) => ck::CKK_EC_MONTGOMERY,
            Self::Curve(_) => ck::CKK_EC,
            Self::MlDsa(_) => ck::CKK_ML_DSA,
            Self::MlKem { .. } => ck::CKK_ML_KEM,
            Self::SlhDsa { .. } => ck::CKK_SLH_DSA,
        }
    }

    /// The mechanism that makes one.
    #[must_use]
    pub const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Rsa { .. } => Mechanism::RsaKeyPairGen,
            Self::Curve(Curve::Ed25519 | Curve::Ed448) => Mechanism::EdwardsKeyPairGen,
            Self::Curve(Curve::X25519 | Curve::X448) => Mechanism::MontgomeryKeyPairGen,
            Self::Curve(_) => Mechanism::EcKeyPairGen,
            Self::MlDsa(_) => Mechanism::MlDsaKeyPairGen,
            Self::MlKem { .. } => Mechanism::MlKemKeyPairGen,
            Self::SlhDsa { .. } => Mechanism::SlhDsaKeyPairGen,
        }
    }

    /// What the public half is made from.
    pub(crate) fn parameters(self) -> Template {
        match self {
            Self::Rsa { bits } => Template::new()
                .number(attribute(ck::CKA_MODULUS_BITS), u64::from(bits))
                .bytes(attribute(ck::CKA_PUBLIC_EXPONENT), &[1, 0, 1]),
            Self::Curve(curve) => {
                Template::new().bytes(attribute(ck::CKA_EC_PARAMS), curve.parameters())
            }
            Self::MlDsa(set) => {
                Template::new().number(attribute(ck::CKA_PARAMETER_SET), set.number())
            }
            Self::MlKem { set } | Self::SlhDsa { set } => {
                Template::new().number(attribute(ck::CKA_PARAMETER_SET), u64::from(set))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_sets_have_the_numbers_of_the_header() {
        let numbers = [
            (SlhDsa::Sha2_128s, ck::CKP_SLH_DSA_SHA2_128S),
            (SlhDsa::Sha2_128f, ck::CKP_SLH_DSA_SHA2_128F),
            (SlhDsa::Sha2_192s, ck::CKP_SLH_DSA_SHA2_192S),
            (SlhDsa::Sha2_192f, ck::CKP_SLH_DSA_SHA2_192F),
            (SlhDsa::Sha2_256s, ck::CKP_SLH_DSA_SHA2_256S),
            (SlhDsa::Sha2_256f, ck::CKP_SLH_DSA_SHA2_256F),
            (SlhDsa::Shake128s, ck::CKP_SLH_DSA_SHAKE_128S),
            (SlhDsa::Shake128f, ck::CKP_SLH_DSA_SHAKE_128F),
            (SlhDsa::Shake192s, ck::CKP_SLH_DSA_SHAKE_192S),
            (SlhDsa::Shake192f, ck::CKP_SLH_DSA_SHAKE_192F),
            (SlhDsa::Shake256s, ck::CKP_SLH_DSA_SHAKE_256S),
            (SlhDsa::Shake256f, ck::CKP_SLH_DSA_SHAKE_256F),
        ];
        for ((set, number), known) in numbers.into_iter().zip(SlhDsa::ALL) {
            assert_eq!((u64::from(set.number()), set), (number, known));
            assert_eq!(SlhDsa::from_number(number), Some(set));
        }
        let numbers = [
            (MlKem::MlKem512, ck::CKP_ML_KEM_512),
            (MlKem::MlKem768, ck::CKP_ML_KEM_768),
            (MlKem::MlKem1024, ck::CKP_ML_KEM_1024),
        ];
        for ((set, number), known) in numbers.into_iter().zip(MlKem::ALL) {
            assert_eq!((u64::from(set.number()), set), (number, known));
            assert_eq!(MlKem::from_number(number), Some(set));
        }
        assert_eq!([0, 13].map(SlhDsa::from_number), [None, None]);
        assert_eq!([0, 4].map(MlKem::from_number), [None, None]);
    }
}
