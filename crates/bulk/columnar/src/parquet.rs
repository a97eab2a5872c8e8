//! Parquet files: columns that stay are copied chunk by chunk as they are; columns that change are read and written
//! anew, with their dictionaries, statistics, page indexes and bloom filters.

mod blocks;
mod group;
mod leaf;
mod output;
mod plain;
mod split;

use std::ops::Range;
use std::sync::Arc;

use keywright_format::OnBad;
use keywright_protect::{Input, Plan};
use keywright_tabular::csv::Layout;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Trouble};
use crate::positional::Positional;
use crate::run::guarded;
use crate::table::Batch;

pub(crate) use blocks::work;
use leaf::{Cellular, Leaf, is_nullable};

/// A file that is open.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    pub(crate) bytes: Arc<Positional>,
    pub(crate) metadata: ParquetMetaData,
    blocks: Vec<Block>,
}

/// Row groups that are done at once, and where they end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    groups: Range<usize>,
    end: u64,
}

impl ParquetTable {
    pub(crate) fn open(input: &Input) -> Result<(Self, Layout), Trouble> {
        let bytes = Positional::new(input.file(), input.size())?;
        let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
        let metadata = guarded(|| {
            let reader = ParquetMetaDataReader::new()
                .with_page_index_policy(PageIndexPolicy::Optional)
                .with_metadata_options(Some(options));
            Ok(reader.parse_and_finish(&bytes)?)
        })?;
        let columns = metadata.file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| name(column)).collect();
        let layout = Layout::of_names(names).map_err(keywright_protect::Error::from)?;
        for group in metadata.row_groups() {
            judge(group, columns.len(), input.size())?;
        }
        let blocks = blocks(&metadata);
        let table = Self {
            bytes: Arc::new(bytes),
            metadata,
            blocks,
        };
        Ok((table, layout))
    }

    fn column(&self, column: usize) -> Arc<ColumnDescriptor> {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.column(column)
    }

    /// Refuses plans that the columns cannot bear.
    pub(crate) fn suits(&self, plan: &Plan) -> Result<(), Error> {
        for (column, named, on_bad) in plan.changes() {
            let descriptor = self.column(column);
            if Cellular::of(&descriptor) != Some(Cellular::Texts) {
                return Err(wrong_type(
                    &descriptor,
                    "protected: it must be a column of texts",
                ));
            }
            if on_bad == OnBad::Null && !is_nullable(&descriptor) {
                return Err(Error::Required {
                    column: named.to_owned(),
                });
            }
        }
        let wanted = keywright_protect::Columns::new(plan).wanted().to_vec();
        for column in wanted {
            let descriptor = self.column(column);
            if Cellular::of(&descriptor).is_none() {
                return Err(wrong_type(&descriptor, "part of a tweak"));
            }
        }
        Ok(())
    }

    /// Rows of the whole file.
    pub(crate) fn rows(&self) -> u64 {
        let rows = self.metadata.file_metadata().num_rows();
        u64::try_from(rows).unwrap_or_default()
    }

    /// Calls `take` with the cells of some columns, batch by batch, up to so many rows.
    pub(crate) fn look(
        &self,
        columns: &[usize],
        most: u64,
        take: &mut dyn FnMut(&Batch),
    ) -> Result<(), Trouble> {
        let mut left = most;
        for (number, group) in self.metadata.row_groups().iter().enumerate() {
            let rows = u64::try_from(group.num_rows())
                .unwrap_or_default()
                .min(left);
            let mut leaves = Vec::with_capacity(columns.len());
            for column in columns {
                leaves.push(match Cellular::of(&self.column(*column)) {
                    Some(_) => Some(Leaf::open(self, number, *column)?),
                    None => None,
                });
            }
            let batch = leaf::batch_rows(self, number, columns);
            let mut rest = usize::try_from(rows).unwrap_or(usize::MAX);
            while rest > 0 {
                let count = rest.min(batch);
                let mut told = Batch::new(count);
                for leaf in &mut leaves {
                    if let Some(leaf) = leaf {
                        leaf.read(count)?;
                    }
                    told.push(leaf.as_ref().map(|leaf| leaf.texts_of(count)));
                }
                take(&told);
                rest -= count;
            }
            left -= rows;
        }
        Ok(())
    }
}

/// The name of a column as rules give it: the names of all that it stands within, with points between.
fn name(column: &ColumnDescriptor) -> String {
    column.path().string()
}

fn wrong_type(column: &ColumnDescriptor, wanted: &'static str) -> Error {
    let kind = match (column.max_rep_level() > 0, column.logical_type_ref()) {
        (true, _) => "a list".to_owned(),
        (false, Some(logical)) => format!("the type {logical:?}"),
        (false, None) => format!("the type {}", column.physical_type()),
    };
    Error::Type {
        column: name(column),
        kind,
        wanted,
    }
}

/// Refuses a row group whose places and numbers cannot be.
fn judge(group: &RowGroupMetaData, columns: usize, size: u64) -> Result<(), Trouble> {
    if group.num_columns() != columns || group.num_rows() < 0 {
        return Err(Trouble::damaged("a row group does not fit the schema"));
    }
    for chunk in group.columns() {
        if chunk.file_path().is_some() {
            return Err(Trouble::damaged("a column is kept in another file"));
        }
        let flat = chunk.column_descr().max_rep_level() == 0;
        let counts = chunk.num_values() >= 0
            && chunk.uncompressed_size() >= 0
            && (!flat || chunk.num_values() == group.num_rows());
        match range(chunk) {
            Some(range) if counts && range.start >= 4 && range.end <= size => {}
            _ => return Err(Trouble::damaged("a column lies outside of the file")),
        }
    }
    Ok(())
}

/// Where a column of a row group lies.
fn range(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let data = chunk.data_page_offset();
    let start = chunk.dictionary_page_offset().unwrap_or(data);
    let (start, length) = (
        u64::try_from(start).ok()?,
        u64::try_from(chunk.compressed_size()).ok()?,
    );
    let range = start..start.checked_add(length)?;
    let data = u64::try_from(data).ok()?;
    (data >= range.start && data <= range.end).then_some(range)
}

/// A block for each row group, if they lie one behind the other; else one for all of them.
fn blocks(metadata: &ParquetMetaData) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(metadata.num_row_groups());
    let mut last = 4;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let ranges = || group.columns().iter().filter_map(range);
        let start = ranges().map(|range| range.start).min().unwrap_or(last);
        let end = ranges().map(|range| range.end).max().unwrap_or(last);
        if start < last {
            let all = metadata
                .row_groups()
                .iter()
                .flat_map(RowGroupMetaData::columns);
            let end = all.filter_map(range).map(|range| range.end).max();
            return vec![Block {
                groups: 0..metadata.num_row_groups(),
                end: end.unwrap_or(last),
            }];
        }
        last = end;
        blocks.push(Block {
            groups: number..number + 1,
            end,
        });
    }
    blocks
}
