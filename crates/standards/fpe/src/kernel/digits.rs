//! Numbers from and to digits that stand one a byte, sixteen digits of each half at a time (AVX2).
//!
//! In: digits are joined to twos, fours and eights by multiply-add; a half is two eights. Out: eights
//! are split into fours by a double-precision quotient, fours into twos by a single-precision one,
//! twos into digits by a multiplication with a reciprocal that is exact below radix^2. A quotient by
//! floating point is nudged so that it is never too large and at most one too small, and is put right
//! by a comparison into a mask. One lane of a register works on the first half, the other on the
//! second.
//!
//! Serves radices up to 90 (an eight is then below 2^52) and halves of up to sixteen digits, or, if
//! they fit 64 bits, of up to nineteen, whose upper digits go one by one.
#![expect(
    unsafe_code,
    reason = "the step into target features, loads and stores"
)]

use core::arch::x86_64::*;

use super::blocks::each256;
use crate::arithmetic::multiply_high;
use crate::cipher::Backend;
use crate::feistel::{Family, Plan};

/// Room that loads and stores may touch before and after the digits.
pub(super) const MARGIN: usize = 16;

/// Two eights of the first half, two of the second, the upper one first.
pub(super) type Eights = [u64; 4];

/// What the conversion needs of a plan; public.
pub(super) struct Converter {
    lengths: [usize; 2],
    /// Whether a half has more than sixteen digits.
    long: bool,
    /// Where the lower sixteen digits begin, counted from sixteen bytes before the half.
    begin: [usize; 2],
    read: [[u8; 16]; 2],
    write: [[u8; 16]; 2],
    radix: u16,
    /// radix^8, floor((2^64 - 1) / radix^8), and for longer numbers the shift and the reciprocal.
    eight: u64,
    reciprocal: u64,
    /// radix^16 and its reciprocal, used where a half has more than sixteen digits.
    sixteen: u64,
    by_sixteen: u64,
    shift: u32,
    reciprocal_wide: u64,
}

impl Converter {
    /// `None` if the plan or the backend is not served.
    ///
    /// Not inlined, so that its divisions (of public numbers) stand in no kernel.
    #[inline(never)]
    pub(super) fn new(plan: &Plan, backend: Backend) -> Option<Self> {
        const NONE: u8 = 0xff;
        let radix = u16::try_from(plan.digits.radix())
            .ok()
            .filter(|radix| *radix <= 90)?;
        let lengths = [plan.first, plan.second];
        if backend == Backend::Portable || lengths.iter().any(|length| *length > 19) {
            return None;
        }
        let eight = u64::from(radix).pow(8);
        let [even, odd] = plan.moduli.values();
        let long = lengths.iter().any(|length| *length > 16);
        if even.max(odd) > 1 << 64 && (long || eight < 1 << 32) {
            return None;
        }
        let ff1 = plan.family == Family::Ff1;
        // Right-aligned with the most significant digit first, which FF3 has last.
        let lower = lengths.map(|length| length.min(16));
        let read = lower.map(|length| {
            core::array::from_fn(|i| match (16 - i <= length, ff1) {
                (false, _) => NONE,
                (true, true) => low_byte(i),
                (true, false) => low_byte(15 - i),
            })
        });
        let write = lower.map(|length| {
            core::array::from_fn(|i| match (i < length, ff1) {
                (false, _) => NONE,
                (true, true) => low_byte(16 - length + i),
                (true, false) => low_byte(15 - i),
            })
        });
        let shift = 63 - eight.leading_zeros();
        let wide = ((1u128 << (64 + shift)) - 1) / u128::from(eight);
        Some(Self {
            lengths,
            long,
            begin: lengths.map(|length| if ff1 { length } else { 16 }),
            sixteen: eight.wrapping_mul(eight),
            by_sixteen: u64::MAX / eight.saturating_mul(eight),
            read,
            write,
            radix,
            eight,
            reciprocal: u64::MAX / eight,
            shift,
            reciprocal_wide: u64::try_from(wide).ok()?,
        })
    }

    /// Eights of all records; `padded` has [`MARGIN`] bytes, then the records, then as many again.
    pub(super) fn read(&self, padded: &[u8], eights: &mut [Eights]) {
        // SAFETY: a converter exists only for backends whose machine has AVX2 and FMA.
        unsafe { self.read_avx2(padded, eights) }
    }

    /// The inverse; what it leaves in the margin behind the records has no meaning.
    pub(super) fn write(&self, eights: &[Eights], padded: &mut [u8]) {
        // SAFETY: as above.
        unsafe { self.write_avx2(eights, padded) }
    }

    /// The two halves of a record.
    #[inline(always)]
    pub(super) fn join(&self, [a, b, c, d]: Eights) -> [u128; 2] {
        let eight = u128::from(self.eight);
        [
            u128::from(a) * eight + u128::from(b),
            u128::from(c) * eight + u128::from(d),
        ]
    }

    /// The same for halves that fit 64 bits, without what stands above sixteen digits.
    #[inline(always)]
    pub(super) const fn join64(&self, [a, b, c, d]: Eights) -> [u64; 2] {
        let first = a.wrapping_mul(self.eight).wrapping_add(b);
        [first, c.wrapping_mul(self.eight).wrapping_add(d)]
    }

    /// What stands above sixteen digits of a half of 64 bits, and the rest.
    #[inline(always)]
    pub(super) const fn split_top(&self, half: u64) -> [u64; 2] {
        if self.long {
            self.split_long(half)
        } else {
            [0, half]
        }
    }

    /// Upper and lower eight of a number of up to sixteen digits that has 64 bits.
    #[inline(always)]
    pub(super) const fn split_sixteen(&self, number: u64) -> [u64; 2] {
        let quotient = multiply_high(number, self.reciprocal);
        let rest = number.wrapping_sub(quotient.wrapping_mul(self.eight));
        put_right([quotient, rest], self.eight)
    }

    /// Whether a half has more than sixteen digits.
    pub(super) const fn is_long(&self) -> bool {
        self.long
    }

    #[inline(always)]
    const fn split_long(&self, half: u64) -> [u64; 2] {
        let quotient = multiply_high(half, self.by_sixteen);
        let rest = half.wrapping_sub(quotient.wrapping_mul(self.sixteen));
        put_right([quotient, rest], self.sixteen)
    }

    /// radix^16.
    pub(super) const fn sixteen(&self) -> u64 {
        self.sixteen
    }

    /// How far behind the beginning of a half its lower sixteen digits are written.
    const fn above(&self, half: usize) -> usize {
        // The beginning counts from sixteen bytes before; shorter halves are written left-aligned.
        self.begin[half].saturating_sub(16)
    }

    /// Upper and lower eight of a half below 2^96: the estimate is at most two too small, by the
    /// argument of `super::quick`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64 on purpose")]
    pub(super) const fn split(&self, half: u128) -> [u64; 2] {
        let quotient = multiply_high((half >> self.shift) as u64, self.reciprocal_wide);
        let rest = (half as u64).wrapping_sub(quotient.wrapping_mul(self.eight));
        put_right(put_right([quotient, rest], self.eight), self.eight)
    }

    #[target_feature(enable = "avx2,fma")]
    fn read_avx2(&self, padded: &[u8], eights: &mut [Eights]) {
        let length = self.lengths[0] + self.lengths[1];
        assert!(
            padded.len() >= eights.len() * length + 2 * MARGIN,
            "margins on both sides"
        );
        let order = pair(&self.read);
        let radix = i16::try_from(self.radix).unwrap_or(0);
        let ones = _mm256_set1_epi16(radix | (1 << 8));
        let twos = _mm256_set1_epi32((i32::from(radix) * i32::from(radix)) | (1 << 16));
        let fours = _mm256_set1_epi64x(i64::from(radix).pow(4));
        for (k, out) in eights.iter_mut().enumerate() {
            let first = k * length + self.begin[0];
            let second = k * length + self.lengths[0] + self.begin[1];
            // SAFETY: both loads begin at most sixteen bytes before their half and end at most
            // sixteen bytes behind its beginning; the margins were found to be there.
            let text = unsafe {
                _mm256_set_m128i(
                    _mm_loadu_si128(padded.as_ptr().add(second).cast()),
                    _mm_loadu_si128(padded.as_ptr().add(first).cast()),
                )
            };
            let digits = _mm256_shuffle_epi8(text, order);
            let joined = _mm256_madd_epi16(_mm256_maddubs_epi16(digits, ones), twos);
            let upper = _mm256_mul_epu32(joined, fours);
            let sum = _mm256_add_epi64(upper, _mm256_srli_epi64::<32>(joined));
            // SAFETY: four numbers are as long as the register.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum) }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn write_avx2(&self, eights: &[Eights], padded: &mut [u8]) {
        let length = self.lengths[0] + self.lengths[1];
        assert!(
            padded.len() >= eights.len() * length + 2 * MARGIN,
            "margins on both sides"
        );
        let order = pair(&self.write);
        let split = Splitter::new(self.radix);
        for (k, eights) in eights.iter().enumerate() {
            // SAFETY: four numbers are as long as the register.
            let eights = unsafe { _mm256_loadu_si256(eights.as_ptr().cast()) };
            let text = _mm256_shuffle_epi8(split.digits(eights), order);
            let first = MARGIN + k * length + self.above(0);
            let second = MARGIN + k * length + self.lengths[0] + self.above(1);
            // The second store repairs what the first one wrote behind its half, the next record's
            // what the second one did.
            // SAFETY: each store begins at its half and ends at most sixteen bytes behind that
            // beginning; the margin was found to be there.
            unsafe {
                let to = padded.as_mut_ptr();
                _mm_storeu_si128(to.add(first).cast(), _mm256_castsi256_si128(text));
                _mm_storeu_si128(to.add(second).cast(), _mm256_extracti128_si256::<1>(text));
            }
        }
    }
}

/// Moves one more multiple from the rest to the quotient if it is there; both are below 2^63.
#[inline(always)]
const fn put_right([quotient, rest]: [u64; 2], divisor: u64) -> [u64; 2] {
    let less = rest.wrapping_sub(divisor);
    let keep = (less.cast_signed() >> 63).cast_unsigned();
    [
        quotient.wrapping_add(1).wrapping_add(keep),
        less.wrapping_add(divisor & keep),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn pair(orders: &[[u8; 16]; 2]) -> __m256i {
    _mm256_blend_epi32::<0xf0>(each256(&orders[0]), each256(&orders[1]))
}

#[expect(clippy::cast_possible_truncation, reason = "a place below sixteen")]
const fn low_byte(place: usize) -> u8 {
    place as u8
}

/// Constants of the way out.
struct Splitter {
    four: __m256i,
    by_four: __m256d,
    two: __m256i,
    by_two: __m256,
    radix: __m256i,
    by_radix: __m256i,
    shift: __m128i,
}

impl Splitter {
    /// Not inlined for the same reason as [`Converter::new`].
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    fn new(radix: u16) -> Self {
        let number = i32::from(radix);
        let (two, four) = (number.pow(2), number.pow(4));
        // floor(log2 radix), one less for powers of two: the reciprocal then has sixteen bits.
        let shift = 31 - (number - 1).max(1).leading_zeros();
        let reciprocal = ((1 << (16 + shift)) + number - 1) / number;
        #[expect(clippy::cast_precision_loss, reason = "8100 is exact")]
        let two_single = two as f32;
        Self {
            four: _mm256_set1_epi64x(i64::from(four)),
            by_four: _mm256_set1_pd(1.0 / f64::from(four) * (1.0 - 1.0 / (1u64 << 50) as f64)),
            two: _mm256_set1_epi32(two),
            by_two: _mm256_set1_ps(1.0 / two_single * (1.0 - 1.0 / (1u32 << 20) as f32)),
            radix: _mm256_set1_epi16(i16::try_from(radix).unwrap_or(0)),
            by_radix: _mm256_set1_epi16(u16::try_from(reciprocal).unwrap_or(0).cast_signed()),
            shift: _mm_cvtsi32_si128(shift.cast_signed()),
        }
    }

    /// Thirty-two digits of four eights.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn digits(&self, eights: __m256i) -> __m256i {
        let exponent = _mm256_set1_epi64x(0x4330_0000_0000_0000);
        let biased = _mm256_castsi256_pd(_mm256_or_si256(eights, exponent));
        let number = _mm256_sub_pd(biased, _mm256_set1_pd(4_503_599_627_370_496.0));
        // As in `super::lanes256`: half less, then rounded to the nearest by 1.5 * 2^52.
        let estimate = _mm256_fmsub_pd(number, self.by_four, _mm256_set1_pd(0.5));
        let sum = _mm256_add_pd(estimate, _mm256_set1_pd(6_755_399_441_055_744.0));
        let quotient = _mm256_castpd_si256(sum);
        let rest = _mm256_sub_epi32(eights, _mm256_mul_epu32(quotient, self.four));
        let fours = _mm256_blend_epi32::<0xaa>(quotient, _mm256_slli_epi64::<32>(rest));
        let four = _mm256_shuffle_epi32::<0xa0>(self.four);
        // All ones in the upper word where the rest is not below radix^4.
        let over = _mm256_slli_epi64::<32>(_mm256_srli_epi64::<32>(_mm256_cmpgt_epi32(
            fours,
            _mm256_sub_epi32(four, _mm256_set1_epi32(1)),
        )));
        let fours = _mm256_sub_epi32(fours, _mm256_and_si256(over, four));
        let fours = _mm256_sub_epi32(fours, _mm256_srli_epi64::<32>(over));
        self.ones(self.twos(fours))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn twos(&self, fours: __m256i) -> __m256i {
        let estimate = _mm256_mul_ps(_mm256_cvtepi32_ps(fours), self.by_two);
        let quotient = _mm256_cvttps_epi32(estimate);
        // Both factors are below 2^13 and the upper words are zero.
        let rest = _mm256_sub_epi32(fours, _mm256_madd_epi16(quotient, self.two));
        let over = _mm256_cmpgt_epi32(rest, _mm256_sub_epi32(self.two, _mm256_set1_epi32(1)));
        let rest = _mm256_sub_epi32(rest, _mm256_and_si256(over, self.two));
        let quotient = _mm256_sub_epi32(quotient, over);
        _mm256_or_si256(quotient, _mm256_slli_epi32::<16>(rest))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn ones(&self, twos: __m256i) -> __m256i {
        let high = _mm256_srl_epi16(_mm256_mulhi_epu16(twos, self.by_radix), self.shift);
        let low = _mm256_sub_epi16(twos, _mm256_mullo_epi16(high, self.radix));
        _mm256_or_si256(high, _mm256_slli_epi16::<8>(low))
    }
}
