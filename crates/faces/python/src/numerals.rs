//! Digits as numbers: NumPy arrays with a value in each row, and lists of lists.

use keywright_fpe::{Batch, BatchError, Layout, Numeral};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use zeroize::Zeroizing;

use crate::batch::{Job, Tweak};
use crate::column::Direction;
use crate::failure::{Failure, wrong_type};
use crate::numpy::contiguous;

/// Whether an array holds numbers.
pub(crate) fn is_numerals(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(array.cast::<PyUntypedArray>()?.dtype().kind() != b'S')
}

/// An array of two dimensions: a value in each row, a digit in each column.
pub(crate) fn array<'py>(
    job: &Job<'_, 'py>,
    array: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = contiguous(array)?;
    if array.ndim() == 2 && array.dtype().kind() == b'u' {
        if let Ok(own) = array.cast::<PyArray2<u8>>() {
            return typed(job, own);
        }
        if let Ok(own) = array.cast::<PyArray2<u16>>() {
            return typed(job, own);
        }
        if let Ok(own) = array.cast::<PyArray2<u32>>() {
            return typed(job, own);
        }
    }
    Err(PyTypeError::new_err(
        "a NumPy array of one dimension and fixed-width bytes (dtype S), or of two dimensions and \
         digits (dtype uint8, uint16 or uint32) expected",
    ))
}

fn typed<'py, T: Element + Numeral>(
    job: &Job<'_, 'py>,
    array: &Bound<'py, PyArray2<T>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let shape = [array.shape().first(), array.shape().get(1)].map(|side| *side.unwrap_or(&0));
    let [rows, digits] = shape;
    let tweak = Tweak::new(job.tweak, rows, |_| true)?;
    let input = array.try_readonly();
    let input = input
        .map_err(|_| Failure::parameter("array_in_use", "another call is writing to this array"))?;
    let input = input.as_slice()?;
    let mut output = vec![T::default(); input.len()];
    if rows > 0 {
        let batch = Batch::new(&job.engine.key).with_threads(job.threads);
        let layout = Layout::Fixed(digits);
        let (tweaks, direction) = (tweak.of(), job.direction);
        let done = py.detach(|| match direction {
            Direction::Forth => batch.encrypt_into(tweaks, layout, input, &mut output),
            Direction::Back => batch.decrypt_into(tweaks, layout, input, &mut output),
        });
        done.map_err(|error: BatchError| Failure::record(&error, |record| record))?;
    }
    let made = PyArray1::from_vec(py, output).reshape(shape)?;
    Ok(made.into_any())
}

/// A list of lists of digits, `None` among them.
pub(crate) fn list<'py>(
    job: &Job<'_, 'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = values.py();
    let (mut rows, mut digits, mut offsets) = (Vec::new(), Zeroizing::new(Vec::new()), vec![0]);
    for (row, item) in values.try_iter()?.enumerate() {
        let item = item?;
        if item.is_none() {
            continue;
        }
        let mut value = Zeroizing::new(item.extract::<Vec<u32>>().map_err(|_| {
            let text = format!("row {row}: a sequence of digits as int");
            wrong_type(&text, &item)
        })?);
        digits.append(&mut value);
        offsets.push(digits.len());
        rows.push(row);
    }
    let all = values.len()?;
    let tweak = Tweak::new(job.tweak, all, |row| rows.binary_search(&row).is_ok())?;
    let batch = Batch::new(&job.engine.key).with_threads(job.threads);
    let (tweaks, direction, layout) = (tweak.of(), job.direction, Layout::Offsets(&offsets));
    let done = py.detach(|| match direction {
        Direction::Forth => batch.encrypt(tweaks, layout, &mut digits),
        Direction::Back => batch.decrypt(tweaks, layout, &mut digits),
    });
    done.map_err(|error: BatchError| {
        Failure::record(&error, |record| rows.get(record).copied().unwrap_or(record))
    })?;
    let made = PyList::empty(py);
    let mut values = offsets.windows(2);
    let mut there = rows.iter().peekable();
    for row in 0..all {
        if there.next_if(|own| **own == row).is_none() {
            made.append(py.None())?;
        } else if let Some(&[start, end]) = values.next() {
            made.append(digits.get(start..end).unwrap_or_default())?;
        }
    }
    Ok(made.into_any())
}
