//! What can go wrong with a file, with a request about it, and with reading it.

use std::io;

use crate::foreign::ForeignFile;
use crate::header::HeaderNames;

/// Why a tabular file cannot be read or rewritten.
///
/// No content of a file is shown but names of columns that the caller has given himself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // === the caller ===
    /// The file has no column of this name.
    #[error("no column {column:?}; {header}")]
    UnknownColumn {
        /// The name that was asked for.
        column: String,
        /// What may be said of the columns of the file.
        header: HeaderNames,
    },
    /// The same column was asked for, or replaced, twice.
    #[error("column number {} is named twice in one request", .column + 1)]
    ColumnTwice {
        /// The index of the column, from 0.
        column: usize,
    },
    /// The record has no field at this index.
    #[error("the record at line {line} has no field number {}", .column + 1)]
    NoSuchField {
        /// Where the record begins.
        line: u64,
        /// The index that was asked for, from 0.
        column: usize,
    },
    /// The bytes to put in would be read back as something else than one field in its place.
    #[error("the bytes for a field of the record at line {line} would not read back as that field")]
    NotOneField {
        /// Where the record begins.
        line: u64,
    },
    /// The reader has failed before; where the next record begins is not known.
    #[error("the file cannot be read on after an error")]
    Stopped,

    // === the data ===
    /// The file is empty.
    #[error("the file has no header line")]
    NoHeader,
    /// It is a file of another kind.
    #[error("this is {0}, and no CSV file")]
    Foreign(ForeignFile),
    /// The header is not UTF-8, or has NUL bytes as UTF-16 would.
    #[error("the header line is not UTF-8 text")]
    HeaderNotText,
    /// The header has a CR without an LF behind it, as in files whose lines end with CR.
    #[error("the first line has a CR without an LF: CR line ends are not supported")]
    CarriageReturns,
    /// The header has a control character or a line separator, which may be meant to end lines.
    #[error("the first line has the character U+{character:04X}: only LF and CRLF end lines")]
    HeaderControl {
        /// The character.
        character: u32,
    },
    /// Two columns have the same name, so that a name would not say which is meant.
    #[error("columns number {} and {} have the same name", .first + 1, .second + 1)]
    DuplicateColumn {
        /// The index of the first of them, from 0.
        first: usize,
        /// The index of the other.
        second: usize,
    },
    /// A quote is opened and the file ends before it is closed.
    #[error("the quote opened at line {line}, column number {} is never closed", .column + 1)]
    UnbalancedQuote {
        /// The line with the opening quote.
        line: u64,
        /// The index of the column, from 0.
        column: usize,
    },
    /// There is a quote in a field that does not begin with one.
    #[error("line {line}, column number {}: a quote inside a field that is not quoted", .column + 1)]
    BareQuote {
        /// The line with the quote.
        line: u64,
        /// The index of the column, from 0.
        column: usize,
    },
    /// A quoted field goes on behind its closing quote.
    #[error(
        "line {line}, column number {}: text behind the closing quote; the quote was opened at line {opened}", .column + 1
    )]
    TextBehindQuote {
        /// The line with the closing quote.
        line: u64,
        /// The index of the column, from 0.
        column: usize,
        /// The line with the opening quote.
        opened: u64,
    },
    /// A record has more or fewer fields than the header.
    #[error("the record at line {line} has {found} fields where the header has {expected}")]
    RaggedRow {
        /// Where the record begins.
        line: u64,
        /// How many fields the header has.
        expected: usize,
        /// How many the record has.
        found: usize,
    },
    /// A record is longer than the reader was told to hold; often a quote that is never closed.
    #[error("the record at line {line} is longer than {limit} bytes")]
    RecordTooLong {
        /// Where the record begins.
        line: u64,
        /// The limit in bytes.
        limit: usize,
    },

    // === the environment ===
    /// The file could not be read.
    #[error("the file could not be read")]
    Io(#[from] io::Error),
}
