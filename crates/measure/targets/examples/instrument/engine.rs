//! Runs of the engine, each with its books checked.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::canary::{Canary, Noise, variation_percent};
use keywright_measure::carry::Verify;
use keywright_measure::timer::Timer;
use keywright_measure::{Assignment, Carried, Carrier, Load, Open, Stop, Window};

use crate::Failure;
use crate::sheet::{Line, Sheet, time};

/// The clock, what it costs, and the books so far.
pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) timer: Timer,
    runs: Cell<u64>,
    broken: Cell<u64>,
}

/// What schedules and inputs are drawn from.
pub(crate) const SEED: u64 = 1;
/// How long answers may take and are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

impl Engine {
    pub(crate) fn new() -> Self {
        let clock = Clock::system();
        Self {
            timer: Timer::calibrate(&clock),
            clock,
            runs: Cell::new(0),
            broken: Cell::new(0),
        }
    }

    /// What the figures below rest on.
    pub(crate) fn describe(&self, sheet: &Sheet) {
        let resolution = self.timer.resolution_ns();
        let cost = time(self.timer.cost_picos() as f64 / 1000.0);
        sheet.note(
            "clock",
            &format!("resolution {resolution} ns, a reading costs {cost}"),
        );
        let canary = Canary::new(&self.clock);
        let samples: Vec<u64> = (0..32).flat_map(|_| canary.sample(&self.clock)).collect();
        let percent = variation_percent(&samples).unwrap_or(0.0);
        let noise = Noise::of(percent).name();
        sheet.note("noise", &format!("{percent:.2} % of fixed work, {noise}"));
        let lost = sheet.lost_percent();
        sheet.note(
            "this core",
            &format!("{lost:.2} % of its time goes to other programs"),
        );
    }

    /// Carries one run and balances its books.
    pub(crate) fn run(
        &self,
        carrier: &mut dyn Carrier,
        load: &Load,
        window: Window,
    ) -> Result<Carried, Failure> {
        self.watched(carrier, load, window, &mut || {})
    }

    /// As [`Engine::run`]; `look` is called ten times a second meanwhile.
    pub(crate) fn watched(
        &self,
        carrier: &mut dyn Carrier,
        load: &Load,
        window: Window,
        look: &mut dyn FnMut(),
    ) -> Result<Carried, Failure> {
        let assignment = Assignment {
            load,
            window,
            seed: SEED,
            verify: Verify::Sample,
            timeout: PATIENCE,
            drain: PATIENCE,
            block: Duration::from_millis(100),
            clock: &self.clock,
            stop: &Stop::new(),
        };
        let carried = carrier.carry(&assignment, &mut |_, _| look())?;
        self.runs.set(self.runs.get() + 1);
        if !balanced(&carried, load, window) {
            self.broken.set(self.broken.get() + 1);
        }
        Ok(carried)
    }

    /// Whether every operation of every run was in exactly one place.
    pub(crate) fn accounting(&self, sheet: &mut Sheet) {
        let (runs, broken) = (self.runs.get(), self.broken.get());
        sheet.judge(&Line {
            name: "accounting",
            value: format!("{broken} of {runs} runs do not balance"),
            bar: "none",
            holds: broken == 0,
        });
    }
}

/// Each operation in one place, as many as were planned, none of them wrong.
fn balanced(carried: &Carried, load: &Load, window: Window) -> bool {
    let counts = &carried.ledger.counts;
    let planned = match (load, window) {
        (Load::Open(open), _) => Some(open.schedule(SEED).count() as u64),
        (_, Window::Operations(most)) => Some(most),
        _ => None,
    };
    let faults: u64 = carried.ledger.faults.values().sum();
    let as_planned = planned.is_none_or(|planned| planned == counts.planned);
    counts.balance() && as_planned && faults == counts.error && counts.wrong == 0
}

/// A loop of so many workers.
pub(crate) fn closed(workers: u32) -> Load {
    Load::Closed {
        workers: at_least_one(workers),
    }
}

/// A constant rate.
pub(crate) fn constant(rate_per_s: f64, length: Duration, cap: u32) -> Result<Load, Failure> {
    Ok(Load::Open(Open::constant(
        rate_per_s,
        length,
        at_least_one(cap),
    )?))
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}
