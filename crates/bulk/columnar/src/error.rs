//! What can go wrong with a columnar file. Names of columns and rows are told, cells never.

use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// Why a file was refused, or a run ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // === the caller ===
    /// A column that is to change, or of which tweaks are made, does not hold texts.
    #[error("column {column:?} holds {kind}, which cannot be {wanted}")]
    Type {
        /// The column.
        column: String,
        /// What it holds.
        kind: String,
        /// What was asked of it.
        wanted: &'static str,
    },
    /// Values are to vanish from a column that has one in every row.
    #[error("column {column:?} allows no nulls, so its values cannot become null")]
    Required {
        /// The column.
        column: String,
    },
    /// A tweak that differs from row to row, for a column whose values are said once for all rows.
    #[error("column {column:?} is a dictionary: its tweak cannot differ from row to row")]
    DictionaryTweak {
        /// The column.
        column: String,
    },
    /// A dictionary that a column that changes has in common with one that stays, where its values would be left.
    #[error(
        "column {column:?} and column {other:?} have one dictionary, and only one of them changes"
    )]
    SharedDictionary {
        /// The column that changes.
        column: String,
        /// The column that stays.
        other: String,
    },
    /// A column that stays and one that changes are kept in the same bytes of the file.
    #[error("column {column:?} overlaps another, and only one of them changes")]
    Overlap {
        /// The column that begins within the other.
        column: String,
    },
    /// Pages of a column that is to be written again are compressed with a codec that is not known here.
    #[error("column {column:?} is compressed with {codec}, which is not supported")]
    Codec {
        /// The column.
        column: String,
        /// The codec, as Parquet names it.
        codec: String,
    },
    /// Rules, keys, values and files, as for tables of every kind.
    #[error(transparent)]
    Protect(#[from] keywright_protect::Error),

    // === the data ===
    /// Neither Parquet nor Arrow.
    #[error("{} is neither a Parquet nor an Arrow file", .path.display())]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// The file, its footer or a column of it is encrypted.
    #[error("{} is encrypted: {what}", .path.display())]
    Encrypted {
        /// The file.
        path: PathBuf,
        /// What of it.
        what: String,
    },
    /// The file is damaged, or uses what is not known here.
    #[error("{} is damaged, or uses what is not known here: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A text that cannot be left out holds a value of a column that is protected.
    #[error("{what} may hold a value of a column that is protected")]
    Text {
        /// Where the text is.
        what: String,
    },
    /// There is more in the file than its reader would take.
    #[error("{}: behind the end of the stream, at byte {at}, there is {what}", .path.display())]
    Behind {
        /// The file.
        path: PathBuf,
        /// Where it begins.
        at: u64,
        /// What is there.
        what: &'static str,
    },
    /// What was made cannot be written in the form that the input has.
    #[error("{} cannot be written in the form that the input has: {what}", .path.display())]
    Unwritable {
        /// The output.
        path: PathBuf,
        /// Why.
        what: String,
    },
}

/// What a table is in the midst of, before its name is known.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The input does not make sense.
    Damaged(String),
    /// The input, or this part of it, is encrypted.
    Encrypted(String),
    /// There is something behind its end.
    Behind(u64, &'static str),
    /// The output cannot be made.
    Unwritable(String),
    Error(Box<Error>),
}

impl Trouble {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    pub(crate) fn encrypted(what: impl Into<String>) -> Self {
        Self::Encrypted(what.into())
    }
}

impl From<ParquetError> for Trouble {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(without_content(&error.to_string()))
    }
}

impl From<ArrowError> for Trouble {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(without_content(&error.to_string()))
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<keywright_protect::Error> for Trouble {
    fn from(error: keywright_protect::Error) -> Self {
        Error::from(error).into()
    }
}

/// The writer's part of what the libraries answer.
pub(crate) fn unwritable(error: impl ToString) -> Trouble {
    Trouble::Unwritable(without_content(&error.to_string()))
}

/// What a library says of a file, without what it may cite: texts between quotes, numbers of more than five digits,
/// addresses, bytes beyond ASCII.
fn without_content(text: &str) -> String {
    const LONGEST: usize = 20;
    let (mut words, mut is_cited) = (Vec::new(), false);
    for word in text.split_whitespace() {
        let quotes = word.matches(['\'', '"', '`']).count();
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let is_content =
            is_cited || quotes > 0 || digits > 5 || word.contains('@') || !word.is_ascii();
        is_cited ^= quotes % 2 == 1;
        match is_content {
            false => words.push(word),
            true if words.last() == Some(&"...") => {}
            true => words.push("..."),
        }
    }
    words.truncate(LONGEST);
    words.join(" ")
}

impl Error {
    /// Whether the same run can go on later. What it has done stays then; after other errors nothing is left.
    #[must_use]
    pub const fn can_go_on(&self) -> bool {
        matches!(self, Self::Protect(error) if error.can_go_on())
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Protect(keywright_protect::Error::Read {
            path: path.to_owned(),
            source,
        })
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Protect(keywright_protect::Error::Write {
            path: path.to_owned(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_library_cites_is_left_out() {
        for (text, told) in [
            (
                "EOF: eof decoding byte array",
                "EOF: eof decoding byte array",
            ),
            (
                "Cast error: Cannot cast string '4111 1111 1111 1111' to value of Int64 type",
                "Cast error: Cannot cast string ... to value of Int64 type",
            ),
            (
                "Invalid value 4111111111111111, ada@example.org or Zoë",
                "Invalid value ... or ...",
            ),
            ("unclosed \"Ada Lovelace", "unclosed ..."),
            ("can't read ada", "..."),
        ] {
            assert_eq!(without_content(text), told);
        }
        assert_eq!(without_content(&"a ".repeat(100)).len(), 39);
    }
}
