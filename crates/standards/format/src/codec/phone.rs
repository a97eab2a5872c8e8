//! `phone`: telephone numbers in the international form of ITU-T E.164, `+`, calling code and national
//! number; or, with one calling code given, the national number alone.
//!
//! The calling code and the number of digits stay. Numbers of the North American plan are NXX NXX XXXX with
//! N from 2 to 9, no area or exchange code N11, and no area code N9X; other plans by the table below, and
//! without an entry there: a first digit from 1 to 9, 4 to 15 digits with the calling code. Whether a number
//! is given out is not asked.

use super::digits::{self, Bytes};
use super::{Amount, Codec, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
use std::ops::RangeInclusive;

/// A national numbering plan.
#[derive(Debug)]
struct Plan {
    code: u16,
    lengths: RangeInclusive<usize>,
    /// The first digits that are used.
    first: RangeInclusive<u8>,
}

macro_rules! plans {
    ($($code:literal $least:literal $most:literal $low:literal $high:literal;)+) => {
        static PLANS: &[Plan] = &[$(Plan {
            code: $code,
            lengths: $least..=$most,
            first: $low..=$high,
        }),+];
    };
}

plans! {
    31 9 9 1 9;
    32 8 9 1 9;
    33 9 9 1 9;
    34 9 9 5 9;
    39 6 11 0 9;
    41 9 9 1 9;
    44 9 10 1 9;
    45 8 8 2 9;
    47 8 8 2 9;
    48 9 9 1 9;
    61 9 9 1 9;
    81 9 10 1 9;
    86 10 11 1 9;
    91 10 10 1 9;
    351 9 9 1 9;
    420 9 9 1 9;
}

static ELSEWHERE: Plan = Plan {
    code: 0,
    lengths: 4..=14,
    first: 1..=9,
};

/// The calling code of the North American plan.
const NANP: u16 = 1;
/// 8 * 9 * 10 area codes N[0-8]X, without eight N11.
const AREAS: u64 = 712;
/// 8 * 10 * 10 exchange codes NXX, without eight N11.
const EXCHANGES: u64 = 792;
const LINES: u64 = 10_000;
const LONGEST: usize = 15;

#[derive(Debug)]
struct Phone {
    code: Option<u16>,
    form: Form,
    /// National digits that stay.
    prefix: usize,
    delims: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    E164,
    National,
}

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let code = arguments.read("country", Some("any"), |text| {
        if text == "any" {
            return Ok((None, text.to_owned()));
        }
        let number = text.parse().map_err(|_| Problem::Country)?;
        let digits: Vec<u8> = text.bytes().map(|byte| byte.wrapping_sub(b'0')).collect();
        let whole = code_length(&digits) == Some(digits.len());
        if whole {
            Ok((Some(number), text.to_owned()))
        } else {
            Err(Problem::Country)
        }
    })?;
    let forms = [("e164", Form::E164), ("national", Form::National)];
    let form = arguments.word("form", "e164", &forms, "e164 or national")?;
    let prefix = arguments.count("prefix", "0", 0..=6)?;
    let delims = digits::delims(arguments, " ()-./")?;
    if delims.has(b'+') || (form == Form::National && code.is_none()) {
        let problem = Problem::Expected("one calling code, for the national form");
        return Err(Error::at(arguments.at(), problem));
    }
    if code == Some(NANP) && !matches!(prefix, 0 | 3 | 6) {
        let problem = Problem::Expected("a prefix of 0, 3 or 6 digits under calling code 1");
        return Err(Error::at(arguments.at(), problem));
    }
    Ok(Box::new(Phone {
        code,
        form,
        prefix,
        delims,
    }))
}

/// How many digits the calling code at the front has (ITU-T E.164 annex: zones).
fn code_length(digits: &[u8]) -> Option<usize> {
    let [first, second] = digits
        .get(..2)
        .map_or([digits.first().copied()?, 0], |two| {
            let mut pair = [0; 2];
            pair.copy_from_slice(two);
            pair
        });
    match (first, second) {
        (1 | 7, _) => Some(1),
        (2, 0 | 7) | (3, 0..=4 | 6 | 9) | (4, 0 | 1 | 3..=9) => Some(2),
        (5, 1..=8) | (6, 0..=6) | (8, 1 | 2 | 4 | 6) | (9, 0..=5 | 8) => Some(2),
        (2..=6 | 8 | 9, _) => Some(3),
        _ => None,
    }
}

fn plan(code: u16) -> &'static Plan {
    PLANS
        .iter()
        .find(|plan| plan.code == code)
        .unwrap_or(&ELSEWHERE)
}

/// The place of an area code N[0-8]X or, with `nines`, of an exchange code NXX, among those that exist.
fn place(digits: &[u8], seconds: u64) -> Option<u64> {
    let number = digits::number(digits);
    let (first, second, third) = (number / 100, number / 10 % 10, number % 10);
    if digits.len() != 3 || first < 2 || second >= seconds || (second, third) == (1, 1) {
        return None;
    }
    let within = second * 10 + third;
    Some((first - 2) * (seconds * 10 - 1) + within - u64::from(within > 11))
}

fn put_place(place: u64, seconds: u64, digits: &mut [u8]) {
    let block = seconds * 10 - 1;
    let within = place % block;
    let within = within + u64::from(within >= 11);
    digits::put_number((place / block + 2) * 100 + within, digits);
}

impl Phone {
    /// The digits, their number, and how many of them are the calling code.
    fn scan(&self, value: &[u8]) -> Result<([u8; LONGEST], usize, usize), Misfit> {
        let text = match self.form {
            Form::E164 => value
                .strip_prefix(b"+")
                .ok_or(Misfit::Symbol { position: 0 })?,
            Form::National => value,
        };
        let scanned = digits::scan::<LONGEST>(text, self.delims);
        let (digits, count) = scanned.map_err(|misfit| match misfit {
            Misfit::Symbol { position } => Misfit::Symbol {
                position: position + value.len() - text.len(),
            },
            other => other,
        })?;
        let code = match self.form {
            Form::E164 => code_length(digits.get(..count).unwrap_or_default())
                .filter(|length| *length < count)
                .ok_or(Misfit::Country)?,
            Form::National => 0,
        };
        Ok((digits, count, code))
    }

    fn code(&self, digits: &[u8]) -> Result<u16, Misfit> {
        if self.form == Form::National {
            return self.code.ok_or(Misfit::Country);
        }
        let code = u16::try_from(digits::number(digits)).map_err(|_| Misfit::Country)?;
        if self.code.is_some_and(|only| only != code) {
            return Err(Misfit::Country);
        }
        Ok(code)
    }

    fn read_american(&self, national: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (area, rest) = national.split_at_checked(3).ok_or(Misfit::Length)?;
        let (exchange, line) = rest.split_at_checked(3).ok_or(Misfit::Length)?;
        if line.len() != 4 {
            return Err(Misfit::Length);
        }
        let area = place(area, 9).ok_or(Misfit::Excluded)?;
        let exchange = place(exchange, 10).ok_or(Misfit::Excluded)?;
        if self.prefix < 3 {
            sink.number(area.into(), AREAS.into());
        }
        if self.prefix < 6 {
            sink.number(exchange.into(), EXCHANGES.into());
        }
        sink.number(digits::number(line).into(), LINES.into());
        Ok(())
    }

    fn write_american(&self, source: &mut Source<'_>, national: &mut [u8]) {
        let Some((area, rest)) = national.split_at_mut_checked(3) else {
            return;
        };
        let Some((exchange, line)) = rest.split_at_mut_checked(3) else {
            return;
        };
        let mut next = || u64::try_from(source.number()).unwrap_or_default();
        if self.prefix < 3 {
            put_place(next(), 9, area);
        }
        if self.prefix < 6 {
            put_place(next(), 10, exchange);
        }
        digits::put_number(next(), line);
    }

    /// The first digit is a number of its own where not every digit is used.
    fn first(&self, plan: &Plan) -> Option<RangeInclusive<u8>> {
        (self.prefix == 0 && plan.first != (0..=9)).then(|| plan.first.clone())
    }
}

impl Codec for Phone {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (digits, count, length) = self.scan(value)?;
        let (code, national) = digits.split_at(length);
        let (national, _) = national.split_at(count - length);
        let number = self.code(code)?;
        let plan = plan(number);
        if self.code.is_none() {
            sink.keep_digits(code);
        }
        let american = number == NANP;
        if !american && !plan.lengths.contains(&national.len()) {
            return Err(Misfit::Length);
        }
        let (kept, free) = national.split_at(self.kept(number, national.len()));
        if !kept.is_empty() {
            sink.keep_digits(kept);
        }
        if american {
            return self.read_american(national, sink);
        }
        let first = national.first().copied().ok_or(Misfit::Length)?;
        if !plan.first.contains(&first) {
            return Err(Misfit::Excluded);
        }
        match (self.first(plan), free.split_first()) {
            (Some(range), Some((first, rest))) => {
                let modulus = range.end() - range.start() + 1;
                sink.number((first - range.start()).into(), modulus.into());
                digits::put(rest, sink);
            }
            _ => digits::put(free, sink),
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok((mut digits, count, length)) = self.scan(value) else {
            return;
        };
        let (all, _) = digits.split_at_mut(count);
        let (code, national) = all.split_at_mut(length);
        let Ok(number) = self.code(code) else {
            return;
        };
        if number == NANP {
            self.write_american(source, national);
        } else {
            let kept = self.kept(number, national.len());
            let (_, free) = national.split_at_mut(kept);
            match (self.first(plan(number)), free.split_first_mut()) {
                (Some(range), Some((first, rest))) => {
                    *first = range.start() + u8::try_from(source.number()).unwrap_or_default();
                    digits::take(source, rest);
                }
                _ => digits::take(source, free),
            }
        }
        digits::spread(value, all, out);
    }

    fn amount(&self) -> Amount {
        let american = match self.prefix {
            0..3 => AREAS * EXCHANGES * LINES,
            3..6 => EXCHANGES * LINES,
            _ => LINES,
        };
        let american = Amount::new(american.into());
        let other = |plan: &Plan| {
            let (first, rest) = match self.first(plan) {
                Some(range) => (range.end() - range.start() + 1, 1),
                None => (1, self.prefix),
            };
            let lengths = plan.lengths.start().saturating_sub(rest)..=plan.lengths.end() - rest;
            Amount::new(first.into()).times_power(10, lengths)
        };
        match self.code {
            Some(NANP) => american,
            Some(code) => other(plan(code)),
            None => PLANS
                .iter()
                .map(other)
                .fold(american.joined(other(&ELSEWHERE)), Amount::joined),
        }
    }

    fn keeps(&self) -> bool {
        self.code.is_none() || self.prefix > 0
    }

    fn example(&self) -> String {
        let code = self.code.unwrap_or(NANP);
        let national = match code {
            NANP => "2125550123".to_owned(),
            code => {
                let plan = plan(code);
                let length = 9.clamp(*plan.lengths.start(), *plan.lengths.end());
                plan.first.end().to_string().repeat(length)
            }
        };
        match self.form {
            Form::E164 => format!("+{code}{national}"),
            Form::National => national,
        }
    }

    fn outline(&self) -> Outline {
        let front = match self.form {
            Form::E164 => vec![Bytes::NONE.with(b'+')],
            Form::National => Vec::new(),
        };
        Outline {
            front,
            ..Outline::default()
        }
    }
}

impl Phone {
    /// National digits that stay. Under the North American plan whole groups of three.
    fn kept(&self, code: u16, count: usize) -> usize {
        let kept = if code == NANP {
            self.prefix / 3 * 3
        } else {
            self.prefix
        };
        kept.min(count)
    }
}
