//! Protecting the sensitive columns of a CSV file through the service, and proving that nothing else
//! changed.
//!
//! A cell is sealed as it stands in the file, quotes included, and its place is taken by the envelope
//! in base64. Its associated data is lp(file) + lp(column) + lp(row as u64), so that a cell opens only
//! where it was sealed.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use keywright_client::blocking::Client;
use keywright_client::{Batching, Open, Seal};
use keywright_encoding::{base64, lp};
use keywright_tabular::csv::{Options, OwnedRecord, Reader, rewrite};
use keywright_tabular::detect::candidates;
use keywright_tabular::is_known_name;
use keywright_types::{Code, Name};

use crate::exit::{Exit, Failure, sentence};
use crate::progress;

/// A file and the columns of it that are protected.
pub(super) struct Job {
    input: PathBuf,
    /// The name that is bound into every cell.
    label: String,
    columns: Vec<(usize, String)>,
    /// Why each column was chosen, for the reader of the terminal.
    reasons: Vec<String>,
}

/// What was done.
pub(super) struct Report {
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) protected: PathBuf,
    pub(super) exchange: Exchange,
}

/// What became of giving the service two cells in each other's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// Both were refused.
    Refused,
    /// There are fewer than two cells.
    NothingToExchange { cells: usize },
}

/// Which way cells go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Protect,
    Reveal,
}

impl Direction {
    /// Makes the file that is written. What is revealed is for its owner alone, and never follows a
    /// file or a link that is there already.
    fn create(self, path: &Path) -> Result<File, Failure> {
        let file = match self {
            Self::Protect => File::create(path),
            Self::Reveal => {
                remove(path);
                let mut options = File::options();
                options.write(true).create_new(true).mode(0o600).open(path)
            }
        };
        file.map_err(|error| Failure::file(path, "written", &error))
    }
}

/// A file in which cells are revealed; gone when it is dropped.
pub(super) struct Revealed(pub(super) PathBuf);

impl Drop for Revealed {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// One cell on its way: its row's place in the batch, its column, its bytes, and what it is bound to.
struct Cell {
    record: usize,
    column: usize,
    bytes: Vec<u8>,
    aad: Vec<u8>,
}

impl Job {
    /// Reads the header and a sample, and settles on columns.
    pub(super) fn plan(input: &Path, wanted: &[String]) -> Result<Self, Failure> {
        let mut reader = open(input)?;
        let sample = reader
            .sample(SAMPLE)
            .map_err(|error| unreadable(input, &error))?;
        let layout = reader.layout();
        let label = input
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let mut job = Self {
            input: input.to_owned(),
            label: label.unwrap_or_default(),
            columns: Vec::new(),
            reasons: Vec::new(),
        };
        if wanted.is_empty() {
            for candidate in candidates(layout, &sample) {
                job.columns
                    .push((candidate.column(), candidate.name().to_owned()));
                let name = match is_known_name(candidate.name()) {
                    true => candidate.name().to_owned(),
                    false => format!("column number {}", candidate.column() + 1),
                };
                let (kind, reason) = (candidate.kind(), candidate.reason());
                job.reasons.push(format!("{name}: {kind}; {reason}"));
            }
        } else {
            let columns = layout
                .columns(wanted)
                .map_err(|error| unreadable(input, &error))?;
            job.columns = columns.into_iter().zip(wanted.iter().cloned()).collect();
            job.reasons = wanted.to_vec();
        }
        if job.columns.is_empty() {
            let happened = format!(
                "no column of {} looks sensitive; {}",
                input.display(),
                layout.header_names(&[], |_| false)
            );
            return Err(Failure::new(
                Exit::Usage,
                happened,
                "name them: --columns A,B (make run COLUMNS=A,B)",
            ));
        }
        Ok(job)
    }

    pub(super) fn input(&self) -> &Path {
        &self.input
    }

    /// Says which columns and why.
    pub(super) fn describe(&self) {
        progress_line!("      columns that are protected:");
        self.reasons
            .iter()
            .for_each(|reason| progress_line!("        {reason}"));
    }

    /// Where the cells are revealed again, to be compared.
    pub(super) fn revealed(&self, work: &Path) -> PathBuf {
        work.join(&self.label).with_extension("revealed.csv")
    }

    /// Protects, reveals, compares, and tries an exchange of two cells.
    pub(super) fn run(
        &self,
        client: &Client,
        context: &Name,
        work: &Path,
    ) -> Result<Report, Failure> {
        let protected = work.join(&self.label).with_extension("protected.csv");
        let revealed = Revealed(self.revealed(work));
        let (rows, cells) = self.pass(
            Direction::Protect,
            (&self.input, &protected),
            client,
            context,
        )?;
        self.pass(
            Direction::Reveal,
            (&protected, &revealed.0),
            client,
            context,
        )?;
        same(&self.input, &revealed.0)?;
        // Here and not by the drop alone: plaintext that cannot be removed is worth a word.
        std::fs::remove_file(&revealed.0)
            .map_err(|error| Failure::file(&revealed.0, "removed", &error))?;
        let exchange = self.exchange_two_cells(&protected, client, context)?;
        Ok(Report {
            rows,
            cells,
            protected,
            exchange,
        })
    }

    fn pass(
        &self,
        direction: Direction,
        (from, to): (&Path, &Path),
        client: &Client,
        context: &Name,
    ) -> Result<(u64, u64), Failure> {
        let total = std::fs::metadata(from).map_or(0, |metadata| metadata.len());
        let bar = progress::bytes(
            total,
            if direction == Direction::Protect {
                "sealing"
            } else {
                "opening"
            },
        );
        let mut reader = open(from)?;
        let mut writer = BufWriter::new(direction.create(to)?);
        let written = |error: std::io::Error| Failure::file(to, "written", &error);
        writer.write_all(reader.header()).map_err(written)?;
        let (mut rows, mut cells) = (0, 0);
        loop {
            let records = next_records(&mut reader, from)?;
            if records.is_empty() {
                break;
            }
            let gathered = self.gather(direction, &records, rows)?;
            let changed = send(direction, &gathered, client, context)?;
            let out = put_back(&records, &gathered, &changed)
                .map_err(|error| unreadable(from, &error))?;
            writer.write_all(&out).map_err(written)?;
            rows += records.len() as u64;
            cells += gathered.len() as u64;
            bar.inc(
                records
                    .iter()
                    .map(|record| record.as_record().raw().len() as u64)
                    .sum(),
            );
        }
        bar.finish_and_clear();
        writer
            .into_inner()
            .map_err(|error| written(error.into_error()))?;
        Ok((rows, cells))
    }

    fn gather(
        &self,
        direction: Direction,
        records: &[OwnedRecord],
        first_row: u64,
    ) -> Result<Vec<Cell>, Failure> {
        let mut cells = Vec::with_capacity(records.len() * self.columns.len());
        for (index, record) in records.iter().enumerate() {
            let record = record.as_record();
            for (column, name) in &self.columns {
                let Some(field) = record.field(*column) else {
                    continue;
                };
                let bytes = match direction {
                    Direction::Protect => field.to_vec(),
                    Direction::Reveal => decode(field, record.line())?,
                };
                let aad = self.aad(name, first_row + index as u64 + 1)?;
                cells.push(Cell {
                    record: index,
                    column: *column,
                    bytes,
                    aad,
                });
            }
        }
        Ok(cells)
    }

    fn aad(&self, column: &str, row: u64) -> Result<Vec<u8>, Failure> {
        let parts: [&[u8]; 3] = [self.label.as_bytes(), column.as_bytes(), &row.to_be_bytes()];
        lp(&parts)
            .map_err(|error| Failure::new(Exit::Usage, error.to_string(), "shorten the names"))
    }

    /// Gives the service the first cell in the place of the last one of a batch, and the other way
    /// round.
    fn exchange_two_cells(
        &self,
        protected: &Path,
        client: &Client,
        context: &Name,
    ) -> Result<Exchange, Failure> {
        let mut reader = open(protected)?;
        let records = next_records(&mut reader, protected)?;
        let cells = self.gather(Direction::Reveal, &records, 0)?;
        // They differ in row or column, so each is bound to something else.
        let [one, .., two] = &cells[..] else {
            return Ok(Exchange::NothingToExchange { cells: cells.len() });
        };
        let items = [(one, two), (two, one)].map(|(cell, place)| Open {
            ciphertext: &cell.bytes,
            aad: Some(&place.aad),
        });
        for result in client.decrypt_items(context, &items, Batching::default())? {
            match result {
                Err(error) if error.code() == Some(Code::DecryptionFailed) => {}
                Err(error) => {
                    return Err(Failure::broken(format!(
                        "an exchanged cell: {}",
                        error.message
                    )));
                }
                Ok(_) => return Err(Failure::broken("a cell opened in another cell's place")),
            }
        }
        Ok(Exchange::Refused)
    }
}

/// Removes a revealed file, if there is one.
pub(super) fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}

/// Sends cells to the service and returns what stands in their place, in order.
fn send(
    direction: Direction,
    cells: &[Cell],
    client: &Client,
    context: &Name,
) -> Result<Vec<Vec<u8>>, Failure> {
    let batching = Batching::default();
    let refused = |error: keywright_client::ErrorBody| {
        Failure::broken(format!("a cell was refused: {}", error.message))
    };
    match direction {
        Direction::Protect => {
            let items: Vec<_> = cells
                .iter()
                .map(|cell| Seal {
                    plaintext: &cell.bytes,
                    aad: Some(&cell.aad),
                })
                .collect();
            let sealed = client.encrypt_items(context, &items, batching)?;
            sealed
                .into_iter()
                .map(|item| Ok(base64::encode(&item.map_err(refused)?.ciphertext).into_bytes()))
                .collect()
        }
        Direction::Reveal => {
            let items: Vec<_> = cells
                .iter()
                .map(|cell| Open {
                    ciphertext: &cell.bytes,
                    aad: Some(&cell.aad),
                })
                .collect();
            let opened = client.decrypt_items(context, &items, batching)?;
            opened
                .into_iter()
                .map(|item| Ok(item.map_err(refused)?.plaintext.expose().to_vec()))
                .collect()
        }
    }
}

fn put_back(
    records: &[OwnedRecord],
    cells: &[Cell],
    changed: &[Vec<u8>],
) -> Result<Vec<u8>, keywright_tabular::Error> {
    let mut out = Vec::new();
    let mut rest = cells.iter().zip(changed).peekable();
    for (index, record) in records.iter().enumerate() {
        let mut replacements: Vec<(usize, &[u8])> = Vec::new();
        while let Some((cell, bytes)) = rest.next_if(|(cell, _)| cell.record == index) {
            replacements.push((cell.column, bytes));
        }
        rewrite(&record.as_record(), &replacements, &mut out)?;
    }
    Ok(out)
}

fn next_records(
    reader: &mut Reader<BufReader<File>>,
    path: &Path,
) -> Result<Vec<OwnedRecord>, Failure> {
    let mut records = Vec::with_capacity(ROWS_AT_A_TIME);
    while records.len() < ROWS_AT_A_TIME {
        match reader
            .next_record()
            .map_err(|error| unreadable(path, &error))?
        {
            Some(record) => records.push(record.detach()),
            None => break,
        }
    }
    Ok(records)
}

fn decode(field: &[u8], line: u64) -> Result<Vec<u8>, Failure> {
    let text = std::str::from_utf8(field).ok();
    let bytes = text.and_then(|text| base64::decode(text).ok());
    bytes.ok_or_else(|| {
        Failure::broken(format!(
            "line {line} of the protected file holds no envelope"
        ))
    })
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, Failure> {
    let file = File::open(path).map_err(|error| {
        let happened = format!("{} cannot be read: {error}", path.display());
        Failure::new(
            Exit::Usage,
            happened,
            "name a CSV file: --input FILE (make run FILE=path)",
        )
    })?;
    Reader::new(BufReader::with_capacity(1 << 20, file), &Options::default())
        .map_err(|error| unreadable(path, &error))
}

/// Whether two files are the same, byte for byte.
pub(super) fn same(one: &Path, other: &Path) -> Result<(), Failure> {
    use std::io::Read;
    let open = |path: &Path| {
        File::open(path)
            .map(|file| BufReader::with_capacity(1 << 20, file))
            .map_err(|error| Failure::file(path, "read", &error))
    };
    let (mut a, mut b) = (open(one)?, open(other)?);
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let count = a
            .read(&mut left)
            .map_err(|error| Failure::file(one, "read", &error))?;
        let matches = b.read_exact(&mut right[..count]).is_ok() && left[..count] == right[..count];
        if !matches || (count == 0 && b.read(&mut right).is_ok_and(|more| more > 0)) {
            let happened = format!("{} and {} are not the same", one.display(), other.display());
            return Err(Failure::broken(happened));
        }
        if count == 0 {
            return Ok(());
        }
    }
}

fn unreadable(path: &Path, error: &keywright_tabular::Error) -> Failure {
    let happened = format!("{}: {}", path.display(), sentence(error));
    Failure::new(
        Exit::Usage,
        happened,
        "give a CSV file with a header, and columns that it has",
    )
}

/// Rows that are looked at to guess which columns are sensitive.
const SAMPLE: usize = 200;
/// Rows in memory at a time; memory does not grow with the file.
const ROWS_AT_A_TIME: usize = 2000;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_revealed_file_is_its_owners_alone_whatever_lay_there() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("revealed"), folder.path().join("other"));
        fs::write(&other, b"not ours").unwrap();
        let before: [&dyn Fn(); 3] = [
            &|| (),
            &|| {
                fs::write(&path, b"readable").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            },
            &|| symlink(&other, &path).unwrap(),
        ];
        for lay in before {
            remove(&path);
            lay();
            Direction::Reveal
                .create(&path)
                .unwrap()
                .write_all(b"plain")
                .unwrap();
            let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(fs::read(&path).unwrap(), b"plain");
        }
        assert_eq!(fs::read(&other).unwrap(), b"not ours");
    }

    #[test]
    fn a_revealed_file_goes_with_its_step_also_through_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revealed");
        let step = std::panic::catch_unwind(|| {
            let revealed = Revealed(path.clone());
            fs::write(&revealed.0, b"plain").unwrap();
            panic!("as a bug would");
        });
        assert!(step.is_err());
        assert!(!path.exists());
    }
}
