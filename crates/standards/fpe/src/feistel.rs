//! The one walk that FF1, FF3 and FF3-1 share, in both directions.
//!
//! A round of either family encrypts one block, takes a number y from it and adds it to one half modulo
//! radix^m. As 128-bit numbers the families differ only in the order of bytes, in where the round's number
//! stands, and in how many bits of the block are no part of y:
//!
//! | | FF1 with at most 96 bits a half | FF3, FF3-1 |
//! |---|---|---|
//! | rounds | 10 | 8 |
//! | block and number | big-endian | little-endian |
//! | input | base xor (i << 8b) xor NUM(B) | base xor (i << 96) xor NUM(B) |
//! | y | the first d bytes: block >> (128 - 8d) | the block |
//! | first half | the shorter | the longer |
//!
//! Not here: what the base is (`crate::ff1`, `crate::ff3`), and halves of more than 96 bits
//! (`crate::ff1::long`).

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::arithmetic::{DigitOrder, Digits, Middle, Modulus, Narrow, Wide};
use crate::cipher::Cipher;
use crate::numerals::Numeral;

/// Which way the walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// Which of the two families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Ff1,
    Ff3,
}

impl Family {
    pub(crate) const fn rounds(self) -> u32 {
        match self {
            Self::Ff1 => 10,
            Self::Ff3 => 8,
        }
    }

    pub(crate) const fn order(self) -> DigitOrder {
        match self {
            Self::Ff1 => DigitOrder::MostSignificantFirst,
            Self::Ff3 => DigitOrder::LeastSignificantFirst,
        }
    }

    #[inline(always)]
    pub(crate) const fn block(self, number: u128) -> [u8; 16] {
        match self {
            Self::Ff1 => number.to_be_bytes(),
            Self::Ff3 => number.to_le_bytes(),
        }
    }

    #[inline(always)]
    pub(crate) const fn number(self, block: [u8; 16]) -> u128 {
        match self {
            Self::Ff1 => u128::from_be_bytes(block),
            Self::Ff3 => u128::from_le_bytes(block),
        }
    }
}

/// The moduli of even and odd rounds, radix^first and radix^second, in the narrowest form that serves both.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moduli {
    /// Both at most 2^32, y of 64 bits: FF1 with d = 8.
    Narrow([Narrow; 2]),
    /// Both at most 2^61.
    Middle([Middle; 2]),
    /// Both at most 2^96.
    Wide([Wide; 2]),
}

impl Moduli {
    #[expect(clippy::cast_possible_truncation, reason = "compared with 2^61 before")]
    pub(crate) fn of(powers: [u128; 2], y_bits: u32) -> Self {
        let [first, second] = powers;
        if first.max(second) > Middle::LARGEST {
            return Self::Wide(powers.map(Wide::new));
        }
        let powers = [first as u64, second as u64];
        if y_bits == 64 {
            return Self::Narrow(powers.map(Narrow::new));
        }
        Self::Middle(powers.map(Middle::new))
    }
}

/// What all values of one shape have in common. Public.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The family, and with it rounds, order of bytes and order of digits.
    pub(crate) family: Family,
    /// Digits of the first half.
    pub(crate) first: usize,
    /// Digits of the second half.
    pub(crate) second: usize,
    /// Where the round's number is xored in: 8b for FF1, 96 for FF3.
    pub(crate) counter_shift: u32,
    /// Bits of the block below y: 128 - 8d for FF1, 0 for FF3.
    pub(crate) discard: u32,
    /// Moduli of even and odd rounds.
    pub(crate) moduli: Moduli,
    /// Numbers from digits and back.
    pub(crate) digits: Digits,
}

impl Plan {
    /// Digits of a value.
    pub(crate) const fn length(&self) -> usize {
        self.first + self.second
    }

    /// b of FF1: the bytes of NUM(B) in a block, above which the round's number stands.
    pub(crate) const fn b(&self) -> usize {
        (self.counter_shift / 8) as usize
    }
}

/// What the input block of even and of odd rounds has besides the round's number and NUM: for FF1 twice the
/// same, tweak and padding xored to the MAC of all that goes before; for FF3 the half tweaks. Wiped.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base(pub(crate) [u128; 2]);

impl zeroize::DefaultIsZeroes for Base {}

/// Two halves, wiped.
struct Halves<H: Zeroize>(H, H);

impl<H: Zeroize> Drop for Halves<H> {
    fn drop(&mut self) {
        self.0.zeroize();
        self.1.zeroize();
    }
}

impl<H: Zeroize> ZeroizeOnDrop for Halves<H> {}

/// One value in place.
///
/// Always inlined, so that a backend which instantiates it inside a function of its own instruction set gets
/// the whole walk in registers.
#[inline(always)]
pub(crate) fn walk<C: Cipher, T: Numeral>(
    cipher: &C,
    plan: &Plan,
    base: &Base,
    direction: Direction,
    value: &mut [T],
) {
    let (first, second) = value.split_at_mut(plan.first);
    let (digits, order) = (&plan.digits, plan.family.order());
    match &plan.moduli {
        Moduli::Narrow(moduli) => {
            let mut halves = Halves(digits.number(first, order), digits.number(second, order));
            rounds(cipher, plan, base, moduli, direction, &mut halves);
            digits.write_chunk(halves.0, first, order);
            digits.write_chunk(halves.1, second, order);
        }
        Moduli::Middle(moduli) => {
            let mut halves = Halves(digits.number(first, order), digits.number(second, order));
            rounds(cipher, plan, base, moduli, direction, &mut halves);
            digits.write(halves.0, first, order);
            digits.write(halves.1, second, order);
        }
        Moduli::Wide(moduli) => {
            let mut halves = Halves(
                digits.number_wide(first, order),
                digits.number_wide(second, order),
            );
            rounds(cipher, plan, base, moduli, direction, &mut halves);
            digits.write_wide(halves.0, first, order);
            digits.write_wide(halves.1, second, order);
        }
    }
}

/// All rounds. Both families have an even number of them, so that two rounds, one with each modulus, repeat.
#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "inlined; bundling the arguments would only move them through memory"
)]
fn rounds<C: Cipher, M: Modulus>(
    cipher: &C,
    plan: &Plan,
    base: &Base,
    moduli: &[M; 2],
    direction: Direction,
    halves: &mut Halves<M::Half>,
) {
    let [even, odd] = *moduli;
    let [even_base, odd_base] = base.0;
    let y = |constant: u128, round: u32, half: M::Half| {
        let input = constant ^ (u128::from(round) << plan.counter_shift) ^ half.into();
        plan.family.number(cipher.encrypt(plan.family.block(input))) >> plan.discard
    };
    let (mut a, mut b) = (halves.0, halves.1);
    let pairs = plan.family.rounds() / 2;
    match direction {
        Direction::Encrypt => {
            for pair in 0..pairs {
                // Even round: A + y(B) becomes the new B, which here takes A's place; the odd round
                // then does the same with the places exchanged, and all is where it was.
                a = even.add(a, y(even_base, 2 * pair, b));
                b = odd.add(b, y(odd_base, 2 * pair + 1, a));
            }
        }
        Direction::Decrypt => {
            for pair in (0..pairs).rev() {
                b = odd.subtract(b, y(odd_base, 2 * pair + 1, a));
                a = even.subtract(a, y(even_base, 2 * pair, b));
            }
        }
    }
    halves.0 = a;
    halves.1 = b;
}
