//! A Parquet file in the making: row groups one after the other, and at last what says where they are.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use keywright_encoding::{Reader, put_lp};
use parquet::basic::{Encoding, PageType};
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::page_index::{PageIndexBuilder, PageIndexProvider};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, PageIndexPolicy, ParquetMetaData,
    ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion,
};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::SchemaDescPtr;

use super::ParquetTable;
use crate::error::{Trouble, unwritable};
use crate::metadata::Metadata;
use crate::sink::{Behind, Sink, Tracked, behind};

pub(crate) const MAGIC: &[u8; 4] = b"PAR1";

/// A row group that was written, with the indexes of its columns.
#[derive(Debug)]
struct Made {
    group: RowGroupMetaData,
    columns: Vec<Option<ColumnIndexMetaData>>,
    offsets: Vec<Option<OffsetIndexMetaData>>,
}

/// The file.
pub(crate) struct Output {
    pub(crate) tracked: Tracked,
    schema: SchemaDescPtr,
    made: Vec<Made>,
}

impl Output {
    pub(crate) const fn new(tracked: Tracked, schema: SchemaDescPtr) -> Self {
        Self {
            tracked,
            schema,
            made: Vec::new(),
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.made.len()
    }

    /// What an earlier run has written, as [`Output::note`] has told it.
    pub(crate) fn take_note(&mut self, note: &[u8]) -> Result<(), Trouble> {
        let mut reader = Reader::new(note);
        while !reader.is_empty() {
            let text = reader
                .lp()
                .map_err(|_cut| Trouble::damaged("a note is cut short"))?;
            let options = parquet::file::metadata::ParquetMetaDataOptions::new()
                .with_encoding_stats_as_mask(false);
            let read = ParquetMetaDataReader::new()
                .with_page_index_policy(PageIndexPolicy::Optional)
                .with_metadata_options(Some(options))
                .parse_and_finish(&Bytes::copy_from_slice(text))?;
            let index = read.page_index().cloned();
            for group in read.row_groups() {
                let count = group.num_columns();
                self.made.push(Made {
                    columns: indexes(count, |column| {
                        index.as_ref()?.column_index(0, column).cloned()
                    }),
                    offsets: indexes(count, |column| {
                        index.as_ref()?.offset_index(0, column).cloned()
                    }),
                    group: group.clone(),
                });
            }
        }
        Ok(())
    }

    /// What is known of the row groups from a number on, so that a later run can go on behind them: a footer
    /// for each of them. Here, too, it is read again, so that what is written at the end is the same in every run.
    pub(crate) fn note(&mut self, from: usize, table: &ParquetTable) -> Result<Vec<u8>, Trouble> {
        let mut note = Vec::new();
        for made in self.made.get(from..).unwrap_or_default() {
            let footer = self.footer(std::slice::from_ref(made), table, None);
            let mut text = Vec::new();
            let writer = ParquetMetaDataWriter::new(&mut text, &footer);
            writer.with_preserve_page_index_locations(false).finish()?;
            put_lp(&mut note, &text).map_err(unwritable)?;
        }
        self.made.truncate(from);
        self.take_note(&note)?;
        Ok(note)
    }

    fn footer(
        &self,
        made: &[Made],
        table: &ParquetTable,
        metadata: Option<&Metadata>,
    ) -> ParquetMetaData {
        let pair = |(key, value): &(String, Option<String>)| KeyValue {
            key: key.clone(),
            value: value.clone(),
        };
        let pairs = metadata.map(|metadata| metadata.pairs.iter().map(pair).collect());
        let of_input = table.metadata.file_metadata();
        let rows = made.iter().map(|made| made.group.num_rows()).sum();
        let file = FileMetaData::new(
            of_input.version(),
            rows,
            metadata.and_then(|metadata| metadata.created_by.clone()),
            pairs.filter(|pairs: &Vec<_>| !pairs.is_empty()),
            Arc::clone(&self.schema),
            of_input.column_orders().cloned(),
        );
        let mut index = PageIndexBuilder::new(made.len(), self.schema.num_columns());
        for (place, made) in made.iter().enumerate() {
            for (column, own) in made.columns.iter().enumerate() {
                if let Some(own) = own {
                    index.put_column_index(own.clone(), place, column);
                }
            }
            for (column, own) in made.offsets.iter().enumerate() {
                if let Some(own) = own {
                    index.put_offset_index(own.clone(), place, column);
                }
            }
        }
        let groups = made.iter().map(|made| made.group.clone()).collect();
        let index: Arc<dyn PageIndexProvider> = Arc::new(index.build());
        ParquetMetaData::new(file, groups)
            .into_builder()
            .set_page_index(Some(index))
            .build()
    }

    /// Writes what stands at the end. Nothing can be written behind it.
    pub(crate) fn finish(
        &mut self,
        table: &ParquetTable,
        metadata: &Metadata,
    ) -> Result<(), Trouble> {
        let footer = self.footer(&self.made, table, Some(metadata));
        // The writer keeps what it is given and tells of no error at its end, so it writes to memory.
        let there = self.tracked.bytes_written() as u64;
        let mut text = Vec::new();
        let writer = ParquetMetaDataWriter::new_with_tracked(behind(&mut text, there)?, &footer);
        writer.with_preserve_page_index_locations(false).finish()?;
        self.tracked.write_all(&text)?;
        Ok(())
    }

    /// Begins a row group like one of the input.
    pub(crate) fn group(
        &mut self,
        properties: WriterPropertiesPtr,
        like: &RowGroupMetaData,
    ) -> SerializedRowGroupWriter<'_, Behind<Sink>> {
        let ordinal = i32::try_from(self.made.len()).unwrap_or(i32::MAX);
        let made = &mut self.made;
        let has = |offset: fn(&ColumnChunkMetaData) -> Option<i64>| -> Vec<bool> {
            let columns = like.columns().iter();
            columns.map(|column| offset(column).is_some()).collect()
        };
        let has_column_index = has(ColumnChunkMetaData::column_index_offset);
        let has_offset_index = has(ColumnChunkMetaData::offset_index_offset);
        let close = move |tracked: &mut Tracked,
                          group: RowGroupMetaData,
                          filters: Vec<Option<Sbbf>>,
                          mut columns: Vec<Option<ColumnIndexMetaData>>,
                          mut offsets: Vec<Option<OffsetIndexMetaData>>| {
            let group = with_filters(tracked, group, &filters)?;
            retain(&mut columns, &has_column_index);
            retain(&mut offsets, &has_offset_index);
            made.push(Made {
                group,
                columns,
                offsets,
            });
            Ok(())
        };
        SerializedRowGroupWriter::new(
            Arc::clone(&self.schema),
            properties,
            &mut self.tracked,
            ordinal,
            Some(Box::new(close)),
        )
    }
}

fn indexes<T>(count: usize, get: impl Fn(usize) -> Option<T>) -> Vec<Option<T>> {
    (0..count).map(get).collect()
}

/// Drops the indexes of columns that had none.
fn retain<T>(indexes: &mut [Option<T>], had: &[bool]) {
    for (index, had) in indexes.iter_mut().zip(had) {
        if !had {
            *index = None;
        }
    }
}

/// Writes the bloom filters of a row group behind it.
fn with_filters(
    tracked: &mut Tracked,
    group: RowGroupMetaData,
    filters: &[Option<Sbbf>],
) -> parquet::errors::Result<RowGroupMetaData> {
    if filters.iter().all(Option::is_none) {
        return Ok(group);
    }
    let mut columns = group.columns().to_vec();
    for (column, filter) in columns.iter_mut().zip(filters) {
        let Some(filter) = filter else { continue };
        let start = tracked.bytes_written();
        filter.write(&mut *tracked)?;
        let length = tracked.bytes_written() - start;
        *column = column
            .clone()
            .into_builder()
            .set_bloom_filter_offset(i64::try_from(start).ok())
            .set_bloom_filter_length(i32::try_from(length).ok())
            .build()?;
    }
    group.into_builder().set_column_metadata(columns).build()
}

/// Whether the columns of a row group that are not copied have statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistics {
    AsBefore,
    /// Of rows that are rejected: the journal would have their values, which are in clear.
    None,
}

/// How the columns of a row group are written that are not copied: as those of the input were.
pub(crate) fn properties(
    like: &RowGroupMetaData,
    changed: &[usize],
    statistics: Statistics,
) -> WriterPropertiesPtr {
    // Rows stay sorted by what stands in front of the first column that changes.
    let sorted = like.sorting_columns().map(|columns| {
        let stays = |column: &usize| !changed.contains(column);
        let columns = columns.iter().take_while(|column| {
            usize::try_from(column.column_idx).is_ok_and(|column| stays(&column))
        });
        columns.cloned().collect::<Vec<_>>()
    });
    let is_second = |chunk: &ColumnChunkMetaData| {
        let pages = chunk.page_encoding_stats().into_iter().flatten();
        pages
            .into_iter()
            .any(|page| page.page_type == PageType::DATA_PAGE_V2)
    };
    let version = match like.columns().iter().any(is_second) {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let mut builder = WriterProperties::builder()
        .set_writer_version(version)
        .set_bloom_filter_for_dictionary_encoded_chunks(true)
        .set_sorting_columns(sorted.filter(|columns| !columns.is_empty()));
    for chunk in like.columns() {
        let path = chunk.column_path().clone();
        let dictionary = chunk.encodings().any(is_dictionary);
        let statistics = match (statistics, chunk.column_index_offset(), chunk.statistics()) {
            (Statistics::None, ..) | (_, None, None) => EnabledStatistics::None,
            (_, Some(_), _) => EnabledStatistics::Page,
            (_, None, Some(_)) => EnabledStatistics::Chunk,
        };
        builder = builder
            .set_column_compression(path.clone(), chunk.compression())
            .set_column_dictionary_enabled(path.clone(), dictionary)
            .set_column_statistics_enabled(path.clone(), statistics);
        if let Some(encoding) = chunk.encodings().find(is_delta) {
            builder = builder.set_column_encoding(path.clone(), encoding);
        }
        if chunk.bloom_filter_offset().is_some() {
            let values = u64::try_from(chunk.num_values()).unwrap_or_default();
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_max_ndv(path, values.clamp(1, 8 << 20));
        }
    }
    Arc::new(builder.build())
}

pub(super) fn is_dictionary(encoding: Encoding) -> bool {
    // Older files have the other name.
    matches!(
        encoding,
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
    )
}

const fn is_delta(encoding: &Encoding) -> bool {
    matches!(
        encoding,
        Encoding::DELTA_BINARY_PACKED
            | Encoding::DELTA_LENGTH_BYTE_ARRAY
            | Encoding::DELTA_BYTE_ARRAY
            | Encoding::BYTE_STREAM_SPLIT
    )
}
