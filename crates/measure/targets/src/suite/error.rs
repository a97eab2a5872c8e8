//! What can be wrong with a suite, where, and what was probably meant.

use std::fmt;
use std::io;
use std::sync::Arc;

use keywright_measure::load::LoadError;

/// Why a suite is refused: a place and a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Error {
    place: Place,
    problem: Problem,
}

impl Error {
    pub(super) const fn new(place: Place, problem: Problem) -> Self {
        Self { place, problem }
    }

    /// Where.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// What.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    file: Arc<str>,
    line: Option<u32>,
}

impl Place {
    pub(super) const fn new(file: Arc<str>, line: Option<u32>) -> Self {
        Self { file, line }
    }

    /// The file's name as it was given.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from 1; absent where the whole file is meant.
    #[must_use]
    pub const fn line(&self) -> Option<u32> {
        self.line
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{} line {line}", self.file),
            None => out.write_str(&self.file),
        }
    }
}

/// What is wrong. Texts out of the file are cut to a line and shown escaped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Several operations end in this name.
    #[error("{name:?} may be any of {}", Names(.candidates))]
    Ambiguous {
        /// As written.
        name: String,
        /// Operations that it may be.
        candidates: Vec<String>,
    },
    /// More operations in flight than connections and streams carry.
    #[error(
        "{cap} operations in flight need more than {connections} connections of {streams} streams"
    )]
    Cap {
        /// Operations in flight.
        cap: u32,
        /// Connections.
        connections: u32,
        /// Streams on each.
        streams: u32,
    },
    /// Two settings exclude each other.
    #[error("{one} and {other} exclude each other")]
    Conflict {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A file is included by itself, or by two others.
    #[error("{path:?} is included twice")]
    IncludedTwice {
        /// As written.
        path: String,
    },
    /// Files include files too deep.
    #[error("files include each other more than {} deep", super::include::DEEPEST)]
    IncludeDepth,
    /// An included file lies outside of the suite's folder.
    #[error(
        "{path:?} is no path below the suite's folder: it may not start at the root, go up, or lead out by a link"
    )]
    IncludePath {
        /// As written.
        path: String,
    },
    /// Included files where there are no files.
    #[error("a suite that is no file cannot include one")]
    IncludeWithoutFolder,
    /// A schedule that cannot be made.
    #[error("{0}")]
    Load(#[from] LoadError),
    /// What has to be said is not.
    #[error("{table} needs {key}")]
    Missing {
        /// The table.
        table: &'static str,
        /// The key.
        key: &'static str,
    },
    /// No operation of this kind is in this program.
    #[error("this build has no {kind} target")]
    NoKind {
        /// The target's kind.
        kind: &'static str,
    },
    /// An operation does not come in this size.
    #[error("{operation} has no size of {size} bytes; it has {}", Sizes(.sizes))]
    NoSize {
        /// The operation.
        operation: String,
        /// Bytes asked for.
        size: u64,
        /// Bytes there are.
        sizes: Vec<u64>,
    },
    /// A text without the form that the field has.
    #[error("{field} is {text:?}, which is not {form}")]
    Form {
        /// The field.
        field: &'static str,
        /// As written.
        text: String,
        /// What it must look like.
        form: &'static str,
    },
    /// A setting that a target of this kind does not have.
    #[error("{field} means nothing to a {kind} target")]
    NotForTarget {
        /// The field.
        field: &'static str,
        /// The target's kind.
        kind: &'static str,
    },
    /// A figure that is measured once a run takes no load.
    #[error("{operation} is measured once a run and takes no {field}")]
    NotForFigure {
        /// The operation.
        operation: String,
        /// The field.
        field: &'static str,
    },
    /// The bytes are not UTF-8.
    #[error("the file is not text")]
    NotText,
    /// A number or time outside of what is possible.
    #[error("{field} lies between {least} and {most}")]
    Range {
        /// The field.
        field: &'static str,
        /// The smallest value.
        least: Box<str>,
        /// The largest value.
        most: Box<str>,
    },
    /// Not TOML.
    #[error("not TOML: {message}")]
    Syntax {
        /// What the reader of TOML says.
        message: Box<str>,
    },
    /// A file that is too long.
    #[error("a suite has at most {} bytes", super::include::MOST_BYTES)]
    TooLarge,
    /// More than can be gone through.
    #[error("a suite has at most {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// A name that must be unique.
    #[error("there is another {what} of the name {name:?}")]
    Twice {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A key that means nothing.
    #[error("{key:?} is no key of {table}{}", Meant(.nearest))]
    UnknownKey {
        /// The table.
        table: &'static str,
        /// As written.
        key: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// An operation that does not exist.
    #[error("there is no operation {name:?}{}", Nearest(.nearest))]
    UnknownOperation {
        /// As written.
        name: String,
        /// Names near it.
        nearest: Vec<String>,
    },
    /// A target that is not declared.
    #[error("there is no target {name:?}{}", Meant(.nearest))]
    UnknownTarget {
        /// As written.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A word that is none of the field's.
    #[error("{field} is {word:?}, and it can be {}{}", Words(.allowed), Meant(.nearest))]
    UnknownWord {
        /// The field.
        field: &'static str,
        /// As written.
        word: String,
        /// What there is.
        allowed: &'static [&'static str],
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A file that cannot be read.
    #[error("{path:?} cannot be read: {reason}")]
    Unreadable {
        /// As written.
        path: String,
        /// What the system says.
        reason: io::ErrorKind,
    },
    /// A variable of the environment that is not set.
    #[error("the variable {name:?} is not set")]
    Variable {
        /// Its name.
        name: String,
    },
    /// A suite of another version.
    #[error("suites of version {found} are not known, only version 1 is")]
    Version {
        /// What the file says.
        found: u64,
    },
    /// An operation of another kind of target.
    #[error("{operation} is an operation of {belongs} targets, not of {kind} targets")]
    WrongKind {
        /// The operation.
        operation: String,
        /// The kind it belongs to.
        belongs: &'static str,
        /// The target's kind.
        kind: &'static str,
    },
    /// A value of another type.
    #[error("{field} is {expected}, not {found}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
}

/// The longest text of a file that an error repeats, in characters.
const LONGEST: usize = 80;

/// A text fit for an error.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join(", "))
    }
}

struct Words<'a>(&'a [&'static str]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join(", "))
    }
}

struct Sizes<'a>(&'a [u64]);

impl fmt::Display for Sizes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, size) in self.0.iter().enumerate() {
            let gap = if place > 0 { ", " } else { "" };
            write!(out, "{gap}{size}")?;
        }
        Ok(())
    }
}

struct Meant<'a>(&'a Option<String>);

impl fmt::Display for Meant<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(out, "; the nearest is {name:?}"),
            None => Ok(()),
        }
    }
}

struct Nearest<'a>(&'a [String]);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(out, "; near it are {}", self.0.join(", "))
    }
}
