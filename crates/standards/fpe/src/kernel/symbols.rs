//! Symbols to digits and back, many bytes at a time.
//!
//! Where an alphabet of single bytes is all there is, a table of 128 bytes says everything, and it fits
//! registers: a look-up is a permutation inside them, with no address that depends on a symbol. With
//! AVX-512 VBMI that is one instruction for 64 symbols; with AVX2 eight shuffles for 32, or, for alphabets
//! of a few runs of consecutive symbols, a comparison and an addition for each run.
//!
//! Without those instructions, `crate::alphabet` does it.
#![expect(
    unsafe_code,
    reason = "the step into target features, loads and stores"
)]

use core::arch::x86_64::*;

use crate::alphabet::Alphabet;
use crate::cipher::Backend;

/// Marks bytes that are no symbol. No digit of an ASCII alphabet has this bit.
const UNKNOWN: u8 = 0x80;
/// Runs up to which comparing beats the eight shuffles.
const FEW: usize = 6;
/// Bytes of a table.
const TABLE: usize = 128;

/// The two tables of an ASCII alphabet on one backend. Public.
pub(crate) struct Symbols<'a> {
    alphabet: &'a Alphabet,
    way: Way,
    digits: [u8; TABLE],
    symbols: [u8; TABLE],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// By the alphabet's own functions.
    Plain,
    /// By comparisons with the ends of runs, in AVX2 registers.
    Runs,
    /// By shuffles of AVX2 registers.
    Shuffles,
    /// By permutations of AVX-512 registers.
    Permutations,
}

/// A run as bytes: where it begins, where it goes, and its last offset.
type Ends = (u8, u8, u8);

impl<'a> Symbols<'a> {
    /// For an ASCII alphabet and a backend that this machine has.
    pub(crate) fn new(alphabet: &'a Alphabet, backend: Backend) -> Self {
        let mut digits = [UNKNOWN; TABLE];
        let mut symbols = [0; TABLE];
        for run in alphabet.runs() {
            for (point, digit) in (run.first..).zip(run.digit..run.digit + run.count) {
                let bytes = (u8::try_from(point), u8::try_from(digit));
                if let (Ok(point @ 0..=127), Ok(digit @ 0..=127)) = bytes {
                    digits[usize::from(point)] = digit;
                    symbols[usize::from(digit)] = point;
                }
            }
        }
        Self {
            alphabet,
            way: Way::of(alphabet, backend),
            digits,
            symbols,
        }
    }

    /// The alphabet.
    pub(crate) const fn alphabet(&self) -> &'a Alphabet {
        self.alphabet
    }

    /// Whether every byte is a symbol. Looks at all of them.
    pub(crate) fn known(&self, text: &[u8]) -> bool {
        // SAFETY: a way is chosen only where the machine has its instructions.
        unsafe {
            match self.way {
                Way::Plain => {}
                Way::Runs => {
                    let runs = self.ends(|first, _| (first, 0));
                    let used = runs.get(..self.alphabet.runs().len()).unwrap_or_default();
                    return known_256(text, |x| inside(used, x));
                }
                Way::Shuffles => {
                    return known_256(text, |x| _mm256_or_si256(shuffles(&self.digits, x), x));
                }
                Way::Permutations => return known_512(&self.digits, text),
            }
        }
        self.alphabet.has_bytes(text)
    }

    /// Symbols to digits in place, judged text.
    pub(crate) fn read(&self, text: &mut [u8]) {
        if self.map(text, &self.digits, |first, digit| (first, digit)) {
            return;
        }
        self.alphabet.read_bytes(text);
    }

    /// Digits to symbols in place.
    pub(crate) fn write(&self, digits: &mut [u8]) {
        if self.map(digits, &self.symbols, |first, digit| (digit, first)) {
            return;
        }
        self.alphabet.write_bytes(digits);
    }

    /// Replaces every byte; `false` if this is left to the alphabet.
    fn map(&self, bytes: &mut [u8], table: &[u8; TABLE], ends: fn(u8, u8) -> (u8, u8)) -> bool {
        // SAFETY: a way is chosen only where the machine has its instructions.
        unsafe {
            match self.way {
                Way::Plain => return false,
                Way::Runs => {
                    let runs = self.ends(ends);
                    let used = runs.get(..self.alphabet.runs().len()).unwrap_or_default();
                    map_256(bytes, |x| moved(used, x));
                }
                Way::Shuffles => map_256(bytes, |x| shuffles(table, x)),
                Way::Permutations => map_512(table, bytes),
            }
        }
        true
    }

    /// The runs, each from one of its numbers to the other.
    #[expect(clippy::cast_possible_truncation, reason = "an ASCII alphabet")]
    fn ends(&self, ends: fn(u8, u8) -> (u8, u8)) -> [Ends; FEW] {
        let mut all = [(0, 0, 0); FEW];
        for (place, run) in all.iter_mut().zip(self.alphabet.runs()) {
            let (from, to) = ends(run.first as u8, run.digit as u8);
            *place = (from, to, (run.count - 1) as u8);
        }
        all
    }
}

impl Way {
    fn of(alphabet: &Alphabet, backend: Backend) -> Self {
        use std::arch::is_x86_feature_detected as has;
        if !alphabet.is_ascii() || backend == Backend::Portable || !has!("avx2") {
            Self::Plain
        } else if matches!(backend, Backend::Vaes512 | Backend::Sm4Gfni)
            && has!("avx512vbmi")
            && has!("avx512bw")
        {
            Self::Permutations
        } else if alphabet.runs().len() <= FEW {
            Self::Runs
        } else {
            Self::Shuffles
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn known_512(table: &[u8; TABLE], text: &[u8]) -> bool {
    let (low, high) = halves_512(table);
    let mut seen = _mm512_setzero_si512();
    let mut see = |tile: &[u8; 64]| {
        // SAFETY: a tile is as long as the register.
        let x = unsafe { _mm512_loadu_si512(tile.as_ptr().cast()) };
        // Bytes above 127 name no place of the table but have the mark themselves.
        let digits = _mm512_permutex2var_epi8(low, x, high);
        seen = _mm512_ternarylogic_epi32::<0xfe>(seen, digits, x);
    };
    let (tiles, rest) = text.as_chunks::<64>();
    tiles.iter().for_each(&mut see);
    if let Some(symbol) = rest.first() {
        // Filled up with a symbol of the text itself, which is judged anyway.
        let mut tile = [*symbol; 64];
        tile[..rest.len()].copy_from_slice(rest);
        see(&tile);
    }
    _mm512_movepi8_mask(seen) == 0
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn map_512(table: &[u8; TABLE], bytes: &mut [u8]) {
    let (low, high) = halves_512(table);
    let change = |tile: &mut [u8; 64]| {
        let at: *mut __m512i = tile.as_mut_ptr().cast();
        // SAFETY: a tile is as long as the register.
        unsafe {
            let x = _mm512_loadu_si512(at);
            _mm512_storeu_si512(at, _mm512_permutex2var_epi8(low, x, high));
        }
    };
    let (tiles, rest) = bytes.as_chunks_mut::<64>();
    tiles.iter_mut().for_each(change);
    if !rest.is_empty() {
        let mut tile = [0; 64];
        tile[..rest.len()].copy_from_slice(rest);
        change(&mut tile);
        rest.copy_from_slice(&tile[..rest.len()]);
        super::wipe(&mut tile);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn halves_512(table: &[u8; TABLE]) -> (__m512i, __m512i) {
    let at: *const __m512i = table.as_ptr().cast();
    // SAFETY: the table is as long as two registers.
    unsafe { (_mm512_loadu_si512(at), _mm512_loadu_si512(at.add(1))) }
}

/// Whether `judge` sets no upper bit in any byte.
#[inline]
#[target_feature(enable = "avx2")]
fn known_256(text: &[u8], judge: impl Fn(__m256i) -> __m256i) -> bool {
    let mut seen = _mm256_setzero_si256();
    let mut see = |tile: &[u8; 32]| {
        // SAFETY: a tile is as long as the register.
        let x = unsafe { _mm256_loadu_si256(tile.as_ptr().cast()) };
        seen = _mm256_or_si256(seen, judge(x));
    };
    let (tiles, rest) = text.as_chunks::<32>();
    tiles.iter().for_each(&mut see);
    if let Some(symbol) = rest.first() {
        let mut tile = [*symbol; 32];
        tile[..rest.len()].copy_from_slice(rest);
        see(&tile);
    }
    _mm256_movemask_epi8(seen) == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn map_256(bytes: &mut [u8], made: impl Fn(__m256i) -> __m256i) {
    let change = |tile: &mut [u8; 32]| {
        let at: *mut __m256i = tile.as_mut_ptr().cast();
        // SAFETY: a tile is as long as the register.
        unsafe { _mm256_storeu_si256(at, made(_mm256_loadu_si256(at))) }
    };
    let (tiles, rest) = bytes.as_chunks_mut::<32>();
    tiles.iter_mut().for_each(change);
    if !rest.is_empty() {
        let mut tile = [0; 32];
        tile[..rest.len()].copy_from_slice(rest);
        change(&mut tile);
        rest.copy_from_slice(&tile[..rest.len()]);
        super::wipe(&mut tile);
    }
}

/// The upper bit of every byte that lies in no run.
#[inline]
#[target_feature(enable = "avx2")]
fn inside(runs: &[Ends], x: __m256i) -> __m256i {
    let mut outside = _mm256_set1_epi8(-1);
    for (from, _, last) in runs {
        let offset = _mm256_sub_epi8(x, _mm256_set1_epi8(from.cast_signed()));
        let last = _mm256_set1_epi8(last.cast_signed());
        let within = _mm256_cmpeq_epi8(_mm256_min_epu8(offset, last), offset);
        outside = _mm256_andnot_si256(within, outside);
    }
    outside
}

/// Every byte from where its run begins to where its run goes.
#[inline]
#[target_feature(enable = "avx2")]
fn moved(runs: &[Ends], x: __m256i) -> __m256i {
    let mut made = _mm256_setzero_si256();
    for (from, to, last) in runs {
        let offset = _mm256_sub_epi8(x, _mm256_set1_epi8(from.cast_signed()));
        let last = _mm256_set1_epi8(last.cast_signed());
        let within = _mm256_cmpeq_epi8(_mm256_min_epu8(offset, last), offset);
        let there = _mm256_add_epi8(offset, _mm256_set1_epi8(to.cast_signed()));
        made = _mm256_or_si256(made, _mm256_and_si256(within, there));
    }
    made
}

/// The bytes of the table at the places that the bytes name, 0 for those above 127.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffles(table: &[u8; TABLE], x: __m256i) -> __m256i {
    let mut made = _mm256_setzero_si256();
    let (parts, _) = table.as_chunks::<16>();
    for (part, first) in parts.iter().zip((0u8..).step_by(16)) {
        // A byte of this part becomes its place in the part, any other one above 15; the sum with 0x70
        // then has its upper bit, for which the shuffle gives zero.
        let place = _mm256_xor_si256(x, _mm256_set1_epi8(first.cast_signed()));
        let place = _mm256_adds_epu8(place, _mm256_set1_epi8(0x70));
        let part = super::blocks::each256(part);
        made = _mm256_or_si256(made, _mm256_shuffle_epi8(part, place));
    }
    made
}

#[cfg(test)]
mod tests;
