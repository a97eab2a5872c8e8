//! Which kind of column an object is.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::failure::wrong_type;

/// The kinds of columns that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A list or a tuple.
    List,
    /// A NumPy array.
    Numpy,
    /// An array of the Arrow C data interface.
    Arrow,
    /// A column of pyarrow in several arrays.
    Chunked,
}

/// The kind of `values`. A single text is none: its characters would be taken for values.
pub(crate) fn kind(values: &Bound<'_, PyAny>) -> PyResult<Kind> {
    if values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>() {
        return Ok(Kind::List);
    }
    let own = values.get_type();
    // Asked by name, so that NumPy is needed only by those who use it.
    if own.module()?.to_str()? == "numpy" && own.name()?.to_str()? == "ndarray" {
        return Ok(Kind::Numpy);
    }
    if values.hasattr("__arrow_c_array__")? {
        return Ok(Kind::Arrow);
    }
    if values.hasattr("__arrow_c_stream__")? && values.hasattr("chunks")? {
        return Ok(Kind::Chunked);
    }
    Err(wrong_type(
        "a list, a NumPy array or an Arrow array",
        values,
    ))
}

/// The arrays of a column in several, and its type.
pub(crate) fn chunks<'py>(
    values: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>)> {
    let chunks = values.getattr("chunks")?.try_iter()?;
    Ok((chunks.collect::<PyResult<_>>()?, values.getattr("type")?))
}

/// A column in several arrays again.
pub(crate) fn chunked<'py>(
    chunks: Vec<Bound<'py, PyAny>>,
    of: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = of.py().import("pyarrow")?;
    module.call_method1("chunked_array", (chunks, of))
}
