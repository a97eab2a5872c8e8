//! Scopes: sets of words in exactly one spelling.

use crate::Error;

/// Bytes of the longest scope.
pub const MAX_SCOPE: usize = 1024;
/// Bytes of the longest word.
const MAX_WORD: usize = 64;

/// Words of visible ASCII characters, ascending by their bytes, with one space between them and none twice.
/// Without a word it permits nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope<'a>(&'a str);

impl<'a> Scope<'a> {
    /// No word.
    pub const EMPTY: Self = Self("");

    /// Takes words that stand in order.
    ///
    /// # Errors
    /// [`Error::Scope`] if they do not, or are no words.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        if text.is_empty() {
            return Ok(Self::EMPTY);
        }
        if text.len() > MAX_SCOPE {
            return Err(Error::Scope);
        }
        let mut before = "";
        for word in text.split(' ') {
            // The empty text stands before every word, so an empty word is refused here too.
            if word <= before || !is_word(word) {
                return Err(Error::Scope);
            }
            before = word;
        }
        Ok(Self(text))
    }

    /// The words with spaces between them.
    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.0
    }

    /// The words in order.
    #[must_use]
    pub fn words(&self) -> Words<'a> {
        Words(self.0)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this word is among them.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.words().any(|own| own == word)
    }

    /// Whether every word of this scope is in the other. Both are in order, so each is walked once.
    #[must_use]
    pub fn is_within(&self, other: &Scope<'_>) -> bool {
        let mut theirs = other.words();
        self.words().all(|word| theirs.any(|their| their == word))
    }
}

/// The words of a scope.
#[derive(Clone, Debug)]
pub struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        Some(word)
    }
}

/// A scope made of words in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeText(String);

impl ScopeText {
    /// Sorts the words and drops what is there twice.
    ///
    /// # Errors
    /// [`Error::Scope`] if one is no word, or all together are too long.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, Error> {
        let mut words: Vec<&str> = words.into_iter().collect();
        if !words.iter().all(|word| is_word(word)) {
            return Err(Error::Scope);
        }
        words.sort_unstable();
        words.dedup();
        let text = words.join(" ");
        Scope::parse(&text)?;
        Ok(Self(text))
    }

    /// The scope.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        Scope(&self.0)
    }
}

fn is_word(word: &str) -> bool {
    (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_spelling_is_read() {
        for text in ["", "a", "a b", "A a", "read:all write:own", "!", "~"] {
            assert_eq!(Scope::parse(text).unwrap().as_str(), text);
        }
        let long = "x".repeat(65);
        let many = (0..400)
            .map(|n| format!("w{n:03}"))
            .collect::<Vec<_>>()
            .join(" ");
        for text in [
            " ", "a ", " a", "a  b", "b a", "a a", "a a b", "a\tb", "a\nb", "\u{7f}", "ä", "a\0",
            &long, &many,
        ] {
            assert_eq!(Scope::parse(text), Err(Error::Scope), "{text:?}");
        }
    }

    #[test]
    fn words_in_any_order_become_that_spelling() {
        let made = ScopeText::of(["write", "read", "write"]).unwrap();
        assert_eq!(made.scope().as_str(), "read write");
        assert_eq!(ScopeText::of([]).unwrap().scope(), Scope::EMPTY);
        for words in [&["a b"][..], &[""], &["a", ""], &["ä"]] {
            assert_eq!(
                ScopeText::of(words.iter().copied()),
                Err(Error::Scope),
                "{words:?}"
            );
        }
    }

    #[test]
    fn being_within_is_what_it_is_for_sets() {
        let words = ["a", "aa", "ab", "b"];
        let scopes: Vec<ScopeText> = (0_u32..16)
            .map(|bits| {
                let chosen = words
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| bits >> at & 1 == 1);
                ScopeText::of(chosen.map(|(_, word)| *word)).unwrap()
            })
            .collect();
        for (a, first) in scopes.iter().enumerate() {
            for (b, second) in scopes.iter().enumerate() {
                assert_eq!(first.scope().is_within(&second.scope()), a & !b == 0);
            }
            for (at, word) in words.iter().enumerate() {
                assert_eq!(first.scope().contains(word), a >> at & 1 == 1);
            }
            assert!(!first.scope().contains(""));
        }
    }
}
