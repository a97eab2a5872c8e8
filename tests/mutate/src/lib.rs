//! Damaged inputs by the thousand, the same ones on every machine.
//!
//! A plain test runs the body of a fuzz target over them, so that each run of the suite meets hostile
//! bytes without a fuzzer. Seeded by a number, without randomness from outside: a failure is repeated
//! by running the test again.
//!
//! Not here: guidance by coverage. That is what the targets under `fuzz/` are for.
#![forbid(unsafe_code)]

/// How much tests do that can do any amount, by name and kind of run.
const DOSES: &str = include_str!("../../doses.tsv");

/// The number that `tests/doses.tsv` has under this name for the kind of run in `KEYWRIGHT_DOSE`: `test` (the default),
/// `test-all` or `soak`. `KEYWRIGHT_DOSE_NAME`, with the name in capitals and `_` for `-`, overrides it.
///
/// # Panics
/// If there is no such name or kind, or if a variable is not a number: the test that asks must not pass by doing nothing.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "how much a run does is the choice of who starts it, and a wrong choice fails the test that asks"
)]
pub fn dose(name: &str) -> usize {
    let own = format!("KEYWRIGHT_DOSE_{}", name.to_uppercase().replace('-', "_"));
    if let Ok(text) = std::env::var(&own) {
        return text
            .parse()
            .unwrap_or_else(|_| panic!("{own} is not a number: {text}"));
    }
    let kind = std::env::var("KEYWRIGHT_DOSE").unwrap_or_else(|_| "test".to_owned());
    from_table(name, &kind).unwrap_or_else(|| panic!("tests/doses.tsv has no {name} for {kind}"))
}

fn from_table(name: &str, kind: &str) -> Option<usize> {
    let column = ["test", "test-all", "soak"]
        .iter()
        .position(|known| *known == kind)?;
    DOSES
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .find(|row| row[0] == name)?
        .get(column + 1)?
        .parse()
        .ok()
}

/// How many mutants a test takes: the dose `mutants`.
#[must_use]
pub fn mutants() -> usize {
    dose("mutants")
}

/// `count` mutants of the seeds. Each has between one and eight changes: bits flipped, bytes set, spans
/// cut out, doubled, swapped or taken from another seed, the end cut off, integers written that sit at
/// the edges of length fields. Without seeds the mutants grow from nothing.
///
/// ```
/// let seeds: [&[u8]; 2] = [b"first seed", b"second"];
/// let mutants: Vec<Vec<u8>> = keywright_mutate::mutations(&seeds, 100, 7).collect();
/// assert_eq!(mutants.len(), 100);
/// assert_eq!(mutants, keywright_mutate::mutations(&seeds, 100, 7).collect::<Vec<_>>());
/// ```
pub fn mutations<'a>(
    seeds: &'a [&'a [u8]],
    count: usize,
    seed: u64,
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let mut dice = SplitMix::new(seed);
    (0..count).map(move |_| {
        let mut bytes = pick(&mut dice, seeds).to_vec();
        for _ in 0..=dice.below(8) {
            change(&mut dice, seeds, &mut bytes);
        }
        bytes
    })
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere. For choosing, never for secrets.
#[derive(Clone, Debug)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// The sequence that belongs to this number.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number under `bound`, 0 if there is none. The bias of the remainder does not matter to a test.
    pub fn below(&mut self, bound: usize) -> usize {
        match u64::try_from(bound) {
            Ok(0) | Err(_) => 0,
            Ok(bound) => usize::try_from(self.next_u64() % bound).unwrap_or(0),
        }
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.next_u64().to_be_bytes()[0]
    }
}

/// Longest mutant that still grows; a chain of doublings would otherwise fill the memory.
const LONGEST: usize = 1 << 16;

/// Bytes that mean something to parsers of text.
const TELLING: &[u8] = b"\0\n\r\t \"',;|=-+./:\\{}[]\x7f\x80\xff";

/// The numbers at which length checks break.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

fn pick<'a>(dice: &mut SplitMix, seeds: &'a [&'a [u8]]) -> &'a [u8] {
    seeds
        .get(dice.below(seeds.len()))
        .copied()
        .unwrap_or_default()
}

/// A span within `length` bytes; short ones are likelier than long ones.
fn span(dice: &mut SplitMix, length: usize) -> std::ops::Range<usize> {
    let start = dice.below(length + 1);
    let most = dice.below(length - start + 1);
    let size = if dice.below(4) == 0 {
        most
    } else {
        most.min(1 + dice.below(16))
    };
    start..start + size
}

fn change(dice: &mut SplitMix, seeds: &[&[u8]], bytes: &mut Vec<u8>) {
    match dice.below(9) {
        0 => flip(dice, bytes),
        1 => {
            let at = dice.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.byte();
            }
        }
        2 => bytes.truncate(dice.below(bytes.len() + 1)),
        3 => {
            let gone = span(dice, bytes.len());
            bytes.drain(gone);
        }
        4 => {
            let twice = span(dice, bytes.len());
            let copy = bytes[twice].to_vec();
            insert(dice, bytes, &copy);
        }
        5 => {
            let other = pick(dice, seeds);
            let piece = span(dice, other.len());
            insert(dice, bytes, &other[piece]);
        }
        6 => {
            let telling = TELLING[dice.below(TELLING.len())];
            insert(dice, bytes, &[telling]);
        }
        7 => write_edge(dice, bytes),
        _ => {
            let (first, second) = (dice.below(bytes.len()), dice.below(bytes.len()));
            if !bytes.is_empty() {
                bytes.swap(first, second);
            }
        }
    }
}

fn flip(dice: &mut SplitMix, bytes: &mut [u8]) {
    let (at, bit) = (dice.below(bytes.len()), dice.below(8));
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << bit;
    }
}

fn insert(dice: &mut SplitMix, bytes: &mut Vec<u8>, piece: &[u8]) {
    if bytes.len() + piece.len() <= LONGEST {
        let at = dice.below(bytes.len() + 1);
        bytes.splice(at..at, piece.iter().copied());
    }
}

/// Writes an edge number over what is there, 1, 2, 4 or 8 bytes wide, in either byte order.
fn write_edge(dice: &mut SplitMix, bytes: &mut [u8]) {
    let width = 1_usize << dice.below(4);
    let edge = EDGES[dice.below(EDGES.len())];
    let big = edge.to_be_bytes();
    let little = edge.to_le_bytes();
    let number = if dice.below(2) == 0 {
        &big[8 - width..]
    } else {
        &little[..width]
    };
    if let Some(room) = bytes.len().checked_sub(width) {
        let at = dice.below(room + 1);
        bytes[at..at + width].copy_from_slice(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SEEDS: [&[u8]; 3] = [b"id,name\n1,\"a\"\n", b"\x00\x00\x00\x05hello", b""];

    #[test]
    fn every_dose_has_a_number_for_each_kind_of_run_that_does_not_fall() {
        let rows = DOSES
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let names: Vec<_> = rows.filter_map(|row| row.split('\t').next()).collect();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let doses = ["test", "test-all", "soak"].map(|kind| from_table(name, kind).unwrap());
            assert!(0 < doses[0] && doses.is_sorted(), "{name}: {doses:?}");
        }
        assert_eq!(from_table("mutants", "nightly"), None);
        assert_eq!(from_table("mutant", "test"), None);
    }

    #[test]
    fn the_generator_gives_the_published_sequence() {
        // First outputs of the reference program for the seed 1234567.
        let mut dice = SplitMix::new(1_234_567);
        let first = [dice.next_u64(), dice.next_u64(), dice.next_u64()];
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants_and_another_gives_others() {
        let of = |seed| mutations(&SEEDS, 200, seed).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn mutants_are_many_and_few_are_seeds_again() {
        let mutants: Vec<_> = mutations(&SEEDS, 1000, 3).collect();
        let distinct: BTreeSet<_> = mutants.iter().collect();
        assert!(distinct.len() > 700, "{}", distinct.len());
        let unchanged = mutants
            .iter()
            .filter(|m| SEEDS[..2].contains(&m.as_slice()))
            .count();
        assert!(unchanged < 60, "{unchanged}");
    }

    #[test]
    fn mutants_get_shorter_and_longer_but_never_past_the_bound() {
        let long = vec![b'x'; LONGEST];
        let mutants: Vec<_> = mutations(&[&long, b"short"], 500, 4).collect();
        assert!(mutants.iter().all(|m| m.len() <= LONGEST));
        assert!(mutants.iter().any(|m| m.len() < 5));
        assert!(mutants.iter().any(|m| (6..100).contains(&m.len())));
    }

    #[test]
    fn no_seed_or_an_empty_one_is_no_reason_to_fail() {
        assert_eq!(mutations(&[], 300, 5).count(), 300);
        assert!(mutations(&[b""], 300, 5).any(|m| !m.is_empty()));
        assert_eq!(mutations(&SEEDS, 0, 5).count(), 0);
    }
}
