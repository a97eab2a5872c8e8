//! Buffers of columns that stay, without what no row has: bytes beneath nulls, behind the last value, and in the
//! padding.
//!
//! Where a column and what it is within have no null, it is enough to know where its values end. Else it is read, and
//! copied as it is if there is nothing beneath the nulls, as with most writers.

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_ipc::FieldNode;
use arrow_schema::{DataType, FieldRef};

use super::compact::put_shown;
use super::splice::{Part, Width};
use crate::error::Trouble;
use crate::positional::Positional;

/// Which rows are shown; nothing where all are.
type Shown<'s> = Option<&'s NullBuffer>;

/// Goes through the nodes and buffers of a batch. What is not of the common form is read whole by another.
pub(super) struct Keeper<'k> {
    bytes: &'k Positional,
    nodes: std::slice::Iter<'k, FieldNode>,
    buffers: std::slice::Iter<'k, Range<u64>>,
    parts: Vec<Part>,
}

impl<'k> Keeper<'k> {
    pub(super) fn new(
        bytes: &'k Positional,
        nodes: &'k [FieldNode],
        buffers: &'k [Range<u64>],
    ) -> Self {
        Self {
            bytes,
            nodes: nodes.iter(),
            buffers: buffers.iter(),
            parts: Vec::with_capacity(buffers.len()),
        }
    }

    /// Takes so many nodes and buffers as they are: something else is put in their place.
    pub(super) fn pass(&mut self, (nodes, buffers): (usize, usize)) {
        self.nodes.by_ref().take(nodes).for_each(drop);
        let own = self.buffers.by_ref().take(buffers).cloned();
        self.parts.extend(own.map(Part::Kept));
    }

    pub(super) fn finish(self) -> Vec<Part> {
        self.parts
    }

    /// A column of so many rows, some of which are shown by what it is within; nothing where it is not of the common
    /// form.
    pub(super) fn column(
        &mut self,
        kind: &DataType,
        rows: usize,
        within: Shown<'_>,
    ) -> Result<Option<()>, Trouble> {
        let node = self.nodes.next();
        let Some(node) = node.filter(|node| usize::try_from(node.length()) == Ok(rows)) else {
            return Ok(None);
        };
        if *kind == DataType::Null {
            return Ok(Some(()));
        }
        let Some(own) = self.valid(node, rows)? else {
            return Ok(None);
        };
        let shown = NullBuffer::union(Some(&own), within);
        let shown = shown.as_ref().filter(|shown| shown.null_count() > 0);
        match kind {
            DataType::Boolean => self.bits(rows, shown),
            DataType::FixedSizeBinary(width) => {
                self.fixed(usize::try_from(*width).unwrap_or_default(), rows, shown)
            }
            DataType::Utf8 | DataType::Binary => self.texts(Width::Small, rows, shown),
            DataType::LargeUtf8 | DataType::LargeBinary => self.texts(Width::Large, rows, shown),
            DataType::List(part) | DataType::Map(part, _) => {
                self.list((Width::Small, part), rows, shown)
            }
            DataType::LargeList(part) => self.list((Width::Large, part), rows, shown),
            DataType::FixedSizeList(part, size) => {
                let size = usize::try_from(*size).unwrap_or_default();
                let shown = shown.map(|shown| shown.expand(size));
                let Some(rows) = rows.checked_mul(size) else {
                    return Ok(None);
                };
                self.column(part.data_type(), rows, shown.as_ref())
            }
            DataType::Struct(parts) => {
                for part in parts {
                    if self.column(part.data_type(), rows, shown)?.is_none() {
                        return Ok(None);
                    }
                }
                Ok(Some(()))
            }
            kind => match kind.primitive_width() {
                Some(width) => self.fixed(width, rows, shown),
                None => Ok(None),
            },
        }
    }

    /// Which rows of a column have no null in them.
    fn valid(&mut self, node: &FieldNode, rows: usize) -> Result<Option<NullBuffer>, Trouble> {
        // A validity bitmap without a null says nothing, and its bytes are foreign: it is left out.
        let length = match node.null_count() {
            0 => 0,
            _ => rows.div_ceil(8),
        };
        let Some(range) = self.next(length) else {
            return Ok(None);
        };
        self.parts.push(Part::Kept(range.clone()));
        if length == 0 {
            return Ok(Some(NullBuffer::new_valid(rows)));
        }
        let bits = BooleanBuffer::new(Buffer::from_vec(self.read(&range)?), 0, rows);
        let valid = NullBuffer::new(bits);
        let fits = usize::try_from(node.null_count()) == Ok(valid.null_count());
        Ok(fits.then_some(valid))
    }

    /// The first bytes of the next buffer, as many as it has to have.
    fn next(&mut self, length: usize) -> Option<Range<u64>> {
        let own = self.buffers.next()?;
        let end = own.start.checked_add(length as u64)?;
        (end <= own.end).then_some(own.start..end)
    }

    fn read(&self, range: &Range<u64>) -> Result<Vec<u8>, Trouble> {
        let mut own = Vec::new();
        self.bytes.read_into(range, &mut own)?;
        Ok(own)
    }

    fn bits(&mut self, rows: usize, shown: Shown<'_>) -> Result<Option<()>, Trouble> {
        let Some(range) = self.next(rows.div_ceil(8)) else {
            return Ok(None);
        };
        let Some(shown) = shown else {
            self.parts.push(Part::Kept(range));
            return Ok(Some(()));
        };
        let old = Buffer::from_vec(self.read(&range)?);
        let new = &BooleanBuffer::new(old.clone(), 0, rows) & shown.inner();
        let new = new.sliced();
        self.parts.push(match old == new {
            true => Part::Kept(range),
            false => Part::Made(new.to_vec(), None),
        });
        Ok(Some(()))
    }

    fn fixed(
        &mut self,
        width: usize,
        rows: usize,
        shown: Shown<'_>,
    ) -> Result<Option<()>, Trouble> {
        let length = rows.checked_mul(width);
        let Some(range) = length.and_then(|length| self.next(length)) else {
            return Ok(None);
        };
        let Some(shown) = shown else {
            self.parts.push(Part::Kept(range));
            return Ok(Some(()));
        };
        let old = self.read(&range)?;
        if is_blank(&old, (width, shown)) {
            self.parts.push(Part::Kept(range));
            return Ok(Some(()));
        }
        let mut new = vec![0; old.len()];
        put_shown(&old, &mut new, (width, shown));
        self.parts.push(Part::Made(new, None));
        Ok(Some(()))
    }

    fn texts(
        &mut self,
        width: Width,
        rows: usize,
        shown: Shown<'_>,
    ) -> Result<Option<()>, Trouble> {
        let length = self.offsets(width, rows, shown)?;
        let Some(range) = length.and_then(|length| self.next(length)) else {
            return Ok(None);
        };
        self.parts.push(Part::Kept(range));
        Ok(Some(()))
    }

    fn list(
        &mut self,
        (width, part): (Width, &FieldRef),
        rows: usize,
        shown: Shown<'_>,
    ) -> Result<Option<()>, Trouble> {
        match self.offsets(width, rows, shown)? {
            Some(items) => self.column(part.data_type(), items, None),
            None => Ok(None),
        }
    }

    /// Where the last value of a column ends, if the first begins at 0 and rows that are not shown are empty.
    fn offsets(
        &mut self,
        width: Width,
        rows: usize,
        shown: Shown<'_>,
    ) -> Result<Option<usize>, Trouble> {
        let bytes = width.bytes();
        if rows == 0 {
            // Some writers have no offset then.
            let none = self.next(0).map(|_| 0);
            self.parts.push(Part::Made(vec![0; bytes], None));
            return Ok(none);
        }
        let length = rows.checked_add(1).and_then(|rows| rows.checked_mul(bytes));
        let Some(range) = length.and_then(|length| self.next(length)) else {
            return Ok(None);
        };
        let mut own = Vec::new();
        if let Some(shown) = shown {
            width.read(&self.read(&range)?, &mut own);
            let mut pairs = own.iter().zip(own.iter().skip(1)).enumerate();
            if pairs.any(|(row, (start, end))| shown.is_null(row) && start != end) {
                return Ok(None);
            }
        } else {
            let ends = [
                range.start..range.start + bytes as u64,
                range.end - bytes as u64..range.end,
            ];
            for end in ends {
                width.read(&self.read(&end)?, &mut own);
            }
        }
        self.parts.push(Part::Kept(range));
        let (first, last) = (own.first(), own.last());
        Ok(last.copied().filter(|_| first == Some(&0)))
    }
}

/// Whether values of so many bytes each are zeros where they are not shown.
fn is_blank(values: &[u8], (width, shown): (usize, &NullBuffer)) -> bool {
    let mut last = 0;
    let mut gaps = shown.valid_slices().map(|(start, end)| {
        let gap = last * width..start * width;
        last = end;
        gap
    });
    let is_zero = |gap: Range<usize>| {
        let own = values.get(gap).unwrap_or_default();
        own.iter().all(|byte| *byte == 0)
    };
    gaps.all(is_zero) && is_zero(last * width..values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beneath_nulls_is_told_from_zeros() {
        let shown = NullBuffer::from(vec![false, true, true, false, true, false]);
        assert!(is_blank(&[0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 0, 0], (2, &shown)));
        for place in [0, 1, 6, 7, 10, 11] {
            let mut values = [0; 12];
            values[place] = 1;
            assert!(!is_blank(&values, (2, &shown)), "{place}");
        }
        let none = NullBuffer::new_null(3);
        assert!(is_blank(&[0; 3], (1, &none)) && !is_blank(&[0, 0, 1], (1, &none)));
    }
}
