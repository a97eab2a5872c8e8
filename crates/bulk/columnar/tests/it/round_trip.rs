//! Everything but the tokens is as it was, nothing of the values is left, and they come back.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use keywright_columnar::{Kind, Table};
use keywright_format::{Column, FormatKey, Rules, Scope};
use keywright_secret::Secret;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use crate::scene::{CARDS, CITIES, KINDS, RULES, Work, batch, contains, whole};

#[test]
fn columns_of_texts_become_tokens_and_come_back() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(700), batch(300), batch(1)]);
        let summary = work.protect(RULES).unwrap();
        assert_eq!((summary.rows, summary.resumed), (1_001, 0), "{kind:?}");
        assert_eq!(summary.bytes, work.read("out").len() as u64, "{kind:?}");
        let (before, after) = (whole(&work, "in", kind), whole(&work, "out", kind));
        assert_eq!(before.schema(), after.schema(), "{kind:?}");
        for (place, field) in before.schema().fields().iter().enumerate() {
            let (old, new) = (before.column(place), after.column(place));
            assert_eq!(
                old.logical_nulls(),
                new.logical_nulls(),
                "{kind:?} {}",
                field.name()
            );
            let changes = ["card", "mail", "city"].contains(&field.name().as_str());
            assert_eq!(old != new, changes, "{kind:?} {}", field.name());
        }
        let out = work.read("out");
        for clear in CARDS.iter().chain(&CITIES).chain(&["someone"]) {
            assert!(!contains(&out, clear), "{clear} is in the {kind:?}");
        }
        work.reveal();
        assert_eq!(whole(&work, "back", kind), before, "{kind:?}");
        let names = ["back", "in", "out", "out.protection.json"];
        assert_eq!(work.names(), names, "{kind:?}");
    }
}

#[test]
fn a_column_within_a_structure_is_named_by_its_path() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(50), batch(40)]);
    let rules = "version = 1\n[[column]]\nname = \"inner.plate\"\nformat = \"upper(5) digit(5)\"\n";
    let summary = work.protect(rules).unwrap();
    assert!(summary.columns[0].counts.changed > 0);
    let (before, after) = (
        whole(&work, "in", Kind::Parquet),
        whole(&work, "out", Kind::Parquet),
    );
    let plates = |batch: &RecordBatch| batch.column(5).as_struct().column(1).clone();
    assert_eq!(
        before.column(5).logical_nulls(),
        after.column(5).logical_nulls()
    );
    assert_eq!(
        plates(&before).logical_nulls(),
        plates(&after).logical_nulls()
    );
    assert!(plates(&before) != plates(&after) && !contains(&work.read("out"), "PLATE"));
    work.reveal();
    assert_eq!(whole(&work, "back", Kind::Parquet), before);
}

/// The tokens that the format makes by itself, which are those of a CSV file.
#[test]
fn tokens_are_those_of_every_other_table() {
    let rules = Rules::parse(RULES).unwrap();
    let rule = &rules.columns()[0];
    let secret = Secret::from_fill(|key| key.fill(3));
    let key = FormatKey::derive(&secret, rule.format().unwrap(), rule.settings()).unwrap();
    let mut column = Column::new(&key, Scope::column("card"));
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(9)]);
        work.protect(RULES).unwrap();
        let tokens = whole(&work, "out", kind);
        for (row, token) in tokens.column(1).as_string::<i32>().iter().enumerate() {
            let Some(token) = token else { continue };
            let expected = column.protect_one(CARDS[row % 4].as_bytes(), &[]).unwrap();
            assert_eq!(token.as_bytes(), expected, "{kind:?}");
        }
    }
}

/// The number of a row as part of its tweak.
#[test]
fn a_tweak_may_be_made_of_a_column_of_numbers() {
    let rules = RULES.replace(
        "\"card\"\nformat = \"card\"",
        "\"card\"\nformat = \"card\"\ntweak = [\"column\", \"row(id)\"]",
    );
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(60), batch(30)]);
        work.protect(&rules).unwrap();
        let after = whole(&work, "out", kind);
        let tokens: Vec<_> = after
            .column(1)
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect();
        let mut others = tokens.clone();
        others.sort_unstable();
        others.dedup();
        // Numbers begin anew with each batch, and so do equal pairs of card and number.
        assert!(
            others.len() > tokens.len() / 2,
            "{kind:?}: equal cards have equal tokens"
        );
        work.reveal();
        assert_eq!(
            whole(&work, "back", kind),
            whole(&work, "in", kind),
            "{kind:?}"
        );
    }
}

fn metadata(work: &Work, name: &str) -> ParquetMetaData {
    let bytes = Bytes::from(work.read(name));
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&bytes)
        .unwrap()
}

#[test]
fn a_parquet_file_keeps_its_shape() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(700), batch(300)]);
    work.protect(RULES).unwrap();
    let (before, after) = (metadata(&work, "in"), metadata(&work, "out"));
    let rows = |metadata: &ParquetMetaData| -> Vec<i64> {
        metadata
            .row_groups()
            .iter()
            .map(|group| group.num_rows())
            .collect()
    };
    assert_eq!(
        (rows(&before), rows(&after)),
        (vec![700, 300], vec![700, 300])
    );
    let (of_input, of_output) = (before.file_metadata(), after.file_metadata());
    assert_eq!(
        of_input.key_value_metadata(),
        of_output.key_value_metadata()
    );
    assert_eq!(of_input.created_by(), of_output.created_by());
    assert_eq!(of_input.schema(), of_output.schema());
    for (old, new) in before.row_groups().iter().zip(after.row_groups()) {
        for (old, new) in old.columns().iter().zip(new.columns()) {
            assert_eq!(old.compression(), new.compression());
            assert_eq!(old.num_values(), new.num_values());
            let parts = |chunk: &parquet::file::metadata::ColumnChunkMetaData| {
                [
                    chunk.bloom_filter_offset(),
                    chunk.dictionary_page_offset(),
                    chunk.column_index_offset(),
                    chunk.offset_index_offset(),
                ]
                .map(|offset| offset.is_some())
            };
            assert_eq!(parts(old), parts(new), "{}", old.column_path());
        }
    }
    // The bytes of a column that stays are those it had.
    let (input, output) = (work.read("in"), work.read("out"));
    for column in [0, 4, 5] {
        for (old, new) in before.row_groups().iter().zip(after.row_groups()) {
            let bytes = |chunk: &parquet::file::metadata::ColumnChunkMetaData, file: &[u8]| {
                let (start, length) = chunk.byte_range();
                let place = |at: u64| usize::try_from(at).unwrap();
                file[place(start)..place(start + length)].to_vec()
            };
            assert_eq!(
                bytes(old.column(column), &input),
                bytes(new.column(column), &output)
            );
            assert_eq!(
                old.column(column).statistics(),
                new.column(column).statistics()
            );
        }
    }
}

#[test]
fn what_is_said_of_a_column_is_said_of_its_tokens() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(700)]);
    work.protect(RULES).unwrap();
    let metadata = metadata(&work, "out");
    let tokens = whole(&work, "out", Kind::Parquet);
    let tokens: Vec<_> = tokens
        .column(1)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    let chunk = metadata.row_group(0).column(1);
    let statistics = chunk.statistics().unwrap();
    assert_eq!(
        statistics.min_bytes_opt(),
        tokens.iter().min().map(|token| token.as_bytes())
    );
    assert_eq!(
        statistics.max_bytes_opt(),
        tokens.iter().max().map(|token| token.as_bytes())
    );
    let file = Bytes::from(work.read("out"));
    let filter = Sbbf::read_from_column_chunk(chunk, &file).unwrap().unwrap();
    assert!(tokens.iter().all(|token| filter.check(token)));
    assert!(CARDS.iter().filter(|card| filter.check(*card)).count() < 2);
}

/// Values of a dictionary that no row has are not left in clear, and batches share one dictionary still.
#[test]
fn a_dictionary_is_changed_whole_and_once() {
    let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Arc::new(Schema::new(vec![Field::new("city", kind, true)]));
    let values = Arc::new(StringArray::from(vec![
        "Wellington",
        "Nowhere",
        "Nairobi",
        "?!",
    ]));
    let part = |keys: Vec<Option<i32>>| {
        let keys = Int32Array::from(keys);
        let array = DictionaryArray::<Int32Type>::try_new(keys, values.clone()).unwrap();
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(array)]).unwrap()
    };
    let batches = [
        part(vec![Some(0), None, Some(0)]),
        part(vec![Some(2), Some(0)]),
    ];
    let rules = "version = 1\n[[column]]\nname = \"city\"\nformat = \"letter(6..20)\"\n";
    for kind in [Kind::ArrowFile, Kind::ArrowStream] {
        let work = Work::new();
        work.write(kind, &batches);
        work.protect(rules).unwrap();
        for clear in ["Wellington", "Nowhere", "Nairobi", "?!"] {
            assert!(!contains(&work.read("out"), clear), "{kind:?} {clear}");
        }
        let after = whole(&work, "out", kind);
        let after = after.column(0).as_dictionary::<Int32Type>();
        assert_eq!(after.len(), 5);
        work.reveal();
        let back = whole(&work, "back", kind);
        let back = back.column(0).as_dictionary::<Int32Type>();
        let texts: Vec<_> = back
            .downcast_dict::<StringArray>()
            .unwrap()
            .into_iter()
            .collect();
        let expected = ["Wellington", "", "Wellington", "Nairobi", "Wellington"];
        let texts: Vec<_> = texts.into_iter().map(Option::unwrap_or_default).collect();
        assert_eq!(texts, expected, "{kind:?}");
    }
}

#[test]
fn metadata_of_an_arrow_file_stays() {
    let work = Work::new();
    work.write(Kind::ArrowFile, &[batch(10)]);
    work.protect(RULES).unwrap();
    let reader =
        arrow_ipc::reader::FileReader::try_new(File::open(work.path("out")).unwrap(), None);
    let reader = reader.unwrap();
    assert_eq!(
        reader.custom_metadata().get("made").map(String::as_str),
        Some("here")
    );
    assert_eq!(
        reader.schema().metadata().get("owner").map(String::as_str),
        Some("shop")
    );
    assert_eq!(reader.num_batches(), 1);
}

#[test]
fn cells_are_looked_at_as_texts() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(20), batch(20)]);
        let table = Table::open(&work.path("in")).unwrap();
        let mut seen = Vec::new();
        table
            .look(&[0, 1, 4], 25, &mut |batch| {
                for row in 0..batch.rows() {
                    let cell = |column| {
                        batch
                            .cell(column, row)
                            .map(|cell| String::from_utf8_lossy(cell).into_owned())
                    };
                    seen.push((cell(0), cell(1), cell(2)));
                }
            })
            .unwrap();
        assert_eq!(seen.len(), 25, "{kind:?}");
        assert_eq!(seen[21].0.as_deref(), Some("1"), "{kind:?}");
        assert_eq!(seen[3].1.as_deref(), Some(""), "{kind:?}");
        assert_eq!(seen[1].1.as_deref(), Some(CARDS[1]), "{kind:?}");
        assert_eq!(seen[1].2, None, "{kind:?}");
    }
}
