//! Batches and pages of the common form, which are not read whole: what becomes of them is what becomes of all others,
//! and nothing comes along that no row has.

use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array,
    Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use keywright_columnar::{Error, Kind, Table, fuzzing};
use keywright_mutate::mutations;
use keywright_protect::Error as Common;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::scene::{CARDS, KINDS, Work, contains, keys, whole};

const ARROWS: [Kind; 2] = [Kind::ArrowFile, Kind::ArrowStream];

const RULES: &str = "version = 1\n\
    [[column]]\nname = \"card\"\nformat = \"card\"\n\
    [[column]]\nname = \"mail\"\nformat = \"email\"\ntweak = [\"column\", \"row(place)\"]\n";

/// Columns of many kinds, none of them a dictionary.
fn plain(rows: usize) -> RecordBatch {
    let cards = StringArray::from_iter((0..rows).map(|row| (row % 5 != 3).then(|| CARDS[row % 4])));
    let mails = (0..rows).map(|row| match row % 7 {
        0 => None,
        1 => Some(String::new()),
        _ => Some(format!("someone{row:05}@example.com")),
    });
    let mut tags = ListBuilder::new(StringBuilder::new());
    for row in 0..rows {
        tags.values().append_value("tag");
        tags.append(row % 4 != 0);
    }
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let fields = vec![Field::new("x", DataType::Int64, false)];
    let nulls = NullBuffer::from_iter((0..rows).map(|row| row % 4 != 2));
    let inner = StructArray::new(fields.into(), vec![Arc::clone(&ids)], Some(nulls));
    let hashes: Vec<[u8; 3]> = (0..rows)
        .map(|row| [row.to_le_bytes()[0], 0xFF, 1])
        .collect();
    let hashes = FixedSizeBinaryArray::try_from_iter(hashes.into_iter()).unwrap();
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("id", ids, false),
        ("inner", Arc::new(inner), true),
        ("card", Arc::new(cards), true),
        ("tags", Arc::new(tags.finish()), true),
        ("mail", Arc::new(LargeStringArray::from_iter(mails)), true),
        ("hash", Arc::new(hashes), true),
        (
            "even",
            Arc::new(BooleanArray::from_iter(
                (0..rows).map(|row| Some(row % 2 == 0)),
            )),
            true,
        ),
        (
            "amount",
            Arc::new(Float64Array::from_iter_values(
                (0..rows).map(|row| row as f64),
            )),
            true,
        ),
        (
            "place",
            Arc::new(StringArray::from_iter_values(
                (0..rows).map(|row| format!("p{row}")),
            )),
            true,
        ),
        (
            "word",
            Arc::new(StringArray::from_iter_values(
                (0..rows).map(|row| format!("ü{row}")),
            )),
            true,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn write(work: &Work, kind: Kind, batches: &[RecordBatch], options: IpcWriteOptions) {
    let (file, schema) = (File::create(work.path("in")).unwrap(), batches[0].schema());
    match kind {
        Kind::ArrowStream => {
            let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
            batches
                .iter()
                .for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        Kind::ArrowFile => {
            let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
            batches
                .iter()
                .for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => write_pages(
            work,
            batches,
            WriterVersion::PARQUET_1_0,
            Compression::UNCOMPRESSED,
        ),
    }
}

fn write_pages(work: &Work, batches: &[RecordBatch], version: WriterVersion, codec: Compression) {
    let plain = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(codec)
        .set_dictionary_enabled(false)
        .set_encoding(parquet::basic::Encoding::PLAIN)
        .set_data_page_row_count_limit(64)
        .set_write_batch_size(16)
        .build();
    let file = File::create(work.path("in")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(plain)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// One column of texts, by what it is made of.
fn raw(offsets: &[i32], texts: &[u8], valid: &[bool]) -> RecordBatch {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets.to_vec()));
    let texts = Buffer::from_vec(texts.to_vec());
    let nulls = (!valid.is_empty()).then(|| NullBuffer::from(valid.to_vec()));
    let card: ArrayRef = Arc::new(StringArray::new(offsets, texts, nulls));
    RecordBatch::try_from_iter_with_nullable([("card", card, true)]).unwrap()
}

#[test]
fn columns_become_tokens_and_come_back() {
    for kind in KINDS {
        for threads in [1, 2] {
            let work = if threads == 1 {
                Work::new().alone()
            } else {
                Work::new()
            };
            write(
                &work,
                kind,
                &[plain(700), plain(1), plain(20_000)],
                IpcWriteOptions::default(),
            );
            let summary = work.protect(RULES).unwrap();
            assert_eq!(summary.rows, 20_701, "{kind:?}");
            let (before, after) = (whole(&work, "in", kind), whole(&work, "out", kind));
            assert_eq!(before.schema(), after.schema(), "{kind:?}");
            for (place, field) in before.schema().fields().iter().enumerate() {
                let (old, new) = (before.column(place), after.column(place));
                assert_eq!(old.logical_nulls(), new.logical_nulls(), "{kind:?} {field}");
                let changes = ["card", "mail"].contains(&field.name().as_str());
                assert_eq!(old != new, changes, "{kind:?} {field}");
            }
            let out = work.read("out");
            for clear in CARDS.iter().chain(&["someone"]) {
                assert!(!contains(&out, clear), "{clear} is in the {kind:?}");
            }
            work.reveal();
            assert_eq!(whole(&work, "back", kind), before, "{kind:?}");
        }
    }
}

/// What is compressed, and what has a dictionary, is read whole.
#[test]
fn tokens_are_those_of_batches_that_are_read_whole() {
    let batch = plain(500);
    for kind in ARROWS {
        let spliced = Work::new();
        write(
            &spliced,
            kind,
            std::slice::from_ref(&batch),
            IpcWriteOptions::default(),
        );
        spliced.protect(RULES).unwrap();
        let expected = whole(&spliced, "out", kind);
        let compressed = IpcWriteOptions::default()
            .try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME));
        let work = Work::new();
        write(
            &work,
            kind,
            std::slice::from_ref(&batch),
            compressed.unwrap(),
        );
        work.protect(RULES).unwrap();
        assert_eq!(whole(&work, "out", kind), expected, "{kind:?}");
        let keys: DictionaryArray<Int32Type> =
            (0..500).map(|row| [None, Some("x")][row % 2]).collect();
        let mut columns: Vec<(String, ArrayRef, bool)> = vec![];
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            columns.push((
                field.name().clone(),
                Arc::clone(column),
                field.is_nullable(),
            ));
        }
        columns.push(("more".to_owned(), Arc::new(keys), true));
        let work = Work::new();
        let more = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        write(&work, kind, &[more], IpcWriteOptions::default());
        work.protect(RULES).unwrap();
        let got = whole(&work, "out", kind);
        assert_eq!(
            got.columns()[..expected.num_columns()],
            *expected.columns(),
            "{kind:?}"
        );
    }
}

#[test]
fn pages_of_every_kind_give_the_same_tokens() {
    let batches = [plain(300), plain(77)];
    let mut all = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for codec in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let work = Work::new();
            write_pages(&work, &batches, version, codec);
            work.protect(RULES).unwrap();
            all.push(whole(&work, "out", Kind::Parquet));
            work.reveal();
            let back = whole(&work, "back", Kind::Parquet);
            assert_eq!(
                back,
                whole(&work, "in", Kind::Parquet),
                "{version:?} {codec}"
            );
        }
    }
    // Read by the library, and not from plain pages.
    let work = Work::new();
    work.write(Kind::Parquet, &batches);
    work.protect(RULES).unwrap();
    all.push(whole(&work, "out", Kind::Parquet));
    // Their schemas differ in what they say of their writer.
    assert!(
        all.windows(2)
            .all(|pair| pair[0].columns() == pair[1].columns())
    );
}

#[test]
fn bytes_that_no_row_has_do_not_come_along() {
    let card = CARDS[0].as_bytes();
    let hidden = [card, b"HIDDEN", card].concat();
    // A null with bytes, and bytes behind the last row: what a writer may leave.
    let batches = [
        raw(&[0, 16, 22, 38], &hidden, &[true, false, true]),
        raw(&[0, 16], &[card, b"HIDDEN"].concat(), &[]),
        raw(&[22, 38], &hidden, &[]),
    ];
    for kind in ARROWS {
        for batch in &batches {
            let work = Work::new();
            write(
                &work,
                kind,
                std::slice::from_ref(batch),
                IpcWriteOptions::default(),
            );
            work.protect(RULES_OF_CARDS).unwrap();
            let out = work.read("out");
            assert!(
                !contains(&out, "HIDDEN") && !contains(&out, CARDS[0]),
                "{kind:?}"
            );
            work.reveal();
            assert_eq!(whole(&work, "back", kind), *batch, "{kind:?}");
        }
        // Between two buffers.
        let work = Work::new();
        write(
            &work,
            kind,
            &[raw(&[0, 16], card, &[])],
            IpcWriteOptions::default(),
        );
        let mut input = work.read("in");
        let place = input.windows(16).position(|part| part == card).unwrap() + 16;
        assert_eq!(input[place..place + 48], [0; 48]);
        input[place + 8..place + 24].copy_from_slice(card);
        std::fs::write(work.path("in"), &input).unwrap();
        work.protect(RULES_OF_CARDS).unwrap();
        assert!(!contains(&work.read("out"), CARDS[0]), "{kind:?}");
    }
}

const RULES_OF_CARDS: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n";

#[test]
fn values_that_do_not_fit_become_null_and_are_told() {
    let texts = b"4111111111111111?!\xC3\xBC4111111111111111";
    let offsets = [0, 16, 16, 18, 18, 20, 36];
    let valid = [true, false, true, true, true, true];
    for (kind, valid) in ARROWS
        .into_iter()
        .flat_map(|kind| [(kind, &valid[..]), (kind, &[])])
    {
        let work = Work::new();
        // The first of them in ASCII alone.
        let ascii = [0, 16, 16, 18, 18, 18, 34];
        let batches = [
            raw(&ascii, b"4111111111111111?!4111111111111111", valid),
            raw(&offsets, texts, valid),
        ];
        write(&work, kind, &batches, IpcWriteOptions::default());
        let error = work.protect(RULES_OF_CARDS).unwrap_err();
        let told = matches!(error, Error::Protect(Common::Misfit { row: 3, .. }));
        assert!(told, "{kind:?}: {error:?}");
        assert_eq!(work.names(), ["in"]);
        let summary = work
            .protect(&format!("{RULES_OF_CARDS}on_bad = \"null\"\n"))
            .unwrap();
        let counts = summary.columns[0].counts;
        assert_eq!(
            (counts.changed, counts.nulled, counts.empty),
            (4, 3, 5),
            "{kind:?}"
        );
        let after = whole(&work, "out", kind);
        let after = after.column(0).as_string::<i32>();
        let gap = if valid.is_empty() { Some("") } else { None };
        let texts: Vec<_> = after.iter().collect();
        assert_eq!(texts[1..5], [gap, None, Some(""), Some("")], "{kind:?}");
        assert_eq!(texts[7..11], [gap, None, Some(""), None], "{kind:?}");
        for row in [0, 5, 6, 11] {
            assert_eq!(texts[row].map(str::len), Some(16), "{kind:?} {row}");
        }
    }
}

#[test]
fn damaged_batches_come_back_or_are_refused() {
    for kind in KINDS {
        let work = Work::new();
        write(
            &work,
            kind,
            &[plain(12), plain(3)],
            IpcWriteOptions::default(),
        );
        let seed = work.read("in");
        let folder = tempfile::tempdir().unwrap();
        fuzzing::file(folder.path(), &seed, &keys());
        for mutant in mutations(&[&seed], 150, 0x7370_6c69) {
            fuzzing::file(folder.path(), &mutant, &keys());
        }
    }
}

#[test]
fn interrupted_runs_go_on_to_the_same_bytes() {
    let batches: Vec<_> = [40, 1, 30_000, 60, 200, 17_000, 2].map(plain).into();
    for kind in KINDS {
        let whole = Work::new().alone();
        write(&whole, kind, &batches, IpcWriteOptions::default());
        whole.protect(RULES).unwrap();
        for steps in 1..9 {
            let work = Work::new();
            write(&work, kind, &batches, IpcWriteOptions::default());
            let mut left = steps;
            let ran = work.protect_with(RULES, &mut |_| {
                left -= 1;
                match left {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            ran.unwrap_err();
            work.protect(RULES).unwrap();
            assert!(work.read("out") == whole.read("out"), "{kind:?} {steps}");
        }
    }
}

/// A stream may end with its last batch: then nothing says that it is whole but its length.
#[test]
fn a_stream_may_end_with_its_last_batch() {
    let work = Work::new();
    write(
        &work,
        Kind::ArrowStream,
        &[plain(30), plain(9)],
        IpcWriteOptions::default(),
    );
    let mut input = work.read("in");
    assert_eq!(
        input[input.len() - 8..],
        [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
    );
    input.truncate(input.len() - 8);
    std::fs::write(work.path("in"), input).unwrap();
    work.protect(RULES).unwrap();
    work.reveal();
    let kind = Kind::ArrowStream;
    assert_eq!(whole(&work, "back", kind), whole(&work, "in", kind));
}

/// Cells of one column are read whatever the others are.
#[test]
fn columns_of_types_without_buffers_are_kept() {
    let rows = 70;
    let cards: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..rows).map(|row| CARDS[row % 4]),
    ));
    let nothing: ArrayRef = Arc::new(NullArray::new(rows));
    let fields = vec![
        Field::new("nothing", DataType::Null, true),
        Field::new("card", DataType::Utf8, false),
    ];
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema, vec![nothing, cards]).unwrap();
    for kind in ARROWS {
        let work = Work::new();
        write(
            &work,
            kind,
            std::slice::from_ref(&batch),
            IpcWriteOptions::default(),
        );
        work.protect(RULES_OF_CARDS).unwrap();
        work.reveal();
        assert_eq!(whole(&work, "back", kind), batch, "{kind:?}");
        let table = Table::open(&work.path("in")).unwrap();
        let mut rows = 0;
        table
            .look(&[1, 1], 9, &mut |batch| rows += batch.rows())
            .unwrap();
        assert_eq!(rows, 9);
    }
}
