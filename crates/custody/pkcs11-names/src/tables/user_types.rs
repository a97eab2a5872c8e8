//! `CKU_`: names of [`UserType`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::UserType;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 3] = [
    ("CKU_SO", 0x0),
    ("CKU_USER", 0x1),
    ("CKU_CONTEXT_SPECIFIC", 0x2),
];

impl UserType {
    /// `CKU_SO`.
    pub const SO: Self = Self::new(0x0);
    /// `CKU_USER`.
    pub const USER: Self = Self::new(0x1);
    /// `CKU_CONTEXT_SPECIFIC`.
    pub const CONTEXT_SPECIFIC: Self = Self::new(0x2);
}
