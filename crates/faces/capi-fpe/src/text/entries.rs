//! The functions of `fpe.h` that take text.
#![expect(unsafe_code, reason = "the entries of a C library")]

use std::ffi::{c_char, c_int, c_uint};

use super::Text;
use crate::alphabets::{self, Reading};
use crate::boundary;
use crate::context::{self, Context, Kind, Secret};
use crate::digits::Direction;
use crate::failure::Failure;
use crate::pointers::{self, Extent};
use crate::rules;

/// # Safety
/// As `fpe.h` says.
unsafe fn with_context(
    ctx: *const Context,
    direction: Direction,
    strings: [*const c_char; 2],
    output: *mut c_char,
    tweak: (*const u8, c_uint),
) -> c_int {
    boundary::call_with_secrets::<{ boundary::VALUE }>(|digits| {
        // SAFETY: by the duty of the caller.
        unsafe {
            let key = context::of(ctx)?.key()?;
            let text = Text::of_strings(strings, output, tweak)?;
            digits.set(text.input_bytes);
            text.run(key, direction).map(drop)
        }
    })
}

/// The radix of a call without a context is the size of its alphabet.
///
/// # Safety
/// As `fpe.h` says.
unsafe fn at_once(
    kind: [c_uint; 2],
    secret: (*const u8, c_uint),
    direction: Direction,
    text: impl FnOnce() -> Result<Text<'static>, Failure>,
) -> c_int {
    boundary::call_with_secrets::<{ boundary::KEY }>(|digits| {
        let [mode, algorithm] = kind;
        let text = text()?;
        digits.set(text.input_bytes);
        let radix = alphabets::with(text.alphabet, text.reading, |known| Ok(known.symbols()))?;
        let kind = Kind {
            mode,
            algorithm,
            radix,
        };
        let secret = Secret::of_bits(secret.0, secret.1, kind)?;
        // SAFETY: by the duty of the caller.
        unsafe {
            let key = context::key(kind, secret, rules::of_process(), None)?;
            text.run(&key, direction).map(drop)
        }
    })
}

/// Input and output of an `_ex` form.
#[derive(Clone, Copy)]
struct Buffers {
    input: *const c_char,
    input_bytes: usize,
    output: *mut c_char,
    capacity: usize,
    written: *mut usize,
}

impl Buffers {
    /// # Safety
    /// As `fpe.h` says.
    unsafe fn run(
        self,
        ctx: *const Context,
        direction: Direction,
        alphabet: *const c_char,
        tweak: (*const u8, usize),
    ) -> Result<(), Failure> {
        // SAFETY: by the duty of the caller.
        let text = unsafe {
            Text {
                alphabet: pointers::string("alphabet", alphabet)?,
                reading: Reading::Utf8,
                input: self.input.cast(),
                input_bytes: self.input_bytes,
                tweak: pointers::read_or_empty("tweak", tweak.0, tweak.1)?,
                output: self.output.cast(),
                capacity: self.capacity,
            }
        };
        if !self.written.is_null() {
            Extent::at(self.written, 1)?.apart_from(Extent::at(self.output, self.capacity)?)?;
            if !self.written.is_aligned() {
                return Err(Failure::Alignment);
            }
        }
        // SAFETY: by the duty of the caller.
        let written = unsafe { text.run(context::of(ctx)?.key()?, direction) }?;
        if !self.written.is_null() {
            // SAFETY: not NULL and aligned, as checked; there, by the duty of the caller.
            unsafe { self.written.write(written) };
        }
        Ok(())
    }
}

/// The entries of one direction.
macro_rules! entries {
    ($direction:ident, $plain:literal $with_context:ident, $oneshot:literal $at_once:ident, $ex:literal $with_room:ident) => {
        #[doc = concat!("`", $plain, "`.")]
        ///
        /// # Safety
        /// As `fpe.h` says: strings have an end, lengths are true, `out` has room for `in` and a zero.
        #[unsafe(export_name = $plain)]
        pub(crate) unsafe extern "C" fn $with_context(
            ctx: *const Context,
            alphabet: *const c_char,
            input: *const c_char,
            output: *mut c_char,
            tweak: *const u8,
            tweak_len: c_uint,
        ) -> c_int {
            let (strings, tweak) = ([alphabet, input], (tweak, tweak_len));
            // SAFETY: by the duty of the caller.
            unsafe { with_context(ctx, Direction::$direction, strings, output, tweak) }
        }

        #[doc = concat!("`", $oneshot, "`.")]
        ///
        /// # Safety
        /// As the one above; `key` is NULL or points at `key_bits` / 8 bytes.
        #[unsafe(export_name = $oneshot)]
        pub(crate) unsafe extern "C" fn $at_once(
            mode: c_uint,
            algorithm: c_uint,
            key: *const u8,
            key_bits: c_uint,
            alphabet: *const c_char,
            input: *const c_char,
            output: *mut c_char,
            tweak: *const u8,
            tweak_len: c_uint,
        ) -> c_int {
            let (strings, tweak) = ([alphabet, input], (tweak, tweak_len));
            // SAFETY: by the duty of the caller.
            let text = || unsafe { Text::of_strings(strings, output, tweak) };
            let kind = [mode, algorithm];
            // SAFETY: by the duty of the caller.
            unsafe { at_once(kind, (key, key_bits), Direction::$direction, text) }
        }

        #[doc = concat!("`", $ex, "`.")]
        ///
        /// # Safety
        /// As the first, but for lengths that are given; `out_len` is NULL or a place for one.
        #[unsafe(export_name = $ex)]
        pub(crate) unsafe extern "C" fn $with_room(
            ctx: *const Context,
            alphabet: *const c_char,
            input: *const c_char,
            input_bytes: usize,
            output: *mut c_char,
            capacity: usize,
            written: *mut usize,
            tweak: *const u8,
            tweak_len: usize,
        ) -> c_int {
            let buffers = Buffers {
                input,
                input_bytes,
                output,
                capacity,
                written,
            };
            let tweak = (tweak, tweak_len);
            // SAFETY: by the duty of the caller.
            boundary::call_with_secrets::<{ boundary::VALUE }>(|digits| unsafe {
                digits.set(buffers.input_bytes);
                buffers.run(ctx, Direction::$direction, alphabet, tweak)
            })
        }
    };
}

entries!(
    Encrypt,
    "FPE_encrypt_str" encrypt_str,
    "FPE_encrypt_str_oneshot" encrypt_str_oneshot,
    "FPE_encrypt_str_ex" encrypt_str_ex
);
entries!(
    Decrypt,
    "FPE_decrypt_str" decrypt_str,
    "FPE_decrypt_str_oneshot" decrypt_str_oneshot,
    "FPE_decrypt_str_ex" decrypt_str_ex
);
