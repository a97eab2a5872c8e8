//! A compiled format.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::codec::{self, Amount, Codec, Count, Side, SmallSet, sequence};
use crate::error::{Error, Misfit, Problem};
use crate::rank::Sink;
use crate::shape::{Fit, Shape, Unfit};
use crate::syntax::{Expression, Term};

/// The least number of values of a set, unless fewer are accepted by name.
pub const FLOOR: u32 = 1_000_000;

/// The least number of values whatever is accepted.
pub const HARD_FLOOR: u32 = 100;

/// A set of values, compiled from its description. Cheap to clone; two are equal if their canonical texts
/// are.
///
/// ```
/// use keywright_format::Format;
///
/// let format: Format = "card(keep=last4)".parse()?;
/// assert_eq!(
///     format.canonical(),
///     r#"card@1(length=13..19, keep=last4, luhn=keep, delims=" -")"#
/// );
/// assert!(format.checker().check(b"4111 1111 1111 1111").is_ok());
/// assert!(format.checker().check(b"4111 1111 1111 1112").is_err());
/// # Ok::<(), keywright_format::Error>(())
/// ```
#[derive(Clone)]
pub struct Format(Arc<Inner>);

struct Inner {
    canonical: String,
    codecs: Vec<Box<dyn Codec>>,
}

impl Format {
    /// Reads the one-line form.
    ///
    /// # Errors
    /// [`Error::Text`] with the column and what is wrong there.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::compile(&crate::syntax::parse(text)?)
    }

    pub(crate) fn compile(expression: &Expression) -> Result<Self, Error> {
        let (mut codecs, mut texts) = (Vec::<Box<dyn Codec>>::new(), Vec::new());
        for terms in expression {
            let (made, text) = alternative(terms)?;
            let fits_earlier = made.iter().any(|new| {
                let outline = new.outline();
                codecs
                    .iter()
                    .any(|earlier| !outline.excludes(&earlier.outline()))
            });
            if fits_earlier {
                let at = terms.first().map_or(1, Term::at);
                return Err(Error::at(at, Problem::Overlap));
            }
            codecs.extend(made);
            texts.push(text);
        }
        let format = Self(Arc::new(Inner {
            canonical: texts.join(" | "),
            codecs,
        }));
        if format.amount().most.bits() <= 0.0 {
            return Err(Error::at(1, Problem::NothingFree));
        }
        Ok(format)
    }

    /// The description with names, revisions and every parameter written out. It is what keys are derived
    /// from, and reads as the same format.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.0.canonical
    }

    /// A value that fits.
    #[must_use]
    pub fn example(&self) -> String {
        self.0
            .codecs
            .first()
            .map(|codec| codec.example())
            .unwrap_or_default()
    }

    /// Name and version of the published data that decide which values fit, for instance `libphonenumber 9.0.43`.
    #[must_use]
    pub fn data_source(&self) -> Option<&'static str> {
        self.0.codecs.iter().find_map(|codec| codec.data_source())
    }

    /// The values that are refused because their sets are below a floor, where their beginning and length tell which
    /// sets these are: numbers of small countries, for instance.
    #[must_use]
    pub fn small_sets(&self, floor: u32) -> Vec<SmallSet> {
        let codecs = self.0.codecs.iter();
        codecs.flat_map(|codec| codec.small_sets(floor)).collect()
    }

    /// Whether values keep a part in clear. It goes into the tweak.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.0.codecs.iter().any(|codec| codec.keeps())
    }

    /// The number of values in the smallest of the sets: values of another length, with another kept part
    /// or of another alternative are another set.
    #[must_use]
    pub fn least(&self) -> Count {
        self.amount().least
    }

    /// The number of values in the largest of the sets.
    #[must_use]
    pub fn most(&self) -> Count {
        self.amount().most
    }

    fn amount(&self) -> Amount {
        let amounts = self.0.codecs.iter().map(|codec| codec.amount());
        amounts.reduce(Amount::joined).unwrap_or(Amount::new(1))
    }

    pub(crate) fn codecs(&self) -> &[Box<dyn Codec>] {
        &self.0.codecs
    }

    /// Looks at values one after the other.
    #[must_use]
    pub fn checker(&self) -> Checker<'_> {
        Checker {
            format: self,
            sink: Sink::default(),
        }
    }
}

fn alternative(terms: &[Term]) -> Result<codec::Made, Error> {
    for (place, term) in terms.iter().enumerate() {
        let Term::Call(call) = term else {
            continue;
        };
        let Some(made) = codec::whole(call) else {
            continue;
        };
        if place > 0 || terms.len() > 1 {
            return Err(Error::at(call.at, Problem::Whole));
        }
        return made;
    }
    let (sequence, text) = sequence::build(terms)?;
    Ok((vec![Box::new(sequence)], text))
}

/// Reads the value by the first codec that it fits. The misfit is that of the last.
pub(crate) fn read(
    codecs: &[Box<dyn Codec>],
    side: Side,
    value: &[u8],
    sink: &mut Sink,
) -> Result<usize, Misfit> {
    let mut misfit = Misfit::Length;
    for (place, codec) in codecs.iter().enumerate() {
        sink.clear();
        match codec.read(side, value, sink) {
            Ok(()) => return Ok(place),
            Err(found) => misfit = found,
        }
    }
    Err(misfit)
}

/// Looks at values without a key, and uses its buffers again.
#[derive(Debug)]
pub struct Checker<'f> {
    format: &'f Format,
    sink: Sink,
}

impl Checker<'_> {
    /// Whether a clear value is in the format, and how many values are in its set.
    ///
    /// # Errors
    /// The reason why it is not.
    pub fn check(&mut self, value: &[u8]) -> Result<Count, Misfit> {
        read(self.format.codecs(), Side::Clear, value, &mut self.sink)?;
        let count = self.sink.spans.iter().fold(Count::new(1), |count, span| {
            count.times_power(span.modulus, span.count.max(1) as usize)
        });
        Ok(count)
    }

    /// How FF1 serves the set of a value.
    ///
    /// # Errors
    /// As [`Checker::check`]; [`Misfit::BelowFloor`] if nothing is free, [`Misfit::TooMany`].
    pub fn embedding(&mut self, value: &[u8]) -> Result<Embedding, Misfit> {
        read(self.format.codecs(), Side::Clear, value, &mut self.sink)?;
        let shape = Shape::new(&self.sink.spans).map_err(Misfit::from)?;
        Ok(Embedding {
            radix: shape.radix(),
            digits: shape.digits(),
            walks: matches!(shape.fit(), Fit::Walk(_)),
        })
    }
}

/// FF1's parameters for a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Embedding {
    /// FF1's radix.
    pub radix: u32,
    /// FF1's number of digits.
    pub digits: usize,
    /// Whether there are more numbers than values, so that a result may be encrypted again.
    pub walks: bool,
}

impl From<Unfit> for Misfit {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Nothing => Self::BelowFloor,
            Unfit::TooMany => Self::TooMany,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for Format {}

/// The canonical text.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.canonical())
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.canonical()).finish()
    }
}
