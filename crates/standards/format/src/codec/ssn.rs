//! `ssn`: United States social security numbers, AAA-GG-SSSS, without the areas 000, 666 and 900 to 999, the
//! group 00 and the serial 0000, none of which is ever given out (Social Security Administration): 888,931,098
//! numbers.
//!
//! Keeping the last four leaves 88,902 values, keeping the area 989,901: both below the floor.

use super::digits::{self, Bytes};
use super::{Amount, Codec, Outline, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit};
use crate::rank::{Sink, Source};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Area,
    Last4,
    None,
}

#[derive(Debug)]
struct Ssn {
    keep: Keep,
    delims: Bytes,
}

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let words = [
        ("none", Keep::None),
        ("area", Keep::Area),
        ("last4", Keep::Last4),
    ];
    let keep = arguments.word("keep", "none", &words, "none, area or last4")?;
    let delims = digits::delims(arguments, "-")?;
    Ok(Box::new(Ssn { keep, delims }))
}

const AREAS: u64 = 898;
const GROUPS: u64 = 99;
const SERIALS: u64 = 9_999;

impl Codec for Ssn {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (digits, count) = digits::scan::<9>(value, self.delims)?;
        if count < 9 {
            return Err(Misfit::Length);
        }
        let (area, rest) = digits.split_at(3);
        let (group, serial) = rest.split_at(2);
        let numbers = (
            digits::number(area),
            digits::number(group),
            digits::number(serial),
        );
        let (1..=899, 1..=99, 1..=9_999) = numbers else {
            return Err(Misfit::Excluded);
        };
        if numbers.0 == 666 {
            return Err(Misfit::Excluded);
        }
        if self.keep == Keep::Area {
            sink.keep_digits(area);
        } else {
            let rank = numbers.0 - 1 - u64::from(numbers.0 > 666);
            sink.number(rank.into(), AREAS.into());
        }
        sink.number((numbers.1 - 1).into(), GROUPS.into());
        if self.keep == Keep::Last4 {
            sink.keep_digits(serial);
        } else {
            sink.number((numbers.2 - 1).into(), SERIALS.into());
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok((mut digits, _)) = digits::scan::<9>(value, self.delims) else {
            return;
        };
        let (area, rest) = digits.split_at_mut(3);
        let (group, serial) = rest.split_at_mut(2);
        let mut next = || u64::try_from(source.number()).unwrap_or_default() + 1;
        if self.keep != Keep::Area {
            let number = next();
            digits::put_number(number + u64::from(number >= 666), area);
        }
        digits::put_number(next(), group);
        if self.keep != Keep::Last4 {
            digits::put_number(next(), serial);
        }
        digits::spread(value, &digits, out);
    }

    fn amount(&self) -> Amount {
        let size = match self.keep {
            Keep::Area => GROUPS * SERIALS,
            Keep::Last4 => AREAS * GROUPS,
            Keep::None => AREAS * GROUPS * SERIALS,
        };
        Amount::new(size.into())
    }

    fn keeps(&self) -> bool {
        self.keep != Keep::None
    }

    fn example(&self) -> String {
        // Used in advertisements for decades, and valid by structure.
        if self.delims.has(b'-') {
            "078-05-1120"
        } else {
            "078051120"
        }
        .to_owned()
    }

    fn outline(&self) -> Outline {
        Outline {
            lengths: 9..=usize::MAX,
            front: vec![Bytes::DIGITS.or(self.delims)],
            within: Bytes::DIGITS.or(self.delims),
            ..Outline::default()
        }
    }
}
