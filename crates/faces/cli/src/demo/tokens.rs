//! Columns of the file become tokens of the same shape under a data key of the service, and values again.
//!
//! The rules are those of `rules.toml` beside the file, where it is about columns of this file; else each column
//! that looks sensitive gets a format that all of its values fit.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use keywright_client::blocking::Client;
use keywright_format::{FLOOR, Format, Rules};
use keywright_protect::{
    ColumnKey, Files, Keys, Options, Overwrite, Plan, Progress, Source, Summary, run,
};
use keywright_secret::Secret;
use keywright_tabular::csv::{Options as Dialect, Reader};
use keywright_tabular::detect::{Kind, candidates};
use keywright_types::Name;

use super::table;
use crate::bulk::refused;
use crate::exit::{Exit, Failure, sentence};

/// Rows that are shown before and after.
const SHOWN: usize = 5;

/// What was done.
pub(super) struct Report {
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) output: PathBuf,
    /// The first rows, of each changed cell the value and its token.
    pub(super) shown: Vec<Vec<(String, String)>>,
}

/// Where the values stand again, to be compared.
pub(super) fn revealed(input: &Path, work: &Path) -> PathBuf {
    work.join(input.file_name().unwrap_or_default())
        .with_extension("values.csv")
}

/// Makes tokens, makes values of them again, and compares; nothing if no column has a format.
pub(super) fn tokenise(
    input: &Path,
    work: &Path,
    client: &Client,
    context: &Name,
) -> Result<Option<Report>, Failure> {
    let source = Source::open(input, &Dialect::default()).map_err(refused)?;
    let Some(rules) = rules(input, &source)? else {
        return Ok(None);
    };
    let given = client.datakey(context, None)?;
    let secret = given
        .plaintext
        .and_then(|key| Secret::copy_from(key.expose()));
    let secret = secret.ok_or_else(|| Failure::broken("a data key came without its key"))?;
    let key = ColumnKey::new(*given.id.as_bytes(), 1, secret);
    let keys = Keys::none().with_unnamed(key);
    let output = work
        .join(input.file_name().unwrap_or_default())
        .with_extension("tokens.csv");
    let plan = Plan::protect(source.layout(), &rules, &keys).map_err(refused)?;
    let summary = carry_out(&source, &plan, &output)?;
    let back = table::Revealed(revealed(input, work));
    let tokens = Source::open(&output, &Dialect::default()).map_err(refused)?;
    let protection = plan.protection();
    let protection = protection.ok_or_else(|| Failure::broken("tokens without a description"))?;
    let plan = Plan::reveal(tokens.layout(), protection, Some(&rules), &keys).map_err(refused)?;
    carry_out(&tokens, &plan, &back.0)?;
    table::same(input, &back.0)?;
    std::fs::remove_file(&back.0).map_err(|error| Failure::file(&back.0, "removed", &error))?;
    Ok(Some(Report {
        rows: summary.rows,
        cells: summary
            .columns
            .iter()
            .map(|column| column.counts.changed)
            .sum(),
        shown: shown(input, &output, &rules)?,
        output,
    }))
}

fn carry_out(source: &Source, plan: &Plan, output: &Path) -> Result<Summary, Failure> {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let files = Files::new(output).with_overwrite(Overwrite::Replace);
    // What an earlier demonstration had begun was under another data key.
    let options = Options::new(threads).anew();
    let mut go_on = |_: &Progress| ControlFlow::Continue(());
    run(source, plan, &files, &options, &mut go_on).map_err(refused)
}

/// The rules beside the file if they are about it, else some for the columns that look sensitive.
fn rules(input: &Path, source: &Source) -> Result<Option<Rules>, Failure> {
    let beside = input.with_file_name("rules.toml");
    if let Ok(text) = std::fs::read_to_string(&beside) {
        let rules = Rules::parse(&text).map_err(|error| {
            Failure::new(
                Exit::Usage,
                format!("{}: {error}", beside.display()),
                "docs/format.md has the language",
            )
        })?;
        let known = |name: &str| source.layout().column(name).is_ok();
        if rules.columns().iter().all(|rule| known(rule.name())) {
            return Ok(Some(rules));
        }
    }
    guessed(input)
}

fn guessed(input: &Path) -> Result<Option<Rules>, Failure> {
    let mut reader = open(input)?;
    let sample = reader.sample(200).map_err(|error| unread(input, &error))?;
    let mut formats = Vec::new();
    for candidate in candidates(reader.layout(), &sample) {
        let text = match candidate.kind() {
            Kind::Card => "card",
            Kind::Email => "email",
            Kind::Iban => "iban",
            Kind::Phone => "phone",
            Kind::BirthDate | Kind::Date => "date(from=0001-01-01, to=9999-12-31)",
            _ => continue,
        };
        let format = Format::parse(text).map_err(|error| Failure::broken(sentence(&error)))?;
        formats.push((candidate.column(), candidate.name().to_owned(), format));
    }
    let fitting = fitting(input, formats)?;
    let columns: String = fitting
        .iter()
        .map(|(name, format)| {
            let (name, format) = (quoted(name), quoted(format.canonical()));
            format!("[[column]]\nname = {name}\nformat = {format}\n")
        })
        .collect();
    Ok(Rules::parse(&format!("version = 1\n{columns}")).ok())
}

/// The columns whose values all fit.
fn fitting(
    input: &Path,
    formats: Vec<(usize, String, Format)>,
) -> Result<Vec<(String, Format)>, Failure> {
    let mut reader = open(input)?;
    let mut checkers: Vec<_> = formats
        .iter()
        .map(|(column, _, format)| (*column, format.checker(), true))
        .collect();
    while let Some(record) = reader
        .next_record()
        .map_err(|error| unread(input, &error))?
    {
        for (column, checker, fits) in &mut checkers {
            let value = record.text(*column).unwrap_or_default();
            *fits &= value.is_empty()
                || checker
                    .check(&value)
                    .is_ok_and(|count| !count.is_below(FLOOR.into()));
        }
    }
    let verdicts: Vec<bool> = checkers.into_iter().map(|(_, _, fits)| fits).collect();
    let kept = formats.into_iter().zip(verdicts).filter(|(_, fits)| *fits);
    Ok(kept.map(|((_, name, format), _)| (name, format)).collect())
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control.is_control() => {
                out.push_str(&format!("\\U{:08X}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn shown(
    input: &Path,
    output: &Path,
    rules: &Rules,
) -> Result<Vec<Vec<(String, String)>>, Failure> {
    let sample = |path: &Path| {
        let mut reader = open(path)?;
        reader.sample(SHOWN).map_err(|error| unread(path, &error))
    };
    let (before, after) = (sample(input)?, sample(output)?);
    let layout = open(input)?.layout().clone();
    let columns: Vec<usize> = rules
        .columns()
        .iter()
        .filter_map(|rule| layout.column(rule.name()).ok())
        .collect();
    let text = |record: &keywright_tabular::csv::OwnedRecord, column: usize| {
        let value = record
            .as_record()
            .text(column)
            .unwrap_or_default()
            .into_owned();
        String::from_utf8_lossy(&value).into_owned()
    };
    let rows = before.iter().zip(&after).map(|(before, after)| {
        let cells = columns.iter();
        cells
            .map(|column| (text(before, *column), text(after, *column)))
            .collect()
    });
    Ok(rows.collect())
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, Failure> {
    let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
    Reader::new(BufReader::new(file), &Dialect::default()).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &keywright_tabular::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{}: {}", path.display(), sentence(error)),
        "give a CSV file with a header, in which every row has as many fields",
    )
}
