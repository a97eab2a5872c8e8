//! `int` and `decimal`: numbers within a range, written in one way only.
//!
//! The range is the set: a value of few digits becomes any value of the range. A number has no leading
//! zeros unless `width` asks for so many digits, no plus sign, and -0 does not exist. A decimal has exactly
//! `scale` digits behind the point.

use std::ops::RangeInclusive;

use super::Amount;
use super::digits::Bytes;
use crate::arguments::{Arguments, whole};
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};

/// The farthest ends of a range: its size then fits 128 bits.
const FAR: i128 = i128::MAX / 2;
const WITHIN: RangeInclusive<i128> = -FAR..=FAR;

#[derive(Debug)]
pub(crate) struct Number {
    least: i128,
    most: i128,
    scale: usize,
    point: u8,
    width: usize,
}

pub(crate) fn build_int(arguments: &mut Arguments<'_>) -> Result<Number, Error> {
    let least = arguments.number("min", None, WITHIN)?;
    let most = arguments.number("max", None, WITHIN)?;
    let width = arguments.count("width", "0", 0..=38)?;
    let number = Number {
        least,
        most,
        scale: 0,
        point: b'.',
        width,
    };
    number.judged(arguments)
}

pub(crate) fn build_decimal(arguments: &mut Arguments<'_>) -> Result<Number, Error> {
    // The scale is asked for first: the ends of the range are written with as many digits.
    let scale = arguments.count("scale", "2", 1..=18)?;
    let end = |text: &str| {
        let unscaled = parse_scaled(text, scale)?;
        Ok((unscaled, spell_scaled(unscaled, scale)))
    };
    let least = arguments.read("min", None, end)?;
    let most = arguments.read("max", None, end)?;
    let points = [("dot", b'.'), ("comma", b',')];
    let point = arguments.word("point", "dot", &points, "dot or comma")?;
    let number = Number {
        least,
        most,
        scale,
        point,
        width: 0,
    };
    number.judged(arguments)
}

fn parse_scaled(text: &str, scale: usize) -> Result<i128, Problem> {
    let expected =
        Problem::Expected("a number with no more digits behind the point than the scale");
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    if behind.len() > scale || !behind.bytes().all(|b| b.is_ascii_digit()) {
        return Err(expected);
    }
    let signless = before.strip_prefix('-').unwrap_or(before);
    whole(signless, &WITHIN).map_err(|_| expected)?;
    let digits = format!("{signless}{behind:0<scale$}");
    let number: i128 = digits.parse().map_err(|_| expected)?;
    let number = if signless.len() < before.len() {
        -number
    } else {
        number
    };
    let problem = Problem::Range {
        least: *WITHIN.start(),
        most: *WITHIN.end(),
    };
    if WITHIN.contains(&number) {
        Ok(number)
    } else {
        Err(problem)
    }
}

fn spell_scaled(number: i128, scale: usize) -> String {
    let mut out = Vec::new();
    Number {
        least: number,
        most: number,
        scale,
        point: b'.',
        width: 0,
    }
    .spell(number, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Decimal digits of the largest number.
const DIGITS: usize = 39;

impl Number {
    fn judged(self, arguments: &Arguments<'_>) -> Result<Self, Error> {
        let wide = |number: i128| number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
        let digits = wide(self.least).max(wide(self.most)) as usize;
        if self.least >= self.most || (self.width > 0 && digits > self.width) {
            let problem = Problem::Expected("min below max, and both within the width");
            return Err(Error::at(arguments.at(), problem));
        }
        Ok(self)
    }

    fn modulus(&self) -> u128 {
        self.most.abs_diff(self.least) + 1
    }

    pub(crate) fn first(&self) -> Bytes {
        if self.least < 0 {
            Bytes::DIGITS.with(b'-')
        } else {
            Bytes::DIGITS
        }
    }

    pub(crate) fn greedy(&self) -> Bytes {
        if self.scale == 0 && self.width == 0 {
            Bytes::DIGITS
        } else {
            Bytes::NONE
        }
    }

    pub(crate) fn widths(&self) -> RangeInclusive<usize> {
        if self.width > 0 && self.least >= 0 {
            return self.width..=self.width;
        }
        let least = if self.width > 0 { self.width } else { 1 };
        least..=DIGITS + 3
    }

    pub(crate) fn read(&self, value: &[u8], at: usize, sink: &mut Sink) -> Result<usize, Misfit> {
        let (number, end) = self.parse(value, at)?;
        if !(self.least..=self.most).contains(&number) {
            return Err(Misfit::Range);
        }
        sink.number(number.abs_diff(self.least), self.modulus());
        Ok(end)
    }

    fn parse(&self, value: &[u8], at: usize) -> Result<(i128, usize), Misfit> {
        let minus = self.least < 0 && value.get(at) == Some(&b'-');
        let start = at + usize::from(minus);
        let wanted = if self.width > 0 { self.width } else { DIGITS };
        let (mut number, before) = digits(value, start, wanted, 0)?;
        let mut end = start + before;
        if before == 0 {
            return Err(misplaced(value, end));
        }
        let padded = self.width == 0 && before > 1 && value.get(start) == Some(&b'0');
        if padded || (self.width > 0 && before < self.width) {
            return Err(Misfit::Canonical);
        }
        if self.scale > 0 {
            if value.get(end) != Some(&self.point) {
                return Err(misplaced(value, end));
            }
            let (more, behind) = digits(value, end + 1, self.scale, number)?;
            if behind < self.scale {
                return Err(misplaced(value, end + 1 + behind));
            }
            number = more;
            end += 1 + self.scale;
        }
        if minus && number == 0 {
            return Err(Misfit::Canonical);
        }
        Ok((if minus { -number } else { number }, end))
    }

    /// Writes the number, and returns where the one that stands at `at` ends.
    pub(crate) fn write(
        &self,
        value: &[u8],
        at: usize,
        source: &mut Source<'_>,
        out: &mut Vec<u8>,
    ) -> usize {
        let rank = i128::try_from(source.number()).unwrap_or_default();
        self.spell(self.least.saturating_add(rank), out);
        self.parse(value, at).map_or(value.len(), |(_, end)| end)
    }

    fn spell(&self, number: i128, out: &mut Vec<u8>) {
        if number < 0 {
            out.push(b'-');
        }
        let mut text = [b'0'; DIGITS];
        let mut rest = number.unsigned_abs();
        let mut used = 0;
        for place in text.iter_mut().rev() {
            let digit = match u64::try_from(rest) {
                Ok(small) => {
                    rest = (small / 10).into();
                    small % 10
                }
                Err(_) => {
                    let digit = rest % 10;
                    rest /= 10;
                    u64::try_from(digit).unwrap_or_default()
                }
            };
            *place = b'0' + u8::try_from(digit).unwrap_or_default();
            used += 1;
            if rest == 0 {
                break;
            }
        }
        let shown = used.max(self.scale + 1).max(self.width).min(DIGITS);
        let (_, shown) = text.split_at(DIGITS - shown);
        let (before, behind) = shown.split_at(shown.len() - self.scale);
        out.extend_from_slice(before);
        if self.scale > 0 {
            out.push(self.point);
            out.extend_from_slice(behind);
        }
    }

    pub(crate) fn amount(&self) -> Amount {
        Amount::new(self.modulus())
    }

    pub(crate) fn example(&self) -> String {
        let mut out = Vec::new();
        self.spell(self.least, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}

/// Up to `most` digits behind `number`, and how many.
fn digits(value: &[u8], at: usize, most: usize, number: i128) -> Result<(i128, usize), Misfit> {
    let rest = value.get(at..).unwrap_or_default();
    let (mut number, mut count) = (number, 0);
    for byte in rest.iter().take(most).take_while(|b| b.is_ascii_digit()) {
        let digit = i128::from(byte - b'0');
        number = number
            .checked_mul(10)
            .and_then(|number| number.checked_add(digit))
            .ok_or(Misfit::Range)?;
        count += 1;
    }
    Ok((number, count))
}

const fn misplaced(value: &[u8], position: usize) -> Misfit {
    if position < value.len() {
        Misfit::Symbol { position }
    } else {
        Misfit::Length
    }
}
