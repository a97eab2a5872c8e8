//! Ranks of sets whose parts are all numbers of 64 bits, as the numbers of FF1's halves: no digit is made of them.

use super::{Fit, Shape, low};
use crate::divisor::Divisor;
use crate::rank::Span;

/// A set of 2^128 values at most, where both halves of FF1 fit 64 bits.
#[derive(Debug)]
pub(crate) struct Numbers {
    parts: Box<[Part]>,
    size: u128,
    radix: u32,
    digits: usize,
    /// radix^v, of which the first half is a multiple.
    power: u64,
    by_power: Divisor,
    walks: bool,
}

#[derive(Debug)]
struct Part {
    /// The product of the spans before it.
    weight: u128,
    span: Divisor,
}

impl Numbers {
    /// `None` for all other sets.
    pub(crate) fn new(spans: &[Span]) -> Option<Self> {
        let shape = Shape::new(spans).ok()?;
        let size = shape.size()?.to_u128()?;
        if *shape.fit() == Fit::Direct || spans.iter().any(|span| span.count > 0) {
            return None;
        }
        let digits = shape.digits();
        let behind = u32::try_from(digits - digits / 2).ok()?;
        let power = u64::from(shape.radix()).checked_pow(behind)?;
        let mut weight = 1_u128;
        let mut parts = Vec::with_capacity(spans.len());
        for span in spans {
            parts.push(Part {
                weight,
                span: Divisor::new(u64::try_from(span.modulus).ok()?),
            });
            weight = weight.checked_mul(span.modulus)?;
        }
        Some(Self {
            parts: parts.into(),
            size,
            radix: shape.radix(),
            digits,
            power,
            by_power: Divisor::new(power),
            walks: matches!(shape.fit(), Fit::Walk(_)),
        })
    }

    /// How many values there are.
    pub(crate) const fn size(&self) -> u128 {
        self.size
    }

    /// How many numbers a value has.
    pub(crate) const fn count(&self) -> usize {
        self.parts.len()
    }

    pub(crate) const fn radix(&self) -> u32 {
        self.radix
    }

    pub(crate) const fn digits(&self) -> usize {
        self.digits
    }

    /// Whether there are halves that are no rank's.
    pub(crate) const fn walks(&self) -> bool {
        self.walks
    }

    /// The halves of a value's rank.
    #[inline]
    pub(crate) fn put(&self, numbers: &[u64]) -> [u64; 2] {
        let add = |rank: u128, (number, part): (&u64, &Part)| {
            rank.wrapping_add(u128::from(*number).wrapping_mul(part.weight))
        };
        let rank = numbers.iter().zip(&self.parts).fold(0, add);
        let (first, second) = self.by_power.of_wide(rank);
        [low(first), second]
    }

    /// The numbers of a value from the halves of its rank.
    #[inline]
    pub(crate) fn take(&self, halves: [u64; 2], numbers: &mut [u64]) {
        let mut rank = self.rank(halves);
        let Some((last, before)) = numbers.split_last_mut() else {
            return;
        };
        for (number, part) in before.iter_mut().zip(&self.parts) {
            (rank, *number) = part.span.of_wide(rank);
        }
        *last = low(rank);
    }

    /// Whether halves are those of a rank.
    #[inline]
    pub(crate) const fn has(&self, halves: [u64; 2]) -> bool {
        self.rank(halves) < self.size
    }

    #[inline(always)]
    const fn rank(&self, [first, second]: [u64; 2]) -> u128 {
        (first as u128)
            .wrapping_mul(self.power as u128)
            .wrapping_add(second as u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Sink;

    fn spans(moduli: &[u128]) -> Vec<Span> {
        let span = |modulus: &u128| Span {
            modulus: *modulus,
            count: 0,
        };
        moduli.iter().map(span).collect()
    }

    #[test]
    fn halves_are_those_of_the_digits_that_the_shape_gives() {
        let mut dice = keywright_mutate::SplitMix::new(12);
        for moduli in [
            vec![10_u128.pow(10), 36_u128.pow(11), 100],
            vec![898, 99, 9_999],
            vec![26_u128.pow(4), 10_u128.pow(14)],
            vec![36_u128.pow(12), 36_u128.pow(12)],
            vec![1 << 61, 7],
            vec![888_931_098],
        ] {
            let spans = spans(&moduli);
            let (shape, numbers) = (Shape::new(&spans).unwrap(), Numbers::new(&spans).unwrap());
            assert_eq!(numbers.count(), moduli.len());
            for round in 0..500_u32 {
                let mut sink = Sink::default();
                let mut value = Vec::new();
                for modulus in &moduli {
                    let number = match round {
                        0 => 0,
                        1 => modulus - 1,
                        _ => u128::from(dice.next_u64()) % modulus,
                    };
                    sink.number(number, *modulus);
                    value.push(u64::try_from(number).unwrap());
                }
                let mut digits = vec![0; shape.digits()];
                shape.put(&sink, &mut digits);
                let radix = u64::from(numbers.radix());
                let (first, second) = digits.split_at(digits.len() / 2);
                let expected = [first, second].map(|half| {
                    let add = |number: u64, digit: &u16| number * radix + u64::from(*digit);
                    half.iter().fold(0, add)
                });
                let halves = numbers.put(&value);
                assert_eq!(halves, expected, "{moduli:?}");
                assert!(numbers.has(halves));
                let mut back = vec![0; moduli.len()];
                numbers.take(halves, &mut back);
                assert_eq!(back, value, "{moduli:?}");
            }
        }
    }

    #[test]
    fn what_lies_beyond_the_last_rank_is_none() {
        let numbers = Numbers::new(&spans(&[898, 99, 9_999])).unwrap();
        assert!(numbers.walks());
        assert_eq!((numbers.radix(), numbers.digits()), (29_815, 2));
        let last = numbers.size() - 1;
        let halves = |rank: u128| [rank / 29_815, rank % 29_815].map(low);
        assert!(numbers.has(halves(last)));
        assert!(!numbers.has(halves(last + 1)));
        assert!(!numbers.has([29_814, 29_814]));
    }

    #[test]
    fn sets_that_need_more_are_left_to_the_shape() {
        let run = Span {
            modulus: 10,
            count: 5,
        };
        let number = Span {
            modulus: 7,
            count: 0,
        };
        assert!(Numbers::new(&[run, number]).is_none());
        assert!(Numbers::new(&spans(&[1 << 65, 3])).is_none());
        assert!(Numbers::new(&spans(&[u128::from(u64::MAX), u128::from(u64::MAX), 3])).is_none());
        assert!(Numbers::new(&spans(&[1])).is_none());
    }
}
