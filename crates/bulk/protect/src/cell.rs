//! Cells between their file and their meaning.
//!
//! A cell that stands in quotes gets its new text in quotes; one without gets quotes only where the new text
//! needs them. So what is revealed has the quoting of the original, unless a token needed quotes that its
//! value did not.

/// What a cell means, if it is written as it would be written again.
///
/// Not so are cells with text behind the closing quote: which of their bytes stood in quotes is lost in what
/// they mean.
pub(crate) fn meaning(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let [b'"', inner @ ..] = raw else {
        out.extend_from_slice(raw);
        return true;
    };
    let [inner @ .., b'"'] = inner else {
        return false;
    };
    let start = out.len();
    let mut rest = inner;
    while let Some(quote) = rest.iter().position(|byte| *byte == b'"') {
        let (before, from) = rest.split_at(quote);
        let [b'"', b'"', after @ ..] = from else {
            out.truncate(start);
            return false;
        };
        out.extend_from_slice(before);
        out.push(b'"');
        rest = after;
    }
    out.extend_from_slice(rest);
    true
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
pub(crate) fn needs_quotes(text: &[u8], separator: u8) -> bool {
    text.first() == Some(&b'"')
        || text.last() == Some(&b'\r')
        || text.contains(&separator)
        || text.contains(&b'\n')
}

/// Whether any text of many could need quotes: looked at once for all of them.
pub(crate) fn may_need_quotes(texts: &[u8], separator: u8) -> bool {
    // All of them to the end: without a way out the bytes are looked at many at a time.
    let found = texts.iter().fold(0, |found, byte| {
        let breaks = matches!(byte, b'"' | b'\n' | b'\r');
        found | u8::from(*byte == separator) | u8::from(breaks)
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(raw: &str) -> Option<String> {
        let mut out = Vec::new();
        meaning(raw.as_bytes(), &mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_is_written_means_the_text() {
        for text in ["", "a", "\"", "a\"b\"\"", ",\n", "\r", "ü,\"東\""] {
            let mut raw = Vec::new();
            write_quoted(text.as_bytes(), &mut raw);
            let raw = String::from_utf8(raw).unwrap();
            assert_eq!(means(&raw).as_deref(), Some(text), "{raw}");
        }
        assert_eq!(means("in\"side").as_deref(), Some("in\"side"));
    }

    #[test]
    fn cells_that_would_be_written_otherwise_have_no_meaning() {
        for raw in ["\"", "\"a\"x", "\"a\"\"", "\"a\"b\"", "\"\"\"", "\"a\" "] {
            assert_eq!(means(raw), None, "{raw}");
        }
    }

    #[test]
    fn quotes_are_needed_where_a_field_would_end_or_begin() {
        for text in ["a,b", "\"a", "a\nb", "a\r"] {
            assert!(needs_quotes(text.as_bytes(), b','), "{text:?}");
            assert!(may_need_quotes(text.as_bytes(), b','), "{text:?}");
        }
        for text in ["", "a\"b", "a;b", "a\rb"] {
            assert!(!needs_quotes(text.as_bytes(), b','), "{text:?}");
        }
    }
}
