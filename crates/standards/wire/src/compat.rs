//! The second version of the first frame of hardlock-snc, by the names it had there. For migration and for
//! comparison; nothing negotiates it.
//!
//! ```text
//! type u8 (1) | suite u8 | length u32, little-endian | encapsulated key | binder 32
//! ```
//!
//! What is wrong with it, and why nothing new is written so: the type is that of the first version too, so
//! a reader has to know which it holds; the length says what the suite says already; the binder is a value
//! that any sender can make, over the suite byte alone, so it authenticates neither sender nor offer. Its
//! own reader took bytes behind the end, which this one refuses.

use keywright_encoding::Reader;

use crate::Error;

/// The type byte of the first and second version.
const TYPE_INIT: u8 = 1;
/// Bytes of the binder.
pub const BINDER_LEN: usize = 32;
/// Bytes of the longest encapsulated key that is read: more than any KEM here makes.
pub const MAX_ENCAPSULATION: usize = 2048;

/// The fields of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the format has these fields for ever"
)]
pub struct InitV2<'a> {
    /// The suite: 1 base, 2 with the sender's key, 17 reserved there for a hybrid. Not judged here.
    pub suite: u8,
    /// The encapsulated key.
    pub encapsulation: &'a [u8],
    /// The binder.
    pub binder: &'a [u8; BINDER_LEN],
}

/// Appends the frame to `out`, which is as it was if this fails.
///
/// # Errors
/// [`Error::EncapsulationLength`] for an encapsulated key beyond [`MAX_ENCAPSULATION`].
pub fn encode_init_v2(frame: &InitV2<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let found = frame.encapsulation.len();
    let length = match u32::try_from(found) {
        Ok(length) if found <= MAX_ENCAPSULATION => length,
        _ => return Err(too_long(found)),
    };
    out.reserve(6 + found + BINDER_LEN);
    out.push(TYPE_INIT);
    out.push(frame.suite);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(frame.encapsulation);
    out.extend_from_slice(frame.binder);
    Ok(())
}

/// Reads the frame.
///
/// # Errors
/// [`Error::Version`] for another type, [`Error::EncapsulationLength`], [`Error::Truncated`],
/// [`Error::Trailing`].
pub fn decode_init_v2(bytes: &[u8]) -> Result<InitV2<'_>, Error> {
    let mut reader = Reader::new(bytes);
    let kind = reader.u8()?;
    if kind != TYPE_INIT {
        return Err(Error::Version(kind));
    }
    let suite = reader.u8()?;
    let length = u32::from_le_bytes(*reader.array()?);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MAX_ENCAPSULATION {
        return Err(too_long(length));
    }
    let encapsulation = reader.take(length)?;
    let binder = reader.array()?;
    match reader.rest().len() {
        0 => Ok(InitV2 {
            suite,
            encapsulation,
            binder,
        }),
        trailing => Err(Error::Trailing(trailing)),
    }
}

fn too_long(found: usize) -> Error {
    Error::EncapsulationLength {
        expected: MAX_ENCAPSULATION,
        found,
    }
}
