//! AES with two blocks per instruction (VAES on AVX2 registers), twenty-four values at a time.
#![expect(unsafe_code, reason = "the step into target features")]

use core::arch::x86_64::*;

use super::aes256::{aes_kernel, dispatch};
use super::blocks::each256;
use super::chunks256::{self as chunks, Bases, Set};
use super::lanes256::{self as lanes, Modulus};
use super::lanes512::range;
use super::short::Orders;
use super::{Walk, wipe};
use crate::cipher::Backend;
use crate::feistel::{Direction, Family, Plan};

#[inline(always)]
const fn same(x: __m256i) -> __m256i {
    x
}

/// Registers of four values in a set. With fewer the processor waits for one step before the next can begin; with more
/// it waits for registers that were put aside.
const GROUPS: usize = 3;

aes_kernel!(
    "vaes,aes,avx2,fma,bmi2",
    Backend::Vaes256,
    __m256i,
    __m256i,
    each256,
    each256,
    same,
    same,
    _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128
);
