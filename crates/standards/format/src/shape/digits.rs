//! Numbers as FF1's digits and back. As few long divisions as the sizes allow.

use crate::wide::Wide;

/// The digits of a number, most significant first.
#[expect(
    clippy::cast_possible_truncation,
    reason = "remainders below a radix of at most 65,536"
)]
pub(super) fn put_digits(number: Wide, radix: u32, out: &mut [u16]) {
    if let ([first, second], Some(number)) = (&mut *out, narrow(number)) {
        let radix = u64::from(radix);
        (*first, *second) = ((number / radix) as u16, (number % radix) as u16);
        return;
    }
    if let Some(number) = number.to_u128() {
        return put_digits_128(number, radix, out);
    }
    let mut number = number;
    for place in out.iter_mut().rev() {
        let (rest, digit) = number.div_rem(radix.into());
        number = rest;
        *place = digit as u16;
    }
}

fn narrow(number: Wide) -> Option<u64> {
    number
        .to_u128()
        .and_then(|number| u64::try_from(number).ok())
}

/// As many digits at a time as 64 bits hold, so that few divisions are long ones.
#[expect(
    clippy::cast_possible_truncation,
    reason = "remainders below a radix of at most 65,536, or below a power that fits 64 bits"
)]
fn put_digits_128(mut number: u128, radix: u32, out: &mut [u16]) {
    let mut left = out.len();
    if radix.is_power_of_two() {
        let bits = radix.trailing_zeros();
        for place in out.iter_mut().rev() {
            *place = (number & u128::from(radix - 1)) as u16;
            number >>= bits;
        }
        return;
    }
    let (power, count) = greatest_power(radix);
    while left > 0 {
        let (low, taken) = match u64::try_from(number) {
            Ok(low) => {
                number = 0;
                (low, left)
            }
            Err(_) => {
                let quotient = number / u128::from(power);
                let low = (number - quotient * u128::from(power)) as u64;
                number = quotient;
                (low, count.min(left))
            }
        };
        let mut low = low;
        let upper = left - taken;
        for place in out.iter_mut().take(left).skip(upper).rev() {
            *place = (low % u64::from(radix)) as u16;
            low /= u64::from(radix);
        }
        left = upper;
    }
}

const fn greatest_power(radix: u32) -> (u64, usize) {
    let (mut power, mut count) = (radix as u64, 1);
    while let Some(next) = power.checked_mul(radix as u64) {
        power = next;
        count += 1;
    }
    (power, count)
}

pub(super) fn number_of(digits: &[u16], radix: u32) -> Wide {
    let (_, count) = greatest_power(radix);
    let mut number = Wide::ZERO;
    let mut rest = digits;
    while !rest.is_empty() {
        let (taken, later) = rest.split_at(count.min(rest.len()));
        rest = later;
        let fold = |(value, span): (u64, u64), digit: &u16| {
            let radix = u64::from(radix);
            let value = value.wrapping_mul(radix).wrapping_add((*digit).into());
            (value, span.wrapping_mul(radix))
        };
        let (value, span) = taken.iter().fold((0, 1), fold);
        // Below radix^digits; a result that is no rank may exceed N, never 2^256, as it is walked on before.
        number = number.checked_mul(span.into()).unwrap_or_default();
        number = number
            .checked_add(Wide::new(value.into()))
            .unwrap_or_default();
    }
    number
}
