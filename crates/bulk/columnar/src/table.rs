//! Files that are open, whatever their form.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use keywright_protect::{Direction, Guard, Input, Plan};
use keywright_tabular::csv::Layout;

use crate::arrow::ArrowTable;
use crate::error::{Error, Trouble};
use crate::metadata::Metadata;
use crate::parquet::ParquetTable;
use crate::run::guarded;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An Arrow IPC file, whose end says where its batches are.
    ArrowFile,
    /// A stream of Arrow IPC messages.
    ArrowStream,
    /// A Parquet file.
    Parquet,
}

impl Kind {
    /// What a file is by its first bytes; nothing for any other file, also for one that cannot be read.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let mut first = Vec::new();
        File::open(path)
            .ok()?
            .take(8)
            .read_to_end(&mut first)
            .ok()?;
        Self::of_start(&first)
    }

    fn of_start(first: &[u8]) -> Option<Self> {
        match first {
            [b'P', b'A', b'R', b'1' | b'E', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::ArrowFile),
            // The marker of a message, and the length of a schema, which is below 16 MiB.
            [0xFF, 0xFF, 0xFF, 0xFF, _, _, _, 0] => Some(Self::ArrowStream),
            _ => None,
        }
    }
}

/// A columnar file that is open.
#[derive(Debug)]
pub struct Table {
    input: Input,
    layout: Layout,
    kind: Kind,
    pub(crate) form: Form,
}

#[derive(Debug)]
pub(crate) enum Form {
    Arrow(Box<ArrowTable>),
    Parquet(Box<ParquetTable>),
}

impl Table {
    /// Opens a file and reads what it says of itself.
    ///
    /// # Errors
    /// [`Error::Kind`], [`Error::Damaged`]; [`Error::Protect`] if it cannot be read, or if two columns have one
    /// name.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let mut first = vec![0; 8];
        let read = std::os::unix::fs::FileExt::read_at(input.file(), &mut first, 0);
        first.truncate(read.map_err(|error| Error::read(path, error))?);
        let kind = Kind::of_start(&first).ok_or_else(|| Error::Kind {
            path: path.to_owned(),
        })?;
        let opened = guarded(|| {
            Ok(match kind {
                Kind::Parquet => {
                    let (table, layout) = ParquetTable::open(&input)?;
                    (Form::Parquet(Box::new(table)), layout)
                }
                Kind::ArrowFile | Kind::ArrowStream => {
                    let (table, layout) = ArrowTable::open(&input, kind)?;
                    (Form::Arrow(Box::new(table)), layout)
                }
            })
        });
        let (form, layout) = opened.map_err(|trouble| trouble.of(path, None))?;
        Ok(Self {
            input,
            layout,
            kind,
            form,
        })
    }

    /// What the file is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The columns, for a [`Plan`]: in Parquet a column within others has their names before its own, with
    /// points between; in Arrow those at the top.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.input.path()
    }

    /// Bytes of the whole file, when it was opened.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.input.size()
    }

    /// Calls `take` with the cells of some columns, by their places, batch by batch, up to so many rows.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Protect`] if it cannot be read.
    pub fn look(
        &self,
        columns: &[usize],
        most: u64,
        take: &mut dyn FnMut(&Batch),
    ) -> Result<(), Error> {
        let looked = guarded(|| match &self.form {
            Form::Arrow(table) => table.look(columns, most, take),
            Form::Parquet(table) => table.look(columns, most, take),
        });
        looked.map_err(|trouble| trouble.of(self.path(), None))
    }

    pub(crate) const fn input(&self) -> &Input {
        &self.input
    }

    /// Refuses plans that the columns cannot bear.
    pub(crate) fn suits(&self, plan: &Plan) -> Result<(), Error> {
        if plan.direction() == Direction::Protect {
            let names = match &self.form {
                Form::Arrow(table) => table.names(),
                Form::Parquet(table) => table.names(),
            };
            let names = names.iter().map(|(column, name)| (*column, name.as_str()));
            Guard::of_plan(&self.layout, plan)?.judge_names(names)?;
        }
        match &self.form {
            Form::Arrow(table) => table.suits(plan),
            Form::Parquet(table) => table.suits(plan),
        }
    }
}

impl Table {
    /// What the outputs of a plan keep of the metadata.
    pub(crate) fn metadata_of(&self, plan: &Plan) -> Result<Metadata, Error> {
        let made = guarded(|| match &self.form {
            Form::Arrow(table) => table.metadata_of(plan),
            Form::Parquet(table) => table.metadata_of(plan),
        });
        made.map_err(|trouble| trouble.of(self.path(), None))
    }
}

impl Trouble {
    /// As an error of the file; the output is named where it is to blame.
    pub(crate) fn of(self, input: &Path, output: Option<&Path>) -> Error {
        match self {
            Self::Error(error) => *error,
            Self::Damaged(what) => Error::Damaged {
                path: input.to_owned(),
                what,
            },
            Self::Encrypted(what) => Error::Encrypted {
                path: input.to_owned(),
                what,
            },
            Self::Behind(at, what) => Error::Behind {
                path: input.to_owned(),
                at,
                what,
            },
            Self::Unwritable(what) => Error::Unwritable {
                path: output.unwrap_or(input).to_owned(),
                what,
            },
        }
    }
}

/// Rows of some columns, as texts.
#[derive(Debug)]
pub struct Batch {
    rows: usize,
    columns: Vec<Option<Texts>>,
}

/// Texts, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn get(&self, row: usize) -> &[u8] {
        let start = match row.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(row).copied().unwrap_or_default();
        self.bytes.get(start..end).unwrap_or_default()
    }
}

impl Batch {
    pub(crate) const fn new(rows: usize) -> Self {
        Self {
            rows,
            columns: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, column: Option<Texts>) {
        self.columns.push(column);
    }

    /// How many rows it has.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// A cell of one of the columns that were asked for, empty where there is no value; nothing where a column
    /// holds no texts.
    #[must_use]
    pub fn cell(&self, column: usize, row: usize) -> Option<&[u8]> {
        self.columns
            .get(column)?
            .as_ref()
            .map(|texts| texts.get(row))
    }
}
