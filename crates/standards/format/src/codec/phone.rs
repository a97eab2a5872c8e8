//! `phone`: telephone numbers in the international form of ITU-T E.164, `+`, calling code and national
//! number; or, with one calling code given, the national number alone.
//!
//! The calling code and the number of digits stay. Ten digits of the North American plan are NXX NXX XXXX with
//! N from 2 to 9, no area code N11, and no area code N9X. Other numbers have a length and a first digit that the
//! numbering plan of their calling code uses ([`table`]); under a calling code that is not assigned, 4 to 15 digits
//! with the calling code. Whether a number is assigned to a subscriber is not checked.

mod plan;
mod table;

use super::digits::{self, Bytes};
use super::{Amount, Codec, Outline, Side, SmallSet};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
use plan::{FirstDigits, Numbers, Plan, Revision, ServiceExchanges};

/// The calling code of the North American plan, and the length of its national numbers.
const NANP: u16 = 1;
const NANP_LENGTH: usize = 10;
/// 8 * 9 * 10 area codes N[0-8]X, without eight N11.
const AREAS: u64 = 712;
const LINES: u64 = 10_000;
/// The newest revision: which numbers fit, and so what their ranks mean, depends on the plans.
pub(crate) const NEWEST: u32 = 2;
/// Digits of the longest number of E.164, with its calling code.
const LONGEST: usize = 15;

#[derive(Debug)]
struct Phone {
    revision: &'static Revision,
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
    let known = Revision::ALL
        .into_iter()
        .find(|revision| revision.number == arguments.revision());
    let revision = known.ok_or_else(|| Error::at(arguments.at(), Problem::Revision(NEWEST)))?;
    Ok(Box::new(Phone {
        revision,
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

/// How the national part of a number is permuted.
#[derive(Clone, Copy, Debug)]
enum Structure {
    /// Area code, exchange code and line of the North American plan.
    American,
    /// A first digit of this set, and any others.
    Digits(FirstDigits),
}

/// The place of an area code N[0-8]X (9 `seconds`) or exchange code NXX (10 `seconds`) among those without N11.
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

    fn exchange_place(&self, digits: &[u8]) -> Option<u64> {
        match self.revision.service_exchanges {
            ServiceExchanges::Included => digits::number(digits).checked_sub(200),
            ServiceExchanges::Excluded => place(digits, 10),
        }
    }

    fn read_american(&self, national: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (area, rest) = national.split_at_checked(3).ok_or(Misfit::Length)?;
        let (exchange, line) = rest.split_at_checked(3).ok_or(Misfit::Length)?;
        if line.len() != 4 {
            return Err(Misfit::Length);
        }
        let area = place(area, 9).ok_or(Misfit::Excluded)?;
        let exchange = self.exchange_place(exchange).ok_or(Misfit::Excluded)?;
        if self.prefix < 3 {
            sink.number(area.into(), AREAS.into());
        }
        if self.prefix < 6 {
            let exchanges = self.revision.service_exchanges.count();
            sink.number(exchange.into(), exchanges.into());
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
            match self.revision.service_exchanges {
                ServiceExchanges::Included => digits::put_number(next() + 200, exchange),
                ServiceExchanges::Excluded => put_place(next(), 10, exchange),
            }
        }
        digits::put_number(next(), line);
    }

    fn read_digits(
        &self,
        first: FirstDigits,
        national: &[u8],
        sink: &mut Sink,
    ) -> Result<(), Misfit> {
        let digit = national.first().copied().ok_or(Misfit::Length)?;
        if !first.has(digit) {
            return Err(Misfit::Excluded);
        }
        let free = national.get(self.prefix..).unwrap_or_default();
        match free.split_first() {
            Some((digit, rest)) if self.ranks_first(first) => {
                sink.number(first.rank(*digit).into(), first.count().into());
                digits::put(rest, sink);
            }
            _ => digits::put(free, sink),
        }
        Ok(())
    }

    fn write_digits(&self, first: FirstDigits, source: &mut Source<'_>, national: &mut [u8]) {
        let free = national.get_mut(self.prefix..).unwrap_or_default();
        match free.split_first_mut() {
            Some((digit, rest)) if self.ranks_first(first) => {
                *digit = first.at(source.number());
                digits::take(source, rest);
            }
            _ => digits::take(source, free),
        }
    }

    /// Whether the first digit is free, and a number of its own because not every digit is used.
    fn ranks_first(&self, first: FirstDigits) -> bool {
        self.prefix == 0 && !first.is_all()
    }

    /// How numbers of this length are permuted under a calling code, if there are such numbers.
    fn structure(&self, code: u16, length: usize) -> Option<Structure> {
        if let (NANP, NANP_LENGTH) = (code, length) {
            return Some(Structure::American);
        }
        self.revision
            .plan(code)
            .first(length)
            .map(Structure::Digits)
    }

    /// National digits that stay.
    fn kept(&self, structure: Structure, length: usize) -> usize {
        match structure {
            // Whole groups of three.
            Structure::American => self.prefix / 3 * 3,
            Structure::Digits(_) => self.prefix.min(length),
        }
    }

    fn american_amount(&self) -> Amount {
        let exchanges = self.revision.service_exchanges.count();
        Amount::new(u128::from(match self.prefix {
            0..3 => AREAS * exchanges * LINES,
            3..6 => exchanges * LINES,
            _ => LINES,
        }))
    }

    /// The sizes of the sets of one plan, if it has numbers.
    fn plan_amount(&self, plan: &Plan) -> Option<Amount> {
        let amounts = plan
            .numbers
            .iter()
            .map(|numbers| self.numbers_amount(numbers));
        amounts.reduce(Amount::joined)
    }

    fn numbers_amount(&self, numbers: &Numbers) -> Amount {
        let (first, fixed) = if self.ranks_first(numbers.first) {
            (numbers.first.count(), 1)
        } else {
            (1, self.prefix)
        };
        let free = numbers.length.saturating_sub(fixed);
        Amount::new(first.into()).times_power(10, free..=free)
    }

    /// The numbers of a plan whose sets are below the floor; `code` is its calling code, if it has one.
    fn small_sets_of(&self, code: Option<u16>, plan: &Plan, floor: u32) -> Option<SmallSet> {
        let is_small = |amount: Amount| amount.most.is_below(floor.into());
        let american = (code == Some(NANP)).then(|| (NANP_LENGTH, self.american_amount()));
        let numbers = plan.numbers.iter();
        let sets = numbers.map(|numbers| (numbers.length, self.numbers_amount(numbers)));
        let sets: Vec<(usize, Amount)> = sets.chain(american).collect();
        let small = sets.iter().filter(|(_, amount)| is_small(*amount));
        let lengths: Vec<usize> = small.map(|(length, _)| *length).collect();
        (!lengths.is_empty()).then(|| SmallSet {
            beginning: code.map_or_else(
                || "a calling code that is not assigned".to_owned(),
                |code| format!("+{code}"),
            ),
            is_all: lengths.len() == sets.len(),
            lengths,
        })
    }
}

impl Codec for Phone {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (digits, count, length) = self.scan(value)?;
        let (code, national) = digits.split_at(length);
        let (national, _) = national.split_at(count - length);
        let number = self.code(code)?;
        if self.code.is_none() {
            sink.keep_digits(code);
        }
        let structure = self
            .structure(number, national.len())
            .ok_or(Misfit::Length)?;
        let (kept, _) = national.split_at(self.kept(structure, national.len()));
        if !kept.is_empty() {
            sink.keep_digits(kept);
        }
        match structure {
            Structure::American => self.read_american(national, sink),
            Structure::Digits(first) => self.read_digits(first, national, sink),
        }
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
        match self.structure(number, national.len()) {
            Some(Structure::American) => self.write_american(source, national),
            Some(Structure::Digits(first)) => self.write_digits(first, source, national),
            None => return,
        }
        digits::spread(value, all, out);
    }

    fn amount(&self) -> Amount {
        let others: Option<Amount> = match self.code {
            Some(code) => self.plan_amount(self.revision.plan(code)),
            None => {
                let plans = self.revision.plans();
                let amounts = plans.filter_map(|plan| self.plan_amount(plan));
                amounts.reduce(Amount::joined)
            }
        };
        let american = matches!(self.code, None | Some(NANP)).then(|| self.american_amount());
        let both = american.into_iter().chain(others).reduce(Amount::joined);
        // A calling code whose plan has no numbers: a value never fits.
        both.unwrap_or(Amount::new(1))
    }

    fn data_source(&self) -> Option<&'static str> {
        Some(self.revision.source)
    }

    fn small_sets(&self, floor: u32) -> Vec<SmallSet> {
        if let Some(code) = self.code {
            let small = self.small_sets_of(Some(code), self.revision.plan(code), floor);
            return small.into_iter().collect();
        }
        let plans = self.revision.plans();
        let small = plans.filter_map(|plan| {
            let code = (plan.code > 0).then_some(plan.code);
            self.small_sets_of(code, plan, floor)
        });
        small.collect()
    }

    fn keeps(&self) -> bool {
        self.code.is_none() || self.prefix > 0
    }

    fn example(&self) -> String {
        let code = self.code.unwrap_or(NANP);
        let national = match code {
            NANP => "2125550123".to_owned(),
            code => self.revision.plan(code).example(),
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
            within: Bytes::DIGITS.or(self.delims).with(b'+'),
            ..Outline::default()
        }
    }
}
