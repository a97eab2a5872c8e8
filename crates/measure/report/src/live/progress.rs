//! Progress in words and numbers: how far, how fast, how long still.
//!
//! Everything is calculated from a snapshot and a time. Events come between blocks, so whoever draws on an
//! event draws outside the timed region. Nothing here draws.

use keywright_measure::event::Event;

use super::state::{Current, Finished, Pace, Snapshot, Stage};
use crate::number::{NONE, count, float, nanoseconds, rate};
use crate::plain::fitted;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// 0 to 1; absent where nothing says how long a case takes and not even their number is known.
    pub share: Option<f64>,
    /// Nanoseconds since the board was made.
    pub elapsed_ns: u64,
    /// Nanoseconds still to go; absent where nothing is known about it.
    pub left_ns: Option<u64>,
}

impl Progress {
    /// As of `now_ns`, on the snapshot's time.
    #[must_use]
    pub fn of(snapshot: &Snapshot, now_ns: u64) -> Self {
        let elapsed_ns = now_ns.max(snapshot.at_ns);
        let (share, left_ns) = match snapshot.stage {
            Stage::Finished => (Some(1.0), Some(0)),
            Stage::Waiting => (None, None),
            Stage::Running => ahead(&snapshot.pace, elapsed_ns),
        };
        Self {
            share,
            elapsed_ns: match snapshot.stage {
                Stage::Finished => snapshot.at_ns,
                _ => elapsed_ns,
            },
            left_ns,
        }
    }

    /// `42 %`, or nothing where it is not known.
    #[must_use]
    pub fn percent(&self) -> Option<String> {
        self.share
            .map(|share| format!("{:.0} %", (share * 100.0).floor()))
    }

    /// `12 s left`, or nothing where it is not known.
    #[must_use]
    pub fn left(&self) -> Option<String> {
        self.left_ns.map(|left| format!("{} left", span(left)))
    }
}

/// The share that is done and the time that is left, from what turns were expected to take; what they take
/// beyond that (connecting, pauses) is assumed of the coming ones as well.
fn ahead(pace: &Pace, now_ns: u64) -> (Option<f64>, Option<u64>) {
    let turns = pace.turns();
    if turns == 0 {
        return (None, None);
    }
    let seen = pace.begun.min(pace.cases.max(1)).max(1);
    let total = float(pace.round_expected_ns) / float(seen) * float(turns);
    if total <= 0.0 {
        let over = pace.begun - u64::from(pace.turn_began_ns.is_some());
        return (Some(float(over) / float(turns)), None);
    }
    let began = pace.turn_began_ns.unwrap_or(now_ns);
    let here = now_ns.saturating_sub(began).min(pace.turn_expected_ns);
    let done = float(pace.spent_expected_ns.saturating_add(here)).min(total);
    let slower = match pace.spent_expected_ns {
        0 => 1.0,
        expected => (float(pace.spent_ns) / float(expected)).clamp(1.0, 100.0),
    };
    // Never quite done before it is said to be.
    (
        Some((done / total).min(0.999)),
        Some(whole((total - done) * slower)),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and what is left is an estimate"
)]
const fn whole(ns: f64) -> u64 {
    ns as u64
}

/// A length of time for people: `12 s`, `1 min 33 s`, `1 h 02 min`. What is begun counts as a second.
#[must_use]
pub fn span(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// One line of at most `width` characters:
/// `[2/8] sign.ecdsa-p256 run 3/5   1,998/s of target 2,000/s   p99 1.83 ms   42 %   12 s left`.
///
/// Where it is too narrow, what stands further right goes first, except for the time left.
#[must_use]
pub fn line(snapshot: &Snapshot, now_ns: u64, width: usize) -> String {
    let progress = Progress::of(snapshot, now_ns);
    let mut parts = vec![place(snapshot)];
    if let Some(current) = &snapshot.current {
        parts.extend(figures(current));
    }
    let ends: Vec<String> = progress
        .percent()
        .into_iter()
        .chain(progress.left())
        .collect();
    let end = ends.join("   ");
    let room = width.saturating_sub(end.chars().count() + 3);
    let mut out = String::new();
    for part in parts {
        let gap = if out.is_empty() { 0 } else { 3 };
        let free = room.saturating_sub(out.chars().count() + gap);
        if out.is_empty() {
            out = fitted(&part, free.max(8));
        } else if part.chars().count() <= free {
            out = format!("{out}   {part}");
        } else {
            break;
        }
    }
    let whole = if end.is_empty() {
        out
    } else {
        format!("{out}   {end}")
    };
    whole.chars().take(width).collect()
}

/// `[2/8] sign.ecdsa-p256 run 3/5`.
pub(super) fn place(snapshot: &Snapshot) -> String {
    match (&snapshot.current, snapshot.stage) {
        (_, Stage::Finished) => {
            let exit = snapshot.exit.as_deref().unwrap_or("done");
            format!("{} cases: {exit}", snapshot.finished_in_all)
        }
        (None, _) => "waiting".to_owned(),
        (Some(current), _) => {
            let cases = snapshot.pace.cases.max(1);
            let runs = match snapshot.pace.runs {
                0 | 1 => String::new(),
                runs => format!(" run {}/{runs}", current.run.saturating_add(1)),
            };
            format!(
                "[{}/{cases}] {}{runs}",
                current.place.saturating_add(1),
                current.id
            )
        }
    }
}

/// The figures of the case that is on, the most telling first.
fn figures(current: &Current) -> Vec<String> {
    let mut out = vec![against(current.rate_per_s, current.target_per_s)];
    if let Some(p99) = current.quantiles.iter().find(|q| q.name == "p99") {
        out.push(format!("p99 {}", nanoseconds(p99.ns)));
    }
    if current.failed > 0 {
        out.push(format!("errors {}", count(current.failed)));
    }
    out
}

/// `1,998/s of target 2,000/s`: what is offered is never shown alone.
#[must_use]
pub fn against(achieved_per_s: Option<f64>, target_per_s: Option<f64>) -> String {
    let achieved = achieved_per_s.map_or_else(|| NONE.to_owned(), rate);
    match target_per_s {
        Some(target) => format!("{achieved} of target {}", rate(target)),
        None => achieved,
    }
}

/// One line about a case that is done: id, rate, quantiles, failures, verdict.
#[must_use]
pub fn finished_line(finished: &Finished) -> String {
    let time = |ns: Option<u64>| ns.map_or_else(|| NONE.to_owned(), nanoseconds);
    let mut out = format!(
        "{}   {}   {} p50 {} p99 {}",
        finished.id,
        against(finished.achieved_per_s, finished.target_per_s),
        finished.times,
        time(finished.p50_ns),
        time(finished.p99_ns)
    );
    if finished.failed > 0 {
        out += &format!("   errors {}", count(finished.failed));
    }
    format!("{out}   {}", finished.verdict)
}

/// Lines for a log or a terminal that cannot be redrawn: cases as they begin and end, remarks, and in
/// between a line of progress every so often.
#[derive(Clone, Debug)]
pub struct Reporter {
    every_ns: u64,
    last_ns: u64,
}

impl Reporter {
    /// At least `every_ns` nanoseconds between two lines of progress.
    #[must_use]
    pub const fn new(every_ns: u64) -> Self {
        Self {
            every_ns,
            last_ns: 0,
        }
    }

    /// What is to be said about `event`, given the snapshot that it led to.
    pub fn tell(&mut self, event: &Event, snapshot: &Snapshot) -> Option<String> {
        let now = snapshot.at_ns;
        match event {
            Event::CaseFinished { case } => Some(finished_line(&Finished::of(case))),
            Event::Remark { .. } => snapshot.remarks.last().cloned(),
            Event::CaseStarted { .. } => {
                self.last_ns = now;
                let left = Progress::of(snapshot, now).left();
                let left = left.map(|left| format!("   {left}")).unwrap_or_default();
                Some(place(snapshot) + &left)
            }
            Event::Block { .. } if now.saturating_sub(self.last_ns) >= self.every_ns => {
                self.last_ns = now;
                Some(line(snapshot, now, 200))
            }
            _ => None,
        }
    }
}
