//! CBOR (RFC 8949), as much of it as bodies need.
//!
//! Whole numbers of no sign, byte strings, texts, arrays, maps whose names are texts, `true`, `false` and `null`; each
//! with the shortest head and a definite length (sections 4.1 and 4.2.1, without their order of names). A second
//! spelling of anything is refused: indefinite lengths, longer heads, tags, floating-point numbers.
//!
//! Strings are borrowed from the body, so that the bytes of an item are copied once, to where they are worked on. Own
//! code, because the crates for it either copy first, accept every other spelling, or come under a licence that
//! `deny.toml` does not allow; an independent one is the judge in the tests of the whole program.

mod read;
mod write;

use std::cell::Cell;

use keywright_types::Code;
use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::error::Refusal;
use crate::request::{Form, Item, Sink};

use read::Reader;
pub(crate) use write::Buffer;

/// The upper three bits of an item's first byte: what it is (RFC 8949, section 3.1).
#[derive(Clone, Copy)]
#[repr(u8)]
enum Major {
    Number = 0 << 5,
    Bytes = 2 << 5,
    Text = 3 << 5,
    Array = 4 << 5,
    Map = 5 << 5,
}

const FALSE: u8 = 0xF4;
const TRUE: u8 = 0xF5;
const NULL: u8 = 0xF6;

/// The two words that answers have for whether something is so.
#[derive(Clone, Copy)]
pub(crate) enum Truth {
    False,
    True,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        match value {
            true => Self::True,
            false => Self::False,
        }
    }
}

/// The bytes are not the CBOR that was expected, or cannot be written as such.
#[derive(Debug, thiserror::Error)]
#[error("not the CBOR that was expected")]
pub(crate) struct Malformed;

impl serde::de::Error for Malformed {
    /// What serde has to say may quote the body.
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

impl serde::ser::Error for Malformed {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

impl From<keywright_encoding::Truncated> for Malformed {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self
    }
}

/// Reads the body of a request.
pub(crate) fn parse_into<'a, T: Item<'a>>(
    body: &'a [u8],
    limits: &Limits,
    sink: &mut impl Sink<T>,
) -> Result<(), Refusal> {
    if body.len() > limits.body_bytes {
        return Err(Refusal::new(Code::BodyTooLarge));
    }
    let too_many = Cell::new(false);
    let mut reader = Reader::new(body);
    let read = reader.whole(Form::new(limits.items, &too_many, sink));
    read.map_err(|Malformed| match too_many.get() {
        true => Refusal::new(Code::TooManyItems),
        false => Refusal::malformed_cbor(T::EXPECTS, reader.offset()),
    })
}

/// Reads anything else.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    Reader::new(bytes).whole(std::marker::PhantomData)
}

/// Writes what serde can describe.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Malformed> {
    let mut out = Buffer::with_capacity(USUAL);
    value.serialize(&mut out)?;
    Ok(out.finish())
}

/// Room for a request of one item.
const USUAL: usize = 256;
