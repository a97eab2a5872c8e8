//! Names and numbers as people write them.
//!
//! In the order in which a text is tried: a number alone, a name alone, a message that holds them. In a message a
//! name counts more than a number, and of the numbers one in hexadecimal more than one in decimal, since messages
//! hold lines, times and sizes.

mod message;
mod names;
mod number;

use std::fmt;

use crate::named::Named;
use crate::{
    AttributeType, CertificateType, HardwareFeature, KeyDerivation, KeyType, MaskGeneration,
    MechanismType, ObjectClass, Profile, ReturnCode, SessionState, UserType,
};

use message::Message;
use names::{PROPOSED, by_name};
use number::Number;

pub(crate) use names::nearest;

/// No text longer than this many bytes is read.
pub const LONGEST_TEXT: usize = 16 * 1024;

/// What was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Reading<T> {
    value: T,
    other: Option<T>,
}

impl<T: Copy> Reading<T> {
    const fn sure(value: T) -> Self {
        Self { value, other: None }
    }

    /// What the text says by the rules.
    #[must_use]
    pub fn value(self) -> T {
        self.value
    }

    /// What its writer may have meant instead: bare digits are decimal, and were perhaps meant as hexadecimal; a
    /// message may hold a name and a number that do not belong together.
    #[must_use]
    pub fn other(self) -> Option<T> {
        self.other
    }
}

/// Why a text says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpellingError {
    /// It holds several, and nothing says which is meant.
    #[error("the text holds more than one {kind}: {}", List(found))]
    Ambiguous {
        /// Of what.
        kind: &'static str,
        /// Some of them, by name or in hexadecimal.
        found: Vec<String>,
    },
    /// There is nothing in it.
    #[error("no {kind} is given")]
    Empty {
        /// Of what.
        kind: &'static str,
    },
    /// It does not fit 64 bits.
    #[error("the number does not fit 64 bits")]
    TooLarge,
    /// It is longer than [`LONGEST_TEXT`].
    #[error("the text is longer than {LONGEST_TEXT} bytes")]
    TooLong,
    /// No such name.
    #[error("no {kind} has this name{}", Nearest(nearest))]
    Unknown {
        /// Of what.
        kind: &'static str,
        /// Up to three names that are spelt alike, the nearest first.
        nearest: Vec<&'static str>,
    },
}

struct List<'a>(&'a [String]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

struct Nearest<'a>(&'a [&'static str]);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "; nearest: {}", self.0.join(", "))
    }
}

pub(crate) fn read<T: Named>(text: &str) -> Result<Reading<T>, SpellingError> {
    if text.len() > LONGEST_TEXT {
        return Err(SpellingError::TooLong);
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(SpellingError::Empty { kind: T::KIND });
    }
    if let Some(number) = Number::read(text) {
        return number.reading();
    }
    if let Some(value) = by_name(text) {
        return Ok(Reading::sure(value));
    }
    Message::of(text).reading(text)
}

// === Fuzz body ===

fn check<T: Named>(text: &str) {
    match read::<T>(text) {
        Ok(reading) => {
            // What is shown is read back as the same.
            assert_eq!(
                read::<T>(&reading.value().to_string()),
                Ok(Reading::sure(reading.value()))
            );
            assert_ne!(reading.other(), Some(reading.value()));
        }
        Err(SpellingError::Unknown { nearest, .. }) => assert!(nearest.len() <= PROPOSED),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

pub(crate) fn fuzz(data: &[u8]) {
    const OTHERS: [fn(&str); 11] = [
        check::<MechanismType>,
        check::<AttributeType>,
        check::<ObjectClass>,
        check::<KeyType>,
        check::<CertificateType>,
        check::<HardwareFeature>,
        check::<KeyDerivation>,
        check::<MaskGeneration>,
        check::<Profile>,
        check::<SessionState>,
        check::<UserType>,
    ];
    let text = String::from_utf8_lossy(data);
    check::<ReturnCode>(&text);
    // One more kind for each input: all of them read by the same code.
    if let Some(other) = OTHERS.get(data.len() % OTHERS.len()) {
        other(&text);
    }
}
