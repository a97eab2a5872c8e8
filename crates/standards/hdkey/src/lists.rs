//! The ten word lists of BIP-39, to find the place of a word in each.
//!
//! As in [`words`](crate::words), a search goes through a whole list: its time tells how long the word is, and not
//! which it is.

use std::sync::LazyLock;

use bip39::Language;
use keywright_secret::ct_eq;
use unicode_normalization::UnicodeNormalization as _;

/// One list, its words in the form NFKD.
pub(crate) struct WordList(Vec<String>);

/// All lists.
pub(crate) static LISTS: LazyLock<Vec<WordList>> = LazyLock::new(|| {
    let lists = Language::ALL.iter().map(|language| {
        let words = language.word_list().iter();
        WordList(words.map(|word| word.nfkd().collect()).collect())
    });
    lists.collect()
});

impl WordList {
    /// The place of a word, which is in the form NFKD.
    pub(crate) fn place(&self, word: &str) -> Option<u16> {
        let mut found = None;
        for (listed, place) in self.0.iter().zip(0_u16..) {
            if ct_eq(listed.as_bytes(), word.as_bytes()) {
                found = Some(place);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_has_2048_different_words() {
        assert_eq!(LISTS.len(), 10);
        for list in &*LISTS {
            assert_eq!(list.0.len(), 2_048);
            for (word, place) in list.0.iter().zip(0_u16..) {
                assert_eq!(list.place(word), Some(place));
            }
            assert_eq!(list.place(""), None);
            assert_eq!(list.place("abandonn"), None);
        }
    }

    #[test]
    fn the_english_list_is_that_of_words() {
        let english = LISTS.iter().find(|list| list.place("abandon") == Some(0));
        for word in &english.expect("one list begins with this word").0 {
            assert_eq!(
                crate::words::place(word),
                english.and_then(|list| list.place(word))
            );
        }
    }
}
