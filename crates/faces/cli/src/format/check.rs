//! `keywright format check`: a CSV file held against its rules, or looked at for formats.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use keywright_format::{Cells, Checker, FLOOR, HARD_FLOOR, Misfit, Rules, SmallDomain, suggest};
use keywright_tabular::csv::{Options, Reader};
use serde::Serialize;

use super::wrong;
use crate::exit::{Exit, Failure, sentence};
use crate::output::{self, Format};

/// Misfits of a column that are listed; all are counted.
const LISTED: usize = 10;

/// Rows that suggestions look at.
const SAMPLE: usize = 1_000;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The CSV file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The rules; without them, formats are suggested for each column.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

/// What came of the rules.
#[derive(Serialize)]
struct Checked {
    rows: u64,
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
    rows: usize,
    columns: Vec<Candidates>,
}

#[derive(Serialize)]
struct Candidates {
    name: String,
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
    let reader = open(&arguments.file)?;
    match &arguments.rules {
        Some(rules) => against(rules, &arguments.file, reader, format),
        None => look(&arguments.file, reader, format),
    }
}

type Input = Reader<BufReader<File>>;

fn open(path: &Path) -> Result<Input, Failure> {
    let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
    Reader::new(BufReader::new(file), &Options::default()).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &keywright_tabular::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{}: {}", path.display(), sentence(error)),
        "give a CSV file with a header, in which every row has as many fields",
    )
}

fn against(rules: &Path, path: &Path, mut reader: Input, format: Format) -> Result<Exit, Failure> {
    let text =
        std::fs::read_to_string(rules).map_err(|error| Failure::file(rules, "read", &error))?;
    let name = rules.display().to_string();
    let rules = Rules::parse(&text).map_err(|error| wrong(&name, error))?;
    let formatted = || {
        rules
            .columns()
            .iter()
            .filter_map(|rule| Some((rule, rule.format()?)))
    };
    let mut columns = Vec::new();
    let mut work: Vec<(usize, Checker<'_>, u32)> = Vec::new();
    for (rule, described) in formatted() {
        let place = reader
            .layout()
            .column(rule.name())
            .map_err(|error| unread(path, &error))?;
        let floor = match rule.small_domain() {
            SmallDomain::Accept(_) => HARD_FLOOR,
            _ => FLOOR,
        };
        let refused = described.most().is_below(floor.into()).then_some(
            "every set of the format is below the floor: see small_domain in docs/format.md",
        );
        work.push((place, described.checker(), floor));
        columns.push(Column {
            name: rule.name().to_owned(),
            format: described.canonical().to_owned(),
            most_bits: described.most().bits(),
            fits: 0,
            empty: 0,
            misfits: 0,
            first: Vec::new(),
            refused,
        });
    }
    let mut rows = 0;
    while let Some(record) = reader.next_record().map_err(|error| unread(path, &error))? {
        rows += 1;
        for ((place, checker, floor), column) in work.iter_mut().zip(&mut columns) {
            let value = record.text(*place).unwrap_or_default();
            column.take(record.row(), &value, checker, *floor);
        }
    }
    let checked = Checked { rows, columns };
    output::document(format, &checked, || checked.text())?;
    let good = |column: &Column| column.misfits == 0 && column.refused.is_none();
    Ok(if checked.columns.iter().all(good) {
        Exit::Ok
    } else {
        Exit::Gate
    })
}

impl Column {
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
        let mut text = format!("{} rows\n{}", self.rows, output::table(&table));
        for column in &self.columns {
            if let Some(refused) = column.refused {
                text.push_str(&format!("{}: {refused}\n", column.name));
            }
            for misfit in &column.first {
                text.push_str(&format!(
                    "{}: row {}: {}\n",
                    column.name, misfit.row, misfit.reason
                ));
            }
            let more = column.misfits.saturating_sub(LISTED as u64);
            if more > 0 {
                text.push_str(&format!("{}: and {more} more\n", column.name));
            }
        }
        text
    }
}

fn look(path: &Path, mut reader: Input, format: Format) -> Result<Exit, Failure> {
    let names = reader.layout().names().to_vec();
    let sample = reader
        .sample(SAMPLE)
        .map_err(|error| unread(path, &error))?;
    let mut columns = Vec::with_capacity(names.len());
    for (place, name) in names.into_iter().enumerate() {
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for record in &sample {
            bytes.extend_from_slice(&record.as_record().text(place).unwrap_or_default());
            offsets.push(bytes.len());
        }
        let cells = Cells::offsets(&bytes, &offsets).map_err(|error| wrong("the column", error))?;
        let formats = suggest(cells).into_iter().take(3).map(|found| Candidate {
            bits: found.format.most().bits(),
            format: found.format.canonical().to_owned(),
            fits: found.fits,
            of: found.of,
        });
        columns.push(Candidates {
            name,
            formats: formats.collect(),
        });
    }
    let suggested = Suggested {
        rows: sample.len(),
        columns,
    };
    output::document(format, &suggested, || {
        let mut table = vec![
            ["COLUMN", "FITS", "BITS", "FORMAT"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for column in &suggested.columns {
            if column.formats.is_empty() {
                let none = ["-", "-", "no format fits: mask it, or leave it"].map(str::to_owned);
                table.push(std::iter::once(column.name.clone()).chain(none).collect());
            }
            for candidate in &column.formats {
                table.push(vec![
                    column.name.clone(),
                    format!("{} of {}", candidate.fits, candidate.of),
                    format!("{:.1}", candidate.bits),
                    candidate.format.clone(),
                ]);
            }
        }
        format!(
            "{} rows looked at\n{}",
            suggested.rows,
            output::table(&table)
        )
    })?;
    Ok(Exit::Ok)
}
