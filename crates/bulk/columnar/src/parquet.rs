//! Parquet files: columns that stay are copied chunk by chunk as they are, but for those whose dictionary has entries that
//! no row has; these and columns that change are read and written anew, with their dictionaries, statistics, page indexes and bloom filters.

mod blocks;
mod dictionary;
mod footer;
mod group;
mod leaf;
mod output;
mod plain;
mod split;
mod types;

use std::ops::Range;
use std::sync::Arc;

use keywright_format::OnBad;
use keywright_protect::{Direction, Input, Plan};
use keywright_tabular::csv::Layout;
use parquet::basic::CompressionCodec;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Trouble};
use crate::metadata::{self, Metadata};
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
            normal(reader.parse_and_finish(&footer::readable(&bytes)?)?)
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

    /// The names of all columns and of what they are within, each with the index of the column.
    pub(crate) fn names(&self) -> Vec<(usize, String)> {
        let schema = self.metadata.file_metadata().schema_descr();
        let columns = schema.columns().iter().enumerate();
        columns
            .flat_map(|(index, column)| {
                let parts = column.path().parts().iter();
                parts.map(move |part| (index, part.clone()))
            })
            .collect()
    }

    /// Refuses plans that the columns cannot bear.
    pub(crate) fn suits(&self, plan: &Plan) -> Result<(), Error> {
        self.refuse_overlaps(plan)?;
        for (column, named, on_bad) in plan.changes() {
            let descriptor = self.column(column);
            if !matches!(
                Cellular::of(&descriptor),
                Some(Cellular::Texts | Cellular::Nulls)
            ) {
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
        self.refuse_codecs(plan)
    }

    /// Refuses codecs that are not known here, in columns that are not copied.
    fn refuse_codecs(&self, plan: &Plan) -> Result<(), Error> {
        let wanted = keywright_protect::Columns::new(plan).wanted().to_vec();
        for group in self.metadata.row_groups() {
            for (column, chunk) in group.columns().iter().enumerate() {
                let codec = chunk.compression_codec();
                let is_unknown = matches!(codec, CompressionCodec::BROTLI | CompressionCodec::LZO);
                // Its dictionary cannot be read, so entries that no row has would stay unseen.
                let is_judged = leaves_entries_out(plan) && dictionary::has_dictionary(chunk);
                if is_unknown && (plan.rejects() || is_judged || wanted.contains(&column)) {
                    return Err(Error::Codec {
                        column: name(&self.column(column)),
                        codec: codec.to_string(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Refuses a column that stays and lies where one does that changes: its bytes would be copied.
    fn refuse_overlaps(&self, plan: &Plan) -> Result<(), Error> {
        let changes: Vec<usize> = plan.changes().map(|(column, ..)| column).collect();
        let mut chunks = Vec::new();
        for group in self.metadata.row_groups() {
            for (column, range) in ranges(group) {
                chunks.push((range.start, range.end, changes.contains(&column), column));
            }
        }
        chunks.sort_unstable();
        let mut ends = [0; 2];
        for (start, end, changes, column) in chunks {
            let (own, other) = (usize::from(changes), usize::from(!changes));
            if ends.get(other).is_some_and(|end| start < *end) {
                return Err(Error::Overlap {
                    column: name(&self.column(column)),
                });
            }
            if let Some(last) = ends.get_mut(own) {
                *last = end.max(*last);
            }
        }
        Ok(())
    }

    /// What an output keeps of the metadata. Columns that are protected are gone through for it if it may hold values.
    pub(crate) fn metadata_of(&self, plan: &Plan) -> Result<Metadata, Trouble> {
        let file = self.metadata.file_metadata();
        let paths = file.schema_descr().columns().iter();
        let names = paths.flat_map(|column| column.path().parts());
        let columns: Vec<usize> = plan.changes().map(|(column, ..)| column).collect();
        let all = self.names();
        let pairs = file.key_value_metadata().into_iter().flatten();
        let source = metadata::Source {
            schema: None,
            pairs: pairs
                .map(|pair| (pair.key.as_str(), pair.value.as_deref()))
                .collect(),
            created_by: file.created_by(),
            texts: types::texts(file.schema_descr()),
            names: names.map(String::as_str).collect(),
            changed: columns
                .iter()
                .map(|column| self.column(*column).path().parts().to_vec())
                .collect(),
        };
        let source = source.with_names(&all);
        source.clean_for(plan, &mut |take| self.look(&columns, u64::MAX, take))
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
            if rows == 0 {
                continue;
            }
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

/// Whether columns that stay are written without entries of dictionaries that no row has: one of them may be a value of a
/// column that is protected.
fn leaves_entries_out(plan: &Plan) -> bool {
    plan.direction() == Direction::Protect
}

/// The name of a column as rules give it: the names of all that it stands within, with points between.
fn name(column: &ColumnDescriptor) -> String {
    column.path().string()
}

fn wrong_type(column: &ColumnDescriptor, wanted: &'static str) -> Error {
    let kind = match column.max_rep_level() {
        0 => types::name(column),
        _ => format!("a list of {}", types::name(column)),
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
        if chunk.file_path().is_some_and(|path| !path.is_empty()) {
            return Err(Trouble::damaged("a column is kept in another file"));
        }
        let flat = chunk.column_descr().max_rep_level() == 0;
        let counts = chunk.num_values() >= 0
            && chunk.uncompressed_size() >= 0
            && (!flat || chunk.num_values() == group.num_rows());
        // Writers differ in what they say of the pages of a row group without rows: nothing of it is read.
        if group.num_rows() == 0 && chunk.num_values() == 0 {
            continue;
        }
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

/// The columns of a row group, and where they lie; nothing if it has no rows.
fn ranges(group: &RowGroupMetaData) -> impl Iterator<Item = (usize, Range<u64>)> {
    let columns = group.columns().iter().enumerate();
    let columns = columns.filter(|_| group.num_rows() > 0);
    columns.filter_map(|(column, chunk)| Some((column, range(chunk)?)))
}

/// Without the offset 0 that some writers give to a dictionary that is not there.
fn normal(metadata: ParquetMetaData) -> Result<ParquetMetaData, Trouble> {
    let is_zero = |chunk: &ColumnChunkMetaData| chunk.dictionary_page_offset() == Some(0);
    let mut groups = metadata.row_groups().iter();
    if !groups.any(|group| group.columns().iter().any(is_zero)) {
        return Ok(metadata);
    }
    let mut groups = Vec::with_capacity(metadata.num_row_groups());
    for group in metadata.row_groups() {
        let mut columns = group.columns().to_vec();
        for chunk in columns.iter_mut().filter(|chunk| is_zero(chunk)) {
            let builder = chunk.clone().into_builder();
            *chunk = builder.set_dictionary_page_offset(None).build()?;
        }
        let builder = group.clone().into_builder();
        groups.push(builder.set_column_metadata(columns).build()?);
    }
    Ok(metadata.into_builder().set_row_groups(groups).build())
}

/// A block for each row group, if they lie one behind the other; else one for all of them.
fn blocks(metadata: &ParquetMetaData) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(metadata.num_row_groups());
    let mut last = 4;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let ranges = || ranges(group).map(|(_, range)| range);
        let start = ranges().map(|range| range.start).min().unwrap_or(last);
        let end = ranges().map(|range| range.end).max().unwrap_or(last);
        if start < last {
            let all = metadata.row_groups().iter().flat_map(self::ranges);
            let end = all.map(|(_, range)| range.end).max();
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
