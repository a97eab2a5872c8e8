//! SM4 with GFNI: thirty-two values at a time, of which a register holds the same state word of sixteen.
#![expect(unsafe_code, reason = "the step into target features")]

use core::arch::x86_64::*;

use super::blocks::{WORDS, sm4_gfni_registers};
use super::chunks512::{self as chunks, Bases, Set};
use super::lanes512::{self as lanes, Modulus, range};
use super::short::Orders;
use super::sm4_lanes::{dispatch, sm4_kernel};
use super::{Walk, wipe};
use crate::cipher::Backend;
use crate::feistel::{Direction, Family, Plan};

sm4_kernel!(
    "gfni,avx512f,avx512bw,avx512dq,avx512vl",
    Backend::Sm4Gfni,
    __m512i,
    _mm512_setzero_si512,
    _mm512_shuffle_epi8,
    lanes::all_blocks,
    sm4_gfni_registers,
    [PLAIN SMALL LARGE]
);
