//! One printed figure: the number, how exactly it is printed, and its unit.

use crate::span::Span;
use crate::unit::{Dimension, Unit};

/// A figure as somebody printed it, still in the unit it was printed in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// Everything it can have been before rounding.
    pub(crate) span: Span,
    /// The number itself, or the middle of a printed range.
    pub(crate) value: f64,
    /// What the last printed digit is worth.
    pub(crate) step: f64,
    /// The number as an exact one, for sizes and counts; a span only where the unit has two readings.
    pub(crate) exact: Span,
    pub(crate) shape: Shape,
    /// Printed with a mark for "about".
    pub(crate) about: bool,
    pub(crate) unit: Option<Unit>,
    /// What stands behind the figure.
    pub(crate) rest: String,
}

/// Whether a figure is one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    AtLeast,
    AtMost,
    Range,
    Single,
}

impl Figure {
    /// The figure at the beginning of a cell. Marks of emphasis and ticks before it are skipped, letters
    /// are not: `RSA-2048` is a name.
    pub(crate) fn at_start(text: &str) -> Option<Self> {
        let plain = text.replace(['*', '`'], "");
        let start = plain.find(|c: char| c.is_ascii_alphanumeric() || "~<>+-".contains(c))?;
        let tail = plain.get(start..)?;
        tail.starts_with(|c: char| !c.is_ascii_alphabetic())
            .then(|| parse(tail))
            .flatten()
    }

    /// The first figure anywhere in a text.
    pub(crate) fn anywhere(text: &str) -> Option<Self> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let signed = text.get(..start)?.char_indices().next_back();
        let start = signed
            .filter(|(_, c)| "+-".contains(*c))
            .map_or(start, |(at, _)| at);
        parse(text.get(start..)?)
    }

    /// The same figure in base units, read in `unit` if it names none itself.
    pub(crate) fn in_base(mut self, unit: Option<Unit>) -> Self {
        self.unit = self.unit.or(unit);
        if let Some(unit) = self.unit {
            let scale = unit.scale;
            // A negative figure is a difference; a difference has no unit with two readings.
            self.span = Span::new(self.span.low * scale.low, self.span.high * scale.high);
            self.exact = Span::new(self.exact.low * scale.low, self.exact.high * scale.high);
            self.value *= scale.middle();
            self.step *= scale.low;
        }
        self
    }

    pub(crate) fn is(&self, dimension: Dimension) -> bool {
        self.unit.is_some_and(|unit| unit.dimension == dimension)
    }
}

/// A number within a text: the value, its half step, and where it ends.
struct Number {
    value: f64,
    step: f64,
    /// The same if trailing zeros are no more than filling, as in "about 4,000,000".
    rough_step: f64,
    end: usize,
}

fn parse(text: &str) -> Option<Figure> {
    let about = text.starts_with('~');
    let from_below = text.starts_with('>');
    let from_above = text.starts_with('<');
    let negative = text.starts_with('-');
    let start = text.find(|c: char| c.is_ascii_digit())?;
    // Between the mark and its number stands nothing but spaces.
    let lead = text.get(..start)?;
    if lead.chars().any(|c| !"~<>+-= ".contains(c)) {
        return None;
    }
    let mut first = number(text.get(start..)?)?;
    let mut tail = text.get(start + first.end..)?;
    let first_suffix = multiplier(tail);
    let mut second = range_end(tail);
    if let Some((_, end)) = &second {
        tail = tail.get(*end..)?;
    }
    if about {
        first.step = first.rough_step;
        second = second.map(|(last, end)| {
            (
                Number {
                    step: last.rough_step,
                    ..last
                },
                end,
            )
        });
    }
    let last_suffix = multiplier(tail);
    tail = last_suffix.map_or(tail, |_| tail.get(1..).unwrap_or_default());
    let open = tail.starts_with('+');
    tail = tail.trim_start_matches('+');
    let (unit, rest) = unit(tail);
    let factor = last_suffix.unwrap_or(1.0);
    let shape = match () {
        () if second.is_some() => Shape::Range,
        () if open || from_below => Shape::AtLeast,
        () if from_above => Shape::AtMost,
        () => Shape::Single,
    };
    let low = scaled(&first, first_suffix.unwrap_or(factor));
    let high = second.map_or(low, |(second, _)| scaled(&second, factor));
    let sign = if negative { -1.0 } else { 1.0 };
    let value = sign * f64::midpoint(low.0, high.0);
    Some(Figure {
        span: reach(low, high, (shape, negative)),
        value,
        step: high.1,
        exact: Span::exactly(value),
        shape,
        about,
        unit,
        rest: rest.trim().to_owned(),
    })
}

/// What the number can have been, by its ends with the worth of their last digits.
fn reach(low: (f64, f64), high: (f64, f64), (shape, negative): (Shape, bool)) -> Span {
    let ends = (low.0 - low.1 / 2.0, high.0 + high.1 / 2.0);
    match shape {
        _ if negative => Span::new(-ends.1, -ends.0),
        Shape::AtLeast => Span::new(ends.0.max(0.0), f64::INFINITY),
        Shape::AtMost => Span::new(0.0, ends.1),
        Shape::Range | Shape::Single => Span::new(ends.0.max(0.0), ends.1),
    }
}

fn scaled(number: &Number, factor: f64) -> (f64, f64) {
    (number.value * factor, number.step * factor)
}

/// `-200` or `–95` or `-90K` after a first number: the second one, and where the range ends.
fn range_end(tail: &str) -> Option<(Number, usize)> {
    let skipped = multiplier(tail).map_or(0, |_| 1);
    let rest = tail.get(skipped..)?;
    let inner = rest.strip_prefix(['-', '\u{2013}', '\u{2014}'])?;
    let dash = rest.len() - inner.len();
    let second = number(inner)?;
    let end = skipped + dash + second.end;
    Some((second, end))
}

/// What a letter right behind a number makes of it, if no unit begins with it.
fn multiplier(tail: &str) -> Option<f64> {
    let mut letters = tail.chars();
    let factor = match letters.next()? {
        'k' | 'K' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        _ => return None,
    };
    letters
        .next()
        .is_none_or(|next| !next.is_alphanumeric())
        .then_some(factor)
}

/// The unit at the start of a text, and what stands behind it.
fn unit(tail: &str) -> (Option<Unit>, &str) {
    let text = tail.trim_start();
    if let Some(rest) = text.strip_prefix('%') {
        return (Unit::named("%"), rest);
    }
    let end = text
        .find(|c: char| !(c.is_alphabetic() || "/-\u{b5}\u{d7}".contains(c)))
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    Unit::named(word).map_or((None, text), |unit| (Some(unit), rest))
}

/// Digits with thousands between them, a point or a comma, an exponent.
fn number(text: &str) -> Option<Number> {
    let (digits, mut end) = grouped(text)?;
    let mut plain = digits;
    let whole = plain.len();
    let mut decimals = 0_usize;
    let tail = text.get(end..)?;
    if let Some(fraction) = tail.strip_prefix(['.', ',']) {
        let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 {
            plain.push('.');
            plain.push_str(fraction.get(..count)?);
            end += 1 + count;
            decimals = count;
        }
    }
    let exponent = exponent(text.get(end..)?);
    if let Some((power, length)) = exponent {
        plain = format!("{plain}e{power}");
        end += length;
    }
    let value: f64 = plain.parse().ok().filter(|value: &f64| value.is_finite())?;
    let power = exponent.map_or(0, |(power, _)| power);
    let places = i32::try_from(decimals).ok()?;
    let step = 10_f64.powi(power - places);
    let zeros = plain
        .get(..whole)?
        .bytes()
        .rev()
        .take_while(|digit| *digit == b'0')
        .count();
    let filling = if decimals == 0 && zeros < whole {
        i32::try_from(zeros).ok()?
    } else {
        0
    };
    Some(Number {
        value,
        step,
        rough_step: step * 10_f64.powi(filling),
        end,
    })
}

/// A number has no more digits than this; what is longer is an identifier.
const MAX_DIGITS: usize = 18;
/// More groups of three than those digits have.
const MAX_GROUPS: usize = 7;

/// The digits before the point without what separates thousands, and where they end.
fn grouped(text: &str) -> Option<(String, usize)> {
    let first = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut digits = text
        .get(..first)
        .filter(|head| !head.is_empty())?
        .to_owned();
    let mut end = first;
    // Four digits and more are not the first group of a separated number.
    for _ in 0..if first <= 3 { MAX_GROUPS } else { 0 } {
        let tail = text.get(end..)?;
        let Some(group) = tail.strip_prefix([',', '_', ' ', '\u{a0}', '\u{202f}', '\'']) else {
            break;
        };
        if group.bytes().take_while(u8::is_ascii_digit).count() != 3 {
            break;
        }
        digits.push_str(group.get(..3)?);
        end += tail.len() - group.len() + 3;
        if digits.len() > MAX_DIGITS {
            return None;
        }
    }
    (digits.len() <= MAX_DIGITS).then_some((digits, end))
}

/// `e-3` and the like: the power and its length in bytes.
fn exponent(text: &str) -> Option<(i32, usize)> {
    let tail = text.strip_prefix(['e', 'E'])?;
    let signed = usize::from(tail.starts_with(['+', '-']));
    let count = tail
        .get(signed..)?
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    if count == 0 || count > 2 {
        return None;
    }
    let power = tail.get(..signed + count)?.parse().ok()?;
    Some((power, 1 + signed + count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(text: &str) -> Span {
        Figure::at_start(text).unwrap().in_base(None).span
    }

    fn near(span: Span, low: f64, high: f64) {
        assert!(
            (span.low - low).abs() <= low.abs() * 1e-9 + 1e-12,
            "{span:?}"
        );
        assert!(
            (span.high - high).abs() <= high.abs() * 1e-9 + 1e-12,
            "{span:?}"
        );
    }

    #[test]
    fn a_figure_is_everything_that_rounds_to_it() {
        near(base("11.21ms"), 0.011_205, 0.011_215);
        near(base("745"), 744.5, 745.5);
        near(base("0.00"), 0.0, 0.005);
        near(base("**1.2M**"), 1_150_000.0, 1_250_000.0);
        near(base("150-200K TPS"), 149_500.0, 200_500.0);
        near(base("25K-90K"), 24_500.0, 90_500.0);
        near(base("9 210"), 9_209.5, 9_210.5);
        near(base("-34.6%"), -34.65, -34.55);
        near(base("~4,000,000"), 3_500_000.0, 4_500_000.0);
        near(base("\u{2705} 42\u{2013}510 ms"), 0.0415, 0.5105);
        near(base("1.5e-3"), 0.001_45, 0.001_55);
        near(base("3,5"), 3.45, 3.55);
    }

    #[test]
    fn a_bound_has_one_open_end() {
        assert!(base(">600 MB/s").high.is_infinite());
        assert!(base("100k+ req/s").high.is_infinite());
        near(base("< 200 \u{b5}s"), 0.0, 200.5e-6);
    }

    #[test]
    fn a_name_with_a_number_in_it_is_no_figure() {
        for name in [
            "RSA-2048", "P-256", "", "-", "~", "N/A", "x1", "a 5", "- item 3",
        ] {
            assert!(Figure::at_start(name).is_none(), "{name}");
        }
    }

    #[test]
    fn what_no_number_type_holds_is_no_figure() {
        assert!(Figure::at_start("12345678901234567890123").is_none());
        assert!(Figure::at_start("1 000 000 000 000 000 000 000 000").is_none());
    }

    #[test]
    fn what_stands_behind_a_figure_is_kept() {
        let figure = Figure::at_start("83% @ 16 threads").unwrap();
        assert!(figure.is(Dimension::Percent));
        assert_eq!(figure.rest, "@ 16 threads");
        assert_eq!(Figure::anywhere("AES 20% faster").unwrap().rest, "faster");
    }
}
