//! `CKC_`: names of [`CertificateType`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::CertificateType;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 4] = [
    ("CKC_X_509", 0x0),
    ("CKC_X_509_ATTR_CERT", 0x1),
    ("CKC_WTLS", 0x2),
    ("CKC_VENDOR_DEFINED", 0x80000000),
];

impl CertificateType {
    /// `CKC_X_509`.
    pub const X_509: Self = Self::new(0x0);
    /// `CKC_X_509_ATTR_CERT`.
    pub const X_509_ATTR_CERT: Self = Self::new(0x1);
    /// `CKC_WTLS`.
    pub const WTLS: Self = Self::new(0x2);
    /// `CKC_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
