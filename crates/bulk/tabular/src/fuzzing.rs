//! The promises of [`crate::csv`] over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use std::fmt;
use std::io::{BufRead, BufReader};

use crate::csv::{Index, Options, Quoting, Reader, last_record_end, rewrite};
use crate::{Error, detect};

/// Reads `data` as a CSV file, with quotes and without, and checks that
///
/// * how the bytes arrive makes no difference;
/// * header and records together are the file, or the part of it before the error;
/// * replacing every field and putting the old bytes back gives the file;
/// * a field takes foreign bytes only if they read back as that field;
/// * a field is quoted from its first byte to its last, or has no quote;
/// * looking for sensitive columns ends;
/// * the index of the whole file has the records and the error that reading one by one gives.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn csv(data: &[u8]) {
    for quoting in [Quoting::Assumed, Quoting::None] {
        read(data, quoting);
    }
    looking_for_sensitive_columns_ends(data);
}

fn read(data: &[u8], quoting: Quoting) {
    let options = Options::default().with_quoting(quoting);
    // A small limit, so that it is met too.
    let small = options.clone().with_max_record(512);
    let whole = Reading::new(data, &small);
    assert_eq!(
        whole,
        Reading::new(BufReader::with_capacity(3, data), &small),
        "chunks made a difference"
    );
    the_index_agrees(data, &options);
    if whole.error.is_some() {
        assert!(
            data.starts_with(&whole.bytes),
            "records are not what the file has"
        );
        return;
    }
    assert!(whole.bytes == data, "header and records are not the file");
    let mut fields = whole.records.iter().flatten();
    assert!(
        quoting == Quoting::None || fields.all(|field| is_well_quoted(field)),
        "a quote is in a wrong place: {whole:?}"
    );
    let every = Change {
        options: &options,
        columns: usize::MAX,
    };
    let hidden = every.rewrite(data, |field| {
        Some([b"k", field.len().to_string().as_bytes()].concat())
    });
    let mut old = whole.records.iter().flatten().cloned();
    let shown = hidden.and_then(|hidden| every.rewrite(&hidden, |_| old.next()));
    assert!(
        shown.is_ok_and(|shown| shown == data),
        "what was put back is not the file"
    );
    foreign_bytes_stay_in_their_field(data, &whole, &options);
}

/// By looking at the field alone: between quotes there are only doubled ones.
fn is_well_quoted(field: &[u8]) -> bool {
    match field {
        [b'"', inner @ .., b'"'] => {
            let runs = inner.split(|byte| *byte != b'"');
            runs.into_iter().all(|run| run.len() % 2 == 0)
        }
        other => !other.contains(&b'"'),
    }
}

/// The first field of each record gets the end of the file itself, a length that differs by record.
fn foreign_bytes_stay_in_their_field(data: &[u8], whole: &Reading, options: &Options) {
    let mut cut = data.len();
    let foreign = |_: &[u8]| {
        cut = cut.saturating_sub(1 + cut / 8);
        data.get(cut..).map(<[u8]>::to_vec)
    };
    let first = Change {
        options,
        columns: 1,
    };
    let Ok(changed) = first.rewrite(data, foreign) else {
        return;
    };
    let endless = options.clone().with_max_record(usize::MAX);
    let again = Reading::new(&changed[..], &endless);
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
fn the_index_agrees(data: &[u8], options: &Options) {
    let options = options.clone().with_max_record(usize::MAX);
    let Ok(mut reader) = Reader::new(data, &options) else {
        return;
    };
    let every: Vec<usize> = (0..reader.layout().names().len()).collect();
    let marks = reader.layout().marks();
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
            last_record_end(block, marks),
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

/// A change of the first fields of every record.
struct Change<'o> {
    options: &'o Options,
    columns: usize,
}

impl Change<'_> {
    /// The file with these fields replaced by what `new` makes of them, where it makes something.
    fn rewrite(
        &self,
        data: &[u8],
        mut new: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<Vec<u8>, Error> {
        let mut reader = Reader::new(data, self.options)?;
        let mut out = reader.header().to_vec();
        while let Some(record) = reader.next_record()? {
            let fields: Vec<(usize, Vec<u8>)> = record
                .fields()
                .take(self.columns)
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
}

/// What reading a file came to.
#[derive(PartialEq, Eq)]
struct Reading {
    bytes: Vec<u8>,
    records: Vec<Vec<Vec<u8>>>,
    error: Option<String>,
}

impl Reading {
    fn new(input: impl BufRead, options: &Options) -> Self {
        let mut reading = Self {
            bytes: Vec::new(),
            records: Vec::new(),
            error: None,
        };
        reading.error = reading
            .read(input, options)
            .err()
            .map(|error| error.to_string());
        reading
    }

    fn read(&mut self, input: impl BufRead, options: &Options) -> Result<(), Error> {
        let mut reader = Reader::new(input, options)?;
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
