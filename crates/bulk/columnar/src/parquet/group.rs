//! One row group: read, changed, and written.

use std::num::NonZeroUsize;

use bytes::Bytes;
use keywright_format::OnBad;
use keywright_protect::{Columns, Counts, Plan};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};

use super::blocks::Done;
use super::leaf::{Cellular, Leaf, batch_rows, is_nullable};
use super::output::{Output, Statistics, properties};
use super::{ParquetTable, dictionary, leaves_entries_out, range, split};
use crate::error::{Trouble, unwritable};
use crate::line::line;
use crate::metadata::Metadata;
use crate::run::{Order, Tick};
use crate::sink::{Behind, Sink};
use crate::walk::Way;

type Group<'a> = SerializedRowGroupWriter<'a, Behind<Sink>>;

/// The files of a run, and the way through the input.
pub(super) struct Pair<'o> {
    pub(super) way: &'o Way,
    pub(super) output: &'o mut Output,
    pub(super) rejects: Option<&'o mut Output>,
}

/// What is done to which columns of a table.
pub(super) struct Job<'t> {
    pub(super) table: &'t ParquetTable,
    pub(super) metadata: &'t Metadata,
    plan: &'t Plan,
    threads: NonZeroUsize,
    /// The columns that change, in the order of the plan.
    changes: Vec<usize>,
}

impl<'t> Job<'t> {
    pub(super) fn new(table: &'t ParquetTable, order: Order<'t>) -> Self {
        let plan = order.plan;
        Self {
            table,
            metadata: order.metadata,
            plan,
            threads: order.threads,
            changes: plan.changes().map(|(column, ..)| column).collect(),
        }
    }

    pub(super) const fn changes(&self) -> usize {
        self.changes.len()
    }

    fn rows(&self, group: usize) -> usize {
        let rows = self.table.metadata.row_group(group).num_rows();
        usize::try_from(rows).unwrap_or_default()
    }

    /// Looks at the first rows before anything is written: under a wrong key most values do not fit.
    pub(super) fn probe(&self) -> Result<(), Trouble> {
        let groups = self.table.metadata.row_groups().iter();
        let Some(group) = groups.enumerate().find(|(_, group)| group.num_rows() > 0) else {
            return Ok(());
        };
        for change in 0..self.changes.len() {
            let mut columns = Columns::single(self.plan, change, 0);
            let rows = batch_rows(self.table, group.0, columns.wanted());
            let rows = rows.min(usize::try_from(group.1.num_rows()).unwrap_or(rows));
            for (place, column) in columns.wanted().to_vec().into_iter().enumerate() {
                let mut leaf = Leaf::open(self.table, group.0, column)?;
                leaf.read(rows)?;
                leaf.put(&mut columns, place);
            }
            columns.probe()?;
        }
        Ok(())
    }

    /// The rows of a group that go to the second file; nothing if there are none.
    fn dropped(&self, group: usize, first: u64, tick: &mut Tick<'_>) -> Result<Vec<bool>, Trouble> {
        let mut dropped = Vec::new();
        for (change, (_, _, on_bad)) in self.plan.changes().enumerate() {
            let rows = self.rows(group);
            if on_bad != OnBad::Reject || rows == 0 {
                continue;
            }
            let mut at = 0;
            self.batches(group, (change, first), tick, &mut |columns, leaf| {
                if !columns.rejected().is_empty() {
                    dropped.resize(rows, false);
                }
                for row in columns.rejected() {
                    if let Some(dropped) = dropped.get_mut(at + row) {
                        *dropped = true;
                    }
                }
                at += leaf.rows();
                Ok(())
            })?;
        }
        Ok(dropped)
    }

    /// Goes through a column that changes, with those that its tweaks are made of.
    fn batches(
        &self,
        group: usize,
        (change, first): (usize, u64),
        tick: &mut Tick<'_>,
        take: &mut dyn FnMut(&Columns<'_>, &Leaf) -> Result<(), Trouble>,
    ) -> Result<Vec<Counts>, Trouble> {
        let mut columns = Columns::single(self.plan, change, first);
        let wanted = columns.wanted().to_vec();
        let own = self.changes.get(change).copied().unwrap_or_default();
        let mut leaves = Vec::with_capacity(wanted.len());
        for column in &wanted {
            leaves.push(Leaf::open(self.table, group, *column)?);
        }
        let batch = batch_rows(self.table, group, &wanted);
        let mut left = self.rows(group);
        while left > 0 {
            let count = left.min(batch);
            for (place, leaf) in leaves.iter_mut().enumerate() {
                leaf.read(count)?;
                leaf.put(&mut columns, place);
            }
            columns.run()?;
            let own = wanted.iter().position(|column| *column == own);
            if let Some(leaf) = own.and_then(|own| leaves.get(own)) {
                take(&columns, leaf)?;
            }
            left -= count;
            tick.step(count)?;
        }
        Ok(columns.counts().to_vec())
    }

    /// Writes a row group, and one of the rows that are dropped from it.
    pub(super) fn write(
        &self,
        group: usize,
        first: u64,
        pair: Pair<'_>,
        (done, tick): (&mut Done, &mut Tick<'_>),
    ) -> Result<(), Trouble> {
        let first = first + done.rows;
        let dropped = self.dropped(group, first, tick)?;
        let like = self.table.metadata.row_group(group);
        let rows = self.rows(group);
        let gone = dropped.iter().filter(|dropped| **dropped).count();
        let properties = |statistics| properties(like, &self.changes, statistics);
        let mut writers = Writers {
            way: pair.way,
            dropped: &dropped,
            own: (gone < rows || rows == 0)
                .then(|| pair.output.group(properties(Statistics::AsBefore), like)),
            second: pair
                .rejects
                .filter(|_| gone > 0)
                .map(|rejects| rejects.group(properties(Statistics::None), like)),
        };
        for column in 0..like.num_columns() {
            match self.changes.iter().position(|changed| *changed == column) {
                _ if rows == 0 => empty(&mut writers)?,
                Some(change) => {
                    let place = (group, column);
                    let counts = match Cellular::of(&self.table.column(column)) {
                        Some(Cellular::Nulls) => {
                            self.nulls(place, (change, first), &mut writers, tick)
                        }
                        _ => self.changed(place, (change, first), &mut writers, tick),
                    };
                    if let (Some(sum), Some(counts)) =
                        (done.counts.get_mut(change), counts?.first())
                    {
                        sum.add(counts);
                    }
                }
                None if gone == 0 && !self.has_unused(group, column)? => {
                    self.copied(like, (group, column), &mut writers)?
                }
                None => self.split((group, column), &mut writers)?,
            }
        }
        for writer in [writers.own, writers.second].into_iter().flatten() {
            writer.close()?;
        }
        done.rows += rows as u64;
        done.rejected += gone as u64;
        Ok(())
    }

    /// A column that stays, of a row group that stays whole: its bytes.
    fn copied(
        &self,
        like: &RowGroupMetaData,
        (group, column): (usize, usize),
        writers: &mut Writers<'_, '_>,
    ) -> Result<(), Trouble> {
        let bytes = self.table.bytes.as_ref();
        let chunk = like.column(column);
        let index = self.table.metadata.page_index();
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(chunk.compressed_size()).unwrap_or_default(),
            rows_written: self.rows(group) as u64,
            metadata: chunk.clone(),
            bloom_filter: Sbbf::read_from_column_chunk(chunk, bytes)?,
            column_index: index.and_then(|index| index.column_index(group, column).cloned()),
            offset_index: index.and_then(|index| index.offset_index(group, column).cloned()),
        };
        match &mut writers.own {
            Some(own) => {
                let end = range(chunk).map_or(0, |range| range.end);
                Ok(own.append_column(&writers.way.until(end), close)?)
            }
            None => Ok(()),
        }
    }

    /// Whether a column that stays has values that none of its rows has.
    fn has_unused(&self, group: usize, column: usize) -> Result<bool, Trouble> {
        Ok(leaves_entries_out(self.plan) && dictionary::has_unused(self.table, group, column)?)
    }

    /// A column that is to change and has only nulls.
    fn nulls(
        &self,
        (group, column): (usize, usize),
        (change, first): (usize, u64),
        writers: &mut Writers<'_, '_>,
        tick: &mut Tick<'_>,
    ) -> Result<Vec<Counts>, Trouble> {
        let counts = self.batches(group, (change, first), tick, &mut |_, leaf| match (0..leaf
            .rows())
            .any(|row| leaf.has_value(row))
        {
            true => Err(Trouble::damaged("a column of nulls has a value")),
            false => Ok(()),
        })?;
        self.split((group, column), writers)?;
        Ok(counts)
    }

    /// A column whose values stay, in a row group that loses rows, or without what no row has.
    fn split(
        &self,
        (group, column): (usize, usize),
        writers: &mut Writers<'_, '_>,
    ) -> Result<(), Trouble> {
        let reader = super::leaf::reader(self.table, group, column)?;
        let all = vec![false; self.rows(group)];
        let dropped = match writers.dropped {
            [] => &all,
            dropped => dropped,
        };
        let (mut own, mut second) = writers.next()?;
        split::split(
            reader,
            &self.table.column(column),
            dropped,
            [&mut own, &mut second],
        )?;
        for writer in [own, second].into_iter().flatten() {
            writer.close()?;
        }
        Ok(())
    }

    /// A column that changes.
    fn changed(
        &self,
        (group, column): (usize, usize),
        (change, first): (usize, u64),
        writers: &mut Writers<'_, '_>,
        tick: &mut Tick<'_>,
    ) -> Result<Vec<Counts>, Trouble> {
        let dropped = writers.dropped;
        let nullable = is_nullable(&self.table.column(column));
        let (mut own, mut second) = writers.next()?;
        let has = [own.is_some(), second.is_some()];
        let counts = {
            let mut typed = [&mut own, &mut second]
                .map(|writer| writer.as_mut().map(SerializedColumnWriter::typed));
            let mut at = 0;
            line(
                (self.threads, 2),
                |give| {
                    self.batches(group, (change, first), tick, &mut |columns, leaf| {
                        let dropped = dropped.get(at..at + leaf.rows()).unwrap_or_default();
                        at += leaf.rows();
                        let mut made = [Written::default(), Written::default()];
                        if has[0] {
                            made[0].take_tokens(columns, leaf, (dropped, nullable))?;
                        }
                        if has[1] {
                            made[1].take_dropped(leaf, dropped);
                        }
                        give((made, leaf.most()))
                    })
                },
                |(made, most)| {
                    for (made, writer) in made.iter().zip(&mut typed) {
                        if let Some(writer) = writer {
                            made.write(most, writer)?;
                        }
                    }
                    Ok(())
                },
            )?
        };
        for writer in [own, second].into_iter().flatten() {
            writer.close()?;
        }
        Ok(counts)
    }
}

/// A column of a row group without rows.
fn empty(writers: &mut Writers<'_, '_>) -> Result<(), Trouble> {
    let (own, second) = writers.next()?;
    for writer in [own, second].into_iter().flatten() {
        writer.close()?;
    }
    Ok(())
}

/// The row groups that are written.
struct Writers<'w, 'd> {
    /// The way through the input.
    way: &'d Way,
    /// Rows that go to the second file; nothing if there are none.
    dropped: &'d [bool],
    own: Option<Group<'w>>,
    second: Option<Group<'w>>,
}

type Column<'c> = Option<SerializedColumnWriter<'c>>;

impl Writers<'_, '_> {
    /// The next column of both.
    fn next(&mut self) -> Result<(Column<'_>, Column<'_>), Trouble> {
        let own = match &mut self.own {
            Some(own) => own.next_column()?,
            None => None,
        };
        let second = match &mut self.second {
            Some(second) => second.next_column()?,
            None => None,
        };
        Ok((own, second))
    }
}

/// Values of a batch on their way out.
#[derive(Default)]
struct Written {
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Written {
    /// The new texts of the rows that stay. Where a text is gone that was there, there is a null.
    fn take_tokens(
        &mut self,
        columns: &Columns<'_>,
        leaf: &Leaf,
        (dropped, nullable): (&[bool], bool),
    ) -> Result<(), Trouble> {
        let changed = columns.changed()?;
        let Some((_, cells)) = changed.first() else {
            return Ok(());
        };
        if dropped.is_empty()
            && leaf.is_full()
            && let Some((texts, offsets)) = cells.by_offsets()
            && offsets.windows(2).all(|pair| pair[0] < pair[1])
        {
            self.levels.resize(leaf.rows(), leaf.most());
            self.put_values(texts, offsets);
            return Ok(());
        }
        let mut texts = Vec::new();
        let mut offsets = Vec::with_capacity(leaf.rows() + 1);
        offsets.push(0);
        let mut next = 0;
        for row in 0..leaf.rows() {
            let place = leaf.has_value(row).then_some(next);
            next += usize::from(place.is_some());
            if dropped.get(row).is_some_and(|dropped| *dropped) {
                continue;
            }
            let Some(place) = place else {
                self.levels.push(leaf.level(row));
                continue;
            };
            let text = cells.get(row);
            if nullable && text.is_empty() && !leaf.value(place).is_empty() {
                self.levels.push(leaf.most() - 1);
                continue;
            }
            self.levels.push(leaf.most());
            texts.extend_from_slice(text);
            offsets.push(texts.len());
        }
        self.put_values(&texts, &offsets);
        Ok(())
    }

    /// Takes values that lie one behind the other: each between an offset and the next.
    fn put_values(&mut self, texts: &[u8], offsets: &[usize]) {
        let all = Bytes::copy_from_slice(texts);
        let own = offsets.iter().zip(offsets.iter().skip(1));
        let own = own.map(|(start, end)| ByteArray::from(all.slice(*start..*end)));
        self.values.extend(own);
    }

    /// The old texts of the rows that go.
    fn take_dropped(&mut self, leaf: &Leaf, dropped: &[bool]) {
        let mut next = 0;
        for row in 0..leaf.rows() {
            let place = leaf.has_value(row).then_some(next);
            next += usize::from(place.is_some());
            if dropped.get(row).is_some_and(|dropped| *dropped) {
                self.levels.push(leaf.level(row));
                self.values.extend(place.map(|place| leaf.owned(place)));
            }
        }
    }

    fn write(
        &self,
        most: i16,
        writer: &mut ColumnWriterImpl<'_, ByteArrayType>,
    ) -> Result<(), Trouble> {
        let levels = (most > 0).then_some(self.levels.as_slice());
        let written = writer.write_batch(&self.values, levels, None);
        written.map(drop).map_err(unwritable)
    }
}
