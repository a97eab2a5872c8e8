//! The calls of a module: the only unsafe code of this crate.
//!
//! Everything here takes slices and numbers and hands pointers to the module; nothing here decides.
//! What every block relies on is that the module keeps to the standard: it writes only to outputs, no more
//! than the length it was told, and keeps no pointer after the call.
//!
//! The binding is `cryptoki-sys` and not the safe crate above it. That crate names 95 of the 105 return
//! codes and hides the others, copies the table of 104 functions for every call, asks each operation for
//! its length before doing it (two calls where one does), and lacks HMAC and CMAC with a length and KWP.

use cryptoki_sys::{CK_ATTRIBUTE, CK_FUNCTION_LIST_3_2, CK_ULONG, CKR_BUFFER_TOO_SMALL};

use crate::error::Failure;
use crate::template::Template;

/// PKCS#11 counts in C `unsigned long`, and this crate in `u64`: the same on every 64-bit Unix.
const _: () = assert!(size_of::<CK_ULONG>() == size_of::<u64>());

/// One call: its return code with the name of the function, so that neither can be lost.
macro_rules! call {
    ($self:ident, $name:ident($($argument:expr),* $(,)?)) => {
        match $self.list().$name {
            // SAFETY: the pointer comes from the module's own table, which lives as long as `self`. The
            // arguments are numbers, or pointers with the length of the slices they are made of, which
            // outlive the call; outputs are exclusively ours.
            Some(function) => Failure::check(unsafe { function($($argument),*) }, stringify!($name)),
            None => Failure::check(cryptoki_sys::CKR_FUNCTION_NOT_SUPPORTED, stringify!($name)),
        }
    };
}

mod general;
mod keys;
mod library;
mod mechanism;
mod objects;
mod operations;

pub(crate) use library::Functions;
pub use library::LoadFault;
pub(crate) use operations::{Begin, End, Message, Taking, Through};

fn length(bytes: &[u8]) -> CK_ULONG {
    bytes.len() as CK_ULONG
}

/// Inputs are `*mut` in the standard, though a module only reads them.
fn pointer(bytes: &[u8]) -> *mut u8 {
    bytes.as_ptr().cast_mut()
}

/// Appends what `fill` writes to `out`. `fill` gets a place and its length; told that the place is too
/// small it is asked once more with the length that the module wants.
fn append(
    out: &mut Vec<u8>,
    room: usize,
    mut fill: impl FnMut(*mut u8, *mut CK_ULONG) -> Result<(), Failure>,
) -> Result<(), Failure> {
    out.reserve(room);
    for last in [false, true] {
        let spare = out.spare_capacity_mut();
        let most = spare.len();
        let mut written = most as CK_ULONG;
        let filled = fill(spare.as_mut_ptr().cast(), &raw mut written);
        let written = usize::try_from(written).unwrap_or(usize::MAX);
        match filled {
            Ok(()) if written <= most => {
                // SAFETY: the module said that it wrote `written` bytes, and there was room for them.
                unsafe { out.set_len(out.len() + written) };
                return Ok(());
            }
            Err(failure)
                if failure.raw() == CKR_BUFFER_TOO_SMALL
                    && !last
                    && written > most
                    && written < LARGEST_OUTPUT =>
            {
                out.reserve(written);
            }
            Err(failure) => return Err(failure),
            Ok(()) => break,
        }
    }
    Err(Failure::nonsense("output length"))
}

/// No single answer of a token is longer than this. A larger demand is nonsense, not a reason to allocate.
const LARGEST_OUTPUT: usize = 1 << 30;

fn attributes(template: &Template) -> (Vec<CK_ATTRIBUTE>, CK_ULONG) {
    let attributes: Vec<_> = template
        .entries()
        .map(|(kind, value)| CK_ATTRIBUTE {
            type_: kind,
            pValue: pointer(value).cast(),
            ulValueLen: length(value),
        })
        .collect();
    let count = attributes.len() as CK_ULONG;
    (attributes, count)
}

/// What a table of functions that is not there looks like.
fn no_functions() -> CK_FUNCTION_LIST_3_2 {
    CK_FUNCTION_LIST_3_2::default()
}
