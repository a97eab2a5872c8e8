//! A second FF3-1, to compare with: NIST SP 800-38G Rev. 1 (first draft), algorithms 9 and 10, as plainly as
//! it can be written, over the `aes` crate. Numbers are 128 bits wide, which the longest half of a value and
//! a reduced y together never fill. Nothing here is fast or constant-time.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};

/// Encrypts one value under a 7-byte tweak; `None` for a size of key that AES does not have.
#[must_use]
pub fn encrypt(key: &[u8], tweak: [u8; 7], radix: u32, value: &[u32]) -> Option<Vec<u32>> {
    let key: Vec<u8> = key.iter().rev().copied().collect();
    let middle = value.len().div_ceil(2);
    let (mut a, mut b) = (value.get(..middle)?.to_vec(), value.get(middle..)?.to_vec());
    for round in 0..8_u8 {
        let mut w = half_tweak(tweak, round);
        w[3] ^= round;
        // P, with its bytes in reverse order.
        let mut block = [0; 16];
        block[..12].copy_from_slice(&number(&b, radix).to_le_bytes()[..12]);
        w.reverse();
        block[12..].copy_from_slice(&w);
        let y = u128::from_le_bytes(cipher(&key, block)?);
        let modulus = u128::from(radix).pow(u32::try_from(a.len()).ok()?);
        let c = (number(&a, radix) + y % modulus) % modulus;
        let digits = digits(c, radix, a.len());
        a = core::mem::replace(&mut b, digits);
    }
    a.extend(b);
    Some(a)
}

/// T_R for even rounds, T_L for odd ones.
const fn half_tweak([t0, t1, t2, t3, t4, t5, t6]: [u8; 7], round: u8) -> [u8; 4] {
    if round.is_multiple_of(2) {
        [t4, t5, t6, t3 << 4]
    } else {
        [t0, t1, t2, t3 & 0xF0]
    }
}

/// The digits as a number, the first least significant.
fn number(digits: &[u32], radix: u32) -> u128 {
    let digits = digits.iter().rev();
    digits.fold(0, |sum, digit| sum * u128::from(radix) + u128::from(*digit))
}

/// As many digits of a number, the least significant first.
fn digits(mut number: u128, radix: u32, count: usize) -> Vec<u32> {
    (0..count)
        .map(|_| {
            let digit = number % u128::from(radix);
            number /= u128::from(radix);
            u32::try_from(digit).unwrap_or_default()
        })
        .collect()
}

fn cipher(key: &[u8], block: [u8; 16]) -> Option<[u8; 16]> {
    let mut block = block.into();
    match key.len() {
        16 => Aes128::new_from_slice(key).ok()?.encrypt_block(&mut block),
        24 => Aes192::new_from_slice(key).ok()?.encrypt_block(&mut block),
        _ => Aes256::new_from_slice(key).ok()?.encrypt_block(&mut block),
    }
    Some(block.into())
}
