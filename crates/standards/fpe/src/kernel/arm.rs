//! Waves over the Arm instructions: sixteen 128-bit numbers through AES or SM4 at a time.
//!
//! Not here: arithmetic in vector registers; the moduli stay in general ones ([`super::wave`]).

use core::arch::aarch64::*;

use super::wave::wave_on;
use crate::cipher::arm::{aes_registers, flip, load, sm4_registers, store};

wave_on!("neon,aes", [[u8; 16]], aes, 16, aes_wave);
wave_on!("neon,sm4", [u32; 32], sm4, 16, sm4_wave);

/// Defines the encryption of sixteen numbers, each xored with one number, in place. `SWAP` says that the
/// numbers are big-endian.
macro_rules! sixteen {
    ($features:literal, $name:ident, $keys:ty, $registers:ident) => {
        #[target_feature(enable = $features)]
        pub(super) fn $name<const SWAP: bool>(
            keys: &$keys,
            numbers: &mut [u128; 16],
            constant: u128,
        ) {
            let constant = load(&constant.to_le_bytes());
            let mut state = [constant; 16];
            for (x, number) in state.iter_mut().zip(numbers.iter()) {
                let block = veorq_u8(*x, load(&number.to_le_bytes()));
                *x = if SWAP { flip(block) } else { block };
            }
            $registers(keys, &mut state);
            for (number, x) in numbers.iter_mut().zip(state) {
                let mut bytes = [0; 16];
                store(&mut bytes, if SWAP { flip(x) } else { x });
                *number = u128::from_le_bytes(bytes);
            }
        }
    };
}

sixteen!("neon,aes", aes, [[u8; 16]], aes_registers);
sixteen!("neon,sm4", sm4, [u32; 32], sm4_registers);
