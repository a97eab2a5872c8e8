//! `uuid` (RFC 9562) and `mac` (IEEE 802): hexadecimal digits, some of which stay.
//!
//! The case of the letters is a parameter, because a value without letters would not tell which to write.

use super::digits::Bytes;
use super::{Amount, Codec, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};

/// A hexadecimal digit at each place, or a character that stands there.
#[derive(Debug)]
struct Hexadecimal {
    places: Vec<Place>,
    upper: bool,
    example: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// All 16 values, free.
    Free,
    /// A digit that stays, from a range.
    Kept(u8, u8),
    /// 8, 9, a or b: two bits stay, two are free.
    Variant,
    Separator(u8),
}

pub(crate) fn build_uuid(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let version = arguments.read("version", Some("4"), |text| match text {
        "any" => Ok(((1, 8), text.to_owned())),
        _ => match text.parse() {
            Ok(version @ 1..=8) if text.len() == 1 => Ok(((version, version), text.to_owned())),
            _ => Err(Problem::Expected("any, or a version from 1 to 8")),
        },
    })?;
    let times = [("hide", false), ("keep", true)];
    let time = arguments.word("time", "hide", &times, "hide or keep")?;
    let upper = case(arguments)?;
    if time && version != (7, 7) {
        let problem = Problem::Expected("version 7, the one whose time can be kept");
        return Err(Error::at(arguments.at(), problem));
    }
    let mut places = Vec::with_capacity(36);
    for place in 0..36 {
        places.push(match place {
            8 | 13 | 18 | 23 => Place::Separator(b'-'),
            14 => Place::Kept(version.0, version.1),
            19 => Place::Variant,
            0..13 if time => Place::Kept(0, 15),
            _ => Place::Free,
        });
    }
    let shown = if version == (1, 8) { 4 } else { version.0 };
    let example = format!("f81d4fae-7dec-{shown}1d0-a765-00a0c91e6bf6");
    Ok(Box::new(Hexadecimal {
        places,
        upper,
        example,
    }))
}

pub(crate) fn build_mac(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let keeps = [("none", false), ("oui", true)];
    let oui = arguments.word("keep", "none", &keeps, "none or oui")?;
    let separators = [
        ("colon", Some(b':')),
        ("hyphen", Some(b'-')),
        ("none", None),
    ];
    let expected = "colon, hyphen or none";
    let separator = arguments.word("separator", "colon", &separators, expected)?;
    let upper = case(arguments)?;
    let mut places = Vec::with_capacity(17);
    let mut example = String::new();
    for digit in 0..12 {
        if let Some(separator) = separator.filter(|_| digit > 0 && digit % 2 == 0) {
            places.push(Place::Separator(separator));
            example.push(separator.into());
        }
        places.push(if oui && digit < 6 {
            Place::Kept(0, 15)
        } else {
            Place::Free
        });
        example.push(if digit % 2 == 0 { '0' } else { 'a' });
    }
    Ok(Box::new(Hexadecimal {
        places,
        upper,
        example,
    }))
}

fn case(arguments: &mut Arguments<'_>) -> Result<bool, Error> {
    arguments.word(
        "case",
        "lower",
        &[("lower", false), ("upper", true)],
        "lower or upper",
    )
}

impl Hexadecimal {
    const fn digit(&self, byte: u8) -> Option<u8> {
        match (byte, self.upper) {
            (b'0'..=b'9', _) => Some(byte - b'0'),
            (b'a'..=b'f', false) => Some(byte - b'a' + 10),
            (b'A'..=b'F', true) => Some(byte - b'A' + 10),
            _ => None,
        }
    }

    const fn symbol(&self, digit: u8) -> u8 {
        match (digit, self.upper) {
            (0..10, _) => b'0' + digit,
            (_, false) => b'a' + digit - 10,
            (_, true) => b'A' + digit - 10,
        }
    }

    /// Without a variant all free digits are a radix of their own, else bits are.
    fn in_bits(&self) -> bool {
        self.places.contains(&Place::Variant)
    }

    fn bits(&self) -> usize {
        let bits = |place: &Place| match place {
            Place::Free => 4,
            Place::Variant => 2,
            _ => 0,
        };
        self.places.iter().map(bits).sum()
    }
}

fn put_bits(digit: u8, bits: u8, sink: &mut Sink) {
    for place in (0..bits).rev() {
        sink.symbol((digit >> place & 1).into());
    }
}

fn take_bits(source: &mut Source<'_>, bits: usize) -> u8 {
    let taken = source.symbols(bits).iter();
    taken.fold(0, |digit, bit| digit << 1 | u8::from(*bit == 1))
}

impl Codec for Hexadecimal {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        if value.len() != self.places.len() {
            return Err(Misfit::Length);
        }
        let in_bits = self.in_bits();
        let (mut kept, mut length) = ([0; 32], 0);
        for (position, (byte, place)) in value.iter().zip(&self.places).enumerate() {
            let misfit = Misfit::Symbol { position };
            if let Place::Separator(separator) = place {
                if byte != separator {
                    return Err(misfit);
                }
                continue;
            }
            let digit = self.digit(*byte).ok_or(misfit)?;
            match place {
                Place::Free if in_bits => put_bits(digit, 4, sink),
                Place::Free | Place::Separator(_) => sink.symbol(digit.into()),
                Place::Kept(least, most) => {
                    if !(least..=most).contains(&&digit) {
                        return Err(misfit);
                    }
                    if let Some(room) = kept.get_mut(length).filter(|_| least < most) {
                        *room = *byte;
                        length += 1;
                    }
                }
                Place::Variant if digit >> 2 == 2 => put_bits(digit & 3, 2, sink),
                Place::Variant => return Err(misfit),
            }
        }
        if length > 0 {
            sink.keep(kept.get(..length).unwrap_or_default(), Bytes::NONE);
        }
        if in_bits {
            sink.run(2, self.bits());
        } else {
            sink.run(16, self.bits() / 4);
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let in_bits = self.in_bits();
        for (byte, place) in value.iter().zip(&self.places) {
            out.push(match place {
                Place::Free if in_bits => self.symbol(take_bits(source, 4)),
                Place::Free => self.symbol(u8::try_from(source.symbol()).unwrap_or_default()),
                Place::Kept(..) | Place::Separator(_) => *byte,
                Place::Variant => self.symbol(8 | take_bits(source, 2)),
            });
        }
    }

    fn amount(&self) -> Amount {
        let bits = self.bits();
        Amount::new(1).times_power(2, bits..=bits)
    }

    fn keeps(&self) -> bool {
        self.places
            .iter()
            .any(|place| matches!(place, Place::Kept(low, high) if low < high))
    }

    fn example(&self) -> String {
        if self.upper {
            self.example.to_ascii_uppercase()
        } else {
            self.example.clone()
        }
    }

    fn outline(&self) -> Outline {
        let (length, digits) = (self.places.len(), Bytes::DIGITS);
        Outline {
            lengths: length..=length,
            front: vec![
                digits
                    .or(Bytes::range(b'A', b'F'))
                    .or(Bytes::range(b'a', b'f')),
            ],
            ..Outline::default()
        }
    }
}
