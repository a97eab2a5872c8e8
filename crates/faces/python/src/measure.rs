//! The Rust side of the speed bar: the library alone, over the same values, on the thread that asks.

use keywright_clock::Clock;
use keywright_format::{Cells, Column, Output};
use pyo3::prelude::*;

use crate::arrow::TextArray;
use crate::failure::Failure;
use crate::format::Format;

/// The nanoseconds of each of `rounds` calls that protect a whole Arrow array in Rust: cells and results in
/// Rust's memory, buffers used again, nothing made for Python. `scripts/python bench` compares with it.
#[pyfunction]
pub(crate) fn rust_nanoseconds(
    format: &Bound<'_, Format>,
    array: &Bound<'_, PyAny>,
    rounds: usize,
) -> PyResult<Vec<u64>> {
    let held = format.get().held()?;
    let key = held.key()?;
    let array = TextArray::import(array)?;
    let rows = 0..array.values().rows();
    let mut offsets = Vec::new();
    let bytes = array.values().window(&rows, &mut offsets).to_vec();
    let taken = format.py().detach(|| {
        let clock = Clock::system();
        let (mut column, mut output) = (Column::new(key, held.scope(key, &[])), Output::new());
        let mut taken = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let start = clock.monotonic();
            let cells = Cells::offsets(&bytes, &offsets)?;
            let report = column.protect(cells, &[], &mut output)?;
            let end = clock.monotonic();
            if !report.misfits().is_empty() {
                return Err(Failure::misfits(report.misfits()));
            }
            taken.push(keywright_clock::nanos(end.since(start)));
        }
        Ok(taken)
    });
    Ok(taken?)
}
