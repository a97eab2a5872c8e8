//! The rows of a file, whatever its form, for those who only look.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use keywright_columnar::{Kind, Table};
use keywright_format::Rules;
use keywright_protect::{Guard, Lookup};
use keywright_tabular::csv::{Layout, Reader, Record};

use crate::bulk::{
    DialectArgs, check_regular, refused, refused_columnar, refused_in_schema, table_advice,
};
use crate::exit::{Exit, Failure, sentence};
use crate::output::counted;

/// A file that is looked at from its beginning, once.
pub(super) enum Rows {
    Columnar(Table),
    Csv(Reader<BufReader<File>>),
}

/// What a cell is: nothing if the column has no texts.
type Cell<'c> = Option<Cow<'c, [u8]>>;

impl Rows {
    pub(super) fn open(path: &Path, dialect: &DialectArgs) -> Result<Self, Failure> {
        check_regular(path)?;
        if !dialect.is_csv() && Kind::of(path).is_some() {
            let table = Table::open(path).map_err(refused_columnar)?;
            return Ok(Self::Columnar(table));
        }
        let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
        let reader = Reader::new(BufReader::new(file), &dialect.options(None)?);
        reader.map(Self::Csv).map_err(|error| unread(path, &error))
    }

    pub(super) fn layout(&self) -> &Layout {
        match self {
            Self::Columnar(table) => table.layout(),
            Self::Csv(reader) => reader.layout(),
        }
    }

    /// The places of the columns that rules give a format, in the order of the rules.
    pub(super) fn columns(&self, path: &Path, rules: &Rules) -> Result<Vec<usize>, Failure> {
        let lookup = Lookup::of_rules(self.layout(), rules);
        let formatted = rules.columns().iter();
        let formatted = formatted.filter(|rule| rule.format().is_some());
        formatted
            .map(|rule| lookup.column(rule.name()))
            .collect::<Result<_, _>>()
            .map_err(|error| match self {
                Self::Columnar(_) => refused_in_schema(error.into()),
                Self::Csv(_) => unread(path, &error),
            })
    }

    /// Calls `take` with each cell that is asked for, row by row: the number of the row, from 1, the column by
    /// its place among those that are asked for, and the cell.
    pub(super) fn each(
        self,
        path: &Path,
        asked: &CellSelection<'_>,
        take: &mut dyn FnMut(u64, usize, Cell<'_>),
    ) -> Result<Size, Failure> {
        let &CellSelection {
            columns,
            most,
            rules,
        } = asked;
        let mut rows = 0;
        let mut lines = None;
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
                let header = reader.lines();
                let layout = reader.layout().clone();
                let guard = rules.map(|rules| Guard::of_rules(&layout, rules));
                let mut guard = guard.transpose().map_err(refused)?;
                if let Some(guard) = &mut guard {
                    guard.judge_header(reader.header()).map_err(refused)?;
                }
                while rows < most {
                    let record = reader.next_record().map_err(|error| unread(path, &error))?;
                    let Some(record) = record else { break };
                    rows += 1;
                    if let Some(guard) = &mut guard {
                        judge(guard, &record)?;
                    }
                    for (column, place) in columns.iter().enumerate() {
                        take(rows, column, Some(record.text(*place).unwrap_or_default()));
                    }
                }
                lines = Some(reader.lines() - header);
            }
        }
        Ok(Size { rows, lines })
    }
}

/// Which cells are looked at.
pub(super) struct CellSelection<'a> {
    pub(super) columns: &'a [usize],
    /// So many rows at most.
    pub(super) most: u64,
    /// What quoted cells are held against.
    pub(super) rules: Option<&'a Rules>,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) rows: u64,
    /// Lines that the rows take; nothing where tables have no lines.
    pub(super) lines: Option<u64>,
}

impl Size {
    /// How much that is, in words.
    pub(super) fn text(self) -> String {
        let rows = counted(self.rows, "row");
        match self.lines {
            Some(lines) => format!("{rows} on {}", counted(lines, "line")),
            None => rows,
        }
    }
}

/// Refuses a record with a cell that may be rows.
fn judge(guard: &mut Guard<'_>, record: &Record<'_>) -> Result<(), Failure> {
    let may_be_odd = record.raw().iter().any(|byte| matches!(byte, b'"' | b'\r'));
    match may_be_odd.then(|| guard.judge(record.raw())).flatten() {
        None => Ok(()),
        Some(cell) => Err(refused(cell.at(record.row(), record.line()))),
    }
}

fn unread(path: &Path, error: &keywright_tabular::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{}: {}", path.display(), sentence(error)),
        table_advice(error),
    )
}
