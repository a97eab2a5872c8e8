//! What can be wrong: with a format or a rules file, with settings, and with a value.
//!
//! None of them holds a value or a part of one. Positions are what tells the reader where to look.

use std::fmt;

use crate::format::{FLOOR, HARD_FLOOR};

/// Where in a text: both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a line and a column")]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a format, a rules file or a key was not made, or a column not processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The author's: the text of a format or a rules file.
    #[error("{place}: {problem}")]
    Text {
        /// Where.
        place: Place,
        /// What.
        problem: Problem,
    },
    /// The author's: every value of the format lies in a set below the floor, and nobody accepted that.
    #[error(
        "the format has {size} values at most, below the floor of {floor}: keep less, widen the range, or accept it by small_domain"
    )]
    SmallDomain {
        /// The size of the largest set.
        size: u64,
        /// The floor.
        floor: u32,
    },
    /// The caller's: the policy `none` gives an empty tweak, which has to be allowed by name.
    #[error(
        "the policy none leaves the tweak empty: allow empty tweaks by name, or choose another policy"
    )]
    EmptyTweak,
    /// The caller's: a raw key of fewer than 32 bytes takes its tweaks from the caller or has none.
    #[error(
        "tweaks are derived from 32 bytes: a raw key of another size takes the policies caller and none"
    )]
    RawTweak,
    /// The caller's: another number of rows or of columns for the tweak than the policy needs.
    #[error("{expected} expected for the tweak, {given} given")]
    TweakParts {
        /// Columns or rows that the policy needs.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// The caller's: the mask `hash` needs a key.
    #[error("the mask hash needs a key")]
    MaskKey,
    /// The caller's: cells are not whole, or their offsets do not rise within the bytes.
    #[error("the cells do not divide into their bytes")]
    Cells,
    /// The caller's: the engine refuses key, mode or tweak.
    #[error("the engine refuses")]
    Engine(#[source] keywright_fpe::Error),
    /// The environment's: the crypto backend failed.
    #[error("the crypto backend failed")]
    Backend(#[source] keywright_primitives::Error),
}

impl Error {
    pub(crate) const fn at(column: usize, problem: Problem) -> Self {
        Self::Text {
            place: Place { line: 1, column },
            problem,
        }
    }
}

impl From<keywright_fpe::Error> for Error {
    fn from(error: keywright_fpe::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<keywright_primitives::Error> for Error {
    fn from(error: keywright_primitives::Error) -> Self {
        Self::Backend(error)
    }
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An item may begin where one that varies in length may still go on.
    #[error(
        "what stands before this may end anywhere here: put a fixed text between them, or fix the length"
    )]
    Ambiguous,
    /// A class or alphabet that is not in order, or has fewer than 2 or more than 65,536 symbols.
    #[error(
        "an alphabet is 2 to 65536 different characters, written alone or as ranges such as a-z"
    )]
    Alphabet,
    /// A symbol that would not stay one symbol beside every other.
    #[error("this alphabet has a character that joins with its neighbours or is not in NFC")]
    AlphabetUnstable,
    /// A calling code, country or its structure that is not in the table.
    #[error("no table has this country")]
    Country,
    /// A parameter is given twice.
    #[error("this is given twice")]
    Duplicate,
    /// Something else is expected.
    #[error("{0} expected")]
    Expected(&'static str),
    /// A check digit has no digits before it.
    #[error("a check digit needs digits before it")]
    NothingToCheck,
    /// There is nothing to encrypt.
    #[error("nothing in this format is free to change")]
    NothingFree,
    /// Two alternatives cannot be told apart for certain.
    #[error(
        "a value may fit this alternative and an earlier one: make length or a character at the front differ"
    )]
    Overlap,
    /// A range runs backwards or beyond the limits.
    #[error("a range from {least} to {most} within it, the lower end first, is expected")]
    Range {
        /// The least that is allowed.
        least: i128,
        /// The most that is allowed.
        most: i128,
    },
    /// There is no such revision; this one is the newest.
    #[error("there is no such revision; the newest is {0}")]
    Revision(u32),
    /// The text is too long, or has too many parts.
    #[error("more than {0} is not taken")]
    TooLong(usize),
    /// The rules file is not TOML.
    #[error("this is not TOML")]
    Toml,
    /// A name that means nothing.
    #[error("unknown name: {0}")]
    Unknown(&'static str),
    /// Whole values such as card stand alone.
    #[error("this format describes whole values and stands alone")]
    Whole,
}

/// Why a value is not in its format's set. Says nothing of the value but a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Its set has fewer values than the floor, for instance because it is short.
    #[error(
        "fewer values of this shape than the floor: {} without small_domain, {} with it",
        FLOOR,
        HARD_FLOOR
    )]
    BelowFloor,
    /// It is written in another way than the one that is given back.
    #[error("not in canonical form")]
    Canonical,
    /// A check digit is wrong.
    #[error("check digit wrong")]
    Check,
    /// Country, area or calling code has no structure here.
    #[error("unknown country or calling code")]
    Country,
    /// It lies in a part that the standard leaves out.
    #[error("in a part that is never assigned")]
    Excluded,
    /// It is too short or too long.
    #[error("wrong length")]
    Length,
    /// It is in no list that the format gives.
    #[error("not in the list")]
    NotListed,
    /// It lies outside the range.
    #[error("out of range")]
    Range,
    /// A character does not belong there.
    #[error("unexpected character at byte {position}")]
    Symbol {
        /// Its byte, from 0.
        position: usize,
    },
    /// Its set has more than 2^256 values of mixed kinds.
    #[error("too long for symbols of mixed kinds")]
    TooMany,
    /// 64 passes have not led back into the set, which does not happen by chance.
    #[error("no valid value after 64 passes")]
    Walk,
}

impl Misfit {
    /// A word that stays the same over versions, for programs and counts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BelowFloor => "below_floor",
            Self::Canonical => "not_canonical",
            Self::Check => "check_digit",
            Self::Country => "country",
            Self::Excluded => "excluded",
            Self::Length => "length",
            Self::NotListed => "not_listed",
            Self::Range => "range",
            Self::Symbol { .. } => "symbol",
            Self::TooMany => "too_many",
            Self::Walk => "walk",
        }
    }
}
