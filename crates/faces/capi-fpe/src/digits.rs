//! Values as arrays of digits.
#![expect(unsafe_code, reason = "the entries of a C library")]

use std::ffi::{c_int, c_uint};

use keywright_fpe::{Error, Key};

use crate::boundary;
use crate::context::{self, Context, Kind, Secret};
use crate::failure::Failure;
use crate::pointers::{self, Extent};
use crate::rules;

/// Which way.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// Input, output and tweak of one value, as C gives them.
#[derive(Clone, Copy)]
struct Value {
    input: *const u32,
    output: *mut u32,
    digits: usize,
    tweak: *const u8,
    tweak_bytes: usize,
}

impl Value {
    fn new(
        input: *const u32,
        output: *mut u32,
        digits: c_uint,
        tweak: (*const u8, c_uint),
    ) -> Self {
        // No machine with this library has addresses of fewer than 32 bits.
        let widen = |count| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            input,
            output,
            digits: widen(digits),
            tweak: tweak.0,
            tweak_bytes: widen(tweak.1),
        }
    }

    /// The length is judged before any digit is read, the whole before any is written.
    ///
    /// # Safety
    /// Each pointer is NULL or points at as many elements as its length says; nobody else touches
    /// the output or writes the others meanwhile.
    unsafe fn run(self, key: &Key, direction: Direction) -> Result<(), Failure> {
        if self.input.is_null() {
            return Err(Failure::Null("in"));
        }
        if self.output.is_null() {
            return Err(Failure::Null("out"));
        }
        // SAFETY: by the duty of the caller.
        let tweak = unsafe { pointers::read_or_empty("tweak", self.tweak, self.tweak_bytes) }?;
        let tweaked = key.tweaked(self.digits, tweak)?;
        let target = Extent::at(self.output, self.digits)?;
        target.apart_from(Extent::of(tweak))?;
        if self.input == self.output.cast_const() {
            // SAFETY: by the duty of the caller; the tweak lies elsewhere, as just checked, and no
            // slice of the input is made.
            let value = unsafe { pointers::write("out", self.output, self.digits) }?;
            return Ok(match direction {
                Direction::Encrypt => tweaked.encrypt_in_place(value),
                Direction::Decrypt => tweaked.decrypt_in_place(value),
            }?);
        }
        // SAFETY: by the duty of the caller.
        let input = unsafe { pointers::read("in", self.input, self.digits) }?;
        target.apart_from(Extent::of(input))?;
        // SAFETY: by the duty of the caller; tweak and input lie elsewhere, as just checked.
        let output = unsafe { pointers::write("out", self.output, self.digits) }?;
        Ok(match direction {
            Direction::Encrypt => tweaked.encrypt(input, output),
            Direction::Decrypt => tweaked.decrypt(input, output),
        }?)
    }
}

/// # Safety
/// The context as for [`context::of`], the value as for [`Value::run`].
unsafe fn with_context(ctx: *const Context, direction: Direction, value: Value) -> c_int {
    // SAFETY: by the duty of the caller.
    boundary::call_with_secrets::<{ boundary::VALUE }>(|digits| unsafe {
        digits.set(value.digits);
        value.run(context::of(ctx)?.key()?, direction)
    })
}

/// # Safety
/// The secret as for [`context::key`], the value as for [`Value::run`].
unsafe fn at_once(
    kind: Kind,
    secret: (*const u8, c_uint),
    direction: Direction,
    value: Value,
) -> c_int {
    boundary::call_with_secrets::<{ boundary::KEY }>(|digits| {
        digits.set(value.digits);
        let secret = Secret::of_bits(secret.0, secret.1, kind)?;
        // SAFETY: by the duty of the caller.
        let key = unsafe { context::key(kind, secret, rules::of_process(), None) }?;
        // SAFETY: by the duty of the caller.
        unsafe { value.run(&key, direction) }
    })
}

/// # Safety
/// As [`with_context`].
unsafe fn with_room(
    ctx: *const Context,
    direction: Direction,
    value: Value,
    capacity: usize,
) -> c_int {
    boundary::call_with_secrets::<{ boundary::VALUE }>(|digits| {
        digits.set(value.digits);
        // SAFETY: by the duty of the caller.
        let key = unsafe { context::of(ctx) }?.key()?;
        if capacity < value.digits {
            let (needed, given) = (value.digits, capacity);
            return Err(Error::Capacity { needed, given }.into());
        }
        // SAFETY: by the duty of the caller.
        unsafe { value.run(key, direction) }
    })
}

/// The entries of one direction.
macro_rules! entries {
    ($direction:ident, $plain:literal $with_context:ident, $oneshot:literal $at_once:ident, $ex:literal $with_room:ident) => {
        #[doc = concat!("`", $plain, "`.")]
        ///
        /// # Safety
        /// As `fpe.h` says: pointers are NULL or point at as much as their lengths say.
        #[unsafe(export_name = $plain)]
        pub(crate) unsafe extern "C" fn $with_context(
            ctx: *const Context,
            input: *const c_uint,
            output: *mut c_uint,
            len: c_uint,
            tweak: *const u8,
            tweak_len: c_uint,
        ) -> c_int {
            let value = Value::new(input, output, len, (tweak, tweak_len));
            // SAFETY: by the duty of the caller.
            unsafe { with_context(ctx, Direction::$direction, value) }
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
            radix: c_uint,
            input: *const c_uint,
            output: *mut c_uint,
            len: c_uint,
            tweak: *const u8,
            tweak_len: c_uint,
        ) -> c_int {
            let value = Value::new(input, output, len, (tweak, tweak_len));
            let kind = Kind {
                mode,
                algorithm,
                radix,
            };
            // SAFETY: by the duty of the caller.
            unsafe { at_once(kind, (key, key_bits), Direction::$direction, value) }
        }

        #[doc = concat!("`", $ex, "`.")]
        ///
        /// # Safety
        /// As the first; the output has room for `capacity` digits.
        #[unsafe(export_name = $ex)]
        pub(crate) unsafe extern "C" fn $with_room(
            ctx: *const Context,
            input: *const c_uint,
            len: usize,
            output: *mut c_uint,
            capacity: usize,
            tweak: *const u8,
            tweak_len: usize,
        ) -> c_int {
            let value = Value {
                input,
                output,
                digits: len,
                tweak,
                tweak_bytes: tweak_len,
            };
            // SAFETY: by the duty of the caller.
            unsafe { with_room(ctx, Direction::$direction, value, capacity) }
        }
    };
}

entries!(
    Encrypt,
    "FPE_encrypt" encrypt,
    "FPE_encrypt_oneshot" encrypt_oneshot,
    "FPE_encrypt_ex" encrypt_ex
);
entries!(
    Decrypt,
    "FPE_decrypt" decrypt,
    "FPE_decrypt_oneshot" decrypt_oneshot,
    "FPE_decrypt_ex" decrypt_ex
);
