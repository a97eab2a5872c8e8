//! National numbering plans: which lengths national numbers have under a calling code, and with which digits those of
//! one length begin.

use super::table;

/// A set of decimal digits: bit `d` stands for the digit `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstDigits(u16);

impl FirstDigits {
    const ALL: Self = Self(0x3ff);
    const NOT_ZERO: Self = Self(0x3fe);

    pub(super) const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    pub(super) const fn has(self, digit: u8) -> bool {
        digit < 10 && self.0 >> digit & 1 == 1
    }

    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// The place of a digit of the set among its digits in ascending order.
    pub(super) const fn rank(self, digit: u8) -> u32 {
        (self.0 & ((1 << digit) - 1)).count_ones()
    }

    /// The digit at a place below [`FirstDigits::count`]; the loop takes the same steps for each.
    pub(super) fn at(self, rank: u128) -> u8 {
        (0..10).fold(0, |found, digit| {
            let here = self.has(digit) & (u128::from(self.rank(digit)) == rank);
            found | (u8::from(here) * digit)
        })
    }

    pub(super) fn highest(self) -> Option<u8> {
        (0..10).rev().find(|digit| self.has(*digit))
    }
}

/// National numbers of one length.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) length: usize,
    pub(super) first: FirstDigits,
}

/// The national numbers of one calling code, by ascending length. Under calling code 1 the numbers of ten digits are
/// not here: their structure is that of the North American plan.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) code: u16,
    pub(super) numbers: &'static [Numbers],
}

impl Plan {
    /// The first digits of numbers of this length, if there are such numbers.
    pub(super) fn first(&self, length: usize) -> Option<FirstDigits> {
        let numbers = self.numbers.iter().find(|one| one.length == length)?;
        Some(numbers.first)
    }

    /// A national number: of nine digits if there are such, else of the length nearest to that.
    pub(super) fn example(&self) -> String {
        let nearest = self.numbers.iter().min_by_key(|one| one.length.abs_diff(9));
        nearest.map_or_else(String::new, |numbers| {
            let digit = numbers.first.highest().unwrap_or_default();
            digit.to_string().repeat(numbers.length)
        })
    }
}

/// Whether the exchange codes N11 of the North American plan are numbers of subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceExchanges {
    /// 1-800-411-xxxx is a number: toll-free area codes use them.
    Included,
    Excluded,
}

impl ServiceExchanges {
    /// How many exchange codes NXX there are.
    pub(super) const fn count(self) -> u64 {
        match self {
            Self::Included => 800,
            Self::Excluded => 792,
        }
    }
}

/// All plans that one revision of the format knows. They never change: other plans are another revision.
#[derive(Debug)]
pub(super) struct Revision {
    pub(super) number: u32,
    /// Where the plans come from.
    pub(super) source: &'static str,
    pub(super) service_exchanges: ServiceExchanges,
    /// By ascending calling code.
    plans: &'static [Plan],
    unassigned: Plan,
}

impl Revision {
    /// Every revision; new descriptions get the last one.
    pub(super) const ALL: [&'static Self; 2] = [&FIRST, &SECOND];

    pub(super) fn plan(&self, code: u16) -> &Plan {
        match self.plans.binary_search_by_key(&code, |plan| plan.code) {
            Ok(place) => self.plans.get(place).unwrap_or(&self.unassigned),
            Err(_) => &self.unassigned,
        }
    }

    /// All plans, with that of calling codes that are not assigned.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.plans.iter().chain([&self.unassigned])
    }
}

/// Numbers of each length from `$least` to 14 with the same first digits.
macro_rules! any_length {
    ($first:expr; $($length:literal)+) => {
        &[$(Numbers { length: $length, first: $first }),+]
    };
}

static SECOND: Revision = Revision {
    number: 2,
    source: table::SOURCE,
    service_exchanges: ServiceExchanges::Included,
    plans: table::PLANS,
    unassigned: Plan {
        code: 0,
        numbers: any_length!(FirstDigits::ALL; 4 5 6 7 8 9 10 11 12 13 14),
    },
};

macro_rules! first_plans {
    ($($code:literal $first:literal: $($length:literal)*;)+) => {
        &[$(Plan {
            code: $code,
            numbers: &[$(Numbers { length: $length, first: FirstDigits::from_bits($first) }),*],
        }),+]
    };
}

/// The plans of sixteen countries, written by hand. It refuses numbers that exist, and stays for the tokens that were
/// made with it.
static FIRST: Revision = Revision {
    number: 1,
    source: "sixteen plans written by hand",
    service_exchanges: ServiceExchanges::Excluded,
    plans: first_plans! {
        1 0x000: ;
        31 0x3fe: 9;
        32 0x3fe: 8 9;
        33 0x3fe: 9;
        34 0x3e0: 9;
        39 0x3ff: 6 7 8 9 10 11;
        41 0x3fe: 9;
        44 0x3fe: 9 10;
        45 0x3fc: 8;
        47 0x3fc: 8;
        48 0x3fe: 9;
        61 0x3fe: 9;
        81 0x3fe: 9 10;
        86 0x3fe: 10 11;
        91 0x3fe: 10;
        351 0x3fe: 9;
        420 0x3fe: 9;
    },
    unassigned: Plan {
        code: 0,
        numbers: any_length!(FirstDigits::NOT_ZERO; 4 5 6 7 8 9 10 11 12 13 14),
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_within_e164() {
        for revision in Revision::ALL {
            assert!(revision.plans.is_sorted_by(|a, b| a.code < b.code));
            for plan in revision.plans() {
                let code = plan.code.to_string().len();
                assert!(plan.numbers.is_sorted_by(|a, b| a.length < b.length));
                for numbers in plan.numbers {
                    assert!(numbers.first.count() > 0, "{}", plan.code);
                    assert!(numbers.length + code <= super::super::LONGEST);
                }
            }
        }
    }

    #[test]
    fn first_digits_and_their_ranks_are_inverse() {
        for bits in 1..=0x3ff {
            let set = FirstDigits::from_bits(bits);
            let digits: Vec<u8> = (0..10).filter(|digit| set.has(*digit)).collect();
            assert_eq!(digits.len(), set.count() as usize);
            for (rank, digit) in (0_u32..).zip(&digits) {
                assert_eq!(set.rank(*digit), rank);
                assert_eq!(set.at(rank.into()), *digit);
            }
            assert_eq!(set.highest(), digits.last().copied());
        }
    }
}
