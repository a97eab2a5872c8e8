//! What can go wrong, as C sees it: a number that stays the same, a text, and the last error of
//! each thread.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::fmt::{self, Write as _};

use keywright_fpe::{BatchError, Error};

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)+) => {
        /// The numbers of `FPE_ERROR`. One that was given is never given again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($name = $number,)+
        }

        impl Code {
            /// All of them, in the order of the header.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The number.
            pub(crate) const fn number(self) -> i32 {
                self as i32
            }

            /// What it means.
            pub(crate) const fn text(self) -> &'static CStr {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// The code with this number.
            pub(crate) fn of(number: i32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

codes! {
    None = 0, c"no error";
    Null = 1, c"a pointer is NULL that must not be";
    Overlap = 2, c"the output overlaps something that is read, and is not the input itself";
    Alignment = 3, c"a pointer is not aligned for what it points at";
    Size = 4, c"sizes exceed what memory can hold";
    NotInitialised = 5, c"the context has no key: initialise it first";
    Initialised = 6, c"the context has a key: set the policy before it is initialised";
    Mode = 10, c"there is no such mode";
    Algorithm = 11, c"there is no such algorithm";
    PolicyFlags = 12, c"there is no such policy flag";
    Backend = 13, c"the backend is unknown, not for this algorithm, or not on this machine";
    KeySize = 14, c"AES takes keys of 128, 192 or 256 bits, SM4 of 128";
    Radix = 15, c"the radix is not in 2 to 65536";
    Domain = 20, c"there are fewer values of this radix and length than the policy demands";
    Length = 21, c"more digits than the mode takes for this radix";
    TweakEmpty = 22, c"the policy demands a tweak";
    TweakLength = 23, c"the mode does not take a tweak of this length";
    EncryptRefused = 24, c"the policy lets this mode decrypt only";
    Digit = 30, c"a digit is not below the radix";
    Symbol = 31, c"a symbol is not in the alphabet";
    Encoding = 32, c"a text is not UTF-8";
    AlphabetSize = 40, c"an alphabet must have 2 to 65536 symbols";
    AlphabetDuplicate = 41, c"a symbol stands in the alphabet twice";
    AlphabetRadix = 42, c"the alphabet has another number of symbols than the radix";
    AlphabetNotAscii = 43, c"this call takes alphabets of ASCII symbols only";
    Capacity = 50, c"the output is too small";
    Batch = 51, c"the parts of the batch do not fit each other";
    Width = 52, c"digits must have 1, 2 or 4 bytes, and be wide enough for the radix";
    Memory = 60, c"out of memory";
    Internal = 61, c"an internal error: please report it";
    Other = 62, c"refused";
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// Nothing happened yet.
    None,
    /// The argument or field that is NULL.
    Null(&'static str),
    Overlap,
    Alignment,
    Size,
    NotInitialised,
    Initialised,
    Mode(u32),
    Algorithm(u32),
    PolicyFlags(u32),
    BackendUnknown,
    Encoding {
        /// The first byte that is not UTF-8, from 0.
        position: usize,
    },
    /// The field of a batch that has a value without meaning.
    Batch(&'static str),
    Width(u32),
    Memory,
    Internal,
    /// What the engine refused, and the record if one alone is at fault.
    Engine(Error, Option<usize>),
}

impl Failure {
    /// The number for programs.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::None => Code::None,
            Self::Null(_) => Code::Null,
            Self::Overlap => Code::Overlap,
            Self::Alignment => Code::Alignment,
            Self::Size => Code::Size,
            Self::NotInitialised => Code::NotInitialised,
            Self::Initialised => Code::Initialised,
            Self::Mode(_) => Code::Mode,
            Self::Algorithm(_) => Code::Algorithm,
            Self::PolicyFlags(_) => Code::PolicyFlags,
            Self::BackendUnknown => Code::Backend,
            Self::Encoding { .. } => Code::Encoding,
            Self::Batch(_) => Code::Batch,
            Self::Width(_) => Code::Width,
            Self::Memory => Code::Memory,
            Self::Internal => Code::Internal,
            Self::Engine(error, _) => code_of(&error),
        }
    }

    /// The record of a batch that is at fault.
    pub(crate) const fn record(self) -> Option<usize> {
        match self {
            Self::Engine(_, record) => record,
            _ => None,
        }
    }
}

fn code_of(error: &Error) -> Code {
    match error {
        Error::AlphabetDuplicate { .. } => Code::AlphabetDuplicate,
        Error::AlphabetNotAscii => Code::AlphabetNotAscii,
        Error::AlphabetRadix { .. } => Code::AlphabetRadix,
        Error::AlphabetSize { .. } => Code::AlphabetSize,
        Error::BackendUnavailable { .. } => Code::Backend,
        Error::BatchShape { .. } => Code::Batch,
        Error::Capacity { .. } => Code::Capacity,
        Error::Digit { .. } => Code::Digit,
        Error::Domain { .. } => Code::Domain,
        Error::EncryptRefused { .. } => Code::EncryptRefused,
        Error::KeySize { .. } => Code::KeySize,
        Error::Length { .. } => Code::Length,
        Error::NumeralWidth { .. } => Code::Width,
        Error::Radix { .. } => Code::Radix,
        Error::Symbol { .. } => Code::Symbol,
        Error::TweakEmpty => Code::TweakEmpty,
        Error::TweakLength { .. } => Code::TweakLength,
        _ => Code::Other,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Null(name) => write!(f, "{name} is NULL"),
            Self::Mode(number) => write!(f, "there is no mode {number}"),
            Self::Algorithm(number) => write!(f, "there is no algorithm {number}"),
            Self::PolicyFlags(flags) => write!(f, "there are no policy flags {flags:#x}"),
            Self::Encoding { position } => {
                write!(f, "the byte at position {position} is not UTF-8")
            }
            Self::Batch(field) => write!(f, "the batch has no valid {field}"),
            Self::Width(width) => write!(f, "digits of {width} bytes: 1, 2 or 4 is possible"),
            Self::Engine(error, Some(record)) => write!(f, "record {record}: {error}"),
            Self::Engine(error, None) => error.fmt(f),
            other => f.write_str(&other.code().text().to_string_lossy()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error, None)
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        Self::Engine(error.error(), error.record())
    }
}

// === The last error of a thread ===

/// Room for the longest text and its end.
const ROOM: usize = 256;

thread_local! {
    // Neither has a destructor, so that both are there as long as the thread is.
    static LAST: Cell<Failure> = const { Cell::new(Failure::None) };
    static TEXT: Cell<[u8; ROOM]> = const { Cell::new([0; ROOM]) };
}

/// Remembers an error.
#[cold]
pub(crate) fn keep(failure: Failure) {
    LAST.set(failure);
}

/// The last error of this thread.
pub(crate) fn last() -> Failure {
    LAST.get()
}

/// The text of the last error of this thread, in a place that keeps it until the next question.
pub(crate) fn last_text() -> *const c_char {
    let mut line = Line {
        bytes: [0; ROOM],
        used: 0,
    };
    // A line that is full has been cut, which is no error.
    let _ = write!(line, "{}", last());
    TEXT.set(line.bytes);
    TEXT.with(Cell::as_ptr).cast_const().cast()
}

/// A text of limited length that always ends with a zero.
struct Line {
    bytes: [u8; ROOM],
    used: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.used..ROOM - 1).unwrap_or_default();
        for (to, from) in room.iter_mut().zip(text.bytes()) {
            *to = from;
            self.used += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_by_its_number_and_others_are_not() {
        for code in Code::ALL {
            assert_eq!(Code::of(code.number()), Some(*code));
            assert!(!code.text().is_empty());
        }
        for number in [-1, 7, 9, 16, 63, i32::MAX, i32::MIN] {
            assert_eq!(Code::of(number), None);
        }
    }

    #[test]
    fn the_header_lists_the_same_codes_in_the_same_order() {
        let header = include_str!("../include/fpe.h");
        let listed = header.lines().filter_map(|line| {
            let (name, rest) = line.trim().split_once(" = ")?;
            let number = rest.split([',', ' ']).next()?.parse::<i32>().ok()?;
            (name == "FPE_OK" || name.starts_with("FPE_ERR_")).then_some((name, number))
        });
        let expected: Vec<(String, i32)> = Code::ALL
            .iter()
            .map(|code| (c_name(*code), code.number()))
            .collect();
        let listed: Vec<(String, i32)> = listed
            .map(|(name, number)| (name.to_owned(), number))
            .collect();
        assert_eq!(listed, expected);
    }

    fn c_name(code: Code) -> String {
        if code == Code::None {
            return "FPE_OK".to_owned();
        }
        let mut name = "FPE_ERR".to_owned();
        for letter in format!("{code:?}").chars() {
            if letter.is_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
        }
        name
    }

    #[test]
    fn a_text_too_long_is_cut_and_still_ends() {
        let mut line = Line {
            bytes: [0; ROOM],
            used: 0,
        };
        for _ in 0..100 {
            line.write_str("12345678").unwrap();
        }
        let text = CStr::from_bytes_until_nul(&line.bytes).unwrap();
        assert_eq!(text.count_bytes(), ROOM - 1);
    }
}
