//! From records in memory to registers of eight values and back ([`super::chunks`]).
#![expect(unsafe_code, reason = "loads and stores of registers")]

use core::arch::x86_64::*;

use super::chunks::chunks;
use super::lanes512::{self as lanes, LANES, Order};
use super::short::Orders;
use super::wipe;
use crate::cipher::aes_ni::load;
use crate::feistel::Base;

chunks!(
    "avx512f,avx512bw,avx512dq,avx512vl",
    __m512i,
    _mm512_setzero_si512,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_and_si512,
    _mm512_shuffle_epi8,
    _mm512_set1_epi8,
    _mm512_set1_epi64,
    lanes::all_blocks,
    blocks
);
