//! `date`, `datetime` and `time`: moments of the Gregorian calendar (also before it was introduced) within
//! a range, at the resolution of their form.
//!
//! A form is made of YYYY, MM, DD, hh, mm, ss, fff (milliseconds), M and D (without a leading zero) and of
//! other characters that are no letters; T and Z stand for themselves. Leap seconds are outside.

mod calendar;

use std::ops::RangeInclusive;

use super::Amount;
use super::digits::Bytes;
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
use calendar::{civil, days, days_of};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A part of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Field { field: Field, width: usize },
    Other(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
}

impl Field {
    const ALL: [Self; 7] = [
        Self::Year,
        Self::Month,
        Self::Day,
        Self::Hour,
        Self::Minute,
        Self::Second,
        Self::Milli,
    ];
}

/// The values of the fields, by [`Field`].
type Fields = [i64; 7];

#[derive(Debug)]
pub(crate) struct Moment {
    parts: Vec<Part>,
    /// Milliseconds of a unit.
    step: i64,
    /// In units since 0000-03-01, both within.
    first: i64,
    last: i64,
}

pub(crate) fn build(name: &str, arguments: &mut Arguments<'_>) -> Result<Moment, Error> {
    let (form, from, to) = match name {
        "date" => ("YYYY-MM-DD", "0001-01-01", "9999-12-31"),
        "datetime" => ("YYYY-MM-DDThh:mm:ss", "1900-01-01", "2099-12-31"),
        _ => ("hh:mm:ss.fff", "00:00:00.000", "23:59:59.999"),
    };
    let kind = if name == "time" {
        Kind::Time
    } else {
        Kind::Date
    };
    let parts = arguments.read("form", Some(form), |text| {
        let parts = parse_form(text)?;
        let dated = has(&parts, Field::Day);
        if dated == (kind == Kind::Time) {
            return Err(Problem::Expected(
                "a form with a day for dates, without one for times",
            ));
        }
        Ok((parts, text.to_owned()))
    })?;
    let end = |end: End| move |text: &str| bound(text, kind, end);
    let from = arguments.read("from", Some(from), end(End::From))?;
    let to = arguments.read("to", Some(to), end(End::To))?;
    let step = step(&parts);
    let moment = Moment {
        parts,
        step,
        first: from.div_euclid(step) + i64::from(from.rem_euclid(step) > 0),
        last: to.div_euclid(step),
    };
    if moment.first >= moment.last {
        let problem = Problem::Expected("from before to");
        return Err(Error::at(arguments.at(), problem));
    }
    Ok(moment)
}

fn has(parts: &[Part], wanted: Field) -> bool {
    parts
        .iter()
        .any(|part| matches!(part, Part::Field { field, .. } if *field == wanted))
}

fn step(parts: &[Part]) -> i64 {
    let unit = |part: &Part| match part {
        Part::Field { field, .. } => match field {
            Field::Year | Field::Month | Field::Day => DAY,
            Field::Hour => 3_600_000,
            Field::Minute => 60_000,
            Field::Second => 1_000,
            Field::Milli => 1,
        },
        Part::Other(_) => DAY,
    };
    parts.iter().map(unit).min().unwrap_or(DAY)
}

fn parse_form(text: &str) -> Result<Vec<Part>, Problem> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first().copied() {
        let width = rest.iter().take_while(|byte| **byte == first).count();
        let field = match (first, width) {
            (b'Y', 4) => Some(Field::Year),
            (b'M', 1 | 2) => Some(Field::Month),
            (b'D', 1 | 2) => Some(Field::Day),
            (b'h', 2) => Some(Field::Hour),
            (b'm', 2) => Some(Field::Minute),
            (b's', 2) => Some(Field::Second),
            (b'f', 3) => Some(Field::Milli),
            _ => None,
        };
        match field {
            Some(field) if has(&parts, field) => return Err(Problem::Duplicate),
            Some(field) => parts.push(Part::Field { field, width }),
            None if first == b'T' || first == b'Z' || other(first) => {
                parts.extend(std::iter::repeat_n(Part::Other(first), width));
            }
            None => {
                return Err(Problem::Expected(
                    "YYYY, MM, DD, hh, mm, ss, fff, M, D, T, Z, spaces and punctuation",
                ));
            }
        }
        rest = rest.get(width..).unwrap_or_default();
    }
    judge_form(&parts)?;
    Ok(parts)
}

const fn other(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_punctuation()
}

/// The units have no gap, and what varies in width is not followed by a digit.
fn judge_form(parts: &[Part]) -> Result<(), Problem> {
    let given: Vec<bool> = Field::ALL.iter().map(|field| has(parts, *field)).collect();
    let first = given.iter().position(|given| *given);
    let last = given.iter().rposition(|given| *given);
    let whole = match (first, last) {
        (Some(first @ (0 | 3)), Some(last)) if first == 3 || last >= 2 => {
            given.iter().take(last + 1).skip(first).all(|given| *given)
        }
        _ => false,
    };
    if !whole {
        return Err(Problem::Expected(
            "year, month and day, or hours, and then finer units without a gap",
        ));
    }
    let runs_on =
        |pair: &[Part]| matches!(pair, [Part::Field { width: 1, .. }, Part::Field { .. }]);
    if parts.windows(2).any(runs_on) {
        return Err(Problem::Ambiguous);
    }
    Ok(())
}

/// With or without a day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Date,
    Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    From,
    To,
}

/// An end of the range, in milliseconds: a day as its first or last moment, or a moment.
fn bound(text: &str, kind: Kind, end: End) -> Result<(i64, String), Problem> {
    let expected =
        Problem::Expected("a day such as 1900-01-31, with or without a time such as T08:15:00.000");
    let (day, clock) = match text.split_once('T') {
        Some((day, clock)) => (day, Some(clock)),
        None if kind == Kind::Time => ("", Some(text)),
        None => (text, None),
    };
    let mut fields = [0, 3, 1, 0, 0, 0, 0];
    if kind == Kind::Date {
        let parts = parse_form("YYYY-MM-DD")?;
        fields = read_fields(&parts, day.as_bytes(), 0)
            .map_err(|_| expected)?
            .0;
        if day.len() != 10 {
            return Err(expected);
        }
    }
    let clock = match (clock, end) {
        (Some(clock), _) => clock.to_owned(),
        (None, End::From) => "00:00:00.000".to_owned(),
        (None, End::To) => "23:59:59.999".to_owned(),
    };
    let full = "00:00:00.000".get(clock.len()..).ok_or(expected)?;
    let clock = clock + full;
    let parts = parse_form("hh:mm:ss.fff")?;
    let (times, _) = read_fields(&parts, clock.as_bytes(), 0).map_err(|_| expected)?;
    for (field, time) in fields.iter_mut().zip(times).skip(3) {
        *field = time;
    }
    let canonical = match kind {
        Kind::Date => format!("{day}T{clock}"),
        Kind::Time => clock,
    };
    Ok((millis(&fields).map_err(|_| expected)?, canonical))
}

/// Reads the parts from `at`, and where they end. Fields that do not stand there are those of 0000-03-01.
fn read_fields(parts: &[Part], value: &[u8], at: usize) -> Result<(Fields, usize), Misfit> {
    let mut fields = [0, 3, 1, 0, 0, 0, 0];
    let mut position = at;
    for part in parts {
        match part {
            Part::Other(byte) => {
                if value.get(position) != Some(byte) {
                    return Err(misplaced(value, position));
                }
                position += 1;
            }
            Part::Field { field, width } => {
                let most = if *width == 1 { 2 } else { *width };
                let (number, count) = number(value, position, most);
                if count < *width {
                    return Err(misplaced(value, position + count));
                }
                if *width == 1 && count > 1 && number < 10 {
                    return Err(Misfit::Canonical);
                }
                if let Some(place) = fields.get_mut(*field as usize) {
                    *place = number;
                }
                position += count;
            }
        }
    }
    Ok((fields, position))
}

fn number(value: &[u8], at: usize, most: usize) -> (i64, usize) {
    let digits = value.get(at..).unwrap_or_default().iter().take(most);
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold((0, 0), |(number, count), byte| {
        (number * 10 + i64::from(byte - b'0'), count + 1)
    })
}

const fn misplaced(value: &[u8], position: usize) -> Misfit {
    if position < value.len() {
        Misfit::Symbol { position }
    } else {
        Misfit::Length
    }
}

/// Milliseconds since the start of 0000-03-01.
fn millis(fields: &Fields) -> Result<i64, Misfit> {
    let [year, month, day, hour, minute, second, milli] = *fields;
    let within = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !within {
        return Err(Misfit::Range);
    }
    let clock = ((hour * 60 + minute) * 60 + second) * 1_000 + milli;
    Ok(days(year, month, day) * DAY + clock)
}

impl Moment {
    fn modulus(&self) -> u128 {
        u128::from(self.last.abs_diff(self.first)) + 1
    }

    pub(crate) fn first(&self) -> Bytes {
        match self.parts.first() {
            Some(Part::Other(byte)) => Bytes::NONE.with(*byte),
            _ => Bytes::DIGITS,
        }
    }

    pub(crate) fn greedy(&self) -> Bytes {
        match self.parts.last() {
            Some(Part::Field { width: 1, .. }) => Bytes::DIGITS,
            _ => Bytes::NONE,
        }
    }

    pub(crate) fn widths(&self) -> RangeInclusive<usize> {
        let width = |part: &Part| match part {
            Part::Field { width, .. } => (*width, (*width).max(2)),
            Part::Other(_) => (1, 1),
        };
        let add = |(least, most), (low, high)| (least + low, most + high);
        let (least, most) = self.parts.iter().map(width).fold((0, 0), add);
        least..=most
    }

    pub(crate) fn read(&self, value: &[u8], at: usize, sink: &mut Sink) -> Result<usize, Misfit> {
        let (fields, end) = read_fields(&self.parts, value, at)?;
        let unit = millis(&fields)?.div_euclid(self.step);
        if !(self.first..=self.last).contains(&unit) {
            return Err(Misfit::Range);
        }
        sink.number(unit.abs_diff(self.first).into(), self.modulus());
        Ok(end)
    }

    pub(crate) fn write(
        &self,
        value: &[u8],
        at: usize,
        source: &mut Source<'_>,
        out: &mut Vec<u8>,
    ) -> usize {
        let rank = i64::try_from(source.number()).unwrap_or_default();
        self.spell(self.first + rank, out);
        read_fields(&self.parts, value, at).map_or(value.len(), |(_, end)| end)
    }

    fn spell(&self, unit: i64, out: &mut Vec<u8>) {
        let millis = unit * self.step;
        let (year, month, day) = civil(millis.div_euclid(DAY));
        let clock = millis.rem_euclid(DAY);
        let fields = [
            year,
            month,
            day,
            clock / 3_600_000,
            clock / 60_000 % 60,
            clock / 1_000 % 60,
            clock % 1_000,
        ];
        for part in &self.parts {
            match part {
                Part::Other(byte) => out.push(*byte),
                Part::Field { field, width } => {
                    let number = fields.get(*field as usize).copied().unwrap_or_default();
                    put(number, *width, out);
                }
            }
        }
    }

    pub(crate) fn amount(&self) -> Amount {
        Amount::new(self.modulus())
    }

    pub(crate) fn example(&self) -> String {
        let mut out = Vec::new();
        self.spell(self.first, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}

/// A number with at least so many digits.
fn put(number: i64, width: usize, out: &mut Vec<u8>) {
    let scale = [1_000, 100, 10, 1];
    let mut shown = false;
    for (left, power) in (1..=4).rev().zip(scale) {
        let digit = u8::try_from(number / power % 10).unwrap_or_default();
        shown |= digit > 0 || left <= width;
        if shown {
            out.push(b'0' + digit);
        }
    }
}
