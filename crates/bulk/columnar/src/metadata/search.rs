//! Texts searched for values, each of which is looked up once, whatever their number.
//!
//! Compared are lower case letters, without the spaces, hyphens, points, slashes and brackets that numbers are written
//! with. A value of six signs or more is found anywhere. A shorter one is found where it is a word, since any text of
//! some length holds it by chance.

use std::collections::{HashMap, HashSet};

use super::expand::expanded;

/// Signs of the shortest value that is looked for anywhere.
const LONG: usize = 6;

/// Signs of the longest word that is looked for as one.
const WORD: usize = 8;

/// Bytes of the longest text that is searched.
const LONGEST: usize = 1 << 20;

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
}

impl Search {
    /// Of these texts, for values that are not among the names.
    pub(super) fn new<'n>(texts: &[String], names: impl IntoIterator<Item = &'n &'n str>) -> Self {
        let names = names.into_iter();
        let mut search = Self {
            grams: Vec::new(),
            filter: vec![0; FILTER / 64],
            texts: Vec::new(),
            words: HashMap::new(),
            names: names.map(|name| name.to_ascii_lowercase().into()).collect(),
            hits: vec![false; texts.len()],
            left: 0,
            room: Vec::new(),
        };
        for (place, text) in texts.iter().enumerate() {
            let text = Some(text.as_bytes()).filter(|text| text.len() <= LONGEST);
            match text.and_then(expanded) {
                Some(expanded) => {
                    for text in expanded {
                        search.take(&text.to_ascii_lowercase(), place);
                    }
                }
                None => search.hit(place),
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

    fn take(&mut self, text: &[u8], place: usize) {
        self.take_words(text, place);
        let mut own = Vec::new();
        squeeze(text, &mut own);
        let Ok(number) = u32::try_from(self.texts.len()) else {
            return self.hit(place);
        };
        for (at, gram) in own.windows(LONG).enumerate() {
            let Ok(at) = u32::try_from(at) else {
                return self.hit(place);
            };
            let gram = packed(gram);
            self.grams.push((gram, number, at));
            let (word, bit) = filter_place(gram);
            if let Some(word) = self.filter.get_mut(word) {
                *word |= bit;
            }
        }
        self.texts.push((own, place));
    }

    /// Takes what begins and ends where words do.
    fn take_words(&mut self, text: &[u8], place: usize) {
        let edge = |at: usize| {
            let is_sign = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(is_sign);
            is_sign(at.checked_sub(1)) != is_sign(Some(at))
        };
        let edges: Vec<usize> = (0..=text.len()).filter(|at| edge(*at)).collect();
        for (number, start) in edges.iter().enumerate() {
            for end in edges.iter().skip(number + 1) {
                let Some(word) = text.get(*start..*end).filter(|word| word.len() <= WORD) else {
                    break;
                };
                let places = self.words.entry(word.to_vec()).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
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
            None => self.look_word(value),
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

    fn look_word(&mut self, value: &[u8]) {
        let value = value.trim_ascii().to_ascii_lowercase();
        if !self.is_name(&value)
            && let Some(places) = self.words.get(&value)
        {
            let places = places.clone();
            places.into_iter().for_each(|place| self.hit(place));
        }
    }

    fn is_name(&self, value: &[u8]) -> bool {
        self.names.contains(&value.to_ascii_lowercase())
    }
}

/// A letter, a digit, or a part of a sign beyond ASCII.
const fn is_sign(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// As values are compared.
fn squeeze(text: &[u8], out: &mut Vec<u8>) {
    let own = text
        .iter()
        .filter(|byte| !matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'\t'));
    out.extend(own.map(u8::to_ascii_lowercase));
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
            [true, false, true, false, true, false]
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
