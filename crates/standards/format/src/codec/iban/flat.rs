//! Account numbers of one country without delimiters, a block at a time.
//!
//! The characters of a block become codes in one pass and are held against their places in another, with one verdict
//! for all; a block with a misfit in it is left to [`super::Iban`], which says where and why. What is free of a value is
//! one number for each run of places of one kind, which is found eight places at a time (`super::words`).

use super::words::{self, EITHER, LETTERS};
use super::{Codes, Country, Kind, WIDTH};
use crate::codec::Flat;
use crate::rank::Span;

/// Bytes before and behind the codes of a block, so that eight can be read and written at any place.
const MARGIN: usize = WIDTH + 8;

#[derive(Debug)]
pub(super) struct Accounts {
    width: usize,
    least: Codes,
    above: Codes,
    /// The codes of the country's letters.
    front: [u8; 2],
    parts: Box<[Part]>,
    spans: Box<[Span]>,
}

/// Consecutive places of one kind, whose number fits 64 bits.
#[derive(Debug)]
struct Part {
    kind: Kind,
    words: Box<[Word]>,
}

/// Up to eight places of a part; all but its first word have eight.
#[derive(Debug)]
struct Word {
    at: usize,
    count: usize,
    /// The least code at each of its places.
    least: u64,
    /// What the number of the word is multiplied by.
    weight: u64,
    is_first: bool,
}

impl Word {
    /// Its places in the eight bytes from its first on, moved to the end.
    #[inline(always)]
    fn of(&self, value: &[u8]) -> u64 {
        let bytes = value.get(self.at..).and_then(<[u8]>::first_chunk);
        u64::from_le_bytes(bytes.copied().unwrap_or_default()) << (8 * (8 - self.count))
    }
}

/// The remainder mod 97, from the last place to the first.
struct Remainder {
    sum: u64,
    /// Decimal digits so far.
    digits: u64,
}

impl Remainder {
    /// Of what is moved to the end of an IBAN: country and check digits.
    #[inline(always)]
    fn new([first, second]: [u8; 2], check: u64) -> Self {
        Self {
            sum: (u64::from(first) * 100 + u64::from(second)) * 100 + check,
            digits: 6,
        }
    }

    /// Takes the digits before.
    #[inline(always)]
    fn add(&mut self, text: u64, digits: u64) {
        let place = usize::try_from(self.digits).unwrap_or_default();
        let weight = WEIGHTS[place % WEIGHTS.len()];
        self.sum = self.sum.wrapping_add(text % 97 * weight);
        self.digits += digits;
    }

    #[inline(always)]
    const fn end(&self) -> u64 {
        self.sum % 97
    }
}

/// Powers of ten mod 97.
static WEIGHTS: [u64; 128] = {
    let mut weights = [1; 128];
    let mut place = 1;
    while place < weights.len() {
        weights[place] = weights[place - 1] * 10 % 97;
        place += 1;
    }
    weights
};

impl Accounts {
    /// Nothing where all places are of one kind: their symbols are FF1's digits, and no number is made of them.
    pub(super) fn new(country: &Country) -> Option<Self> {
        let mut runs = Vec::<(Kind, usize, usize)>::new();
        for (kind, places) in country.free(0) {
            runs.push((kind, places.start + 4, places.len()));
        }
        let (first, _, _) = *runs.first()?;
        if runs.iter().all(|(kind, ..)| *kind == first) {
            return None;
        }
        let (mut least, mut above) = (country.layout.least, country.layout.above);
        let front = country.code.map(|letter| letter - b'A' + 10);
        (least[0], least[1]) = (front[0], front[1]);
        (above[0], above[1], above[2], above[3]) = (0, 0, 9, 9);
        let (mut parts, mut spans) = (Vec::new(), Vec::new());
        for (kind, mut at, mut left) in runs {
            while left > 0 {
                let count = left.min(most(kind));
                parts.push(part(kind, at, count));
                spans.push(Span {
                    modulus: u128::from(kind.radix()).pow(u32::try_from(count).ok()?),
                    count: 0,
                });
                (at, left) = (at + count, left - count);
            }
        }
        Some(Self {
            width: country.length() + 4,
            least,
            above,
            front,
            parts: parts.into(),
            spans: spans.into(),
        })
    }

    /// Whether every code is one that its place may have. `WIDE` is the width or more.
    fn fit<const WIDE: usize>(&self, codes: &[u8], count: usize) -> bool {
        let (Some(least), Some(above)) = (
            self.least.first_chunk::<WIDE>(),
            self.above.first_chunk::<WIDE>(),
        ) else {
            return false;
        };
        let mut bad = [0_u8; WIDE];
        for row in 0..count {
            let value = codes.get(row * self.width..);
            let Some(value) = value.and_then(<[u8]>::first_chunk::<WIDE>) else {
                return false;
            };
            for place in 0..WIDE {
                let code = value[place].wrapping_sub(least[place]);
                bad[place] |= u8::from(code > above[place]);
            }
        }
        // What stands behind a value is the next one.
        bad.iter().take(self.width).all(|bad| *bad == 0)
    }

    /// The numbers of one value. 0 if its check digits are the right ones.
    #[inline(always)]
    fn read_one(&self, value: &[u8; MARGIN], numbers: &mut [u64]) -> u64 {
        let check = 10 * u64::from(value[2]) + u64::from(value[3]);
        let mut remainder = Remainder::new(self.front, check);
        for (part, number) in self.parts.iter().zip(numbers).rev() {
            *number = match part.kind {
                Kind::Digit => part.read(value, &mut remainder, |_, word| {
                    let number = words::number::<10>(word);
                    (number, number, 0)
                }),
                Kind::Letter => part.read(value, &mut remainder, |own, word| {
                    let number = words::number::<26>(word.wrapping_sub(own.least));
                    (number, words::number::<100>(word), own.count as u64)
                }),
                Kind::Either => part.read(value, &mut remainder, |_, word| {
                    let pairs = words::pairs::<36>(word);
                    let text = words::text(words::apart(pairs));
                    (words::joined::<36>(pairs), text, words::letters(word))
                }),
            };
        }
        (remainder.end() ^ 1) | u64::from(check.wrapping_sub(2) > 96)
    }

    /// The codes of one value, behind eight bytes that are overwritten.
    #[inline(always)]
    fn write_one(&self, numbers: &[u64], value: &mut [u8]) {
        let mut remainder = Remainder::new(self.front, 0);
        for (part, number) in self.parts.iter().zip(numbers).rev() {
            match part.kind {
                Kind::Digit => part.write::<10>(*number, value, &mut remainder, |_, number| {
                    (words::decimal(number), number, 0)
                }),
                Kind::Letter => part.write::<26>(*number, value, &mut remainder, |own, number| {
                    let places = words::places(&LETTERS, words::split::<26>(number));
                    let places = places.wrapping_add(own.least);
                    (places, words::number::<100>(places), own.count as u64)
                }),
                Kind::Either => part.write::<36>(*number, value, &mut remainder, |_, number| {
                    let pairs = words::split::<36>(number);
                    let places = words::places(&EITHER, pairs);
                    (places, words::text(pairs), words::letters(places))
                }),
            }
        }
        let check = 98 - remainder.end();
        let check = [check / 10, check % 10].map(|digit| u8::try_from(digit).unwrap_or_default());
        let ([first, second], [tens, ones]) = (self.front, check);
        if let Some(front) = value.get_mut(8..).and_then(<[u8]>::first_chunk_mut) {
            *front = [first, second, tens, ones];
        }
    }
}

/// How many places of a kind have a number of 64 bits. The ranks of common values have the same parts.
const fn most(kind: Kind) -> usize {
    match kind {
        Kind::Digit => 19,
        Kind::Letter => 13,
        Kind::Either => 12,
    }
}

fn part(kind: Kind, at: usize, count: usize) -> Part {
    let radix = u64::from(kind.radix());
    let least = if kind == Kind::Letter { 10 } else { 0 };
    let first = (count - 1) % 8 + 1;
    let mut words = Vec::new();
    let mut done = 0;
    while done < count {
        let own = if done == 0 { first } else { 8 };
        let behind = u32::try_from(count - done - own).unwrap_or_default();
        words.push(Word {
            at: at + done,
            count: own,
            least: words::each(least) << (8 * (8 - own)),
            weight: radix.wrapping_pow(behind),
            is_first: done == 0,
        });
        done += own;
    }
    Part {
        kind,
        words: words.into(),
    }
}

impl Part {
    /// `of` gives the number of a word, its decimal digits, and how many more these are than places.
    #[inline(always)]
    fn read(
        &self,
        value: &[u8; MARGIN],
        remainder: &mut Remainder,
        of: impl Fn(&Word, u64) -> (u64, u64, u64),
    ) -> u64 {
        let mut sum = 0_u64;
        for word in self.words.iter().rev() {
            let (number, text, letters) = of(word, word.of(value));
            sum = sum.wrapping_add(number.wrapping_mul(word.weight));
            remainder.add(text, word.count as u64 + letters);
        }
        sum
    }

    /// `of` gives the places of a word's number, their decimal digits, and how many more these are than places.
    #[inline(always)]
    fn write<const RADIX: u64>(
        &self,
        number: u64,
        value: &mut [u8],
        remainder: &mut Remainder,
        of: impl Fn(&Word, u64) -> (u64, u64, u64),
    ) {
        let mut rest = number;
        for word in self.words.iter().rev() {
            let mut own = rest;
            if !word.is_first {
                rest /= const { RADIX.pow(8) };
                own = own.wrapping_sub(rest.wrapping_mul(const { RADIX.pow(8) }));
            }
            let (places, text, letters) = of(word, own);
            // The bytes before are written later: words, and values, come from the last to the first.
            let to = value.get_mut(word.at + word.count..);
            if let Some(to) = to.and_then(<[u8]>::first_chunk_mut) {
                *to = places.to_le_bytes();
            }
            remainder.add(text, word.count as u64 + letters);
        }
    }
}

impl Flat for Accounts {
    fn width(&self) -> usize {
        self.width
    }

    fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn read(&self, values: &[u8], codes: &mut Vec<u8>, numbers: &mut [u64]) -> bool {
        codes.resize(values.len() + MARGIN, 0);
        let mut bad = 0;
        for (code, byte) in codes.iter_mut().zip(values) {
            let (digit, letter) = (byte.wrapping_sub(b'0'), byte.wrapping_sub(b'A'));
            bad |= u8::from(digit > 9) & u8::from(letter > 25);
            *code = digit.wrapping_sub(7 * u8::from(digit > 9));
        }
        let count = values.len() / self.width;
        let fit = if self.width <= 32 {
            self.fit::<32>(codes, count)
        } else {
            self.fit::<WIDTH>(codes, count)
        };
        if bad > 0 || !fit {
            return false;
        }
        let mut wrong = 0;
        let rows = numbers.chunks_exact_mut(self.parts.len());
        for (row, numbers) in rows.enumerate() {
            let value = codes.get(row * self.width..);
            let Some(value) = value.and_then(<[u8]>::first_chunk) else {
                return false;
            };
            wrong |= self.read_one(value, numbers);
        }
        wrong == 0
    }

    fn write(&self, numbers: &[u64], codes: &mut Vec<u8>, out: &mut [u8]) {
        codes.resize(out.len() + 8, 0);
        let rows = numbers.chunks_exact(self.parts.len());
        for (row, numbers) in rows.enumerate().rev() {
            let start = row * self.width;
            if let Some(value) = codes.get_mut(start..start + 8 + self.width) {
                self.write_one(numbers, value);
            }
        }
        let codes = codes.get(8..).unwrap_or_default();
        for (byte, code) in out.iter_mut().zip(codes) {
            *byte = code + b'0' + 7 * u8::from(*code > 9);
        }
    }
}
