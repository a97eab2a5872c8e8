//! What an RSA modulus gives away: a factor that another one has as well (Heninger and others, "Mining Your Ps and
//! Qs", 2012), and the form of primes of CVE-2017-15361 (Nemec and others, "The Return of Coppersmith's Attack",
//! 2017).
//!
//! Moduli are public; nothing here takes care how long it takes.

/// How many moduli are held against each other: each pair costs about a millisecond.
pub const WEAK_LIMIT: usize = 64;

/// Whether two different numbers, big-endian, have a factor in common. A number that is even or zero is none of RSA
/// and shares nothing.
#[must_use]
pub fn share_factor(one: &[u8], other: &[u8]) -> bool {
    let (mut a, mut b) = (Number::new(one), Number::new(other));
    if a.is_even() || b.is_even() || a.0 == b.0 {
        return false;
    }
    // Stein: of two odd numbers the difference is even, and halving it takes no factor away.
    loop {
        match a.order(&b) {
            std::cmp::Ordering::Equal => return !a.is_one(),
            std::cmp::Ordering::Less => std::mem::swap(&mut a, &mut b),
            std::cmp::Ordering::Greater => {}
        }
        a.subtract(&b);
        a.halve_until_odd();
    }
}

/// Words, the least first, without zeros on top.
#[derive(PartialEq, Eq)]
struct Number(Vec<u64>);

impl Number {
    fn new(bytes: &[u8]) -> Self {
        let words = bytes.rchunks(8).map(|chunk| {
            chunk
                .iter()
                .fold(0_u64, |word, byte| (word << 8) | u64::from(*byte))
        });
        let mut number = Self(words.collect());
        number.trim();
        number
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Zero counts as even.
    fn is_even(&self) -> bool {
        self.0.first().is_none_or(|word| word & 1 == 0)
    }

    fn is_one(&self) -> bool {
        self.0 == [1]
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes a smaller number off.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (index, word) in self.0.iter_mut().enumerate() {
            let less = other.0.get(index).copied().unwrap_or(0);
            let (first, one) = word.overflowing_sub(less);
            let (second, two) = first.overflowing_sub(u64::from(borrow));
            *word = second;
            borrow = one || two;
        }
        self.trim();
    }

    fn halve_until_odd(&mut self) {
        while self.0.first() == Some(&0) {
            self.0.remove(0);
        }
        let zeros = self.0.first().map_or(0, |word| word.trailing_zeros());
        if zeros == 0 {
            return;
        }
        let mut above = 0;
        for word in self.0.iter_mut().rev() {
            let next = *word << (64 - zeros);
            *word = (*word >> zeros) | above;
            above = next;
        }
        self.trim();
    }
}

/// The primes by which the form is told: modulo each of them only powers of 65537 occur.
const PRIMES: [u32; 17] = [
    11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
];

/// Whether a modulus has the form.
pub(super) fn is_roca(modulus: &[u8]) -> bool {
    modulus.len() >= 64
        && PRIMES
            .iter()
            .all(|prime| is_power(remainder(modulus, *prime), *prime))
}

fn remainder(modulus: &[u8], prime: u32) -> u32 {
    modulus
        .iter()
        .fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % prime)
}

/// Whether `value` is a power of 65537 modulo `prime`.
fn is_power(value: u32, prime: u32) -> bool {
    let generator = 65_537 % prime;
    let mut power = 1;
    for _ in 0..prime {
        if power == value {
            return true;
        }
        power = power * generator % prime;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product of two numbers of up to 128 bits, as bytes.
    fn product(a: u128, b: u128) -> Vec<u8> {
        let (high, low) = ((a >> 64) * b, (a & u128::from(u64::MAX)) * b);
        let mut words = [0_u128; 4];
        words[0] = low & u128::from(u64::MAX);
        words[1] = (low >> 64) + (high & u128::from(u64::MAX));
        words[2] = high >> 64;
        words[2] += words[1] >> 64;
        words[1] &= u128::from(u64::MAX);
        let words = words.iter().rev();
        words
            .flat_map(|word| u64::try_from(*word).unwrap().to_be_bytes())
            .collect()
    }

    #[test]
    fn a_common_factor_is_found_and_none_is_made_up() {
        // 2^61 - 1, 2^31 - 1, 2^19 - 1 and 2^17 - 1 are primes.
        let (p, q, r, s) = (
            (1_u128 << 61) - 1,
            (1_u128 << 31) - 1,
            (1 << 19) - 1,
            (1 << 17) - 1,
        );
        assert!(share_factor(&product(p, q), &product(p, r)));
        assert!(share_factor(&product(p, q), &product(s, q)));
        assert!(!share_factor(&product(p, q), &product(r, s)));
        assert!(!share_factor(&product(p, q), &product(p, q)));
        // A factor that is the other number as a whole.
        assert!(share_factor(&product(p, q), &product(p, 1)));
        for nothing in [&[][..], &[0], &[2], &[1]] {
            assert!(!share_factor(&product(p, q), nothing));
            assert!(!share_factor(nothing, &product(p, q)));
        }
    }

    #[test]
    fn the_form_is_told_from_other_numbers() {
        // 1 is a power of 65537 modulo everything, and so is one more than the product of the primes.
        let mut product = vec![0_u8; 64];
        *product.last_mut().unwrap() = 1;
        assert!(is_roca(&product));
        // A modulus of a demonstration key of the discoverers would do as well; an ordinary one does not.
        let ordinary: Vec<u8> = (0..128_u32)
            .map(|i| u8::try_from(i * 37 % 251).unwrap() | 1)
            .collect();
        assert!(!is_roca(&ordinary));
        assert!(!is_roca(&[1]));
    }
}
