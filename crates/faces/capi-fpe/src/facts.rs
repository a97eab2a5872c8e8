//! What can be asked without a key: limits, rules, errors, version.
#![expect(unsafe_code, reason = "the entries of a C library")]

use std::ffi::{CStr, c_char, c_int, c_uint};

use keywright_fpe::{Mode, Radix};

use crate::boundary;
use crate::context;
use crate::failure::{self, Code};
use crate::pointers;
use crate::rules::{self, Rules};

/// The most digits of the values that fpe-c wrote as FF3-1.
const LONGEST_OF_FPEC: usize = 256;

/// `FPE_LIMITS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    min_len: usize,
    max_len: usize,
    max_encrypt_len: usize,
    min_tweak_len: usize,
    max_tweak_len: usize,
}

impl Limits {
    fn of(mode: Mode, radix: Radix, rules: Rules) -> Self {
        let wide = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let policy = rules.policy();
        let longest = wide(radix.longest(mode));
        let (min_tweak_len, max_tweak_len) = match mode {
            Mode::Ff1 => (
                usize::from(!rules.takes_empty_tweak()),
                wide(rules.longest_tweak()),
            ),
            Mode::FpecFf31 => (0, 8),
            _ if rules.takes_loose_tweaks() => (0, 8),
            Mode::Ff3 => (8, 8),
            _ => (7, 7),
        };
        Self {
            min_len: wide(radix.shortest(policy.floor())),
            max_len: match mode {
                Mode::FpecFf31 => LONGEST_OF_FPEC,
                _ => longest,
            },
            max_encrypt_len: if policy.allows_encrypt(mode) {
                longest
            } else {
                0
            },
            min_tweak_len,
            max_tweak_len,
        }
    }
}

/// `FPE_limits`.
///
/// # Safety
/// `limits` is NULL or points at an `FPE_LIMITS` that nobody else touches meanwhile.
#[unsafe(export_name = "FPE_limits")]
pub(crate) unsafe extern "C" fn limits(
    mode: c_uint,
    radix: c_uint,
    flags: c_uint,
    limits: *mut Limits,
) -> c_int {
    boundary::call(|| {
        let found = Limits::of(context::mode(mode)?, Radix::new(radix)?, Rules::new(flags)?);
        // SAFETY: by the duty of the caller.
        *unsafe { pointers::object_mut("limits", limits) }? = found;
        Ok(())
    })
}

/// `FPE_set_policy`.
#[unsafe(export_name = "FPE_set_policy")]
pub(crate) extern "C" fn set_policy(flags: c_uint) -> c_int {
    boundary::call(|| {
        rules::set_of_process(Rules::new(flags)?);
        Ok(())
    })
}

/// `FPE_get_policy`.
#[unsafe(export_name = "FPE_get_policy")]
pub(crate) extern "C" fn get_policy() -> c_uint {
    rules::of_process().flags()
}

/// `FPE_last_error`.
#[unsafe(export_name = "FPE_last_error")]
pub(crate) extern "C" fn last_error() -> c_int {
    failure::last().code().number()
}

/// `FPE_last_error_text`.
#[unsafe(export_name = "FPE_last_error_text")]
pub(crate) extern "C" fn last_error_text() -> *const c_char {
    failure::last_text()
}

/// `FPE_last_error_record`.
#[unsafe(export_name = "FPE_last_error_record")]
pub(crate) extern "C" fn last_error_record() -> usize {
    failure::last().record().unwrap_or(usize::MAX)
}

/// `FPE_strerror`.
#[unsafe(export_name = "FPE_strerror")]
pub(crate) extern "C" fn strerror(number: c_int) -> *const c_char {
    Code::of(number)
        .map_or(c"there is no such error", Code::text)
        .as_ptr()
}

/// `FPE_version`.
#[unsafe(export_name = "FPE_version")]
pub(crate) extern "C" fn version() -> *const c_char {
    const VERSION: &CStr = {
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        }
    };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_fpe::{Algorithm, Key, Options};

    #[test]
    fn limits_are_those_that_a_key_has() {
        for number in [0, 1, 2, 0x102] {
            let mode = context::mode(number).unwrap();
            for radix in [2, 3, 10, 26, 36, 62, 94, 256, 1_000, 65_536] {
                for flags in [0, 0x07, 0x3F] {
                    let rules = Rules::new(flags).unwrap();
                    let radix = Radix::new(radix).unwrap();
                    let options = Options::new(mode, Algorithm::Aes, radix);
                    let key = Key::new(options.with_policy(rules.policy()), &[0; 16]).unwrap();
                    let limits = Limits::of(mode, radix, rules);
                    let lengths = key.lengths();
                    assert_eq!(limits.min_len, *lengths.start() as usize);
                    assert_eq!(limits.max_len, *lengths.end() as usize);
                    assert_tweaks(&key, limits);
                }
            }
        }
    }

    fn assert_tweaks(key: &Key, limits: Limits) {
        let digits = limits.min_len;
        let takes = |bytes: usize| key.tweaked(digits, &vec![0; bytes]).is_ok();
        assert!(takes(limits.min_tweak_len));
        assert!(limits.min_tweak_len == 0 || !takes(limits.min_tweak_len - 1));
        if limits.max_tweak_len <= 65_535 {
            assert!(takes(limits.max_tweak_len));
            assert!(!takes(limits.max_tweak_len + 1));
        }
    }
}
