//! The bits of `CKF_`.
//!
//! The header uses the same bits for several things. A set of flags therefore says which it is: the flags of a
//! mechanism, of a slot, of a token, of a session, of an initialisation, of an interface, or the bits in the state
//! of a validation.

use std::fmt;

/// Which flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlagSet {
    /// Of `CK_C_INITIALIZE_ARGS`.
    Initialize,
    /// Of `CK_INTERFACE`.
    Interface,
    /// Of `CK_MECHANISM_INFO`.
    Mechanism,
    /// Of `CK_SESSION_INFO` and `C_OpenSession`.
    Session,
    /// Of `CK_SLOT_INFO`.
    Slot,
    /// Of `CK_TOKEN_INFO`.
    Token,
}

/// The bits of one such set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags {
    set: FlagSet,
    bits: u64,
}

impl FlagSet {
    /// Every bit with a name, ascending.
    #[must_use]
    pub const fn names(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Initialize => &INITIALIZE,
            Self::Interface => &INTERFACE,
            Self::Mechanism => &MECHANISM,
            Self::Session => &SESSION,
            Self::Slot => &SLOT,
            Self::Token => &TOKEN,
        }
    }

    /// Every set.
    #[must_use]
    pub const fn all() -> [Self; 6] {
        [
            Self::Initialize,
            Self::Interface,
            Self::Mechanism,
            Self::Session,
            Self::Slot,
            Self::Token,
        ]
    }
}

impl Flags {
    /// These bits of that set.
    #[must_use]
    pub const fn new(set: FlagSet, bits: u64) -> Self {
        Self { set, bits }
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Whether the bit with this name is set. Names of other sets are not.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.names().any(|set| set == name)
    }

    /// The names of the bits that are set and have one, ascending.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let bits = self.bits;
        let names = self.set.names().iter();
        names
            .filter(move |&&(_, bit)| bits & bit != 0)
            .map(|&(name, _)| name)
    }

    /// The bits that are set and have no name.
    #[must_use]
    pub fn unnamed(self) -> u64 {
        let named = self.set.names().iter().fold(0, |all, &(_, bit)| all | bit);
        self.bits & !named
    }
}

/// Names without `CKF_`, in small letters, with commas between; bits without a name in hexadecimal at the end.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |name: &str| {
            name.trim_start_matches("CKF_")
                .to_ascii_lowercase()
                .replace('_', "-")
        };
        let mut parts: Vec<String> = self.names().map(short).collect();
        if self.unnamed() != 0 {
            parts.push(format!("0x{:x}", self.unnamed()));
        }
        f.pad(&parts.join(", "))
    }
}

static INITIALIZE: [(&str, u64); 2] = [
    ("CKF_LIBRARY_CANT_CREATE_OS_THREADS", 0x1),
    ("CKF_OS_LOCKING_OK", 0x2),
];

static INTERFACE: [(&str, u64); 1] = [("CKF_INTERFACE_FORK_SAFE", 0x1)];

static MECHANISM: [(&str, u64); 29] = [
    ("CKF_HW", 0x1),
    ("CKF_MESSAGE_ENCRYPT", 0x2),
    ("CKF_MESSAGE_DECRYPT", 0x4),
    ("CKF_MESSAGE_SIGN", 0x8),
    ("CKF_MESSAGE_VERIFY", 0x10),
    ("CKF_MULTI_MESSAGE", 0x20),
    ("CKF_FIND_OBJECTS", 0x40),
    ("CKF_ENCRYPT", 0x100),
    ("CKF_DECRYPT", 0x200),
    ("CKF_DIGEST", 0x400),
    ("CKF_SIGN", 0x800),
    ("CKF_SIGN_RECOVER", 0x1000),
    ("CKF_VERIFY", 0x2000),
    ("CKF_VERIFY_RECOVER", 0x4000),
    ("CKF_GENERATE", 0x8000),
    ("CKF_GENERATE_KEY_PAIR", 0x1_0000),
    ("CKF_WRAP", 0x2_0000),
    ("CKF_UNWRAP", 0x4_0000),
    ("CKF_DERIVE", 0x8_0000),
    ("CKF_EC_F_P", 0x10_0000),
    ("CKF_EC_F_2M", 0x20_0000),
    ("CKF_EC_ECPARAMETERS", 0x40_0000),
    ("CKF_EC_OID", 0x80_0000),
    ("CKF_EC_UNCOMPRESS", 0x100_0000),
    ("CKF_EC_COMPRESS", 0x200_0000),
    ("CKF_EC_CURVENAME", 0x400_0000),
    ("CKF_ENCAPSULATE", 0x1000_0000),
    ("CKF_DECAPSULATE", 0x2000_0000),
    ("CKF_EXTENSION", 0x8000_0000),
];

static SESSION: [(&str, u64); 3] = [
    ("CKF_RW_SESSION", 0x2),
    ("CKF_SERIAL_SESSION", 0x4),
    ("CKF_ASYNC_SESSION", 0x8),
];

static SLOT: [(&str, u64); 3] = [
    ("CKF_TOKEN_PRESENT", 0x1),
    ("CKF_REMOVABLE_DEVICE", 0x2),
    ("CKF_HW_SLOT", 0x4),
];

static TOKEN: [(&str, u64); 21] = [
    ("CKF_RNG", 0x1),
    ("CKF_WRITE_PROTECTED", 0x2),
    ("CKF_LOGIN_REQUIRED", 0x4),
    ("CKF_USER_PIN_INITIALIZED", 0x8),
    ("CKF_RESTORE_KEY_NOT_NEEDED", 0x20),
    ("CKF_CLOCK_ON_TOKEN", 0x40),
    ("CKF_PROTECTED_AUTHENTICATION_PATH", 0x100),
    ("CKF_DUAL_CRYPTO_OPERATIONS", 0x200),
    ("CKF_TOKEN_INITIALIZED", 0x400),
    ("CKF_SECONDARY_AUTHENTICATION", 0x800),
    ("CKF_USER_PIN_COUNT_LOW", 0x1_0000),
    ("CKF_USER_PIN_FINAL_TRY", 0x2_0000),
    ("CKF_USER_PIN_LOCKED", 0x4_0000),
    ("CKF_USER_PIN_TO_BE_CHANGED", 0x8_0000),
    ("CKF_SO_PIN_COUNT_LOW", 0x10_0000),
    ("CKF_SO_PIN_FINAL_TRY", 0x20_0000),
    ("CKF_SO_PIN_LOCKED", 0x40_0000),
    ("CKF_SO_PIN_TO_BE_CHANGED", 0x80_0000),
    ("CKF_ERROR_STATE", 0x100_0000),
    ("CKF_SEED_RANDOM_REQUIRED", 0x200_0000),
    ("CKF_ASYNC_SESSION_SUPPORTED", 0x400_0000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bit_has_the_name_that_its_set_gives_it() {
        let names = |set| Flags::new(set, 0x2).names().collect::<Vec<_>>();
        assert_eq!(names(FlagSet::Slot), ["CKF_REMOVABLE_DEVICE"]);
        assert_eq!(names(FlagSet::Token), ["CKF_WRITE_PROTECTED"]);
        assert_eq!(names(FlagSet::Session), ["CKF_RW_SESSION"]);
        assert!(Flags::new(FlagSet::Slot, 1).has("CKF_TOKEN_PRESENT"));
        assert!(!Flags::new(FlagSet::Slot, 1).has("CKF_RNG"));
    }

    #[test]
    fn bits_without_a_name_are_kept() {
        let flags = Flags::new(FlagSet::Slot, 0x8000_0001);
        assert_eq!(flags.unnamed(), 0x8000_0000);
        assert_eq!(flags.to_string(), "token-present, 0x80000000");
        assert_eq!(Flags::new(FlagSet::Token, 0).to_string(), "");
    }

    #[test]
    fn the_bits_of_a_set_are_single_distinct_and_ascending() {
        for set in FlagSet::all() {
            assert!(set.names().windows(2).all(|pair| pair[0].1 < pair[1].1));
            assert!(set.names().iter().all(|(_, bit)| bit.is_power_of_two()));
        }
    }
}
