//! What can go wrong with a file, with a request about it, and with reading it.

use std::io;

/// Why a tabular file cannot be read or rewritten.
///
/// Column names are shown, since a user has to find them in the file; the content of cells never is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // === the caller ===
    /// The file has no column of this name.
    #[error("no column {column:?}; the file has {}", listed(.available))]
    UnknownColumn {
        /// The name that was asked for.
        column: String,
        /// The names the file has, in their order.
        available: Vec<String>,
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
    /// The header is not UTF-8, or has NUL bytes as UTF-16 would.
    #[error("the header line is not UTF-8 text")]
    HeaderNotText,
    /// Two columns have the same name, so that a name would not say which is meant.
    #[error("two columns have the name {column:?}")]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A quote is opened and the file ends before it is closed.
    #[error("the quote opened at line {line} is never closed")]
    UnbalancedQuote {
        /// The line with the opening quote.
        line: u64,
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

/// The first names of a header, for a message: a file of ten thousand columns must not fill a screen.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_column_names_what_there_is_and_escapes_control_characters() {
        let error = Error::UnknownColumn {
            column: "e\u{1b}mail".into(),
            available: vec!["id".into(), "na\nme".into()],
        };
        assert_eq!(
            error.to_string(),
            "no column \"e\\u{1b}mail\"; the file has \"id\", \"na\\nme\""
        );
    }

    #[test]
    fn a_long_list_of_columns_is_cut() {
        let names: Vec<String> = (0..100).map(|n| format!("c{n}")).collect();
        let text = listed(&names);
        assert!(text.ends_with("\"c39\" and 60 more"), "{text}");
    }
}
