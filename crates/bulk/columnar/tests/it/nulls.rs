//! Columns without a type, in which every row is null: pandas, Polars and DuckDB write them of what has no value.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int32Array, NullArray, RecordBatch, StringArray,
};
use keywright_columnar::Kind;

use crate::scene::{CARDS, KINDS, Work, whole};

fn rules(on_bad: &str) -> String {
    ["card", "none"]
        .map(|name| {
            format!("[[column]]\nname = \"{name}\"\nformat = \"card\"\non_bad = \"{on_bad}\"\n")
        })
        .concat()
}

fn batch(none: ArrayRef, cards: [&'static str; 4]) -> RecordBatch {
    let cards: ArrayRef = Arc::new(StringArray::from(cards.to_vec()));
    let other: ArrayRef = Arc::new(NullArray::new(CARDS.len()));
    RecordBatch::try_from_iter_with_nullable([
        ("card", cards, true),
        ("none", none, true),
        ("other", other, true),
    ])
    .unwrap()
}

#[test]
fn columns_of_nulls_stay_what_they_are_also_where_they_are_protected() {
    for kind in KINDS {
        for on_bad in ["fail", "null", "reject"] {
            let is_rejected = on_bad == "reject";
            let work = Work::new();
            let mut cards = CARDS;
            if is_rejected {
                cards[1] = "no card";
            }
            let batch = batch(Arc::new(NullArray::new(CARDS.len())), cards);
            work.write(kind, &[batch.clone(), batch.slice(0, 0), batch.clone()]);
            let summary = work.protect(&format!("version = 1\n{}", rules(on_bad)));
            let summary = summary.unwrap();
            let rejected = if is_rejected { 2 } else { 0 };
            assert_eq!((summary.rows, summary.rejected), (8, rejected), "{kind:?}");
            assert_eq!(summary.columns[1].counts.changed, 0);
            let (before, after) = (whole(&work, "in", kind), whole(&work, "out", kind));
            assert_eq!(after.schema(), before.schema(), "{kind:?}");
            assert_ne!(after.column(0), before.column(0));
            for column in [1, 2] {
                assert_eq!(after.column(column).logical_null_count(), after.num_rows());
            }
            work.reveal();
            if !is_rejected {
                assert_eq!(whole(&work, "back", kind), before, "{kind:?}");
            }
        }
    }
}

/// pandas writes a category without values so.
#[test]
fn dictionaries_of_nulls_stay_what_they_are() {
    for kind in [Kind::ArrowFile, Kind::ArrowStream] {
        let keys = Int32Array::from(vec![None; CARDS.len()]);
        let none = DictionaryArray::<Int32Type>::new(keys, Arc::new(NullArray::new(0)));
        let work = Work::new();
        work.write(kind, &[batch(Arc::new(none), CARDS)]);
        work.protect(&format!("version = 1\n{}", rules("fail")))
            .unwrap();
        let (before, after) = (whole(&work, "in", kind), whole(&work, "out", kind));
        assert_eq!(after.schema(), before.schema());
        assert_eq!(after.column(1).logical_null_count(), CARDS.len());
    }
}
