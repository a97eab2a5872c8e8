//! From records in memory to registers of four values and back ([`super::chunks`]).
#![expect(unsafe_code, reason = "loads and stores of registers")]

use core::arch::x86_64::*;

use super::blocks::each256;
use super::chunks::chunks;
use super::lanes256::{self as lanes, LANES, Order};
use super::short::Orders;
use super::wipe;
use crate::cipher::aes_ni::load;
use crate::feistel::Base;

chunks!(
    "avx2",
    __m256i,
    _mm256_setzero_si256,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_and_si256,
    _mm256_shuffle_epi8,
    _mm256_set1_epi8,
    _mm256_set1_epi64x,
    each256
);
