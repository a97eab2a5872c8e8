//! The cells of one column within a row group, batch by batch.

use std::io::Write as _;
use std::sync::Arc;

use keywright_protect::Columns;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::ParquetTable;
use super::plain::{Plain, is_plain};
use crate::error::Trouble;
use crate::table::Texts;

/// Rows of a batch at most, and what its cells may come to, in bytes.
const BATCH: usize = 8_192;
const BATCH_BYTES: usize = 1 << 20;

/// What a column of texts is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cellular {
    Texts,
    Int32,
    Int64,
    /// No row has a value.
    Nulls,
}

impl Cellular {
    /// How the cells of a column are read; nothing where a row is not one text or one whole number.
    pub(crate) fn of(column: &ColumnDescriptor) -> Option<Self> {
        if column.max_rep_level() > 0 {
            return None;
        }
        let logical = column.logical_type_ref();
        match column.physical_type() {
            Type::BYTE_ARRAY | Type::INT32 | Type::INT64
                if logical == Some(&LogicalType::Unknown) =>
            {
                Some(Self::Nulls)
            }
            Type::BYTE_ARRAY => match (logical, column.converted_type()) {
                (None | Some(LogicalType::String | LogicalType::Enum), ConvertedType::NONE)
                | (_, ConvertedType::UTF8 | ConvertedType::ENUM) => Some(Self::Texts),
                (Some(LogicalType::String | LogicalType::Enum), _) => Some(Self::Texts),
                _ => None,
            },
            Type::INT32 if is_signed(logical, column.converted_type()) => Some(Self::Int32),
            Type::INT64 if is_signed(logical, column.converted_type()) => Some(Self::Int64),
            _ => None,
        }
    }
}

fn is_signed(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE};
    match logical {
        None => matches!(converted, NONE | INT_8 | INT_16 | INT_32 | INT_64),
        Some(logical) => format!("{logical:?}").contains("is_signed: true"),
    }
}

/// Whether a row of a column may have no value by itself, whatever it stands within.
pub(crate) fn is_nullable(column: &ColumnDescriptor) -> bool {
    let basic = column.self_type().get_basic_info();
    basic.has_repetition() && basic.repetition() == Repetition::OPTIONAL
}

/// A column that is read.
pub(crate) struct Leaf {
    most: i16,
    /// The definition levels of a batch; empty where every row has a value.
    levels: Vec<i16>,
    rows: usize,
    values: Values,
}

enum Values {
    Plain(Box<Plain>),
    Texts(Box<ColumnReaderImpl<ByteArrayType>>, Vec<ByteArray>),
    Int32(Box<ColumnReaderImpl<Int32Type>>, Vec<i32>, Digits),
    Int64(Box<ColumnReaderImpl<Int64Type>>, Vec<i64>, Digits),
}

/// Numbers as texts, one after the other.
#[derive(Default)]
struct Digits {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Digits {
    fn write(&mut self, numbers: impl Iterator<Item = i64>) {
        self.bytes.clear();
        self.ends.clear();
        for number in numbers {
            // Memory takes all that is written.
            drop(write!(self.bytes, "{number}"));
            self.ends.push(self.bytes.len());
        }
    }

    fn get(&self, place: usize) -> &[u8] {
        let start = match place.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(place).copied().unwrap_or_default();
        self.bytes.get(start..end).unwrap_or_default()
    }
}

/// The reader of a column in a row group.
pub(crate) fn reader(
    table: &ParquetTable,
    group: usize,
    column: usize,
) -> Result<ColumnReader, Trouble> {
    let group = table.metadata.row_group(group);
    let chunk = group.column(column);
    let rows = usize::try_from(group.num_rows()).unwrap_or_default();
    let pages = SerializedPageReader::new(Arc::clone(&table.bytes), chunk, rows, None)?;
    let descriptor = table.metadata.file_metadata().schema_descr().column(column);
    Ok(get_column_reader(descriptor, Box::new(pages)))
}

impl Leaf {
    pub(crate) fn open(table: &ParquetTable, group: usize, column: usize) -> Result<Self, Trouble> {
        let most = {
            let schema = table.metadata.file_metadata().schema_descr();
            schema.column(column).max_def_level()
        };
        if is_plain(table.metadata.row_group(group).column(column))
            && Cellular::of(&table.column(column)) == Some(Cellular::Texts)
        {
            let plain = Plain::open(table, (group, column), most)?;
            return Ok(Self::of(most, Values::Plain(Box::new(plain))));
        }
        let values = match reader(table, group, column)? {
            ColumnReader::ByteArrayColumnReader(reader) => {
                Values::Texts(Box::new(reader), Vec::new())
            }
            ColumnReader::Int32ColumnReader(reader) => {
                Values::Int32(Box::new(reader), Vec::new(), Digits::default())
            }
            ColumnReader::Int64ColumnReader(reader) => {
                Values::Int64(Box::new(reader), Vec::new(), Digits::default())
            }
            _ => {
                return Err(Trouble::damaged(
                    "a column has another type than its schema",
                ));
            }
        };
        Ok(Self::of(most, values))
    }

    const fn of(most: i16, values: Values) -> Self {
        Self {
            most,
            levels: Vec::new(),
            rows: 0,
            values,
        }
    }

    /// Reads the next so many rows, all of them.
    pub(crate) fn read(&mut self, rows: usize) -> Result<(), Trouble> {
        self.levels.clear();
        let levels = (self.most > 0).then_some(&mut self.levels);
        let (read, values) = match &mut self.values {
            Values::Plain(plain) => {
                plain.read(rows, levels)?;
                (rows, plain.count())
            }
            Values::Texts(reader, values) => {
                values.clear();
                records(reader, rows, levels, values)?
            }
            Values::Int32(reader, values, digits) => {
                values.clear();
                let read = records(reader, rows, levels, values)?;
                digits.write(values.iter().map(|value| i64::from(*value)));
                read
            }
            Values::Int64(reader, values, digits) => {
                values.clear();
                let read = records(reader, rows, levels, values)?;
                digits.write(values.iter().copied());
                read
            }
        };
        let present = match self.most {
            0 => rows,
            most => self.levels.iter().filter(|level| **level == most).count(),
        };
        let levels = self.levels.len();
        if read != rows || present != values || (self.most > 0 && levels != rows) {
            return Err(Trouble::damaged("a column ends before its row group"));
        }
        self.rows = rows;
        Ok(())
    }

    /// The definition level of a row of the batch.
    pub(crate) fn level(&self, row: usize) -> i16 {
        self.levels.get(row).copied().unwrap_or(self.most)
    }

    /// Rows of the batch.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// The level of a row that has a value.
    pub(crate) const fn most(&self) -> i16 {
        self.most
    }

    /// Whether a row of the batch has a value.
    pub(crate) fn has_value(&self, row: usize) -> bool {
        self.levels.get(row).is_none_or(|level| *level == self.most)
    }

    /// Whether every row of the batch has one.
    pub(crate) fn is_full(&self) -> bool {
        match &self.values {
            Values::Plain(plain) => plain.count() == self.rows,
            _ => self.levels.is_empty(),
        }
    }

    /// One of the values of the batch, counted without the rows that have none.
    pub(crate) fn value(&self, place: usize) -> &[u8] {
        match &self.values {
            Values::Plain(plain) => plain.get(place),
            Values::Texts(_, values) => values.get(place).map(ByteArray::data).unwrap_or_default(),
            Values::Int32(_, _, digits) | Values::Int64(_, _, digits) => digits.get(place),
        }
    }

    /// As [`Leaf::value`], as the writer wants it.
    pub(crate) fn owned(&self, place: usize) -> ByteArray {
        let own = match &self.values {
            Values::Texts(_, values) => values.get(place).cloned(),
            _ => None,
        };
        own.unwrap_or_else(|| self.value(place).to_vec().into())
    }

    /// The cells of the batch, as texts.
    pub(crate) fn texts_of(&self, rows: usize) -> Texts {
        let mut texts = Texts::default();
        let mut next = 0;
        for row in 0..rows {
            let cell = self.has_value(row).then(|| {
                next += 1;
                self.value(next - 1)
            });
            texts.push(cell.unwrap_or_default());
        }
        texts
    }

    /// Gives the cells of the batch to the columns that need them.
    pub(crate) fn put(&self, columns: &mut Columns<'_>, place: usize) {
        match &self.values {
            Values::Plain(plain) if self.is_full() => {
                let (bytes, offsets) = plain.piece();
                columns.put_piece(place, bytes, offsets.iter().copied());
            }
            Values::Texts(_, values) if self.is_full() => {
                columns.put(place, values.iter().map(ByteArray::data));
            }
            _ => {
                let mut next = 0;
                let cells = (0..self.rows).map(|row| {
                    if !self.has_value(row) {
                        return &[][..];
                    }
                    next += 1;
                    self.value(next - 1)
                });
                columns.put(place, cells);
            }
        }
    }
}

fn records<T: parquet::data_type::DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: Option<&mut Vec<i16>>,
    values: &mut Vec<T::T>,
) -> Result<(usize, usize), ParquetError> {
    let (records, values, _) = reader.read_records(rows, levels, None, values)?;
    Ok((records, values))
}

/// Rows that are worked on at once, so that a batch of long texts stays small.
pub(crate) fn batch_rows(table: &ParquetTable, group: usize, columns: &[usize]) -> usize {
    let group = table.metadata.row_group(group);
    let bytes = columns.iter().filter_map(|column| {
        let bytes = group.columns().get(*column)?.uncompressed_size();
        usize::try_from(bytes).ok()
    });
    let rows = usize::try_from(group.num_rows()).unwrap_or_default();
    let each = bytes.sum::<usize>() / rows.max(1) + 1;
    (BATCH_BYTES / each).clamp(16, BATCH)
}
