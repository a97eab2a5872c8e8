//! The arguments that have names.

use std::sync::{Mutex, PoisonError};

use keywright_fpe::{Backend, Mode};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::failure::Failure;

/// The environment variable that chooses a backend where the argument does not.
const BACKEND: &str = "KEYWRIGHT_FPE_BACKEND";

/// Keyword arguments, of which only those known are taken.
pub(crate) struct Options<'a, 'py>(Option<&'a Bound<'py, PyDict>>);

impl<'a, 'py> Options<'a, 'py> {
    /// Refuses names that are not among `known`.
    pub(crate) fn new(given: Option<&'a Bound<'py, PyDict>>, known: &[&str]) -> PyResult<Self> {
        for name in given.iter().flat_map(|given| given.keys()) {
            let name: Bound<'_, PyString> = name.cast_into()?;
            if !known.contains(&name.to_str()?) {
                let text = format!("unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(text));
            }
        }
        Ok(Self(given))
    }

    /// An argument; `None` as much as its absence is none.
    pub(crate) fn get<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'o> FromPyObject<'o, 'py, Error = PyErr>,
    {
        let Some(value) = self.raw(name)? else {
            return Ok(None);
        };
        value
            .extract()
            .map(Some)
            .map_err(|_| PyTypeError::new_err(format!("the argument '{name}' has the wrong type")))
    }

    /// An argument as it is.
    pub(crate) fn raw(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(given) = self.0 else {
            return Ok(None);
        };
        Ok(given.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// Whether a door is opened.
    pub(crate) fn is_open(&self, name: &str) -> PyResult<bool> {
        Ok(self.get::<bool>(name)?.unwrap_or(false))
    }

    /// How many threads: 1 unless said otherwise, at most 1024.
    pub(crate) fn threads(&self) -> PyResult<usize> {
        match self.get::<usize>("threads")?.unwrap_or(1) {
            threads @ 1..=1024 => Ok(threads),
            _ => Err(Failure::parameter("threads", "1 to 1024 threads are taken").into()),
        }
    }

    /// The mode; FF1 unless said otherwise.
    pub(crate) fn mode(&self) -> PyResult<Mode> {
        let Some(word) = self.get::<String>("mode")? else {
            return Ok(Mode::Ff1);
        };
        let modes = [Mode::Ff1, Mode::Ff3, Mode::Ff31, Mode::FpecFf31];
        let found = modes.into_iter().find(|mode| mode.name() == word);
        found.ok_or_else(|| {
            let text = "the mode is one of ff1, ff3, ff3-1 and fpec-ff3-1";
            Failure::parameter("mode", text).into()
        })
    }

    /// The backend that the argument or the environment names.
    pub(crate) fn backend(&self) -> PyResult<Option<Backend>> {
        let Some(word) = self.get::<String>("backend")?.or_else(from_environment) else {
            return Ok(None);
        };
        match word.parse() {
            Ok(backend) => Ok(Some(backend)),
            Err(error) => Err(Failure::parameter("backend_unknown", error.to_string()).into()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a face reads the environment")]
fn from_environment() -> Option<String> {
    std::env::var(BACKEND).ok().filter(|word| !word.is_empty())
}

/// What `close` takes away.
pub(crate) struct Held<T>(Mutex<Option<T>>);

impl<T: Clone> Held<T> {
    pub(crate) const fn new(held: Option<T>) -> Self {
        Self(Mutex::new(held))
    }

    /// What is held, for the time of a call.
    pub(crate) fn get(&self) -> Option<T> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Lets go. What a call still uses lives until its end.
    pub(crate) fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The object was closed.
pub(crate) fn closed() -> Failure {
    Failure::parameter("closed", "this object was closed, and its key is gone")
}
