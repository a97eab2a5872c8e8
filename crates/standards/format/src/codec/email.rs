//! `email`: the local part is permuted, the domain stays or is one of a list.
//!
//! In the local part letters and digits change, its length and the places of `.`, `+`, `-` and `_` stay, so
//! what was a dot-atom (RFC 5321, RFC 5322) is one again. Its letters are lower-case, or with `case=mixed`
//! both; quoted local parts and characters outside ASCII do not fit.

use super::digits::Bytes;
use super::{Amount, Codec, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};

#[derive(Debug)]
struct Email {
    symbols: &'static [u8],
    /// The digit of each character, or 255.
    digits: Box<[u8; 128]>,
    /// Domains that change among themselves; none if the domain stays.
    domains: Vec<String>,
}

const LOWER: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const MIXED: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const NONE: u8 = 0xff;
const LONGEST_LOCAL: usize = 64;
const LONGEST_DOMAIN: usize = 253;
const LONGEST_LABEL: usize = 63;

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let cases = [("lower", LOWER), ("mixed", MIXED)];
    let symbols = arguments.word("case", "lower", &cases, "lower or mixed")?;
    let domains = arguments.list("domains", &[])?;
    for (place, domain) in domains.iter().enumerate() {
        if !is_domain(domain.as_bytes()) {
            let problem = Problem::Expected("domains such as example.com");
            return Err(Error::at(arguments.at(), problem));
        }
        if domains.iter().take(place).any(|other| other == domain) {
            return Err(Error::at(arguments.at(), Problem::Duplicate));
        }
    }
    let mut digits = Box::new([NONE; 128]);
    for (digit, symbol) in (0_u8..).zip(symbols) {
        if let Some(place) = digits.get_mut(usize::from(*symbol)) {
            *place = digit;
        }
    }
    Ok(Box::new(Email {
        symbols,
        digits,
        domains,
    }))
}

/// Two labels or more of letters, digits and inner hyphens (RFC 1123).
fn is_domain(domain: &[u8]) -> bool {
    let (mut label, mut dots, mut before) = (0, 0, b'.');
    for byte in domain {
        let edge = label == 0 || before == b'-';
        match byte {
            b'.' if edge || label > LONGEST_LABEL => return false,
            b'.' => (label, dots) = (0, dots + 1),
            b'-' if label == 0 => return false,
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => label += 1,
            _ => return false,
        }
        before = *byte;
    }
    let last = (1..=LONGEST_LABEL).contains(&label) && before != b'-';
    last && dots > 0 && domain.len() <= LONGEST_DOMAIN
}

const fn stays(byte: u8) -> bool {
    matches!(byte, b'.' | b'+' | b'-' | b'_')
}

impl Email {
    fn read_local(&self, local: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        if !(1..=LONGEST_LOCAL).contains(&local.len()) {
            return Err(Misfit::Length);
        }
        let (mut digits, mut count, mut before) = ([0; LONGEST_LOCAL], 0, b'.');
        for (position, byte) in local.iter().enumerate() {
            let digit = self.digits.get(usize::from(*byte)).copied();
            let digit = digit.unwrap_or(NONE);
            if digit == NONE {
                if !stays(*byte) || (*byte == b'.' && before == b'.') {
                    return Err(Misfit::Symbol { position });
                }
            } else if let Some(place) = digits.get_mut(count) {
                *place = digit;
                count += 1;
            }
            before = *byte;
        }
        if before == b'.' {
            return Err(Misfit::Symbol {
                position: local.len() - 1,
            });
        }
        sink.symbols(digits.get(..count).unwrap_or_default());
        sink.run(u32::try_from(self.symbols.len()).unwrap_or_default(), count);
        Ok(())
    }

    fn list(&self) -> u128 {
        u128::try_from(self.domains.len()).unwrap_or_default()
    }
}

/// The local part and the domain.
fn halves(value: &[u8]) -> Result<(&[u8], &[u8]), Misfit> {
    let place = value.iter().position(|byte| *byte == b'@');
    let place = place.ok_or(Misfit::Symbol {
        position: value.len(),
    })?;
    let (local, domain) = value.split_at(place);
    Ok((local, domain.get(1..).unwrap_or_default()))
}

impl Codec for Email {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (local, domain) = halves(value)?;
        self.read_local(local, sink)?;
        if self.domains.is_empty() {
            if !is_domain(domain) {
                return Err(Misfit::Symbol {
                    position: local.len() + 1,
                });
            }
            sink.keep(domain, Bytes::NONE);
            return Ok(());
        }
        let place = self.domains.iter().position(|own| own.as_bytes() == domain);
        let place = place.and_then(|place| u128::try_from(place).ok());
        sink.number(place.ok_or(Misfit::NotListed)?, self.list());
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok((local, domain)) = halves(value) else {
            return;
        };
        let mut made = [0; LONGEST_LOCAL];
        for (place, byte) in made.iter_mut().zip(local) {
            *place = if stays(*byte) {
                *byte
            } else {
                let symbol = self.symbols.get(usize::from(source.symbol()));
                symbol.copied().unwrap_or_default()
            };
        }
        out.extend_from_slice(made.get(..local.len()).unwrap_or_default());
        out.push(b'@');
        if self.domains.is_empty() {
            out.extend_from_slice(domain);
            return;
        }
        let place = usize::try_from(source.number()).unwrap_or_default();
        let domain = self.domains.get(place).map_or("", String::as_str);
        out.extend_from_slice(domain.as_bytes());
    }

    fn amount(&self) -> Amount {
        let radix = u128::try_from(self.symbols.len()).unwrap_or_default();
        Amount::new(self.list().max(1)).times_power(radix, 1..=LONGEST_LOCAL)
    }

    fn keeps(&self) -> bool {
        self.domains.is_empty()
    }

    fn example(&self) -> String {
        let domain = self.domains.first().map_or("example.com", String::as_str);
        format!("ada.lovelace@{domain}")
    }

    fn outline(&self) -> Outline {
        Outline {
            lengths: 5..=LONGEST_LOCAL + 1 + LONGEST_DOMAIN,
            within: ".+-_@".bytes().fold(Bytes::ALPHANUMERIC, Bytes::with),
            needs: Some(b'@'),
            ..Outline::default()
        }
    }
}
