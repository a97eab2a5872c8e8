//! Names from outside on a terminal and in line-based forms.
//!
//! An operation's name or an error's code may hold anything a target sent. Control characters could move
//! the cursor or colour a verdict, marks of writing direction could turn a line around; both are written out.

use keywright_encoding::terminal;

/// `text` without anything a terminal would act on.
pub(crate) fn shown(text: &str) -> String {
    terminal::escaped(text).into_owned()
}

/// `text` as [`shown`], with its middle left out where it is longer than `width` characters.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let text = shown(text);
    let length = text.chars().count();
    if length <= width || width < 8 {
        return text;
    }
    let kept = width - 3;
    let (head, tail) = (kept - kept / 3, kept / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}...{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_remains() {
        let shown = shown("a\u{1b}[31mred\r\n\u{202e}b\u{7}\u{9b}c");
        assert!(!shown.chars().any(terminal::is_obeyed));
        assert!(shown.contains("\\u{1b}[31mred"));
    }

    #[test]
    fn long_names_keep_both_ends_and_short_ones_everything() {
        assert_eq!(fitted("short", 40), "short");
        let long = format!("begin{}end", "x".repeat(500));
        let fitted = fitted(&long, 40);
        assert_eq!(fitted.chars().count(), 40);
        assert!(fitted.starts_with("begin") && fitted.ends_with("end"));
    }
}
