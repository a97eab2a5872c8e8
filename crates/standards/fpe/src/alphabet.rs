//! Alphabets: which symbol stands for which digit.
//!
//! An alphabet is kept as runs of consecutive code points. A look-up tries every run with masks: a symbol's
//! digit is found, or not, without a branch and without an address that depends on the symbol. The decimal
//! digits are one run, base 62 has three, a CJK block is one; an alphabet in no order at all has one run
//! per symbol, and its look-up is a scan of the whole.
//!
//! Symbols are code points. What is one symbol to a reader but several code points, and texts that are equal
//! only after normalisation, are the caller's to exclude. In UTF-8 the length of a symbol's bytes shows;
//! nothing here hides it.

mod presets;

use core::fmt;

use crate::error::Error;

/// A list of 2 to 65,536 different symbols; the first is digit 0.
pub struct Alphabet {
    runs: Runs,
    symbols: u32,
    ascii: bool,
}

#[derive(Clone)]
enum Runs {
    Preset(&'static [Run]),
    #[cfg(feature = "std")]
    Owned(alloc::boxed::Box<[Run]>),
}

/// Consecutive code points that stand for consecutive digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first code point.
    pub(crate) first: u32,
    /// Its digit.
    pub(crate) digit: u32,
    /// How many.
    pub(crate) count: u32,
}

/// Bytes that are looked up together.
const TILE: usize = 64;

impl Alphabet {
    /// An alphabet of the caller's own.
    ///
    /// # Errors
    /// [`Error::AlphabetSize`]; [`Error::AlphabetDuplicate`] with the positions of the first symbol that
    /// stands there twice.
    #[cfg(feature = "std")]
    pub fn new(symbols: &str) -> Result<Self, Error> {
        let points: alloc::vec::Vec<u32> = symbols.chars().map(u32::from).collect();
        let refused = Error::AlphabetSize {
            symbols: points.len(),
        };
        let count = u32::try_from(points.len()).map_err(|_| refused)?;
        if !(2..=65_536).contains(&count) {
            return Err(refused);
        }
        unique(&points)?;
        let mut runs: alloc::vec::Vec<Run> = alloc::vec::Vec::new();
        for (digit, point) in (0_u32..).zip(points) {
            match runs.last_mut() {
                Some(run) if run.first + run.count == point => run.count += 1,
                _ => runs.push(Run {
                    first: point,
                    digit,
                    count: 1,
                }),
            }
        }
        Ok(Self {
            runs: Runs::Owned(runs.into_boxed_slice()),
            symbols: count,
            ascii: symbols.is_ascii(),
        })
    }

    /// The number of symbols, the radix of the keys that the alphabet serves.
    #[must_use]
    pub const fn symbols(&self) -> u32 {
        self.symbols
    }

    /// Whether every symbol is one byte.
    #[must_use]
    pub const fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// The runs, in the order of their digits.
    pub(crate) fn runs(&self) -> &[Run] {
        match &self.runs {
            Runs::Preset(runs) => runs,
            #[cfg(feature = "std")]
            Runs::Owned(runs) => runs,
        }
    }

    /// The alphabet for a key of this radix.
    pub(crate) fn serving(&self, radix: u32) -> Result<&Self, Error> {
        if self.symbols == radix {
            return Ok(self);
        }
        Err(Error::AlphabetRadix {
            symbols: self.symbols,
            radix,
        })
    }

    /// The digit of a code point, and all ones if it is a symbol, else zero.
    pub(crate) fn digit_of(&self, point: u32) -> (u32, u32) {
        self.runs().iter().fold((0, 0), |(digit, known), run| {
            let offset = point.wrapping_sub(run.first);
            let inside = below(offset, run.count);
            let own = offset.wrapping_add(run.digit) & inside;
            (digit | own, known | inside)
        })
    }

    /// The code point of a digit.
    #[cfg(feature = "std")]
    pub(crate) fn point_of(&self, digit: u32) -> u32 {
        self.runs().iter().fold(0, |point, run| {
            let offset = digit.wrapping_sub(run.digit);
            point | offset.wrapping_add(run.first) & below(offset, run.count)
        })
    }

    /// Whether every byte is a symbol. Looks at all of them. ASCII alphabets only.
    pub(crate) fn has_bytes(&self, text: &[u8]) -> bool {
        let known = |tile: &[u8]| {
            let mut known = [0_u8; TILE];
            for run in self.byte_runs() {
                for (known, byte) in known.iter_mut().zip(tile) {
                    *known |= below_byte(byte.wrapping_sub(run.first), run.count);
                }
            }
            let unknown = known
                .iter()
                .zip(tile)
                .fold(0, |unknown, (known, _)| unknown | !known);
            unknown == 0
        };
        text.chunks(TILE).fold(true, |all, tile| all & known(tile))
    }

    /// Symbols to digits in place. ASCII alphabets, judged text.
    pub(crate) fn read_bytes(&self, text: &mut [u8]) {
        self.translate(text, |run| (run.first, run.digit));
    }

    /// Digits to symbols in place. ASCII alphabets.
    pub(crate) fn write_bytes(&self, digits: &mut [u8]) {
        self.translate(digits, |run| (run.digit, run.first));
    }

    /// Moves every byte from the run that begins with one number to the run that begins with the other.
    fn translate(&self, bytes: &mut [u8], ends: impl Fn(ByteRun) -> (u8, u8)) {
        for tile in bytes.chunks_mut(TILE) {
            let mut made = [0_u8; TILE];
            for run in self.byte_runs() {
                let (from, to) = ends(run);
                for (made, byte) in made.iter_mut().zip(&*tile) {
                    let offset = byte.wrapping_sub(from);
                    *made |= offset.wrapping_add(to) & below_byte(offset, run.count);
                }
            }
            for (byte, made) in tile.iter_mut().zip(&made) {
                *byte = *made;
            }
            made = [0; TILE];
            // Nobody reads the zeros; they are written all the same.
            zeroize::optimization_barrier(&made);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "an ASCII alphabet")]
    fn byte_runs(&self) -> impl Iterator<Item = ByteRun> {
        self.runs().iter().map(|run| ByteRun {
            first: run.first as u8,
            digit: run.digit as u8,
            count: run.count as u8,
        })
    }
}

/// A run of an ASCII alphabet.
#[derive(Clone, Copy)]
struct ByteRun {
    first: u8,
    digit: u8,
    count: u8,
}

/// All ones if x < bound, else zero.
#[inline(always)]
const fn below(x: u32, bound: u32) -> u32 {
    ((x as u64).wrapping_sub(bound as u64) >> 32) as u32
}

/// All ones if x < bound, else zero.
#[inline(always)]
const fn below_byte(x: u8, bound: u8) -> u8 {
    ((x as u16).wrapping_sub(bound as u16) >> 8) as u8
}

#[cfg(feature = "std")]
fn unique(points: &[u32]) -> Result<(), Error> {
    let mut placed: alloc::vec::Vec<(u32, usize)> = points
        .iter()
        .enumerate()
        .map(|(place, point)| (*point, place))
        .collect();
    placed.sort_unstable();
    let twice = placed.windows(2).filter_map(|pair| match pair {
        [(point, first), (next, second)] if point == next => Some((*second, *first)),
        _ => None,
    });
    match twice.min() {
        Some((second, first)) => Err(Error::AlphabetDuplicate { first, second }),
        None => Ok(()),
    }
}

impl Clone for Alphabet {
    fn clone(&self) -> Self {
        Self {
            runs: self.runs.clone(),
            ..*self
        }
    }
}

impl PartialEq for Alphabet {
    fn eq(&self, other: &Self) -> bool {
        self.runs() == other.runs()
    }
}

impl Eq for Alphabet {}

impl fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alphabet")
            .field("symbols", &self.symbols)
            .field("ascii", &self.ascii)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    fn symbols(alphabet: &Alphabet) -> String {
        let points = (0..alphabet.symbols()).map(|digit| alphabet.point_of(digit));
        points.map(|point| char::from_u32(point).unwrap()).collect()
    }

    #[test]
    fn every_preset_is_the_alphabet_that_its_name_says() {
        for (name, alphabet, text) in presets::all() {
            assert_eq!(symbols(alphabet), text, "{name}");
            assert_eq!(*alphabet, Alphabet::new(text).unwrap(), "{name}");
            assert!(alphabet.is_ascii());
        }
    }

    #[test]
    fn symbols_and_digits_are_inverse_and_nothing_else_is_a_symbol() {
        let mixed: String = ('\u{4E00}'..'\u{5E00}')
            .chain("zyx\u{10FFFF}\u{D7FF}\u{E000}é".chars())
            .collect();
        for text in [
            "10",
            "zebra",
            "0123456789",
            "aZ09 \u{7f}\u{0}",
            "äöü€",
            mixed.as_str(),
        ] {
            let alphabet = Alphabet::new(text).unwrap();
            assert_eq!(symbols(&alphabet), text);
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            for (digit, point) in (0..).zip(&points) {
                assert_eq!(alphabet.digit_of(*point), (digit, u32::MAX));
            }
            for point in (0..0x300)
                .chain(0x4DF0..0x5E10)
                .chain([u32::MAX, 0x11_0000])
            {
                let known = points.contains(&point);
                assert_eq!(alphabet.digit_of(point).1, if known { u32::MAX } else { 0 });
            }
        }
    }

    #[test]
    fn bytes_are_looked_up_as_code_points_are() {
        for (_, alphabet, text) in presets::all() {
            let all: Vec<u8> = text.bytes().cycle().take(200).collect();
            assert!(alphabet.has_bytes(&all));
            let mut digits = all.clone();
            alphabet.read_bytes(&mut digits);
            for (digit, byte) in digits.iter().zip(&all) {
                assert_eq!(alphabet.digit_of((*byte).into()).0, u32::from(*digit));
            }
            alphabet.write_bytes(&mut digits);
            assert_eq!(digits, all);
            for byte in 0..=255 {
                for place in [0, 63, 64, 199] {
                    let mut other = all.clone();
                    other[place] = byte;
                    assert_eq!(alphabet.has_bytes(&other), text.as_bytes().contains(&byte));
                }
            }
        }
    }

    #[test]
    fn the_first_symbol_that_stands_twice_is_named_with_both_places() {
        let cases = [
            ("aa", 0, 1),
            ("abcb", 1, 3),
            ("xyzzyx", 2, 3),
            ("äbä", 0, 2),
        ];
        for (text, first, second) in cases {
            let error = Alphabet::new(text).unwrap_err();
            assert_eq!(error, Error::AlphabetDuplicate { first, second }, "{text}");
        }
    }

    #[test]
    fn an_alphabet_has_2_to_65536_symbols() {
        let many: String = ('\0'..).take(65_537).collect();
        let most: String = many.chars().take(65_536).collect();
        assert_eq!(Alphabet::new(&most).unwrap().symbols(), 65_536);
        for text in ["", "a", &many] {
            let symbols = text.chars().count();
            let error = Alphabet::new(text).unwrap_err();
            assert_eq!(error, Error::AlphabetSize { symbols });
        }
    }
}
