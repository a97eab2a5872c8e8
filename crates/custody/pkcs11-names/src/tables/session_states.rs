//! `CKS_`: names of [`SessionState`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::SessionState;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 5] = [
    ("CKS_RO_PUBLIC_SESSION", 0x0),
    ("CKS_RO_USER_FUNCTIONS", 0x1),
    ("CKS_RW_PUBLIC_SESSION", 0x2),
    ("CKS_RW_USER_FUNCTIONS", 0x3),
    ("CKS_RW_SO_FUNCTIONS", 0x4),
];

impl SessionState {
    /// `CKS_RO_PUBLIC_SESSION`.
    pub const RO_PUBLIC_SESSION: Self = Self::new(0x0);
    /// `CKS_RO_USER_FUNCTIONS`.
    pub const RO_USER_FUNCTIONS: Self = Self::new(0x1);
    /// `CKS_RW_PUBLIC_SESSION`.
    pub const RW_PUBLIC_SESSION: Self = Self::new(0x2);
    /// `CKS_RW_USER_FUNCTIONS`.
    pub const RW_USER_FUNCTIONS: Self = Self::new(0x3);
    /// `CKS_RW_SO_FUNCTIONS`.
    pub const RW_SO_FUNCTIONS: Self = Self::new(0x4);
}
