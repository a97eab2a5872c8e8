//! Many records at once: where they begin, and where chosen fields stand.
//!
//! The rules are those of the scanner, record by record; tests hold the two against each other. Here the
//! bytes that mean something (separators, quotes, line feeds) are found 64 at a time, and everything between
//! them is passed over.

use std::ops::Range;

use super::marks::Marks;
use super::reader::Layout;
use crate::Error;

/// The records of one block of a file, and the fields of some of its columns.
///
/// ```
/// use keywright_tabular::csv::{Index, Options, Reader};
///
/// let file = b"id,name\n1,Ada\n2,\"B, C\"\n";
/// let reader = Reader::new(&file[..], &Options::default())?;
/// let mut index = Index::new(reader.layout(), &[1])?;
/// let block = &file[reader.header().len()..];
/// index.read(block).map_err(|broken| broken.at(2))?;
/// assert_eq!(index.rows(), 2);
/// assert_eq!(&block[index.field(1, 0)], b"\"B, C\"");
/// # Ok::<(), keywright_tabular::Error>(())
/// ```
#[derive(Debug)]
pub struct Index {
    marks: Marks,
    columns: usize,
    wanted: Vec<usize>,
    /// Where each record begins, and where the last one ends.
    starts: Vec<usize>,
    /// The fields of each record, as many as are wanted.
    spans: Vec<(usize, usize)>,
    /// Records with a separator or a line end between quotes.
    spanning: Vec<usize>,
    newlines: u64,
}

/// What is wrong with a block, counted from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// A record has more or fewer fields than the header.
    Ragged {
        /// Line ends before the record.
        lines: u64,
        /// How many fields the header has.
        expected: usize,
        /// How many the record has.
        found: usize,
    },
    /// A quote is open at the end of the block.
    OpenQuote {
        /// Line ends before the quote.
        lines: u64,
        /// The column of its field, from 0.
        column: usize,
    },
    /// There is a quote in a field that is not quoted.
    BareQuote {
        /// Line ends before the quote.
        lines: u64,
        /// The column of its field, from 0.
        column: usize,
    },
    /// There is text between the closing quote of a field and its end.
    TextBehindQuote {
        /// Line ends before the closing quote.
        lines: u64,
        /// The column of the field, from 0.
        column: usize,
        /// Line ends before the opening quote.
        opened: u64,
    },
}

impl Broken {
    /// The error, if the block begins at this line of the file.
    #[must_use]
    pub const fn at(self, line: u64) -> Error {
        match self {
            Self::Ragged {
                lines,
                expected,
                found,
            } => Error::RaggedRow {
                line: line + lines,
                expected,
                found,
            },
            Self::OpenQuote { lines, column } => Error::UnbalancedQuote {
                line: line + lines,
                column,
            },
            Self::BareQuote { lines, column } => Error::BareQuote {
                line: line + lines,
                column,
            },
            Self::TextBehindQuote {
                lines,
                column,
                opened,
            } => Error::TextBehindQuote {
                line: line + lines,
                column,
                opened: line + opened,
            },
        }
    }
}

impl Index {
    /// For the columns `wanted`, whose indices rise.
    ///
    /// # Errors
    /// [`Error::ColumnTwice`] if they do not rise; [`Error::NoSuchField`] if the header has fewer.
    pub fn new(layout: &Layout, wanted: &[usize]) -> Result<Self, Error> {
        let columns = layout.names().len();
        if let Some(&column) = wanted.last().filter(|last| **last >= columns) {
            return Err(Error::NoSuchField { line: 1, column });
        }
        let falls = wanted.windows(2).find(|pair| pair[0] >= pair[1]);
        if let Some(pair) = falls {
            return Err(Error::ColumnTwice { column: pair[0] });
        }
        Ok(Self {
            marks: layout.marks(),
            columns,
            wanted: wanted.to_vec(),
            starts: Vec::new(),
            spans: Vec::new(),
            spanning: Vec::new(),
            newlines: 0,
        })
    }

    /// Reads a block, which begins with a record and ends with one.
    ///
    /// # Errors
    /// [`Broken`]; there are no rows then.
    pub fn read(&mut self, block: &[u8]) -> Result<(), Broken> {
        self.starts.clear();
        self.spans.clear();
        self.spanning.clear();
        self.newlines = 0;
        let read = self.read_rows(block);
        if read.is_err() {
            self.starts.clear();
            self.spans.clear();
            self.spanning.clear();
        }
        read
    }

    fn read_rows(&mut self, block: &[u8]) -> Result<(), Broken> {
        self.starts.push(0);
        let mut walk = Walk::default();
        let mut row = Row::new(&self.wanted, 0);
        let mut broken = None;
        each_mark(block, self.marks, |place, byte| {
            match walk.step(place, byte) {
                Step::Quote => {}
                Step::Inside => {
                    self.newlines += u64::from(byte == b'\n');
                    row.spans = true;
                }
                Step::Bare => {
                    broken = Some(match walk.closed > walk.field {
                        true => self.text_behind_quote(&walk, &row, block),
                        false => Broken::BareQuote {
                            lines: self.newlines,
                            column: row.fields,
                        },
                    });
                }
                Step::Cut(field) => {
                    if walk.has_text_behind(field, place) {
                        broken = Some(self.text_behind_quote(&walk, &row, block));
                    }
                    row.cut(field, place, &self.wanted, &mut self.spans);
                }
                Step::End(field) => {
                    let carriage = place > field
                        && block.get(place - 1).is_some_and(|before| *before == b'\r');
                    let end = place - usize::from(carriage);
                    broken = match walk.has_text_behind(field, end) {
                        true => Some(self.text_behind_quote(&walk, &row, block)),
                        false => {
                            row.cut(field, end, &self.wanted, &mut self.spans);
                            self.end_row(&mut row, end, place + 1)
                        }
                    };
                    self.newlines += 1;
                }
            }
            broken.is_none()
        });
        match broken {
            Some(broken) => Err(broken),
            None => self.end_block(&walk, row, block),
        }
    }

    /// Takes the last record, which may have no line end.
    fn end_block(&mut self, walk: &Walk, mut row: Row, block: &[u8]) -> Result<(), Broken> {
        if walk.quoted {
            let before = block.get(..walk.opened).unwrap_or_default();
            return Err(Broken::OpenQuote {
                lines: newlines(before),
                column: row.fields,
            });
        }
        let start = self.starts.last().copied().unwrap_or_default();
        if start == block.len() {
            return Ok(());
        }
        if walk.has_text_behind(walk.field, block.len()) {
            return Err(self.text_behind_quote(walk, &row, block));
        }
        row.cut(walk.field, block.len(), &self.wanted, &mut self.spans);
        match self.end_row(&mut row, block.len(), block.len()) {
            Some(broken) => Err(broken),
            None => Ok(()),
        }
    }

    #[cold]
    fn text_behind_quote(&self, walk: &Walk, row: &Row, block: &[u8]) -> Broken {
        let before = block.get(..walk.opened).unwrap_or_default();
        Broken::TextBehindQuote {
            lines: self.newlines,
            column: row.fields,
            opened: newlines(before),
        }
    }

    /// Notes a record that is whole. `end` is where its last field ends, `next` where the next one begins.
    fn end_row(&mut self, row: &mut Row, end: usize, next: usize) -> Option<Broken> {
        let start = self.starts.last().copied().unwrap_or_default();
        if row.fields != self.columns {
            if row.fields != 1 || end != start {
                return Some(Broken::Ragged {
                    lines: row.lines,
                    expected: self.columns,
                    found: row.fields,
                });
            }
            // An empty line: a record without fields, which shows as one whose fields are empty.
            let whole = (self.starts.len() - 1) * self.wanted.len();
            self.spans.truncate(whole);
            self.spans.resize(whole + self.wanted.len(), (start, start));
        }
        if row.spans {
            self.spanning.push(self.starts.len() - 1);
        }
        self.starts.push(next);
        *row = Row::new(&self.wanted, self.newlines + 1);
        None
    }

    /// The bytes that mean something.
    #[must_use]
    pub const fn marks(&self) -> Marks {
        self.marks
    }

    /// How many records the block has. Empty lines count.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Where a record stands in the block, line end included; empty beyond the last.
    #[must_use]
    pub fn row(&self, row: usize) -> Range<usize> {
        match self.starts.get(row..row.saturating_add(2)) {
            Some([start, end]) => *start..*end,
            _ => 0..0,
        }
    }

    /// Where a field stands, quotes included; `place` counts the columns that are wanted. Fields of an empty
    /// line are empty.
    #[must_use]
    #[inline]
    pub fn field(&self, row: usize, place: usize) -> Range<usize> {
        let span = self.spans.get(row * self.wanted.len() + place);
        span.map_or(0..0, |(start, end)| *start..*end)
    }

    /// The records with a separator or a line end between quotes, in their order.
    #[must_use]
    pub fn spanning(&self) -> &[usize] {
        &self.spanning
    }

    /// Line ends of the block, those between quotes included.
    #[must_use]
    pub const fn newlines(&self) -> u64 {
        self.newlines
    }
}

/// Where the last whole record of a block ends; 0 if none does. The block begins with a record.
#[must_use]
pub fn last_record_end(block: &[u8], marks: Marks) -> usize {
    if !marks.has_quotes() || !block.contains(&b'"') {
        // Without quotes every line feed ends a record.
        let last = block.iter().rposition(|byte| *byte == b'\n');
        return last.map_or(0, |place| place + 1);
    }
    let mut walk = Walk::default();
    let mut last = 0;
    each_mark(block, marks, |place, byte| {
        if let Step::End(_) = walk.step(place, byte) {
            last = place + 1;
        }
        true
    });
    last
}

/// How many line feeds there are.
#[must_use]
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Whether a CR is followed by something else than an LF.
#[must_use]
pub fn has_lone_return(bytes: &[u8]) -> bool {
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    // All of them to the end: without a way out they are looked at many at a time.
    let found = pairs.fold(0, |found, (one, next)| {
        found | (u8::from(*one == b'\r') & u8::from(*next != b'\n'))
    });
    found != 0
}

// === One record ===

/// The record that is being read.
#[derive(Debug)]
struct Row {
    fields: usize,
    /// How many of the wanted fields were found, and the column of the next.
    found: usize,
    next: usize,
    /// Line ends of the block before this record.
    lines: u64,
    /// Whether there is a separator or a line end between its quotes.
    spans: bool,
}

impl Row {
    fn new(wanted: &[usize], lines: u64) -> Self {
        Self {
            fields: 0,
            found: 0,
            next: wanted.first().copied().unwrap_or(usize::MAX),
            lines,
            spans: false,
        }
    }

    #[inline]
    fn cut(&mut self, start: usize, end: usize, wanted: &[usize], spans: &mut Vec<(usize, usize)>) {
        if self.fields == self.next {
            spans.push((start, end));
            self.found += 1;
            self.next = wanted.get(self.found).copied().unwrap_or(usize::MAX);
        }
        self.fields += 1;
    }
}

// === The state machine, over marks alone ===

/// Where it stands: in quotes or not, and which quotes mean something.
#[derive(Debug, Default)]
struct Walk {
    quoted: bool,
    /// Where the field begins.
    field: usize,
    /// Behind a closing quote: another quote here makes it a doubled one.
    closed: usize,
    /// Where the open quote stands.
    opened: usize,
}

/// What a mark does. A field's start comes along where it ends.
enum Step {
    /// A quote that opens, closes, or is doubled.
    Quote,
    /// Any other quote.
    Bare,
    /// A separator or a line end between quotes.
    Inside,
    Cut(usize),
    End(usize),
}

impl Walk {
    #[inline(always)]
    const fn step(&mut self, place: usize, byte: u8) -> Step {
        if byte == b'"' {
            if self.quoted {
                self.quoted = false;
                self.closed = place + 1;
            } else if place == self.field {
                self.quoted = true;
                self.opened = place;
            } else if place == self.closed {
                self.quoted = true;
            } else {
                return Step::Bare;
            }
            return Step::Quote;
        }
        if self.quoted {
            return Step::Inside;
        }
        let field = self.field;
        self.field = place + 1;
        if byte == b'\n' {
            Step::End(field)
        } else {
            Step::Cut(field)
        }
    }

    /// Whether a field that ends here was quoted, and its closing quote is not its last byte.
    #[inline(always)]
    const fn has_text_behind(&self, field: usize, end: usize) -> bool {
        self.closed > field && self.closed != end
    }
}

/// Calls `visit` with each separator, quote and line feed, until it says no.
#[inline(always)]
fn each_mark(block: &[u8], marks_of: Marks, mut visit: impl FnMut(usize, u8) -> bool) {
    let (whole, rest) = block.as_chunks::<64>();
    // The last bytes with zeros behind them, which mean nothing: so `visit` is called at one place, and compiled into it.
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (number, bytes) in whole.iter().chain([&last]).enumerate() {
        let mut marks = marks(bytes, marks_of);
        while marks != 0 {
            let place = marks.trailing_zeros() as usize & 63;
            marks &= marks - 1;
            if !visit(number * 64 + place, bytes[place]) {
                return;
            }
        }
    }
}

/// One bit for each of 64 bytes that means something.
#[inline(always)]
fn marks(bytes: &[u8; 64], marks: Marks) -> u64 {
    let mut flags = [0_u8; 64];
    for (flag, byte) in flags.iter_mut().zip(bytes) {
        *flag = marks.flag(*byte);
    }
    // Eight bytes of 0 or 1 times this have their eight bits in the highest byte, the first in the lowest.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = flags.as_chunks::<8>();
    words.iter().rev().fold(0, |marks, word| {
        (marks << 8) | (u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56)
    })
}
