//! Beneath a null, in a part of a union that is not chosen, in an item of a list that is null, and behind the last value a
//! writer can leave what it likes: `if_else` of pyarrow and masked arrays leave the values there. None of it is written.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, Decimal128Array, DictionaryArray, FixedSizeBinaryArray,
    FixedSizeListArray, GenericListArray, GenericListViewArray, Int32Array, Int64Array,
    LargeBinaryArray, MapArray, RecordBatch, RunArray, StringArray, StringViewArray, StructArray,
    UnionArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{
    CompressionType, FieldNode, MessageBuilder, MessageHeader, MetadataVersion, RecordBatchBuilder,
};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, UnionFields};
use flatbuffers::FlatBufferBuilder;
use keywright_columnar::Kind;

use crate::scene::{Work, contains, whole};

const ROWS: usize = 24;

fn card(row: usize) -> String {
    format!("4{row:015}")
}

fn number(row: usize) -> i64 {
    4_000_000_000_000_000 + row as i64
}

fn narrow(number: usize) -> i32 {
    i32::try_from(number).unwrap()
}

/// The even rows have a value.
fn even() -> NullBuffer {
    (0..ROWS).map(|row| row % 2 == 0).collect()
}

fn field(name: &str, kind: &DataType) -> FieldRef {
    Arc::new(Field::new(name, kind.clone(), true))
}

/// A text of each row, as long as a card: in the odd ones it is the card.
fn texts(nulls: Option<NullBuffer>) -> StringArray {
    let cells = (0..ROWS).map(|row| match row % 2 {
        0 => format!("note of row {row:04}"),
        _ => card(row),
    });
    let cells = StringArray::from_iter_values(cells);
    let (offsets, values, _) = cells.into_parts();
    StringArray::new(offsets, values, nulls)
}

fn numbers(nulls: Option<NullBuffer>) -> Int64Array {
    let cells = (0..ROWS).map(|row| if row % 2 == 0 { 7 } else { number(row) });
    Int64Array::new(cells.collect(), nulls)
}

fn views(nulls: Option<NullBuffer>) -> StringViewArray {
    let mut builder = StringViewBuilder::new();
    for text in texts(None).iter() {
        builder.append_option(text);
    }
    let (views, buffers, _) = builder.finish().into_parts();
    StringViewArray::new(views, buffers, nulls)
}

fn dictionary(nulls: Option<NullBuffer>) -> DictionaryArray<Int32Type> {
    let keys = Int32Array::new((0..narrow(ROWS)).collect(), nulls);
    DictionaryArray::new(keys, Arc::new(texts(None)))
}

/// A part of each kind in a structure whose odd rows are null; the parts have no null of their own.
fn within() -> StructArray {
    let parts: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(texts(None))),
        ("number", Arc::new(numbers(None))),
        ("view", Arc::new(views(None))),
        ("category", Arc::new(dictionary(None))),
    ];
    let fields: Fields = parts
        .iter()
        .map(|(name, part)| field(name, part.data_type()))
        .collect();
    let parts = parts.into_iter().map(|(_, part)| part).collect();
    StructArray::new(fields, parts, Some(even()))
}

fn plain_columns() -> Vec<(&'static str, ArrayRef)> {
    let offsets = || OffsetBuffer::<i32>::from_lengths([1; ROWS]);
    let item = field("item", &DataType::Utf8);
    let all: ArrayRef = Arc::new(texts(None));
    let key = Arc::new(Field::new("key", DataType::Utf8, false));
    let value = field("value", &DataType::Utf8);
    let entries = StructArray::new(
        vec![key, value].into(),
        vec![Arc::clone(&all), Arc::clone(&all)],
        None,
    );
    let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let (offsets_of_texts, values, _) = texts(None).into_parts();
    let bytes = LargeBinaryArray::new(
        OffsetBuffer::from_lengths(offsets_of_texts.lengths()),
        values.clone(),
        Some(even()),
    );
    let decimals = (0..ROWS).map(|row| i128::from(numbers(None).value(row)));
    let inner = StructArray::new(
        vec![field("text", &DataType::Utf8)].into(),
        vec![Arc::clone(&all)],
        Some(even()),
    );
    vec![
        ("text", Arc::new(texts(Some(even())))),
        ("bytes", Arc::new(bytes)),
        ("number", Arc::new(numbers(Some(even())))),
        (
            "decimal",
            Arc::new(Decimal128Array::new(decimals.collect(), Some(even()))),
        ),
        (
            "fixed",
            Arc::new(FixedSizeBinaryArray::new(16, values, Some(even()))),
        ),
        ("structure", Arc::new(inner)),
        (
            "list",
            Arc::new(GenericListArray::new(
                Arc::clone(&item),
                offsets(),
                Arc::clone(&all),
                Some(even()),
            )),
        ),
        (
            "fixed_list",
            Arc::new(FixedSizeListArray::new(item, 1, all, Some(even()))),
        ),
        (
            "map",
            Arc::new(MapArray::new(
                entry,
                offsets(),
                entries,
                Some(even()),
                false,
            )),
        ),
    ]
}

fn other_columns() -> Vec<(&'static str, ArrayRef)> {
    let item = field("item", &DataType::Utf8);
    let all: ArrayRef = Arc::new(texts(None));
    let list_views = GenericListViewArray::<i32>::new(
        item,
        (0..narrow(ROWS)).collect(),
        ScalarBuffer::from(vec![1; ROWS]),
        Arc::clone(&all),
        Some(even()),
    );
    let fields: UnionFields = [
        (0_i8, field("number", &DataType::Int64)),
        (1, field("text", &DataType::Utf8)),
    ]
    .into_iter()
    .collect();
    // The odd rows are numbers.
    let types: ScalarBuffer<i8> = (0..ROWS).map(|row| i8::from(row % 2 == 0)).collect();
    let small: ArrayRef = Arc::new(Int64Array::from(vec![5; ROWS]));
    let sparse = UnionArray::try_new(
        fields.clone(),
        types.clone(),
        None,
        vec![Arc::clone(&small), Arc::clone(&all)],
    );
    let offsets = (0..narrow(ROWS)).collect();
    let dense = UnionArray::try_new(fields, types, Some(offsets), vec![small, all]);
    let ends = Int32Array::from_iter_values(1..=narrow(ROWS));
    let runs = RunArray::<Int32Type>::try_new(&ends, &texts(Some(even()))).unwrap();
    vec![
        ("view", Arc::new(views(Some(even())))),
        ("category", Arc::new(dictionary(Some(even())))),
        ("within", Arc::new(within())),
        ("list_view", Arc::new(list_views)),
        ("sparse", Arc::new(sparse.unwrap())),
        ("dense", Arc::new(dense.unwrap())),
        ("runs", Arc::new(runs)),
    ]
}

/// With a column of cards in front, of which one does not fit.
fn batch(columns: Vec<(&'static str, ArrayRef)>, misfit: Option<usize>) -> RecordBatch {
    let cards = (0..ROWS).map(|row| match Some(row) == misfit {
        true => "no card at all".to_owned(),
        false => card(row),
    });
    let cards: ArrayRef = Arc::new(StringArray::from_iter_values(cards));
    let all = std::iter::once(("card", cards)).chain(columns);
    RecordBatch::try_from_iter_with_nullable(all.map(|(name, array)| (name, array, true))).unwrap()
}

fn write(work: &Work, kind: Kind, batch: &RecordBatch, codec: Option<CompressionType>) {
    let file = File::create(work.path("in")).unwrap();
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(codec).unwrap();
    let schema = batch.schema();
    if kind == Kind::ArrowStream {
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
}

/// The bytes of a file, its compressed buffers written again without compression.
fn bytes_of(work: &Work, name: &str, kind: Kind) -> Vec<u8> {
    let file = File::open(work.path(name)).unwrap();
    let mut all = work.read(name);
    let batches: Vec<_> = match kind {
        Kind::ArrowStream => StreamReader::try_new(file, None).unwrap().collect(),
        _ => FileReader::try_new(file, None).unwrap().collect(),
    };
    for batch in batches {
        let batch = batch.unwrap();
        let mut writer = StreamWriter::try_new(&mut all, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
    all
}

fn holds(bytes: &[u8], row: usize) -> bool {
    let numbers = [
        number(row).to_le_bytes().to_vec(),
        number(row).to_be_bytes().to_vec(),
    ];
    let is_in = |number: &Vec<u8>| bytes.windows(8).any(|part| part == number);
    contains(bytes, &card(row)) || numbers.iter().any(is_in)
}

fn rules(on_bad: &str) -> String {
    format!(
        "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\non_bad = \"{on_bad}\"\n"
    )
}

#[test]
fn nothing_is_left_beneath_nulls_of_columns_that_stay() {
    let columns = || plain_columns().into_iter().chain(other_columns());
    let cases = columns().map(|column| vec![column]);
    let cases = cases.chain([plain_columns(), other_columns()]);
    for columns in cases {
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        for kind in [Kind::ArrowFile, Kind::ArrowStream] {
            for codec in [None, Some(CompressionType::ZSTD)] {
                let batch = batch(columns.clone(), None);
                let work = Work::new();
                write(&work, kind, &batch, codec);
                assert!(holds(&bytes_of(&work, "in", kind), 3));
                work.protect(&rules("fail")).unwrap();
                let out = bytes_of(&work, "out", kind);
                for row in 0..ROWS {
                    assert!(!holds(&out, row), "{kind:?} {codec:?} {names:?} {row}");
                }
                let after = whole(&work, "out", kind);
                for column in 1..batch.num_columns() {
                    assert_eq!(
                        after.column(column),
                        batch.column(column),
                        "{kind:?} {names:?}"
                    );
                }
                work.reveal();
                assert_eq!(whole(&work, "back", kind).column(0), batch.column(0));
            }
        }
    }
}

#[test]
fn nothing_is_left_beneath_nulls_where_rows_are_rejected() {
    let columns = || plain_columns().into_iter().chain(other_columns());
    for column in columns() {
        let name = column.0;
        for kind in [Kind::ArrowFile, Kind::ArrowStream] {
            // The structure of the row that goes is null, and the one in front of it is not.
            let work = Work::new();
            write(&work, kind, &batch(vec![column.clone()], Some(9)), None);
            let summary = work.protect(&rules("reject")).unwrap();
            assert_eq!(summary.rejected, 1);
            for file in ["out", "rejects"] {
                let bytes = bytes_of(&work, file, kind);
                for row in 0..ROWS {
                    assert!(!holds(&bytes, row), "{kind:?} {name} {file} {row}");
                }
            }
            assert!(contains(&work.read("rejects"), "no card at all"));
        }
    }
}

/// A stream of one batch: texts without nulls, with the buffers as they are given.
fn stream_of_texts(work: &Work, schema: &Schema, columns: &[(Vec<i32>, String)]) {
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, schema).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let end = stream.split_off(stream.len() - 8);
    let (mut body, mut buffers, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |bytes: &[u8]| {
        let start = body.len();
        body.extend_from_slice(bytes);
        body.resize(body.len().next_multiple_of(64), 0);
        buffers.push(arrow_ipc::Buffer::new(start as i64, bytes.len() as i64));
    };
    for (offsets, text) in columns {
        nodes.push(FieldNode::new(ROWS as i64, 0));
        // A writer may leave bits for nulls that are not there.
        put(card(1).as_bytes());
        let offsets: Vec<u8> = offsets
            .iter()
            .flat_map(|place| place.to_le_bytes())
            .collect();
        put(&offsets);
        put(text.as_bytes());
    }
    let mut builder = FlatBufferBuilder::new();
    let (nodes, buffers) = (
        builder.create_vector(&nodes),
        builder.create_vector(&buffers),
    );
    let mut batch = RecordBatchBuilder::new(&mut builder);
    batch.add_length(ROWS as i64);
    batch.add_nodes(nodes);
    batch.add_buffers(buffers);
    let batch = batch.finish().as_union_value();
    let mut message = MessageBuilder::new(&mut builder);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::RecordBatch);
    message.add_bodyLength(body.len() as i64);
    message.add_header(batch);
    let root = message.finish();
    builder.finish(root, None);
    let mut head = builder.finished_data().to_vec();
    head.resize(head.len().next_multiple_of(8), 0);
    stream.extend_from_slice(&[0xFF; 4]);
    stream.extend_from_slice(&narrow(head.len()).to_le_bytes());
    stream.extend(head);
    stream.extend(body);
    stream.extend(end);
    std::fs::write(work.path("in"), stream).unwrap();
}

#[test]
fn nothing_is_left_around_the_values_of_a_column() {
    let schema = Schema::new(vec![
        Field::new("card", DataType::Utf8, true),
        Field::new("note", DataType::Utf8, true),
    ]);
    let column = |cell: &dyn Fn(usize) -> String, (before, behind): (usize, usize)| {
        let mut text: String = (0..before).map(card).collect();
        let mut offsets = vec![narrow(text.len())];
        for row in 0..ROWS {
            text.push_str(&cell(row));
            offsets.push(narrow(text.len()));
        }
        text.extend((0..behind).map(card));
        (offsets, text)
    };
    for around in [(0, 5), (3, 0), (2, 2)] {
        let work = Work::new();
        let notes = column(&|row| format!("a note of {row}"), around);
        stream_of_texts(&work, &schema, &[column(&card, (0, 0)), notes]);
        let before = whole(&work, "in", Kind::ArrowStream);
        work.protect(&rules("fail")).unwrap();
        let out = work.read("out");
        for row in 0..ROWS {
            assert!(!holds(&out, row), "{around:?} {row}");
        }
        let after = whole(&work, "out", Kind::ArrowStream);
        assert_eq!(after.column(1), before.column(1));
    }
}
