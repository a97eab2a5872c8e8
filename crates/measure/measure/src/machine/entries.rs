//! Bounded reading of small system files below a root.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Files of a system, below a root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries<'a> {
    root: &'a Path,
}

/// The most that is read of a file. The longest is a list of processors, about 1.5 KiB for each.
const MOST_BYTES: u64 = 2 << 20;
/// The longest text that is kept, in characters.
const MOST_CHARACTERS: usize = 200;
/// The most entries of a folder that are looked at.
const MOST_CHILDREN: usize = 4096;

impl<'a> Entries<'a> {
    pub(super) const fn new(root: &'a Path) -> Self {
        Self { root }
    }

    /// The content of a file, what is not UTF-8 replaced.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let file = File::open(self.root.join(path)).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The content of a file of one line, fit to be printed; absent if it is empty.
    pub(super) fn word(&self, path: &str) -> Option<String> {
        printable(self.text(path)?.lines().next()?)
    }

    /// A file that says 0 or 1.
    pub(super) fn switch(&self, path: &str) -> Option<bool> {
        match self.word(path)?.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Paths of the entries of a folder that are called `prefix` and a number, in order of their names.
    pub(super) fn children(&self, folder: &str, prefix: &str) -> Vec<String> {
        let Ok(found) = std::fs::read_dir(self.root.join(folder)) else {
            return Vec::new();
        };
        let numbered = |name: &String| {
            name.strip_prefix(prefix).is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
            })
        };
        let mut names: Vec<String> = found
            .take(MOST_CHILDREN)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(numbered)
            .map(|name| format!("{folder}/{name}"))
            .collect();
        names.sort();
        names
    }
}

/// Without control characters, trimmed, not longer than a line; absent if nothing is left.
pub(super) fn printable(text: &str) -> Option<String> {
    let plain: String = text
        .trim()
        .chars()
        .filter(|character| !character.is_control())
        .take(MOST_CHARACTERS)
        .collect();
    (!plain.is_empty()).then_some(plain)
}

/// The value of the first line `key: value`.
pub(super) fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// A number that is finite and not below zero.
pub(super) fn amount(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// How many numbers a list like `0-3,8` has; absent if it is none or would have more than fit.
pub(super) fn count_of_list(text: &str) -> Option<u32> {
    let mut count = 0_u32;
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted_and_what_is_no_list_is_absent() {
        for (text, count) in [("0", 1), ("0-3", 4), ("0-3,8,10-11\n", 7)] {
            assert_eq!(count_of_list(text), Some(count), "{text}");
        }
        for text in [
            "",
            ",",
            "3-1",
            "a",
            "0-",
            "-1",
            "0-4294967295",
            "1,,2",
            "0 1",
        ] {
            assert_eq!(count_of_list(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_are_finite_and_not_negative() {
        assert_eq!(amount("0.25"), Some(0.25));
        for text in ["", "x", "-1", "inf", "NaN", "1 2"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_kept_has_no_control_characters_and_a_bound() {
        assert_eq!(printable(" a\u{1b}[31mb\0 ").as_deref(), Some("a[31mb"));
        assert_eq!(printable("\u{7}\n"), None);
        assert_eq!(
            printable(&"x".repeat(5000)).map(|text| text.len()),
            Some(200)
        );
    }
}
