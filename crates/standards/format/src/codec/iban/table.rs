//! The structures of account numbers, as the IBAN registry writes them: n digits, a upper-case letters, c
//! both; and how many characters at the front name the bank and, where the country has one, the branch.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Digit,
    Either,
    Letter,
}

impl Kind {
    pub(crate) const fn radix(self) -> u32 {
        match self {
            Self::Digit => 10,
            Self::Either => 36,
            Self::Letter => 26,
        }
    }

    /// The least and the greatest code of such a character: 0 to 9 for digits, 10 to 35 for letters.
    const fn codes(self) -> (u8, u8) {
        match self {
            Self::Digit => (0, 9),
            Self::Either => (0, 35),
            Self::Letter => (10, 35),
        }
    }
}

/// What stands at each place of an IBAN: everything in arrays of one width, for loops without a branch.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The least code at each place.
    pub(crate) least: [u8; WIDTH],
    /// How many codes there are above it.
    pub(crate) above: [u8; WIDTH],
}

/// Places of the longest IBAN, and some more.
pub(crate) const WIDTH: usize = 48;

impl Layout {
    /// The four characters at the front may be anything: they are judged otherwise.
    const fn of(parts: &[(usize, Kind)]) -> Self {
        let (mut least, mut above) = ([0; WIDTH], [35; WIDTH]);
        let (mut part, mut place) = (0, 4);
        while part < parts.len() {
            let (count, kind) = parts[part];
            let (low, high) = kind.codes();
            let end = place + count;
            while place < end {
                least[place] = low;
                above[place] = high - low;
                place += 1;
            }
            part += 1;
        }
        Self { least, above }
    }
}

#[derive(Debug)]
pub(crate) struct Country {
    pub(crate) code: [u8; 2],
    parts: &'static [(usize, Kind)],
    /// Characters of bank and branch.
    pub(crate) bank: usize,
    pub(crate) layout: Layout,
}

impl Country {
    pub(crate) fn length(&self) -> usize {
        self.parts.iter().map(|(count, _)| count).sum()
    }

    /// What each character is.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> {
        let parts = self.parts.iter();
        parts.flat_map(|(count, kind)| std::iter::repeat_n(*kind, *count))
    }

    /// The places behind the first `kept`, by kind.
    pub(crate) fn free(&self, kept: usize) -> impl Iterator<Item = (Kind, Range<usize>)> {
        let mut start = 0;
        self.parts.iter().filter_map(move |(count, kind)| {
            let part = start.max(kept)..start + count;
            start += count;
            (!part.is_empty()).then_some((*kind, part))
        })
    }
}

/// The country with this code.
pub(crate) fn find(code: &[u8]) -> Option<&'static Country> {
    let [first, second] = code else {
        return None;
    };
    let (row, column) = (first.checked_sub(b'A')?, second.checked_sub(b'A')?);
    let place = PLACES.get(usize::from(row))?.get(usize::from(column))?;
    COUNTRIES.get(usize::from(*place))
}

/// For each pair of letters the place in [`COUNTRIES`], or one beyond all.
static PLACES: [[u8; 26]; 26] = places();

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 255 countries"
)]
const fn places() -> [[u8; 26]; 26] {
    let mut places = [[u8::MAX; 26]; 26];
    let mut place = 0;
    while place < COUNTRIES.len() {
        let [first, second] = COUNTRIES[place].code;
        places[(first - b'A') as usize][(second - b'A') as usize] = place as u8;
        place += 1;
    }
    places
}

use Kind::{Digit as N, Either as C, Letter as A};

macro_rules! countries {
    ($($code:literal $bank:literal $($count:literal $kind:ident)+;)+) => {
        /// In the order of their codes.
        pub(crate) static COUNTRIES: &[Country] = &[$(Country {
            code: *$code,
            parts: &[$(($count, $kind)),+],
            bank: $bank,
            layout: Layout::of(&[$(($count, $kind)),+]),
        }),+];
    };
}

countries! {
    b"AD" 8 8 N 12 C;
    b"AE" 3 19 N;
    b"AL" 8 8 N 16 C;
    b"AT" 5 16 N;
    b"AZ" 4 4 A 20 C;
    b"BA" 6 16 N;
    b"BE" 3 12 N;
    b"BG" 8 4 A 6 N 8 C;
    b"BH" 4 4 A 14 C;
    b"BR" 13 23 N 1 A 1 C;
    b"BY" 4 4 C 4 N 16 C;
    b"CH" 5 5 N 12 C;
    b"CR" 4 18 N;
    b"CY" 8 8 N 16 C;
    b"CZ" 4 20 N;
    b"DE" 8 18 N;
    b"DK" 4 14 N;
    b"DO" 4 4 C 20 N;
    b"EE" 2 16 N;
    b"EG" 8 25 N;
    b"ES" 8 20 N;
    b"FI" 3 14 N;
    b"FO" 4 14 N;
    b"FR" 10 10 N 11 C 2 N;
    b"GB" 10 4 A 14 N;
    b"GE" 2 2 A 16 N;
    b"GI" 4 4 A 15 C;
    b"GL" 4 14 N;
    b"GR" 7 7 N 16 C;
    b"GT" 4 24 C;
    b"HR" 7 17 N;
    b"HU" 7 24 N;
    b"IE" 10 4 A 14 N;
    b"IL" 6 19 N;
    b"IQ" 7 4 A 15 N;
    b"IS" 4 22 N;
    b"IT" 11 1 A 10 N 12 C;
    b"JO" 8 4 A 4 N 18 C;
    b"KW" 4 4 A 22 C;
    b"KZ" 3 3 N 13 C;
    b"LB" 4 4 N 20 C;
    b"LC" 4 4 A 24 C;
    b"LI" 5 5 N 12 C;
    b"LT" 5 16 N;
    b"LU" 3 3 N 13 C;
    b"LV" 4 4 A 13 C;
    b"MC" 10 10 N 11 C 2 N;
    b"MD" 2 2 C 18 C;
    b"ME" 3 18 N;
    b"MK" 3 3 N 10 C 2 N;
    b"MR" 10 23 N;
    b"MT" 9 4 A 5 N 18 C;
    b"MU" 8 4 A 19 N 3 A;
    b"NL" 4 4 A 10 N;
    b"NO" 4 11 N;
    b"PK" 4 4 A 16 C;
    b"PL" 8 24 N;
    b"PS" 4 4 A 21 C;
    b"PT" 8 21 N;
    b"QA" 4 4 A 21 C;
    b"RO" 4 4 A 16 C;
    b"RS" 3 18 N;
    b"SA" 2 2 N 18 C;
    b"SC" 8 4 A 20 N 3 A;
    b"SE" 3 20 N;
    b"SI" 5 15 N;
    b"SK" 4 20 N;
    b"SM" 11 1 A 10 N 12 C;
    b"ST" 8 21 N;
    b"SV" 4 4 A 20 N;
    b"TL" 3 19 N;
    b"TN" 5 20 N;
    b"TR" 5 5 N 1 N 16 C;
    b"UA" 6 6 N 19 C;
    b"VA" 3 18 N;
    b"VG" 4 4 A 16 N;
    b"XK" 4 16 N;
}
