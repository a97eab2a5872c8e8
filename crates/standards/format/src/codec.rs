//! A codec reads a value of its set into symbols and numbers, and writes the value that others stand for.
//!
//! What a codec promises, and `crate::fuzzing` holds against each of them:
//! * every choice of symbols and numbers below their moduli, written, gives a value that reads as them;
//! * what a value has beside them (length, delimiters, kept parts) reads the same from what is written.
//!
//! Together they make the map between ranks and values one to one, so a permutation of ranks is one of
//! values.

pub(crate) mod card;
pub(crate) mod check;
pub(crate) mod class;
pub(crate) mod date;
pub(crate) mod digits;
pub(crate) mod email;
pub(crate) mod hexadecimal;
pub(crate) mod iban;
pub(crate) mod ip;
pub(crate) mod number;
pub(crate) mod phone;
pub(crate) mod postal;
pub(crate) mod sequence;
pub(crate) mod ssn;

use std::fmt::Debug;
use std::ops::RangeInclusive;

use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source, Span};
use crate::syntax::Call;
use crate::wide::Wide;
use digits::Bytes;

/// Which of the two a value is. They differ only where a token can be told from a clear value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Clear,
    Token,
}

pub(crate) trait Codec: Debug + Send + Sync {
    /// Reads a value. What was put into the sink before a refusal is not used.
    fn read(&self, side: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit>;

    /// Writes the value of this side that `source` stands for. `value` is the one of the other side, which
    /// was read without a refusal: it gives what stays.
    fn write(&self, side: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>);

    /// The sizes of its sets.
    fn amount(&self) -> Amount;

    /// Whether something is kept that goes into the tweak.
    fn keeps(&self) -> bool {
        false
    }

    /// A value that fits.
    fn example(&self) -> String;

    /// Name and version of published data that decide which values fit.
    fn data_source(&self) -> Option<&'static str> {
        None
    }

    /// The sets of fewer values than the floor, where values show by their beginning and length in which set they are.
    fn small_sets(&self, _floor: u32) -> Vec<SmallSet> {
        Vec::new()
    }

    /// What all values look like.
    fn outline(&self) -> Outline {
        Outline::default()
    }

    /// The fast way of values of one width, if there is one.
    fn flat(&self) -> Option<&dyn Flat> {
        None
    }

    /// Which digits are free if values of this width are nothing but digits, and those one run of radix 10.
    fn plain(&self, _width: usize) -> Option<Plain> {
        None
    }
}

/// Values of one width with nothing kept in them, of which what is free is a few numbers: they are read and written
/// many at a time.
pub(crate) trait Flat: Debug + Send + Sync {
    /// Bytes of a value.
    fn width(&self) -> usize;

    /// The sizes of the sets of its numbers, in their order.
    fn spans(&self) -> &[Span];

    /// Reads values that stand one after the other into their numbers; false if one does not fit, with numbers that
    /// are not used. `scratch` is wiped by the caller.
    fn read(&self, values: &[u8], scratch: &mut Vec<u8>, numbers: &mut [u64]) -> bool;

    /// The inverse.
    fn write(&self, numbers: &[u64], scratch: &mut Vec<u8>, out: &mut [u8]);
}

/// Values that are digits alone: kept ones at both ends, before the last of these a check digit, the others free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// How many are kept at the front, and at the end.
    pub(crate) kept: (usize, usize),
    pub(crate) check: CheckDigit,
}

impl Plain {
    /// With nothing kept.
    pub(crate) const fn whole(check: CheckDigit) -> Self {
        let kept = (0, 0);
        Self { kept, check }
    }

    /// By how much the check digit is off Luhn's on one side.
    pub(crate) const fn mark(self, side: Side) -> u8 {
        match (self.check, side) {
            (CheckDigit::Marked, Side::Token) => 1,
            _ => 0,
        }
    }

    /// How many digits are free, if there is one.
    pub(crate) fn free(self, width: usize) -> Option<usize> {
        let bound = self.kept.0 + self.kept.1 + usize::from(self.check != CheckDigit::None);
        width.checked_sub(bound).filter(|free| *free > 0)
    }
}

/// What the digit before those kept at the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckDigit {
    /// Free like the others.
    None,
    /// Luhn's.
    Luhn,
    /// Luhn's, and in a token one more.
    Marked,
}

/// The number of values of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    exact: Option<Wide>,
    bits: f64,
}

impl Count {
    pub(crate) fn new(size: u128) -> Self {
        Self::of(Wide::new(size))
    }

    pub(crate) fn of(size: Wide) -> Self {
        Self {
            exact: Some(size),
            bits: size.bits(),
        }
    }

    /// The number, unless it is more than 2^256.
    #[must_use]
    pub const fn exact(&self) -> Option<Wide> {
        self.exact
    }

    /// Its binary logarithm.
    #[must_use]
    pub const fn bits(&self) -> f64 {
        self.bits
    }

    fn and(self, other: Self) -> Self {
        let exact = self.exact.zip(other.exact);
        let exact = exact.and_then(|(own, theirs)| match (own.to_u128(), theirs.to_u128()) {
            (Some(own), _) => theirs.checked_mul(own),
            (_, Some(theirs)) => own.checked_mul(theirs),
            _ => None,
        });
        Self {
            exact,
            bits: self.bits + other.bits,
        }
    }

    #[must_use]
    pub(crate) fn times_power(self, factor: u128, times: usize) -> Self {
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let bits = self.bits + Wide::new(factor).bits() * f64::from(times);
        let exact = self
            .exact
            .filter(|_| bits < 257.0)
            .and_then(|size| (0..times).try_fold(size, |product, _| product.checked_mul(factor)));
        Self { exact, bits }
    }

    /// Whether there are fewer than so many.
    #[must_use]
    pub fn is_below(&self, floor: u64) -> bool {
        self.exact
            .is_some_and(|size| size < Wide::new(floor.into()))
    }
}

/// The smallest and the largest of the sets of a format: values of another length, for instance, are
/// another set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(crate) least: Count,
    pub(crate) most: Count,
}

impl Amount {
    pub(crate) fn new(size: u128) -> Self {
        let count = Count::new(size);
        Self {
            least: count,
            most: count,
        }
    }

    /// Of values that have a part of each.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            least: self.least.and(other.least),
            most: self.most.and(other.most),
        }
    }

    #[must_use]
    pub(crate) fn times_power(self, factor: u128, times: RangeInclusive<usize>) -> Self {
        Self {
            least: self.least.times_power(factor, *times.start()),
            most: self.most.times_power(factor, *times.end()),
        }
    }

    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        let smaller = |a: Count, b: Count| if b.bits < a.bits { b } else { a };
        let larger = |a: Count, b: Count| if b.bits > a.bits { b } else { a };
        Self {
            least: smaller(self.least, other.least),
            most: larger(self.most, other.most),
        }
    }
}

/// Values of one beginning that are in sets of fewer values than the floor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmallSet {
    /// What they begin with.
    pub beginning: String,
    /// How many digits they have behind that.
    pub lengths: Vec<usize>,
    /// Whether all values of this beginning are in such sets.
    pub is_all: bool,
}

/// Lengths in bytes, and the characters that the first bytes can be, as far as that is certain.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) lengths: RangeInclusive<usize>,
    pub(crate) front: Vec<Bytes>,
    /// Every byte of a value that is ASCII is one of these.
    pub(crate) within: Bytes,
    /// A byte that every value has.
    pub(crate) needs: Option<u8>,
}

impl Default for Outline {
    fn default() -> Self {
        Self {
            lengths: 0..=usize::MAX,
            front: Vec::new(),
            within: Bytes::ALL,
            needs: None,
        }
    }
}

impl Outline {
    /// Whether no value can fit both.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let apart = self.lengths.end() < other.lengths.start()
            || other.lengths.end() < self.lengths.start();
        let mut fronts = self.front.iter().zip(&other.front);
        apart || fronts.any(|(own, theirs)| !own.meets(theirs))
    }
}

/// Codecs, of which a value fits one at most, with their canonical text.
pub(crate) type Made = (Vec<Box<dyn Codec>>, String);

type Build = fn(&mut Arguments<'_>) -> Result<Box<dyn Codec>, Error>;

/// The built-in formats that describe whole values.
pub(crate) fn whole(call: &Call) -> Option<Result<Made, Error>> {
    let one: Build = match call.name.as_str() {
        "card" => card::build,
        "email" => email::build,
        "iban" => iban::build,
        "ipv4" => ip::build_4,
        "ipv6" => ip::build_6,
        "mac" => hexadecimal::build_mac,
        "phone" => phone::build,
        "ssn" => ssn::build,
        "uuid" => hexadecimal::build_uuid,
        "pattern" | "postal" => return Some(several(call)),
        _ => return None,
    };
    let newest = if call.name == "phone" {
        phone::NEWEST
    } else {
        1
    };
    Some(
        Arguments::with_revisions(call, newest).and_then(|mut arguments| {
            let codec = one(&mut arguments)?;
            Ok((vec![codec], arguments.finish()?))
        }),
    )
}

fn several(call: &Call) -> Result<Made, Error> {
    let mut arguments = Arguments::of(call)?;
    let codecs = match call.name.as_str() {
        "pattern" => postal::build_pattern(&mut arguments),
        _ => postal::build(&mut arguments),
    };
    // A position within the expansion means nothing to the author.
    let codecs = codecs.map_err(|error| match error {
        Error::Text { problem, place } if place.column < call.at => Error::at(call.at, problem),
        other => other,
    })?;
    Ok((codecs, arguments.finish()?))
}

pub(crate) const fn unknown_format(at: usize) -> Error {
    Error::at(at, Problem::Unknown("no format or item is called so"))
}
