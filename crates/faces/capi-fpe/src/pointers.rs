//! Foreign pointers: checked as far as a pointer can be, then slices.
//!
//! C may pass NULL, lengths that no object has, pointers that are not aligned, and an output that
//! lies over an input. All of that is an error here. What cannot be seen is whether the memory is
//! there and how long a C string is; for that `fpe.h` obliges the caller.
//!
//! Outputs may hold no values yet as far as C is concerned. For Rust they are memory of a foreign
//! allocation, which holds some bytes; any bytes are valid integers.
#![expect(unsafe_code, reason = "this is where foreign memory comes in")]

use std::ffi::{CStr, c_char};
use std::slice;

use crate::failure::Failure;

/// Where an object lies.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    start: usize,
    bytes: usize,
}

impl Extent {
    /// Of a slice.
    pub(crate) fn of<T>(slice: &[T]) -> Self {
        Self {
            start: slice.as_ptr().addr(),
            bytes: size_of_val(slice),
        }
    }

    /// Of an output that is no slice yet.
    ///
    /// # Errors
    /// [`Failure::Size`] if no object can be so large.
    pub(crate) fn at<T>(start: *const T, count: usize) -> Result<Self, Failure> {
        Ok(Self {
            start: start.addr(),
            bytes: bytes_of::<T>(start, count)?,
        })
    }

    /// Whether the two share a byte.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.bytes > 0
            && other.bytes > 0
            && self.start < other.start + other.bytes
            && other.start < self.start + self.bytes
    }

    /// # Errors
    /// [`Failure::Overlap`] if the two share a byte.
    pub(crate) const fn apart_from(self, other: Self) -> Result<(), Failure> {
        if self.meets(other) {
            return Err(Failure::Overlap);
        }
        Ok(())
    }
}

/// The bytes of an object, if there can be one.
fn bytes_of<T>(start: *const T, count: usize) -> Result<usize, Failure> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(Failure::Size)?;
    let end = start.addr().checked_add(bytes).ok_or(Failure::Size)?;
    match isize::try_from(bytes) {
        Ok(_) if end <= usize::MAX - size_of::<T>() => Ok(bytes),
        _ => Err(Failure::Size),
    }
}

fn check<T>(name: &'static str, start: *const T, count: usize) -> Result<(), Failure> {
    if start.is_null() {
        return Err(Failure::Null(name));
    }
    if !start.is_aligned() {
        return Err(Failure::Alignment);
    }
    bytes_of(start, count).map(drop)
}

/// An array to read. NULL is refused, of whatever length.
///
/// # Safety
/// `start` is NULL or points at `count` elements that nobody writes while `'a` lasts.
///
/// # Errors
/// [`Failure::Null`], [`Failure::Alignment`], [`Failure::Size`].
pub(crate) unsafe fn read<'a, T>(
    name: &'static str,
    start: *const T,
    count: usize,
) -> Result<&'a [T], Failure> {
    check(name, start, count)?;
    // SAFETY: not NULL, aligned and of possible size as just checked; there and unwritten by the
    // duty of the caller.
    Ok(unsafe { slice::from_raw_parts(start, count) })
}

/// An array to read that may be NULL if it is empty.
///
/// # Safety
/// As [`read`].
///
/// # Errors
/// As [`read`], but for NULL with a length of 0.
pub(crate) unsafe fn read_or_empty<'a, T>(
    name: &'static str,
    start: *const T,
    count: usize,
) -> Result<&'a [T], Failure> {
    if start.is_null() && count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the duty of this function is that of `read`.
    unsafe { read(name, start, count) }
}

/// An array to write. NULL is refused, of whatever length.
///
/// # Safety
/// `start` is NULL or points at `count` elements that nobody else touches while `'a` lasts, this
/// program's slices included.
///
/// # Errors
/// As [`read`].
pub(crate) unsafe fn write<'a, T>(
    name: &'static str,
    start: *mut T,
    count: usize,
) -> Result<&'a mut [T], Failure> {
    check(name, start, count)?;
    // SAFETY: not NULL, aligned and of possible size as just checked; there and untouched by the
    // duty of the caller; initialised as the head of this file says.
    Ok(unsafe { slice::from_raw_parts_mut(start, count) })
}

/// The bytes of a C string, without its end.
///
/// # Safety
/// `start` is NULL or points at a string with an end, which nobody writes while `'a` lasts.
///
/// # Errors
/// [`Failure::Null`].
pub(crate) unsafe fn string<'a>(
    name: &'static str,
    start: *const c_char,
) -> Result<&'a [u8], Failure> {
    if start.is_null() {
        return Err(Failure::Null(name));
    }
    // SAFETY: not NULL as just checked; ended and unwritten by the duty of the caller.
    Ok(unsafe { CStr::from_ptr(start) }.to_bytes())
}

/// One object to read.
///
/// # Safety
/// `at` is NULL or points at a `T` that nobody writes while `'a` lasts.
///
/// # Errors
/// [`Failure::Null`], [`Failure::Alignment`].
pub(crate) unsafe fn object<'a, T>(name: &'static str, at: *const T) -> Result<&'a T, Failure> {
    check(name, at, 1)?;
    // SAFETY: not NULL and aligned as just checked; there and unwritten by the duty of the caller.
    Ok(unsafe { &*at })
}

/// One object to change.
///
/// # Safety
/// `at` is NULL or points at a `T` that nobody else touches while `'a` lasts.
///
/// # Errors
/// [`Failure::Null`], [`Failure::Alignment`].
pub(crate) unsafe fn object_mut<'a, T>(
    name: &'static str,
    at: *mut T,
) -> Result<&'a mut T, Failure> {
    check(name, at, 1)?;
    // SAFETY: not NULL and aligned as just checked; there and untouched by the duty of the caller.
    Ok(unsafe { &mut *at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_meet_exactly_if_they_share_a_byte() {
        let at = |start, bytes| Extent { start, bytes };
        assert!(at(10, 4).meets(at(13, 4)));
        assert!(at(13, 4).meets(at(10, 4)));
        assert!(at(10, 4).meets(at(11, 1)));
        assert!(!at(10, 4).meets(at(14, 4)));
        assert!(!at(14, 4).meets(at(10, 4)));
        assert!(!at(10, 4).meets(at(12, 0)));
        assert!(!at(12, 0).meets(at(12, 0)));
    }

    #[test]
    fn sizes_that_no_object_has_are_refused() {
        let value = 7_u32;
        for count in [
            usize::MAX,
            usize::MAX / 2,
            usize::MAX / 4,
            usize::MAX / 8 + 1,
        ] {
            // SAFETY: refused before anything is read.
            let refused = unsafe { read("in", &raw const value, count) };
            assert!(matches!(refused, Err(Failure::Size)), "{count}");
            assert!(Extent::at(&raw const value, count).is_err(), "{count}");
        }
    }

    #[test]
    fn a_pointer_that_is_not_aligned_is_refused() {
        let bytes = [0_u32; 4];
        let odd = bytes.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
        // SAFETY: refused before anything is read.
        let refused = unsafe { read("in", odd, 1) };
        assert!(matches!(refused, Err(Failure::Alignment)));
    }

    #[test]
    fn null_is_refused_and_an_empty_array_may_be_null() {
        let nothing = std::ptr::null::<u8>();
        // SAFETY: NULL is allowed by the duties.
        let (with, without, or) = unsafe {
            (
                read("a", nothing, 3),
                read("b", nothing, 0),
                read_or_empty("c", nothing, 0),
            )
        };
        assert!(matches!(with, Err(Failure::Null("a"))));
        assert!(matches!(without, Err(Failure::Null("b"))));
        assert!(matches!(or, Ok(&[])));
    }
}
