//! Reads performance figures that other people published, and finds those that contradict each other.
//!
//! Every derived column is computed again from the columns it is derived from: count ÷ time, bytes ÷ time,
//! speed-up ÷ threads, parallelism ÷ average, differences, totals. A figure stands for everything that
//! rounds to it, and two figures contradict each other only if none of that agrees: rounding alone is
//! never a finding. The rules are listed at [`Check`].
//!
//! Read are
//!
//! * JSON: our own result documents (`schema_version`, `cases`), the HSM benchmark's (`metadata`,
//!   `results`), and any list of objects whose members have telling names;
//! * CSV whose first record names the columns;
//! * Markdown: pipe tables, fenced blocks, and text that tools print;
//! * TOML: claims that no rule finds by itself, with the relations they should keep.
//!
//! Not here: whether a figure is *true*, and figures in prose. A claim in a sentence becomes a claim in a
//! TOML file.
//!
//! ```
//! let text = b"| Size | Time | Throughput |\n|--|--|--|\n| 64 KiB | 580 us | 745 MB/s |\n";
//! let findings = keywright_claims::read("results.md", text)?.check();
//! assert_eq!(findings[0].check.code(), "bytes-over-time");
//! assert_eq!(findings[0].recomputed, "64 KiB in Time 580 us are 113 MB/s");
//! # Ok::<(), keywright_claims::Error>(())
//! ```
//!
//! # Files of claims
//!
//! ```toml
//! version = 1
//!
//! [[claim]]                      # one of value, range and series
//! name = "requests.total"
//! value = 4_000_000
//! unit = "requests"              # figures that are added or compared have one unit
//! source = "closing statistics"  # where it stands; not checked
//!
//! [[claim]]
//! name = "ladder.rates"
//! series = [19_985, 20_132, 19_626]
//! unit = "requests/s"
//!
//! [[claim]]
//! name = "step"
//! value = 30
//! unit = "s"
//!
//! [[relation]]
//! name = "total-of-the-ladder"
//! kind = "sum"                   # requests.total = (sum of ladder.rates) times step
//! claim = "requests.total"
//! of = ["ladder.rates"]
//! times = "step"
//! tolerance = 0.05               # share of the claim; 0.01 unless set
//! check = "total-does-not-add-up" # the code of the finding; each kind has its own unless set
//! ```
//!
//! | kind | holds if | `of` |
//! |---|---|---|
//! | `sum` | the claim is the sum of all figures, `times` a claim if there is one | one or more |
//! | `product` | the claim is all of them multiplied | two or more single figures |
//! | `quotient` | the claim is the first divided by each of the others | two or more single figures |
//! | `ratio` | the claim is first ÷ second; in the unit `%` it is the change from the second to the first | two single figures |
//! | `equal` | every figure of the claim is every figure of the other | one |
//! | `differ` | two series are not the same figure by figure | one |
//! | `at_least`, `at_most` | no figure of the claim is wholly below or above one of the other | one |
//! | `within` | every figure of the claim lies in the range | one |
//!
//! The finding's place names the relation, so that a contradiction can be asked for by name.
#![forbid(unsafe_code)]

mod check;
mod error;
mod figure;
mod finding;
pub mod fuzzing;
mod header;
mod print;
mod read;
mod span;
mod table;
mod unit;

pub use error::Error;
pub use finding::{Check, Finding, Place};

use read::cases::Case;
use read::claims::Sheet;
use read::markdown::Said;
use table::Table;

/// The largest file that is read: 8 MiB.
pub const MAX_BYTES: usize = 8 << 20;

/// The form in which a file was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// A TOML file of claims and relations.
    Claims,
    /// CSV.
    Csv,
    /// JSON of somebody else.
    Json,
    /// Markdown or other text.
    Markdown,
    /// One of our own result documents.
    Result,
}

/// The figures of one file.
#[derive(Clone, Debug)]
pub struct Document {
    form: Form,
    tables: Vec<Table>,
    cases: Vec<Case>,
    sheet: Option<Sheet>,
    ranges: Vec<Said>,
    /// What was found while reading.
    noticed: Vec<Finding>,
}

/// Reads a file. Its form is known by the end of its `name`, otherwise by its content.
///
/// # Errors
/// [`Error::TooLarge`] and [`Error::Text`] for any form; otherwise the file is not what its name or content
/// says it is.
pub fn read(name: &str, bytes: &[u8]) -> Result<Document, Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::Text)?;
    let text = text.trim_start_matches('\u{feff}');
    match form(name, text) {
        Form::Claims => Ok(Document {
            sheet: Some(read::claims::read(text)?),
            ..empty(Form::Claims)
        }),
        Form::Csv => {
            let table = read::delimited::table(text, 1)?;
            Ok(Document {
                tables: table.into_iter().collect(),
                ..empty(Form::Csv)
            })
        }
        Form::Json | Form::Result => json(text),
        Form::Markdown => {
            let found = read::markdown::read(text);
            Ok(Document {
                tables: found.tables,
                ranges: found.ranges,
                noticed: found.findings,
                ..empty(Form::Markdown)
            })
        }
    }
}

fn empty(form: Form) -> Document {
    Document {
        form,
        tables: Vec::new(),
        cases: Vec::new(),
        sheet: None,
        ranges: Vec::new(),
        noticed: Vec::new(),
    }
}

fn json(text: &str) -> Result<Document, Error> {
    let node = read::json::parse(text)?;
    let noticed = read::json::doubled_keys(&node);
    if read::cases::is_result(&node) {
        return Ok(Document {
            cases: read::cases::cases(&node),
            noticed,
            ..empty(Form::Result)
        });
    }
    Ok(Document {
        tables: read::json::tables(&node),
        noticed,
        ..empty(Form::Json)
    })
}

fn form(name: &str, text: &str) -> Form {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("json") => return Form::Json,
        Some("csv") => return Form::Csv,
        Some("toml") => return Form::Claims,
        Some("md" | "markdown") => return Form::Markdown,
        _ => {}
    }
    match text.trim_start() {
        json if json.starts_with('{') || json.starts_with("[{") => Form::Json,
        claims if claims.lines().any(|line| line.trim() == "[[claim]]") => Form::Claims,
        table if read::delimited::looks_like(table) => Form::Csv,
        _ => Form::Markdown,
    }
}

impl Document {
    /// The form in which the file was read.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// How many rows, cases and relations there are to check: a file without any has no findings because
    /// nothing in it was understood.
    #[must_use]
    pub fn understood(&self) -> usize {
        let rows: usize = self.tables.iter().map(|table| table.rows.len()).sum();
        rows + self.cases.len() + self.sheet.as_ref().map_or(0, |sheet| sheet.relations.len())
    }

    /// Everything that contradicts something else, in the order of the lines.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = self.noticed.clone();
        findings.extend(self.tables.iter().flat_map(check::table));
        let promised = |said| check::promised_efficiency(said, &self.tables);
        findings.extend(self.ranges.iter().filter_map(promised));
        findings.extend(self.cases.iter().flat_map(check::case));
        let ids = self.cases.iter().filter_map(|case| {
            let id = case.id.clone()?;
            Some((id, None, case.label.as_str()))
        });
        findings.extend(check::doubled_names(ids));
        if let Some(sheet) = &self.sheet {
            let names = sheet.claims.iter();
            let names =
                names.map(|claim| (claim.name.clone(), Some(claim.line), claim.name.as_str()));
            findings.extend(check::doubled_names(names));
            findings.extend(
                sheet
                    .relations
                    .iter()
                    .filter_map(|one| check::relation(sheet, one)),
            );
        }
        findings.sort_by_key(|finding| finding.place.line);
        findings
    }
}
