//! What is to be measured: one case after the other, each with its load, its judging and its limits.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::carry::{Verify, Window};
use crate::latency::{Few, Percentile};
use crate::load::Load;

/// One operation against one target under one load.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the row of a suite, made by literal updates"
)]
pub struct CasePlan {
    /// Unique within the run.
    pub id: String,
    /// The operation's dotted name.
    pub op: String,
    /// The target's name.
    pub target: String,
    /// What is counted.
    pub unit: String,
    /// How many of these one operation is.
    pub units: u64,
    /// Payload bytes of one operation; 0 where there is none.
    pub bytes: u64,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// The load.
    pub load: Load,
    /// Connections, for targets that have them.
    pub connections: Option<u64>,
    /// How long one run is.
    pub window: Window,
    /// Carried and thrown away before each run.
    pub warmup: Duration,
    /// So many operations instead of a time.
    pub warmup_operations: Option<u64>,
    /// How many outputs are looked at.
    pub verify: Verify,
    /// Which quantiles are given.
    pub percentiles: Vec<Percentile>,
    /// Whether quantiles with too few samples are given.
    pub few: Few,
    /// Objectives.
    pub objectives: Vec<Slo>,
    /// An operation may take this long from when it was due.
    pub timeout: Duration,
    /// How long answers are waited for after the last start.
    pub drain: Duration,
    /// The generator's own ceiling for this kind of carrier, in operations a second.
    pub ceiling_per_s: Option<f64>,
    /// The share of operations that may fail.
    pub error_budget: f64,
}

impl CasePlan {
    /// A case with the usual judging: a closed loop of one worker for two seconds after half a second
    /// that does not count.
    #[must_use]
    pub fn new(op: &str, target: &str) -> Self {
        Self {
            id: op.to_owned(),
            op: op.to_owned(),
            target: target.to_owned(),
            unit: "operations".to_owned(),
            units: 1,
            bytes: 0,
            parameters: BTreeMap::new(),
            load: Load::Closed {
                workers: std::num::NonZeroU32::MIN,
            },
            connections: None,
            window: Window::Time(Duration::from_secs(2)),
            warmup: Duration::from_millis(500),
            warmup_operations: None,
            verify: Verify::Sample,
            percentiles: Percentile::DEFAULT.to_vec(),
            few: Few::Withhold,
            objectives: Vec::new(),
            timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            ceiling_per_s: None,
            error_budget: 0.001,
        }
    }

    /// How long a run is expected to take, warm-up included, where that is known.
    #[must_use]
    pub fn expected(&self) -> Option<Duration> {
        match (&self.load, self.window) {
            (Load::Open(open), _) => Some(open.duration() + self.warmup),
            (Load::Closed { .. }, Window::Time(time)) => Some(time + self.warmup),
            (Load::Closed { .. }, Window::Operations(_)) => None,
        }
    }
}

/// An objective: `p99<=20ms` on response time, `errors<=0.1%`, and what may be asked of a target that is offered more
/// than it can do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Slo {
    /// A quantile of the response time of what was not refused, in nanoseconds: `accepted.p99<=50ms`.
    Accepted(Percentile, u64),
    /// The share of operations that failed, were wrong, or never ended.
    Errors(f64),
    /// A quantile of response time, in nanoseconds. Failures count as over the limit.
    Latency(Percentile, u64),
    /// The share of operations that came to nothing and were not refused either: `lost<=0%`.
    Lost(f64),
    /// The same as [`Slo::Latency`] for one part of a mix: `trading-1.p99<=5ms`.
    Part(Box<str>, Percentile, u64),
    /// How long after the highest of several phases the response time and the refusals are back at what they were
    /// before it, in nanoseconds: `recovery<=1s`.
    Recovery(u64),
    /// A quantile of the time to a refusal, in nanoseconds: `refused.p99<=10ms`.
    Refused(Percentile, u64),
}

/// An objective that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an objective is written p99=20ms, errors=0.1%, accepted.p99=50ms, refused.p99=10ms, lost=0%, recovery=1s, or with the name of a part before the percentile"
)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct SloError;

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, SloError> {
        let (name, limit) = text
            .split_once("<=")
            .or_else(|| text.split_once('='))
            .ok_or(SloError)?;
        Self::new(name.trim(), limit.trim())
    }
}

impl Slo {
    /// From the two sides of an entry in a suite.
    ///
    /// # Errors
    /// Neither side is understood.
    pub fn new(name: &str, limit: &str) -> Result<Self, SloError> {
        match name {
            "errors" => return share(limit).map(Self::Errors),
            "lost" => return share(limit).map(Self::Lost),
            "recovery" => return nanos(limit).map(Self::Recovery),
            _ => {}
        }
        let limit = nanos(limit)?;
        if let Ok(percentile) = name.parse() {
            return Ok(Self::Latency(percentile, limit));
        }
        // A part may have points in its name, and a percentile one: the last that a percentile follows parts them.
        let (of, percentile) = name
            .rfind(".p")
            .map(|at| name.split_at(at))
            .ok_or(SloError)?;
        let percentile = percentile.trim_start_matches('.');
        let percentile = percentile.parse().map_err(|_| SloError)?;
        match of {
            "" => Err(SloError),
            "accepted" => Ok(Self::Accepted(percentile, limit)),
            "refused" => Ok(Self::Refused(percentile, limit)),
            part => Ok(Self::Part(part.into(), percentile, limit)),
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |nanos: &u64| Duration::from_nanos(*nanos);
        match self {
            Self::Accepted(percentile, nanos) => {
                write!(out, "accepted.{percentile}<={:?}", time(nanos))
            }
            Self::Errors(share) => write!(out, "errors<={}%", share * 100.0),
            Self::Latency(percentile, nanos) => write!(out, "{percentile}<={:?}", time(nanos)),
            Self::Lost(share) => write!(out, "lost<={}%", share * 100.0),
            Self::Part(part, percentile, nanos) => {
                write!(out, "{part}.{percentile}<={:?}", time(nanos))
            }
            Self::Recovery(nanos) => write!(out, "recovery<={:?}", time(nanos)),
            Self::Refused(percentile, nanos) => {
                write!(out, "refused.{percentile}<={:?}", time(nanos))
            }
        }
    }
}

/// A share as a number or in percent.
fn share(text: &str) -> Result<f64, SloError> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or(SloError)
}

fn nanos(text: &str) -> Result<u64, SloError> {
    let time = parse_time(text).ok_or(SloError)?;
    u64::try_from(time.as_nanos()).map_err(|_| SloError)
}

pub use keywright_clock::duration::parse as parse_time;

/// A count with an optional suffix: `10k`, `1.5m`. None if it is not one.
#[must_use]
pub fn parse_count(text: &str) -> Option<u64> {
    scaled(
        text,
        &[("k", 1e3), ("K", 1e3), ("m", 1e6), ("M", 1e6), ("", 1.0)],
    )
}

/// A size in bytes: `32B`, `4KiB`, `1MiB`, `10KB`; a bare number is bytes. `KB` as written in older
/// documents is 1,024 bytes too.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    const KIB: f64 = 1024.0;
    let units = [
        ("KiB", KIB),
        ("KB", KIB),
        ("k", KIB),
        ("MiB", KIB * KIB),
        ("MB", KIB * KIB),
        ("m", KIB * KIB),
        ("GiB", KIB * KIB * KIB),
        ("B", 1.0),
        ("", 1.0),
    ];
    scaled(text, &units)
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.trim();
    let split = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let (_, factor) = units.iter().find(|(unit, _)| *unit == suffix.trim())?;
    let value = number * factor;
    let whole = value >= 0.0 && value.fract() == 0.0 && value < 1e15;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number, not negative, below 10^15"
    )]
    whole.then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_counts_and_sizes_are_read_with_their_units_and_nothing_else() {
        assert_eq!(parse_time("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_time("1.5us"), Some(Duration::from_nanos(1500)));
        assert_eq!(parse_time("2m"), Some(Duration::from_secs(120)));
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1e3s",
            "5 parsecs",
            "1..5s",
            "9999999999999999h",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
        assert_eq!(parse_count("10k"), Some(10_000));
        assert_eq!(parse_count("1.5m"), Some(1_500_000));
        assert_eq!(parse_count("0.0001k"), None);
        assert_eq!(parse_size("4KiB"), Some(4096));
        assert_eq!(parse_size("1KB"), Some(1024));
        assert_eq!(parse_size("1KiBB"), None);
        assert_eq!(parse_size("0.3B"), None);
    }

    #[test]
    fn objectives_are_read_and_printed() {
        for (text, printed) in [
            ("p99=20ms", "p99<=20ms"),
            ("p99.9 <= 1.5s", "p99.9<=1.5s"),
            ("errors=0.1%", "errors<=0.1%"),
            ("accepted.p99=50ms", "accepted.p99<=50ms"),
            ("refused.p99.9=10ms", "refused.p99.9<=10ms"),
            ("lost=0%", "lost<=0%"),
            ("recovery=1s", "recovery<=1s"),
            ("trading-1.p99 <= 5ms", "trading-1.p99<=5ms"),
            ("a.p99.b.p50=1us", "a.p99.b.p50<=1µs"),
        ] {
            assert_eq!(text.parse::<Slo>().unwrap().to_string(), printed);
        }
        for text in [
            "p99",
            "p99=20",
            "errors=200%",
            "errors=x",
            "median=1s",
            "=1s",
            "p99=-1ms",
            "lost=1s",
            "lost=-1%",
            "recovery=5%",
            "recovery",
            ".p99=1s",
            "part.=1s",
            "part.p=1s",
            "part.p101=1s",
            "accepted=1s",
            "refused.errors=1%",
        ] {
            assert_eq!(text.parse::<Slo>(), Err(SloError), "{text}");
        }
    }
}
