//! What was found, line by line, and the exit code that follows from it.

use std::process::ExitCode;
use std::time::Duration;

use keywright_clock::Clock;

/// The lines so far.
pub(crate) struct Sheet {
    clock: Clock,
    missed: bool,
    unmeasured: bool,
}

/// A figure beside its bar.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: String,
    pub(crate) bar: &'a str,
    pub(crate) holds: bool,
}

/// Above this share of a core's time spent elsewhere, a missed bar says nothing about the instrument.
const QUIET_PERCENT: f64 = 1.0;
/// Between two readings of the clock in a row lies far less, unless something else ran.
const GAP_NS: u64 = 20_000;

impl Sheet {
    pub(crate) const fn new(clock: Clock) -> Self {
        Self {
            clock,
            missed: false,
            unmeasured: false,
        }
    }

    /// A figure that has no bar.
    pub(crate) fn note(&self, name: &str, value: &str) {
        println!("{name}: {value} (no bar)");
    }

    /// A bar that holds or not, whatever else the machine does.
    pub(crate) fn judge(&mut self, line: &Line<'_>) {
        let word = if line.holds { "ok" } else { "MISSED" };
        self.missed |= !line.holds;
        println!("{}: {} (bar {}) {word}", line.name, line.value, line.bar);
    }

    /// A bar that can be held on a quiet core only.
    pub(crate) fn judge_quiet(&mut self, line: &Line<'_>) {
        let lost = if line.holds { 0.0 } else { self.lost_percent() };
        if lost <= QUIET_PERCENT {
            return self.judge(line);
        }
        let why = format!("other programs take {lost:.1} % of this core");
        self.doubt(line, &why);
    }

    /// A figure of which nobody can say whether it holds its bar.
    pub(crate) fn doubt(&mut self, line: &Line<'_>, why: &str) {
        self.unmeasured = true;
        println!(
            "{}: {} (bar {}) n/a because {why}",
            line.name, line.value, line.bar
        );
    }

    /// Nothing was measured.
    pub(crate) fn not_measured(&mut self, name: &str, why: &str) {
        self.unmeasured = true;
        println!("{name}: n/a because {why}");
    }

    /// The share of this core's time that other programs get while this one wants all of it.
    pub(crate) fn lost_percent(&self) -> f64 {
        let length = Duration::from_millis(500);
        let start = self.clock.monotonic();
        let (mut last, mut lost) = (start, 0);
        loop {
            let now = self.clock.monotonic();
            let gap = now.nanos() - last.nanos();
            if gap > GAP_NS {
                lost += gap;
            }
            if now.since(start) >= length {
                return 100.0 * lost as f64 / now.since(start).as_nanos() as f64;
            }
            last = now;
        }
    }

    pub(crate) fn exit(&self) -> ExitCode {
        match (self.missed, self.unmeasured) {
            (true, _) => ExitCode::from(3),
            (false, true) => ExitCode::from(4),
            (false, false) => ExitCode::SUCCESS,
        }
    }
}

/// Nanoseconds as people read them.
pub(crate) fn time(nanos: f64) -> String {
    match nanos.abs() {
        size if size >= 1e9 => format!("{:.3} s", nanos / 1e9),
        size if size >= 1e6 => format!("{:.1} ms", nanos / 1e6),
        size if size >= 1e3 => format!("{:.1} us", nanos / 1e3),
        size if size >= 100.0 => format!("{nanos:.0} ns"),
        _ => format!("{nanos:.2} ns"),
    }
}
