//! Cells between their file and their meaning.
//!
//! A cell that stands in quotes gets its new text in quotes; one without gets quotes only where the new text
//! needs them. So what is revealed has the quoting of the original, unless a token needed quotes that its
//! value did not.

use keywright_tabular::csv::Marks;

/// Appends what a cell means. The index has judged its quotes: between the first and the last there are only
/// doubled ones.
pub(crate) fn meaning(raw: &[u8], marks: Marks, out: &mut Vec<u8>) {
    if !marks.is_quoted(raw) {
        out.extend_from_slice(raw);
        return;
    }
    let mut rest = raw.get(1..raw.len() - 1).unwrap_or_default();
    while let Some(quote) = rest.iter().position(|byte| *byte == b'"') {
        let (before, from) = rest.split_at(quote + 1);
        out.extend_from_slice(before);
        rest = from.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Appends a cell in quotes that means `text`.
pub(crate) fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(quote) = rest.iter().position(|byte| *byte == b'"') {
        let (before, after) = rest.split_at(quote + 1);
        out.extend_from_slice(before);
        out.push(b'"');
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Whether a text would not be read back as one field without quotes.
pub(crate) fn needs_quotes(text: &[u8], marks: Marks) -> bool {
    (marks.has_quotes() && text.contains(&b'"'))
        || text.last() == Some(&b'\r')
        || text.contains(&marks.separator())
        || text.contains(&b'\n')
}

/// Whether any text of many could need quotes: looked at once for all of them.
pub(crate) fn may_need_quotes(texts: &[u8], marks: Marks) -> bool {
    let separator = marks.separator();
    // All of them to the end: without a way out the bytes are looked at many at a time.
    let found = texts.iter().fold(0, |found, byte| {
        let breaks = matches!(byte, b'"' | b'\n' | b'\r');
        found | u8::from(*byte == separator) | u8::from(breaks)
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use keywright_tabular::csv::{Options, Quoting, Reader};

    use super::*;

    fn marks(quoting: Quoting) -> Marks {
        let options = Options::default().with_quoting(quoting);
        Reader::new(&b"a,b\n"[..], &options)
            .unwrap()
            .layout()
            .marks()
    }

    fn means(raw: &str, quoting: Quoting) -> String {
        let mut out = Vec::new();
        meaning(raw.as_bytes(), marks(quoting), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_written_means_the_text() {
        for text in ["", "a", "\"", "a\"b\"\"", ",\n", "\r", "ü,\"東\""] {
            let mut raw = Vec::new();
            write_quoted(text.as_bytes(), &mut raw);
            let raw = String::from_utf8(raw).unwrap();
            assert_eq!(means(&raw, Quoting::Assumed), text, "{raw}");
            assert_eq!(means(&raw, Quoting::None), raw);
        }
    }

    #[test]
    fn quotes_are_needed_where_a_field_would_end_or_begin() {
        for text in ["a,b", "\"a", "a\"b", "a\nb", "a\r"] {
            let marks = marks(Quoting::Assumed);
            assert!(needs_quotes(text.as_bytes(), marks), "{text:?}");
            assert!(may_need_quotes(text.as_bytes(), marks), "{text:?}");
        }
        for text in ["", "a;b", "a\rb"] {
            assert!(
                !needs_quotes(text.as_bytes(), marks(Quoting::Assumed)),
                "{text:?}"
            );
        }
        for (text, needs) in [
            ("\"a", false),
            ("a\"b", false),
            ("a,b", true),
            ("a\r", true),
        ] {
            assert_eq!(
                needs_quotes(text.as_bytes(), marks(Quoting::None)),
                needs,
                "{text:?}"
            );
        }
    }
}
