//! The texts that an entry holds, also where they are escaped or encoded.
//!
//! A list of encodings never ends. So an entry is searched only if it is readable, and stays readable when its escapes
//! are decoded: words, names and numbers. Of what looks encoded, only what is short or might be a word is decoded.

mod encoded;
mod escapes;
mod readable;

use std::collections::HashSet;

use self::encoded::Decoded;

/// Encodings within each other that are followed.
const DEEPEST: usize = 6;

/// The names of columns, as far as they could be taken for something encoded.
pub(super) fn known<'n>(names: impl Iterator<Item = &'n str>) -> HashSet<&'n str> {
    names.flat_map(readable::runs).collect()
}

/// What is found in an entry.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// The entry and its decoded forms.
    pub(super) texts: HashSet<String>,
    /// What parts of them may stand for, each of which is a value or holds one.
    pub(super) parts: HashSet<String>,
}

/// The entry itself, and what is encoded in it; nothing where it is not readable, or where that is more than can be
/// searched.
pub(super) fn expanded(raw: &str, known: &HashSet<&str>) -> Option<Expanded> {
    let mut expansion = Expansion {
        known,
        found: Expanded::default(),
        left: raw.len().saturating_mul(64).saturating_add(64 << 10),
    };
    expansion.read(raw.to_owned(), 0)?;
    Some(expansion.found)
}

struct Expansion<'n> {
    known: &'n HashSet<&'n str>,
    found: Expanded,
    /// Bytes that may be added.
    left: usize,
}

impl Expansion<'_> {
    fn read(&mut self, text: String, depth: usize) -> Option<()> {
        if self.found.texts.contains(&text) {
            return Some(());
        }
        self.left = self.left.checked_sub(text.len())?;
        if depth > DEEPEST || !readable::is_readable(&text, self.known) {
            return None;
        }
        self.found.texts.insert(text.clone());
        for plain in escapes::decoded(&text)? {
            self.read(plain, depth + 1)?;
        }
        for part in encoded::decoded(&text)? {
            self.read_part(&part, depth + 1)?;
        }
        Some(())
    }

    fn read_part(&mut self, part: &Decoded, depth: usize) -> Option<()> {
        for text in encoded::texts(part) {
            self.left = self.left.checked_sub(text.len())?;
            // Printable bytes are hardly so by chance. Digits alone are numbers.
            let is_text = text.len() >= 6 && text.bytes().all(is_printable);
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            if part.is_whole && is_text && !is_number {
                self.read(text, depth)?;
            } else if text.len() > 1 {
                self.found.parts.insert(text);
            }
        }
        Some(())
    }
}

const fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}
