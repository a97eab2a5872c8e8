//! The fast way of the most frequent column: numbers of one width under one tweak, nothing kept, with or
//! without Luhn's digit at the end.
//!
//! It gives the same tokens as the common way, which takes over for any block in which a value does not
//! fit, so that misfits are judged in one place. Its loops have no branch and no address that depends on a
//! digit: verdicts are collected and looked at once a block.

use std::ops::Range;

use keywright_fpe::Tweaks;
use keywright_secret::wipe_vec;

use super::luhn::{read as read_words, write as write_words};
use super::{Column, Job, crypt};
use crate::cells::Output;
use crate::codec::CheckDigit;
use crate::error::Error;

/// The digits of a block.
#[derive(Debug, Default)]
pub(super) struct PlainBlock {
    digits: Vec<u8>,
}

impl Drop for PlainBlock {
    fn drop(&mut self) {
        wipe_vec(&mut self.digits);
    }
}

impl Column<'_> {
    /// Whether the block was done.
    pub(super) fn run_plain(
        &mut self,
        job: &Job<'_>,
        block: &Range<usize>,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let ([codec], Some(tweak)) = (self.key.format().codecs(), &self.same) else {
            return Ok(false);
        };
        let Some((bytes, width @ 7..=19)) = job.cells.piece(block) else {
            return Ok(false);
        };
        let Some(plain) = codec.plain(width).filter(|plain| plain.kept == (0, 0)) else {
            return Ok(false);
        };
        let Some(free) = plain.free(width) else {
            return Ok(false);
        };
        let engine = self.engines.place(10)?;
        let Some(key) = self.engines.get(engine) else {
            return Ok(false);
        };
        if !u32::try_from(free).is_ok_and(|free| key.lengths().contains(&free)) {
            return Ok(false);
        }
        let digits = &mut self.plain.digits;
        digits.resize(block.len() * free, 0);
        let mark = plain.mark(job.direction.from());
        if !read(plain.check, mark, (bytes, width), digits) {
            return Ok(false);
        }
        crypt(
            key,
            job.direction,
            (Tweaks::Same(tweak), free, self.threads),
            digits,
        )?;
        let start = out.bytes.len();
        out.bytes.resize(start + bytes.len(), 0);
        let made = out.bytes.get_mut(start..).unwrap_or_default();
        let mark = plain.mark(job.direction.to());
        write(plain.check, mark, digits, (made, width));
        let ends = (1..=block.len()).map(|cell| start + cell * width);
        out.offsets.extend(ends);
        Ok(true)
    }
}

/// One instance for each width, so that the loops have fixed bounds.
macro_rules! by_width {
    ($width:expr, $arguments:tt, $($call:ident: $($w:literal $n:literal),+);+) => {
        match $width {
            $($($w => by_width!(@ $call $w $n $arguments),)+)+
            _ => Default::default(),
        }
    };
    (@ $call:ident $w:literal $n:literal ($($argument:expr),+)) => {
        $call::<$w, $n>($($argument),+)
    };
}

fn read(check: CheckDigit, mark: u8, (bytes, width): (&[u8], usize), digits: &mut [u8]) -> bool {
    if check == CheckDigit::None {
        return read_digits(bytes, digits);
    }
    by_width!(width, (bytes, mark, digits),
        read_words: 10 9, 11 10, 12 11, 13 12, 14 13, 15 14, 16 15;
        read_checked: 7 6, 8 7, 9 8, 17 16, 18 17, 19 18)
}

fn read_digits(bytes: &[u8], digits: &mut [u8]) -> bool {
    let mut bad = 0;
    for (to, byte) in digits.iter_mut().zip(bytes) {
        let digit = byte.wrapping_sub(b'0');
        bad |= u8::from(digit > 9);
        *to = digit;
    }
    bad == 0
}

/// What a digit that counts double adds to Luhn's sum.
#[inline(always)]
const fn doubled(digit: u8) -> u8 {
    let twice = digit.wrapping_mul(2);
    // Above 9, the digits of the double are added, which is 9 less.
    twice.wrapping_sub(9 * (twice > 9) as u8)
}

/// Luhn's sum of `N` digits; `from_end` is the place of the last, counted from the end of the number.
#[inline(always)]
fn sum<const N: usize>(digits: &[u8; N], from_end: usize) -> u8 {
    let mut sum = 0_u8;
    for (place, digit) in digits.iter().enumerate() {
        // At most 19 nines: it fits.
        let twice = (N - 1 - place + from_end) % 2 == 1;
        sum = sum.wrapping_add(if twice { doubled(*digit) } else { *digit });
    }
    sum % 10
}

/// From `W` characters to `N` digits, one fewer.
fn read_checked<const W: usize, const N: usize>(bytes: &[u8], mark: u8, digits: &mut [u8]) -> bool {
    let (values, _) = bytes.as_chunks::<W>();
    let (numbers, _) = digits.as_chunks_mut::<N>();
    let mut bad = 0;
    for (value, number) in values.iter().zip(numbers) {
        let mut own = [0_u8; W];
        let mut beyond = 0;
        for (digit, byte) in own.iter_mut().zip(value) {
            *digit = byte.wrapping_sub(b'0');
            beyond |= u8::from(*digit > 9);
        }
        // A sum of what are no digits may be right: both verdicts count.
        bad |= beyond | (sum(&own, 0) ^ mark);
        for (to, from) in number.iter_mut().zip(own) {
            *to = from;
        }
    }
    bad == 0
}

fn write(check: CheckDigit, mark: u8, digits: &[u8], (out, width): (&mut [u8], usize)) {
    if check == CheckDigit::None {
        for (to, digit) in out.iter_mut().zip(digits) {
            *to = digit + b'0';
        }
        return;
    }
    by_width!(width, (digits, mark, out),
        write_words: 10 9, 11 10, 12 11, 13 12, 14 13, 15 14, 16 15;
        write_checked: 7 6, 8 7, 9 8, 17 16, 18 17, 19 18);
}

/// From `N` digits to `W` characters, one more.
fn write_checked<const W: usize, const N: usize>(digits: &[u8], mark: u8, out: &mut [u8]) {
    let (numbers, _) = digits.as_chunks::<N>();
    let (values, _) = out.as_chunks_mut::<W>();
    for (number, value) in numbers.iter().zip(values) {
        let check = (10 - sum(number, 1) + mark) % 10;
        let characters = number.iter().copied().chain([check]);
        for (to, digit) in value.iter_mut().zip(characters) {
            *to = digit + b'0';
        }
    }
}
