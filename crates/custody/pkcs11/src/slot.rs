//! What modules, slots and tokens say about themselves.

use std::fmt;

use crate::error::Tries;
use cryptoki_sys as ck;

/// A slot's number. It is no stable name: some modules number anew at each start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(u64);

impl SlotId {
    /// The slot with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "the standard's two numbers")]
pub struct Version {
    /// The first number.
    pub major: u8,
    /// The second number.
    pub minor: u8,
}

impl From<ck::CK_VERSION> for Version {
    fn from(version: ck::CK_VERSION) -> Self {
        let ck::CK_VERSION { major, minor } = version;
        Self { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Who made a module or a slot and what it is, byte by byte without the padding: not each writes UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceNames {
    /// Who made it.
    pub manufacturer: Vec<u8>,
    /// What it is.
    pub description: Vec<u8>,
}

/// The names of a token, byte by byte without the padding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenNames {
    /// Its label.
    pub label: Vec<u8>,
    /// Who made it.
    pub manufacturer: Vec<u8>,
    /// What it is.
    pub model: Vec<u8>,
    /// Its serial number.
    pub serial: Vec<u8>,
}

/// What a module says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// Version of the standard it claims.
    pub cryptoki_version: Version,
    /// Who made it.
    pub manufacturer: String,
    /// What it is.
    pub description: String,
    /// Its own version.
    pub library_version: Version,
    /// Flags; none are defined.
    pub flags: u64,
    /// The texts as bytes.
    pub names: DeviceNames,
}

impl ModuleInfo {
    pub(crate) fn new(info: &ck::CK_INFO) -> Self {
        Self {
            cryptoki_version: info.cryptokiVersion.into(),
            manufacturer: padded(&info.manufacturerID),
            description: padded(&info.libraryDescription),
            library_version: info.libraryVersion.into(),
            flags: info.flags,
            names: DeviceNames {
                manufacturer: unpadded(&info.manufacturerID).to_vec(),
                description: unpadded(&info.libraryDescription).to_vec(),
            },
        }
    }
}

/// What a slot says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotInfo {
    /// What it is.
    pub description: String,
    /// Who made it.
    pub manufacturer: String,
    /// `CKF_` flags; [`SlotInfo::has_token`] and the two after it name them.
    pub flags: u64,
    /// Version of the device.
    pub hardware: Version,
    /// Version of its program.
    pub firmware: Version,
    /// The texts as bytes.
    pub names: DeviceNames,
}

impl SlotInfo {
    pub(crate) fn new(info: &ck::CK_SLOT_INFO) -> Self {
        Self {
            description: padded(&info.slotDescription),
            manufacturer: padded(&info.manufacturerID),
            flags: info.flags,
            hardware: info.hardwareVersion.into(),
            firmware: info.firmwareVersion.into(),
            names: DeviceNames {
                manufacturer: unpadded(&info.manufacturerID).to_vec(),
                description: unpadded(&info.slotDescription).to_vec(),
            },
        }
    }

    /// Whether there is a token in it.
    #[must_use]
    pub const fn has_token(&self) -> bool {
        self.flags & ck::CKF_TOKEN_PRESENT != 0
    }

    /// Whether its token can be taken out.
    #[must_use]
    pub const fn is_removable(&self) -> bool {
        self.flags & ck::CKF_REMOVABLE_DEVICE != 0
    }

    /// Whether it is a device, not a program.
    #[must_use]
    pub const fn is_hardware(&self) -> bool {
        self.flags & ck::CKF_HW_SLOT != 0
    }
}

/// How many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these three")]
pub enum Limit {
    /// The token does not tell.
    Untold,
    /// As many as there is room for.
    None,
    /// At most this many.
    AtMost(u64),
}

impl Limit {
    const fn new(number: u64) -> Self {
        match number {
            ck::CK_UNAVAILABLE_INFORMATION => Self::Untold,
            ck::CK_EFFECTIVELY_INFINITE => Self::None,
            number => Self::AtMost(number),
        }
    }
}

/// What a token says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenInfo {
    /// Where it is.
    pub slot: SlotId,
    /// Its label, without the blanks behind it.
    pub label: String,
    /// Who made it.
    pub manufacturer: String,
    /// What it is.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// `CKF_` flags.
    pub flags: TokenFlags,
    /// How many sessions one program may have.
    pub max_sessions: Limit,
    /// How many of them may write.
    pub max_writing_sessions: Limit,
    /// Sessions that are open; `None` if it does not tell.
    pub sessions: Option<u64>,
    /// Sessions that are open and may write; `None` if it does not tell.
    pub writing_sessions: Option<u64>,
    /// Fewest and most bytes of a PIN.
    pub pin_len: (u64, u64),
    /// Bytes for public objects in all and still free; `None` if it does not tell.
    pub public_memory: (Option<u64>, Option<u64>),
    /// Bytes for private objects in all and still free; `None` if it does not tell.
    pub private_memory: (Option<u64>, Option<u64>),
    /// Version of the device.
    pub hardware: Version,
    /// Version of its program.
    pub firmware: Version,
    /// Its clock, as it writes it; empty without one.
    pub utc_time: String,
    /// Its names as bytes.
    pub names: TokenNames,
}

impl TokenInfo {
    pub(crate) fn new(slot: SlotId, info: &ck::CK_TOKEN_INFO) -> Self {
        let flags = TokenFlags(info.flags);
        Self {
            slot,
            label: padded(&info.label),
            manufacturer: padded(&info.manufacturerID),
            model: padded(&info.model),
            serial: padded(&info.serialNumber),
            flags,
            max_sessions: Limit::new(info.ulMaxSessionCount),
            max_writing_sessions: Limit::new(info.ulMaxRwSessionCount),
            sessions: told(info.ulSessionCount),
            writing_sessions: told(info.ulRwSessionCount),
            pin_len: (info.ulMinPinLen, info.ulMaxPinLen),
            public_memory: (
                told(info.ulTotalPublicMemory),
                told(info.ulFreePublicMemory),
            ),
            private_memory: (
                told(info.ulTotalPrivateMemory),
                told(info.ulFreePrivateMemory),
            ),
            hardware: info.hardwareVersion.into(),
            firmware: info.firmwareVersion.into(),
            utc_time: if flags.has(ck::CKF_CLOCK_ON_TOKEN) {
                padded(&info.utcTime)
            } else {
                String::new()
            },
            names: TokenNames {
                label: unpadded(&info.label).to_vec(),
                manufacturer: unpadded(&info.manufacturerID).to_vec(),
                model: unpadded(&info.model).to_vec(),
                serial: unpadded(&info.serialNumber).to_vec(),
            },
        }
    }

    /// What the flags say about further tries of the user's PIN.
    #[must_use]
    pub const fn user_tries(&self) -> Tries {
        let flags = self.flags;
        if flags.has(ck::CKF_USER_PIN_LOCKED) {
            Tries::None
        } else if flags.has(ck::CKF_USER_PIN_FINAL_TRY) {
            Tries::Last
        } else if flags.has(ck::CKF_USER_PIN_COUNT_LOW) {
            Tries::Fewer
        } else {
            Tries::Untold
        }
    }

    /// What the flags say about further tries of the security officer's PIN.
    #[must_use]
    pub const fn so_tries(&self) -> Tries {
        let flags = self.flags;
        if flags.has(ck::CKF_SO_PIN_LOCKED) {
            Tries::None
        } else if flags.has(ck::CKF_SO_PIN_FINAL_TRY) {
            Tries::Last
        } else if flags.has(ck::CKF_SO_PIN_COUNT_LOW) {
            Tries::Fewer
        } else {
            Tries::Untold
        }
    }
}

/// Flags of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenFlags(u64);

impl TokenFlags {
    /// All flags with their names in the header.
    pub const NAMES: [(u64, &'static str); 20] = [
        (ck::CKF_RNG, "CKF_RNG"),
        (ck::CKF_WRITE_PROTECTED, "CKF_WRITE_PROTECTED"),
        (ck::CKF_LOGIN_REQUIRED, "CKF_LOGIN_REQUIRED"),
        (ck::CKF_USER_PIN_INITIALIZED, "CKF_USER_PIN_INITIALIZED"),
        (ck::CKF_RESTORE_KEY_NOT_NEEDED, "CKF_RESTORE_KEY_NOT_NEEDED"),
        (ck::CKF_CLOCK_ON_TOKEN, "CKF_CLOCK_ON_TOKEN"),
        (
            ck::CKF_PROTECTED_AUTHENTICATION_PATH,
            "CKF_PROTECTED_AUTHENTICATION_PATH",
        ),
        (ck::CKF_DUAL_CRYPTO_OPERATIONS, "CKF_DUAL_CRYPTO_OPERATIONS"),
        (ck::CKF_TOKEN_INITIALIZED, "CKF_TOKEN_INITIALIZED"),
        (
            ck::CKF_SECONDARY_AUTHENTICATION,
            "CKF_SECONDARY_AUTHENTICATION",
        ),
        (ck::CKF_USER_PIN_COUNT_LOW, "CKF_USER_PIN_COUNT_LOW"),
        (ck::CKF_USER_PIN_FINAL_TRY, "CKF_USER_PIN_FINAL_TRY"),
        (ck::CKF_USER_PIN_LOCKED, "CKF_USER_PIN_LOCKED"),
        (ck::CKF_USER_PIN_TO_BE_CHANGED, "CKF_USER_PIN_TO_BE_CHANGED"),
        (ck::CKF_SO_PIN_COUNT_LOW, "CKF_SO_PIN_COUNT_LOW"),
        (ck::CKF_SO_PIN_FINAL_TRY, "CKF_SO_PIN_FINAL_TRY"),
        (ck::CKF_SO_PIN_LOCKED, "CKF_SO_PIN_LOCKED"),
        (ck::CKF_SO_PIN_TO_BE_CHANGED, "CKF_SO_PIN_TO_BE_CHANGED"),
        (ck::CKF_ERROR_STATE, "CKF_ERROR_STATE"),
        (ck::CKF_SEED_RANDOM_REQUIRED, "CKF_SEED_RANDOM_REQUIRED"),
    ];

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all bits of `flag` are set.
    #[must_use]
    pub const fn has(self, flag: u64) -> bool {
        self.0 & flag == flag
    }

    /// Whether it has been initialised.
    #[must_use]
    pub const fn is_initialized(self) -> bool {
        self.has(ck::CKF_TOKEN_INITIALIZED)
    }

    /// Whether the user has a PIN.
    #[must_use]
    pub const fn has_user_pin(self) -> bool {
        self.has(ck::CKF_USER_PIN_INITIALIZED)
    }

    /// Whether private objects need a log-in.
    #[must_use]
    pub const fn needs_login(self) -> bool {
        self.has(ck::CKF_LOGIN_REQUIRED)
    }

    /// Whether the PIN is entered at the token itself.
    #[must_use]
    pub const fn has_own_keypad(self) -> bool {
        self.has(ck::CKF_PROTECTED_AUTHENTICATION_PATH)
    }

    /// The flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let set = Self::NAMES.into_iter();
        set.filter(move |(flag, _)| self.has(*flag))
            .map(|(_, name)| name)
    }
}

/// A field without what it is filled up with: blanks, or zeros as some tokens have it.
#[must_use]
pub fn unpadded(field: &[u8]) -> &[u8] {
    let end = field
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | 0))
        .map_or(0, |last| last + 1);
    field.get(..end).unwrap_or_default()
}

/// The text in a field that is filled up.
fn padded(field: &[u8]) -> String {
    String::from_utf8_lossy(unpadded(field)).into_owned()
}

const fn told(number: u64) -> Option<u64> {
    match number {
        ck::CK_UNAVAILABLE_INFORMATION => None,
        number => Some(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blanks_behind_a_text_are_dropped() {
        assert_eq!(padded(b" my token   "), " my token");
        assert_eq!(padded(b"abc\0\0"), "abc");
        assert_eq!(padded(b"     "), "");
        assert_eq!(padded(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn what_is_not_told_is_not_a_number() {
        assert_eq!(told(u64::MAX), None);
        assert_eq!(Limit::new(u64::MAX), Limit::Untold);
        assert_eq!(Limit::new(0), Limit::None);
        assert_eq!(Limit::new(7), Limit::AtMost(7));
    }
}
