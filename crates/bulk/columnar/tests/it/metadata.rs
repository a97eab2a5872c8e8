//! Nothing of the values is left in what a file says besides its rows.

use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::UInt8Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt8Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use keywright_columnar::{Error, Kind};
use keywright_encoding::base64;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::scene::{KINDS, Work, contains, whole};

const CARDS: [&str; 3] = ["4111111111111111", "5500000000000004", "6011000990139424"];

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";

fn pairs(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// What Polars writes of an Enum: the number of bytes of each value, and the value.
fn values_of_polars() -> String {
    CARDS.iter().map(|card| format!("16;{card}")).collect()
}

/// Cards of a dictionary, in rows of three, with metadata of the table and of both columns.
fn batch(table: &[(&str, &str)], id: &[(&str, &str)]) -> RecordBatch {
    let values = StringArray::from(CARDS.to_vec());
    let keys = UInt8Array::from_iter((0..30).map(|row| (row % 10 != 9).then_some(row % 3)));
    let cards = DictionaryArray::<UInt8Type>::new(keys, Arc::new(values));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..30));
    let card = Field::new("card", cards.data_type().clone(), true).with_dict_is_ordered(true);
    let card = card.with_metadata(pairs(&[("_PL_ENUM_VALUES2", &values_of_polars())]));
    let id = Field::new("id", ids.data_type().clone(), true).with_metadata(pairs(id));
    let schema = Schema::new_with_metadata(vec![id, card], pairs(table));
    RecordBatch::try_new(Arc::new(schema), vec![ids, Arc::new(cards)]).unwrap()
}

/// A file, and behind it what is base64 in its footer.
fn all(work: &Work, name: &str, kind: Kind) -> Vec<u8> {
    let mut bytes = work.read(name);
    if kind == Kind::Parquet {
        let reader = SerializedFileReader::new(File::open(work.path(name)).unwrap()).unwrap();
        let file = reader.metadata().file_metadata();
        for pair in file.key_value_metadata().into_iter().flatten() {
            let value = pair.value.clone().unwrap_or_default();
            bytes.extend(base64::decode(&value).unwrap_or_default());
        }
    }
    bytes
}

#[test]
fn values_that_a_field_lists_go() {
    for kind in KINDS {
        let work = Work::new();
        let batch = batch(&[], &[]);
        work.write(kind, std::slice::from_ref(&batch));
        assert!(contains(&all(&work, "in", kind), CARDS[0]), "{kind:?}");
        let summary = work.protect(RULES).unwrap();
        assert!(summary.left_out.is_empty(), "{kind:?}");
        let out = all(&work, "out", kind);
        for card in CARDS {
            assert!(!contains(&out, card), "{kind:?} {card}");
        }
        let after = whole(&work, "out", kind);
        let schema = after.schema();
        assert!(schema.field(1).metadata().is_empty(), "{kind:?}");
        assert_eq!(schema.field(1).dict_is_ordered(), Some(false), "{kind:?}");
        assert_eq!(after.column(1).null_count(), batch.column(1).null_count());
        work.reveal();
        let back = whole(&work, "back", kind);
        let cells = |batch: &RecordBatch| {
            let own = arrow_select::take::take(
                batch.column(1).as_any_dictionary().values(),
                batch.column(1).as_any_dictionary().keys(),
                None,
            );
            own.unwrap()
        };
        assert_eq!(&cells(&back), &cells(&batch), "{kind:?}");
    }
}

#[test]
fn entries_that_hold_values_are_left_out_and_told() {
    let hidden = base64::encode(format!("{{\"max\": \"{}\"}}", CARDS[1]).as_bytes());
    let table = [
        ("owner", "shop"),
        ("sample", "4111 1111-1111 1111 was the first"),
        ("statistics", hidden.as_str()),
        (CARDS[2], "a name"),
    ];
    let id = [("unit", "piece"), ("last", CARDS[0])];
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(&table, &id)]);
        let summary = work.protect(RULES).unwrap();
        let told = summary.left_out.join("\n");
        for part in [
            "\"sample\"",
            "\"statistics\"",
            "field \"id\": \"last\"",
            "name may hold",
        ] {
            assert!(told.contains(part), "{kind:?} {part}: {told}");
        }
        for card in CARDS {
            assert!(!told.contains(card), "{kind:?}: {told}");
            assert!(!contains(&all(&work, "out", kind), card), "{kind:?} {card}");
        }
        assert!(!contains(&all(&work, "out", kind), &hidden), "{kind:?}");
        let schema = whole(&work, "out", kind).schema();
        assert_eq!(schema.metadata().get("owner").unwrap(), "shop");
        assert_eq!(schema.field(0).metadata().get("unit").unwrap(), "piece");
        assert_eq!(schema.field(0).metadata().len(), 1, "{kind:?}");
    }
}

#[test]
fn what_a_user_attached_in_pandas_is_searched() {
    let note = |attributes: &str| {
        format!(
            r#"{{"index_columns": [], "column_indexes": [], "columns": [{{"name": "card", "field_name":
            "card", "pandas_type": "categorical", "numpy_type": "int8", "metadata": {{"num_categories":
            3, "ordered": true}}}}], "attributes": {attributes}, "pandas_version": "3.1.0"}}"#
        )
    };
    for kind in KINDS {
        for (attributes, stays) in [
            ("{}", true),
            ("{\"a\": [1, \"x\"]}", true),
            ("{\"a\": [4111111111111111]}", false),
        ] {
            let work = Work::new();
            work.write(kind, &[batch(&[("pandas", &note(attributes))], &[])]);
            let summary = work.protect(RULES).unwrap();
            assert_eq!(summary.left_out.is_empty(), stays, "{kind:?} {attributes}");
            assert!(!contains(&all(&work, "out", kind), CARDS[0]), "{kind:?}");
            let schema = whole(&work, "out", kind).schema();
            let told = schema.metadata().get("pandas");
            assert_eq!(told.is_some(), stays, "{kind:?} {attributes}");
            assert!(!told.is_some_and(|told| told.contains("categorical")));
        }
    }
}

/// The journal of Parquet has a footer for each row group.
#[test]
fn neither_rejects_nor_journal_have_values_of_other_rows() {
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = '\"4\" digit(15)'\n\
                 on_bad = \"reject\"\n";
    for kind in KINDS {
        let work = Work::new();
        let batch = batch(&[], &[]);
        work.write(kind, &[batch.clone(), batch.clone(), batch]);
        // Behind the second of the three.
        let mut left = if kind == Kind::ArrowStream { 3 } else { 5 };
        let broken = work.protect_with(rules, &mut |_| {
            left -= 1;
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        broken.unwrap_err();
        let journal = work.read("out.journal");
        for card in CARDS {
            assert!(!contains(&journal, card), "{kind:?} {card}");
            let hidden = base64::encode(format!("16;{card}").as_bytes());
            assert!(!contains(&journal, &hidden[..16]), "{kind:?} {card}");
        }
        let summary = work.protect(rules).unwrap();
        assert_eq!((summary.rows, summary.rejected), (90, 54), "{kind:?}");
        let rejects = all(&work, "rejects", kind);
        assert!(!contains(&rejects, CARDS[0]), "{kind:?}");
        let out = all(&work, "out", kind);
        for card in CARDS {
            assert!(!contains(&out, card), "{kind:?} {card}");
        }
        let rows = whole(&work, "rejects", kind);
        let values = rows.column(1).as_any_dictionary();
        let values: Vec<_> = values
            .values()
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect();
        assert!(
            values.contains(&CARDS[1]) && !values.contains(&CARDS[0]),
            "{kind:?}"
        );
        if kind == Kind::Parquet {
            let file = File::open(work.path("rejects")).unwrap();
            let footer = ParquetMetaDataReader::new()
                .parse_and_finish(&file)
                .unwrap();
            let chunks = footer.row_groups().iter().flat_map(|group| group.columns());
            assert!(chunks.into_iter().all(|chunk| chunk.statistics().is_none()));
        }
    }
}

/// Cards, a moment with a time zone, and a field with the metadata of a type of one's own.
fn moments(zone: &str, extension: &str) -> RecordBatch {
    let cards: ArrayRef = Arc::new(StringArray::from(CARDS.to_vec()));
    let moments = TimestampMicrosecondArray::from(vec![1, 2, 3]).with_timezone(zone);
    let sizes: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let moments: ArrayRef = Arc::new(moments);
    let within = Field::new("at", moments.data_type().clone(), true);
    let within = StructArray::new(vec![within].into(), vec![moments], None);
    let size = Field::new("size", sizes.data_type().clone(), true);
    let size = size.with_metadata(pairs(&[
        ("ARROW:extension:metadata", extension),
        ("ARROW:extension:name", "company.size"),
        ("unit", "piece"),
    ]));
    let fields = vec![
        Field::new("card", cards.data_type().clone(), true),
        Field::new("event", within.data_type().clone(), true),
        size,
    ];
    let columns = vec![cards, Arc::new(within) as ArrayRef, sizes];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn a_time_zone_that_is_a_value_is_not_written() {
    let zone = format!("Zone/{}", CARDS[1]);
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[moments(&zone, "{}")]);
        let protected = work.protect(RULES);
        if kind == Kind::Parquet {
            // The zone is in the Arrow schema alone, which is left out.
            let told = protected.unwrap().left_out;
            assert_eq!(told, ["footer: \"ARROW:schema\""]);
            assert!(!contains(&all(&work, "out", kind), CARDS[1]));
            continue;
        }
        let error = protected.unwrap_err();
        assert!(matches!(&error, Error::Text { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "the time zone of column \"event.at\" may hold a value of a column that is protected"
        );
        assert_eq!(work.names(), ["in"], "{kind:?}");
    }
}

#[test]
fn time_zones_and_types_of_columns_that_stay_stay() {
    for zone in ["Europe/Berlin", "+02:00", "Zone/Own"] {
        for kind in KINDS {
            let work = Work::new();
            let batch = moments(zone, "{\"of\": 7}");
            work.write(kind, std::slice::from_ref(&batch));
            assert!(work.protect(RULES).unwrap().left_out.is_empty(), "{kind:?}");
            let after = whole(&work, "out", kind).schema();
            assert_eq!(after.fields(), batch.schema().fields(), "{kind:?}");
        }
    }
}

/// Without its metadata a type of one's own cannot be read: both go, and the column has the type that it is kept in.
#[test]
fn a_type_and_its_metadata_go_together() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[moments("UTC", CARDS[0])]);
        let told = work.protect(RULES).unwrap().left_out;
        assert_eq!(told.len(), 1, "{told:?}");
        let schema = whole(&work, "out", kind).schema();
        let left = schema.field(2).metadata();
        assert_eq!(
            left.get("unit").map(String::as_str),
            Some("piece"),
            "{kind:?}"
        );
        assert!(
            left.keys().all(|key| !key.starts_with("ARROW:")),
            "{kind:?}"
        );
    }
}

/// A mask has no format by which a name could be told from a value.
#[test]
fn a_name_that_is_a_value_of_a_masked_column_is_refused() {
    let rules = "version = 1\n[[column]]\nname = \"card\"\nmask = \"null\"\n";
    let cards: ArrayRef = Arc::new(StringArray::from(CARDS.to_vec()));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    for (name, is_refused) in [(CARDS[2], true), ("4111111111111112", false)] {
        for kind in KINDS {
            let work = Work::new();
            let columns = [
                ("card", Arc::clone(&cards), true),
                (name, Arc::clone(&ids), true),
            ];
            work.write(
                kind,
                &[RecordBatch::try_from_iter_with_nullable(columns).unwrap()],
            );
            match work.protect(rules) {
                Ok(_) => assert!(!is_refused, "{kind:?} {name}"),
                Err(error) => assert!(
                    is_refused && error.to_string().contains("column number 2"),
                    "{kind:?} {name} {error}"
                ),
            }
        }
    }
}
