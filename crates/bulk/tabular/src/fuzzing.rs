//! The promises of [`crate::csv`] over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use std::fmt;
use std::io::{BufRead, BufReader};

use crate::csv::{Index, Options, Reader, last_record_end, rewrite};
use crate::{Error, detect};

/// Reads `data` as a CSV file and checks that
///
/// * how the bytes arrive makes no difference;
/// * header and records together are the file, or the part of it before the error;
/// * replacing every field and putting the old bytes back gives the file;
/// * a field takes foreign bytes only if they read back as that field;
/// * looking for sensitive columns ends;
/// * the index of the whole file has the records and the error that reading one by one gives.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn csv(data: &[u8]) {
    let whole = Reading::of(data);
    assert_eq!(
        whole,
        Reading::of(BufReader::with_capacity(3, data)),
        "chunks made a difference"
    );
    the_index_agrees(data);
    if whole.error.is_some() {
        assert!(
            data.starts_with(&whole.bytes),
            "records are not what the file has"
        );
        return;
    }
    assert!(whole.bytes == data, "header and records are not the file");
    let hidden = rewritten(data, usize::MAX, |field| {
        Some([b"k", field.len().to_string().as_bytes()].concat())
    });
    let mut old = whole.records.iter().flatten().cloned();
    let shown = hidden.and_then(|hidden| rewritten(&hidden, usize::MAX, |_| old.next()));
    assert!(
        shown.is_ok_and(|shown| shown == data),
        "what was put back is not the file"
    );
    foreign_bytes_stay_in_their_field(data, &whole);
    looking_for_sensitive_columns_ends(data);
}

/// The first field of each record gets the end of the file itself, a length that differs by record.
fn foreign_bytes_stay_in_their_field(data: &[u8], whole: &Reading) {
    let mut cut = data.len();
    let foreign = |_: &[u8]| {
        cut = cut.saturating_sub(1 + cut / 8);
        data.get(cut..).map(<[u8]>::to_vec)
    };
    let Ok(changed) = rewritten(data, 1, foreign) else {
        return;
    };
    let again = Reading::with_limit(&changed[..], usize::MAX);
    assert!(
        again.error.is_none(),
        "an accepted change broke the file: {again:?}"
    );
    let counts = |reading: &Reading| reading.records.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(
        counts(&again),
        counts(whole),
        "an accepted change moved fields"
    );
}

/// All records at once, against one after the other.
fn the_index_agrees(data: &[u8]) {
    let options = Options::default().with_max_record(usize::MAX);
    let Ok(mut reader) = Reader::new(data, &options) else {
        return;
    };
    let every: Vec<usize> = (0..reader.layout().names().len()).collect();
    let separator = reader.layout().separator().byte();
    let line = 1 + crate::csv::newlines(reader.header());
    let block = data.get(reader.header().len()..).unwrap_or_default();
    let index = Index::new(reader.layout(), &every);
    assert!(index.is_ok(), "no index: {index:?}");
    let Ok(mut index) = index else { return };
    let indexed = index.read(block).map_err(|broken| broken.at(line));
    let (mut row, mut whole) = (0, 0);
    let ended = loop {
        match reader.next_record() {
            Ok(Some(record)) if indexed.is_ok() => {
                assert!(block[index.row(row)] == *record.raw(), "row {row} differs");
                for place in 0..record.fields().len() {
                    let field = &block[index.field(row, place)];
                    assert!(
                        record.field(place) == Some(field),
                        "a field of row {row} differs"
                    );
                }
                row += 1;
                if !record.line_end().is_empty() {
                    whole += record.raw().len();
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.to_string()),
        }
    };
    assert_eq!(
        ended,
        indexed.map_err(|error| error.to_string()),
        "one error, two words"
    );
    if ended.is_ok() {
        assert_eq!(index.rows(), row, "rows");
        assert_eq!(
            last_record_end(block, separator),
            whole,
            "the last whole record"
        );
    }
}

fn looking_for_sensitive_columns_ends(data: &[u8]) {
    let Ok(mut reader) = Reader::new(data, &Options::default()) else {
        return;
    };
    let sample = reader.sample(64).unwrap_or_default();
    let found = detect::candidates(reader.layout(), &sample);
    assert!(
        found.len() <= reader.layout().names().len(),
        "a column was found twice"
    );
}

/// The file with the first fields of every record replaced by what `new` makes of them, where it makes
/// something.
fn rewritten(
    data: &[u8],
    columns: usize,
    mut new: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    let mut reader = Reader::new(data, &Options::default())?;
    let mut out = reader.header().to_vec();
    while let Some(record) = reader.next_record()? {
        let fields: Vec<(usize, Vec<u8>)> = record
            .fields()
            .take(columns)
            .enumerate()
            .filter_map(|(column, field)| Some((column, new(field)?)))
            .collect();
        let replacements: Vec<(usize, &[u8])> = fields
            .iter()
            .map(|(column, bytes)| (*column, bytes.as_slice()))
            .collect();
        rewrite(&record, &replacements, &mut out)?;
    }
    Ok(out)
}

/// What reading a file came to.
#[derive(PartialEq, Eq)]
struct Reading {
    bytes: Vec<u8>,
    records: Vec<Vec<Vec<u8>>>,
    error: Option<String>,
}

impl Reading {
    /// With a small limit, so that it is met too.
    fn of(input: impl BufRead) -> Self {
        Self::with_limit(input, 512)
    }

    fn with_limit(input: impl BufRead, limit: usize) -> Self {
        let mut reading = Self {
            bytes: Vec::new(),
            records: Vec::new(),
            error: None,
        };
        reading.error = reading
            .read(input, limit)
            .err()
            .map(|error| error.to_string());
        reading
    }

    fn read(&mut self, input: impl BufRead, limit: usize) -> Result<(), Error> {
        let mut reader = Reader::new(input, &Options::default().with_max_record(limit))?;
        self.bytes.extend_from_slice(reader.header());
        while let Some(record) = reader.next_record()? {
            self.bytes.extend_from_slice(record.raw());
            self.records
                .push(record.fields().map(<[u8]>::to_vec).collect());
        }
        Ok(())
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} records, error {:?}: {:?}",
            self.records.len(),
            self.error,
            self.records
        )
    }
}
