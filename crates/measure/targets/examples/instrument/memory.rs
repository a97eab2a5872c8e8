//! Whether a run of a hundred times as many operations takes more memory.

use keywright_measure::threads::Threads;
use keywright_measure::timer::Timer;
use keywright_measure::{Window, Worker};
use keywright_targets::http::Process;

use crate::engine::closed;
use crate::sheet::{Line, Sheet};
use crate::spin::Spin;
use crate::{Bench, Failure, local};

/// Bytes.
const BAR: u64 = 5_000_000;

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let batched = Threads::new(vec![local::worker("null.call")?], bench.engine.timer);
    growth(bench, sheet, ("memory, batches", 1_000_000), batched)?;
    // A clock that is said to cost next to nothing, so that everything is timed alone.
    let spin: Box<dyn Worker> = Box::new(Spin::lasting(50.0, &bench.engine.clock)?);
    let single = Threads::new(vec![spin], Timer::known(1, 1, 0));
    growth(bench, sheet, ("memory, single samples", 100_000), single)
}

fn growth(
    bench: &Bench,
    sheet: &mut Sheet,
    (name, few): (&str, u64),
    mut threads: Threads,
) -> Result<(), Failure> {
    let many = few * 100;
    let (less, _) = peak(bench, &mut threads, few)?;
    let (more, batch) = peak(bench, &mut threads, many)?;
    let grown = more.saturating_sub(less);
    sheet.judge(&Line {
        name,
        value: format!(
            "{:.2} MB with {few}, {:.2} MB more with {many}, {batch} at a time",
            less as f64 / 1e6,
            grown as f64 / 1e6,
        ),
        bar: "5 MB",
        holds: grown <= BAR,
    });
    Ok(())
}

/// The most memory seen in a run of so many operations, and how many made a sample.
fn peak(bench: &Bench, threads: &mut Threads, operations: u64) -> Result<(u64, u64), Failure> {
    let own = Process::own();
    let mut most = 0;
    let mut look = || most = most.max(own.resident_bytes().unwrap_or(0));
    let window = Window::Operations(operations);
    let carried = bench
        .engine
        .watched(threads, &closed(1), window, &mut look)?;
    // The books are still there.
    look();
    if most == 0 {
        return Err("this system does not say how much memory a process holds".into());
    }
    Ok((most, carried.batch))
}
