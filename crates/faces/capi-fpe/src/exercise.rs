//! The functions of `fpe.h` as arbitrary bytes call them, for a fuzzer and for a plain test.
//!
//! Numbers, lengths, texts and flags may be anything. Pointers are good for their lengths or NULL: that much
//! `fpe.h` demands of its callers. What must hold then is that a call returns 0 or -1, that -1 leaves a reason
//! behind and the output as it was, and that what was encrypted comes back.
#![expect(unsafe_code, reason = "calls of the entries of a C library")]

mod batches;
mod texts;

use std::ffi::{c_int, c_uint};
use std::ptr;

use crate::boundary::{FAILED, OK};
use crate::context::{self, Context};
use crate::digits;
use crate::facts::last_error;

/// What an output has before a call.
const UNTOUCHED: u8 = 0xA5;
/// The longest value.
const LONGEST: usize = 300;

/// Takes numbers off the front; what is missing is zero.
struct Source<'d>(&'d [u8]);

impl<'d> Source<'d> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, count: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// One of these mostly, anything sometimes.
    fn among(&mut self, usual: &[u32]) -> u32 {
        let chosen = usize::from(self.byte());
        usual
            .get(chosen % (usual.len() + 1))
            .copied()
            .unwrap_or_else(|| self.word())
    }
}

/// What all calls of an input share.
struct Scene {
    ctx: *mut Context,
    key: [u8; 64],
    kind: [c_uint; 2],
    bits: c_uint,
    radix: c_uint,
    tweak: Vec<u8>,
    /// Which pointers are NULL, by bits.
    nulls: u8,
}

impl Scene {
    fn new(source: &mut Source<'_>) -> Self {
        let mut key = [0; 64];
        let given = source.bytes(16);
        key[..given.len()].copy_from_slice(given);
        let kind = [source.among(&[0, 1, 2, 0x102]), source.among(&[0, 0, 1])];
        let bits = source.among(&[128, 192, 256]);
        let radix = source.among(&[10, 2, 26, 36, 62, 256, 65_536]);
        let tweak_bytes = usize::from(source.byte()) % 40;
        let tweak_bytes = [7, 8, 0, tweak_bytes][tweak_bytes % 4];
        let mut tweak = source.bytes(tweak_bytes).to_vec();
        tweak.resize(tweak_bytes, 0);
        let nulls = if source.byte() < 32 { source.byte() } else { 0 };
        let ctx = context::new();
        // SAFETY: a fresh context, used by nobody else.
        let _may_fail = unsafe { context::set_policy(ctx, source.among(&[0x07, 0x3F, 0x00])) };
        // SAFETY: as above; no more than the 64 bytes of the key are read, as longer ones are refused.
        let _may_fail = unsafe { context::init(ctx, kind[0], kind[1], key.as_ptr(), bits, radix) };
        Self {
            ctx,
            key,
            kind,
            bits,
            radix,
            tweak,
            nulls,
        }
    }

    fn or_null<T>(&self, bit: u8, pointer: *const T) -> *const T {
        if self.nulls >> bit & 1 == 1 {
            ptr::null()
        } else {
            pointer
        }
    }

    fn ctx(&self) -> *const Context {
        self.or_null(0, self.ctx.cast_const())
    }

    fn tweak(&self) -> (*const u8, c_uint) {
        let bytes = c_uint::try_from(self.tweak.len()).unwrap_or_default();
        (self.or_null(1, self.tweak.as_ptr()), bytes)
    }

    fn key(&self) -> *const u8 {
        self.or_null(2, self.key.as_ptr())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed here alone.
        unsafe { context::free(self.ctx) };
    }
}

/// Whether the call succeeded. If not, there is a reason, and the output is what it was.
fn judged<T: PartialEq>(returned: c_int, output: &[T], before: &[T]) -> bool {
    assert!(returned == OK || returned == FAILED, "returned {returned}");
    if returned == FAILED {
        assert!(last_error() != 0, "a failure without a reason");
        assert!(output == before, "a failure has written something");
    }
    returned == OK
}

/// Runs what the bytes say.
///
/// # Panics
/// If one of the promises above is broken.
#[doc(hidden)]
pub fn exercise(data: &[u8]) {
    let mut source = Source(data);
    let which = source.byte();
    let scene = Scene::new(&mut source);
    match which % 5 {
        0 => of_digits(&scene, &mut source),
        1 => of_digits_at_once(&scene, &mut source),
        2 => texts::of_strings(&scene, &mut source),
        3 => batches::of_batch(&scene, &mut source),
        _ => texts::of_strings_with_room(&scene, &mut source),
    }
}

fn value(scene: &Scene, source: &mut Source<'_>) -> Vec<u32> {
    let count = usize::from(source.byte()) + usize::from(source.byte() % 64);
    let wild = source.byte() == 0;
    let digit = |_| {
        if wild {
            source.word()
        } else {
            u32::from(source.byte()) % scene.radix.max(1)
        }
    };
    (0..count.min(LONGEST)).map(digit).collect()
}

fn of_digits(scene: &Scene, source: &mut Source<'_>) {
    let input = value(scene, source);
    let length = c_uint::try_from(input.len()).unwrap_or_default();
    let capacity = input.len() - input.len().min(usize::from(source.byte() == 0));
    let (tweak, bytes) = scene.tweak();
    let mut output = vec![u32::from(UNTOUCHED); input.len()];
    let before = output.clone();
    let start = scene
        .or_null(3, output.as_mut_ptr().cast_const())
        .cast_mut();
    let (from, tweak_len) = (scene.or_null(4, input.as_ptr()), scene.tweak.len());
    let made = if capacity == input.len() {
        // SAFETY: pointers are NULL or have their lengths, and lie apart.
        unsafe { digits::encrypt(scene.ctx(), from, start, length, tweak, bytes) }
    } else {
        // SAFETY: as above.
        unsafe {
            digits::encrypt_ex(
                scene.ctx(),
                from,
                input.len(),
                start,
                capacity,
                tweak,
                tweak_len,
            )
        }
    };
    if judged(made, &output, &before) {
        assert!(
            output.iter().all(|digit| *digit < scene.radix),
            "a digit outside of the radix"
        );
        // SAFETY: as above, in place.
        let back = unsafe { digits::decrypt(scene.ctx(), start, start, length, tweak, bytes) };
        assert!(back == OK && output == input, "a value does not come back");
    }
}

fn of_digits_at_once(scene: &Scene, source: &mut Source<'_>) {
    let input = value(scene, source);
    let length = c_uint::try_from(input.len()).unwrap_or_default();
    let (tweak, bytes) = scene.tweak();
    let mut output = vec![u32::from(UNTOUCHED); input.len()];
    let before = output.clone();
    let start = scene
        .or_null(3, output.as_mut_ptr().cast_const())
        .cast_mut();
    let from = scene.or_null(4, input.as_ptr());
    let ([mode, algorithm], key, bits) = (scene.kind, scene.key(), scene.bits);
    // SAFETY: pointers are NULL or have their lengths, and lie apart; longer keys than there are bytes are
    // refused before they are read.
    let made = unsafe {
        digits::encrypt_oneshot(
            mode,
            algorithm,
            key,
            bits,
            scene.radix,
            from,
            start,
            length,
            tweak,
            bytes,
        )
    };
    if judged(made, &output, &before) {
        // SAFETY: as above, in place.
        let back = unsafe {
            digits::decrypt_oneshot(
                mode,
                algorithm,
                key,
                bits,
                scene.radix,
                start,
                start,
                length,
                tweak,
                bytes,
            )
        };
        assert!(back == OK && output == input, "a value does not come back");
    }
}
