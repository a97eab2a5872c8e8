//! Batches of which only the columns that change are read: the others go from file to file as they are.
//!
//! For batches of the common form: nothing compressed, no dictionaries, each buffer behind the one before it, and in the
//! columns that are read texts with offsets, in ASCII, without bytes where there is a null. All others are read whole
//! ([`super::batch`]), with the same values. What lies between buffers stays behind, and so does what no row has
//! ([`super::kept`]).

use std::ops::Range;

use arrow_ipc::{
    Buffer, FieldNode, MessageBuilder, MessageHeader, MetadataVersion, RecordBatchBuilder,
    root_as_message,
};
use arrow_schema::{DataType, FieldRef, Fields};
use flatbuffers::FlatBufferBuilder;
use keywright_format::{Cells, OnBad};
use keywright_protect::{Columns, Plan};

use super::ArrowTable;
use super::batch::{Change, ROWS};
use super::kept::Keeper;
use super::messages::Item;
use crate::error::{Trouble, unwritable};
use crate::positional::Positional;

/// What buffers are aligned to.
pub(super) const ALIGNMENT: usize = 64;

/// How the offsets of a column are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Small,
    Large,
}

impl Width {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Small => 4,
            Self::Large => 8,
        }
    }

    /// Offsets as they are in the file. One that cannot be is larger than every file.
    pub(super) fn read(self, raw: &[u8], out: &mut Vec<usize>) {
        let far = usize::MAX;
        if self == Self::Large {
            let (own, _) = raw.as_chunks::<8>();
            let own = own.iter().map(|offset| i64::from_le_bytes(*offset));
            out.extend(own.map(|offset| usize::try_from(offset).unwrap_or(far)));
        } else {
            let (own, _) = raw.as_chunks::<4>();
            let own = own.iter().map(|offset| i32::from_le_bytes(*offset));
            out.extend(own.map(|offset| usize::try_from(offset).unwrap_or(far)));
        }
    }
}

/// Where the columns of a table stand among the nodes and buffers of its batches.
pub(super) struct Lanes {
    fields: Fields,
    first: Vec<(usize, usize)>,
    nodes: usize,
    buffers: usize,
    /// The columns that are read, in the order of [`Columns::wanted`].
    wanted: Vec<usize>,
    /// The columns that change, in the order of the plan: which of those that are read, and whether they may have nulls.
    changes: Vec<(usize, bool)>,
    /// The offsets of those that are read.
    widths: Vec<Width>,
}

impl Lanes {
    /// Nothing where all batches of a table are read whole.
    pub(super) fn of(table: &ArrowTable, plan: &Plan) -> Option<Self> {
        let messages = &table.messages;
        let in_order = table.blocks.iter().all(|(batches, _)| *batches == 1);
        let rejects = plan.changes().any(|(.., on_bad)| on_bad == OnBad::Reject);
        let plain = messages.codec.is_none() && !messages.has_dictionaries();
        if messages.version != MetadataVersion::V5 || !plain || !in_order || rejects {
            return None;
        }
        let fields = messages.schema.fields();
        let (mut nodes, mut buffers) = (0, 0);
        let mut first = Vec::with_capacity(fields.len());
        for field in fields {
            first.push((nodes, buffers));
            let (own_nodes, own_buffers) = size(field.data_type())?;
            nodes += own_nodes;
            buffers += own_buffers;
        }
        let wanted = Columns::new(plan).wanted().to_vec();
        let mut widths = Vec::with_capacity(wanted.len());
        for column in &wanted {
            widths.push(match fields.get(*column)?.data_type() {
                DataType::Utf8 => Width::Small,
                DataType::LargeUtf8 => Width::Large,
                _ => return None,
            });
        }
        let changes = plan.changes().map(|(column, ..)| {
            let place = wanted.iter().position(|wanted| *wanted == column)?;
            Some((place, fields.get(column)?.is_nullable()))
        });
        Some(Self {
            changes: changes.collect::<Option<_>>()?,
            fields: fields.clone(),
            first,
            nodes,
            buffers,
            wanted,
            widths,
        })
    }
}

/// Nodes and buffers of a column; nothing where their number is not that of its type.
fn size(kind: &DataType) -> Option<(usize, usize)> {
    match kind {
        DataType::Null => Some((1, 0)),
        DataType::Boolean | DataType::FixedSizeBinary(_) => Some((1, 2)),
        kind if kind.is_primitive() => Some((1, 2)),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            Some((1, 3))
        }
        DataType::List(part) | DataType::LargeList(part) | DataType::Map(part, _) => {
            with((1, 2), part)
        }
        DataType::FixedSizeList(part, _) => with((1, 1), part),
        DataType::Struct(parts) => parts.iter().try_fold((1, 1), with),
        _ => None,
    }
}

/// With those of a column within another.
fn with((nodes, buffers): (usize, usize), part: &FieldRef) -> Option<(usize, usize)> {
    let (more_nodes, more_buffers) = size(part.data_type())?;
    Some((nodes + more_nodes, buffers + more_buffers))
}

/// What the description of a batch says: its rows, and where the buffers are in the file.
struct Told {
    rows: usize,
    nodes: Vec<FieldNode>,
    buffers: Vec<Range<u64>>,
}

impl Told {
    /// Nothing where it is not of the common form. Whether it can be at all is judged by whoever reads it whole.
    fn of(lanes: &Lanes, bytes: &Positional, item: &Item) -> Result<Option<Self>, Trouble> {
        let head = bytes.bytes(item.at, item.head_len())?;
        let Ok(message) = root_as_message(item.description(&head)) else {
            return Ok(None);
        };
        let batch = message.header_as_record_batch();
        let Some(batch) = batch.filter(|_| message.version() == MetadataVersion::V5) else {
            return Ok(None);
        };
        let views = batch.variadicBufferCounts();
        let (Ok(rows @ 1..), None) = (usize::try_from(batch.length()), batch.compression()) else {
            return Ok(None);
        };
        let mut told = Self {
            rows,
            nodes: batch.nodes().into_iter().flatten().copied().collect(),
            buffers: Vec::with_capacity(lanes.buffers),
        };
        let mut end = item.body_at();
        for buffer in batch.buffers().into_iter().flatten() {
            let Some(own) = place(buffer, item).filter(|own| own.start >= end || own.is_empty())
            else {
                return Ok(None);
            };
            let own = if own.is_empty() { end..end } else { own };
            end = own.end;
            told.buffers.push(own);
        }
        let sized = (told.nodes.len(), told.buffers.len()) == (lanes.nodes, lanes.buffers);
        // The last byte of a table is gone past with what stands at its end.
        let fits = sized && views.is_none_or(|views| views.is_empty()) && item.end() < bytes.size();
        Ok(fits.then_some(told))
    }

    /// The buffers, those of columns that stay without what no row has; nothing where that is not of the common form.
    fn parts(&self, lanes: &Lanes, bytes: &Positional) -> Result<Option<Vec<Part>>, Trouble> {
        let changes = lanes.changes.iter();
        let changes: Vec<_> = changes.map(|(place, _)| lanes.wanted.get(*place)).collect();
        let mut keeper = Keeper::new(bytes, &self.nodes, &self.buffers);
        for (column, field) in lanes.fields.iter().enumerate() {
            if changes.contains(&Some(&column)) {
                keeper.pass(size(field.data_type()).unwrap_or_default());
            } else if keeper.column(field.data_type(), self.rows, None)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(keeper.finish()))
    }
}

/// Where a buffer is in the file; nothing if it is outside of its message.
fn place(buffer: &Buffer, item: &Item) -> Option<Range<u64>> {
    let (offset, length) = (
        u64::try_from(buffer.offset()).ok()?,
        u64::try_from(buffer.length()).ok()?,
    );
    let start = item.body_at().checked_add(offset)?;
    let end = start.checked_add(length)?;
    (end <= item.end()).then_some(start..end)
}

/// A column of texts as it stands in the file.
#[derive(Default)]
pub(super) struct Lane {
    raw: Vec<u8>,
    offsets: Vec<usize>,
    texts: Vec<u8>,
    /// A bit for each row, where there are nulls.
    valid: Option<Vec<u8>>,
}

impl Lane {
    /// False where it is not of the common form.
    fn read(
        &mut self,
        bytes: &Positional,
        told: &Told,
        (node, buffer): (usize, usize),
        width: Width,
    ) -> Result<bool, Trouble> {
        let (Some(node), Some([valid, offsets, texts])) =
            (told.nodes.get(node), told.buffers.get(buffer..buffer + 3))
        else {
            return Ok(false);
        };
        bytes.read_into(offsets, &mut self.raw)?;
        self.offsets.clear();
        width.read(&self.raw, &mut self.offsets);
        self.offsets.truncate(told.rows + 1);
        bytes.read_into(texts, &mut self.texts)?;
        self.valid = None;
        if node.null_count() != 0 {
            let mut own = Vec::new();
            bytes.read_into(valid, &mut own)?;
            own.truncate(told.rows.div_ceil(8));
            self.valid = Some(own);
        }
        let nulls = nulls(self.valid.as_deref(), told.rows);
        let whole = usize::try_from(node.length()) == Ok(told.rows)
            && usize::try_from(node.null_count()) == Ok(nulls)
            && self.offsets.len() == told.rows + 1
            && self.offsets.is_sorted();
        let (first, last) = (self.offsets.first(), self.offsets.last());
        let own = first.zip(last).map(|(first, last)| *first..*last);
        let own = own.and_then(|own| self.texts.get(own));
        Ok(whole && own.is_some_and(<[u8]>::is_ascii) && self.nulls_are_empty(told.rows))
    }

    /// The buffers that it was read from, but for its nulls.
    fn give(&mut self) -> [Option<Vec<u8>>; 3] {
        let (offsets, texts) = (
            std::mem::take(&mut self.raw),
            std::mem::take(&mut self.texts),
        );
        [None, Some(offsets), Some(texts)]
    }

    /// The cells of some rows.
    fn part(&self, rows: &Range<usize>) -> (&[u8], &[usize]) {
        let offsets = self.offsets.get(rows.start..=rows.end).unwrap_or_default();
        let (first, last) = (offsets.first(), offsets.last());
        let own = first.zip(last).map(|(first, last)| *first..*last);
        let texts = own.and_then(|own| self.texts.get(own));
        (texts.unwrap_or_default(), offsets)
    }

    fn is_null(&self, row: usize) -> bool {
        let valid = self.valid.as_ref();
        valid.is_some_and(|valid| {
            valid
                .get(row / 8)
                .is_none_or(|bits| (bits >> (row % 8)) & 1 == 0)
        })
    }

    fn is_empty(&self, row: usize) -> bool {
        matches!(self.offsets.get(row..row + 2), Some([start, end]) if start == end)
    }

    fn nulls_are_empty(&self, rows: usize) -> bool {
        let Some(valid) = &self.valid else {
            return true;
        };
        let bytes = valid.iter().enumerate();
        let mut gaps = bytes.filter(|(_, bits)| **bits != u8::MAX);
        let empty = |row: usize| row >= rows || !self.is_null(row) || self.is_empty(row);
        valid.len() == rows.div_ceil(8)
            && gaps.all(|(place, _)| (place * 8..place * 8 + 8).all(empty))
    }
}

/// A column that was made.
struct Made {
    width: Width,
    nullable: bool,
    rows: usize,
    valid: Option<Vec<u8>>,
    offsets: Vec<u8>,
    texts: Vec<u8>,
}

impl Made {
    fn new(lane: &Lane, rows: usize, (width, nullable): (Width, bool)) -> Self {
        let mut offsets = Vec::with_capacity(width.bytes() * (rows + 1));
        offsets.resize(width.bytes(), 0);
        Self {
            width,
            nullable,
            rows,
            valid: lane.valid.clone(),
            offsets,
            texts: Vec::with_capacity(lane.part(&(0..rows)).0.len()),
        }
    }

    /// The next rows. Where a text is gone that was there, there is a null, if the column may have one.
    fn take(&mut self, lane: &Lane, rows: &Range<usize>, cells: &Cells<'_>) -> Result<(), Trouble> {
        let (_, old) = lane.part(rows);
        match cells.by_offsets() {
            Some((texts, new)) if texts.is_ascii() && same_gaps(old, new) => {
                let before = self.texts.len();
                self.texts.extend_from_slice(texts);
                self.put_ends(new.iter().skip(1).map(|end| before + end));
            }
            _ => {
                let mut ends = Vec::with_capacity(rows.len());
                for row in rows.clone() {
                    self.put(lane, row, cells.get(row - rows.start))?;
                    ends.push(self.texts.len());
                }
                self.put_ends(ends.into_iter());
            }
        }
        if self.width == Width::Small && i32::try_from(self.texts.len()).is_err() {
            return Err(unwritable("a column grows beyond what its type holds"));
        }
        Ok(())
    }

    fn put(&mut self, lane: &Lane, row: usize, text: &[u8]) -> Result<(), Trouble> {
        if self.nullable && text.is_empty() && !lane.is_empty(row) {
            let rows = self.rows;
            let valid = self.valid.get_or_insert_with(|| all_valid(rows));
            if let Some(bits) = valid.get_mut(row / 8) {
                *bits &= !(1 << (row % 8));
            }
        } else if !lane.is_null(row) {
            if std::str::from_utf8(text).is_err() {
                return Err(unwritable("what becomes of a text is none"));
            }
            self.texts.extend_from_slice(text);
        }
        Ok(())
    }

    fn put_ends(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        let before = self.offsets.len();
        let bytes = self.width.bytes() * ends.len();
        self.offsets.resize(before + bytes, 0);
        let places = self.offsets.get_mut(before..).unwrap_or_default();
        if self.width == Width::Large {
            for (place, end) in places.as_chunks_mut::<8>().0.iter_mut().zip(ends) {
                *place = (end as u64).to_le_bytes();
            }
        } else {
            for (place, end) in places.as_chunks_mut::<4>().0.iter_mut().zip(ends) {
                // What does not fit is told as soon as the rows are taken.
                *place = u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes();
            }
        }
    }

    fn nulls(&self) -> usize {
        nulls(self.valid.as_deref(), self.rows)
    }
}

/// How many of so many rows are null.
fn nulls(valid: Option<&[u8]>, rows: usize) -> usize {
    let bytes = valid.unwrap_or_default().iter().enumerate();
    let gaps = bytes.map(|(place, bits)| match rows.saturating_sub(place * 8) {
        8.. => bits.count_zeros() as usize,
        left => (0..left).filter(|bit| (bits >> bit) & 1 == 0).count(),
    });
    gaps.sum()
}

/// Whether the same rows have texts.
fn same_gaps(old: &[usize], new: &[usize]) -> bool {
    let is_gap = |pair: &[usize]| matches!(pair, [start, end] if start == end);
    let pairs = old.windows(2).zip(new.windows(2));
    let differing = pairs.filter(|(old, new)| is_gap(old) != is_gap(new));
    old.len() == new.len() && differing.count() == 0
}

/// A bit for each row.
fn all_valid(rows: usize) -> Vec<u8> {
    let mut valid = vec![u8::MAX; rows / 8];
    if !rows.is_multiple_of(8) {
        valid.push(u8::MAX >> (8 - rows % 8));
    }
    valid
}

/// A batch on its way out.
pub(super) struct Spliced {
    /// Its description, which stands in front.
    pub(super) head: Vec<u8>,
    pub(super) parts: Vec<Part>,
    /// Bytes of all parts, each of them aligned.
    pub(super) length: u64,
}

/// A buffer of it.
pub(super) enum Part {
    /// As it stands in the input.
    Kept(Range<u64>),
    Made(Vec<u8>, Option<Seen>),
}

/// What stands in the input where something else is written, and was read for that: it need not be read again.
pub(super) struct Seen {
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

impl Seen {
    /// Nothing where that is not all that stands there.
    fn of(range: &Range<u64>, bytes: Vec<u8>) -> Option<Self> {
        let whole = bytes.len() as u64 == range.end - range.start;
        whole.then_some(Self {
            at: range.start,
            bytes,
        })
    }
}

impl Part {
    pub(super) const fn length(&self) -> u64 {
        match self {
            Self::Kept(range) => range.end - range.start,
            Self::Made(bytes, _) => bytes.len() as u64,
        }
    }
}

impl Spliced {
    /// Takes the buffers of columns that stay, and what was read of columns that changed.
    fn new(
        mut told: Told,
        (lanes, read): (&Lanes, &mut [Lane]),
        (mut parts, made): (Vec<Part>, Vec<Made>),
    ) -> Result<Self, Trouble> {
        for (made, (place, _)) in made.into_iter().zip(&lanes.changes) {
            let column = lanes.wanted.get(*place);
            let first = column.and_then(|column| lanes.first.get(*column));
            let Some((node, buffer)) = first.copied() else {
                continue;
            };
            if let Some(node) = told.nodes.get_mut(node) {
                *node = FieldNode::new(signed(told.rows as u64)?, signed(made.nulls() as u64)?);
            }
            let own = [made.valid.unwrap_or_default(), made.offsets, made.texts];
            let read = read.get_mut(*place).map_or([None, None, None], Lane::give);
            let places = parts.iter_mut().skip(buffer);
            for (place, (own, read)) in places.zip(own.into_iter().zip(read)) {
                let seen = match place {
                    Part::Kept(range) => read.and_then(|read| Seen::of(range, read)),
                    Part::Made(..) => None,
                };
                *place = Part::Made(own, seen);
            }
        }
        let mut buffers = Vec::with_capacity(parts.len());
        let mut length = 0;
        for part in &parts {
            buffers.push(Buffer::new(signed(length)?, signed(part.length())?));
            length += part.length().next_multiple_of(ALIGNMENT as u64);
        }
        let head = head(told.rows, &told.nodes, (&buffers, signed(length)?))?;
        Ok(Self {
            head,
            parts,
            length,
        })
    }
}

fn signed(number: u64) -> Result<i64, Trouble> {
    i64::try_from(number).map_err(|_far| unwritable("a batch is too long"))
}

/// The description of a batch.
fn head(
    rows: usize,
    nodes: &[FieldNode],
    (buffers, length): (&[Buffer], i64),
) -> Result<Vec<u8>, Trouble> {
    let mut builder = FlatBufferBuilder::new();
    let (nodes, buffers) = (builder.create_vector(nodes), builder.create_vector(buffers));
    let mut batch = RecordBatchBuilder::new(&mut builder);
    batch.add_length(signed(rows as u64)?);
    batch.add_nodes(nodes);
    batch.add_buffers(buffers);
    let batch = batch.finish().as_union_value();
    let mut message = MessageBuilder::new(&mut builder);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::RecordBatch);
    message.add_bodyLength(length);
    message.add_header(batch);
    let root = message.finish();
    builder.finish(root, None);
    Ok(builder.finished_data().to_vec())
}

impl Change<'_> {
    /// Changes a batch without reading it whole; nothing where that cannot be. `step` hears of the rows as they are
    /// done.
    pub(super) fn splice(
        &mut self,
        bytes: &Positional,
        (lanes, item): (&Lanes, &Item),
        step: &mut dyn FnMut(usize) -> Result<(), Trouble>,
    ) -> Result<Option<Spliced>, Trouble> {
        let Some(told) = Told::of(lanes, bytes, item)? else {
            return Ok(None);
        };
        let Some(parts) = told.parts(lanes, bytes)? else {
            return Ok(None);
        };
        self.lanes.resize_with(lanes.wanted.len(), Lane::default);
        let wanted = lanes.wanted.iter().zip(&lanes.widths);
        for (lane, (column, width)) in self.lanes.iter_mut().zip(wanted) {
            let first = lanes.first.get(*column).copied().unwrap_or_default();
            if !lane.read(bytes, &told, first, *width)? {
                return Ok(None);
            }
        }
        let mut made = Vec::with_capacity(lanes.changes.len());
        for (place, nullable) in &lanes.changes {
            let (lane, width) = (self.lanes.get(*place), lanes.widths.get(*place));
            let Some((lane, width)) = lane.zip(width) else {
                return Ok(None);
            };
            made.push(Made::new(lane, told.rows, (*width, *nullable)));
        }
        for start in (0..told.rows).step_by(ROWS) {
            let rows = start..told.rows.min(start + ROWS);
            for (place, lane) in self.lanes.iter().enumerate() {
                let (texts, offsets) = lane.part(&rows);
                let first = offsets.first().copied().unwrap_or_default();
                let offsets = offsets.iter().map(|offset| offset - first);
                self.columns.put_piece(place, texts, offsets);
            }
            self.columns.run()?;
            let changed = self.columns.changed()?;
            let changes = made.iter_mut().zip(&lanes.changes);
            for ((made, (place, _)), (_, cells)) in changes.zip(&changed) {
                if let Some(lane) = self.lanes.get(*place) {
                    made.take(lane, &rows, cells)?;
                }
            }
            step(rows.len())?;
        }
        self.done.rows += told.rows as u64;
        Spliced::new(told, (lanes, &mut self.lanes), (parts, made)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_rows_that_are_there() {
        for rows in 1..40 {
            let made = Made {
                width: Width::Small,
                nullable: true,
                rows,
                valid: Some(all_valid(rows)),
                offsets: Vec::new(),
                texts: Vec::new(),
            };
            assert_eq!(made.valid.as_ref().unwrap().len(), rows.div_ceil(8));
            assert_eq!(made.nulls(), 0);
            let none = Made {
                valid: Some(vec![0; rows.div_ceil(8)]),
                ..made
            };
            assert_eq!(none.nulls(), rows);
        }
    }

    #[test]
    fn nulls_with_bytes_are_not_of_the_common_form() {
        let mut lane = Lane {
            offsets: vec![0, 2, 2, 5],
            texts: b"abcde".to_vec(),
            valid: Some(vec![0b101]),
            ..Lane::default()
        };
        assert!(lane.nulls_are_empty(3));
        assert!(lane.is_null(1) && !lane.is_null(2));
        lane.valid = Some(vec![0b011]);
        assert!(!lane.nulls_are_empty(3));
        lane.valid = Some(Vec::new());
        assert!(!lane.nulls_are_empty(3));
        lane.valid = None;
        assert!(lane.nulls_are_empty(3) && !lane.is_null(9));
    }

    #[test]
    fn gaps_are_the_same_or_not() {
        assert!(same_gaps(&[4, 6, 6, 9], &[0, 1, 1, 2]));
        assert!(!same_gaps(&[4, 6, 6, 9], &[0, 1, 2, 2]));
        assert!(!same_gaps(&[4, 6, 6], &[0, 1, 1, 2]));
    }
}
