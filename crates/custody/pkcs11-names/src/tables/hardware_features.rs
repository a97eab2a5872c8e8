//! `CKH_`: names of [`HardwareFeature`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::HardwareFeature;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 4] = [
    ("CKH_MONOTONIC_COUNTER", 0x1),
    ("CKH_CLOCK", 0x2),
    ("CKH_USER_INTERFACE", 0x3),
    ("CKH_VENDOR_DEFINED", 0x80000000),
];

impl HardwareFeature {
    /// `CKH_MONOTONIC_COUNTER`.
    pub const MONOTONIC_COUNTER: Self = Self::new(0x1);
    /// `CKH_CLOCK`.
    pub const CLOCK: Self = Self::new(0x2);
    /// `CKH_USER_INTERFACE`.
    pub const USER_INTERFACE: Self = Self::new(0x3);
    /// `CKH_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
