//! Lists of `str` and `bytes`, and single values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use zeroize::Zeroizing;

use crate::cells::{Made, Values};
use crate::failure::{Failure, wrong_type};

/// What a value was, and becomes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Absent,
    Bytes,
    Text,
}

/// The values of a list, one after the other.
pub(crate) struct Gathered {
    bytes: Zeroizing<Vec<u8>>,
    offsets: Vec<usize>,
    pub(crate) forms: Vec<Form>,
}

impl Gathered {
    /// Reads a list or a tuple of `str`, `bytes` and `None`.
    pub(crate) fn new(list: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rows = list.len()?;
        let mut gathered = Self {
            bytes: Zeroizing::new(Vec::with_capacity(rows.saturating_mul(16))),
            offsets: Vec::with_capacity(rows + 1),
            forms: Vec::with_capacity(rows),
        };
        gathered.offsets.push(0);
        for (row, item) in list.try_iter()?.enumerate() {
            let form = append(&item?, &mut gathered.bytes).map_err(|error| at(row, &error))?;
            gathered.forms.push(form);
            gathered.offsets.push(gathered.bytes.len());
        }
        Ok(gathered)
    }

    /// Them as a column.
    pub(crate) fn values(&self) -> Values<'_> {
        Values::own(&self.bytes, &self.offsets)
    }
}

fn at(row: usize, error: &PyErr) -> PyErr {
    PyTypeError::new_err(format!("row {row}: {}", reason(error)))
}

fn reason(error: &PyErr) -> String {
    Python::attach(|py| error.value(py).to_string())
}

/// Appends the bytes of a value. Says nothing of the value itself if it is of another type.
fn append(item: &Bound<'_, PyAny>, bytes: &mut Vec<u8>) -> PyResult<Form> {
    if let Ok(text) = item.cast::<PyString>() {
        let text = text
            .to_str()
            .map_err(|_| PyTypeError::new_err("a text with half a surrogate pair has no UTF-8"))?;
        bytes.extend_from_slice(text.as_bytes());
        return Ok(Form::Text);
    }
    if let Ok(own) = item.cast::<PyBytes>() {
        bytes.extend_from_slice(own.as_bytes());
        return Ok(Form::Bytes);
    }
    if item.is_none() {
        return Ok(Form::Absent);
    }
    Err(wrong_type("str, bytes or None", item))
}

/// One value: its bytes, and what it was.
pub(crate) fn one(value: &Bound<'_, PyAny>) -> PyResult<(Zeroizing<Vec<u8>>, Form)> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(64));
    let form = append(value, &mut bytes)?;
    if form == Form::Absent {
        return Err(wrong_type("str or bytes", value));
    }
    Ok((bytes, form))
}

/// An object of the form that came in.
pub(crate) fn object<'py>(
    py: Python<'py>,
    form: Form,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match form {
        Form::Absent => py.None().into_bound(py),
        Form::Bytes => PyBytes::new(py, bytes).into_any(),
        Form::Text => {
            let text = str::from_utf8(bytes)
                .map_err(|_| Failure::parameter("not_utf8", "the result is no text: give bytes"))?;
            PyString::new(py, text).into_any()
        }
    })
}

/// A list of the forms that came in. What is not in `shown` becomes `None`.
pub(crate) fn spread<'py>(
    py: Python<'py>,
    forms: &[Form],
    made: &Made<usize>,
    is_shown: impl Fn(usize) -> bool,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (row, form) in forms.iter().enumerate() {
        let form = if is_shown(row) { *form } else { Form::Absent };
        list.append(object(py, form, made.get(row))?)?;
    }
    Ok(list)
}
