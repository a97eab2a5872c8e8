//! `keywright format check`: a file held against its rules, or looked at for formats.

use std::path::{Path, PathBuf};

use keywright_format::{
    Cells, Checker, ColumnRule, FLOOR, Format as Described, HARD_FLOOR, Misfit, Rules, SmallDomain,
    Suggestion, suggest,
};
use keywright_tabular::{is_known_name, looks_like_data};
use serde::Serialize;

use super::rows::{CellSelection, Rows, Size};
use super::wrong;
use crate::bulk::DialectArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Misfits of a column that are listed; all are counted.
const LISTED: usize = 10;

/// Rows that suggestions look at.
const SAMPLE: u64 = 1_000;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file: CSV, Parquet, or Arrow IPC.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The rules; without them, formats are suggested for each column.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
}

/// What came of the rules.
#[derive(Serialize)]
struct Checked {
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    format: String,
    most_bits: f64,
    fits: u64,
    empty: u64,
    misfits: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<Misfitting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
    #[serde(skip)]
    floor: u32,
}

#[derive(Serialize)]
struct Misfitting {
    row: u64,
    code: &'static str,
    reason: String,
}

/// What the columns look like.
#[derive(Serialize)]
struct Suggested {
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    columns: Vec<Candidates>,
}

#[derive(Serialize)]
struct Candidates {
    /// Its number, from 1.
    column: usize,
    /// Nothing if the name may be a cell, because it has a word that is not known.
    name: Option<String>,
    formats: Vec<Candidate>,
}

#[derive(Serialize)]
struct Candidate {
    format: String,
    fits: usize,
    of: usize,
    bits: f64,
}

pub(super) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    let rows = Rows::open(&arguments.file, &arguments.dialect)?;
    match &arguments.rules {
        Some(rules) => against(rules, &arguments.file, rows, format),
        None => look(&arguments.file, rows, format),
    }
}

fn against(rules: &Path, path: &Path, rows: Rows, format: Format) -> Result<Exit, Failure> {
    let text =
        std::fs::read_to_string(rules).map_err(|error| Failure::file(rules, "read", &error))?;
    let name = rules.display().to_string();
    let rules = Rules::parse(&text).map_err(|error| wrong(&name, error))?;
    let places = rows.columns(path, &rules)?;
    let mut columns = Vec::new();
    let mut checkers: Vec<(Checker<'_>, u32)> = Vec::new();
    for rule in rules.columns() {
        let Some(described) = rule.format() else {
            continue;
        };
        let column = Column::new(rule, described);
        checkers.push((described.checker(), column.floor));
        columns.push(column);
    }
    let asked = CellSelection {
        columns: &places,
        most: u64::MAX,
        rules: Some(&rules),
    };
    let size = rows.each(path, &asked, &mut |row, place, value| {
        let parts = columns.get_mut(place).zip(checkers.get_mut(place));
        let Some((column, (checker, floor))) = parts else {
            return;
        };
        match value {
            Some(value) => column.take(row, &value, checker, *floor),
            None => column.refused = Some(NO_TEXTS),
        }
    })?;
    let checked = Checked {
        rows: size.rows,
        lines: size.lines,
        columns,
    };
    output::document(format, &checked, || checked.text())?;
    let good = |column: &Column| column.misfits == 0 && column.refused.is_none();
    Ok(if checked.columns.iter().all(good) {
        Exit::Ok
    } else {
        Exit::Gate
    })
}

const NO_TEXTS: &str = "the column holds no texts: see docs/files.md";

impl Column {
    fn new(rule: &ColumnRule, described: &Described) -> Self {
        let floor = match rule.small_domain() {
            SmallDomain::Accept(_) => HARD_FLOOR,
            _ => FLOOR,
        };
        let refused = described.most().is_below(floor.into()).then_some(
            "every set of the format is below the floor: see small_domain in docs/format.md",
        );
        Self {
            name: rule.name().to_owned(),
            format: described.canonical().to_owned(),
            most_bits: described.most().bits(),
            fits: 0,
            empty: 0,
            misfits: 0,
            first: Vec::new(),
            refused,
            floor,
        }
    }

    fn take(&mut self, row: u64, value: &[u8], checker: &mut Checker<'_>, floor: u32) {
        if value.is_empty() {
            self.empty += 1;
            return;
        }
        let misfit = match checker.check(value) {
            Ok(count) if count.is_below(floor.into()) => Misfit::BelowFloor,
            Ok(_) => {
                self.fits += 1;
                return;
            }
            Err(misfit) => misfit,
        };
        self.misfits += 1;
        if self.first.len() < LISTED {
            self.first.push(Misfitting {
                row,
                code: misfit.code(),
                reason: misfit.to_string(),
            });
        }
    }
}

impl Checked {
    fn text(&self) -> String {
        let heading = ["COLUMN", "FITS", "EMPTY", "MISFITS", "BITS", "FORMAT"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        for column in &self.columns {
            table.push(vec![
                column.name.clone(),
                column.fits.to_string(),
                column.empty.to_string(),
                column.misfits.to_string(),
                format!("{:.1}", column.most_bits),
                column.format.clone(),
            ]);
        }
        let size = Size {
            rows: self.rows,
            lines: self.lines,
        };
        let mut text = format!("{}\n{}", size.text(), output::table(&table));
        for column in &self.columns {
            let name = output::line(&column.name);
            if let Some(refused) = column.refused {
                text.push_str(&format!("{name}: {refused}\n"));
            }
            for misfit in &column.first {
                text.push_str(&format!("{name}: row {}: {}\n", misfit.row, misfit.reason));
            }
            let more = column.misfits.saturating_sub(LISTED as u64);
            if more > 0 {
                text.push_str(&format!("{name}: and {more} more\n"));
            }
        }
        text
    }
}

/// The cells of a column that is looked at; `has_texts` is not so where it is of another type.
struct Looked {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
    has_texts: bool,
}

fn look(path: &Path, rows: Rows, format: Format) -> Result<Exit, Failure> {
    let layout = rows.layout().clone();
    // A schema has names; the first line of a CSV file may be data.
    let has_schema = matches!(rows, Rows::Columnar(_));
    let is_shown = |name: &str| is_known_name(name) || has_schema && !looks_like_data(name);
    let (size, looked) = first_cells(path, rows, layout.names().len())?;
    let found = looked.iter().map(Looked::suggestions);
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let named = layout.names().iter().zip(found).enumerate();
    let columns = named
        .map(|(column, (name, found))| Candidates {
            column: column + 1,
            name: is_shown(name).then(|| name.clone()),
            formats: found.into_iter().map(Candidate::from).collect(),
        })
        .collect();
    let suggested = Suggested {
        rows: size.rows,
        lines: size.lines,
        columns,
    };
    output::document(format, &suggested, || suggested.text())?;
    Ok(Exit::Ok)
}

/// How much there is to look at, and the cells of each column in it.
fn first_cells(path: &Path, rows: Rows, columns: usize) -> Result<(Size, Vec<Looked>), Failure> {
    let places: Vec<usize> = (0..columns).collect();
    let new = |_: &usize| Looked {
        bytes: Vec::new(),
        offsets: vec![0],
        has_texts: true,
    };
    let mut looked: Vec<Looked> = places.iter().map(new).collect();
    let asked = CellSelection {
        columns: &places,
        most: SAMPLE,
        rules: None,
    };
    let size = rows.each(path, &asked, &mut |_, place, value| {
        if let Some(looked) = looked.get_mut(place) {
            looked.has_texts &= value.is_some();
            looked.bytes.extend_from_slice(&value.unwrap_or_default());
            looked.offsets.push(looked.bytes.len());
        }
    })?;
    Ok((size, looked))
}

impl Looked {
    /// The formats that fit best.
    fn suggestions(&self) -> Result<Vec<Suggestion>, Failure> {
        let cells = Cells::offsets(&self.bytes, &self.offsets);
        let cells = cells.map_err(|error| wrong("the column", error))?;
        let mut found = match self.has_texts {
            true => suggest(cells),
            false => Vec::new(),
        };
        found.truncate(3);
        Ok(found)
    }
}

impl From<Suggestion> for Candidate {
    fn from(found: Suggestion) -> Self {
        Self {
            bits: found.format.most().bits(),
            format: found.format.canonical().to_owned(),
            fits: found.fits,
            of: found.of,
        }
    }
}

impl Candidates {
    fn heading(&self) -> String {
        let number = || format!("number {}", self.column);
        self.name.clone().unwrap_or_else(number)
    }
}

impl Suggested {
    fn text(&self) -> String {
        let head = ["COLUMN", "FITS", "BITS", "FORMAT"].map(str::to_owned);
        let mut table = vec![head.to_vec()];
        for column in &self.columns {
            if column.formats.is_empty() {
                let none = ["-", "-", "no format fits: mask it, or leave it"].map(str::to_owned);
                table.push(std::iter::once(column.heading()).chain(none).collect());
            }
            for candidate in &column.formats {
                table.push(vec![
                    column.heading(),
                    format!("{} of {}", candidate.fits, candidate.of),
                    format!("{:.1}", candidate.bits),
                    candidate.format.clone(),
                ]);
            }
        }
        let size = Size {
            rows: self.rows,
            lines: self.lines,
        };
        let mut text = format!("{} looked at\n{}", size.text(), output::table(&table));
        if self.columns.iter().any(|column| column.name.is_none()) {
            text.push_str("names of words that are not known may be data, and are not shown\n");
        }
        text
    }
}
