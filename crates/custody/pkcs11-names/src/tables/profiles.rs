//! `CKP_`: names of [`Profile`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::Profile;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 8] = [
    ("CKP_INVALID_ID", 0x0),
    ("CKP_BASELINE_PROVIDER", 0x1),
    ("CKP_EXTENDED_PROVIDER", 0x2),
    ("CKP_AUTHENTICATION_TOKEN", 0x3),
    ("CKP_PUBLIC_CERTIFICATES_TOKEN", 0x4),
    ("CKP_COMPLETE_PROVIDER", 0x5),
    ("CKP_HKDF_TLS_TOKEN", 0x6),
    ("CKP_VENDOR_DEFINED", 0x80000000),
];

impl Profile {
    /// `CKP_INVALID_ID`.
    pub const INVALID_ID: Self = Self::new(0x0);
    /// `CKP_BASELINE_PROVIDER`.
    pub const BASELINE_PROVIDER: Self = Self::new(0x1);
    /// `CKP_EXTENDED_PROVIDER`.
    pub const EXTENDED_PROVIDER: Self = Self::new(0x2);
    /// `CKP_AUTHENTICATION_TOKEN`.
    pub const AUTHENTICATION_TOKEN: Self = Self::new(0x3);
    /// `CKP_PUBLIC_CERTIFICATES_TOKEN`.
    pub const PUBLIC_CERTIFICATES_TOKEN: Self = Self::new(0x4);
    /// `CKP_COMPLETE_PROVIDER`.
    pub const COMPLETE_PROVIDER: Self = Self::new(0x5);
    /// `CKP_HKDF_TLS_TOKEN`.
    pub const HKDF_TLS_TOKEN: Self = Self::new(0x6);
    /// `CKP_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
