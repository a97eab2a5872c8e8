//! SM4 with AES-NI: sixteen values at a time, of which a register holds the same state word of eight.
#![expect(unsafe_code, reason = "the step into target features")]

use core::arch::x86_64::*;

use super::blocks::{WORDS, each256, sm4_aes_registers};
use super::chunks256::{self as chunks, Bases, Set};
use super::lanes256::{self as lanes, Modulus};
use super::lanes512::range;
use super::short::Orders;
use super::sm4_lanes::{dispatch, sm4_kernel};
use super::{Walk, wipe};
use crate::cipher::Backend;
use crate::feistel::{Direction, Family, Plan};

sm4_kernel!(
    "aes,avx2,fma,bmi2",
    Backend::Sm4AesNi,
    __m256i,
    _mm256_setzero_si256,
    _mm256_shuffle_epi8,
    each256,
    sm4_aes_registers,
    [PLAIN SMALL]
);
