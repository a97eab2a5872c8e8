//! The modes, and what is refused unless somebody asks for it by name.
//!
//! The defaults answer the published attacks: a small domain can be searched or its messages recovered,
//! FF3 is broken outright, FF3-1 falls to linear cryptanalysis, and one fixed tweak for everything gives
//! equal tokens to equal values everywhere.

use core::fmt;

/// Which algorithm runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// FF1: ten rounds, any tweak. The mode for new data.
    Ff1,
    /// FF3 of 2016: eight rounds, a tweak of 64 bits. Broken; here to read old data.
    Ff3,
    /// FF3-1: eight rounds, a tweak of 56 bits. Withdrawn; here to read old data.
    Ff31,
    /// What the library fpe-c writes as FF3-1: the last four bytes of the tweak stand in another order than
    /// the standard's. Here to read such data; also in lengths beyond the longest of the mode, which that
    /// library accepted and left partly in clear ([`crate::Key::is_partly_in_clear`]).
    FpecFf31,
}

impl Mode {
    /// Whether the mode belongs to the FF3 family.
    #[must_use]
    pub const fn is_legacy(self) -> bool {
        !matches!(self, Self::Ff1)
    }

    /// The mode's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ff1 => "ff1",
            Self::Ff3 => "ff3",
            Self::Ff31 => "ff3-1",
            Self::FpecFf31 => "fpec-ff3-1",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many values a shape must have at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DomainFloor {
    /// 1,000,000, a requirement of the draft of 2025.
    #[default]
    Million,
    /// 100, the bound of 2016. Values of such a shape can be recovered by who sees enough of them.
    Hundred,
}

impl DomainFloor {
    /// The number itself.
    #[must_use]
    pub const fn value(self) -> u32 {
        match self {
            Self::Million => 1_000_000,
            Self::Hundred => 100,
        }
    }
}

/// What a key refuses. Strict by default; each method opens one door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    floor: DomainFloor,
    empty_tweak: Door,
    legacy_encrypt: Door,
    loose_tweaks: Door,
    wrong_encrypt: Door,
    longest_tweak: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    Shut,
}

impl Policy {
    /// Everything shut: a million values at least, a tweak for FF1, no encryption with the FF3 family,
    /// tweaks of the standard's lengths, at most 65,535 bytes of tweak.
    pub const STRICT: Self = Self {
        floor: DomainFloor::Million,
        empty_tweak: Door::Shut,
        legacy_encrypt: Door::Shut,
        loose_tweaks: Door::Shut,
        wrong_encrypt: Door::Shut,
        longest_tweak: 65_535,
    };

    /// Everything that the standard of 2016 allows: 100 values, empty tweaks, encryption with FF3 and
    /// FF3-1.
    pub const STANDARD_2016: Self = Self::STRICT
        .accept_small_domain()
        .allow_empty_tweak()
        .allow_legacy_encrypt();

    /// Accepts shapes of 100 values and more. Nothing accepts fewer.
    #[must_use]
    pub const fn accept_small_domain(mut self) -> Self {
        self.floor = DomainFloor::Hundred;
        self
    }

    /// Lets FF1 run without a tweak.
    #[must_use]
    pub const fn allow_empty_tweak(mut self) -> Self {
        self.empty_tweak = Door::Open;
        self
    }

    /// Lets FF3 and FF3-1 encrypt. They always decrypt.
    #[must_use]
    pub const fn allow_legacy_encrypt(mut self) -> Self {
        self.legacy_encrypt = Door::Open;
        self
    }

    /// Takes the tweaks that fpe-c takes: for FF3 seven bytes as if a zero byte followed, for FF3-1 eight
    /// bytes as if the last were absent, for both no bytes as if all were zero.
    #[must_use]
    pub const fn accept_loose_tweaks(mut self) -> Self {
        self.loose_tweaks = Door::Open;
        self
    }

    /// Lets [`Mode::FpecFf31`] write what nobody but fpe-c can read. For tests of a migration only; values
    /// beyond the longest length are not written even so.
    #[must_use]
    pub const fn danger_reproduce_fpec(mut self) -> Self {
        self.wrong_encrypt = Door::Open;
        self
    }

    /// Takes FF1 tweaks of up to `bytes` bytes instead of 65,535.
    #[must_use]
    pub const fn with_longest_tweak(mut self, bytes: u32) -> Self {
        self.longest_tweak = bytes;
        self
    }

    /// The least number of values of a shape.
    #[must_use]
    pub const fn floor(self) -> DomainFloor {
        self.floor
    }

    /// Whether this mode may encrypt.
    #[must_use]
    pub const fn allows_encrypt(self, mode: Mode) -> bool {
        let door = match mode {
            Mode::Ff1 => return true,
            Mode::Ff3 | Mode::Ff31 => self.legacy_encrypt,
            Mode::FpecFf31 => self.wrong_encrypt,
        };
        matches!(door, Door::Open)
    }

    pub(crate) const fn takes_empty_tweak(self) -> bool {
        matches!(self.empty_tweak, Door::Open)
    }

    pub(crate) const fn takes_loose_tweaks(self) -> bool {
        matches!(self.loose_tweaks, Door::Open)
    }

    pub(crate) const fn longest_tweak(self) -> u32 {
        self.longest_tweak
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::STRICT
    }
}
