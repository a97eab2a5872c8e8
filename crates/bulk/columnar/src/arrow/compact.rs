//! Arrays with what their rows have, and nothing else: views and dictionaries keep all that their source had, also of rows
//! that went to the other file, and a row that is null has bytes beneath it, which a writer may have left there.
//!
//! A row is shown if neither it nor what it is within is null, and if a union has chosen it. What is not shown becomes
//! zeros, an empty text or an empty list; which rows are null stays as it was.

use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Int8Type,
    Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, RunEndIndexType,
    StringViewType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, GenericByteArray,
    GenericByteViewArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    PrimitiveArray, RecordBatch, RunArray, StructArray, UInt64Array, UnionArray, make_array,
};
use arrow_buffer::{ArrowNativeType as _, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, UnionFields, UnionMode};
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
        let mut own = Compaction::new(Dictionaries::Compacted, None);
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

/// A batch with what its rows have: of dictionaries that are compacted, what the rows of the whole file have, if that is
/// known. A file has one dictionary for all of its batches, and a stream may have one for each.
pub(super) fn compacted(
    batch: &RecordBatch,
    dictionaries: Dictionaries,
    known: Option<&Used>,
) -> Result<RecordBatch, Trouble> {
    Compaction::new(dictionaries, known).batch(batch)
}

/// What happens to dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dictionaries {
    Compacted,
    /// Those of a file are one for all of its batches.
    Kept,
}

struct Compaction<'u> {
    known: Option<&'u Used>,
    dictionaries: Dictionaries,
    /// Of the dictionaries so far, the values that rows have.
    gathered: Vec<Vec<bool>>,
}

/// Which rows are shown; nothing where all are.
type Shown<'s> = Option<&'s NullBuffer>;

fn is_shown(shown: Shown<'_>, row: usize) -> bool {
    shown.is_none_or(|shown| shown.is_valid(row))
}

impl<'u> Compaction<'u> {
    const fn new(dictionaries: Dictionaries, known: Option<&'u Used>) -> Self {
        Self {
            known,
            dictionaries,
            gathered: Vec::new(),
        }
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Trouble> {
        let columns = batch.columns().iter();
        let columns: Result<_, _> = columns.map(|column| self.array(column, None)).collect();
        RecordBatch::try_new(batch.schema(), columns?).map_err(unwritable)
    }

    /// An array, of which what it is within shows some rows.
    fn array(&mut self, array: &ArrayRef, within: Shown<'_>) -> Result<ArrayRef, Trouble> {
        let shown = NullBuffer::union(array.nulls(), within);
        let shown = shown.as_ref().filter(|shown| shown.null_count() > 0);
        match array.data_type() {
            DataType::Utf8 => bytes::<Utf8Type>(array, shown),
            DataType::LargeUtf8 => bytes::<LargeUtf8Type>(array, shown),
            DataType::Binary => bytes::<BinaryType>(array, shown),
            DataType::LargeBinary => bytes::<LargeBinaryType>(array, shown),
            DataType::Utf8View => views::<StringViewType>(array, shown),
            DataType::BinaryView => views::<BinaryViewType>(array, shown),
            DataType::List(_) => self.list::<i32>(array, shown),
            DataType::LargeList(_) => self.list::<i64>(array, shown),
            DataType::Map(..) => self.map(array, shown),
            DataType::ListView(_) => self.list_view::<i32>(array, shown),
            DataType::LargeListView(_) => self.list_view::<i64>(array, shown),
            DataType::FixedSizeList(..) => self.fixed_list(array, shown),
            DataType::Struct(_) => self.structure(array, shown),
            DataType::Union(fields, mode) => self.union(array, (fields, *mode), shown),
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => self.runs::<Int16Type>(array, shown),
                DataType::Int32 => self.runs::<Int32Type>(array, shown),
                _ => self.runs::<Int64Type>(array, shown),
            },
            DataType::Dictionary(key, _) => {
                let made = match self.dictionaries {
                    Dictionaries::Kept => by_number!(**key, kept_dictionary(self, array, shown)),
                    Dictionaries::Compacted => by_number!(**key, dictionary(self, array, shown)),
                };
                made.unwrap_or_else(|| Err(Trouble::damaged("a dictionary has no keys")))
            }
            _ => fixed(array, shown),
        }
    }

    fn list<O: OffsetSizeTrait>(
        &mut self,
        array: &ArrayRef,
        shown: Shown<'_>,
    ) -> Result<ArrayRef, Trouble> {
        let lists = array.as_list::<O>();
        let (DataType::List(field) | DataType::LargeList(field)) = array.data_type() else {
            return Err(Trouble::damaged("a list is none"));
        };
        let (offsets, items) = items(lists.offsets(), lists.values(), shown)?;
        let items = self.array(&items, None)?;
        let nulls = lists.nulls().cloned();
        let made = GenericListArray::<O>::try_new(Arc::clone(field), offsets, items, nulls);
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    fn map(&mut self, array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
        let maps = array.as_map();
        let DataType::Map(field, ordered) = array.data_type() else {
            return Err(Trouble::damaged("a map is none"));
        };
        let entries: ArrayRef = Arc::new(maps.entries().clone());
        let (offsets, entries) = items(maps.offsets(), &entries, shown)?;
        let entries = self.array(&entries, None)?.as_struct().clone();
        let nulls = maps.nulls().cloned();
        let made = MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *ordered);
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    fn list_view<O: OffsetSizeTrait>(
        &mut self,
        array: &ArrayRef,
        shown: Shown<'_>,
    ) -> Result<ArrayRef, Trouble> {
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
            let (start, size) = if is_shown(shown, row) { there } else { (0, 0) };
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
            self.array(&items, None)?,
            lists.nulls().cloned(),
        );
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    fn fixed_list(&mut self, array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
        let lists = array.as_fixed_size_list();
        let DataType::FixedSizeList(field, size) = array.data_type() else {
            return Err(Trouble::damaged("a list is none"));
        };
        let items = usize::try_from(*size).unwrap_or_default();
        if items == 0 {
            return Ok(Arc::clone(array));
        }
        let shown = shown.map(|shown| shown.expand(items));
        let values = lists.values().slice(0, lists.len() * items);
        let values = self.array(&values, shown.as_ref())?;
        let nulls = lists.nulls().cloned();
        let made = FixedSizeListArray::try_new(Arc::clone(field), *size, values, nulls);
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    fn structure(&mut self, array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
        let (fields, parts, nulls) = array.as_struct().clone().into_parts();
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.array(part, shown)).collect();
        let made = StructArray::try_new_with_length(fields, parts?, nulls, array.len());
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    /// A part has a row for each of a sparse union, and shows those that are of its own type; a dense one has the rows
    /// that offsets lead to.
    fn union(
        &mut self,
        array: &ArrayRef,
        (fields, mode): (&UnionFields, UnionMode),
        shown: Shown<'_>,
    ) -> Result<ArrayRef, Trouble> {
        let old = array.as_union();
        let types = old.type_ids();
        let mut offsets = vec![0; types.len()];
        let mut parts = Vec::with_capacity(fields.len());
        for (number, _) in fields.iter() {
            let (mut rows, mut is_own) = (Vec::new(), BooleanBuilder::new());
            let own = types
                .iter()
                .enumerate()
                .map(|(row, kind)| (row, *kind == number));
            for (row, is_chosen) in own {
                if mode == UnionMode::Sparse {
                    is_own.append_value(is_chosen && is_shown(shown, row));
                } else if is_chosen {
                    if let Some(offset) = offsets.get_mut(row) {
                        *offset = i32::try_from(rows.len()).map_err(unwritable)?;
                    }
                    rows.push(old.value_offset(row) as u64);
                    is_own.append_value(is_shown(shown, row));
                }
            }
            let part = match mode {
                UnionMode::Sparse => Arc::clone(old.child(number)),
                UnionMode::Dense => {
                    let rows = UInt64Array::from(rows);
                    take(old.child(number), &rows, None).map_err(unwritable)?
                }
            };
            let is_own = NullBuffer::from(is_own.finish().values().clone());
            parts.push(self.array(&part, Some(&is_own))?);
        }
        let offsets = (mode == UnionMode::Dense).then(|| ScalarBuffer::from(offsets));
        let made = UnionArray::try_new(fields.clone(), types.clone(), offsets, parts);
        Ok(Arc::new(made.map_err(unwritable)?))
    }

    /// A run is shown if one of its rows is.
    fn runs<R: RunEndIndexType>(
        &mut self,
        array: &ArrayRef,
        shown: Shown<'_>,
    ) -> Result<ArrayRef, Trouble> {
        let none = || Trouble::damaged("a column of runs is none");
        let old = array.as_any().downcast_ref::<RunArray<R>>();
        let old = old.ok_or_else(none)?;
        let (before, rows) = (old.offset(), old.len());
        let (mut places, mut ends, mut is_own) = (Vec::new(), Vec::new(), BooleanBuilder::new());
        let mut start = 0;
        for (place, end) in old.run_ends().values().iter().enumerate() {
            let end = end.as_usize().saturating_sub(before).min(rows);
            if end > start {
                places.push(place as u64);
                ends.push(R::Native::from_usize(end).ok_or_else(none)?);
                is_own.append_value((start..end).any(|row| is_shown(shown, row)));
                start = end;
            }
        }
        let values = take(old.values(), &UInt64Array::from(places), None).map_err(unwritable)?;
        let is_own = NullBuffer::from(is_own.finish().values().clone());
        let values = self.array(&values, Some(&is_own))?;
        let ends = PrimitiveArray::<R>::from_iter_values(ends);
        let made = array.to_data().into_builder().offset(0);
        let made = made.child_data(vec![ends.to_data(), values.to_data()]);
        Ok(make_array(made.build().map_err(unwritable)?))
    }
}

/// The items of lists that are shown, and where each list ends among them.
fn items<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    values: &ArrayRef,
    shown: Shown<'_>,
) -> Result<(OffsetBuffer<O>, ArrayRef), Trouble> {
    let pairs = || {
        let own = offsets.iter().zip(offsets.iter().skip(1));
        own.map(|(start, end)| start.as_usize()..end.as_usize())
    };
    let has_hidden = shown.is_some_and(|shown| {
        let hidden = pairs().enumerate();
        let mut hidden = hidden.filter(|(row, _)| shown.is_null(*row));
        hidden.any(|(_, items)| !items.is_empty())
    });
    let shown = |row| !has_hidden || is_shown(shown, row);
    let lengths = pairs().enumerate();
    let lengths = lengths.map(|(row, items)| if shown(row) { items.len() } else { 0 });
    let made = OffsetBuffer::from_lengths(lengths);
    if !has_hidden {
        let first = offsets.first().as_usize();
        let last = offsets.last().as_usize();
        return Ok((made, values.slice(first, last - first)));
    }
    let own = pairs().enumerate().filter(|(row, _)| shown(*row));
    let own = own.flat_map(|(_, items)| items.map(|item| item as u64));
    let items = take(values, &UInt64Array::from_iter_values(own), None).map_err(unwritable)?;
    Ok((made, items))
}

/// Texts, or bytes of other kinds. What stands before the first of them and behind the last is not written.
fn bytes<T: ByteArrayType>(array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
    let Some(shown) = shown else {
        return Ok(Arc::clone(array));
    };
    let old = array.as_bytes::<T>();
    let length = |row| old.value_length(row).as_usize();
    if (0..old.len()).all(|row| shown.is_valid(row) || length(row) == 0) {
        return Ok(Arc::clone(array));
    }
    let mut values: Vec<u8> = Vec::with_capacity(old.values().len());
    let mut lengths = vec![0; old.len()];
    for (row, own) in lengths.iter_mut().enumerate() {
        if shown.is_valid(row) {
            *own = length(row);
            values.extend_from_slice(old.value(row).as_ref());
        }
    }
    let offsets = OffsetBuffer::<T::Offset>::from_lengths(lengths);
    let made = GenericByteArray::<T>::try_new(offsets, values.into(), old.nulls().cloned());
    Ok(Arc::new(made.map_err(unwritable)?))
}

/// With a buffer of their own. A short text is within its view.
fn views<T: ByteViewType>(array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
    let old = array.as_byte_view::<T>();
    let Some(shown) = shown else {
        return Ok(Arc::new(old.gc()));
    };
    let views = old.views().iter().enumerate();
    let views = views.map(|(row, view)| if shown.is_valid(row) { *view } else { 0 });
    let made = GenericByteViewArray::<T>::try_new(
        views.collect(),
        Arc::clone(old.data_buffers()),
        old.nulls().cloned(),
    );
    Ok(Arc::new(made.map_err(unwritable)?.gc()))
}

/// Values of so many bytes each, or bits.
fn fixed(array: &ArrayRef, shown: Shown<'_>) -> Result<ArrayRef, Trouble> {
    let kind = array.data_type();
    let Some(shown) = shown.filter(|_| *kind != DataType::Null) else {
        return Ok(Arc::clone(array));
    };
    if *kind == DataType::Boolean {
        let old = array.as_boolean();
        let values = old.values() & shown.inner();
        return Ok(Arc::new(BooleanArray::new(values, old.nulls().cloned())));
    }
    let width = match kind {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
        kind => kind.primitive_width(),
    };
    let width = width.ok_or_else(|| unwritable("a column has a type without a width"))?;
    let data = array.to_data();
    let start = data.offset() * width;
    let old = data.buffers().first().map(|buffer| buffer.as_slice());
    let old = old.and_then(|old| old.get(start..start + array.len() * width));
    let old = old.ok_or_else(|| Trouble::damaged("a column is cut short"))?;
    // Aligned for every type.
    let mut values = MutableBuffer::from_len_zeroed(old.len());
    put_shown(old, &mut values, (width, shown));
    let made = data
        .clone()
        .into_builder()
        .offset(0)
        .buffers(vec![values.into()]);
    Ok(make_array(made.build().map_err(unwritable)?))
}

/// Copies the values of so many bytes each that are shown to where there are zeros.
pub(super) fn put_shown(old: &[u8], new: &mut [u8], (width, shown): (usize, &NullBuffer)) {
    for (start, end) in shown.valid_slices() {
        let own = start * width..end * width;
        if let (Some(old), Some(new)) = (old.get(own.clone()), new.get_mut(own)) {
            new.copy_from_slice(old);
        }
    }
}

/// A dictionary with all of its values, and keys for the rows that are shown.
fn kept_dictionary<K: ArrowDictionaryKeyType>(
    compaction: &mut Compaction<'_>,
    array: &ArrayRef,
    shown: Shown<'_>,
) -> Result<ArrayRef, Trouble> {
    let old = array.as_dictionary::<K>();
    if shown.is_none() && old.values().null_count() == 0 {
        return Ok(Arc::clone(array));
    }
    let keys = old.keys().iter().enumerate();
    let keys = keys.map(|(row, key)| key.filter(|_| is_shown(shown, row)));
    let values = match old.values().null_count() {
        0 => Arc::clone(old.values()),
        _ => compaction.array(old.values(), None)?,
    };
    let made = DictionaryArray::<K>::try_new(keys.collect(), values).map_err(unwritable)?;
    Ok(Arc::new(made))
}

fn dictionary<K: ArrowDictionaryKeyType>(
    compaction: &mut Compaction<'_>,
    array: &ArrayRef,
    shown: Shown<'_>,
) -> Result<ArrayRef, Trouble> {
    let old = array.as_dictionary::<K>();
    let place = compaction.gathered.len();
    let keys = old.keys().iter().enumerate();
    let keys = keys.map(|(row, key)| key.filter(|_| is_shown(shown, row)));
    let keys: PrimitiveArray<K> = keys.collect();
    let mut used = vec![false; old.values().len()];
    for key in keys.iter().flatten() {
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
    let values = compaction.array(&values, None)?;
    let keys = keys.iter().map(|key| {
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
            let mut compaction = Compaction::new(Dictionaries::Compacted, None);
            let made = compaction.array(&kept, None).unwrap();
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
            let made = compacted(&batch(row), Dictionaries::Compacted, Some(&used)).unwrap();
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
        let mut compaction = Compaction::new(Dictionaries::Compacted, None);
        assert_eq!(&compaction.array(&array, None).unwrap(), &array);
    }
}
