//! Text from outside on a terminal and in lines: labels, names, file names, messages of others.
//!
//! A terminal obeys control characters (CWE-150), a line feed forges a row, and bidirectional controls reorder
//! a line. Each such character is written out, as `\n`, `\u{1b}` or, for a byte that is not
//! UTF-8, `\x9b`. A backslash stays as it is, so that a text that is escaped twice looks the same; documents for
//! programs keep the exact text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal obeys the character, or does not show it: C0, DEL, C1 (ECMA-48), separators of lines, and what is
/// not shown by default (Unicode 17, Default_Ignorable_Code_Point with interlinear annotations), which has the marks of
/// writing direction (UAX 9), fillers, variation selectors and tags.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{034f}'
                | '\u{061c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The text on one line, with nothing that a terminal obeys.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push(&mut out, character);
    }
    Cow::Owned(out)
}

/// The same of bytes that may be no UTF-8.
#[must_use]
pub fn escaped_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|character| push(&mut out, character));
        for byte in chunk.invalid() {
            // Writing to a text does not fail.
            write!(out, "\\x{byte:02x}").ok();
        }
    }
    out
}

/// A JSON document with what a terminal obeys as `\u` and four digits (RFC 8259 7): another spelling of the same
/// texts. Line ends between its parts stay.
#[must_use]
pub fn escaped_json(document: &str) -> Cow<'_, str> {
    let is_spelt =
        |character: char| is_obeyed(character) && !matches!(character, '\n' | '\r' | '\t');
    if !document.chars().any(is_spelt) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len() + 16);
    for character in document.chars() {
        match is_spelt(character) {
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").ok();
                }
            }
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut String, character: char) {
    match is_obeyed(character) {
        // Line feed, return and tab by their letters, all else by number.
        true => out.extend(character.escape_default()),
        false => out.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_remains() {
        let all: String = ('\0'..='\u{10ffff}').collect();
        let shown = escaped(&all);
        assert!(!shown.chars().any(is_obeyed));
        // What is shown as it is: letters of every script, blanks, quotes, the backslash.
        for kept in ['a', 'ß', 'ж', '鍵', ' ', '"', '\\', '\u{301}'] {
            assert!(shown.contains(kept), "{kept}");
        }
        assert_eq!(shown, escaped(&shown));
    }

    #[test]
    fn each_kind_of_character_is_written_out() {
        for (text, shown) in [
            ("plain", "plain"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
            ("\u{1b}]0;t\u{7}", "\\u{1b}]0;t\\u{7}"),
            ("a\0b\u{7f}c\u{9b}d", "a\\u{0}b\\u{7f}c\\u{9b}d"),
            ("\u{202e}lebal\u{202c}", "\\u{202e}lebal\\u{202c}"),
            (
                "a\u{200b}b\u{2066}c\u{2028}d",
                "a\\u{200b}b\\u{2066}c\\u{2028}d",
            ),
        ] {
            assert_eq!(escaped(text), shown);
            assert_eq!(escaped_bytes(text.as_bytes()), shown);
        }
        assert_eq!(
            escaped_bytes(b"a\xff\x1b\xe2\x82z"),
            "a\\xff\\u{1b}\\xe2\\x82z"
        );
    }

    #[test]
    fn characters_that_are_not_shown_are_written_out() {
        for hidden in [
            '\u{ad}',
            '\u{34f}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180f}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{1bca0}',
            '\u{1d17a}',
            '\u{e0100}',
            '\u{e0fff}',
        ] {
            let text = format!("a{hidden}b");
            let number = format!("a\\u{{{:x}}}b", u32::from(hidden));
            assert_eq!(escaped(&text), number);
        }
    }

    #[test]
    fn json_says_the_same_in_other_letters() {
        assert_eq!(escaped_json("{\"a\":\"b\"}\n"), "{\"a\":\"b\"}\n");
        assert_eq!(
            escaped_json("[\"\u{9b}\u{202e}\u{7f}\u{e0001}\"]\n"),
            "[\"\\u009b\\u202e\\u007f\\udb40\\udc01\"]\n"
        );
    }
}
