//! Arrays without what no row of theirs has: views and dictionaries keep all that their source had, also of rows that
//! went to the other file.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, GenericListViewArray, OffsetSizeTrait,
    PrimitiveArray, RecordBatch, UInt64Array, make_array,
};
use arrow_buffer::{ArrowNativeType as _, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::{filter::filter, take::take};

use super::cells::by_number;
use crate::error::{Trouble, unwritable};

/// Which values of the dictionaries of a file its rows have: a list for each dictionary, in the order in which columns
/// and what is within them have them.
#[derive(Debug, Default)]
pub(super) struct Used(Vec<Vec<bool>>);

impl Used {
    /// Adds what the rows of a batch have.
    pub(super) fn gather(&mut self, batch: &RecordBatch) -> Result<(), Trouble> {
        let mut own = Compaction {
            known: None,
            dictionaries: Dictionaries::Compacted,
            gathered: Vec::new(),
        };
        own.batch(batch)?;
        for (place, found) in own.gathered.into_iter().enumerate() {
            if self.0.len() <= place {
                self.0.push(Vec::new());
            }
            let Some(all) = self.0.get_mut(place) else {
                continue;
            };
            all.resize(all.len().max(found.len()), false);
            for (all, found) in all.iter_mut().zip(found) {
                *all |= found;
            }
        }
        Ok(())
    }
}

/// Whether a column, or what is within one, is made of views: their buffers may hold what no row has.
pub(super) fn has_views(batch: &RecordBatch) -> bool {
    let schema = batch.schema();
    let fields = schema.flattened_fields();
    fields.iter().any(|field| is_view(field.data_type()))
}

fn is_view(kind: &DataType) -> bool {
    use DataType::{BinaryView, LargeListView, ListView, Utf8View};
    matches!(kind, Utf8View | BinaryView | ListView(_) | LargeListView(_))
}

/// A batch with what its rows have: of dictionaries, what the rows of the whole file have, if that is known. A file has
/// one dictionary for all of its batches, and a stream may have one for each.
pub(super) fn compacted(batch: &RecordBatch, known: Option<&Used>) -> Result<RecordBatch, Trouble> {
    let mut compaction = Compaction {
        known,
        dictionaries: Dictionaries::Compacted,
        gathered: Vec::new(),
    };
    compaction.batch(batch)
}

/// A batch whose views have buffers of their own. Dictionaries stay: those of a file are one for all of its batches.
pub(super) fn compacted_views(batch: &RecordBatch) -> Result<RecordBatch, Trouble> {
    let mut compaction = Compaction {
        known: None,
        dictionaries: Dictionaries::Kept,
        gathered: Vec::new(),
    };
    compaction.batch(batch)
}

/// What happens to dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dictionaries {
    Compacted,
    Kept,
}

struct Compaction<'u> {
    known: Option<&'u Used>,
    dictionaries: Dictionaries,
    /// Of the dictionaries so far, the values that rows have.
    gathered: Vec<Vec<bool>>,
}

impl Compaction<'_> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Trouble> {
        let columns = batch.columns().iter();
        let columns: Result<_, _> = columns.map(|column| self.array(column)).collect();
        RecordBatch::try_new(batch.schema(), columns?).map_err(unwritable)
    }

    fn array(&mut self, array: &ArrayRef) -> Result<ArrayRef, Trouble> {
        match array.data_type() {
            DataType::Utf8View => Ok(Arc::new(array.as_string_view().gc())),
            DataType::BinaryView => Ok(Arc::new(array.as_binary_view().gc())),
            DataType::ListView(_) => self.list_view::<i32>(array),
            DataType::LargeListView(_) => self.list_view::<i64>(array),
            DataType::Dictionary(..) if self.dictionaries == Dictionaries::Kept => {
                Ok(Arc::clone(array))
            }
            DataType::Dictionary(key, _) => {
                let made = by_number!(**key, dictionary(self, array));
                made.unwrap_or_else(|| Err(Trouble::damaged("a dictionary has no keys")))
            }
            _ => self.parts(array),
        }
    }

    /// An array whose parts have a row for each of its own, or for each item of them: taking rows out took them out
    /// there too.
    fn parts(&mut self, array: &ArrayRef) -> Result<ArrayRef, Trouble> {
        let data = array.to_data();
        if data.child_data().is_empty() {
            return Ok(Arc::clone(array));
        }
        let mut parts = Vec::with_capacity(data.child_data().len());
        for part in data.child_data() {
            parts.push(self.array(&make_array(part.clone()))?.to_data());
        }
        let made = data.into_builder().child_data(parts).build();
        Ok(make_array(made.map_err(unwritable)?))
    }

    fn list_view<O: OffsetSizeTrait>(&mut self, array: &ArrayRef) -> Result<ArrayRef, Trouble> {
        let lists = array.as_list_view::<O>();
        let (DataType::ListView(field) | DataType::LargeListView(field)) = array.data_type() else {
            return Err(Trouble::damaged("a list is none"));
        };
        let (mut items, mut offsets, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..lists.len() {
            let there = (
                lists.value_offset(row).as_usize(),
                lists.value_size(row).as_usize(),
            );
            let (start, size) = if lists.is_null(row) { (0, 0) } else { there };
            let number =
                |number| O::from_usize(number).ok_or_else(|| unwritable("a list is too long"));
            offsets.push(number(items.len())?);
            sizes.push(number(size)?);
            items.extend((start..start + size).map(|item| item as u64));
        }
        let items = take(lists.values(), &UInt64Array::from(items), None).map_err(unwritable)?;
        let made = GenericListViewArray::<O>::try_new(
            Arc::clone(field),
            ScalarBuffer::from(offsets),
            ScalarBuffer::from(sizes),
            self.array(&items)?,
            lists.nulls().cloned(),
        );
        Ok(Arc::new(made.map_err(unwritable)?))
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(
    compaction: &mut Compaction<'_>,
    array: &ArrayRef,
) -> Result<ArrayRef, Trouble> {
    let old = array.as_dictionary::<K>();
    let place = compaction.gathered.len();
    let mut used = vec![false; old.values().len()];
    for key in old.keys().iter().flatten() {
        if let Some(used) = used.get_mut(key.as_usize()) {
            *used = true;
        }
    }
    compaction.gathered.push(used.clone());
    if let Some(known) = compaction.known {
        let known = known.0.get(place).map(Vec::as_slice).unwrap_or_default();
        for (number, used) in used.iter_mut().enumerate() {
            *used |= known.get(number).copied().unwrap_or_default();
        }
    }
    let mut places = Vec::with_capacity(used.len());
    let mut next = 0;
    for used in &used {
        places.push(next);
        next += usize::from(*used);
    }
    let values = filter(old.values(), &BooleanArray::from(used)).map_err(unwritable)?;
    let values = compaction.array(&values)?;
    let keys = old.keys().iter().map(|key| {
        let place = places.get(key?.as_usize())?;
        K::Native::from_usize(*place)
    });
    let keys: PrimitiveArray<K> = keys.collect();
    let made = DictionaryArray::<K>::try_new(keys, values).map_err(unwritable)?;
    Ok(Arc::new(made))
}

#[cfg(test)]
mod tests {
    use arrow_array::StructArray;
    use arrow_array::builder::{
        Int32Builder, ListBuilder, ListViewBuilder, StringDictionaryBuilder, StringViewBuilder,
    };
    use arrow_schema::Field;

    use super::*;

    const ROWS: [&str; 3] = [
        "the first row, which stays where it is",
        "the second, which is taken out of here",
        "the third, which stays behind the first",
    ];

    fn dictionary() -> ArrayRef {
        let mut builder = StringDictionaryBuilder::<Int8Type>::new();
        ROWS.iter().for_each(|row| builder.append_value(row));
        Arc::new(builder.finish())
    }

    fn views() -> ArrayRef {
        let mut builder = StringViewBuilder::new();
        ROWS.iter().for_each(|row| builder.append_value(row));
        Arc::new(builder.finish())
    }

    fn lists() -> ArrayRef {
        let mut builder = ListBuilder::new(StringViewBuilder::new());
        for row in ROWS {
            builder.values().append_value(row);
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn list_views() -> ArrayRef {
        let mut builder = ListViewBuilder::new(StringViewBuilder::new());
        for row in ROWS {
            builder.values().append_value(row);
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn all_bytes(data: &ArrayRef) -> Vec<u8> {
        fn walk(data: &ArrayRef, out: &mut Vec<u8>) {
            let data = data.to_data();
            data.buffers()
                .iter()
                .for_each(|buffer| out.extend_from_slice(buffer));
            for part in data.child_data() {
                walk(&make_array(part.clone()), out);
            }
        }
        let mut out = Vec::new();
        walk(data, &mut out);
        out
    }

    fn contains(array: &ArrayRef, text: &str) -> bool {
        let bytes = all_bytes(array);
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    }

    #[test]
    fn nothing_is_left_of_rows_that_are_taken_out() {
        let within = StructArray::from(vec![(
            Arc::new(Field::new("x", dictionary().data_type().clone(), true)),
            dictionary(),
        )]);
        let stays = BooleanArray::from(vec![true, false, true]);
        for array in [
            dictionary(),
            views(),
            lists(),
            list_views(),
            Arc::new(within),
        ] {
            let kept = filter(&array, &stays).unwrap();
            assert!(contains(&kept, ROWS[1]), "{}", array.data_type());
            let mut compaction = Compaction {
                known: None,
                dictionaries: Dictionaries::Compacted,
                gathered: Vec::new(),
            };
            let made = compaction.array(&kept).unwrap();
            assert_eq!(made.to_data(), kept.to_data(), "{}", array.data_type());
            assert!(!contains(&made, ROWS[1]), "{}", array.data_type());
            assert!(contains(&made, ROWS[2]), "{}", array.data_type());
        }
    }

    #[test]
    fn dictionaries_of_several_batches_stay_one() {
        let field = Field::new("x", dictionary().data_type().clone(), true);
        let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
        let batch = |row| {
            let columns = vec![dictionary().slice(row, 1)];
            RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
        };
        let mut used = Used::default();
        used.gather(&batch(0)).unwrap();
        used.gather(&batch(2)).unwrap();
        for row in [0, 2] {
            let made = compacted(&batch(row), Some(&used)).unwrap();
            assert_eq!(made, batch(row));
            let values = made.column(0).as_any_dictionary().values();
            let values: Vec<_> = values.as_string::<i32>().iter().flatten().collect();
            assert_eq!(values, [ROWS[0], ROWS[2]]);
        }
    }

    #[test]
    fn arrays_without_parts_stay() {
        let mut builder = Int32Builder::new();
        builder.append_value(7);
        let array: ArrayRef = Arc::new(builder.finish());
        let mut compaction = Compaction {
            known: None,
            dictionaries: Dictionaries::Compacted,
            gathered: Vec::new(),
        };
        assert_eq!(&compaction.array(&array).unwrap(), &array);
    }
}
