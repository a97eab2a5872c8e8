//! Values as text.
//!
//! The functions of fpe-c take an alphabet of single bytes, whatever they are; the `_ex` forms take
//! UTF-8. An alphabet of ASCII symbols, and that is nearly every one, goes the same way in both.
//! Bytes beyond ASCII become the characters with their numbers, and back.
#![expect(unsafe_code, reason = "input and output are foreign memory")]

mod entries;

pub(crate) use entries::{
    decrypt_str, decrypt_str_ex, decrypt_str_oneshot, encrypt_str, encrypt_str_ex,
    encrypt_str_oneshot,
};

use std::ffi::{c_char, c_uint};

use keywright_fpe::{Alphabet, Error, Key};
use zeroize::Zeroizing;

use crate::alphabets::{self, Reading};
use crate::digits::Direction;
use crate::failure::Failure;
use crate::pointers::{self, Extent};

/// One text with its surroundings, as C gives them.
#[derive(Clone, Copy)]
struct Text<'a> {
    alphabet: &'a [u8],
    reading: Reading,
    /// No slice, because the output may be the same memory.
    input: *const u8,
    input_bytes: usize,
    tweak: &'a [u8],
    /// Room for the result and the zero behind it.
    output: *mut u8,
    capacity: usize,
}

impl<'a> Text<'a> {
    /// A text as the functions of fpe-c have it.
    ///
    /// # Safety
    /// `strings` are alphabet and input, each NULL or a string; the tweak is NULL or has its
    /// length; all as `pointers` demands.
    unsafe fn of_strings(
        strings: [*const c_char; 2],
        output: *mut c_char,
        tweak: (*const u8, c_uint),
    ) -> Result<Self, Failure> {
        let [alphabet, input] = strings;
        let tweak_bytes = usize::try_from(tweak.1).map_err(|_| Failure::Size)?;
        // SAFETY: by the duty of the caller.
        unsafe {
            let input = pointers::string("in", input)?;
            Ok(Self {
                alphabet: pointers::string("alphabet", alphabet)?,
                reading: Reading::Bytes,
                input: input.as_ptr(),
                input_bytes: input.len(),
                tweak: pointers::read_or_empty("tweak", tweak.0, tweak_bytes)?,
                output: output.cast(),
                capacity: input.len() + 1,
            })
        }
    }

    /// Runs the text and says how many bytes the result has, without the zero.
    ///
    /// # Safety
    /// The input points at its bytes; the output is NULL or points at `capacity` bytes that nobody
    /// else touches meanwhile.
    unsafe fn run(self, key: &Key, direction: Direction) -> Result<usize, Failure> {
        if self.output.is_null() {
            return Err(Failure::Null("out"));
        }
        let target = Extent::at(self.output, self.capacity)?;
        target.apart_from(Extent::of(self.tweak))?;
        target.apart_from(Extent::of(self.alphabet))?;
        let in_place = self.input == self.output.cast_const();
        if !in_place {
            target.apart_from(Extent::at(self.input, self.input_bytes)?)?;
        }
        alphabets::with(self.alphabet, self.reading, |alphabet| {
            // SAFETY: by the duty of the caller.
            let original = unsafe { pointers::read("in", self.input, self.input_bytes) }?;
            let copy;
            let input = if in_place {
                copy = Copy::of(original);
                copy.bytes()
            } else {
                original
            };
            let part = Part {
                key,
                direction,
                alphabet,
                tweak: self.tweak,
            };
            // SAFETY: by the duty of the caller; tweak and alphabet lie elsewhere, as just checked,
            // and so does the input or its copy.
            let output = unsafe { pointers::write("out", self.output, self.capacity) }?;
            match self.reading {
                Reading::Bytes if !(alphabet.is_ascii() && input.is_ascii()) => {
                    part.wide_bytes(input, output)
                }
                _ => part.utf8(input, output),
            }
        })
    }
}

/// What a text is translated with.
#[derive(Clone, Copy)]
struct Part<'a> {
    key: &'a Key,
    direction: Direction,
    alphabet: &'a Alphabet,
    tweak: &'a [u8],
}

impl Part<'_> {
    fn utf8(self, input: &[u8], output: &mut [u8]) -> Result<usize, Failure> {
        let text = alphabets::utf8(input)?;
        let capacity = output.len();
        // The zero behind the text needs a byte that the engine does not know of.
        let one_more = |error| match error {
            Error::Capacity { needed, .. } => Error::Capacity {
                needed: needed + 1,
                given: capacity,
            },
            other => other,
        };
        let room = capacity.saturating_sub(1);
        let (body, _) = output.split_at_mut(room);
        let written = self.translate(text, body).map_err(one_more)?;
        let Some(end) = output.get_mut(written) else {
            let (needed, given) = (written + 1, capacity);
            return Err(Error::Capacity { needed, given }.into());
        };
        *end = 0;
        Ok(written)
    }

    fn translate(self, text: &str, output: &mut [u8]) -> Result<usize, Error> {
        let (key, tweak, alphabet) = (self.key, self.tweak, self.alphabet);
        match self.direction {
            Direction::Encrypt => key.encrypt_text(tweak, alphabet, text, output),
            Direction::Decrypt => key.decrypt_text(tweak, alphabet, text, output),
        }
    }

    /// Symbols of one byte that are not all ASCII.
    fn wide_bytes(self, input: &[u8], output: &mut [u8]) -> Result<usize, Failure> {
        // Twice the bytes hold every character below 256, so that no growing leaves a copy.
        let mut text = Zeroizing::new(String::with_capacity(2 * input.len()));
        text.extend(input.iter().map(|byte| char::from(*byte)));
        let mut made = Zeroizing::new(vec![0; 2 * input.len()]);
        let written = self.translate(&text, &mut made)?;
        let made = alphabets::utf8(made.get(..written).unwrap_or_default())?;
        // There are as many characters as there were; each is a symbol, and so below 256.
        let bytes = made
            .chars()
            .map(|symbol| u8::try_from(symbol).unwrap_or_default());
        for (to, from) in output.iter_mut().zip(bytes.chain([0])) {
            *to = from;
        }
        Ok(input.len())
    }
}

/// An input that stands where the output will.
struct Copy {
    short: Zeroizing<[u8; Self::SHORT]>,
    long: Zeroizing<Vec<u8>>,
    bytes: usize,
}

impl Copy {
    /// Longer ones take the heap.
    const SHORT: usize = 128;

    fn of(input: &[u8]) -> Self {
        let mut copy = Self {
            short: Zeroizing::new([0; Self::SHORT]),
            long: Zeroizing::new(Vec::new()),
            bytes: input.len(),
        };
        match copy.short.get_mut(..input.len()) {
            Some(short) => short.copy_from_slice(input),
            None => copy.long.extend_from_slice(input),
        }
        copy
    }

    fn bytes(&self) -> &[u8] {
        self.short.get(..self.bytes).unwrap_or(&self.long)
    }
}
