//! What it costs to be watched: the same runs with the dashboard in a browser that follows every event,
//! and without any, in the order with, without, without, with.
//!
//! A change of throughput under one percent is rarely told from noise. What the threads of the dashboard
//! use of a processor is: were they on the measuring core, they could not slow it by more.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_measure::event::{Nobody, Observer};
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::stats::hodges_lehmann::centre;
use keywright_measure::threads::Threads;
use keywright_measure::{Carrier, Stop, Window};
use keywright_report::live::Live;
use keywright_report::live::web::{Empty, Exposure, Limits, Running, start};

use crate::engine::{SEED, closed};
use crate::processor::Thread;
use crate::remote::{self, Freeze, OtherSide};
use crate::sheet::{Line, Sheet};
use crate::{Bench, Failure, local};

/// Pairs of a run with and a run without.
const PAIRS: usize = 12;
const LOCAL: &str = "aead.aes-256-gcm.seal.1k";
/// Confidence of intervals.
const LEVEL: f64 = 0.95;
/// What a dashboard may change throughput by.
const BAR: f64 = 0.01;

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let mut threads = Threads::new(vec![local::worker(LOCAL)?], bench.engine.timer);
    compare(
        bench,
        sheet,
        ("dashboard, local operation", 1),
        &mut threads,
    )?;
    let server = remote::Http::start(Freeze::NEVER, bench.server_cpu)?;
    let mut carrier = server.carrier()?;
    compare(
        bench,
        sheet,
        ("dashboard, HTTP/2 load", remote::PLACES),
        &mut carrier,
    )
}

/// A dashboard and somebody who looks at it.
struct Watched {
    live: Arc<Live>,
    page: Running,
    browser: OtherSide,
    /// The threads that serve the page.
    threads: Vec<Thread>,
    begun: MonotonicTime,
}

impl Watched {
    fn begin(bench: &Bench) -> Result<Self, Failure> {
        let before = Thread::all()?;
        let begun = bench.engine.clock.monotonic();
        let live = Arc::new(Live::new(bench.engine.clock.clone(), 1));
        let exposure = Exposure::Loopback { port: 0 };
        let page = start(
            exposure,
            Limits::default(),
            Arc::clone(&live),
            Arc::new(Empty),
        )?;
        let address = page.local_addr().to_string();
        let browser = OtherSide::start(&["watch".to_owned(), address], bench.server_cpu)?;
        let answer = browser.text("answer")?;
        if !answer.ends_with(" 200") {
            return Err(format!("the dashboard answers {answer}").into());
        }
        let mut threads = Thread::all()?;
        threads.retain(|thread| !before.contains(thread));
        if threads.is_empty() {
            return Err("the dashboard has no thread of its own".into());
        }
        Ok(Self {
            live,
            page,
            browser,
            threads,
            begun,
        })
    }

    /// Ends it; the share of a core that its threads used, their beginning included.
    fn end(self, clock: &Clock) -> Result<f64, Failure> {
        let mut used = Duration::ZERO;
        for thread in &self.threads {
            used += thread.used()?;
        }
        let share = used.as_secs_f64() / clock.monotonic().since(self.begun).as_secs_f64();
        drop(self.browser);
        self.page.stop()?;
        Ok(share)
    }
}

fn compare(
    bench: &Bench,
    sheet: &mut Sheet,
    (name, cap): (&str, u32),
    carrier: &mut dyn Carrier,
) -> Result<(), Failure> {
    let mut rates = Vec::with_capacity(2 * PAIRS);
    let mut shares = Vec::with_capacity(PAIRS);
    for turn in 0..2 * PAIRS {
        let rate = if is_watched(turn) {
            let watched = Watched::begin(bench)?;
            let rate = run(bench, cap, carrier, watched.live.as_ref())?;
            shares.push(watched.end(&bench.engine.clock)?);
            rate
        } else {
            run(bench, cap, carrier, &Nobody)?
        };
        rates.push(rate);
    }
    judge_threads(sheet, name, &shares);
    let found = Found::of(&rates).ok_or("a run without operations")?;
    let changed = found.ratio[0] - 1.0;
    let line = Line {
        name,
        value: format!(
            "{:+.2} % throughput, 95 % interval {:+.2} to {:+.2} %, noise floor {:.2} %",
            100.0 * changed,
            100.0 * (found.ratio[1] - 1.0),
            100.0 * (found.ratio[2] - 1.0),
            100.0 * found.floor,
        ),
        bar: "1 %",
        holds: changed.abs() < BAR,
    };
    if found.floor > BAR {
        sheet.doubt(&line, "the noise floor is above the bar");
    } else {
        sheet.judge_quiet(&line);
    }
    Ok(())
}

/// Whatever the throughput says: the share of a core that the dashboard's threads took, at the worst.
fn judge_threads(sheet: &mut Sheet, name: &str, shares: &[f64]) {
    let worst = shares.iter().copied().fold(0.0, f64::max);
    let name = format!("{name}, its threads");
    sheet.judge(&Line {
        name: &name,
        value: format!(
            "{:.2} % of a core at most, in {} runs",
            100.0 * worst,
            shares.len()
        ),
        bar: "1 %",
        holds: worst < BAR,
    });
}

/// With, without, without, with.
const fn is_watched(turn: usize) -> bool {
    matches!(turn % 4, 0 | 3)
}

struct Found {
    /// With over without: the estimate and the ends of its interval.
    ratio: [f64; 3],
    /// What neighbours of one kind seem to differ by: half the width of the same interval for them.
    floor: f64,
}

impl Found {
    fn of(rates: &[f64]) -> Option<Self> {
        let pair = |turn: usize| Some(rates.get(turn)?.ln() - rates.get(turn + 1)?.ln());
        let differences: Option<Vec<f64>> = (0..rates.len())
            .step_by(2)
            .map(|turn| {
                Some(if is_watched(turn) {
                    pair(turn)?
                } else {
                    -pair(turn)?
                })
            })
            .collect();
        let alike: Option<Vec<f64>> = (1..rates.len() - 1).step_by(2).map(pair).collect();
        let (ratio, alike) = (centre(&differences?, LEVEL)?, centre(&alike?, LEVEL)?);
        Some(Self {
            ratio: [ratio.estimate.exp(), ratio.lo.exp(), ratio.hi.exp()],
            floor: (alike.hi - alike.lo) / 2.0,
        })
    }
}

/// One run as a session makes it; operations a second.
fn run(
    bench: &Bench,
    cap: u32,
    carrier: &mut dyn Carrier,
    observer: &dyn Observer,
) -> Result<f64, Failure> {
    let length = bench.seconds_of_ten(1.0);
    let session = Session {
        clock: &bench.engine.clock,
        seed: SEED,
        runs: 1,
        cooldown: Duration::ZERO,
        // More events than a session of blocks of a second has.
        block: length / 4,
        facts: Vec::new(),
        stop: &Stop::new(),
        rest: std::thread::sleep,
    };
    let plan = CasePlan {
        load: closed(cap),
        window: Window::Time(length),
        warmup: bench.seconds_of_ten(0.2),
        ..CasePlan::new("watched", "instrument")
    };
    let outcome = session
        .measure(&mut [Entry { plan, carrier }], observer)
        .pop();
    match outcome {
        Some(Outcome::Measured(case)) if case.achieved_per_s > 0.0 => Ok(case.achieved_per_s),
        Some(Outcome::Skipped { error, .. }) => Err(error.into()),
        _ => Err("a run without a figure".into()),
    }
}
