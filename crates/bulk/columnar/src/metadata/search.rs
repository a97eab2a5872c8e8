//! Texts searched for values, each of which is looked up once, whatever their number.
//!
//! Compared are letters and digits alone, folded ([`fold`]). A value of six bytes or more is found anywhere. A shorter
//! one is found where it is a word, since any text of some length holds it by chance.

pub(super) mod fold;
#[cfg(test)]
mod spellings;

use std::collections::{HashMap, HashSet};

use self::fold::{folded, squeeze};
use super::expand::{Expanded, expanded, known};

/// Bytes of the shortest value that is looked for anywhere.
const LONG: usize = 6;

/// Bytes of the longest word that is looked for as one.
const WORD: usize = 8;

/// Bytes of the longest text that is searched.
const LONGEST: usize = 1 << 20;

/// Bytes of all texts and their decoded forms.
const MOST: usize = 8 << 20;

/// Bits of the filter in front of the places.
const FILTER: usize = 1 << 18;

/// Texts, and in which of them values were found.
#[derive(Debug)]
pub(super) struct Search {
    /// The places of six signs: the text, where in it, and which of those searched it is from.
    grams: Vec<(u64, u32, u32)>,
    filter: Vec<u64>,
    texts: Vec<(Vec<u8>, usize)>,
    words: HashMap<Vec<u8>, Vec<usize>>,
    /// Names that are told anyway.
    names: HashSet<Vec<u8>>,
    hits: Vec<bool>,
    left: usize,
    room: Vec<u8>,
    /// Bytes that texts may still have.
    free: usize,
}

impl Search {
    /// Of these texts, for values that are not among the names.
    pub(super) fn new<'n>(texts: &[String], names: impl IntoIterator<Item = &'n &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().copied().collect();
        let mut search = Self {
            grams: Vec::new(),
            filter: vec![0; FILTER / 64],
            texts: Vec::new(),
            words: HashMap::new(),
            names: names
                .iter()
                .map(|name| folded(name.as_bytes()).into())
                .collect(),
            hits: vec![false; texts.len()],
            left: 0,
            room: Vec::new(),
            free: MOST,
        };
        let known = known(names.into_iter());
        for (place, text) in texts.iter().enumerate() {
            let text = Some(text).filter(|text| text.len() <= LONGEST);
            let found = text.and_then(|text| expanded(text, &known));
            if found.and_then(|found| search.take(&found, place)).is_none() {
                search.hit(place);
            }
        }
        search.grams.sort_unstable();
        let open = texts.iter().zip(&search.hits);
        search.left = open
            .filter(|(text, hit)| !text.is_empty() && !**hit)
            .count();
        search
    }

    /// Whether there is anything to look in.
    pub(super) const fn has_texts(&self) -> bool {
        self.left > 0
    }

    /// Whether a value was found in a text.
    pub(super) fn is_hit(&self, place: usize) -> bool {
        self.hits.get(place).copied().unwrap_or_default()
    }

    fn hit(&mut self, place: usize) {
        if let Some(hit) = self.hits.get_mut(place)
            && !*hit
        {
            *hit = true;
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Takes what is found in an entry; nothing where that is too much.
    fn take(&mut self, found: &Expanded, place: usize) -> Option<()> {
        for text in &found.texts {
            let own = folded(text.as_bytes());
            self.take_words(&own, place);
            let mut squeezed = Vec::new();
            squeeze(own.as_bytes(), &mut squeezed);
            self.take_grams(squeezed, place)?;
            // For values of little else than punctuation.
            self.take_grams(own.into_bytes(), place)?;
        }
        for part in &found.parts {
            let mut squeezed = Vec::new();
            squeeze(part.as_bytes(), &mut squeezed);
            if (2..LONG).contains(&squeezed.len()) {
                self.take_word(squeezed, place);
            } else {
                self.take_grams(squeezed, place)?;
            }
        }
        Some(())
    }

    fn take_grams(&mut self, text: Vec<u8>, place: usize) -> Option<()> {
        self.free = self.free.checked_sub(text.len())?;
        let number = u32::try_from(self.texts.len()).ok()?;
        for (at, gram) in text.windows(LONG).enumerate() {
            let at = u32::try_from(at).ok()?;
            let gram = packed(gram);
            self.grams.push((gram, number, at));
            let (word, bit) = filter_place(gram);
            if let Some(word) = self.filter.get_mut(word) {
                *word |= bit;
            }
        }
        self.texts.push((text, place));
        Some(())
    }

    fn take_word(&mut self, word: Vec<u8>, place: usize) {
        let places = self.words.entry(word).or_default();
        if places.last() != Some(&place) {
            places.push(place);
        }
    }

    /// Takes what begins and ends where words do, as it is and without what is between groups of signs.
    fn take_words(&mut self, text: &str, place: usize) {
        let words: Vec<Word> = words(text).collect();
        for (number, first) in words.iter().enumerate() {
            let mut joined = Vec::new();
            let mut is_joined = true;
            for (count, word) in words.iter().skip(number).enumerate() {
                let whole = text.get(first.start..word.end).unwrap_or_default();
                is_joined &= count == 0 || word.is_joined;
                joined.extend_from_slice(
                    text.get(word.start..word.end)
                        .unwrap_or_default()
                        .as_bytes(),
                );
                is_joined &= joined.len() < LONG;
                if is_joined && count > 0 {
                    self.take_word(joined.clone(), place);
                }
                if whole.len() <= WORD {
                    self.take_word(whole.into(), place);
                } else if !is_joined {
                    break;
                }
            }
        }
    }

    /// Looks a value up.
    pub(super) fn look(&mut self, value: &[u8]) {
        if self.left == 0 || value.is_empty() {
            return;
        }
        let mut own = std::mem::take(&mut self.room);
        own.clear();
        squeeze(value, &mut own);
        match own.first_chunk::<LONG>() {
            Some(first) => {
                let gram = packed(first);
                let (word, bit) = filter_place(gram);
                if self.filter.get(word).is_some_and(|word| word & bit != 0) {
                    self.look_long(gram, &own, value);
                }
            }
            None => self.look_short(&own, value),
        }
        self.room = own;
    }

    fn look_long(&mut self, gram: u64, own: &[u8], value: &[u8]) {
        if self.is_name(value) {
            return;
        }
        let start = self.grams.partition_point(|(other, ..)| *other < gram);
        let grams = self.grams.get(start..).unwrap_or_default().iter();
        let mut found = Vec::new();
        for (_, text, at) in grams.take_while(|(other, ..)| *other == gram) {
            let (text, place) = match self.texts.get(*text as usize) {
                Some((text, place)) => (text.as_slice(), *place),
                None => continue,
            };
            let rest = text.get(*at as usize..).unwrap_or_default();
            if !self.is_hit(place) && rest.starts_with(own) {
                found.push(place);
            }
        }
        found.into_iter().for_each(|place| self.hit(place));
    }

    fn look_short(&mut self, own: &[u8], value: &[u8]) {
        let value = folded(value.trim_ascii());
        self.look_word(own);
        self.look_word(value.as_bytes());
        if let Some(first) = value.as_bytes().first_chunk::<LONG>() {
            self.look_long(packed(first), value.as_bytes(), value.as_bytes());
        }
    }

    fn look_word(&mut self, word: &[u8]) {
        if let Some(places) = self.words.get(word)
            && !self.is_name(word)
        {
            let places = places.clone();
            places.into_iter().for_each(|place| self.hit(place));
        }
    }

    fn is_name(&self, value: &[u8]) -> bool {
        self.names.contains(folded(value).as_bytes())
    }
}

/// Whether a text would be left out for a value: because it holds it, or cannot be searched.
pub(crate) fn is_left_out(text: &str, value: &str) -> bool {
    let mut search = Search::new(&[text.to_owned()], &["card", "name"]);
    search.look(value.as_bytes());
    search.is_hit(0)
}

/// Letters and digits.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    /// Whether what is between it and the word before is as between groups of signs.
    is_joined: bool,
}

fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut at = 0;
    let mut between = 0;
    let parts = text.split_inclusive(|sign: char| !sign.is_alphanumeric());
    parts.filter_map(move |part| {
        let word = part.trim_end_matches(|sign: char| !sign.is_alphanumeric());
        let start = at;
        at += part.len();
        if word.is_empty() {
            return None;
        }
        let end = start + word.len();
        let is_joined = text.get(between..start).is_some_and(is_of_groups);
        between = end;
        Some(Word {
            start,
            end,
            is_joined,
        })
    })
}

/// Whether there may be such signs between the groups of one number or name.
fn is_of_groups(between: &str) -> bool {
    let is_own = |sign: char| !"\"{}[]<>=;:\n\r\t".contains(sign);
    let count = between.chars().count();
    (1..=2).contains(&count) && between.chars().all(is_own) && between != ", "
}

fn packed(gram: &[u8]) -> u64 {
    gram.iter()
        .fold(0, |packed, byte| packed << 8 | u64::from(*byte))
}

/// The word of the filter and the bit in it.
const fn filter_place(gram: u64) -> (usize, u64) {
    let hash = gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - FILTER.trailing_zeros());
    ((hash / 64) as usize, 1 << (hash % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], values: &[&str]) -> Vec<bool> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let mut search = Search::new(&texts, &["city", "address"]);
        values
            .iter()
            .for_each(|value| search.look(value.as_bytes()));
        (0..texts.len()).map(|place| search.is_hit(place)).collect()
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        let texts = [
            "{\"max\": 4111111111111111}",
            "4111-1111-1111-1111 and more",
            "NDExMTExMTExMTExMTExMQ==",
            "Wellington",
            "",
            "nothing of 4111111111111112",
        ];
        let values = ["5500000000000004", "4111 1111 1111 1111", "WELLINGTON"];
        assert_eq!(
            found(&texts, &values),
            [true, true, true, true, false, false]
        );
    }

    #[test]
    fn short_values_are_found_as_words() {
        let texts = [
            "{\"top\":\"Bonn\"}",
            "Bonner",
            "a b-c d",
            "x",
            "Bo nn",
            "Bönn",
        ];
        assert_eq!(
            found(&texts, &["Bonn", "b-c", "nn"]),
            [true, false, true, false, true, true]
        );
    }

    #[test]
    fn names_of_columns_are_told_anyway() {
        let texts = ["{\"city\": \"string\", \"address\": 1}"];
        assert_eq!(found(&texts, &["city", "address"]), [false]);
        assert_eq!(found(&texts, &["string"]), [true]);
    }

    #[test]
    fn what_cannot_be_searched_is_a_hit() {
        let text = "H4sIAAAAAAAAAzM0MDQyNjE1M7ewBAA=";
        assert_eq!(found(&[text, "plain"], &[]), [true, false]);
    }
}
