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
}

impl Cellular {
    /// How the cells of a column are read; nothing where a row is not one text or one whole number.
    pub(crate) fn of(column: &ColumnDescriptor) -> Option<Self> {
        if column.max_rep_level() > 0 {
            return None;
        }
        let logical = column.logical_type_ref();
        match column.physical_type() {
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
        Ok(Self {
            most,
            levels: Vec::new(),
            rows: 0,
            values,
        })
    }

    /// Reads the next so many rows, all of them.
    pub(crate) fn read(&mut self, rows: usize) -> Result<(), Trouble> {
        self.levels.clear();
        let levels = (self.most > 0).then_some(&mut self.levels);
        let (read, values) = match &mut self.values {
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

    /// The values of the batch, without the rows that have none.
    pub(crate) fn texts(&self) -> &[ByteArray] {
        match &self.values {
            Values::Texts(_, values) => values,
            _ => &[],
        }
    }

    /// The cells of the batch, as texts.
    pub(crate) fn texts_of(&self, rows: usize) -> Texts {
        let mut texts = Texts::default();
        let mut next = 0;
        for row in 0..rows {
            let cell = self.has_value(row).then(|| {
                next += 1;
                match &self.values {
                    Values::Texts(_, values) => values
                        .get(next - 1)
                        .map(ByteArray::data)
                        .unwrap_or_default(),
                    Values::Int32(_, _, digits) | Values::Int64(_, _, digits) => {
                        digits.get(next - 1)
                    }
                }
            });
            texts.push(cell.unwrap_or_default());
        }
        texts
    }

    /// Gives the cells of the batch to the columns that need them.
    pub(crate) fn put(&self, columns: &mut Columns<'_>, place: usize) {
        match &self.values {
            Values::Texts(_, values) if self.levels.is_empty() => {
                columns.put(place, values.iter().map(ByteArray::data));
            }
            Values::Texts(_, values) => {
                let mut values = values.iter();
                let cell = |level: &i16| match *level == self.most {
                    true => values.next().map(ByteArray::data).unwrap_or_default(),
                    false => &[],
                };
                columns.put(place, self.levels.iter().map(cell));
            }
            Values::Int32(_, _, digits) | Values::Int64(_, _, digits) => {
                let mut next = 0;
                let cells = (0..self.rows).map(|row| {
                    if !self.has_value(row) {
                        return &[][..];
                    }
                    next += 1;
                    digits.get(next - 1)
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
