//! Many values in one call: of one length, or of mixed lengths, which are put into groups; under one tweak
//! or under one each; over threads if asked for.
//!
//! Everything is judged before anything is written: lengths, tweaks, and every digit of every record with
//! one mask. The output of a refused batch is untouched.
//!
//! # The seam to the kernels
//! A batch is cut into [`Group`]s: records of one plan that stand one after the other, `plan.length()`
//! elements each, in place. For each group the driver calls
//!
//! ```text
//! kernel::run(&Group, Records) -> usize
//! ```
//!
//! with digits that are known to be below the radix. A kernel takes as many records from the front as its
//! lanes divide, or all of them by padding with dummies of its own, writes their results, and returns their
//! number; 0 if it does not serve the backend of `group.schedule`, the plan's moduli or the form of the
//! records. The driver runs the rest through the scalar walk, so tails have no arithmetic of their own.
//!
//! What a kernel finds in [`Group`]:
//! * `plan`: family, digits of both halves, moduli with reciprocals, `counter_shift`, `discard`
//!   (`crate::feistel` has the table of what they mean). Public.
//! * `bases`: the input block of even and odd rounds without the round's number and NUM, as numbers in the
//!   family's byte order: [`Bases::One`] for all records, or [`Bases::Each`], one per record.
//! * `direction`.
//!
//! [`Records::Text`] comes with its alphabet and judged symbols; a kernel that returns 0 for it is called
//! again with the same records as digits in [`Records::Bytes`], and the driver translates.

mod driver;

use crate::alphabet::Alphabet;
use crate::cipher::Schedule;
use crate::error::Error;
use crate::feistel::{Base, Direction, Plan};
use crate::key::Key;
use crate::numerals::Numeral;
use driver::Job;

/// Records of one plan under one key, one direction.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) plan: &'a Plan,
    pub(crate) bases: Bases<'a>,
    pub(crate) direction: Direction,
}

/// The constant part of the input blocks.
#[derive(Clone, Copy)]
pub(crate) enum Bases<'a> {
    /// One tweak for all records.
    One(&'a Base),
    /// One base per record, in their order.
    Each(&'a [Base]),
}

impl<'a> Bases<'a> {
    /// The base of one record.
    pub(crate) fn of(self, record: usize) -> Option<&'a Base> {
        match self {
            Self::One(base) => Some(base),
            Self::Each(bases) => bases.get(record),
        }
    }

    /// Without those of the first records.
    pub(crate) fn after(self, records: usize) -> Self {
        match self {
            Self::One(base) => Self::One(base),
            Self::Each(bases) => Self::Each(bases.get(records..).unwrap_or_default()),
        }
    }
}

/// Where the records stand.
pub(crate) enum Records<'a> {
    /// One digit a byte.
    Bytes(&'a mut [u8]),
    /// One digit in two bytes.
    Words(&'a mut [u16]),
    /// One digit in four bytes.
    Longs(&'a mut [u32]),
    /// One symbol of the alphabet a byte.
    Text(&'a mut [u8], &'a Alphabet),
}

/// How many digits each record has.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the two forms that a column has")]
pub enum Layout<'o> {
    /// All records have so many, and stand one after the other.
    Fixed(usize),
    /// Record `i` lies between offset `i` and offset `i + 1`; the first is 0, the last the number of all
    /// digits.
    #[cfg(feature = "std")]
    Offsets(&'o [usize]),
    /// Keeps the lifetime in builds without the heap.
    #[cfg(not(feature = "std"))]
    #[doc(hidden)]
    Never(core::convert::Infallible, core::marker::PhantomData<&'o ()>),
}

/// The tweaks of a batch.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the forms that a column has")]
pub enum Tweaks<'t> {
    /// One for all records.
    Same(&'t [u8]),
    /// One per record, all of `width` bytes, one after the other.
    Each {
        /// All tweaks.
        bytes: &'t [u8],
        /// The bytes of one; not 0.
        width: usize,
    },
    /// One per record, of any lengths: tweak `i` lies between offset `i` and offset `i + 1`.
    Offsets {
        /// All tweaks.
        bytes: &'t [u8],
        /// Where they begin, and where the last ends.
        offsets: &'t [usize],
    },
}

/// An error, and the record that has it if one alone does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError {
    record: Option<usize>,
    error: Error,
}

impl BatchError {
    /// The record, from 0.
    #[must_use]
    pub const fn record(&self) -> Option<usize> {
        self.record
    }

    /// What is wrong. Positions in it count within the record.
    #[must_use]
    pub const fn error(&self) -> Error {
        self.error
    }

    const fn at(record: usize, error: Error) -> Self {
        Self {
            record: Some(record),
            error,
        }
    }
}

impl From<Error> for BatchError {
    fn from(error: Error) -> Self {
        Self {
            record: None,
            error,
        }
    }
}

impl core::fmt::Display for BatchError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.record {
            Some(record) => write!(f, "record {record}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl core::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A key with the settings of batches.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'k> {
    key: &'k Key,
    threads: usize,
    alphabet: Option<&'k Alphabet>,
}

impl<'k> Batch<'k> {
    /// On the thread of the caller.
    #[must_use]
    pub const fn new(key: &'k Key) -> Self {
        Self {
            key,
            threads: 1,
            alphabet: None,
        }
    }

    /// Over up to so many threads, the caller's among them. Needs the feature `std`.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Records are text over this alphabet, one byte a symbol, in the calls that take bytes.
    #[must_use]
    pub const fn over(mut self, alphabet: &'k Alphabet) -> Self {
        self.alphabet = Some(alphabet);
        self
    }

    /// Encrypts records where they stand.
    ///
    /// # Errors
    /// What [`Key::encrypt`] refuses, with the record; [`Error::BatchShape`] if layout, values and tweaks do
    /// not fit each other; [`Error::AlphabetNotAscii`]. Nothing is written then.
    pub fn encrypt<T: Numeral>(
        &self,
        tweaks: Tweaks<'_>,
        layout: Layout<'_>,
        values: &mut [T],
    ) -> Result<(), BatchError> {
        self.job(Direction::Encrypt, tweaks, layout)?
            .in_place(values)
    }

    /// Decrypts records where they stand.
    ///
    /// # Errors
    /// As [`Batch::encrypt`].
    pub fn decrypt<T: Numeral>(
        &self,
        tweaks: Tweaks<'_>,
        layout: Layout<'_>,
        values: &mut [T],
    ) -> Result<(), BatchError> {
        self.job(Direction::Decrypt, tweaks, layout)?
            .in_place(values)
    }

    /// Encrypts the records of `input` into `output`.
    ///
    /// # Errors
    /// As [`Batch::encrypt`]; [`Error::LengthMismatch`] if the two differ in length.
    pub fn encrypt_into<T: Numeral>(
        &self,
        tweaks: Tweaks<'_>,
        layout: Layout<'_>,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), BatchError> {
        self.job(Direction::Encrypt, tweaks, layout)?
            .apart(input, output)
    }

    /// Decrypts the records of `input` into `output`.
    ///
    /// # Errors
    /// As [`Batch::encrypt_into`].
    pub fn decrypt_into<T: Numeral>(
        &self,
        tweaks: Tweaks<'_>,
        layout: Layout<'_>,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), BatchError> {
        self.job(Direction::Decrypt, tweaks, layout)?
            .apart(input, output)
    }

    /// Encrypts records of `digits` digits in place that are given as numbers: NUM of the first half, then NUM of
    /// the second, which FF1 splits after `digits / 2` digits, FF3 after half of them rounded up, where NUM reads
    /// the digits backwards. For callers whose values are numbers anyway: dividing one by a power of the radix
    /// costs less than making digits of it, of which this would make the halves again. On the thread of the
    /// caller.
    ///
    /// # Errors
    /// As [`Batch::encrypt`]; [`Error::Length`] if a half may not fit 64 bits; [`Error::Digit`] with the place of
    /// the half if one is not below the power of the radix.
    pub fn encrypt_halves(
        &self,
        tweaks: Tweaks<'_>,
        digits: usize,
        records: &mut [[u64; 2]],
    ) -> Result<(), BatchError> {
        self.job(Direction::Encrypt, tweaks, Layout::Fixed(digits))?
            .halves(digits, records)
    }

    /// Decrypts such records.
    ///
    /// # Errors
    /// As [`Batch::encrypt_halves`].
    pub fn decrypt_halves(
        &self,
        tweaks: Tweaks<'_>,
        digits: usize,
        records: &mut [[u64; 2]],
    ) -> Result<(), BatchError> {
        self.job(Direction::Decrypt, tweaks, Layout::Fixed(digits))?
            .halves(digits, records)
    }

    fn job<'a>(
        &self,
        direction: Direction,
        tweaks: Tweaks<'a>,
        layout: Layout<'a>,
    ) -> Result<Job<'a>, BatchError>
    where
        'k: 'a,
    {
        self.key.permit(direction)?;
        let alphabet = match self.alphabet {
            Some(alphabet) => Some(alphabet.serving(self.key.radix().value())?),
            None => None,
        };
        if alphabet.is_some_and(|alphabet| !alphabet.is_ascii()) {
            return Err(Error::AlphabetNotAscii.into());
        }
        Ok(Job {
            key: self.key,
            direction,
            tweaks,
            layout,
            alphabet,
            #[cfg(feature = "std")]
            threads: self.threads,
        })
    }
}

impl<'t> Tweaks<'t> {
    /// The tweak of one record.
    fn of(self, record: usize) -> Option<&'t [u8]> {
        match self {
            Self::Same(tweak) => Some(tweak),
            Self::Each { bytes, width } => {
                let start = record.checked_mul(width)?;
                bytes.get(start..start.checked_add(width)?)
            }
            Self::Offsets { bytes, offsets } => {
                let ends = offsets.get(record..record.checked_add(2)?)?;
                bytes.get(*ends.first()?..*ends.last()?)
            }
        }
    }

    /// How many there are, if that says anything.
    fn count(self) -> Option<usize> {
        match self {
            Self::Same(_) => None,
            Self::Each { bytes, width } => Some(match bytes.len().checked_rem(width) {
                Some(0) => bytes.len() / width,
                _ => 0,
            }),
            Self::Offsets { offsets, .. } => Some(offsets.len().saturating_sub(1)),
        }
    }
}
