//! The file of a run, whatever its form.

use std::ops::ControlFlow;
use std::path::Path;

use keywright_protect::{Error, Files, Options, Plan, Progress, Source, Summary};
use keywright_tabular::csv::{Layout, Options as Dialect};

use super::refused::{refused, refused_columnar, refused_in_schema};
use crate::exit::{Exit, Failure};

/// Refuses what is no regular file before anything opens it: a pipe would wait for its writer.
pub(crate) fn check_regular(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" && !path.exists() {
        return Err(Failure::new(
            Exit::Usage,
            "standard input cannot be read as a table",
            "write it to a file, and name that: a run reads its input more than once",
        ));
    }
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(refused(Error::NoFile {
            path: path.to_owned(),
        })),
        // That it is not there says who opens it.
        _ => Ok(()),
    }
}

/// A file that is open.
#[derive(Debug)]
pub(crate) enum Opened {
    Csv(Source),
    Columnar(keywright_columnar::Table),
}

impl Opened {
    /// Parquet and Arrow by their first bytes; everything else is CSV.
    pub(crate) fn open(path: &Path, dialect: &Dialect) -> Result<Self, Failure> {
        check_regular(path)?;
        if keywright_columnar::Kind::of(path).is_some() {
            let table = keywright_columnar::Table::open(path).map_err(refused_columnar)?;
            return Ok(Self::Columnar(table));
        }
        Self::open_csv(path, dialect)
    }

    /// CSV, whatever the first bytes are.
    pub(crate) fn open_csv(path: &Path, dialect: &Dialect) -> Result<Self, Failure> {
        let source = Source::open(path, dialect);
        source.map(Self::Csv).map_err(|error| {
            let kind = match &error {
                Error::Table(keywright_tabular::Error::Foreign(kind)) => Some(kind.to_string()),
                _ => None,
            };
            let failure = refused(error);
            match kind {
                Some(kind) => Failure {
                    happened: format!("{} is {kind}, and no CSV file", path.display()),
                    ..failure
                },
                None => failure,
            }
        })
    }

    pub(super) const fn layout(&self) -> &Layout {
        match self {
            Self::Csv(source) => source.layout(),
            Self::Columnar(table) => table.layout(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Csv(source) => source.path(),
            Self::Columnar(table) => table.path(),
        }
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Csv(source) => source.size(),
            Self::Columnar(table) => table.size(),
        }
    }

    /// An error about its columns as the end of the command.
    pub(super) fn refused(&self, error: Error) -> Failure {
        match self {
            Self::Csv(_) => refused(error),
            Self::Columnar(_) => refused_in_schema(error),
        }
    }

    /// Carries out a plan; whether the same command can go on after an error, that says.
    pub(super) fn run(
        &self,
        plan: &Plan,
        files: &Files,
        options: &Options,
        listen: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Summary, keywright_columnar::Error> {
        match self {
            Self::Csv(source) => Ok(keywright_protect::run(
                source, plan, files, options, listen,
            )?),
            Self::Columnar(table) => {
                if options.is_anew() {
                    keywright_protect::forget(files)?;
                }
                keywright_columnar::run(table, plan, files, options.threads(), listen)
            }
        }
    }
}
