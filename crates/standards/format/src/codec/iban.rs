//! `iban`: international bank account numbers (ISO 13616), by the structure that the registry gives for each
//! country, with the check digits of ISO/IEC 7064 MOD 97-10.
//!
//! The country stays. The check digits are computed anew; 00, 01 and 99 can never be computed and are refused
//! even where the remainder is right. Check digits that a country has inside its account numbers are
//! permuted like any other digit: a token passes for an IBAN, not for an account of its bank.

mod flat;
mod table;
mod words;

use super::digits::{self, Bytes};
use super::{Amount, Codec, Count, Flat, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
pub(crate) use table::COUNTRIES;
use table::{Country, Kind, WIDTH};

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
    flat: Option<flat::Accounts>,
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
    let whole = country.filter(|_| keep == Keep::Country);
    Ok(Box::new(Iban {
        country,
        keep,
        delims,
        flat: whole.and_then(flat::Accounts::new),
    }))
}

/// Digits are 0 to 9, letters 10 to 35; zeros behind the last.
type Codes = [u8; WIDTH];

/// The codes of characters, zeros where the digit 0 fills up, and whether all are digits or upper-case letters.
#[inline]
fn codes(text: &[u8; WIDTH]) -> (Codes, bool) {
    let (mut codes, mut bad) = ([0; WIDTH], 0);
    for (code, byte) in codes.iter_mut().zip(text) {
        let (digit, letter) = (byte.wrapping_sub(b'0'), byte.wrapping_sub(b'A'));
        bad |= u8::from(digit > 9) & u8::from(letter > 25);
        *code = digit.wrapping_sub(7 * u8::from(digit > 9));
    }
    (codes, bad == 0)
}

/// The inverse.
#[inline]
fn characters(codes: &Codes) -> [u8; WIDTH] {
    codes.map(|code| code + b'0' + 7 * u8::from(code > 9))
}

/// The number that an IBAN of `count` characters is to MOD 97: what stands behind the check digits, the country,
/// the check digits. A letter is two digits, so the weight of a character depends on the letters behind it.
fn remainder(codes: &Codes, count: usize) -> u8 {
    let (front, behind) = codes.split_at(4);
    let behind = behind.get(..count.saturating_sub(4)).unwrap_or_default();
    let add = |(sum, digits): (u32, usize), code: &u8| {
        let weight = WEIGHTS.get(digits % WEIGHTS.len()).copied();
        let code = u32::from(*code);
        // One more for a letter, without a comparison: a branch would be guessed wrongly as often as not.
        let letter = ((code + 118) >> 7) as usize;
        // At most 34 times 35 times 96.
        let sum = sum.wrapping_add(code.wrapping_mul(weight.unwrap_or_default()));
        (sum, digits + 1 + letter)
    };
    let from_the_end = front.iter().rev().chain(behind.iter().rev());
    let (sum, _) = from_the_end.fold((0, 0), add);
    u8::try_from(sum % 97).unwrap_or_default()
}

/// Powers of ten mod 97, for more digits than an IBAN of letters has.
static WEIGHTS: [u32; 128] = weights();

const fn weights() -> [u32; 128] {
    let mut weights = [1; 128];
    let mut place = 1;
    while place < weights.len() {
        weights[place] = weights[place - 1] * 10 % 97;
        place += 1;
    }
    weights
}

/// An IBAN without delimiters: its characters, filled up with the digit 0, their codes, and how many they are.
struct Scanned {
    text: [u8; WIDTH],
    codes: Codes,
    count: usize,
}

impl Iban {
    fn scan(&self, value: &[u8]) -> Result<Scanned, Misfit> {
        let mut text = [b'0'; WIDTH];
        if value.len() <= LONGEST {
            let (place, _) = text.split_at_mut(value.len());
            place.copy_from_slice(value);
            let (codes, all) = codes(&text);
            if all {
                return Ok(Scanned {
                    text,
                    codes,
                    count: value.len(),
                });
            }
        }
        self.scan_delimited(value)
    }

    fn scan_delimited(&self, value: &[u8]) -> Result<Scanned, Misfit> {
        let (mut text, mut count) = ([b'0'; WIDTH], 0);
        for (position, byte) in value.iter().enumerate() {
            if byte.is_ascii_digit() || byte.is_ascii_uppercase() {
                let place = text.get_mut(count).filter(|_| count < LONGEST);
                *place.ok_or(Misfit::Length)? = *byte;
                count += 1;
            } else if !self.delims.has(*byte) {
                return Err(Misfit::Symbol { position });
            }
        }
        let (codes, _) = codes(&text);
        Ok(Scanned { text, codes, count })
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
        let Scanned { text, codes, count } = self.scan(value)?;
        let country = self.country(text.get(..count).unwrap_or_default())?;
        if count != country.length() + 4 {
            return Err(Misfit::Length);
        }
        let [_, _, tens, ones, ..] = codes;
        let within = tens < 10 && ones < 10 && (2..=98).contains(&(10 * tens + ones));
        if !within || remainder(&codes, count) != 1 {
            return Err(Misfit::Check);
        }
        let kept = self.kept(country);
        let (mut symbols, mut bad) = ([0; WIDTH], 0);
        let layout = country.layout.least.iter().zip(&country.layout.above);
        for ((symbol, code), (least, above)) in symbols.iter_mut().zip(codes).zip(layout) {
            *symbol = code.wrapping_sub(*least);
            bad |= u8::from(*symbol > *above);
        }
        if bad > 0 {
            return Err(Misfit::Canonical);
        }
        if self.country.is_none() {
            sink.keep(&country.code, Bytes::NONE);
        }
        if kept > 0 {
            sink.keep(text.get(4..4 + kept).unwrap_or_default(), Bytes::NONE);
        }
        sink.symbols(symbols.get(4 + kept..count).unwrap_or_default());
        for (kind, free) in country.free(kept) {
            sink.run(kind.radix(), free.len());
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok(Scanned {
            text,
            mut codes,
            count,
        }) = self.scan(value)
        else {
            return;
        };
        let Ok(country) = self.country(text.get(..count).unwrap_or_default()) else {
            return;
        };
        let free = 4 + self.kept(country)..count;
        let least = country.layout.least.get(free.clone()).unwrap_or_default();
        let free = codes.get_mut(free).unwrap_or_default();
        let symbols = source.symbols(free.len());
        for ((code, symbol), least) in free.iter_mut().zip(symbols).zip(least) {
            *code = u8::try_from(*symbol)
                .unwrap_or_default()
                .wrapping_add(*least);
        }
        (codes[2], codes[3]) = (0, 0);
        let check = 98 - remainder(&codes, count);
        (codes[2], codes[3]) = (check / 10, check % 10);
        let made = characters(&codes);
        let made = made.get(..count).unwrap_or_default();
        if value.len() == count {
            out.extend_from_slice(made);
            return;
        }
        let mut next = made.iter();
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
        let mut text = [b'0'; WIDTH];
        let mut count = 4;
        for kind in found.map(|country| country.kinds()).into_iter().flatten() {
            if let Some(place) = text.get_mut(count) {
                *place = if kind == Kind::Letter { b'A' } else { b'1' };
            }
            count += 1;
        }
        (text[0], text[1]) = (code[0], code[1]);
        let (mut codes, _) = codes(&text);
        let check = 98 - remainder(&codes, count);
        (codes[2], codes[3]) = (check / 10, check % 10);
        let made = characters(&codes);
        String::from_utf8_lossy(made.get(..count).unwrap_or_default()).into_owned()
    }

    fn flat(&self) -> Option<&dyn Flat> {
        self.flat.as_ref().map(|flat| flat as &dyn Flat)
    }

    fn outline(&self) -> Outline {
        Outline {
            lengths: 15..=usize::MAX,
            front: vec![Bytes::range(b'A', b'Z').or(self.delims)],
            within: Bytes::ALPHANUMERIC.or(self.delims),
            ..Outline::default()
        }
    }
}
