//! Whether short times are true: an operation that is none, and one whose length is known.

use keywright_measure::Window;
use keywright_measure::stats::location::median;
use keywright_measure::threads::Threads;

use crate::engine::closed;
use crate::sheet::{Line, Sheet, time};
use crate::spin::{Spin, alone};
use crate::{Bench, Failure, local};

/// A known length is measured so often by either way, in turns.
const ROUNDS: usize = 9;

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    empty(bench, sheet)?;
    spin(bench, sheet)
}

/// What the subtraction of the loop can hide is as long as the loop, so that has to be short as well.
fn empty(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let mut threads = Threads::new(vec![local::worker("null.call")?], bench.engine.timer);
    let window = Window::Time(bench.seconds_of_ten(2.0));
    let carried = bench.engine.run(&mut threads, &closed(1), window)?;
    let picos = carried.ledger.service.quantile(0.5);
    let picos = picos.ok_or("nothing was timed")? as f64;
    let empty_loop = bench.engine.timer.loop_picos() as f64;
    sheet.judge_quiet(&Line {
        name: "empty operation",
        value: format!(
            "{} in batches of {}, {} of loop subtracted",
            time(picos / 1000.0),
            carried.batch,
            time(empty_loop / 1000.0)
        ),
        bar: "0 +- 1 ns",
        holds: carried.batch > 1 && picos <= 1000.0 && empty_loop <= 1000.0,
    });
    Ok(())
}

fn spin(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let clock = &bench.engine.clock;
    let mut spin = Spin::lasting(1000.0, clock)?;
    let mut threads = Threads::new(vec![Box::new(spin)], bench.engine.timer);
    let window = Window::Time(bench.seconds_of_ten(0.2));
    let (mut ratios, mut known, mut batch) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let before = alone(&mut spin, 1000, clock)?;
        let carried = bench.engine.run(&mut threads, &closed(1), window)?;
        let after = alone(&mut spin, 1000, clock)?;
        let unit = if carried.batch > 1 { 1000.0 } else { 1.0 };
        let p50 = carried
            .ledger
            .service
            .quantile(0.5)
            .ok_or("nothing was timed")?;
        let truth = f64::midpoint(before, after);
        ratios.push(p50 as f64 / unit / truth);
        known.push(truth);
        batch = carried.batch;
    }
    let ratio = median(&ratios).ok_or("no round")?;
    let known = median(&known).ok_or("no round")?;
    sheet.judge_quiet(&Line {
        name: "spin of a microsecond",
        value: format!(
            "{} read as {}, {:+.2} %, {}",
            time(known),
            time(known * ratio),
            100.0 * (ratio - 1.0),
            if batch > 1 {
                "in batches"
            } else {
                "timed alone"
            }
        ),
        bar: "2 %",
        holds: (ratio - 1.0).abs() <= 0.02,
    });
    Ok(())
}
