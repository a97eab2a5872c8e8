//! Many values in one call.
#![expect(unsafe_code, reason = "the entries of a C library")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use keywright_fpe::{Alphabet, Batch, BatchError, Layout, Numeral, Tweaks};

use crate::alphabets::{self, Reading};
use crate::boundary;
use crate::context::{self, Context};
use crate::digits::Direction;
use crate::failure::Failure;
use crate::pointers::{self, Extent};

/// `FPE_BATCH`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) size: usize,
    pub(crate) records: usize,
    pub(crate) len: usize,
    pub(crate) offsets: *const usize,
    pub(crate) alphabet: *const c_char,
    pub(crate) tweak: *const u8,
    pub(crate) tweak_len: usize,
    pub(crate) tweak_offsets: *const usize,
    pub(crate) tweak_each: c_uint,
    pub(crate) width: c_uint,
    pub(crate) threads: c_uint,
}

/// A batch whose pointers have become slices.
struct Job<'a> {
    direction: Direction,
    layout: Layout<'a>,
    tweaks: Tweaks<'a>,
    values: usize,
    /// What must not lie under the output, values aside.
    read: [Extent; 4],
    threads: usize,
}

impl Described {
    /// # Safety
    /// The pointers are NULL or point at as much as `fpe.h` says.
    unsafe fn job(&self, direction: Direction) -> Result<Job<'_>, Failure> {
        let ends = self.records.checked_add(1).ok_or(Failure::Size)?;
        let (layout, values, offsets) = if self.offsets.is_null() {
            let values = self.records.checked_mul(self.len).ok_or(Failure::Size)?;
            (Layout::Fixed(self.len), values, Extent::of::<u8>(&[]))
        } else {
            // SAFETY: by the duty of the caller.
            let offsets = unsafe { pointers::read("offsets", self.offsets, ends) }?;
            let values = offsets.last().copied().unwrap_or_default();
            (Layout::Offsets(offsets), values, Extent::of(offsets))
        };
        // SAFETY: by the duty of the caller.
        let (tweaks, [bytes, tweak_offsets]) = unsafe { self.tweaks(ends) }?;
        Ok(Job {
            direction,
            layout,
            tweaks,
            values,
            read: [
                offsets,
                bytes,
                tweak_offsets,
                Extent::of(std::slice::from_ref(self)),
            ],
            threads: usize::try_from(self.threads.max(1)).unwrap_or(1),
        })
    }

    /// # Safety
    /// As [`Described::job`].
    unsafe fn tweaks(&self, ends: usize) -> Result<(Tweaks<'_>, [Extent; 2]), Failure> {
        let nothing = Extent::of::<u8>(&[]);
        if !self.tweak_offsets.is_null() {
            // SAFETY: by the duty of the caller.
            let offsets = unsafe { pointers::read("tweak_offsets", self.tweak_offsets, ends) }?;
            let count = offsets.last().copied().unwrap_or_default();
            // SAFETY: by the duty of the caller.
            let bytes = unsafe { pointers::read_or_empty("tweak", self.tweak, count) }?;
            let read = [Extent::of(bytes), Extent::of(offsets)];
            return Ok((Tweaks::Offsets { bytes, offsets }, read));
        }
        let each = match self.tweak_each {
            0 => false,
            1 => true,
            _ => return Err(Failure::Batch("tweak_each")),
        };
        if !each || self.tweak_len == 0 {
            // Empty tweaks are the same for all, and so is nothing.
            // SAFETY: by the duty of the caller.
            let bytes = unsafe { pointers::read_or_empty("tweak", self.tweak, self.tweak_len) }?;
            return Ok((Tweaks::Same(bytes), [Extent::of(bytes), nothing]));
        }
        let width = self.tweak_len;
        let count = self.records.checked_mul(width).ok_or(Failure::Size)?;
        // SAFETY: by the duty of the caller.
        let bytes = unsafe { pointers::read_or_empty("tweak", self.tweak, count) }?;
        Ok((Tweaks::Each { bytes, width }, [Extent::of(bytes), nothing]))
    }
}

impl Job<'_> {
    /// # Safety
    /// Input and output are NULL or point at the values of the batch, and nobody else touches them
    /// meanwhile.
    unsafe fn run<T: Numeral>(
        &self,
        batch: Batch<'_>,
        input: *const T,
        output: *mut T,
    ) -> Result<(), Failure> {
        let target = Extent::at(output, self.values)?;
        for read in self.read {
            target.apart_from(read)?;
        }
        if input == output.cast_const() {
            // SAFETY: by the duty of the caller; what is read lies elsewhere, as just checked, and
            // no slice of the input is made.
            let values = unsafe { pointers::write("out", output, self.values) }?;
            return Ok(self.in_place(batch, values)?);
        }
        // SAFETY: by the duty of the caller.
        let input = unsafe { pointers::read("in", input, self.values) }?;
        target.apart_from(Extent::of(input))?;
        // SAFETY: by the duty of the caller; what is read lies elsewhere, as just checked.
        let output = unsafe { pointers::write("out", output, self.values) }?;
        Ok(self.apart(batch, input, output)?)
    }

    fn in_place<T: Numeral>(&self, batch: Batch<'_>, values: &mut [T]) -> Result<(), BatchError> {
        match self.direction {
            Direction::Encrypt => batch.encrypt(self.tweaks, self.layout, values),
            Direction::Decrypt => batch.decrypt(self.tweaks, self.layout, values),
        }
    }

    fn apart<T: Numeral>(
        &self,
        batch: Batch<'_>,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), BatchError> {
        match self.direction {
            Direction::Encrypt => batch.encrypt_into(self.tweaks, self.layout, input, output),
            Direction::Decrypt => batch.decrypt_into(self.tweaks, self.layout, input, output),
        }
    }
}

/// # Safety
/// As `fpe.h` says.
unsafe fn run(
    ctx: *const Context,
    described: *const Described,
    direction: Direction,
    input: *const c_void,
    output: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: by the duty of the caller.
    let key = unsafe { context::of(ctx) }?.key()?;
    // SAFETY: by the duty of the caller.
    let described = unsafe { pointers::object("batch", described) }?;
    if described.size != size_of::<Described>() {
        return Err(Failure::Batch("size"));
    }
    // SAFETY: by the duty of the caller.
    let job = unsafe { described.job(direction) }?;
    let batch = Batch::new(key).with_threads(job.threads);
    if !described.alphabet.is_null() {
        if described.width > 1 {
            return Err(Failure::Batch("width: text has 1 byte a symbol, so no"));
        }
        // SAFETY: by the duty of the caller.
        let written = unsafe { pointers::string("alphabet", described.alphabet) }?;
        Extent::at(output.cast::<u8>(), job.values)?.apart_from(Extent::of(written))?;
        return alphabets::with(written, Reading::Utf8, |alphabet: &Alphabet| {
            // SAFETY: by the duty of the caller.
            unsafe { job.run::<u8>(batch.over(alphabet), input.cast(), output.cast()) }
        });
    }
    // SAFETY: by the duty of the caller, who says how wide the digits are.
    unsafe {
        match described.width {
            0 | 1 => job.run::<u8>(batch, input.cast(), output.cast()),
            2 => job.run::<u16>(batch, input.cast(), output.cast()),
            4 => job.run::<u32>(batch, input.cast(), output.cast()),
            other => Err(Failure::Width(other)),
        }
    }
}

/// The entry of one direction.
macro_rules! entry {
    ($direction:ident, $export:literal $name:ident) => {
        #[doc = concat!("`", $export, "`.")]
        ///
        /// # Safety
        /// As `fpe.h` says: pointers are NULL or point at as much as the batch says.
        #[unsafe(export_name = $export)]
        pub(crate) unsafe extern "C" fn $name(
            ctx: *const Context,
            batch: *const Described,
            input: *const c_void,
            output: *mut c_void,
        ) -> c_int {
            // SAFETY: by the duty of the caller.
            boundary::call_with_secrets::<{ boundary::MANY }>(|_| unsafe {
                run(ctx, batch, Direction::$direction, input, output)
            })
        }
    };
}

entry!(Encrypt, "FPE_encrypt_batch" encrypt_batch);
entry!(Decrypt, "FPE_decrypt_batch" decrypt_batch);
