//! Printing: results to standard output, failures to standard error, each as text or JSON.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use keywright_encoding::terminal;
use serde::Serialize;

use crate::exit::{Exit, Failure};

/// Writes a line to standard error. A line that cannot be written is dropped: the end of a command does not depend on
/// its messages. The macros of the standard library panic instead, and clippy refuses them.
#[macro_export]
macro_rules! message {
    ($($argument:tt)*) => {
        drop($crate::output::write_message(format_args!($($argument)*)))
    };
}

/// Writes a line to standard output, as [`message`] does to standard error: for lines that tell of progress, and not for
/// a result.
#[macro_export]
macro_rules! progress_line {
    ($($argument:tt)*) => {
        drop($crate::output::data(format!("{}\n", format_args!($($argument)*)).as_bytes()))
    };
}

/// Writes a line, or lines, to standard error. Text from outside that may have a line end of its own goes through [`line()`]
/// first.
pub fn write_message(text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    let text = text.to_string();
    let lines: Vec<_> = text.split('\n').map(terminal::escaped).collect();
    // As one write, so that lines of several threads and processes stay whole.
    write_to_stderr(&(lines.join("\n") + "\n"))
}

/// Writes text to standard error as it is.
pub fn write_to_stderr(text: &str) -> std::io::Result<()> {
    std::io::stderr().lock().write_all(text.as_bytes())
}

/// How results and errors are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document with `schema_version`.
    Json,
    /// A table for spreadsheets: results of `bench`, `hsm analyze` and `hsm audit-keys` only.
    Csv,
    /// A page for browsers: results of `bench` and `hsm analyze` only.
    Html,
    /// Findings for code scanning: `hsm analyze` and `hsm audit-keys` only.
    Sarif,
}

impl Format {
    /// The format asked for by words that are otherwise no command.
    pub fn wanted(words: &[OsString]) -> Self {
        let pair = words
            .windows(2)
            .any(|pair| pair[0] == "--format" && pair[1] == "json");
        let json = pair
            || words
                .iter()
                .any(|word| word == "--format=json" || word == "--json");
        if json { Self::Json } else { Self::Text }
    }
}

/// Every JSON document that a command prints.
#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Serialize)]
struct ErrorContent<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct ErrorFields<'a> {
    exit: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    message: &'a str,
    advice: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a crate::exit::Place>,
}

/// Whether anyone reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The pipe was closed: enough was read, which is a success.
    Gone,
    /// The reader takes more.
    Listening,
}

/// Refuses a standard output that keeps nothing, for a result that cannot be had again. A closed one counts: before `main`
/// the standard library opens `/dev/null` in its place.
pub fn check_kept(what: &str) -> Result<(), Failure> {
    let null = rustix::fs::makedev(1, 3);
    match rustix::fs::fstat(rustix::stdio::stdout()) {
        Ok(there) if there.st_rdev != null => Ok(()),
        _ => Err(Failure::new(
            Exit::Usage,
            format!("standard output is closed or /dev/null, where {what} would be lost"),
            "send standard output to a terminal, a file or a pipe",
        )),
    }
}

/// Writes bytes to standard output.
pub fn data(bytes: &[u8]) -> Result<Reader, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::Listening),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::file(
            Path::new("standard output"),
            "written",
            &error,
        )),
    }
}

/// Prints a result as a document, or as the text that `text` makes.
pub fn document<T: Serialize>(
    format: Format,
    content: &T,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let line = match format {
        Format::Json => json(content) + "\n",
        _ => text(),
    };
    data(line.as_bytes()).map(drop)
}

/// Names and values under each other, one line each: what a terminal obeys is written out.
pub fn fields(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter()
        .map(|(name, value)| {
            let (name, value) = (terminal::escaped(name), terminal::escaped(value));
            format!("{name:width$}  {value}\n")
        })
        .collect()
}

/// Rows in columns as wide as their widest entry; the first row is the heading. A row is one line: what a terminal
/// obeys is written out.
pub fn table(rows: &[Vec<String>]) -> String {
    let plain = |row: &Vec<String>| {
        let cells = row.iter().map(|cell| terminal::escaped(cell).into_owned());
        cells.collect::<Vec<_>>()
    };
    let rows: Vec<_> = rows.iter().map(plain).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<_> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// So many things, in words: "1 row", "2 rows".
pub fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// A failure or a warning in one line of standard error.
pub fn line(text: &str) -> String {
    terminal::escaped(text).into_owned()
}

/// Prints a failure: what happened, and what to do.
pub fn failure(format: Format, failure: &Failure) {
    let Failure {
        exit,
        code,
        happened,
        advice,
        place,
    } = failure;
    match format {
        Format::Text | Format::Csv | Format::Html | Format::Sarif => {
            message!("error: {}\nhelp: {}", line(happened), line(advice));
        }
        Format::Json => {
            let error = ErrorFields {
                exit: *exit as u8,
                code: *code,
                message: happened,
                advice,
                place: place.as_ref(),
            };
            drop(data((json(&ErrorContent { error }) + "\n").as_bytes()));
        }
    }
}

fn json<T: Serialize>(content: &T) -> String {
    // Structs of texts and numbers always have a JSON form.
    let document = serde_json::to_string(&Document {
        schema_version: 1,
        content,
    });
    terminal::escaped_json(&document.unwrap_or_default()).into_owned()
}
