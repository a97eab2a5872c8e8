//! The English word list of BIP-39, in its order, which is that of the alphabet.

use std::sync::LazyLock;

const TEXT: &str = include_str!("../data/bip39-english.txt");

static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| TEXT.lines().collect());

/// The place of a word in the list.
pub(crate) fn place(word: &str) -> Option<u16> {
    let place = WORDS.binary_search(&word).ok()?;
    u16::try_from(place).ok()
}

/// The word at a place.
pub(crate) fn word(place: u16) -> Option<&'static str> {
    WORDS.get(usize::from(place)).copied()
}

#[cfg(test)]
mod tests {
    use keywright_primitives::hash::sha256;

    use super::*;

    const COUNT: usize = 2_048;

    #[test]
    fn the_list_is_the_published_one_sorted_and_whole() {
        let expected = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda";
        assert_eq!(
            keywright_encoding::hex::encode(&sha256(TEXT.as_bytes())),
            expected
        );
        assert_eq!(WORDS.len(), COUNT);
        assert!(WORDS.is_sorted());
        for number in 0..COUNT {
            let number = u16::try_from(number).unwrap();
            assert_eq!(place(word(number).unwrap()), Some(number));
        }
        // The first four letters tell every word.
        let mut heads: Vec<&str> = WORDS
            .iter()
            .map(|word| word.get(..4).unwrap_or(word))
            .collect();
        heads.dedup();
        assert_eq!(heads.len(), COUNT);
        assert_eq!(word(2_048), None);
        for nothing in ["", "Abandon", "abandonn", "abando", "zzz", " abandon"] {
            assert_eq!(place(nothing), None);
        }
    }
}
