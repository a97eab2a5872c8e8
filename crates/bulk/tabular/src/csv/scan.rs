//! The state machine under the reader: bytes in, field boundaries out.

use std::ops::Range;

use super::index::Broken;
use super::marks::Marks;

/// Where the scanner stands within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// Between the quotes.
    Quoted,
    /// Behind a quote that closes the field, unless another follows at once.
    MaybeClosed,
    /// Behind a closing quote and a CR: only an LF may follow.
    ClosedAndReturned,
    /// Behind the record.
    Ended,
    /// Behind a byte that no record has there.
    Broken,
}

/// Finds the fields of one record. Feed it until it says that the record has ended.
#[derive(Debug)]
pub(super) struct Scanner {
    marks: Marks,
    state: State,
    /// Where each field but the last ends: the offset of its separator.
    cuts: Vec<usize>,
    seen: usize,
    /// The byte before was a CR outside quotes, so an LF now makes it part of the line end.
    after_cr: bool,
    newlines: u64,
    /// How many line ends stood before the quote that is open.
    newlines_before_quote: u64,
    broken: Option<Broken>,
}

impl Scanner {
    pub(super) fn new(marks: Marks) -> Self {
        Self {
            marks,
            state: State::Start,
            cuts: Vec::new(),
            seen: 0,
            after_cr: false,
            newlines: 0,
            newlines_before_quote: 0,
            broken: None,
        }
    }

    /// Forgets the record, keeps the memory.
    pub(super) fn restart(&mut self) {
        self.cuts.clear();
        let cuts = std::mem::take(&mut self.cuts);
        *self = Self {
            cuts,
            ..Self::new(self.marks)
        };
    }

    /// Reads on. `Some(n)`: the record ended with byte `n` of this chunk, or is broken there. `None`: it goes on.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Option<usize> {
        for (at, &byte) in chunk.iter().enumerate() {
            if self.step(byte) {
                return Some(at + 1);
            }
        }
        None
    }

    /// Takes one byte; true if it ended the record, or has no place there.
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
        } else if byte == self.marks.separator() && self.state != State::ClosedAndReturned {
            self.cuts.push(self.seen);
            self.state = State::Start;
        } else {
            self.step_within(byte);
        }
        self.seen += 1;
        matches!(self.state, State::Ended | State::Broken)
    }

    /// Takes one byte that is neither between quotes nor the end of a field.
    fn step_within(&mut self, byte: u8) {
        let is_quote = byte == b'"' && self.marks.has_quotes();
        match self.state {
            State::Start if is_quote => {
                self.newlines_before_quote = self.newlines;
                self.state = State::Quoted;
            }
            State::MaybeClosed if is_quote => self.state = State::Quoted,
            State::MaybeClosed if byte == b'\r' => {
                self.after_cr = true;
                self.state = State::ClosedAndReturned;
            }
            State::MaybeClosed | State::ClosedAndReturned => self.break_behind_quote(),
            _ if is_quote => self.break_with(Broken::BareQuote {
                lines: self.newlines,
                column: self.cuts.len(),
            }),
            _ => {
                self.after_cr = byte == b'\r';
                self.state = State::Plain;
            }
        }
    }

    fn break_behind_quote(&mut self) {
        self.break_with(Broken::TextBehindQuote {
            lines: self.newlines,
            column: self.cuts.len(),
            opened: self.newlines_before_quote,
        });
    }

    fn break_with(&mut self, broken: Broken) {
        self.broken = Some(broken);
        self.state = State::Broken;
    }

    /// Ends the record where the file ends.
    pub(super) fn finish(&mut self) {
        match self.state {
            State::Quoted => self.break_with(Broken::OpenQuote {
                lines: self.newlines_before_quote,
                column: self.cuts.len(),
            }),
            State::ClosedAndReturned => self.break_behind_quote(),
            State::Broken => {}
            _ => {
                self.cuts.push(self.seen);
                self.state = State::Ended;
            }
        }
    }

    /// What is wrong with the record, with lines counted from its beginning.
    pub(super) const fn broken(&self) -> Option<Broken> {
        self.broken
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

    use super::super::marks::Quoting;

    fn scanner(record: &[u8], quoting: Quoting) -> Scanner {
        let mut scanner = Scanner::new(Marks::new(b',', quoting));
        if scanner.feed(record).is_none() {
            scanner.finish();
        }
        scanner
    }

    fn fields_of(record: &[u8], quoting: Quoting) -> Vec<String> {
        let scanner = scanner(record, quoting);
        assert_eq!(scanner.broken(), None, "{record:?}");
        (0..scanner.cuts().len())
            .map(|i| String::from_utf8(record[span(scanner.cuts(), i).unwrap()].to_vec()).unwrap())
            .collect()
    }

    fn fields(record: &[u8]) -> Vec<String> {
        fields_of(record, Quoting::Assumed)
    }

    #[track_caller]
    fn broken(record: &[u8]) -> Broken {
        scanner(record, Quoting::Assumed).broken().unwrap()
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
    fn a_quote_inside_an_unquoted_field_breaks_the_record() {
        let bare = |lines, column| Broken::BareQuote { lines, column };
        assert_eq!(broken(b"a\"b,c\n"), bare(0, 0));
        assert_eq!(broken(b"\"\n\",b, \"a,b\"\n"), bare(1, 2));
        assert_eq!(broken(b"a,b\r\"\n"), bare(0, 1));
    }

    #[test]
    fn bytes_behind_a_closing_quote_break_the_record() {
        let behind = |lines, column, opened| Broken::TextBehindQuote {
            lines,
            column,
            opened,
        };
        for record in [
            &b"\"a\"x,z\n"[..],
            b"\"a\" \n",
            b"\"a\"\r",
            b"\"a\"\r,b\n",
            b"\"a\"\rx\n",
        ] {
            assert_eq!(broken(record), behind(0, 0, 0), "{record:?}");
        }
        assert_eq!(broken(b"a,\"b\nc\"\r\"d\n"), behind(1, 1, 0));
        assert_eq!(broken(b"\"\n\",\"b\n\nc\"d\n"), behind(3, 1, 1));
    }

    #[test]
    fn without_quoting_a_quote_is_a_byte() {
        let fields = |record| fields_of(record, Quoting::None);
        assert_eq!(fields(b"\"a,b\"c,\",\"\"\n"), ["\"a", "b\"c", "\"", "\"\""]);
        assert_eq!(fields(b"\"\r\n"), ["\""]);
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
    fn an_open_quote_is_told_with_its_place() {
        let open = |lines, column| Broken::OpenQuote { lines, column };
        for (record, place) in [
            (&b"\""[..], open(0, 0)),
            (b"a,\"b\n", open(0, 1)),
            (b"\"a\"\"", open(0, 0)),
            (b"\"a\"\"\"\"\n", open(0, 0)),
            (b"\"\n\",\"\n", open(1, 1)),
        ] {
            assert_eq!(broken(record), place, "{record:?}");
        }
    }

    #[test]
    fn no_span_lies_beyond_the_last_field() {
        assert_eq!(span(&[1, 3], 2), None);
        assert_eq!(span(&[], 0), None);
    }
}
