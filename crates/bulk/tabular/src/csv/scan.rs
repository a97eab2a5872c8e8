//! The state machine under the reader: bytes in, field boundaries out.

use std::ops::Range;

/// Where the scanner stands within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes, or behind the closing quote of one with them.
    Plain,
    /// Between the quotes.
    Quoted,
    /// Behind a quote that closes the field, unless another follows at once.
    MaybeClosed,
    /// Behind the record.
    Ended,
}

/// Finds the fields of one record. Feed it until it says that the record has ended.
#[derive(Debug)]
pub(super) struct Scanner {
    separator: u8,
    state: State,
    /// Where each field but the last ends: the offset of its separator.
    cuts: Vec<usize>,
    seen: usize,
    /// The byte before was a CR outside quotes, so an LF now makes it part of the line end.
    after_cr: bool,
    newlines: u64,
    /// How many line ends stood before the quote that is open.
    newlines_before_quote: u64,
}

impl Scanner {
    pub(super) fn new(separator: u8) -> Self {
        Self {
            separator,
            state: State::Start,
            cuts: Vec::new(),
            seen: 0,
            after_cr: false,
            newlines: 0,
            newlines_before_quote: 0,
        }
    }

    /// Forgets the record, keeps the memory.
    pub(super) fn restart(&mut self) {
        self.cuts.clear();
        let cuts = std::mem::take(&mut self.cuts);
        *self = Self {
            cuts,
            ..Self::new(self.separator)
        };
    }

    /// Reads on. `Some(n)`: the record ended with byte `n` of this chunk. `None`: it goes on.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Option<usize> {
        for (at, &byte) in chunk.iter().enumerate() {
            if self.step(byte) {
                return Some(at + 1);
            }
        }
        None
    }

    /// Takes one byte; true if it ended the record.
    fn step(&mut self, byte: u8) -> bool {
        let was_cr = self.after_cr;
        self.after_cr = false;
        if self.state == State::Quoted {
            match byte {
                b'"' => self.state = State::MaybeClosed,
                b'\n' => self.newlines += 1,
                _ => {}
            }
        } else if byte == b'\n' {
            self.newlines += 1;
            self.cuts.push(self.seen - usize::from(was_cr));
            self.state = State::Ended;
        } else if byte == self.separator {
            self.cuts.push(self.seen);
            self.state = State::Start;
        } else if byte == b'"' && matches!(self.state, State::Start | State::MaybeClosed) {
            if self.state == State::Start {
                self.newlines_before_quote = self.newlines;
            }
            self.state = State::Quoted;
        } else {
            self.after_cr = byte == b'\r';
            self.state = State::Plain;
        }
        self.seen += 1;
        self.ended()
    }

    /// Ends the record where the file ends. False if a quote is still open.
    pub(super) fn finish(&mut self) -> bool {
        let closed = self.state != State::Quoted;
        self.cuts.push(self.seen);
        self.state = State::Ended;
        closed
    }

    /// Whether the record is whole.
    pub(super) fn ended(&self) -> bool {
        self.state == State::Ended
    }

    /// How many fields have begun.
    pub(super) fn begun(&self) -> usize {
        self.cuts.len() + usize::from(!self.ended())
    }

    /// The ends of all fields, once the record has ended.
    pub(super) fn cuts(&self) -> &[usize] {
        &self.cuts
    }

    /// How many line ends the record held so far, its own included.
    pub(super) fn newlines(&self) -> u64 {
        self.newlines
    }

    /// How many line ends stood before the quote that is open.
    pub(super) fn newlines_before_quote(&self) -> u64 {
        self.newlines_before_quote
    }
}

/// The span of field `index`, when the fields end at `cuts`.
pub(super) fn span(cuts: &[usize], index: usize) -> Option<Range<usize>> {
    let end = *cuts.get(index)?;
    // The separator before a field is one byte.
    let start = match index.checked_sub(1) {
        Some(before) => cuts.get(before)? + 1,
        None => 0,
    };
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(record: &[u8]) -> Vec<String> {
        let mut scanner = Scanner::new(b',');
        if scanner.feed(record).is_none() {
            assert!(scanner.finish(), "open quote");
        }
        (0..scanner.cuts().len())
            .map(|i| String::from_utf8(record[span(scanner.cuts(), i).unwrap()].to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn separators_and_line_ends_inside_quotes_do_not_cut() {
        assert_eq!(fields(b"a,\"b,\r\nc\",d\n"), ["a", "\"b,\r\nc\"", "d"]);
    }

    #[test]
    fn a_doubled_quote_does_not_close() {
        assert_eq!(fields(b"\"a\"\",b\",c\r\n"), ["\"a\"\",b\"", "c"]);
    }

    #[test]
    fn a_quote_inside_an_unquoted_field_opens_nothing() {
        assert_eq!(fields(b"a\"b,c\"d\n"), ["a\"b", "c\"d"]);
        assert_eq!(fields(b" \"a,b\"\n"), [" \"a", "b\""]);
    }

    #[test]
    fn bytes_behind_a_closing_quote_belong_to_the_field_and_open_nothing() {
        assert_eq!(fields(b"\"a\"x\"y,z\n"), ["\"a\"x\"y", "z"]);
    }

    #[test]
    fn only_the_cr_directly_before_the_lf_belongs_to_the_line_end() {
        assert_eq!(fields(b"a\r\r\n"), ["a\r"]);
        assert_eq!(fields(b"a\rb,\r\n"), ["a\rb", ""]);
        assert_eq!(fields(b"\"a\r\"\n"), ["\"a\r\""]);
        assert_eq!(fields(b"\"a\"\r\n"), ["\"a\""]);
        assert_eq!(fields(b"a\r"), ["a\r"]);
    }

    #[test]
    fn an_open_quote_is_told() {
        for record in [&b"\""[..], b"a,\"b\n", b"\"a\"\"", b"\"a\"\"\"\"\n"] {
            let mut scanner = Scanner::new(b',');
            assert_eq!(scanner.feed(record), None, "{record:?}");
            assert!(!scanner.finish(), "{record:?}");
        }
    }

    #[test]
    fn no_span_lies_beyond_the_last_field() {
        assert_eq!(span(&[1, 3], 2), None);
        assert_eq!(span(&[], 0), None);
    }
}
