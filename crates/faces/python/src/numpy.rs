//! NumPy arrays of fixed-width bytes, such as those of `dtype="S16"`.

use numpy::{
    PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::cells::{Made, Values};
use crate::failure::Failure;

/// An array of fixed-width bytes.
pub(crate) struct FixedText<'py> {
    bytes: PyReadonlyArray1<'py, u8>,
    width: usize,
    rows: usize,
    short: Option<Short>,
}

/// The values without the zeros behind them, where some are shorter than the rest.
struct Short {
    bytes: Zeroizing<Vec<u8>>,
    offsets: Vec<usize>,
}

/// An array as NumPy stores C arrays; copied if it is stored otherwise.
pub(crate) fn contiguous<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let own = array.cast::<PyUntypedArray>()?;
    if own.is_c_contiguous() {
        return Ok(own.clone());
    }
    let module = array.py().import("numpy")?;
    let made = module.call_method1("ascontiguousarray", (array,))?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

impl<'py> FixedText<'py> {
    /// Takes an array of one dimension and a type `S`.
    pub(crate) fn import(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = contiguous(array)?;
        let (rows, width) = (array.len(), array.dtype().itemsize());
        if array.dtype().kind() != b'S' || array.ndim() != 1 || width == 0 {
            return Err(PyTypeError::new_err(
                "a NumPy array of one dimension and fixed-width bytes (dtype S) expected: \
                 astype('S') makes one of ASCII text",
            ));
        }
        let bytes = array.call_method1("view", ("u1",))?;
        let bytes = bytes.cast_into::<PyArray1<u8>>()?.try_readonly();
        let bytes = bytes.map_err(|_| {
            Failure::parameter("array_in_use", "another call is writing to this array")
        })?;
        let short = shortened(bytes.as_slice()?, width);
        Ok(Self {
            bytes,
            width,
            rows,
            short,
        })
    }

    /// Its cells. Zeros at the end of a value are no part of it.
    pub(crate) fn values(&self) -> PyResult<Values<'_>> {
        match &self.short {
            Some(short) => Ok(Values::own(&short.bytes, &short.offsets)),
            None => Ok(Values::fixed(self.bytes.as_slice()?, self.width, self.rows)),
        }
    }

    /// The bytes of its longest value.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }
}

fn shortened(bytes: &[u8], width: usize) -> Option<Short> {
    let ends = bytes.chunks_exact(width).map(<[u8]>::last);
    if ends.flatten().filter(|end| **end == 0).count() == 0 {
        return None;
    }
    let mut short = Short {
        bytes: Zeroizing::new(Vec::with_capacity(bytes.len())),
        offsets: vec![0],
    };
    for cell in bytes.chunks_exact(width) {
        let zeros = cell.iter().rev().take_while(|byte| **byte == 0).count();
        let (cell, _) = cell.split_at(width - zeros);
        short.bytes.extend_from_slice(cell);
        short.offsets.push(short.bytes.len());
    }
    Some(short)
}

/// An array of bytes, at least `width` wide.
pub(crate) fn export<'py>(
    py: Python<'py>,
    made: &Made<usize>,
    width: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = made.rows();
    let longest = (0..rows).map(|row| made.get(row).len()).max();
    let width = longest.unwrap_or_default().max(width);
    let mut bytes = vec![0; rows * width];
    for (row, to) in bytes.chunks_exact_mut(width).enumerate() {
        let cell = made.get(row);
        let (to, _) = to.split_at_mut(cell.len());
        to.copy_from_slice(cell);
    }
    PyArray1::from_vec(py, bytes).call_method1("view", (format!("S{width}"),))
}
