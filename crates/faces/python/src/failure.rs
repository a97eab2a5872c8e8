//! Errors on their way to Python: the library's own words and codes, never a value.
//!
//! The classes stand in `keywright._errors`, where Python programs can pickle and subclass them.

use keywright_format::{Misfit, One};
use keywright_fpe::BatchError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The classes of the package, imported when the first of them is raised.
mod classes {
    pyo3::import_exception!(keywright._errors, ParameterError);
    pyo3::import_exception!(keywright._errors, PolicyError);
    pyo3::import_exception!(keywright._errors, ValueRefused);
    pyo3::import_exception!(keywright._errors, BackendError);
}

/// How many of the values that do not fit are listed in an exception.
const LISTED: usize = 100;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// An argument's.
    Parameter,
    /// The caller's, who would have to open a door by name.
    Policy,
    /// A value's.
    Value,
    /// The machine's.
    Backend,
}

/// What is raised.
#[derive(Debug)]
pub(crate) struct Failure {
    fault: Fault,
    code: &'static str,
    text: String,
    row: Option<usize>,
    misfits: Vec<(usize, &'static str)>,
    count: usize,
}

impl Failure {
    /// A wrong argument.
    pub(crate) fn parameter(code: &'static str, text: impl Into<String>) -> Self {
        Self::new(Fault::Parameter, code, text.into())
    }

    /// Values that do not fit; there is at least one.
    pub(crate) fn misfits(all: &[(usize, Misfit)]) -> Self {
        let (row, first) = all.first().copied().unwrap_or((0, Misfit::Length));
        let text = match all.len() {
            0 | 1 => format!("row {row}: the value does not fit: {first}"),
            count => format!("row {row}: the value does not fit: {first}; {count} rows in all"),
        };
        let listed = all.iter().take(LISTED);
        Self {
            row: Some(row),
            misfits: listed.map(|(row, misfit)| (*row, misfit.code())).collect(),
            count: all.len(),
            ..Self::new(Fault::Value, first.code(), text)
        }
    }

    const fn new(fault: Fault, code: &'static str, text: String) -> Self {
        Self {
            fault,
            code,
            text,
            row: None,
            misfits: Vec::new(),
            count: 0,
        }
    }

    /// With the rows of an array that others stand before.
    pub(crate) fn after(mut self, rows: usize) -> Self {
        if rows > 0
            && let Some(row) = &mut self.row
        {
            let local = format!("row {row}: ");
            *row += rows;
            if let Some(rest) = self.text.strip_prefix(&local) {
                self.text = format!("row {row}: {rest}");
            }
        }
        self.misfits.iter_mut().for_each(|(row, _)| *row += rows);
        self
    }

    /// The error of one row.
    pub(crate) fn at(error: keywright_fpe::Error, row: usize) -> Self {
        let failure = Self::from(error);
        let mut failure = Self {
            text: format!("row {row}: {}", failure.text),
            row: Some(row),
            ..failure
        };
        if failure.fault == Fault::Value {
            failure.misfits = vec![(row, failure.code)];
            failure.count = 1;
        }
        failure
    }

    /// The error of one record, which `row_of` turns into a row.
    pub(crate) fn record(error: &BatchError, row_of: impl Fn(usize) -> usize) -> Self {
        match error.record() {
            Some(record) => Self::at(error.error(), row_of(record)),
            None => error.error().into(),
        }
    }
}

impl From<keywright_fpe::Error> for Failure {
    fn from(error: keywright_fpe::Error) -> Self {
        use keywright_fpe::Error;
        let fault = match error {
            Error::Domain { .. } | Error::EncryptRefused { .. } | Error::TweakEmpty => {
                Fault::Policy
            }
            Error::Digit { .. } | Error::Symbol { .. } | Error::Length { .. } => Fault::Value,
            _ => Fault::Parameter,
        };
        Self::new(fault, error.code(), error.to_string())
    }
}

impl From<keywright_format::Error> for Failure {
    fn from(error: keywright_format::Error) -> Self {
        use keywright_format::Error;
        let (fault, code) = match error {
            Error::Engine(source) => return source.into(),
            Error::Text { .. } => (Fault::Parameter, "format_text"),
            Error::SmallDomain { .. } => (Fault::Policy, "domain_floor"),
            Error::EmptyTweak => (Fault::Policy, "tweak_empty"),
            Error::RawTweak => (Fault::Parameter, "tweak_raw"),
            Error::TweakParts { .. } => (Fault::Parameter, "tweak_parts"),
            Error::MaskKey => (Fault::Parameter, "mask_key"),
            Error::Cells => (Fault::Parameter, "cells"),
            Error::Backend(_) => (Fault::Backend, "backend_failed"),
            _ => (Fault::Parameter, "refused"),
        };
        Self::new(fault, code, error.to_string())
    }
}

impl From<One> for Failure {
    fn from(error: One) -> Self {
        match error {
            One::Misfit(misfit) => Self {
                misfits: vec![(0, misfit.code())],
                count: 1,
                ..Self::new(Fault::Value, misfit.code(), error.to_string())
            },
            One::Error(error) => error.into(),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let Failure {
            fault,
            code,
            text,
            row,
            misfits,
            count,
        } = failure;
        match fault {
            Fault::Parameter => classes::ParameterError::new_err((text, code, row)),
            Fault::Policy => classes::PolicyError::new_err((text, code, row)),
            Fault::Backend => classes::BackendError::new_err((text, code, row)),
            Fault::Value => classes::ValueRefused::new_err((text, code, row, misfits, count)),
        }
    }
}

/// The type of an argument is not one of those that are taken.
pub(crate) fn wrong_type(expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let name = given.get_type().name().map(|name| name.to_string());
    PyTypeError::new_err(format!(
        "{expected} expected, {} given",
        name.as_deref().unwrap_or("something else")
    ))
}
