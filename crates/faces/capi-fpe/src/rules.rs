//! Policy flags: what is accepted beyond the strict rules.

use std::ffi::c_uint;
use std::sync::atomic::{AtomicU32, Ordering};

use keywright_fpe::Policy;

use crate::failure::Failure;

/// `FPE_POLICY_*`, known ones only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules(u32);

impl Rules {
    const SMALL_DOMAIN: u32 = 0x01;
    const EMPTY_TWEAK: u32 = 0x02;
    const LEGACY_ENCRYPT: u32 = 0x04;
    const LOOSE_TWEAKS: u32 = 0x08;
    const WRITE_FPEC: u32 = 0x10;
    const LONG_TWEAKS: u32 = 0x20;
    const KNOWN: u32 = 0x3F;

    /// What a program starts with: all that the standard of 2016 allows.
    const STANDARD_2016: u32 = Self::SMALL_DOMAIN | Self::EMPTY_TWEAK | Self::LEGACY_ENCRYPT;

    /// # Errors
    /// [`Failure::PolicyFlags`] with those that do not exist.
    pub(crate) const fn new(flags: c_uint) -> Result<Self, Failure> {
        match flags & !Self::KNOWN {
            0 => Ok(Self(flags)),
            unknown => Err(Failure::PolicyFlags(unknown)),
        }
    }

    /// The flags.
    pub(crate) const fn flags(self) -> c_uint {
        self.0
    }

    /// The same for the engine.
    pub(crate) const fn policy(self) -> Policy {
        let mut policy = Policy::STRICT;
        if self.has(Self::SMALL_DOMAIN) {
            policy = policy.accept_small_domain();
        }
        if self.has(Self::EMPTY_TWEAK) {
            policy = policy.allow_empty_tweak();
        }
        if self.has(Self::LEGACY_ENCRYPT) {
            policy = policy.allow_legacy_encrypt();
        }
        if self.has(Self::LOOSE_TWEAKS) {
            policy = policy.accept_loose_tweaks();
        }
        if self.has(Self::WRITE_FPEC) {
            policy = policy.danger_reproduce_fpec();
        }
        if self.has(Self::LONG_TWEAKS) {
            policy = policy.with_longest_tweak(u32::MAX);
        }
        policy
    }

    /// Whether FF1 may have no tweak.
    pub(crate) const fn takes_empty_tweak(self) -> bool {
        self.has(Self::EMPTY_TWEAK)
    }

    /// Whether the FF3 family takes the tweaks that fpe-c takes.
    pub(crate) const fn takes_loose_tweaks(self) -> bool {
        self.has(Self::LOOSE_TWEAKS)
    }

    /// The longest tweak of FF1, in bytes.
    pub(crate) const fn longest_tweak(self) -> u32 {
        if self.has(Self::LONG_TWEAKS) {
            return u32::MAX;
        }
        65_535
    }

    const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// What contexts have that were given nothing else, and calls without a context.
static OF_PROCESS: AtomicU32 = AtomicU32::new(Rules::STANDARD_2016);

/// The rules of the process.
pub(crate) fn of_process() -> Rules {
    // The flags are one number that leads to nothing else in memory.
    Rules(OF_PROCESS.load(Ordering::Relaxed))
}

/// Sets the rules of the process.
pub(crate) fn set_of_process(rules: Rules) {
    OF_PROCESS.store(rules.0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_open_what_they_name_and_nothing_else() {
        let policy = |flags| Rules::new(flags).unwrap().policy();
        assert_eq!(policy(0), Policy::STRICT);
        assert_eq!(policy(0x07), Policy::STANDARD_2016);
        assert_eq!(policy(0x01), Policy::STRICT.accept_small_domain());
        assert_eq!(policy(0x02), Policy::STRICT.allow_empty_tweak());
        assert_eq!(policy(0x04), Policy::STRICT.allow_legacy_encrypt());
        assert_eq!(policy(0x08), Policy::STRICT.accept_loose_tweaks());
        assert_eq!(policy(0x10), Policy::STRICT.danger_reproduce_fpec());
        assert_eq!(policy(0x20), Policy::STRICT.with_longest_tweak(u32::MAX));
    }

    #[test]
    fn unknown_flags_are_refused_by_their_number() {
        for (flags, unknown) in [(0x40, 0x40), (0x47, 0x40), (u32::MAX, !0x3F)] {
            let refused = Rules::new(flags);
            assert!(matches!(refused, Err(Failure::PolicyFlags(found)) if found == unknown));
        }
    }
}
