//! `card`: payment card numbers of 13 to 19 digits (ISO/IEC 7812-1), with Luhn's check digit.
//!
//! A free digit is left out of the rank and solved so that Luhn's sum comes out: the last digit, or the last
//! one before the kept four. Doubling is a permutation of the digits, so there is exactly one solution, and
//! which digit is solved does not change how many values there are.
//!
//! With `luhn=break` a token's solved digit is one more (mod 10) than the one that would be right, so no
//! token passes for a card, and only such values are revealed.
//!
//! Nothing is kept unless asked for. What is kept is known to whoever sees a token, and shrinks the set: of
//! 16 digits the last four leave 10^11 numbers, BIN 6 10^9, BIN 8 10^7; BIN 6 with the last four 10^5, which
//! is below the floor. Not here: which issuer has which range.

use super::digits::{self, Bytes};
use super::{Amount, CheckDigit, Codec, Outline, Plain, Side};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit};
use crate::rank::{Sink, Source};
use std::ops::RangeInclusive;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luhn {
    Break,
    Ignore,
    Keep,
}

#[derive(Debug)]
struct Card {
    lengths: RangeInclusive<usize>,
    front: usize,
    back: usize,
    luhn: Luhn,
    delims: Bytes,
}

const LONGEST: usize = 19;

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Box<dyn Codec>, Error> {
    let lengths = arguments.lengths("length", Some("13..19"), 13..=19)?;
    let keeps = [
        ("none", (0, 0)),
        ("bin6", (6, 0)),
        ("bin8", (8, 0)),
        ("last4", (0, 4)),
        ("bin6-last4", (6, 4)),
        ("bin8-last4", (8, 4)),
    ];
    let (front, back) = arguments.word(
        "keep",
        "none",
        &keeps,
        "none, bin6, bin8, last4, bin6-last4 or bin8-last4",
    )?;
    let words = [
        ("keep", Luhn::Keep),
        ("break", Luhn::Break),
        ("ignore", Luhn::Ignore),
    ];
    let luhn = arguments.word("luhn", "keep", &words, "keep, break or ignore")?;
    let delims = digits::delims(arguments, " -")?;
    // The shortest card with the most kept still has two free digits, one of them solved.
    let least = front + back + 2;
    let lengths = (*lengths.start()).max(least)..=(*lengths.end()).max(least);
    Ok(Box::new(Card {
        lengths,
        front,
        back,
        luhn,
        delims,
    }))
}

impl Card {
    /// Where the solved digit stands, if one is.
    const fn solved(&self, count: usize) -> Option<usize> {
        match self.luhn {
            Luhn::Ignore => None,
            Luhn::Break | Luhn::Keep => Some(count - self.back - 1),
        }
    }

    fn free(&self, count: usize) -> usize {
        self.solved(count)
            .unwrap_or(count.saturating_sub(self.back))
            .saturating_sub(self.front)
    }

    /// By how much the solved digit of this side is off.
    fn mark(&self, side: Side) -> u8 {
        u8::from(self.luhn == Luhn::Break && side == Side::Token)
    }
}

/// Luhn's sum mod 10. Every second digit counts double from the right, beginning with the last but one.
pub(crate) fn sum(digits: &[u8]) -> u8 {
    let mut sum = 0;
    for (place, digit) in digits.iter().rev().enumerate() {
        sum += if place % 2 == 1 {
            doubled(*digit)
        } else {
            *digit
        };
    }
    sum % 10
}

/// What a digit that counts double adds: the sum of the digits of its double.
const fn doubled(digit: u8) -> u8 {
    let twice = 2 * digit;
    if twice > 9 { twice - 9 } else { twice }
}

/// The digit at `place` with which the sum is 0; the digit that stands there counts as 0.
pub(crate) fn solve(digits: &mut [u8], place: usize) -> u8 {
    let twice = (digits.len() - place).is_multiple_of(2);
    if let Some(digit) = digits.get_mut(place) {
        *digit = 0;
    }
    let wanted = (10 - sum(digits)) % 10;
    let mut solution = 0;
    for digit in 0..10 {
        let weight = if twice { doubled(digit) } else { digit };
        if weight == wanted {
            solution = digit;
        }
    }
    solution
}

impl Codec for Card {
    fn read(&self, side: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let (mut scanned, count) = digits::scan::<LONGEST>(value, self.delims)?;
        if !self.lengths.contains(&count) {
            return Err(Misfit::Length);
        }
        let (number, _) = scanned.split_at_mut(count);
        if let Some(place) = self.solved(count) {
            if let Some(digit) = number.get_mut(place) {
                *digit = (*digit + 10 - self.mark(side)) % 10;
            }
            if sum(number) != 0 {
                return Err(Misfit::Check);
            }
        }
        let (front, rest) = number.split_at(self.front);
        let (free, rest) = rest.split_at(self.free(count));
        let back = rest.get(rest.len() - self.back..).unwrap_or_default();
        digits::put(free, sink);
        if self.front > 0 {
            sink.keep_digits(front);
        }
        if self.back > 0 {
            sink.keep_digits(back);
        }
        Ok(())
    }

    fn write(&self, side: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let Ok((mut scanned, count)) = digits::scan::<LONGEST>(value, self.delims) else {
            return;
        };
        let (number, _) = scanned.split_at_mut(count);
        let free = self.front..self.front + self.free(count);
        if let Some(free) = number.get_mut(free) {
            digits::take(source, free);
        }
        if let Some(place) = self.solved(count) {
            let digit = (solve(number, place) + self.mark(side)) % 10;
            if let Some(to) = number.get_mut(place) {
                *to = digit;
            }
        }
        digits::spread(value, number, out);
    }

    fn amount(&self) -> Amount {
        let free = self.free(*self.lengths.start())..=self.free(*self.lengths.end());
        Amount::new(1).times_power(10, free)
    }

    fn keeps(&self) -> bool {
        self.front + self.back > 0
    }

    fn example(&self) -> String {
        let count = 16.clamp(*self.lengths.start(), *self.lengths.end());
        let mut digits = [4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        let (number, _) = digits.split_at_mut(count);
        let last = count - 1;
        let digit = solve(number, last);
        if let Some(to) = number.get_mut(last) {
            *to = digit;
        }
        number
            .iter()
            .map(|digit| char::from(digit + b'0'))
            .collect()
    }

    fn outline(&self) -> Outline {
        Outline {
            lengths: *self.lengths.start()..=usize::MAX,
            front: vec![Bytes::DIGITS.or(self.delims)],
            within: Bytes::DIGITS.or(self.delims),
            ..Outline::default()
        }
    }

    fn plain(&self, width: usize) -> Option<Plain> {
        let check = match self.luhn {
            Luhn::Break => CheckDigit::Marked,
            Luhn::Ignore => CheckDigit::None,
            Luhn::Keep => CheckDigit::Luhn,
        };
        let kept = (self.front, self.back);
        let fits = self.lengths.contains(&width);
        fits.then_some(Plain { kept, check })
    }
}
