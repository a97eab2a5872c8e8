//! What can go wrong with a run over a file. Names of columns, rows and lines are told, cells never.

use std::io;
use std::path::{Path, PathBuf};

use keywright_format::Misfit;
use keywright_tabular::csv::Quoting;

use crate::guard::Ambiguity;

/// Why a run was refused, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // === the caller ===
    /// The file itself, or the columns that were asked for.
    #[error(transparent)]
    Table(#[from] keywright_tabular::Error),
    /// A rule cannot be carried out as it stands.
    #[error("column {column:?}")]
    Rule {
        /// The column.
        column: String,
        /// Why.
        #[source]
        source: keywright_format::Error,
    },
    /// The tweak policy `caller` has no bytes in a file.
    #[error("column {column:?}: the policy caller is for single values; choose another")]
    CallerTweak {
        /// The column.
        column: String,
    },
    /// A tweak is made of a column that the same run changes, so it could not be made again.
    #[error("column {column:?}: its tweak uses {other:?}, which the rules change themselves")]
    TweakColumn {
        /// The column with the tweak.
        column: String,
        /// The column that is changed.
        other: String,
    },
    /// There is no key for a column.
    #[error("column {column:?}: no key {}", named(.key.as_deref()))]
    NoKey {
        /// The column.
        column: String,
        /// The name of the key that the rule gives.
        key: Option<String>,
    },
    /// No rule does anything here.
    #[error("no rule changes a column in this direction")]
    NothingToDo,
    /// The output is the input, or another file of the run.
    #[error("{}", overwritten(.output, .other))]
    SameFile {
        /// The file to write.
        output: PathBuf,
        /// The file that it is.
        other: PathBuf,
    },
    /// A file of this name is there, and nobody said that it may go.
    #[error("{} exists", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Something else than a file.
    #[error("{} is a folder, a pipe or a device, and no regular file", .path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// A file that is to be written is a symbolic link.
    #[error("{} is a symbolic link, and would be replaced", .path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Another process writes the same output.
    #[error("another run is writing {}", .path.display())]
    Busy {
        /// The output.
        path: PathBuf,
    },

    // === keys and what stands beside the data ===
    /// The key is another one than the file was protected with.
    #[error("column {column:?}: this is not the key it was protected with")]
    WrongKey {
        /// The column.
        column: String,
    },
    /// What stands beside the data was changed, or is damaged.
    #[error("the description beside the file is damaged or was changed")]
    ProtectionChanged,
    /// The rules are not those the file was protected with.
    #[error("column {column:?}: the rule is not the one it was protected with")]
    RulesChanged {
        /// The column.
        column: String,
    },

    /// The file is read with quotes and was protected without them, or the other way about.
    #[error("the file was protected {}", without(.quoting))]
    QuotingChanged {
        /// How it was protected.
        quoting: Quoting,
    },

    // === the data ===
    /// A value does not fit its format, and the rule says to stop.
    #[error("{}, column {column:?}: {misfit}", located(*.row, *.line))]
    Misfit {
        /// The row; the first behind the header is 1.
        row: u64,
        /// The line on which it begins; the header is at line 1. 0 where tables have no lines.
        line: u64,
        /// The column.
        column: String,
        /// Why it does not fit.
        misfit: Misfit,
    },
    /// A cell that may be rows of the table, or hold values of them.
    #[error("{}, column number {}: {why}", located(*.row, *.line), .column + 1)]
    Ambiguous {
        /// The row; 0 for the header.
        row: u64,
        /// The line on which the cell begins.
        line: u64,
        /// The index of its column, from 0.
        column: usize,
        /// Why.
        why: Ambiguity,
    },
    /// The name of a column, or of a field within it, that may be a value of a column that changes.
    #[error(
        "the name of column number {}, or of a field in it, may be a value of column {rule:?}",
        .column + 1
    )]
    NameIsValue {
        /// The index of the column, from 0.
        column: usize,
        /// The column whose format the name fits.
        rule: String,
    },
    /// What was made of a value needs quotes, and the file has none.
    #[error(
        "row {row} (line {line}), column {column:?}: the new text needs quotes, and the file has none"
    )]
    Unquotable {
        /// The row.
        row: u64,
        /// The line.
        line: u64,
        /// The column.
        column: String,
    },
    /// What was made of a value does not lead back to it.
    #[error("row {row}, column {column:?}: what was made of the value does not lead back to it")]
    NotReversible {
        /// The row.
        row: u64,
        /// The column.
        column: String,
    },
    /// Under the old key most values come out as something that their new format does not know.
    #[error(
        "column {column:?}: {misfits} of the first {cells} values do not fit the new format: old key, mode, tweak or format may be wrong"
    )]
    OldKey {
        /// The column.
        column: String,
        /// Values that do not fit.
        misfits: u64,
        /// Values that were looked at.
        cells: u64,
    },

    // === going on ===
    /// The run that was interrupted was another one.
    #[error(
        "{} belongs to a run with other rules, another key, direction or input", .journal.display()
    )]
    OtherRun {
        /// The journal.
        journal: PathBuf,
    },
    /// The part of the input that was already worked on has changed.
    #[error("{} has changed since the run was interrupted", .input.display())]
    InputChanged {
        /// The input.
        input: PathBuf,
    },

    /// Whoever listens to the progress has ended the run.
    #[error("interrupted")]
    Interrupted,

    // === the environment ===
    /// A file cannot be read.
    #[error("{} cannot be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The crypto backend failed.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
    /// A thread ended in a way that it should not.
    #[error("a worker ended by a panic")]
    Panicked,
}

impl Error {
    /// Whether the same run can go on later. What it has done stays then; after other errors nothing is left.
    #[must_use]
    pub const fn can_go_on(&self) -> bool {
        matches!(
            self,
            Self::Interrupted | Self::Read { .. } | Self::Write { .. } | Self::Panicked
        )
    }
}

fn overwritten(output: &Path, other: &Path) -> String {
    let output = output.display();
    match other.display().to_string() {
        other if other == output.to_string() => {
            format!("{output} is used twice by this run, and would be overwritten")
        }
        other => format!("{output} would overwrite {other}"),
    }
}

fn located(row: u64, line: u64) -> String {
    match (row, line) {
        (_, 0) => format!("row {row}"),
        (0, _) => format!("header (line {line})"),
        _ => format!("row {row} (line {line})"),
    }
}

const fn without(quoting: &Quoting) -> &'static str {
    match quoting {
        Quoting::None => "without quotes",
        _ => "with quotes",
    }
}

fn named(key: Option<&str>) -> String {
    key.map_or_else(
        || "is given".to_owned(),
        |key| format!("called {key:?} is given"),
    )
}
