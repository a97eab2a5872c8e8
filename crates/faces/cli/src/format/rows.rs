//! The rows of a file, whatever its form, for those who only look.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use keywright_columnar::{Kind, Table};
use keywright_tabular::csv::{Layout, Options, Reader};

use crate::bulk::refused_columnar;
use crate::exit::{Exit, Failure, sentence};

/// A file that is looked at from its beginning, once.
pub(super) enum Rows {
    Columnar(Table),
    Csv(Reader<BufReader<File>>),
}

/// What a cell is: nothing if the column has no texts.
type Cell<'c> = Option<Cow<'c, [u8]>>;

impl Rows {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if Kind::of(path).is_some() {
            let table = Table::open(path).map_err(refused_columnar)?;
            return Ok(Self::Columnar(table));
        }
        let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
        let reader = Reader::new(BufReader::new(file), &Options::default());
        reader.map(Self::Csv).map_err(|error| unread(path, &error))
    }

    pub(super) fn layout(&self) -> &Layout {
        match self {
            Self::Columnar(table) => table.layout(),
            Self::Csv(reader) => reader.layout(),
        }
    }

    /// The place of a column.
    pub(super) fn column(&self, path: &Path, name: &str) -> Result<usize, Failure> {
        let found = self.layout().column(name);
        found.map_err(|error| unread(path, &error))
    }

    /// Calls `take` with each cell of these columns, row by row, up to so many rows: the number of the row,
    /// from 1, the column by its place among those that were asked for, and the cell. Gives the number of rows.
    pub(super) fn each(
        self,
        path: &Path,
        (columns, most): (&[usize], u64),
        take: &mut dyn FnMut(u64, usize, Cell<'_>),
    ) -> Result<u64, Failure> {
        let mut rows = 0;
        match self {
            Self::Columnar(table) => {
                let looked = table.look(columns, most, &mut |batch| {
                    for row in 0..batch.rows() {
                        rows += 1;
                        for column in 0..columns.len() {
                            take(rows, column, batch.cell(column, row).map(Cow::Borrowed));
                        }
                    }
                });
                looked.map_err(refused_columnar)?;
            }
            Self::Csv(mut reader) => {
                while rows < most {
                    let record = reader.next_record().map_err(|error| unread(path, &error))?;
                    let Some(record) = record else { break };
                    rows += 1;
                    for (column, place) in columns.iter().enumerate() {
                        take(rows, column, Some(record.text(*place).unwrap_or_default()));
                    }
                }
            }
        }
        Ok(rows)
    }
}

fn unread(path: &Path, error: &keywright_tabular::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{}: {}", path.display(), sentence(error)),
        "give a CSV file with a header, in which every row has as many fields",
    )
}
