//! Arrow arrays through the C data interface: read where they are, handed over without a copy.

use std::sync::Arc;

use arrow_array::{
    Array, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray, OffsetSizeTrait,
    StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::cells::{Made, Values};
use crate::failure::Failure;

/// An array of texts or bytes.
pub(crate) struct TextArray {
    cells: CellArray,
    is_text: bool,
}

/// Its cells. A text is bytes here: what is no UTF-8 fits no format.
enum CellArray {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    Fixed(FixedSizeBinaryArray),
}

/// How its offsets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Small,
    Large,
    Fixed(usize),
}

impl TextArray {
    /// Takes an array of any library that offers `__arrow_c_array__`. Offsets are checked before anything is
    /// read by them.
    pub(crate) fn import(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let viewed = bytes_of_texts(array)?;
        let data = ArrayData::from_pyarrow_bound(viewed.as_ref().unwrap_or(array));
        let data = data.map_err(|error| {
            if error.is_instance_of::<PyTypeError>(array.py()) {
                return error;
            }
            let text = "the array is not what the Arrow format demands";
            Failure::parameter("arrow_invalid", text).into()
        })?;
        let own_type = data.data_type().clone();
        let cells = match own_type {
            DataType::Utf8 => CellArray::Small(StringArray::from(data).into()),
            DataType::LargeUtf8 => CellArray::Large(LargeStringArray::from(data).into()),
            DataType::Binary => CellArray::Small(data.into()),
            DataType::LargeBinary => CellArray::Large(data.into()),
            DataType::FixedSizeBinary(1..) => CellArray::Fixed(data.into()),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "an Arrow array of {other}: string, large_string, binary, large_binary and \
                     fixed_size_binary are taken; cast to one of them"
                )));
            }
        };
        let is_text = matches!(own_type, DataType::Utf8 | DataType::LargeUtf8);
        Ok(Self {
            cells,
            is_text: is_text || viewed.is_some(),
        })
    }

    /// Its cells.
    pub(crate) fn values(&self) -> Values<'_> {
        match &self.cells {
            CellArray::Small(array) => Values::small(array.value_data(), array.value_offsets()),
            CellArray::Large(array) => Values::large(array.value_data(), array.value_offsets()),
            CellArray::Fixed(array) => {
                let width = usize::try_from(array.value_length()).unwrap_or_default();
                Values::fixed(array.value_data(), width, array.len())
            }
        }
    }

    /// Which rows hold something.
    pub(crate) fn nulls(&self) -> Option<&NullBuffer> {
        match &self.cells {
            CellArray::Small(array) => array.nulls(),
            CellArray::Large(array) => array.nulls(),
            CellArray::Fixed(array) => array.nulls(),
        }
    }

    /// How its offsets are kept.
    pub(crate) fn width(&self) -> Width {
        match &self.cells {
            CellArray::Small(_) => Width::Small,
            CellArray::Large(_) => Width::Large,
            CellArray::Fixed(array) => {
                Width::Fixed(usize::try_from(array.value_length()).unwrap_or_default())
            }
        }
    }

    /// A column that was made for this one, with small offsets.
    pub(crate) fn small_like(
        &self,
        made: Made<i32>,
        nulls: Option<NullBuffer>,
    ) -> Result<Arc<dyn Array>, Failure> {
        let (offsets, bytes) = self.taken(made)?;
        let array = BinaryArray::try_new(offsets, bytes, nulls);
        Ok(Arc::new(array.map_err(not_valid)?))
    }

    /// As [`TextArray::small_like`], with large offsets.
    pub(crate) fn large_like(
        &self,
        made: Made<i64>,
        nulls: Option<NullBuffer>,
    ) -> Result<Arc<dyn Array>, Failure> {
        let (offsets, bytes) = self.taken(made)?;
        let array = LargeBinaryArray::try_new(offsets, bytes, nulls);
        Ok(Arc::new(array.map_err(not_valid)?))
    }

    fn taken<O: OffsetSizeTrait>(
        &self,
        mut made: Made<O>,
    ) -> Result<(OffsetBuffer<O>, Buffer), Failure> {
        if self.is_text && !made.is_text() {
            let text = "the result is no text: use a binary array";
            return Err(Failure::parameter("not_utf8", text));
        }
        let offsets = ScalarBuffer::from(std::mem::take(&mut made.offsets));
        let bytes = Buffer::from_vec(std::mem::take(&mut made.bytes));
        Ok((OffsetBuffer::new(offsets), bytes))
    }

    /// Hands a column that was made for this one to pyarrow, as the type that came in.
    pub(crate) fn export<'py>(
        &self,
        py: Python<'py>,
        made: &dyn Array,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = made.to_data().to_pyarrow(py)?;
        match self.cells {
            CellArray::Small(_) if self.is_text => array.call_method1("view", ("string",)),
            CellArray::Large(_) if self.is_text => array.call_method1("view", ("large_string",)),
            _ => Ok(array),
        }
    }
}

/// The bytes of an array of pyarrow that holds texts. As texts their UTF-8 would be checked a second time.
fn bytes_of_texts<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !array.get_type().module()?.to_str()?.starts_with("pyarrow") {
        return Ok(None);
    }
    let own = array
        .getattr_opt("type")?
        .map(|own| own.str())
        .transpose()?;
    let bytes = match own.as_ref().map(|own| own.to_str()).transpose()? {
        Some("string") => "binary",
        Some("large_string") => "large_binary",
        _ => return Ok(None),
    };
    array.call_method1("view", (bytes,)).map(Some)
}

/// An array of cells of `width` bytes. Rows without a value are zeros.
pub(crate) fn fixed(
    made: &Made<usize>,
    width: usize,
    nulls: Option<NullBuffer>,
) -> Result<Arc<dyn Array>, Failure> {
    let mut bytes = Vec::with_capacity(made.rows() * width);
    for row in 0..made.rows() {
        let cell = made.get(row);
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        if is_null {
            bytes.resize(bytes.len() + width, 0);
        } else if cell.len() == width {
            bytes.extend_from_slice(cell);
        } else {
            let text = format!(
                "row {row}: the result has {} bytes and the array {width} for each value: use binary",
                cell.len()
            );
            return Err(Failure::parameter("array_width", text));
        }
    }
    let width = i32::try_from(width).unwrap_or(i32::MAX);
    let array = FixedSizeBinaryArray::try_new(width, Buffer::from_vec(bytes), nulls);
    Ok(Arc::new(array.map_err(not_valid)?))
}

fn not_valid(_: ArrowError) -> Failure {
    // Arrow's own words may quote a value.
    Failure::parameter(
        "arrow_invalid",
        "the result is not what the Arrow format demands",
    )
}
