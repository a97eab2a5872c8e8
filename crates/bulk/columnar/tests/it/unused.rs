//! Entries of dictionaries in Parquet that no row has: none of them is copied.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use keywright_columnar::Kind;
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::scene::{Work, contains, whole};

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";

const HIDDEN: &str = "4000000000000000";

fn card(row: usize) -> String {
    format!("4{row:015}")
}

/// Notes that take turns, the last of four a card, with a null between them.
fn note(row: usize) -> Option<&'static str> {
    ["one", "two", "three", HIDDEN, "null"]
        .get(row % 4)
        .filter(|_| row < 24)
        .copied()
}

/// Writes 27 rows, of which the last three have no note, in pages of one version.
fn write(work: &Work, version: WriterVersion) {
    let notes: ArrayRef = Arc::new(StringArray::from_iter((0..27).map(note)));
    let cards: ArrayRef = Arc::new(StringArray::from_iter_values((0..27).map(card)));
    let columns = [("card", cards, true), ("note", notes, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_column_dictionary_enabled("card".into(), false)
        .build();
    let file = File::create(work.path("in")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Makes the third entry of what was the fourth, in the indices of all rows: 0, 1, 2, 3 in two bits each.
fn hide(work: &Work) {
    let mut bytes = work.read("in");
    let places: Vec<usize> = (0..bytes.len() - 6)
        .filter(|at| bytes[*at..at + 6] == [0b1110_0100; 6])
        .collect();
    let [place] = places[..] else {
        panic!("the indices are not where they were: {places:?}");
    };
    bytes[place..place + 6].fill(0b1010_0100);
    // The statistics of the writer are of values that rows have.
    let length = bytes.len();
    let footer =
        length - 8 - u32::from_le_bytes(bytes[length - 8..length - 4].try_into().unwrap()) as usize;
    while let Some(at) = bytes[footer..]
        .windows(16)
        .position(|part| part == HIDDEN.as_bytes())
    {
        bytes[footer + at..footer + at + 16].copy_from_slice(b"one and no more ");
    }
    std::fs::write(work.path("in"), bytes).unwrap();
}

fn encodings(work: &Work, name: &str) -> Vec<Encoding> {
    let reader = SerializedFileReader::new(File::open(work.path(name)).unwrap()).unwrap();
    reader
        .metadata()
        .row_group(0)
        .column(1)
        .encodings()
        .collect()
}

#[test]
fn entries_that_no_row_has_are_not_copied() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let work = Work::new();
        write(&work, version);
        hide(&work);
        let before = whole(&work, "in", Kind::Parquet);
        assert!(
            before
                .column(1)
                .as_string::<i32>()
                .iter()
                .all(|note| note != Some(HIDDEN))
        );
        assert!(contains(&work.read("in"), HIDDEN));
        work.protect(RULES).unwrap();
        assert!(!contains(&work.read("out"), HIDDEN), "{version:?}");
        let after = whole(&work, "out", Kind::Parquet);
        assert_eq!(after.column(1), before.column(1));
        assert_eq!(after.column(1).null_count(), 3);
        assert_eq!(encodings(&work, "out"), encodings(&work, "in"));
    }
}

/// Nothing is written anew where every entry has a row: the bytes of the column are those of the input.
#[test]
fn dictionaries_whose_entries_all_have_rows_are_copied() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let work = Work::new();
        write(&work, version);
        let place = |name: &str| {
            let reader = SerializedFileReader::new(File::open(work.path(name)).unwrap()).unwrap();
            let place = reader.metadata().row_group(0).column(1).byte_range();
            let bytes = work.read(name);
            let [start, length] = [place.0, place.1].map(|number| usize::try_from(number).unwrap());
            bytes[start..start + length].to_vec()
        };
        work.protect(RULES).unwrap();
        assert_eq!(place("out"), place("in"), "{version:?}");
    }
}
