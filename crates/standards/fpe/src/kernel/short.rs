//! Values of fewer than sixteen decimal digits, in kernels that read and write the digits themselves.
//!
//! A value fills a quarter of a register (half of one with AVX2), each of its halves right-aligned in eight
//! bytes: from there on it is a value of sixteen digits whose leading digits are zeros, and of the numbers only
//! the moduli differ. Of an odd number of digits the halves have one more and one less, and with them even and
//! odd rounds have moduli of their own, as they always do.
//!
//! Halves of nine digits, that is values of seventeen and eighteen, are not served here: what a register holds
//! of a half would have to be put together from two places.

use super::Walk;
use crate::feistel::{Family, Plan};

/// Digits of a half that stand in a register.
const HALF: usize = 8;
/// Where a shuffle puts a zero.
const NONE: u8 = 0xff;

/// Where the digits of a shape stand. Public.
pub(super) struct Orders {
    /// Digits of a value.
    pub(super) length: usize,
    /// From the bytes of a value to two halves of eight digits, the most significant digit first.
    pub(super) read: [u8; 2 * HALF],
    /// The inverse.
    pub(super) write: [u8; 2 * HALF],
    /// All ones where there is no byte of the value.
    pub(super) behind: [u8; 2 * HALF],
}

impl Orders {
    /// `None` if the shape is not served.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let (first, length) = (plan.first, plan.length());
        if plan.digits.radix() != 10 || first.max(plan.second) > HALF || length == 2 * HALF {
            return None;
        }
        let (mut read, mut write) = ([NONE; 2 * HALF], [NONE; 2 * HALF]);
        for (place, to) in write.iter_mut().enumerate().take(length) {
            let (half, digits, digit) = if place < first {
                (0, first, place)
            } else {
                (HALF, plan.second, place - first)
            };
            // FF3 has the least significant digit first.
            let at = half
                + match plan.family {
                    Family::Ff1 => HALF - digits + digit,
                    Family::Ff3 => HALF - 1 - digit,
                };
            read[at] = low_byte(place);
            *to = low_byte(at);
        }
        let behind = core::array::from_fn(|place| if place < length { 0 } else { u8::MAX });
        Some(Self {
            length,
            read,
            write,
            behind,
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place below sixteen")]
const fn low_byte(place: usize) -> u8 {
    place as u8
}

/// Takes all records if a kernel serves the plan and the schedule, and returns how many; `zero` is the byte
/// of the digit 0.
pub(super) fn run(walk: &Walk<'_>, digits: &mut [u8], zero: u8) -> usize {
    let Some(orders) = Orders::new(walk.plan) else {
        return 0;
    };
    if super::vaes512::short(walk, digits, &orders, zero)
        || super::vaes256::short(walk, digits, &orders, zero)
        || super::eightway::short(walk, digits, &orders, zero)
        || super::sm4_512::short(walk, digits, &orders, zero)
        || super::sm4_256::short(walk, digits, &orders, zero)
    {
        return digits.len() / orders.length;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn halves_are_right_aligned_and_every_digit_comes_back_to_its_place() {
        for family in [Family::Ff1, Family::Ff3] {
            for length in 2..16 {
                let plan = plan(family, 10, length);
                let orders = Orders::new(&plan).unwrap();
                for half in [0, HALF] {
                    let digits = if half == 0 { plan.first } else { plan.second };
                    let (zeros, own) = orders.read[half..half + HALF].split_at(HALF - digits);
                    assert!(zeros.iter().all(|place| *place == NONE));
                    assert!(own.iter().all(|place| usize::from(*place) < length));
                }
                for place in 0..16 {
                    let is_own = place < length;
                    assert_eq!(orders.behind[place] == 0, is_own);
                    assert_eq!(orders.write[place] != NONE, is_own);
                    if is_own {
                        let at = usize::from(orders.write[place]);
                        assert_eq!(usize::from(orders.read[at]), place);
                    }
                }
            }
        }
    }

    #[test]
    fn other_radices_sixteen_digits_and_longer_halves_are_not_served() {
        for (radix, length) in [(9, 10), (11, 10), (10, 16), (10, 17), (10, 18)] {
            assert!(Orders::new(&plan(Family::Ff1, radix, length)).is_none());
        }
    }
}
