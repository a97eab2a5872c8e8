//! AES with AES-NI, eight blocks interleaved, sixteen values at a time; arithmetic on AVX2
//! registers, two blocks each.
#![expect(unsafe_code, reason = "the step into target features")]

use core::arch::x86_64::*;

use super::aes256::{aes_kernel, dispatch};
use super::blocks::each256;
use super::chunks256::{self as chunks, Bases, Set};
use super::lanes256::{self as lanes, Modulus, join, split};
use super::lanes512::range;
use super::short::Orders;
use super::{Walk, wipe};
use crate::cipher::Backend;
use crate::cipher::aes_ni::load;
use crate::feistel::{Direction, Family, Plan};

#[inline]
#[target_feature(enable = "aes,avx2")]
fn round([low, high]: [__m128i; 2], key: __m128i) -> [__m128i; 2] {
    [_mm_aesenc_si128(low, key), _mm_aesenc_si128(high, key)]
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn last([low, high]: [__m128i; 2], key: __m128i) -> [__m128i; 2] {
    [
        _mm_aesenclast_si128(low, key),
        _mm_aesenclast_si128(high, key),
    ]
}

/// Registers of four values in a set.
const GROUPS: usize = 2;

aes_kernel!(
    "aes,avx2,fma,bmi2",
    Backend::AesNi,
    [__m128i; 2],
    __m128i,
    load,
    each256,
    split,
    join,
    round,
    last
);
