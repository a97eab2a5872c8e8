//! What was probably meant: names within a few typing errors of a word.
//!
//! The distance is that of optimal string alignment: letters put in, left out, replaced, or two neighbours
//! exchanged, each counted once.

/// At most `most` of the names that are near the word, the nearest first. A name is near if a third of
/// the letters or fewer differ, or if the word is a part of it.
///
/// ```
/// let names = ["hash.sha256.1k", "hash.sha384.1k", "random.32"];
/// let near = keywright_targets::suite::nearest("hash.sha265.1k", names, 3);
/// assert_eq!(near, ["hash.sha256.1k", "hash.sha384.1k"]);
/// ```
#[must_use]
pub fn nearest<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST).collect();
    let plain: String = word.iter().collect();
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let letters: Vec<char> = name.chars().take(LONGEST).collect();
            let distance = distance(&word, &letters);
            let tolerated = (word.len().max(letters.len()) / 3).max(1);
            let within = plain.len() >= SHORTEST_PART && name.contains(&plain);
            (distance <= tolerated || within).then_some((distance, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Letters beyond these are not compared.
const LONGEST: usize = 100;
/// The shortest word that is looked for inside of names.
const SHORTEST_PART: usize = 3;

fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = Vec::with_capacity(other.len() + 1);
        line.push(row + 1);
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut least = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            let exchanged =
                row > 0 && column > 0 && one[row - 1] == *against && *letter == other[column - 1];
            if exchanged {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut last, line);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(one: &str, other: &str) -> usize {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        distance(&letters(one), &letters(other))
    }

    #[test]
    fn each_typing_error_counts_once() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("duration", "duration", 0),
            ("durtaion", "duration", 1),
            ("duraton", "duration", 1),
            ("durattion", "duration", 1),
            ("durotion", "duration", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(between(one, other), expected, "{one} {other}");
            assert_eq!(between(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn nothing_is_near_a_word_that_resembles_none() {
        assert_eq!(nearest("zzz", ["runs", "seed"], 3), [""; 0]);
        assert_eq!(nearest("", ["runs", "seed"], 3), [""; 0]);
    }

    #[test]
    fn a_word_finds_the_names_that_it_is_a_part_of() {
        let names = ["hash.sha256.1k", "mac.hmac-sha256.32", "random.32"];
        assert_eq!(
            nearest("sha256", names, 5),
            ["hash.sha256.1k", "mac.hmac-sha256.32"]
        );
        assert_eq!(nearest("sha256", names, 1), ["hash.sha256.1k"]);
    }
}
