//! The English word list of BIP-39, in its order, which is that of the alphabet.
//!
//! Words are secret. A search by halves, or a place in a table, would show in the time which word it was, so
//! both directions go through the whole list, and the time tells how many letters a word has at most.

use std::hint::black_box;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../data/bip39-english.txt");

/// No word of the list is longer.
pub(crate) const LETTERS: usize = 8;

/// The letters of each word, from the highest byte on, with zeros behind them.
static WORDS: LazyLock<Vec<u64>> = LazyLock::new(|| TEXT.lines().filter_map(packed).collect());

/// The place of a word in the list.
pub(crate) fn place(word: &str) -> Option<u16> {
    let wanted = black_box(packed(word)?);
    let mut found = 0;
    for (word, number) in WORDS.iter().zip(1_u16..) {
        found |= number & same(*word, wanted);
    }
    found.checked_sub(1)
}

/// The word at a place, with zeros behind its letters; nothing but zeros beyond the end of the list.
pub(crate) fn word(place: u16) -> [u8; LETTERS] {
    let wanted = black_box(u64::from(place));
    let mut found = 0;
    for (word, number) in WORDS.iter().zip(0_u64..) {
        let [high, low] = same(number, wanted).to_be_bytes();
        found |= word & u64::from_be_bytes([high, low, high, low, high, low, high, low]);
    }
    found.to_be_bytes()
}

/// The letters as a number, if there are between one and eight and none is a zero byte.
fn packed(word: &str) -> Option<u64> {
    let mut letters = [0; LETTERS];
    letters
        .get_mut(..word.len())?
        .copy_from_slice(word.as_bytes());
    let whole = !word.is_empty() && !word.as_bytes().contains(&0);
    whole.then_some(u64::from_be_bytes(letters))
}

/// All ones for equal numbers, else zero.
fn same(one: u64, other: u64) -> u16 {
    let different = one ^ other;
    let [.., bit] = ((different | different.wrapping_neg()) >> 63).to_be_bytes();
    u16::from(bit).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use keywright_primitives::hash::sha256;

    use super::*;

    const COUNT: u16 = 2_048;

    #[test]
    fn the_list_is_the_published_one_sorted_and_whole() {
        let expected = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda";
        assert_eq!(
            keywright_encoding::hex::encode(&sha256(TEXT.as_bytes())),
            expected
        );
        assert_eq!(WORDS.len(), usize::from(COUNT));
        assert!(WORDS.is_sorted());
        // The first four letters tell every word.
        let mut heads: Vec<u64> = WORDS.iter().map(|word| word >> 32).collect();
        heads.dedup();
        assert_eq!(heads.len(), usize::from(COUNT));
    }

    #[test]
    fn every_word_has_its_place_and_nothing_else_has_one() {
        for (number, line) in (0..COUNT).zip(TEXT.lines()) {
            assert_eq!(place(line), Some(number));
            let letters = word(number);
            let (kept, rest) = letters.split_at(line.len());
            assert_eq!(kept, line.as_bytes());
            assert!(rest.iter().all(|byte| *byte == 0));
        }
        for number in [COUNT, COUNT + 1, u16::MAX] {
            assert_eq!(word(number), [0; LETTERS]);
        }
        for nothing in [
            "",
            "\0",
            "Abandon",
            "abandonn",
            "abandons!",
            "abando",
            "zzz",
            " abandon",
            "zoo\0",
        ] {
            assert_eq!(place(nothing), None, "{nothing:?}");
        }
    }
}
