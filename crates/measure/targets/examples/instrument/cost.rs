//! What measuring costs: the time an operation takes with the engine around it, less the time it takes
//! without.

use std::time::Duration;

use keywright_measure::stats::location::median;
use keywright_measure::threads::Threads;
use keywright_measure::{Window, Worker};

use crate::engine::closed;
use crate::sheet::{Line, Sheet, time};
use crate::spin::{Spin, alone};
use crate::{Bench, Failure, local};

/// Each way is taken so often, in turns.
const ROUNDS: usize = 31;
/// So short that most runs are over before another program gets this core.
const SHORT: Duration = Duration::from_millis(2);
/// So long that the first of few samples, for which memory is still to be had, does not show.
const LONG: Duration = Duration::from_millis(20);

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let clock = &bench.engine.clock;
    let reading = bench.engine.timer.cost_picos() as f64 / 1000.0;
    // Long enough to be timed alone, and almost.
    let single = Spin::lasting(40.0 * reading, clock)?;
    let longest = Spin::lasting(17.0 * reading, clock)?;
    let short = Spin::lasting(5.0, clock)?;
    let pair = |spin: Spin| -> [Box<dyn Worker>; 2] { [Box::new(spin), Box::new(spin)] };
    let null = [local::worker("null.call")?, local::worker("null.call")?];
    cost(bench, sheet, ("cost of a sample", SHORT), pair(single))?;
    cost(bench, sheet, ("cost in batches, nothing", LONG), null)?;
    cost(bench, sheet, ("cost in batches, short", LONG), pair(short))?;
    cost(bench, sheet, ("cost in batches, long", LONG), pair(longest))
}

fn cost(
    bench: &Bench,
    sheet: &mut Sheet,
    (name, run): (&str, Duration),
    [mut bare, measured]: [Box<dyn Worker>; 2],
) -> Result<(), Failure> {
    let clock = &bench.engine.clock;
    let about = alone(bare.as_mut(), 100, clock)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few microseconds"
    )]
    let about = about as u64;
    let mut threads = Threads::new(vec![measured], bench.engine.timer);
    let (mut costs, mut known, mut batch) = (Vec::new(), Vec::new(), 1);
    for _ in 0..ROUNDS {
        let before = alone(bare.as_mut(), about, clock)?;
        let carried = bench
            .engine
            .run(&mut threads, &closed(1), Window::Time(run))?;
        let after = alone(bare.as_mut(), about, clock)?;
        let truth = f64::midpoint(before, after);
        costs.push(1e9 / carried.rate_per_s - truth);
        known.push(truth);
        batch = carried.batch;
    }
    let (cost, known) = (
        median(&costs).ok_or("no round")?,
        median(&known).ok_or("no round")?,
    );
    let (bar, text) = match batch {
        1 => (150.0, "150 ns a sample"),
        _ => (1.0, "1 ns an operation"),
    };
    sheet.judge_quiet(&Line {
        name,
        value: format!(
            "{} on top of {}, {batch} at a time",
            time(cost),
            time(known)
        ),
        bar: text,
        holds: cost <= bar,
    });
    Ok(())
}
