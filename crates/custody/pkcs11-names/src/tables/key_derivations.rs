//! `CKD_`: names of [`KeyDerivation`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::KeyDerivation;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 26] = [
    ("CKD_NULL", 0x1),
    ("CKD_SHA1_KDF", 0x2),
    ("CKD_SHA1_KDF_ASN1", 0x3),
    ("CKD_SHA1_KDF_CONCATENATE", 0x4),
    ("CKD_SHA224_KDF", 0x5),
    ("CKD_SHA256_KDF", 0x6),
    ("CKD_SHA384_KDF", 0x7),
    ("CKD_SHA512_KDF", 0x8),
    ("CKD_CPDIVERSIFY_KDF", 0x9),
    ("CKD_SHA3_224_KDF", 0xa),
    ("CKD_SHA3_256_KDF", 0xb),
    ("CKD_SHA3_384_KDF", 0xc),
    ("CKD_SHA3_512_KDF", 0xd),
    ("CKD_SHA1_KDF_SP800", 0xe),
    ("CKD_SHA224_KDF_SP800", 0xf),
    ("CKD_SHA256_KDF_SP800", 0x10),
    ("CKD_SHA384_KDF_SP800", 0x11),
    ("CKD_SHA512_KDF_SP800", 0x12),
    ("CKD_SHA3_224_KDF_SP800", 0x13),
    ("CKD_SHA3_256_KDF_SP800", 0x14),
    ("CKD_SHA3_384_KDF_SP800", 0x15),
    ("CKD_SHA3_512_KDF_SP800", 0x16),
    ("CKD_BLAKE2B_160_KDF", 0x17),
    ("CKD_BLAKE2B_256_KDF", 0x18),
    ("CKD_BLAKE2B_384_KDF", 0x19),
    ("CKD_BLAKE2B_512_KDF", 0x1a),
];

impl KeyDerivation {
    /// `CKD_NULL`.
    pub const NULL: Self = Self::new(0x1);
    /// `CKD_SHA1_KDF`.
    pub const SHA1_KDF: Self = Self::new(0x2);
    /// `CKD_SHA1_KDF_ASN1`.
    pub const SHA1_KDF_ASN1: Self = Self::new(0x3);
    /// `CKD_SHA1_KDF_CONCATENATE`.
    pub const SHA1_KDF_CONCATENATE: Self = Self::new(0x4);
    /// `CKD_SHA224_KDF`.
    pub const SHA224_KDF: Self = Self::new(0x5);
    /// `CKD_SHA256_KDF`.
    pub const SHA256_KDF: Self = Self::new(0x6);
    /// `CKD_SHA384_KDF`.
    pub const SHA384_KDF: Self = Self::new(0x7);
    /// `CKD_SHA512_KDF`.
    pub const SHA512_KDF: Self = Self::new(0x8);
    /// `CKD_CPDIVERSIFY_KDF`.
    pub const CPDIVERSIFY_KDF: Self = Self::new(0x9);
    /// `CKD_SHA3_224_KDF`.
    pub const SHA3_224_KDF: Self = Self::new(0xa);
    /// `CKD_SHA3_256_KDF`.
    pub const SHA3_256_KDF: Self = Self::new(0xb);
    /// `CKD_SHA3_384_KDF`.
    pub const SHA3_384_KDF: Self = Self::new(0xc);
    /// `CKD_SHA3_512_KDF`.
    pub const SHA3_512_KDF: Self = Self::new(0xd);
    /// `CKD_SHA1_KDF_SP800`.
    pub const SHA1_KDF_SP800: Self = Self::new(0xe);
    /// `CKD_SHA224_KDF_SP800`.
    pub const SHA224_KDF_SP800: Self = Self::new(0xf);
    /// `CKD_SHA256_KDF_SP800`.
    pub const SHA256_KDF_SP800: Self = Self::new(0x10);
    /// `CKD_SHA384_KDF_SP800`.
    pub const SHA384_KDF_SP800: Self = Self::new(0x11);
    /// `CKD_SHA512_KDF_SP800`.
    pub const SHA512_KDF_SP800: Self = Self::new(0x12);
    /// `CKD_SHA3_224_KDF_SP800`.
    pub const SHA3_224_KDF_SP800: Self = Self::new(0x13);
    /// `CKD_SHA3_256_KDF_SP800`.
    pub const SHA3_256_KDF_SP800: Self = Self::new(0x14);
    /// `CKD_SHA3_384_KDF_SP800`.
    pub const SHA3_384_KDF_SP800: Self = Self::new(0x15);
    /// `CKD_SHA3_512_KDF_SP800`.
    pub const SHA3_512_KDF_SP800: Self = Self::new(0x16);
    /// `CKD_BLAKE2B_160_KDF`.
    pub const BLAKE2B_160_KDF: Self = Self::new(0x17);
    /// `CKD_BLAKE2B_256_KDF`.
    pub const BLAKE2B_256_KDF: Self = Self::new(0x18);
    /// `CKD_BLAKE2B_384_KDF`.
    pub const BLAKE2B_384_KDF: Self = Self::new(0x19);
    /// `CKD_BLAKE2B_512_KDF`.
    pub const BLAKE2B_512_KDF: Self = Self::new(0x1a);
}
