//! Addition of private keys modulo the order of their group, in place and without a branch on their bits.
//!
//! The backends add scalars as values of their own types, which are copied about and not wiped. A tree of
//! keys adds one number to one key at each level, so the sum is made here, on the bytes of the key.

use crate::Error;

/// The number of points of a group: a prime of 256 bits, as little-endian limbs.
pub(crate) struct Order([u64; 4]);

/// SEC 2, 2.4.1.
pub(crate) const SECP256K1: Order = Order([
    0xbfd2_5e8c_d036_4141,
    0xbaae_dce6_af48_a03b,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
]);

/// SP 800-186, 3.2.1.3.
pub(crate) const P256: Order = Order([
    0xf3b9_cac2_fc63_2551,
    0xbce6_faad_a717_9e84,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_0000_0000,
]);

impl Order {
    /// Whether these big-endian bytes are a private key: 1 to the order less one.
    pub(crate) fn holds(&self, key: &[u8; 32]) -> bool {
        let limbs = read(key);
        is_zero(&limbs) == 0 && self.is_below(&limbs) == 1
    }

    /// Adds `tweak` to `key`.
    ///
    /// # Errors
    /// [`Error::KeyRejected`], with `key` as it was, if the tweak is not below the order or the sum is zero.
    pub(crate) fn add(&self, key: &mut [u8; 32], tweak: &[u8; 32]) -> Result<(), Error> {
        let (a, b) = (read(key), read(tweak));
        let mut sum = [0; 4];
        let carry = add(&a, &b, &mut sum);
        let mut reduced = [0; 4];
        let borrow = subtract(&sum, &self.0, &mut reduced);
        // The sum has outgrown the order if it has outgrown 256 bits or did not need to borrow.
        let take = 0_u64.wrapping_sub(carry | (borrow ^ 1));
        for (sum, reduced) in sum.iter_mut().zip(reduced) {
            *sum = (reduced & take) | (*sum & !take);
        }
        // Both happen once in 2^127 times for secp256k1 and once in 2^32 for P-256; that they did is no secret.
        if self.is_below(&b) == 0 || is_zero(&sum) == 1 {
            return Err(Error::KeyRejected);
        }
        for (bytes, limb) in key.chunks_exact_mut(8).zip(sum.iter().rev()) {
            bytes.copy_from_slice(&limb.to_be_bytes());
        }
        Ok(())
    }

    /// One if the number is below the order.
    fn is_below(&self, limbs: &[u64; 4]) -> u64 {
        subtract(limbs, &self.0, &mut [0; 4])
    }
}

fn read(bytes: &[u8; 32]) -> [u64; 4] {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().rev().zip(bytes.chunks_exact(8)) {
        *limb = bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    limbs
}

/// The carry.
fn add(a: &[u64; 4], b: &[u64; 4], out: &mut [u64; 4]) -> u64 {
    let mut carry = 0;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let (sum, first) = a.overflowing_add(*b);
        let (sum, second) = sum.overflowing_add(carry);
        *out = sum;
        carry = u64::from(first) | u64::from(second);
    }
    carry
}

/// The borrow.
fn subtract(a: &[u64; 4], b: &[u64; 4], out: &mut [u64; 4]) -> u64 {
    let mut borrow = 0;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let (rest, first) = a.overflowing_sub(*b);
        let (rest, second) = rest.overflowing_sub(borrow);
        *out = rest;
        borrow = u64::from(first) | u64::from(second);
    }
    borrow
}

/// One if all limbs are zero.
fn is_zero(limbs: &[u64; 4]) -> u64 {
    let any = limbs.iter().fold(0, |any, limb| any | limb);
    1 ^ ((any | any.wrapping_neg()) >> 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(last: u8) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[31] = last;
        bytes
    }

    /// The order plus a small number, negative ones as well.
    fn near(order: &Order, offset: i8) -> [u8; 32] {
        let mut bytes = [0; 32];
        let first = order.0[0].wrapping_add_signed(i64::from(offset));
        let limbs = [first, order.0[1], order.0[2], order.0[3]];
        for (bytes, limb) in bytes.chunks_exact_mut(8).zip(limbs.iter().rev()) {
            bytes.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn keys_are_one_to_the_order_less_one() {
        for order in [SECP256K1, P256] {
            assert!(!order.holds(&[0; 32]));
            assert!(order.holds(&of(1)));
            assert!(order.holds(&near(&order, -1)));
            assert!(!order.holds(&near(&order, 0)));
            assert!(!order.holds(&near(&order, 1)));
            assert!(!order.holds(&[0xFF; 32]));
        }
    }

    #[test]
    fn sums_wrap_at_the_order_and_what_is_no_sum_changes_nothing() {
        for order in [SECP256K1, P256] {
            for (key, tweak, sum) in [
                (of(1), of(2), of(3)),
                (of(9), [0; 32], of(9)),
                (near(&order, -1), of(2), of(1)),
                (near(&order, -2), of(1), near(&order, -1)),
                (near(&order, -1), near(&order, -1), near(&order, -2)),
            ] {
                let mut made = key;
                assert_eq!(order.add(&mut made, &tweak), Ok(()));
                assert_eq!(made, sum);
            }
            for (key, tweak) in [
                (near(&order, -1), of(1)),
                (of(1), near(&order, -1)),
                (of(1), near(&order, 0)),
                (of(1), near(&order, 7)),
                (of(1), [0xFF; 32]),
            ] {
                let mut made = key;
                assert_eq!(order.add(&mut made, &tweak), Err(Error::KeyRejected));
                assert_eq!(made, key);
            }
        }
    }

    /// Against both backends, with the top bytes at their extremes.
    #[test]
    fn ten_thousand_sums_are_those_of_the_backends() {
        use ::p256::elliptic_curve::PrimeField as _;
        let mut state = crate::hash::sha512(b"sums");
        for round in 0..10_000_u32 {
            state = crate::hash::sha512(&state);
            let (mut key, mut tweak) = ([0; 32], [0; 32]);
            key.copy_from_slice(&state[..32]);
            tweak.copy_from_slice(&state[32..]);
            match round % 4 {
                0 => key[..8].fill(0xFF),
                1 => tweak[..4].fill(0xFF),
                2 => key[..3].fill(0),
                _ => {}
            }
            if SECP256K1.holds(&key) {
                let theirs = ::secp256k1::SecretKey::from_byte_array(key).ok();
                let scalar = ::secp256k1::Scalar::from_be_bytes(tweak).ok();
                let theirs = theirs
                    .zip(scalar)
                    .and_then(|(key, by)| key.add_tweak(&by).ok());
                let mut ours = key;
                let made = SECP256K1.add(&mut ours, &tweak);
                assert_eq!(
                    made.ok().map(|()| ours),
                    theirs.map(|key| key.secret_bytes())
                );
            }
            let scalar = |bytes: [u8; 32]| ::p256::Scalar::from_repr(bytes.into()).into_option();
            if let (Some(a), true) = (scalar(key), P256.holds(&key)) {
                let theirs: Option<[u8; 32]> = scalar(tweak).map(|b| (a + b).to_repr().into());
                let mut ours = key;
                let made = P256.add(&mut ours, &tweak);
                assert_eq!(made.ok().map(|()| ours), theirs);
            }
        }
    }
}
