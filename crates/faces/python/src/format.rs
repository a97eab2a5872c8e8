//! `keywright.Format`: a format, alone or under a key.

mod column;
mod making;

use std::sync::Arc;

use keywright_format::{FormatKey, Masker, Scope, TweakPolicy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::column::{Direction, OnBad};
use crate::failure::Failure;
use crate::lists::{self, Gathered};
use crate::options::{Held, Options, closed};
use column::{Call, masked, masked_for_good, worked};

/// What the calls of a format need, for as long as one of them runs.
pub(super) struct Keyed {
    pub(super) key: Option<FormatKey>,
    pub(super) masker: Option<Masker>,
    pub(super) column: String,
    /// Unless a call says otherwise.
    pub(super) on_bad: OnBad,
    /// What the rule says, if there is one.
    pub(super) rule: Option<OnBad>,
}

impl Keyed {
    pub(super) fn key(&self) -> Result<&FormatKey, Failure> {
        self.key.as_ref().ok_or_else(|| {
            let text = "this format was made without a key, which this call needs";
            Failure::parameter("key_missing", text)
        })
    }

    /// What tweaks have from outside the values.
    pub(super) fn scope<'s>(&'s self, key: &FormatKey, caller: &'s [u8]) -> Scope<'s> {
        match key.settings().tweak() {
            TweakPolicy::Caller => Scope::caller(caller),
            _ => Scope::column(&self.column),
        }
    }

    fn masker(&self) -> Result<&Masker, Failure> {
        self.masker.as_ref().ok_or_else(|| {
            let text = "this format was made without a mask";
            Failure::parameter("mask_missing", text)
        })
    }
}

/// A set of valid values, and what makes tokens of them; or the mask of a column that has nothing else.
#[pyclass(frozen, module = "keywright")]
pub(crate) struct Format {
    format: Option<keywright_format::Format>,
    tweak: Option<String>,
    held: Held<Arc<Keyed>>,
}

impl Format {
    pub(super) fn of(
        format: Option<keywright_format::Format>,
        tweak: Option<String>,
        keyed: Keyed,
    ) -> Self {
        Self {
            format,
            tweak,
            held: Held::new(Some(Arc::new(keyed))),
        }
    }

    pub(crate) fn held(&self) -> Result<Arc<Keyed>, Failure> {
        self.held.get().ok_or_else(closed)
    }

    fn format(&self) -> Result<&keywright_format::Format, Failure> {
        self.format.as_ref().ok_or_else(|| {
            let text = "the rules mask this column for good and give it no format";
            Failure::parameter("format_missing", text)
        })
    }

    /// The mask of a column that has nothing else; what it has made does not come back.
    fn only_mask<'h>(
        &self,
        direction: Direction,
        held: &'h Keyed,
    ) -> Result<Option<&'h Masker>, Failure> {
        match (&self.format, direction) {
            (Some(_), _) => Ok(None),
            (None, Direction::Forth) => held.masker().map(Some),
            (None, Direction::Back) => {
                let text = "the rules mask this column for good: it does not come back";
                Err(Failure::parameter("masked", text))
            }
        }
    }

    fn one<'py>(
        &self,
        direction: Direction,
        value: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        if let Some(masker) = self.only_mask(direction, &held)? {
            return mask_one(masker, value);
        }
        let key = held.key()?;
        let options = Options::new(options, &["rows", "caller"])?;
        let call = Call::new(&options)?;
        let (bytes, form) = lists::one(value)?;
        let others = call.cells(key)?;
        let others: Vec<&[u8]> = others.iter().map(|cell| cell.as_slice()).collect();
        let mut column = keywright_format::Column::new(key, held.scope(key, &call.caller));
        let made = match direction {
            Direction::Forth => column.protect_one(&bytes, &others),
            Direction::Back => column.reveal_one(&bytes, &others),
        };
        let made = zeroize::Zeroizing::new(made.map_err(Failure::from)?);
        lists::object(value.py(), form, &made)
    }

    fn many<'py>(
        &self,
        direction: Direction,
        values: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let options = Options::new(options, &["rows", "caller", "on_bad", "threads"])?;
        let call = Call::new(&options)?;
        if let Some(masker) = self.only_mask(direction, &held)? {
            return masked_for_good(masker, values, &call);
        }
        held.key()?;
        worked(&held, direction, values, &call)
    }
}

fn mask_one<'py>(masker: &Masker, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (bytes, form) = lists::one(value)?;
    let mut out = zeroize::Zeroizing::new(Vec::new());
    masker.apply(&bytes, &mut out);
    lists::object(value.py(), form, &out)
}

#[pymethods]
impl Format {
    #[new]
    #[pyo3(signature = (format, key=None, **options))]
    fn new(
        format: &str,
        key: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        making::by_text(format, key, options)
    }

    /// A column of a rules file.
    #[staticmethod]
    #[pyo3(signature = (rules, column, key=None))]
    fn from_rules(rules: &str, column: &str, key: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        making::by_rules(rules, column, key)
    }

    #[pyo3(signature = (value, **options))]
    fn protect<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(Direction::Forth, value, options)
    }

    #[pyo3(signature = (token, **options))]
    fn reveal<'py>(
        &self,
        token: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(Direction::Back, token, options)
    }

    #[pyo3(signature = (values, **options))]
    fn protect_batch<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(Direction::Forth, values, options)
    }

    #[pyo3(signature = (tokens, **options))]
    fn reveal_batch<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(Direction::Back, tokens, options)
    }

    fn mask<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        mask_one(held.masker()?, value)
    }

    fn mask_batch<'py>(&self, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        masked(held.masker()?, values)
    }

    /// `None` if the value fits, else the code of the reason.
    fn check(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let (bytes, _) = lists::one(value)?;
        let verdict = self.format()?.checker().check(&bytes);
        Ok(verdict.err().map(keywright_format::Misfit::code))
    }

    /// The same of every value of a list.
    fn check_batch(&self, values: &Bound<'_, PyAny>) -> PyResult<Vec<Option<&'static str>>> {
        let gathered = Gathered::new(values)?;
        let (rows, mut offsets) = (gathered.forms.len(), Vec::new());
        let cells = gathered.values().cells(&(0..rows), &mut offsets)?;
        let mut checker = self.format()?.checker();
        let verdicts = (0..rows).map(|row| match cells.get(row) {
            [] => None,
            value => checker.check(value).err(),
        });
        let codes = verdicts.map(|misfit| misfit.map(keywright_format::Misfit::code));
        Ok(codes.collect())
    }

    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        making::description(py, self.format()?, self.tweak.as_deref())
    }

    /// The description with every parameter written out.
    #[getter]
    fn canonical(&self) -> PyResult<&str> {
        Ok(self.format()?.canonical())
    }

    /// Whether there is a mask and no format: what it makes does not come back.
    #[getter]
    const fn masked(&self) -> bool {
        self.format.is_none()
    }

    /// What the rule says of values that do not fit; `None` without a rule.
    #[getter]
    fn on_bad(&self) -> PyResult<Option<&'static str>> {
        Ok(self.held()?.rule.map(OnBad::name))
    }

    /// The tweak policy; `None` without a key.
    #[getter]
    fn tweak(&self) -> Option<&str> {
        self.tweak.as_deref()
    }

    /// The columns whose cells the tweak needs, in its order; none without a key.
    #[getter]
    fn tweak_columns(&self) -> PyResult<Vec<String>> {
        let held = self.held()?;
        let named = held
            .key
            .as_ref()
            .map(|key| key.settings().tweak().columns());
        let named = named.into_iter().flatten();
        Ok(named.map(ToOwned::to_owned).collect())
    }

    /// Forgets the key.
    fn close(&self) {
        self.held.close();
    }

    const fn __enter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyAny>) {
        self.held.close();
    }

    fn __repr__(&self) -> String {
        let canonical = self
            .format
            .as_ref()
            .map(keywright_format::Format::canonical);
        format!(
            "keywright.Format({:?})",
            canonical.unwrap_or("a mask alone")
        )
    }
}

/// Formats that nine of ten values of a list fit, the best first: `(canonical text, fitting, looked at)`.
#[pyfunction]
pub(crate) fn suggest(values: &Bound<'_, PyAny>) -> PyResult<Vec<(String, usize, usize)>> {
    let gathered = Gathered::new(values)?;
    let mut offsets = Vec::new();
    let rows = 0..gathered.forms.len();
    let cells = gathered.values().cells(&rows, &mut offsets)?;
    let found = keywright_format::suggest(cells).into_iter();
    Ok(found
        .map(|one| (one.format.canonical().to_owned(), one.fits, one.of))
        .collect())
}
