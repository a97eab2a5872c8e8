//! `CKG_`: names of [`MaskGeneration`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::MaskGeneration;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 9] = [
    ("CKG_MGF1_SHA1", 0x1),
    ("CKG_MGF1_SHA256", 0x2),
    ("CKG_MGF1_SHA384", 0x3),
    ("CKG_MGF1_SHA512", 0x4),
    ("CKG_MGF1_SHA224", 0x5),
    ("CKG_MGF1_SHA3_224", 0x6),
    ("CKG_MGF1_SHA3_256", 0x7),
    ("CKG_MGF1_SHA3_384", 0x8),
    ("CKG_MGF1_SHA3_512", 0x9),
];

impl MaskGeneration {
    /// `CKG_MGF1_SHA1`.
    pub const MGF1_SHA1: Self = Self::new(0x1);
    /// `CKG_MGF1_SHA256`.
    pub const MGF1_SHA256: Self = Self::new(0x2);
    /// `CKG_MGF1_SHA384`.
    pub const MGF1_SHA384: Self = Self::new(0x3);
    /// `CKG_MGF1_SHA512`.
    pub const MGF1_SHA512: Self = Self::new(0x4);
    /// `CKG_MGF1_SHA224`.
    pub const MGF1_SHA224: Self = Self::new(0x5);
    /// `CKG_MGF1_SHA3_224`.
    pub const MGF1_SHA3_224: Self = Self::new(0x6);
    /// `CKG_MGF1_SHA3_256`.
    pub const MGF1_SHA3_256: Self = Self::new(0x7);
    /// `CKG_MGF1_SHA3_384`.
    pub const MGF1_SHA3_384: Self = Self::new(0x8);
    /// `CKG_MGF1_SHA3_512`.
    pub const MGF1_SHA3_512: Self = Self::new(0x9);
}
