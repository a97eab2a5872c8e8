//! Arrays keep what their source had: neither of the two files has anything of the rows of the other.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{
    ListBuilder, StringBuilder, StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{Array as _, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_array::{StringViewArray, cast::AsArray as _};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use keywright_columnar::{Error, Kind};

use crate::scene::{KINDS, Work, contains, whole};

const ARROW: [Kind; 2] = [Kind::ArrowFile, Kind::ArrowStream];

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n\
                     on_bad = \"reject\"\n";

fn card(row: usize) -> String {
    match row % 50 {
        7 => format!("a card of row {row:04} that does not fit"),
        _ => format!("4{row:015}"),
    }
}

fn note(row: usize) -> String {
    format!("a note that is too long for a view, of row {row:04}")
}

/// Views, dictionaries whose values all batches have, and lists of views.
fn batch(from: usize, rows: usize) -> RecordBatch {
    let (mut cards, mut views) = (StringViewBuilder::new(), StringViewBuilder::new());
    let all = StringArray::from_iter_values((0..120).map(note));
    let notes = StringDictionaryBuilder::<Int32Type>::new_with_dictionary(rows, &all);
    let mut notes = notes.unwrap();
    let mut lists = ListBuilder::new(StringViewBuilder::new());
    for row in from..from + rows {
        cards.append_value(card(row));
        views.append_value(note(row));
        notes.append_value(note(row));
        lists.values().append_value(note(row));
        lists.append(true);
    }
    let columns: [(&str, ArrayRef); 4] = [
        ("card", Arc::new(cards.finish())),
        ("view", Arc::new(views.finish())),
        ("note", Arc::new(notes.finish())),
        ("list", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Without compression, so that bytes can be looked at.
fn write(work: &Work, kind: Kind, batches: &[RecordBatch]) {
    let file = File::create(work.path("in")).unwrap();
    let schema = batches[0].schema();
    if kind == Kind::ArrowStream {
        let mut writer = StreamWriter::try_new(file, &schema).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(file, &schema).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    }
}

#[test]
fn neither_file_has_anything_of_the_other_rows() {
    for kind in ARROW {
        let work = Work::new();
        write(&work, kind, &[batch(0, 60), batch(60, 20), batch(80, 40)]);
        let summary = work.protect(RULES).unwrap();
        assert_eq!((summary.rows, summary.rejected), (120, 3), "{kind:?}");
        let (out, rejects) = (work.read("out"), work.read("rejects"));
        for row in 0..120 {
            let is_rejected = row % 50 == 7;
            assert!(!contains(&out, &card(row)), "{kind:?} {row}");
            assert_eq!(
                contains(&rejects, &card(row)),
                is_rejected,
                "{kind:?} {row}"
            );
            assert_eq!(
                contains(&rejects, &note(row)),
                is_rejected,
                "{kind:?} {row}"
            );
            assert_eq!(contains(&out, &note(row)), !is_rejected, "{kind:?} {row}");
        }
        let rows = whole(&work, "rejects", kind);
        let views = rows.column(1).as_string_view().iter().flatten();
        assert!(views.eq([note(7), note(57), note(107)].iter().map(String::as_str)));
        let notes = rows.column(2).as_dictionary::<Int32Type>();
        let notes = notes.downcast_dict::<StringArray>().unwrap();
        assert!(
            notes
                .into_iter()
                .flatten()
                .eq([note(7), note(57), note(107)].iter())
        );
        work.reveal();
        let back = whole(&work, "back", kind);
        let cards = back.column(0).as_string_view().iter().flatten();
        assert!(
            cards.eq((0..120)
                .filter(|row| row % 50 != 7)
                .map(card)
                .collect::<Vec<_>>()
                .iter())
        );
    }
}

/// pandas has a category without values where all of a column is absent.
/// pandas keeps the categories of rows that were taken out of a table.
#[test]
fn values_that_no_row_has_are_not_written_with_a_dictionary_that_stays() {
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";
    let cards: Vec<String> = (1_009..1_012).map(card).collect();
    let all = StringArray::from_iter_values(cards.iter().map(String::as_str).chain(["kept"]));
    let keys = Int32Array::from(vec![Some(3), None, Some(3)]);
    let category = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(all)).unwrap();
    for kind in ARROW {
        let work = Work::new();
        let columns: [(&str, ArrayRef); 2] = [
            ("card", Arc::new(StringArray::from_iter_values(&cards))),
            ("category", Arc::new(category.clone())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        write(&work, kind, &[batch.clone(), batch]);
        work.protect(rules).unwrap();
        let out = work.read("out");
        assert!(contains(&out, "kept"), "{kind:?}");
        for card in &cards {
            assert!(!contains(&out, card), "{kind:?}");
        }
    }
}

/// Polars cuts a part out of each text by views into the buffer of the whole texts.
#[test]
fn views_into_the_values_of_another_column_leave_nothing_of_them() {
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";
    let texts: Vec<String> = (0..20)
        .map(|row| format!("{} and some more", card(1_009 + row)))
        .collect();
    let mut parts = StringViewBuilder::new();
    let block = parts.append_block(texts.concat().into_bytes().into());
    let mut start = 0;
    for text in &texts {
        // More than the 12 bytes that a view holds itself.
        let length = u32::try_from(text.len()).unwrap();
        parts
            .try_append_view(block, start + 16, length - 16)
            .unwrap();
        start += length;
    }
    let parts = parts.finish();
    for kind in ARROW {
        let work = Work::new();
        let cards = texts.iter().map(|text| &text[..16]);
        let columns: [(&str, ArrayRef); 2] = [
            ("card", Arc::new(StringArray::from_iter_values(cards))),
            ("end", Arc::new(parts.clone())),
        ];
        write(&work, kind, &[RecordBatch::try_from_iter(columns).unwrap()]);
        assert!(contains(&work.read("in"), &texts[0][..16]));
        work.protect(rules).unwrap();
        let out = work.read("out");
        assert!(contains(&out, " and some more"), "{kind:?}");
        for text in &texts {
            assert!(!contains(&out, &text[..16]), "{kind:?}");
        }
    }
}

#[test]
fn dictionaries_without_values_are_taken() {
    let none = StringArray::from(Vec::<&str>::new());
    let keys = arrow_array::Int8Array::from(vec![None, None, None]);
    let cards = DictionaryArray::<Int8Type>::new(keys, Arc::new(none));
    let columns: [(&str, ArrayRef); 2] = [
        ("card", Arc::new(cards.clone())),
        ("other", Arc::new(cards)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for kind in KINDS {
        for rules in [RULES, &RULES.replace("reject", "fail")] {
            let work = Work::new();
            work.write(kind, std::slice::from_ref(&batch));
            let summary = work.protect(rules).unwrap();
            assert_eq!(summary.rows, 3, "{kind:?}");
            assert_eq!(whole(&work, "out", kind).column(0).logical_null_count(), 3);
        }
    }
}

/// Polars writes its categories so.
#[test]
fn dictionaries_of_views_are_taken() {
    let values = StringViewArray::from_iter_values((0..3).map(card));
    let keys = Int32Array::from(vec![Some(0), None, Some(2), Some(0)]);
    let cards = DictionaryArray::<Int32Type>::new(keys, Arc::new(values));
    let columns: [(&str, ArrayRef); 1] = [("card", Arc::new(cards))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for kind in ARROW {
        let work = Work::new();
        write(&work, kind, std::slice::from_ref(&batch));
        work.protect(RULES).unwrap();
        assert!(!contains(&work.read("out"), &card(2)), "{kind:?}");
        work.reveal();
        assert_eq!(whole(&work, "back", kind), batch, "{kind:?}");
    }
}

#[test]
fn a_dictionary_that_a_column_shares_with_one_that_stays_is_refused() {
    let mut builder = StringBuilder::new();
    (0..3).for_each(|row| builder.append_value(card(row)));
    let values: ArrayRef = Arc::new(builder.finish());
    let keys = Int32Array::from(vec![0, 1, 2]);
    let cards = DictionaryArray::<Int32Type>::new(keys, values);
    let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = ["card", "other"].map(|name| Field::new(name, kind.clone(), true));
    let columns: Vec<ArrayRef> = vec![Arc::new(cards.clone()), Arc::new(cards)];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let work = Work::new();
    let batch = RecordBatch::try_new(schema, columns).unwrap();
    write(&work, Kind::ArrowFile, &[batch]);
    // Gives the second column the number of the dictionary of the first.
    let mut bytes = work.read("in");
    let end = bytes.len() - 10;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let start = end - length;
    let (at, number) = {
        let footer = root_as_footer(&bytes[start..end]).unwrap();
        let fields = footer.schema().unwrap().fields().unwrap();
        let own = [0, 1].map(|column| fields.get(column).dictionary().unwrap());
        let place = |column: usize| {
            let table = own[column]._tab;
            let slot = table.vtable().get(arrow_ipc::DictionaryEncoding::VT_ID);
            (slot > 0).then(|| start + table.loc() + usize::from(slot))
        };
        // A number that is zero is not written.
        match place(1) {
            Some(at) => (at, own[0].id()),
            None => (place(0).unwrap(), own[1].id()),
        }
    };
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    std::fs::write(work.path("in"), bytes).unwrap();
    let error = work.protect(RULES).unwrap_err();
    let named = matches!(&error, Error::SharedDictionary { column, other }
        if column == "card" && other == "other");
    assert!(named, "{error:?}");
    assert_eq!(work.names(), ["in"]);
}
