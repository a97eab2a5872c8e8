//! Columns of every kind through one format.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::Array;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use keywright_format::{FormatKey, Masker, Misfit};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use zeroize::Zeroizing;

use super::Keyed;
use crate::arrow::{self, TextArray, Width};
use crate::batch::tweak_bytes;
use crate::cells::{Made, Offset, Values};
use crate::column::{Direction, Done, OnBad, Task};
use crate::failure::{Failure, wrong_type};
use crate::kinds::{Kind, chunked, chunks, kind};
use crate::lists::{self, Gathered};
use crate::numpy::{self, FixedText};
use crate::options::Options;

/// What a call is told beside its values.
pub(super) struct Call<'py> {
    rows: Option<Bound<'py, PyDict>>,
    pub(super) caller: Vec<u8>,
    on_bad: Option<OnBad>,
    threads: usize,
}

impl<'py> Call<'py> {
    pub(super) fn new(options: &Options<'_, 'py>) -> PyResult<Self> {
        let rows = match options.raw("rows")? {
            Some(rows) => Some(
                rows.cast_into::<PyDict>()
                    .map_err(|error| wrong_type("a dict of columns", &error.into_inner()))?,
            ),
            None => None,
        };
        let on_bad = match options.get::<String>("on_bad")?.as_deref() {
            None => None,
            Some("fail") => Some(OnBad::Fail),
            Some("null") => Some(OnBad::Null),
            Some("reject") => Some(OnBad::Reject),
            Some(_) => {
                let text = "on_bad is fail, null or reject";
                return Err(Failure::parameter("on_bad", text).into());
            }
        };
        Ok(Self {
            rows,
            caller: match options.raw("caller")? {
                Some(given) => tweak_bytes(&given)?,
                None => Vec::new(),
            },
            on_bad,
            threads: options.threads()?,
        })
    }

    /// With `on_bad="reject"` a column and the rows that do not fit, else the column alone.
    fn answer(&self, made: Bound<'py, PyAny>, bad: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
        match self.on_bad {
            Some(OnBad::Reject) => {
                let py = made.py();
                Ok((made, bad).into_pyobject(py)?.into_any())
            }
            _ => Ok(made),
        }
    }

    /// The objects that the tweak policy names, in its order.
    fn named(&self, key: &FormatKey) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut found = Vec::new();
        let columns = key.settings().tweak().columns();
        let given = self.rows.as_ref();
        for name in &columns {
            let column = given.map(|rows| rows.get_item(name)).transpose()?;
            found.push(column.flatten().ok_or_else(|| {
                let text = format!("the tweak needs the column {name}: name it in rows");
                Failure::parameter("tweak_parts", text)
            })?);
        }
        let more = given.map_or(0, |rows| rows.len());
        if more > columns.len() {
            let text = format!(
                "{} columns expected for the tweak, {more} given",
                columns.len()
            );
            return Err(Failure::parameter("tweak_parts", text).into());
        }
        Ok(found)
    }

    /// One cell of each.
    pub(super) fn cells(&self, key: &FormatKey) -> PyResult<Vec<Zeroizing<Vec<u8>>>> {
        let named = self.named(key)?;
        let cells = named.iter().map(|value| lists::one(value));
        cells.map(|one| one.map(|(bytes, _)| bytes)).collect()
    }
}

/// A column beside the one that is worked on.
enum Other {
    Array(TextArray),
    List(Gathered),
}

impl Other {
    fn import(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match kind(values)? {
            Kind::Arrow => Self::Array(TextArray::import(values)?),
            Kind::List => Self::List(Gathered::new(values)?),
            Kind::Chunked | Kind::Numpy => {
                return Err(wrong_type("a list or an Arrow array for the tweak", values));
            }
        })
    }

    fn values(&self) -> Values<'_> {
        match self {
            Self::Array(array) => array.values(),
            Self::List(list) => list.values(),
        }
    }
}

/// Everything but the values.
struct Work<'a> {
    held: &'a Keyed,
    direction: Direction,
    call: &'a Call<'a>,
    others: Vec<Other>,
    /// Rows before the first, and all rows so far that do not fit.
    first: usize,
    bad: &'a RefCell<Vec<usize>>,
}

impl Work<'_> {
    /// Runs while other Python threads do.
    fn run<O: Offset>(
        &self,
        py: Python<'_>,
        values: Values<'_>,
        absent: Option<&NullBuffer>,
    ) -> Result<Done<O>, Failure> {
        let key = self.held.key()?;
        let rows: Vec<Values<'_>> = self.others.iter().map(Other::values).collect();
        let task = Task {
            key,
            direction: self.direction,
            scope: self.held.scope(key, &self.call.caller),
            values,
            rows: &rows,
            absent,
            on_bad: self.call.on_bad.unwrap_or(self.held.on_bad),
            threads: self.call.threads,
        };
        let done: Done<O> = py.detach(|| task.run())?;
        let bad = done.misfits.iter().map(|(row, _)| self.first + row);
        self.bad.borrow_mut().extend(bad);
        Ok(done)
    }
}

/// A column of any kind becomes one of the same kind.
pub(super) fn worked<'py>(
    held: &Keyed,
    direction: Direction,
    values: &Bound<'py, PyAny>,
    call: &Call<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = kind(values)?;
    let named = call.named(held.key()?)?;
    let bad = RefCell::new(Vec::new());
    let made = if kind == Kind::Chunked {
        in_chunks((held, direction), values, (call, named), &bad)?
    } else {
        let others = named.iter().map(Other::import).collect::<PyResult<_>>()?;
        let work = Work {
            held,
            direction,
            call,
            others,
            first: 0,
            bad: &bad,
        };
        match kind {
            Kind::List => list(&work, values)?,
            Kind::Numpy => numpy_array(&work, values)?,
            Kind::Arrow | Kind::Chunked => arrow_array(&work, values)?,
        }
    };
    call.answer(made, bad.into_inner())
}

fn in_chunks<'py>(
    (held, direction): (&Keyed, Direction),
    values: &Bound<'py, PyAny>,
    (call, named): (&Call<'py>, Vec<Bound<'py, PyAny>>),
    bad: &RefCell<Vec<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (arrays, own_type) = chunks(values)?;
    let (rows, mut start) = (values.len()?, 0);
    // The other columns may be cut elsewhere: in one piece they can be cut like this one.
    let mut wholes = Vec::new();
    for column in named {
        let whole = match kind(&column)? {
            Kind::Chunked => column.call_method0("combine_chunks")?,
            _ => column,
        };
        if whole.len()? != rows {
            let text = format!("{rows} rows expected for the tweak, {} given", whole.len()?);
            return Err(Failure::parameter("tweak_parts", text).into());
        }
        wholes.push(whole);
    }
    let mut made = Vec::new();
    for array in arrays {
        let end = start + array.len()?;
        let others = wholes.iter().map(|whole| {
            let piece = whole.get_item(pyo3::types::PySlice::new(
                whole.py(),
                isize::try_from(start).unwrap_or(isize::MAX),
                isize::try_from(end).unwrap_or(isize::MAX),
                1,
            ))?;
            Other::import(&piece)
        });
        let work = Work {
            held,
            direction,
            call,
            others: others.collect::<PyResult<_>>()?,
            first: start,
            bad,
        };
        made.push(arrow_array(&work, &array)?);
        start = end;
    }
    chunked(made, &own_type)
}

fn list<'py>(work: &Work<'_>, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = values.py();
    let gathered = Gathered::new(values)?;
    let done: Done<usize> = work.run(py, gathered.values(), None)?;
    let bad: Vec<usize> = done.misfits.iter().map(|(row, _)| *row).collect();
    let is_shown = |row: usize| bad.binary_search(&row).is_err();
    let list = lists::spread(py, &gathered.forms, &done.made, is_shown)?;
    Ok(list.into_any())
}

fn numpy_array<'py>(work: &Work<'_>, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let array = FixedText::import(values)?;
    let done: Done<usize> = work.run(values.py(), array.values()?, None)?;
    numpy::export(values.py(), &done.made, array.width())
}

fn arrow_array<'py>(work: &Work<'_>, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = values.py();
    let array = TextArray::import(values)?;
    let made = arrow_made(work, py, &array).map_err(|failure| failure.after(work.first))?;
    array.export(py, made.as_ref())
}

fn arrow_made(
    work: &Work<'_>,
    py: Python<'_>,
    array: &TextArray,
) -> Result<Arc<dyn Array>, Failure> {
    let (values, nulls) = (array.values(), array.nulls());
    let rows = values.rows();
    match array.width() {
        Width::Small => {
            let done = work.run(py, values, nulls)?;
            let nulls = without(nulls, rows, &done.misfits);
            py.detach(|| array.small_like(done.made, nulls))
        }
        Width::Large => {
            let done = work.run(py, values, nulls)?;
            let nulls = without(nulls, rows, &done.misfits);
            py.detach(|| array.large_like(done.made, nulls))
        }
        Width::Fixed(width) => {
            let done = work.run(py, values, nulls)?;
            let nulls = without(nulls, rows, &done.misfits);
            arrow::fixed(&done.made, width, nulls)
        }
    }
}

/// The rows that still hold something.
fn without(
    nulls: Option<&NullBuffer>,
    rows: usize,
    misfits: &[(usize, Misfit)],
) -> Option<NullBuffer> {
    if misfits.is_empty() {
        return nulls.cloned();
    }
    let is_valid = |row: usize| {
        let was = nulls.is_none_or(|nulls| nulls.is_valid(row));
        was && misfits.binary_search_by_key(&row, |(row, _)| *row).is_err()
    };
    Some(NullBuffer::new(BooleanBuffer::collect_bool(rows, is_valid)))
}

/// A column that is masked for good, through [`masked`]. A mask takes every value.
pub(super) fn masked_for_good<'py>(
    masker: &Masker,
    values: &Bound<'py, PyAny>,
    call: &Call<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    call.answer(masked(masker, values)?, Vec::new())
}

/// A list or an Arrow array through a mask. What becomes nothing is `None` in a list.
pub(super) fn masked<'py>(
    masker: &Masker,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = values.py();
    match kind(values)? {
        Kind::List => {
            let gathered = Gathered::new(values)?;
            let made = py.detach(|| applied::<usize>(masker, &gathered.values()))?;
            let is_shown = |row: usize| !made.get(row).is_empty();
            Ok(lists::spread(py, &gathered.forms, &made, is_shown)?.into_any())
        }
        Kind::Arrow => {
            let array = TextArray::import(values)?;
            let (values, nulls) = (array.values(), array.nulls().cloned());
            let made = match array.width() {
                Width::Small => {
                    let made = py.detach(|| applied(masker, &values))?;
                    array.small_like(made, nulls)
                }
                Width::Large => {
                    let made = py.detach(|| applied(masker, &values))?;
                    array.large_like(made, nulls)
                }
                Width::Fixed(width) => arrow::fixed(&applied(masker, &values)?, width, nulls),
            };
            array.export(py, made?.as_ref())
        }
        Kind::Chunked => {
            let (arrays, own_type) = chunks(values)?;
            let made = arrays.iter().map(|array| masked(masker, array));
            chunked(made.collect::<PyResult<_>>()?, &own_type)
        }
        Kind::Numpy => Err(wrong_type("a list or an Arrow array", values)),
    }
}

fn applied<O: Offset>(masker: &Masker, values: &Values<'_>) -> Result<Made<O>, Failure> {
    let (mut offsets, rows) = (Vec::new(), 0..values.rows());
    let cells = values.cells(&rows, &mut offsets)?;
    let mut made = Made::with_room(rows.len(), values.extent());
    let mut cell = Zeroizing::new(Vec::new());
    for row in rows {
        cell.clear();
        masker.apply(cells.get(row), &mut cell);
        made.append(&cell, std::iter::once(cell.len()))?;
    }
    Ok(made)
}
