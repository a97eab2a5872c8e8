//! The streaming reader: a header, then one record at a time in bounded memory.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};

use super::index::has_lone_return;
use super::marks::{Marks, Quoting};
use super::scan::{Scanner, span};
use crate::Error;
use crate::foreign::ForeignFile;
use crate::header::HeaderNames;

// === Options ===

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// `,`
    Comma,
    /// `|`
    Pipe,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
}

impl Separator {
    /// In the order in which a tie is decided.
    const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    /// The byte in the file.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Pipe => b'|',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// How to read a file. By default: the separator that cuts the header into most columns (a comma where
/// there is no telling), [`Quoting::Assumed`], and records of up to 1 MiB.
#[derive(Clone, Debug)]
pub struct Options {
    separator: Option<Separator>,
    quoting: Quoting,
    max_record: usize,
}

impl Options {
    /// The limit on a record unless another is set.
    pub const DEFAULT_MAX_RECORD: usize = 1 << 20;

    /// Takes this separator whatever the header looks like.
    #[must_use]
    pub fn with_separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Takes quotes as this says.
    #[must_use]
    pub fn with_quoting(mut self, quoting: Quoting) -> Self {
        self.quoting = quoting;
        self
    }

    /// Refuses records, the header included, of more bytes than this.
    #[must_use]
    pub fn with_max_record(mut self, bytes: usize) -> Self {
        self.max_record = bytes;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            separator: None,
            quoting: Quoting::Assumed,
            max_record: Self::DEFAULT_MAX_RECORD,
        }
    }
}

// === Layout ===

/// The shape of a file: names of its columns, what separates them, and how fields are quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    names: Vec<String>,
    separator: Separator,
    /// Not for a table that is no CSV file.
    quoting: Option<Quoting>,
}

impl Layout {
    fn parse(
        header: &[u8],
        cuts: &[usize],
        (separator, quoting): (Separator, Quoting),
    ) -> Result<Self, Error> {
        let marks = Marks::new(separator.byte(), quoting);
        let mut names: Vec<String> = Vec::with_capacity(cuts.len());
        for index in 0..cuts.len() {
            let raw = span(cuts, index)
                .and_then(|range| header.get(range))
                .unwrap_or_default();
            let text = unquoted(raw, marks).into_owned();
            let name = String::from_utf8(text).map_err(|_not_utf8| Error::HeaderNotText)?;
            names.push(judged(name)?);
        }
        Self {
            names,
            separator,
            quoting: Some(quoting),
        }
        .checked()
    }

    /// The layout of a table that is no CSV file, by the names of its columns.
    ///
    /// # Errors
    /// [`Error::DuplicateColumn`].
    pub fn of_names(names: Vec<String>) -> Result<Self, Error> {
        Self {
            names,
            separator: Separator::Comma,
            quoting: None,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let named = self.names.iter().enumerate();
        let mut sorted: Vec<(&String, usize)> = named
            .filter(|(_, name)| !name.is_empty())
            .map(|(column, name)| (name, column))
            .collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(twice) => Err(Error::DuplicateColumn {
                first: twice[0].1,
                second: twice[1].1,
            }),
            None => Ok(self),
        }
    }

    /// The names of the columns in their order. Trailing separators in a header make nameless columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What stands between two fields.
    #[must_use]
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// How fields are quoted; nothing for a table that is no CSV file.
    #[must_use]
    pub fn quoting(&self) -> Option<Quoting> {
        self.quoting
    }

    /// The bytes that mean something.
    #[must_use]
    pub fn marks(&self) -> Marks {
        Marks::new(self.separator.byte(), self.quoting.unwrap_or_default())
    }

    /// What a message may say of the names, if columns `asked` were looked for; `is_value` tells names that are values
    /// for the caller.
    #[must_use]
    pub fn header_names(&self, asked: &[&str], is_value: impl FnMut(&str) -> bool) -> HeaderNames {
        HeaderNames::new(&self.names, asked, is_value)
    }

    /// The index of a column. Names are compared as they are, without folding or trimming.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`], with the number of columns and their positions, and no name but those asked for.
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        let found = self
            .names
            .iter()
            .position(|known| known == name && !name.is_empty());
        found.ok_or_else(|| Error::UnknownColumn {
            column: name.to_owned(),
            header: self.header_names(&[name], |_| false),
        })
    }

    /// The indices of several columns, in the order asked for.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`], and [`Error::ColumnTwice`] if a name is repeated.
    pub fn columns<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<usize>, Error> {
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            let column = self.column(name.as_ref())?;
            if indices.contains(&column) {
                return Err(Error::ColumnTwice { column });
            }
            indices.push(column);
        }
        Ok(indices)
    }
}

// === Record ===

/// One record of a file, as it stands there.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    line: u64,
    row: u64,
    marks: Marks,
    raw: &'a [u8],
    cuts: &'a [usize],
}

impl<'a> Record<'a> {
    /// The line on which the record begins; the header is at line 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The number of the record; the first behind the header is 1. Empty lines count.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// The bytes in the file, line end included.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The bytes of one field as they stand in the file, quotes included.
    #[must_use]
    pub fn field(&self, index: usize) -> Option<&'a [u8]> {
        self.raw.get(span(self.cuts, index)?)
    }

    /// The bytes of all fields, none for an empty line in a file of several columns.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields {
            record: *self,
            next: 0,
        }
    }

    /// What a field means: without its quotes, doubled quotes made single.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<Cow<'a, [u8]>> {
        self.field(index).map(|raw| unquoted(raw, self.marks))
    }

    /// CRLF, LF, or nothing if the file ends with this record.
    #[must_use]
    pub fn line_end(&self) -> &'a [u8] {
        // Without fields the line is empty, and its end is all there is.
        let content = self.cuts.last().copied().unwrap_or(0);
        self.raw.get(content..).unwrap_or_default()
    }

    /// A copy that outlives the next read, for work on many records at once.
    #[must_use]
    pub fn detach(&self) -> OwnedRecord {
        OwnedRecord {
            line: self.line,
            row: self.row,
            marks: self.marks,
            raw: self.raw.to_vec(),
            cuts: self.cuts.to_vec(),
        }
    }

    pub(super) fn marks(&self) -> Marks {
        self.marks
    }
}

/// The raw fields of a record, from [`Record::fields`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    record: Record<'a>,
    next: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let field = self.record.field(self.next)?;
        self.next += 1;
        Some(field)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.record.cuts.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Fields<'_> {}

/// A record with memory of its own, from [`Record::detach`].
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedRecord {
    line: u64,
    row: u64,
    marks: Marks,
    raw: Vec<u8>,
    cuts: Vec<usize>,
}

impl OwnedRecord {
    /// The record, to look at or rewrite.
    #[must_use]
    pub fn as_record(&self) -> Record<'_> {
        Record {
            line: self.line,
            row: self.row,
            marks: self.marks,
            raw: &self.raw,
            cuts: &self.cuts,
        }
    }
}

// === Reader ===

/// Reads a file record by record, holding one at a time.
pub struct Reader<R> {
    input: R,
    layout: Layout,
    header: Vec<u8>,
    scanner: Scanner,
    raw: Vec<u8>,
    max_record: usize,
    /// The line on which the next record begins.
    line: u64,
    row: u64,
    /// Whether what was read last has no line end.
    is_cut: bool,
    stopped: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Each of the data and environment branches of [`Error`], but [`Error::RaggedRow`].
    pub fn new(mut input: R, options: &Options) -> Result<Self, Error> {
        let mut source = Source {
            input: &mut input,
            limit: options.max_record,
            line: 1,
        };
        let mut raw = Vec::new();
        let read = source.header(options, &mut raw);
        let read = read.map_err(|error| match error {
            Error::Io(_) => error,
            // The whole file is one line then, in which anything may look wrong.
            _ if has_lone_return(&raw) => Error::CarriageReturns,
            _ => error,
        });
        let read = read.and_then(|header| {
            let names = raw.get(header.mark..).unwrap_or_default();
            let marks = (header.separator, options.quoting);
            let layout = Layout::parse(names, header.scanner.cuts(), marks)?;
            Ok((layout, header.scanner))
        });
        if read.is_err() {
            source.fill_start(&mut raw);
        }
        let (layout, scanner) = match (read, foreign(&raw, options)) {
            (Err(Error::Io(error)), _) => return Err(Error::Io(error)),
            (_, Some(file)) => return Err(Error::Foreign(file)),
            (read, None) => read?,
        };
        Ok(Self {
            input,
            layout,
            is_cut: !raw.ends_with(b"\n"),
            header: raw,
            line: 1 + scanner.newlines(),
            scanner,
            raw: Vec::new(),
            max_record: options.max_record,
            row: 0,
            stopped: false,
        })
    }

    /// The names of the columns, and what separates them.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The header as it stands in the file, byte order mark and line end included.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next record, or nothing at the end of the file.
    ///
    /// # Errors
    /// [`Error::RaggedRow`], [`Error::BareQuote`], [`Error::TextBehindQuote`], [`Error::UnbalancedQuote`],
    /// [`Error::RecordTooLong`] and [`Error::Io`]; after any of them only [`Error::Stopped`], so that a loop which ignores errors cannot skip records.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        if self.stopped {
            return Err(Error::Stopped);
        }
        self.stopped = true;
        self.scanner.restart();
        self.raw.clear();
        let mut source = Source {
            input: &mut self.input,
            limit: self.max_record,
            line: self.line,
        };
        if !source.record(&mut self.scanner, &mut self.raw, 0)? {
            self.stopped = false;
            return Ok(None);
        }
        let shown = self.fields_to_show()?;
        let line = self.line;
        self.line += self.scanner.newlines();
        self.row += 1;
        self.is_cut = !self.raw.ends_with(b"\n");
        self.stopped = false;
        let marks = self.layout.marks();
        let cuts = self.scanner.cuts().get(..shown).unwrap_or_default();
        Ok(Some(Record {
            line,
            row: self.row,
            marks,
            raw: &self.raw,
            cuts,
        }))
    }

    /// How many lines the file has before the next record, those of the header included. A last line may have
    /// no line end.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.line - 1 + u64::from(self.is_cut)
    }

    /// Up to `count` records to look at, for [`crate::detect::candidates`].
    ///
    /// # Errors
    /// As [`Reader::next_record`].
    pub fn sample(&mut self, count: usize) -> Result<Vec<OwnedRecord>, Error> {
        let mut records = Vec::new();
        while records.len() < count {
            match self.next_record()? {
                Some(record) => records.push(record.detach()),
                None => break,
            }
        }
        Ok(records)
    }

    /// How many fields the record just read has: as many as the header, or none on an empty line.
    fn fields_to_show(&self) -> Result<usize, Error> {
        let (expected, found) = (self.layout.names.len(), self.scanner.cuts().len());
        if found == expected {
            Ok(expected)
        } else if self.scanner.cuts() == [0] {
            Ok(0)
        } else {
            Err(Error::RaggedRow {
                line: self.line,
                expected,
                found,
            })
        }
    }
}

/// What is known once the header is read.
struct Header {
    /// Where its names begin: behind a byte order mark.
    mark: usize,
    separator: Separator,
    scanner: Scanner,
}

/// Where the bytes come from while one record is read.
struct Source<'a, R> {
    input: &'a mut R,
    limit: usize,
    /// The line on which the record begins.
    line: u64,
}

impl<R: BufRead> Source<'_, R> {
    /// Reads the header into `raw`.
    fn header(&mut self, options: &Options, raw: &mut Vec<u8>) -> Result<Header, Error> {
        let new = |one: Separator| (one, Scanner::new(Marks::new(one.byte(), options.quoting)));
        let mut scanners: Vec<(Separator, Scanner)> = match options.separator {
            Some(one) => vec![new(one)],
            None => Separator::ALL.map(new).into(),
        };
        let mut fed = 0;
        let mut mark = 0;
        // Which quotes open a field depends on the separator, so one of them may see the header end on a
        // line where another is still between quotes. The first line on which any of them ends decides.
        loop {
            self.line_of_text(raw)?;
            if fed == 0 && raw.starts_with(BYTE_ORDER_MARK) {
                mark = BYTE_ORDER_MARK.len();
                fed = mark;
            }
            let new = raw.get(fed..).unwrap_or_default();
            fed = raw.len();
            let open = scanners.iter_mut();
            let open = open.filter(|(_, scanner)| scanner.broken().is_none());
            let (mut begun, mut ended) = (0, 0);
            for (_, scanner) in open {
                begun += 1;
                ended += usize::from(scanner.feed(new).is_some() && scanner.broken().is_none());
            }
            if ended > 0 || begun == 0 || !new.ends_with(b"\n") {
                break;
            }
        }
        // The first of equals wins: `max_by_key` would take the last. With a wrong separator there may be
        // quotes in wrong places, with the right one there are none.
        scanners.reverse();
        let best = scanners
            .into_iter()
            .max_by_key(|(_, scanner)| (scanner.broken().is_none(), scanner.begun()));
        let Some((separator, mut scanner)) = best else {
            return Err(Error::NoHeader);
        };
        self.record(&mut scanner, raw, mark)?;
        if scanner.cuts() == [0] {
            return Err(Error::NoHeader);
        }
        Ok(Header {
            mark,
            separator,
            scanner,
        })
    }

    /// Reads on to the end of the record; false if the file ended before it began. `mark` bytes of `raw`
    /// stand before the record.
    fn record(
        &mut self,
        scanner: &mut Scanner,
        raw: &mut Vec<u8>,
        mark: usize,
    ) -> Result<bool, Error> {
        while !scanner.ended() {
            if let Some(broken) = scanner.broken() {
                return Err(broken.at(self.line));
            }
            let fed = self.take(raw, |chunk| scanner.feed(chunk))?;
            if fed == 0 {
                scanner.finish();
                if raw.len() == mark {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Reads on to the next LF, whether in quotes or not.
    fn line_of_text(&mut self, raw: &mut Vec<u8>) -> Result<(), Error> {
        let mut ended = false;
        while !ended {
            let fed = self.take(raw, |chunk| {
                let end = chunk
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .map(|at| at + 1);
                ended = end.is_some();
                end
            })?;
            ended |= fed == 0;
        }
        Ok(())
    }

    /// Reads on behind a header that is refused, so that what the file is depends on as many bytes whatever the size of a
    /// read. Where the input ends or fails, the header's own error is what matters.
    fn fill_start(&mut self, raw: &mut Vec<u8>) {
        while raw.len() < ForeignFile::LOOKED_AT {
            let taken = match self.input.fill_buf() {
                Ok([]) => return,
                Ok(chunk) => {
                    raw.extend_from_slice(chunk);
                    chunk.len()
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(_) => return,
            };
            self.input.consume(taken);
        }
    }

    /// Moves bytes from the input to `raw`: as many as `end` finds to belong there, else all at hand.
    /// Looks at no more than the limit allows, whatever lies in the buffer. Zero is the end of the file.
    fn take(
        &mut self,
        raw: &mut Vec<u8>,
        mut end: impl FnMut(&[u8]) -> Option<usize>,
    ) -> Result<usize, Error> {
        let room = (self.limit - raw.len()).saturating_add(1);
        let taken = loop {
            match self.input.fill_buf() {
                Ok(chunk) => {
                    let chunk = chunk.get(..room).unwrap_or(chunk);
                    let taken = end(chunk).unwrap_or(chunk.len());
                    raw.extend_from_slice(chunk.get(..taken).unwrap_or(chunk));
                    break taken;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        self.input.consume(taken);
        if raw.len() > self.limit {
            return Err(Error::RecordTooLong {
                line: self.line,
                limit: self.limit,
            });
        }
        Ok(taken)
    }
}

/// What a file is instead of CSV, by its first bytes. A stated separator makes CSV of a text that looks like JSON.
fn foreign(first: &[u8], options: &Options) -> Option<ForeignFile> {
    let first = first.get(..ForeignFile::LOOKED_AT).unwrap_or(first);
    let json = || ForeignFile::json(first).filter(|_| options.separator.is_none());
    ForeignFile::of_start(first).or_else(json)
}

/// What a field means: without its quotes, doubled quotes made single.
fn unquoted(raw: &[u8], marks: Marks) -> Cow<'_, [u8]> {
    if !marks.is_quoted(raw) {
        return Cow::Borrowed(raw);
    }
    let inner = raw.get(1..raw.len() - 1).unwrap_or_default();
    let mut text = Vec::with_capacity(inner.len());
    let mut is_doubled = false;
    for &byte in inner {
        is_doubled = byte == b'"' && !is_doubled;
        if !is_doubled {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}

/// A name, if no character of it could be meant as a line end: the whole file would be the header then. Line ends
/// that the scanner knows are between quotes here.
fn judged(name: String) -> Result<String, Error> {
    if name.contains('\0') {
        return Err(Error::HeaderNotText);
    }
    if name.ends_with('\r') || has_lone_return(name.as_bytes()) {
        return Err(Error::CarriageReturns);
    }
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    let found = name
        .chars()
        .find(|c| is_odd(*c) || matches!(c, '\u{2028}' | '\u{2029}'));
    match found {
        Some(character) => Err(Error::HeaderControl {
            character: u32::from(character),
        }),
        None => Ok(name),
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

// === Debug: shapes, never content ===

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("line", &self.line)
            .field("fields", &self.cuts.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OwnedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_record().fmt(f)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("layout", &self.layout)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}
