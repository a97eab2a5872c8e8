//! One value of any short shape: the common walk, instantiated with AES-NI and one size of key, so that
//! nothing is decided between two rounds.

use super::super::Walk;
use crate::cipher::{Cipher, aes_ni};
use crate::feistel::{self, Base, Family, Plan};
use crate::numerals::Numeral;

/// AES-NI under the round keys of one size of key.
struct Fixed<'a, const K: usize>(&'a [[u8; 16]; K]);

impl<const K: usize> Cipher for Fixed<'_, K> {
    #[inline(always)]
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        // SAFETY: made in `any` only, from a schedule whose backend has AES-NI and AVX2.
        unsafe { aes_ni::encrypt(self.0, block) }
    }

    #[inline(always)]
    fn encrypt8(&self, blocks: &mut [[u8; 16]; 8]) {
        // SAFETY: as above.
        unsafe { aes_ni::encrypt_many(self.0, blocks) }
    }
}

/// One value of any short shape in place; `false` if the schedule has no AES-NI.
#[inline]
pub(crate) fn any<T: Numeral>(one: &Walk<'_>, base: &Base, value: &mut [T]) -> bool {
    let Some(keys) = one.schedule.aes_keys() else {
        return false;
    };
    // SAFETY: byte round keys exist only in schedules whose backend has AES-NI, AVX2 and BMI2.
    unsafe {
        if let Ok(keys) = keys.try_into() {
            generic::<11, T>(keys, one, base, value);
        } else if let Ok(keys) = keys.try_into() {
            generic::<13, T>(keys, one, base, value);
        } else if let Ok(keys) = keys.try_into() {
            generic::<15, T>(keys, one, base, value);
        } else {
            return false;
        }
    }
    true
}

#[target_feature(enable = "aes,avx2,bmi2")]
fn generic<const K: usize, T: Numeral>(
    keys: &[[u8; 16]; K],
    one: &Walk<'_>,
    base: &Base,
    value: &mut [T],
) {
    let cipher = Fixed(keys);
    match one.plan.family {
        Family::Ff1 => {
            let plan = Plan {
                family: Family::Ff1,
                ..*one.plan
            };
            feistel::walk(&cipher, &plan, base, one.direction, value);
        }
        Family::Ff3 => {
            let plan = Plan {
                family: Family::Ff3,
                ..*one.plan
            };
            feistel::walk(&cipher, &plan, base, one.direction, value);
        }
    }
}
