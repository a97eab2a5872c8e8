//! `CKO_`: names of [`ObjectClass`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::ObjectClass;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 13] = [
    ("CKO_DATA", 0x0),
    ("CKO_CERTIFICATE", 0x1),
    ("CKO_PUBLIC_KEY", 0x2),
    ("CKO_PRIVATE_KEY", 0x3),
    ("CKO_SECRET_KEY", 0x4),
    ("CKO_HW_FEATURE", 0x5),
    ("CKO_DOMAIN_PARAMETERS", 0x6),
    ("CKO_MECHANISM", 0x7),
    ("CKO_OTP_KEY", 0x8),
    ("CKO_PROFILE", 0x9),
    ("CKO_VALIDATION", 0xa),
    ("CKO_TRUST", 0xb),
    ("CKO_VENDOR_DEFINED", 0x80000000),
];

impl ObjectClass {
    /// `CKO_DATA`.
    pub const DATA: Self = Self::new(0x0);
    /// `CKO_CERTIFICATE`.
    pub const CERTIFICATE: Self = Self::new(0x1);
    /// `CKO_PUBLIC_KEY`.
    pub const PUBLIC_KEY: Self = Self::new(0x2);
    /// `CKO_PRIVATE_KEY`.
    pub const PRIVATE_KEY: Self = Self::new(0x3);
    /// `CKO_SECRET_KEY`.
    pub const SECRET_KEY: Self = Self::new(0x4);
    /// `CKO_HW_FEATURE`.
    pub const HW_FEATURE: Self = Self::new(0x5);
    /// `CKO_DOMAIN_PARAMETERS`.
    pub const DOMAIN_PARAMETERS: Self = Self::new(0x6);
    /// `CKO_MECHANISM`.
    pub const MECHANISM: Self = Self::new(0x7);
    /// `CKO_OTP_KEY`.
    pub const OTP_KEY: Self = Self::new(0x8);
    /// `CKO_PROFILE`.
    pub const PROFILE: Self = Self::new(0x9);
    /// `CKO_VALIDATION`.
    pub const VALIDATION: Self = Self::new(0xa);
    /// `CKO_TRUST`.
    pub const TRUST: Self = Self::new(0xb);
    /// `CKO_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
