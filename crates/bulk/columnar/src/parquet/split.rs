//! A column that stays, in a row group that loses rows: what is kept, and what goes to the second file.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Trouble, unwritable};

/// Rows that are read at once.
const ROWS: usize = 1_024;

/// The writers of the rows that stay, and of those that go.
type Both<'a, 'w> = [&'a mut Option<SerializedColumnWriter<'w>>; 2];

/// Writes each row of a column to one of two places.
pub(super) fn split(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    dropped: &[bool],
    both: Both<'_, '_>,
) -> Result<(), Trouble> {
    let levels = (column.max_def_level(), column.max_rep_level());
    match reader {
        ColumnReader::BoolColumnReader(reader) => typed::<BoolType>(reader, levels, dropped, both),
        ColumnReader::Int32ColumnReader(reader) => {
            typed::<Int32Type>(reader, levels, dropped, both)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            typed::<Int64Type>(reader, levels, dropped, both)
        }
        ColumnReader::Int96ColumnReader(reader) => {
            typed::<Int96Type>(reader, levels, dropped, both)
        }
        ColumnReader::FloatColumnReader(reader) => {
            typed::<FloatType>(reader, levels, dropped, both)
        }
        ColumnReader::DoubleColumnReader(reader) => {
            typed::<DoubleType>(reader, levels, dropped, both)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            typed::<ByteArrayType>(reader, levels, dropped, both)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            typed::<FixedLenByteArrayType>(reader, levels, dropped, both)
        }
    }
}

/// What was read, or is written.
struct Rows<T: DataType> {
    values: Vec<T::T>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<T: DataType> Rows<T> {
    const fn new() -> Self {
        Self {
            values: Vec::new(),
            defined: Vec::new(),
            repeated: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.defined.clear();
        self.repeated.clear();
    }

    fn write(&self, writer: Option<&mut ColumnWriterImpl<'_, T>>) -> Result<(), Trouble> {
        let Some(writer) = writer else { return Ok(()) };
        let levels = |levels: &[i16]| (!levels.is_empty()).then(|| levels.to_vec());
        let (defined, repeated) = (levels(&self.defined), levels(&self.repeated));
        if self.values.is_empty() && defined.is_none() {
            return Ok(());
        }
        let written = writer.write_batch(&self.values, defined.as_deref(), repeated.as_deref());
        written.map(drop).map_err(unwritable)
    }
}

fn typed<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    (most_defined, most_repeated): (i16, i16),
    dropped: &[bool],
    [own, second]: Both<'_, '_>,
) -> Result<(), Trouble> {
    let (mut read, mut kept, mut gone) = (Rows::<T>::new(), Rows::<T>::new(), Rows::<T>::new());
    let mut row = 0;
    while row < dropped.len() {
        read.clear();
        let (records, ..) = reader.read_records(
            ROWS.min(dropped.len() - row),
            (most_defined > 0).then_some(&mut read.defined),
            (most_repeated > 0).then_some(&mut read.repeated),
            &mut read.values,
        )?;
        if records == 0 {
            return Err(Trouble::damaged("a column ends before its row group"));
        }
        let rows = dropped.get(row..row + records).unwrap_or_default();
        deal(&read, (rows, most_defined), &mut kept, &mut gone)?;
        kept.write(own.as_mut().map(SerializedColumnWriter::typed::<T>))?;
        gone.write(second.as_mut().map(SerializedColumnWriter::typed::<T>))?;
        row += records;
    }
    Ok(())
}

/// Gives each row to where it goes. A row begins where nothing is repeated.
fn deal<T: DataType>(
    read: &Rows<T>,
    (dropped, most): (&[bool], i16),
    kept: &mut Rows<T>,
    gone: &mut Rows<T>,
) -> Result<(), Trouble> {
    kept.clear();
    gone.clear();
    let levels = match (read.repeated.len(), read.defined.len()) {
        (0, 0) => read.values.len(),
        (0, defined) => defined,
        (repeated, _) => repeated,
    };
    let (mut values, mut rows) = (read.values.iter(), 0);
    for level in 0..levels {
        let repeated = read.repeated.get(level).copied();
        if repeated.unwrap_or_default() == 0 {
            rows += 1;
        }
        let goes = dropped.get(rows - 1).copied();
        let side = match goes {
            Some(true) => &mut *gone,
            Some(false) => &mut *kept,
            None => {
                return Err(Trouble::damaged(
                    "a column has more rows than its row group",
                ));
            }
        };
        side.repeated.extend(repeated);
        let defined = read.defined.get(level).copied();
        side.defined.extend(defined);
        if defined.is_none_or(|defined| defined == most) {
            let value = values.next();
            side.values.extend(value.cloned());
        }
    }
    Ok(())
}
