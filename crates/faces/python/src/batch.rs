//! Many values through `keywright.Fpe`: texts of lists and arrays. Digits as numbers stand in `numerals`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::Array;
use arrow_buffer::NullBuffer;
use keywright_fpe::{Batch, BatchError, Layout, Tweaks};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use zeroize::Zeroize;

use crate::arrow::{self, TextArray, Width};
use crate::cells::{Made, Offset, Values};
use crate::column::Direction;
use crate::failure::{Failure, wrong_type};
use crate::fpe::Engine;
use crate::kinds::{Kind, chunked, chunks, kind};
use crate::lists::{self, Form, Gathered};
use crate::numerals;
use crate::numpy::{self, FixedText};

/// One call.
pub(crate) struct Job<'a, 'py> {
    pub(crate) engine: &'a Engine,
    pub(crate) direction: Direction,
    /// Bytes for all values, or a list with bytes for each.
    pub(crate) tweak: &'a Bound<'py, PyAny>,
    pub(crate) threads: usize,
}

/// The tweaks of the records of a batch.
pub(crate) enum Tweak {
    Same(Vec<u8>),
    Each { bytes: Vec<u8>, offsets: Vec<usize> },
}

impl Tweak {
    /// Those of the rows that `is_there`.
    pub(crate) fn new(
        given: &Bound<'_, PyAny>,
        rows: usize,
        is_there: impl Fn(usize) -> bool,
    ) -> PyResult<Self> {
        if !given.is_instance_of::<PyList>() && !given.is_instance_of::<PyTuple>() {
            return Ok(Self::Same(tweak_bytes(given)?));
        }
        if given.len()? != rows {
            let text = format!("{rows} tweaks expected, {} given", given.len()?);
            return Err(Failure::parameter("tweak_parts", text).into());
        }
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for (row, item) in given.try_iter()?.enumerate() {
            if is_there(row) {
                bytes.append(&mut tweak_bytes(&item?)?);
                offsets.push(bytes.len());
            }
        }
        Ok(Self::Each { bytes, offsets })
    }

    pub(crate) fn of(&self) -> Tweaks<'_> {
        match self {
            Self::Same(tweak) => Tweaks::Same(tweak),
            Self::Each { bytes, offsets } => Tweaks::Offsets { bytes, offsets },
        }
    }
}

/// The bytes of a tweak, of `bytes` or another buffer of bytes.
pub(crate) fn tweak_bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    match PyBuffer::<u8>::get(given) {
        Ok(buffer) => buffer.to_vec(given.py()),
        Err(_) => Err(wrong_type("a tweak of bytes, or a list of them,", given)),
    }
}

/// The values that are there, one after the other.
struct Records<'a> {
    bytes: Cow<'a, [u8]>,
    offsets: Vec<usize>,
    /// The row of each record, unless all rows are records.
    rows: Option<Vec<usize>>,
}

impl<'a> Records<'a> {
    /// Rows that are absent have no bytes as a rule. Only where they do is what is there copied together.
    fn new(values: &Values<'a>, is_there: impl Fn(usize) -> bool) -> Self {
        let all = 0..values.rows();
        let mut places = Vec::new();
        let window = values.window(&all, &mut places);
        if all.clone().all(&is_there) {
            return Self {
                bytes: Cow::Borrowed(window),
                offsets: places,
                rows: None,
            };
        }
        let cell = |row: usize| match places.get(row..row + 2) {
            Some([start, end]) => window.get(*start..*end).unwrap_or_default(),
            _ => &[],
        };
        let is_empty = |row: usize| is_there(row) || cell(row).is_empty();
        let bytes = if all.clone().all(is_empty) {
            Cow::Borrowed(window)
        } else {
            let there = all.clone().filter(|row| is_there(*row));
            Cow::Owned(there.flat_map(cell).copied().collect())
        };
        let rows: Vec<usize> = all.filter(|row| is_there(*row)).collect();
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        let mut end = 0;
        offsets.push(end);
        for row in &rows {
            end += cell(*row).len();
            offsets.push(end);
        }
        Self {
            bytes,
            offsets,
            rows: Some(rows),
        }
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(bytes) = &mut self.bytes {
            bytes.zeroize();
        }
    }
}

/// A column of any kind becomes one of the same kind.
pub(crate) fn worked<'py>(
    job: &Job<'_, 'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = values.py();
    match kind(values)? {
        Kind::List if is_digits(values)? => numerals::list(job, values),
        Kind::List => {
            let gathered = Gathered::new(values)?;
            let forms = &gathered.forms;
            let is_there = |row: usize| forms.get(row).is_some_and(|form| *form != Form::Absent);
            let made = text::<usize>(job, py, &gathered.values(), is_there)?;
            Ok(lists::spread(py, forms, &made, |_| true)?.into_any())
        }
        Kind::Numpy if numerals::is_numerals(values)? => numerals::array(job, values),
        Kind::Numpy => {
            let array = FixedText::import(values)?;
            let made = text(job, py, &array.values()?, |_| true)?;
            numpy::export(py, &made, array.width())
        }
        Kind::Arrow => {
            let array = TextArray::import(values)?;
            array.export(py, arrow_made(job, py, &array)?.as_ref())
        }
        Kind::Chunked => {
            if job.tweak.is_instance_of::<PyList>() {
                let text = "a tweak for each value needs the column in one array: combine_chunks()";
                return Err(Failure::parameter("tweak_parts", text).into());
            }
            let (arrays, own_type) = chunks(values)?;
            let mut made = Vec::new();
            for array in arrays {
                let array = TextArray::import(&array)?;
                made.push(array.export(py, arrow_made(job, py, &array)?.as_ref())?);
            }
            chunked(made, &own_type)
        }
    }
}

fn is_digits(values: &Bound<'_, PyAny>) -> PyResult<bool> {
    for item in values.try_iter()? {
        let item = item?;
        if !item.is_none() {
            return Ok(!item.is_instance_of::<PyString>() && !item.is_instance_of::<PyBytes>());
        }
    }
    Ok(false)
}

fn arrow_made(job: &Job<'_, '_>, py: Python<'_>, array: &TextArray) -> PyResult<Arc<dyn Array>> {
    let (values, nulls) = (array.values(), array.nulls().cloned());
    let there = nulls.clone();
    let is_there = move |row: usize| {
        there
            .as_ref()
            .is_none_or(|nulls: &NullBuffer| nulls.is_valid(row))
    };
    let made = match array.width() {
        Width::Small => array.small_like(text(job, py, &values, is_there)?, nulls),
        Width::Large => array.large_like(text(job, py, &values, is_there)?, nulls),
        Width::Fixed(width) => arrow::fixed(&text(job, py, &values, is_there)?, width, nulls),
    };
    Ok(made?)
}

/// Texts over the alphabet, absent rows left empty.
fn text<O: Offset>(
    job: &Job<'_, '_>,
    py: Python<'_>,
    values: &Values<'_>,
    is_there: impl Fn(usize) -> bool,
) -> PyResult<Made<O>> {
    job.engine.alphabet()?;
    let tweak = Tweak::new(job.tweak, values.rows(), &is_there)?;
    let records = Records::new(values, is_there);
    let run = Run {
        engine: job.engine,
        direction: job.direction,
        threads: job.threads,
        tweaks: tweak.of(),
    };
    let made = py.detach(|| -> Result<Made<O>, Failure> {
        let Some(rows) = records.rows.as_deref() else {
            return run.made(&records.bytes, &records.offsets, |record| record);
        };
        let row_of = |record: usize| rows.get(record).copied().unwrap_or(record);
        let made: Made<usize> = run.made(&records.bytes, &records.offsets, row_of)?;
        let mut spread = Made::with_room(values.rows(), made.bytes.len());
        let mut next = 0;
        for row in 0..values.rows() {
            let cell = if rows.get(next) == Some(&row) {
                next += 1;
                made.get(next - 1)
            } else {
                &[]
            };
            spread.append(cell, std::iter::once(cell.len()))?;
        }
        Ok(spread)
    });
    Ok(made?)
}

/// One run of the engine.
struct Run<'a> {
    engine: &'a Engine,
    direction: Direction,
    threads: usize,
    tweaks: Tweaks<'a>,
}

impl Run<'_> {
    fn made<O: Offset>(
        &self,
        bytes: &[u8],
        offsets: &[usize],
        row_of: impl Fn(usize) -> usize,
    ) -> Result<Made<O>, Failure> {
        let alphabet = self.engine.alphabet()?;
        if !alphabet.is_ascii() {
            return self.one_by_one(bytes, offsets, row_of);
        }
        let rows = offsets.len().saturating_sub(1);
        let mut made = Made::with_room(rows, bytes.len());
        let mut out = zeroize::Zeroizing::new(vec![0; bytes.len()]);
        let batch = Batch::new(&self.engine.key)
            .with_threads(self.threads)
            .over(alphabet);
        let layout = even(offsets).map_or(Layout::Offsets(offsets), Layout::Fixed);
        let done = match self.direction {
            Direction::Forth => batch.encrypt_into(self.tweaks, layout, bytes, &mut out),
            Direction::Back => batch.decrypt_into(self.tweaks, layout, bytes, &mut out),
        };
        done.map_err(|error: BatchError| Failure::record(&error, row_of))?;
        made.append(&out, offsets.iter().skip(1).copied())?;
        Ok(made)
    }

    /// Over alphabets whose symbols differ in length.
    fn one_by_one<O: Offset>(
        &self,
        bytes: &[u8],
        offsets: &[usize],
        row_of: impl Fn(usize) -> usize,
    ) -> Result<Made<O>, Failure> {
        let alphabet = self.engine.alphabet()?;
        let mut made = Made::with_room(offsets.len(), bytes.len());
        for (record, pair) in offsets.windows(2).enumerate() {
            let &[start, end] = pair else {
                continue;
            };
            let text = str::from_utf8(bytes.get(start..end).unwrap_or_default());
            let text = text.map_err(|_| {
                let row = row_of(record);
                Failure::parameter("not_utf8", format!("row {row}: these bytes are no UTF-8"))
            })?;
            let tweak = match self.tweaks {
                Tweaks::Same(tweak) => tweak,
                Tweaks::Offsets { bytes, offsets } => match offsets.get(record..record + 2) {
                    Some([start, end]) => bytes.get(*start..*end).unwrap_or_default(),
                    _ => &[],
                },
                Tweaks::Each { .. } => &[],
            };
            let done = match self.direction {
                Direction::Forth => self.engine.key.encrypt_string(tweak, alphabet, text),
                Direction::Back => self.engine.key.decrypt_string(tweak, alphabet, text),
            };
            let text = done.map_err(|error| Failure::at(error, row_of(record)))?;
            made.append(text.as_bytes(), std::iter::once(text.len()))?;
        }
        Ok(made)
    }
}

/// The length of all records, if they have one.
fn even(offsets: &[usize]) -> Option<usize> {
    let width = offsets.get(1)?.checked_sub(*offsets.first()?)?;
    let differs = |pair: &[usize]| match pair {
        [start, end] => end - start != width,
        _ => false,
    };
    (width > 0 && !offsets.windows(2).any(differs)).then_some(width)
}
