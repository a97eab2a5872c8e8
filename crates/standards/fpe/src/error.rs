//! What can be wrong, in types with stable codes.
//!
//! An error names limits, positions and remedies, never a digit, a symbol, a tweak or a key. Whatever the
//! error, no output has been written.

use core::fmt;

use crate::cipher::{Algorithm, Backend};
use crate::policy::Mode;

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A symbol stands in an alphabet twice.
    AlphabetDuplicate {
        /// Its first place, from 0.
        first: usize,
        /// Its second place.
        second: usize,
    },
    /// The call needs an alphabet whose symbols are one byte each.
    AlphabetNotAscii,
    /// The alphabet has another number of symbols than the key's radix.
    AlphabetRadix {
        /// Symbols of the alphabet.
        symbols: u32,
        /// The key's radix.
        radix: u32,
    },
    /// An alphabet has fewer than 2 or more than 65,536 symbols.
    AlphabetSize {
        /// How many it has.
        symbols: usize,
    },
    /// The backend does not serve this algorithm, or this machine does not have it.
    BackendUnavailable {
        /// The backend asked for.
        backend: Backend,
        /// The algorithm asked for.
        algorithm: Algorithm,
    },
    /// A batch is not a whole number of records, its offsets do not rise within it, or the number of tweaks
    /// is not that of the records.
    BatchShape {
        /// Values, bytes or tweaks that were expected, as far as that is known.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// The output has room for fewer values or bytes than the result needs.
    Capacity {
        /// What the result needs.
        needed: usize,
        /// What there is.
        given: usize,
    },
    /// A digit is not below the radix.
    Digit {
        /// The place of the first such digit, from 0.
        position: usize,
        /// The radix.
        radix: u32,
    },
    /// There are fewer values of this shape than the floor demands.
    Domain {
        /// The radix.
        radix: u32,
        /// The number of digits.
        length: usize,
        /// The number of values, radix to the power of length.
        domain: u64,
        /// The least number of values that is accepted.
        floor: u32,
        /// The least length that reaches the floor.
        shortest: u32,
    },
    /// The mode is for reading old data only, unless the policy says otherwise.
    EncryptRefused {
        /// The mode.
        mode: Mode,
    },
    /// The key has a size that the algorithm does not have.
    KeySize {
        /// The algorithm.
        algorithm: Algorithm,
        /// The size given, in bytes.
        bytes: usize,
    },
    /// The value has more digits than the mode takes for this radix, or than this build can hold.
    Length {
        /// The mode.
        mode: Mode,
        /// The radix.
        radix: u32,
        /// The number of digits given.
        length: usize,
        /// The most digits that are taken.
        longest: u32,
    },
    /// Input and output have different lengths, or a value has another length than was prepared for.
    LengthMismatch {
        /// What was expected.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// The integers that hold the digits are too narrow for the radix.
    NumeralWidth {
        /// The radix.
        radix: u32,
        /// The largest radix that they can serve.
        most: u32,
    },
    /// The radix is not in 2..=65,536.
    Radix {
        /// The radix given.
        radix: u32,
    },
    /// A symbol of a text is not in the alphabet.
    Symbol {
        /// Its place, counted in characters from 0.
        position: usize,
    },
    /// FF1 was called without a tweak.
    TweakEmpty,
    /// The tweak has a length that the mode does not take.
    TweakLength {
        /// The mode.
        mode: Mode,
        /// The length given, in bytes.
        bytes: usize,
        /// The shortest tweak taken.
        shortest: u32,
        /// The longest tweak taken.
        longest: u32,
    },
}

impl Error {
    /// A word that stays the same over versions, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AlphabetDuplicate { .. } => "alphabet_duplicate",
            Self::AlphabetNotAscii => "alphabet_not_ascii",
            Self::AlphabetRadix { .. } => "alphabet_radix",
            Self::AlphabetSize { .. } => "alphabet_size",
            Self::BackendUnavailable { .. } => "backend_unavailable",
            Self::BatchShape { .. } => "batch_shape",
            Self::Capacity { .. } => "capacity",
            Self::Digit { .. } => "digit_range",
            Self::Domain { .. } => "domain_floor",
            Self::EncryptRefused { .. } => "encrypt_refused",
            Self::KeySize { .. } => "key_size",
            Self::Length { .. } => "length_limit",
            Self::LengthMismatch { .. } => "length_mismatch",
            Self::NumeralWidth { .. } => "numeral_width",
            Self::Radix { .. } => "radix_range",
            Self::Symbol { .. } => "symbol_unknown",
            Self::TweakEmpty => "tweak_empty",
            Self::TweakLength { .. } => "tweak_length",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AlphabetDuplicate { first, second } => write!(
                f,
                "the symbol at position {second} of the alphabet stands at position {first} already"
            ),
            Self::AlphabetNotAscii => f.write_str(
                "the alphabet has symbols outside ASCII: use numerals, or the calls for one text",
            ),
            Self::AlphabetRadix { symbols, radix } => write!(
                f,
                "an alphabet of {symbols} symbols for a key of radix {radix}: they must be equal"
            ),
            Self::AlphabetSize { symbols } => {
                write!(
                    f,
                    "an alphabet of {symbols} symbols: it must have 2 to 65536"
                )
            }
            Self::BackendUnavailable { backend, algorithm } => write!(
                f,
                "the backend {backend} cannot run {algorithm} on this machine: choose another or let it be detected"
            ),
            Self::BatchShape { expected, given } => write!(
                f,
                "the batch does not divide into its records: {given} given, {expected} expected"
            ),
            Self::Capacity { needed, given } => {
                write!(
                    f,
                    "the output has room for {given}, the result needs {needed}"
                )
            }
            Self::Digit { position, radix } => write!(
                f,
                "the digit at position {position} is not below the radix {radix}"
            ),
            Self::Symbol { position } => {
                write!(
                    f,
                    "the symbol at position {position} is not in the alphabet"
                )
            }
            Self::KeySize { algorithm, bytes } => write!(
                f,
                "a key of {bytes} bytes for {algorithm}: AES takes 16, 24 or 32, SM4 takes 16"
            ),
            _ => self.write_limit(f),
        }
    }
}

impl Error {
    fn write_limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Domain {
                radix,
                length,
                domain,
                floor,
                shortest,
            } if domain >= floor.into() => write!(
                f,
                "radix {radix} with {length} digits: {domain} values reach the floor of {floor}, but there must be {shortest} digits"
            ),
            Self::Domain {
                radix,
                length,
                domain,
                floor,
                shortest,
            } => write!(
                f,
                "radix {radix} with {length} digits has only {domain} values, below the floor of {floor}: use {shortest} digits or more"
            ),
            Self::EncryptRefused { mode } => write!(
                f,
                "{mode} is for reading old data: use FF1 for new data, or open the policy for legacy encryption"
            ),
            Self::Length {
                mode,
                radix,
                length,
                longest,
            } => write!(
                f,
                "{length} digits of radix {radix}: {mode} takes at most {longest} here"
            ),
            Self::LengthMismatch { expected, given } => {
                write!(f, "a length of {given} where {expected} is expected")
            }
            Self::NumeralWidth { radix, most } => write!(
                f,
                "digits of radix {radix} in integers that hold those of radix {most}: use wider ones"
            ),
            Self::Radix { radix } => {
                write!(f, "radix {radix}: it must lie in 2 to 65536")
            }
            Self::TweakEmpty => {
                f.write_str("FF1 without a tweak: give one, or open the policy for empty tweaks")
            }
            Self::TweakLength {
                mode,
                bytes,
                shortest,
                longest,
            } => write!(
                f,
                "a tweak of {bytes} bytes: {mode} takes {shortest} to {longest}"
            ),
            _ => f.write_str(self.code()),
        }
    }
}

impl core::error::Error for Error {}
