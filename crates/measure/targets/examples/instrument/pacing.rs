//! Whether a schedule is kept: what is started, and how late.

use keywright_measure::threads::Threads;
use keywright_measure::{Carried, Load, Window};

use crate::engine::constant;
use crate::remote::{self, Freeze};
use crate::sheet::{Line, Sheet, time};
use crate::{Bench, Failure, local};

/// Threads that take turns with the schedule: no more than there are cores for this program, as one that waits
/// for a moment spins, and two on one core would wait for each other's slices of time.
fn workers() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cores.min(4)).unwrap_or(1)
}

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    for rate in [10_000.0, 50_000.0] {
        threads(bench, sheet, rate)?;
    }
    http(bench, sheet, 10_000.0)
}

/// Lateness is counted whole: with nothing to wait for, a taken place is the driver's doing as well.
fn threads(bench: &Bench, sheet: &mut Sheet, rate: f64) -> Result<(), Failure> {
    let load = constant(rate, bench.seconds_of_ten(5.0), workers())?;
    let workers = (0..workers()).map(|_| local::worker("null.call"));
    let workers = workers.collect::<Result<_, _>>()?;
    let mut threads = Threads::new(workers, bench.engine.timer);
    let carried = bench.engine.run(&mut threads, &load, window(&load))?;
    let off = off_percent(&carried, rate);
    let lateness = &carried.ledger.lateness;
    let late = lateness.quantile(0.99).unwrap_or(u64::MAX);
    sheet.judge_quiet(&Line {
        name: &format!("pacing at {rate}/s, rate"),
        value: format!("{:.1}/s, {off:+.4} % off", carried.rate_per_s),
        bar: "0.1 %",
        holds: off.abs() <= 0.1,
    });
    sheet.judge_quiet(&Line {
        name: &format!("pacing at {rate}/s, lateness"),
        value: format!("p99 {}, {}", time(late as f64), spread(&carried)),
        bar: "p99 200 us",
        holds: late <= 200_000,
    });
    Ok(())
}

fn http(bench: &Bench, sheet: &mut Sheet, rate: f64) -> Result<(), Failure> {
    let server = remote::Http::start(Freeze::NEVER, bench.server_cpu)?;
    let load = constant(rate, bench.seconds_of_ten(5.0), remote::PLACES)?;
    let carried = bench
        .engine
        .run(&mut server.carrier()?, &load, window(&load))?;
    let off = off_percent(&carried, rate);
    let late = carried.ledger.lateness.quantile(0.99).unwrap_or(0);
    let text = format!(
        "{:.1}/s, {off:+.4} % off, lateness p99 {}, {}",
        carried.rate_per_s,
        time(late as f64),
        spread(&carried)
    );
    sheet.note(&format!("pacing over HTTP/2 at {rate}/s"), &text);
    Ok(())
}

/// As long as the schedule.
fn window(load: &Load) -> Window {
    match load {
        Load::Open(open) => Window::Time(open.duration()),
        _ => Window::Operations(1),
    }
}

fn off_percent(carried: &Carried, rate: f64) -> f64 {
    100.0 * (carried.rate_per_s / rate - 1.0)
}

fn spread(carried: &Carried) -> String {
    let lateness = &carried.ledger.lateness;
    let at = |share| time(lateness.quantile(share).unwrap_or(0) as f64);
    let most = time(lateness.max().unwrap_or(0) as f64);
    format!("p50 {}, p99.9 {}, max {most}", at(0.5), at(0.999))
}
