//! `iban`: international bank account numbers (ISO 13616), by the structure that the registry gives for each
//! country, with the check digits of ISO/IEC 7064 MOD 97-10.
//!
//! The country stays. The check digits are computed anew; 00, 01 and 99 can never be computed and are refused
//! even where the remainder is right. Check digits that a country has inside its account numbers are
//! permuted like any other digit: a token passes for an IBAN, not for an account of its bank.

mod table;

use super::check::Mod97;
use super::digits::{self, Bytes};
use super::{Amount, Codec, Count, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
pub(crate) use table::COUNTRIES;
use table::{Country, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Bank,
    Country,
}

#[derive(Debug)]
struct Iban {
    country: Option<&'static Country>,
    keep: Keep,
    delims: Bytes,
}

/// The longest IBAN.
const LONGEST: usize = 34;

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let country = arguments.read("country", Some("any"), |text| {
        let found = COUNTRIES
            .iter()
            .find(|country| country.code.as_slice() == text.as_bytes());
        match (text, found) {
            ("any", _) => Ok((None, text.to_owned())),
            (_, Some(country)) => Ok((Some(country), text.to_owned())),
            _ => Err(Problem::Country),
        }
    })?;
    let words = [("country", Keep::Country), ("bank", Keep::Bank)];
    let keep = arguments.word("keep", "country", &words, "country or bank")?;
    let delims = digits::delims(arguments, " ")?;
    Ok(Box::new(Iban {
        country,
        keep,
        delims,
    }))
}

/// The number that an IBAN is to MOD 97: what stands behind the check digits, the country, the check digits.
fn remainder(text: &[u8]) -> u8 {
    let (front, behind) = text.split_at(4.min(text.len()));
    let mut number = Mod97::default();
    behind
        .iter()
        .chain(front)
        .for_each(|byte| number.push(*byte));
    number.remainder()
}

impl Iban {
    /// The characters without delimiters, and their number.
    fn scan(&self, value: &[u8]) -> Result<([u8; LONGEST], usize), Misfit> {
        let (mut text, mut count) = ([0; LONGEST], 0);
        for (position, byte) in value.iter().enumerate() {
            if byte.is_ascii_digit() || byte.is_ascii_uppercase() {
                *text.get_mut(count).ok_or(Misfit::Length)? = *byte;
                count += 1;
            } else if !self.delims.has(*byte) {
                return Err(Misfit::Symbol { position });
            }
        }
        Ok((text, count))
    }

    fn country(&self, text: &[u8]) -> Result<&'static Country, Misfit> {
        let code = text.get(..2).ok_or(Misfit::Length)?;
        let found = match self.country {
            Some(country) => Some(country).filter(|country| country.code == code),
            None => table::find(code),
        };
        found.ok_or(Misfit::Country)
    }

    /// Characters behind the check digits that stay.
    const fn kept(&self, country: &Country) -> usize {
        match self.keep {
            Keep::Bank => country.bank,
            Keep::Country => 0,
        }
    }

    fn count(&self, country: &Country) -> Count {
        let mut count = Count::new(1);
        for (kind, free) in country.free(self.kept(country)) {
            count = count.times_power(kind.radix().into(), free.len());
        }
        count
    }
}

impl Codec for Iban {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (text, count) = self.scan(value)?;
        let (text, _) = text.split_at(count);
        let country = self.country(text)?;
        if count != country.length() + 4 {
            return Err(Misfit::Length);
        }
        let check = text.get(2..4).unwrap_or_default();
        let number = check
            .iter()
            .fold(0, |n, b| n * 10 + u32::from(b.wrapping_sub(b'0')));
        if !check.iter().all(u8::is_ascii_digit)
            || !(2..=98).contains(&number)
            || remainder(text) != 1
        {
            return Err(Misfit::Check);
        }
        let account = text.get(4..).unwrap_or_default();
        let kept = self.kept(country);
        if self.country.is_none() {
            sink.keep(&country.code, Bytes::NONE);
        }
        if kept > 0 {
            country.judge(account, kept)?;
            sink.keep(account.get(..kept).unwrap_or_default(), Bytes::NONE);
        }
        for (kind, free) in country.free(kept) {
            let run = account.get(free).unwrap_or_default();
            for byte in run {
                sink.symbol(kind.digit(*byte).ok_or(Misfit::Canonical)?.into());
            }
            sink.run(kind.radix(), run.len());
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok((mut text, count)) = self.scan(value) else {
            return;
        };
        let (text, _) = text.split_at_mut(count);
        let Ok(country) = self.country(text) else {
            return;
        };
        let (front, account) = text.split_at_mut(4.min(count));
        for (kind, free) in country.free(self.kept(country)) {
            for place in account.get_mut(free).unwrap_or_default() {
                *place = kind.symbol(source.symbol());
            }
        }
        if let [_, _, tens, ones] = front {
            (*tens, *ones) = (b'0', b'0');
        }
        let check = 98 - remainder(text);
        if let [_, _, tens, ones, ..] = text {
            (*tens, *ones) = (check / 10 + b'0', check % 10 + b'0');
        }
        let mut next = text.iter();
        out.extend(value.iter().map(|byte| {
            if byte.is_ascii_alphanumeric() {
                next.next().copied().unwrap_or(*byte)
            } else {
                *byte
            }
        }));
    }

    fn amount(&self) -> Amount {
        let one = |country: &Country| {
            let count = self.count(country);
            Amount {
                least: count,
                most: count,
            }
        };
        match self.country {
            Some(country) => one(country),
            None => COUNTRIES
                .iter()
                .map(one)
                .reduce(Amount::joined)
                .unwrap_or(Amount::new(1)),
        }
    }

    fn keeps(&self) -> bool {
        self.country.is_none() || self.keep == Keep::Bank
    }

    fn example(&self) -> String {
        let code = self.country.map_or(*b"DE", |country| country.code);
        let found = COUNTRIES.iter().find(|country| country.code == code);
        let mut text = code.to_vec();
        text.extend_from_slice(b"00");
        for kind in found.map(|country| country.kinds()).into_iter().flatten() {
            text.push(if kind == Kind::Letter { b'A' } else { b'1' });
        }
        let check = 98 - remainder(&text);
        let text = String::from_utf8(text).unwrap_or_default();
        let (country, account) = text.split_at(2);
        let account = account.get(2..).unwrap_or_default();
        format!("{country}{check:02}{account}")
    }

    fn outline(&self) -> Outline {
        Outline {
            lengths: 15..=usize::MAX,
            front: vec![Bytes::range(b'A', b'Z').or(self.delims)],
        }
    }
}
