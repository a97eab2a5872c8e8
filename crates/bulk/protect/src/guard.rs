//! Cells that may hold rows of the table instead of a text.
//!
//! A file that was written without quoting can have quotes all the same. If two of them are where a field begins and
//! where one ends, everything between them reads as one quoted cell: rows with values in them, in a column that does
//! not change. That cannot be told from a text with separators and line ends in it. So a cell that has a separator or
//! a line end between its quotes is refused if
//!
//! * its lines, read without quoting, are rows of the table, whatever the values are; or
//! * a part of it is a value for a column that changes; or
//! * the file is tab-separated, and its quoting was not stated: `text/tab-separated-values` has none.
//!
//! [`Quoting::Accepted`] accepts them all. A lone CR ends a line for many readers, so a cell that has one is held
//! against the formats as well, quoted or not.

use std::fmt;

use keywright_format::{Finder, Format, Rules};
use keywright_tabular::csv::{Index, Layout, Marks, Quoting, Separator, has_lone_return, newlines};

use keywright_tabular::looks_like_data;

use crate::error::Error;
use crate::plan::{Change, Plan};

/// Why a cell is refused that has a separator or a line end between its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ambiguity {
    /// Its lines are rows of the table when they are read without quoting.
    Rows,
    /// The file is tab-separated, and its quoting was not stated.
    Tabs,
    /// It holds a value for a column that changes.
    Value {
        /// That column.
        column: String,
    },
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("without quotes the lines of this cell are rows"),
            Self::Tabs => {
                f.write_str("a quoted cell with a tab or a line end, in a file with tabs")
            }
            Self::Value { column } => write!(
                f,
                "a cell with a separator or a line end in it, and a value for column {column:?}"
            ),
        }
    }
}

/// A cell that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AmbiguousCell {
    /// Its column, from 0.
    pub column: usize,
    /// Line ends of its record before it.
    pub lines: u64,
    /// Why.
    pub why: Ambiguity,
}

impl AmbiguousCell {
    /// The error, if its record is this row and begins at this line.
    #[must_use]
    pub fn at(self, row: u64, line: u64) -> Error {
        Error::Ambiguous {
            row,
            line: line + self.lines,
            column: self.column,
            why: self.why,
        }
    }
}

/// Looks at the cells of records for values and rows. For one thread.
#[derive(Debug)]
pub struct Guard<'f> {
    quoting: Quoting,
    marks: Marks,
    /// The columns that change, in their order.
    changing: Vec<usize>,
    /// Their names, and what finds their values.
    finders: Vec<(&'f str, Finder<'f>)>,
    columns: usize,
    /// All fields of a record.
    fields: Index,
}

impl<'f> Guard<'f> {
    /// For the columns that rules change.
    ///
    /// # Errors
    /// [`Error::Table`] does not happen with a layout of a file.
    pub fn of_rules(layout: &Layout, rules: &'f Rules) -> Result<Self, Error> {
        let place = |name: &str| layout.names().iter().position(|known| known == name);
        let columns = rules.columns();
        let changing = columns.iter().filter_map(|rule| place(rule.name()));
        let formats = columns
            .iter()
            .filter_map(|rule| Some((rule.name(), rule.format()?)));
        Self::new(layout, changing.collect(), formats)
    }

    /// For the columns that a plan changes.
    ///
    /// # Errors
    /// As [`Guard::of_rules`].
    pub fn of_plan(layout: &Layout, plan: &'f Plan) -> Result<Self, Error> {
        let changing = plan.changes().map(|(column, ..)| column).collect();
        let formats = plan.columns().iter().flat_map(|column| {
            let keyed = match &column.change {
                Change::Protect(keyed) | Change::Reveal(keyed) => vec![keyed],
                Change::Migrate(both) => vec![&both.0, &both.1],
                Change::Mask(_) => Vec::new(),
            };
            let name = column.name.as_str();
            keyed
                .into_iter()
                .map(move |keyed| (name, keyed.key.format()))
        });
        Self::new(layout, changing, formats)
    }

    fn new(
        layout: &Layout,
        mut changing: Vec<usize>,
        formats: impl Iterator<Item = (&'f str, &'f Format)>,
    ) -> Result<Self, Error> {
        changing.sort_unstable();
        let every: Vec<usize> = (0..layout.names().len()).collect();
        Ok(Self {
            quoting: layout.quoting().unwrap_or_default(),
            marks: layout.marks(),
            changing,
            finders: formats
                .map(|(name, format)| (name, format.finder()))
                .collect(),
            columns: every.len(),
            fields: Index::new(layout, &every)?,
        })
    }

    /// Refuses a header, byte order mark and line end included, with a name that may be rows.
    ///
    /// # Errors
    /// [`Error::Ambiguous`] with row 0.
    pub fn judge_header(&mut self, header: &[u8]) -> Result<(), Error> {
        let names = header.strip_prefix("\u{feff}".as_bytes());
        match self.judge(names.unwrap_or(header)) {
            None => Ok(()),
            Some(cell) => Err(cell.at(0, 1)),
        }
    }

    /// Refuses a name that has the shape of data and holds a text of a format by which a column changes: names stay, so
    /// the value would stay readable. `names` are those of columns, or of what is within them, with the index of the
    /// column from 0.
    ///
    /// # Errors
    /// [`Error::NameIsValue`].
    pub fn judge_names<'n>(
        &mut self,
        names: impl IntoIterator<Item = (usize, &'n str)>,
    ) -> Result<(), Error> {
        for (column, name) in names {
            let is_named_by_rule = self.finders.iter().any(|(rule, _)| *rule == name);
            if is_named_by_rule || !looks_like_data(name) || self.quoting == Quoting::Accepted {
                continue;
            }
            for (rule, finder) in &mut self.finders {
                if finder.finds(name.as_bytes()) {
                    let rule = (*rule).to_owned();
                    return Err(Error::NameIsValue { column, rule });
                }
            }
        }
        Ok(())
    }

    /// The first cell of a record, line end included, that is refused.
    pub fn judge(&mut self, record: &[u8]) -> Option<AmbiguousCell> {
        if self.quoting == Quoting::Accepted || self.fields.read(record).is_err() {
            return None;
        }
        let are_rows = self.are_rows(record);
        (0..self.columns).find_map(|column| {
            let field = self.fields.field(0, column);
            let raw = record.get(field.clone()).unwrap_or_default();
            let why = self.ambiguity(column, raw, are_rows)?;
            let before = record.get(..field.start).unwrap_or_default();
            Some(AmbiguousCell {
                column,
                lines: newlines(before),
                why,
            })
        })
    }

    /// The first of the records of a block that has a cell which is refused, and its place among them.
    pub(crate) fn judge_block(
        &mut self,
        block: &[u8],
        index: &Index,
    ) -> Option<(usize, AmbiguousCell)> {
        let row = |row: usize| block.get(index.row(row)).unwrap_or_default();
        if block.contains(&b'\r') && has_lone_return(block) {
            let spans = |place: &usize| index.spanning().binary_search(place).is_ok();
            let mut rows =
                (0..index.rows()).filter(|place| spans(place) || has_lone_return(row(*place)));
            return rows.find_map(|place| Some((place, self.judge(row(place))?)));
        }
        let mut rows = index.spanning().iter().copied();
        rows.find_map(|place| Some((place, self.judge(row(place))?)))
    }

    fn ambiguity(&mut self, column: usize, raw: &[u8], are_rows: AreRows) -> Option<Ambiguity> {
        let separator = self.marks.separator();
        let is_quoted = self.marks.is_quoted(raw);
        let has_line_end = is_quoted && raw.contains(&b'\n');
        if has_line_end && are_rows == AreRows::Yes {
            return Some(Ambiguity::Rows);
        }
        if self.changing.binary_search(&column).is_ok() {
            return None;
        }
        let spans = has_line_end || (is_quoted && raw.contains(&separator));
        if spans && self.quoting == Quoting::Assumed && separator == Separator::Tab.byte() {
            return Some(Ambiguity::Tabs);
        }
        let text = match is_quoted {
            true => raw.get(1..raw.len() - 1).unwrap_or_default(),
            false => raw,
        };
        if !spans && !text.contains(&b'\r') {
            return None;
        }
        let ends = |byte: &u8| *byte == separator || matches!(byte, b'\n' | b'\r');
        let mut finders = self.finders.iter_mut();
        finders.find_map(|(name, finder)| {
            // Shorter pieces begin and end where no word is cut, so they are among the parts that are looked for.
            let pieces = text.split(ends);
            let mut long = pieces.filter(|piece| piece.len() > Finder::LONGEST);
            let found = finder.finds(text) || long.any(|piece| finder.fits(piece));
            found.then(|| Ambiguity::Value {
                column: (*name).to_owned(),
            })
        })
    }

    /// Whether a record is several when it is read without quoting: each of its lines has as many fields as the
    /// header, or is empty.
    fn are_rows(&self, record: &[u8]) -> AreRows {
        let separator = self.marks.separator();
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        if !record.contains(&b'\n') {
            return AreRows::No;
        }
        let mut lines = record.split(|byte| *byte == b'\n');
        let is_row = |line: &[u8]| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let cuts = line.iter().filter(|byte| **byte == separator).count();
            line.is_empty() || cuts + 1 == self.columns
        };
        match lines.all(is_row) {
            true => AreRows::Yes,
            false => AreRows::No,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AreRows {
    Yes,
    No,
}
