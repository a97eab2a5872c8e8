//! What a measurement and its processes say to each other: JSON, a line each.
//!
//! Both ends are the same program, so there is one version and nothing is optional. A line that cannot be
//! read is an error and never a panic all the same: somebody may call a worker by hand.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use keywright_clock::nanos;
use keywright_measure::carry::Verify;
use keywright_measure::document::{BlockRecord, Counts};
use keywright_measure::histogram::Histogram;
use keywright_measure::ledger::Ledger;
use keywright_measure::load::LoadError;
use keywright_measure::{
    Arrival, Assignment, Carried, Fault, FaultPhase, Load, Open, Phase, TargetError, Window,
};
use serde::{Deserialize, Serialize};

/// From the measurement to a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Make these operations ready.
    Make(Work),
    /// Carry a run.
    Carry(Run),
    /// End the run that is under way.
    Stop,
}

/// From a process to the measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The operations are ready.
    Ready,
    /// A block of a run has ended.
    Block(BlockRecord, Box<Books>),
    /// A run has ended.
    Carried(Box<Outcome>),
    /// It cannot be done.
    Refused(Refusal),
}

/// What a process is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    /// Names of operations, their payloads and their weights.
    pub(super) parts: Vec<(String, u64, f64)>,
    pub(super) seed: u64,
    pub(super) workers: NonZeroU32,
    pub(super) folder: PathBuf,
}

/// Rate at the start, rate at the end, nanoseconds.
type Stretch = (f64, f64, u64);

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) workers: NonZeroU32,
    /// Of a schedule: whether operations come independent of each other, and rate at the start, rate at the
    /// end and nanoseconds of each phase.
    schedule: Option<(bool, Vec<Stretch>)>,
    pub(super) operations: Option<u64>,
    nanos: u64,
    pub(super) seed: u64,
    verify: u8,
    timeout: u64,
    drain: u64,
    block: u64,
}

const VERIFY: [Verify; 3] = [Verify::Sample, Verify::All, Verify::Off];

impl Run {
    /// What this assignment asks of one process whose load is `load`.
    pub(super) fn of(assignment: &Assignment<'_>, load: &Load, seed: u64) -> Self {
        let schedule = match load {
            Load::Open(open) => Some((
                open.arrival == Arrival::Poisson,
                open.phases
                    .iter()
                    .map(|phase| {
                        let time = nanos(phase.duration());
                        (phase.start_per_s(), phase.end_per_s(), time)
                    })
                    .collect(),
            )),
            _ => None,
        };
        let limit = assignment.window.limit();
        let verify = VERIFY.iter().position(|one| *one == assignment.verify);
        Self {
            workers: load.cap(),
            schedule,
            operations: limit.operations,
            nanos: limit.nanos.unwrap_or(0),
            seed,
            verify: u8::try_from(verify.unwrap_or(0)).unwrap_or(0),
            timeout: nanos(assignment.timeout),
            drain: nanos(assignment.drain),
            block: nanos(assignment.block),
        }
    }

    pub(super) fn load(&self) -> Result<Load, LoadError> {
        let Some((independent, phases)) = &self.schedule else {
            return Ok(Load::Closed {
                workers: self.workers,
            });
        };
        let phase =
            |(start, end, time): &Stretch| Phase::ramp(*start, *end, Duration::from_nanos(*time));
        Ok(Load::Open(Open {
            arrival: if *independent {
                Arrival::Poisson
            } else {
                Arrival::Constant
            },
            phases: phases.iter().map(phase).collect::<Result<_, _>>()?,
            cap: self.workers,
        }))
    }

    pub(super) fn window(&self) -> Window {
        match self.operations {
            Some(most) => Window::Operations(most),
            None => Window::Time(Duration::from_nanos(self.nanos)),
        }
    }

    pub(super) fn verify(&self) -> Verify {
        VERIFY
            .get(usize::from(self.verify))
            .copied()
            .unwrap_or(Verify::All)
    }

    pub(super) const fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout)
    }

    pub(super) const fn drain(&self) -> Duration {
        Duration::from_nanos(self.drain)
    }

    pub(super) fn block(&self) -> Duration {
        Duration::from_nanos(self.block.max(1_000_000))
    }
}

/// A distribution: its slots, and its exact ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Distribution {
    slots: Vec<(u64, u64)>,
    ends: Option<(u64, u64)>,
}

impl Distribution {
    fn of(histogram: &Histogram) -> Self {
        let ends = histogram.min().zip(histogram.max());
        let slots = histogram.bins().iter_recorded();
        Self {
            slots: slots
                .map(|slot| (slot.value_iterated_to(), slot.count_at_value()))
                .collect(),
            ends,
        }
    }

    /// The same to within a slot's width. The smallest and the largest value are exact.
    fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        let Some((least, most)) = self.ends else {
            return histogram;
        };
        let last = self.slots.len().saturating_sub(1);
        for (place, (value, count)) in self.slots.iter().enumerate() {
            let mut count = *count;
            let mut exact = |end: u64| {
                if count > 0 {
                    histogram.record(end);
                    count -= 1;
                }
            };
            if place == 0 {
                exact(least);
            }
            // A single value is both ends and was counted as the first.
            if place == last {
                exact(most);
            }
            if count > 0 {
                histogram.record_n((*value).min(most).max(least), count);
            }
        }
        histogram
    }
}

/// The books of a run or block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Books {
    counts: Counts,
    response: Distribution,
    service: Distribution,
    lateness: Distribution,
    pacer: Distribution,
    failed: Distribution,
    faults: Vec<(String, String, u64)>,
    shortest_open: Option<u64>,
    last_completed: u64,
    batched: bool,
    deadline: Option<u64>,
    late: u64,
}

const PHASES: [FaultPhase; 6] = [
    FaultPhase::Dial,
    FaultPhase::Operation,
    FaultPhase::Service,
    FaultPhase::Status,
    FaultPhase::Stream,
    FaultPhase::Tls,
];

impl Books {
    pub(super) fn of(ledger: &Ledger) -> Self {
        let fault = |(fault, count): (&Fault, &u64)| {
            let phase = fault.phase().name().to_owned();
            (phase, fault.code().to_owned(), *count)
        };
        Self {
            counts: ledger.counts.clone(),
            response: Distribution::of(&ledger.response),
            service: Distribution::of(&ledger.service),
            lateness: Distribution::of(&ledger.lateness),
            pacer: Distribution::of(&ledger.pacer),
            failed: Distribution::of(&ledger.failed),
            faults: ledger.faults.iter().map(fault).collect(),
            shortest_open: ledger.shortest_open,
            last_completed: ledger.last_completed,
            batched: ledger.batched,
            deadline: ledger.deadline,
            late: ledger.late,
        }
    }

    pub(super) fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::until(self.deadline);
        ledger.counts = self.counts.clone();
        ledger.response = self.response.histogram();
        ledger.service = self.service.histogram();
        ledger.lateness = self.lateness.histogram();
        ledger.pacer = self.pacer.histogram();
        ledger.failed = self.failed.histogram();
        ledger.faults = self.faults();
        ledger.shortest_open = self.shortest_open;
        ledger.last_completed = self.last_completed;
        ledger.batched = self.batched;
        ledger.late = self.late;
        ledger
    }

    fn faults(&self) -> BTreeMap<Fault, u64> {
        let fault = |(name, code, count): &(String, String, u64)| {
            let phase = PHASES.into_iter().find(|phase| phase.name() == name);
            let phase = phase.unwrap_or(FaultPhase::Operation);
            (Fault::new(phase, code.clone()), *count)
        };
        self.faults.iter().map(fault).collect()
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    whole: Books,
    parts: Vec<Books>,
    elapsed_ns: u64,
    rate_per_s: f64,
    by_worker: Vec<u64>,
    in_flight_area: Option<f64>,
    peak_in_flight: u64,
    cpu_ns: Option<u64>,
    batch: u64,
    interrupted: bool,
}

impl Outcome {
    pub(super) fn of(carried: &Carried) -> Self {
        Self {
            whole: Books::of(&carried.ledger),
            parts: carried.parts.iter().map(Books::of).collect(),
            elapsed_ns: carried.elapsed_ns,
            rate_per_s: carried.rate_per_s,
            by_worker: carried.by_worker.clone(),
            in_flight_area: carried.in_flight_area,
            peak_in_flight: carried.peak_in_flight,
            cpu_ns: carried.cpu_ns,
            batch: carried.batch,
            interrupted: carried.interrupted,
        }
    }

    pub(super) fn carried(&self) -> Carried {
        let mut carried = Carried::default();
        carried.ledger = self.whole.ledger();
        carried.parts = self.parts.iter().map(Books::ledger).collect();
        carried.elapsed_ns = self.elapsed_ns;
        carried.rate_per_s = self.rate_per_s;
        carried.by_worker.clone_from(&self.by_worker);
        carried.in_flight_area = self.in_flight_area;
        carried.peak_in_flight = self.peak_in_flight;
        carried.cpu_ns = self.cpu_ns;
        carried.batch = self.batch;
        carried.interrupted = self.interrupted;
        carried
    }
}

/// Why something cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    Failed(String, String, String),
    Unsupported(String, String, String),
    WrongOutput(String, String, String),
    Streams(String, u32, u32),
    System(String),
}

impl From<&TargetError> for Refusal {
    fn from(error: &TargetError) -> Self {
        match error {
            TargetError::Failed {
                target,
                operation,
                reason,
            } => Self::Failed(target.clone(), operation.clone(), reason.clone()),
            TargetError::Unsupported {
                target,
                operation,
                reason,
            } => Self::Unsupported(target.clone(), operation.clone(), reason.clone()),
            TargetError::WrongOutput {
                target,
                operation,
                reason,
            } => Self::WrongOutput(target.clone(), operation.clone(), reason.clone()),
            TargetError::Streams {
                target,
                asked,
                allowed,
            } => Self::Streams(target.clone(), *asked, *allowed),
            other => Self::System(other.to_string()),
        }
    }
}

impl From<Refusal> for TargetError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Failed(target, operation, reason) => Self::Failed {
                target,
                operation,
                reason,
            },
            Refusal::Unsupported(target, operation, reason) => Self::Unsupported {
                target,
                operation,
                reason,
            },
            Refusal::WrongOutput(target, operation, reason) => Self::WrongOutput {
                target,
                operation,
                reason,
            },
            Refusal::Streams(target, asked, allowed) => Self::Streams {
                target,
                asked,
                allowed,
            },
            Refusal::System(reason) => Self::System(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use keywright_measure::dispatch::{Delay, Release};
    use keywright_measure::ledger::{Outcome as Ended, Span};

    use super::*;

    fn books() -> Ledger {
        let mut ledger = Ledger::until(Some(5_000));
        for number in 0..500_u64 {
            let release = Release {
                intended: number,
                delay: if number.is_multiple_of(3) {
                    Delay::Slot
                } else {
                    Delay::Pacer
                },
            };
            let span = Span {
                sent: number + 7,
                completed: number * number + 17,
            };
            let outcome = match number % 50 {
                0 => Ended::Wrong,
                1 => Ended::Failed(Fault::new(FaultPhase::Tls, "handshake")),
                2 => Ended::Unchecked,
                _ => Ended::Verified,
            };
            ledger.ended(release, span, outcome, 200_000);
        }
        ledger.never_sent(4_000, 5_000);
        ledger
    }

    fn sent(books: &Books) -> Books {
        serde_json::from_str(&serde_json::to_string(books).unwrap()).unwrap()
    }

    #[test]
    fn books_come_out_of_the_line_as_they_went_in() {
        let before = books();
        let after = sent(&Books::of(&before)).ledger();
        assert!(after.counts.balance());
        assert_eq!(after.counts, before.counts);
        assert_eq!(after.faults, before.faults);
        assert_eq!(
            (
                after.late,
                after.deadline,
                after.shortest_open,
                after.last_completed
            ),
            (
                before.late,
                before.deadline,
                before.shortest_open,
                before.last_completed
            )
        );
        for (one, other) in [
            (&after.response, &before.response),
            (&after.service, &before.service),
            (&after.lateness, &before.lateness),
            (&after.pacer, &before.pacer),
            (&after.failed, &before.failed),
        ] {
            assert_eq!(one.count(), other.count());
            assert_eq!((one.min(), one.max()), (other.min(), other.max()));
            for share in [0.01, 0.5, 0.9, 0.99, 0.999] {
                let (one, other) = (one.quantile(share).unwrap(), other.quantile(share).unwrap());
                assert!(one.abs_diff(other) * 500 <= other, "{one} {other}");
            }
        }
        // A line written anew says the same.
        assert_eq!(
            Books::of(&after),
            Books::of(&sent(&Books::of(&after)).ledger())
        );
    }

    #[test]
    fn distributions_of_few_values_keep_their_ends() {
        for values in [
            vec![],
            vec![7],
            vec![7, 7],
            vec![1_000_001, 1_000_002],
            vec![5, 900_000],
        ] {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            let after = Distribution::of(&histogram).histogram();
            assert_eq!(after.count(), histogram.count(), "{values:?}");
            assert_eq!(
                (after.min(), after.max()),
                (histogram.min(), histogram.max())
            );
        }
    }

    #[test]
    fn lines_that_nobody_wrote_are_errors_or_harmless() {
        for line in [
            "",
            "{}",
            "null",
            "{\"Carry\":{}}",
            "{\"Make\":{\"parts\":[],\"seed\":-1,\"workers\":0,\"folder\":\"\"}}",
            "\"Go\"",
        ] {
            assert!(serde_json::from_str::<Order>(line).is_err(), "{line}");
        }
        let odd = "{\"counts\":{},\"response\":{\"slots\":[[5,0],[9,18446744073709551615]],\"ends\":[9,1]},\
                   \"service\":{\"slots\":[],\"ends\":[1,2]},\"lateness\":{\"slots\":[],\"ends\":null},\
                   \"pacer\":{\"slots\":[],\"ends\":null},\"failed\":{\"slots\":[],\"ends\":null},\
                   \"faults\":[[\"nowhere\",\"x\",1]],\"shortest_open\":null,\"last_completed\":0,\
                   \"batched\":false,\"deadline\":null,\"late\":0}";
        let books: Books = serde_json::from_str(odd).unwrap();
        drop(books.ledger());
    }

    #[test]
    fn what_a_target_cannot_do_is_still_that_on_the_other_side() {
        let error = TargetError::Unsupported {
            target: "local".to_owned(),
            operation: "x".to_owned(),
            reason: "short of memory".to_owned(),
        };
        assert_eq!(TargetError::from(Refusal::from(&error)), error);
        let error = TargetError::Failed {
            target: "local".to_owned(),
            operation: "x".to_owned(),
            reason: "no randomness".to_owned(),
        };
        assert_eq!(TargetError::from(Refusal::from(&error)), error);
        let error = TargetError::WrongOutput {
            target: "local".to_owned(),
            operation: "x".to_owned(),
            reason: "its first result".to_owned(),
        };
        assert_eq!(TargetError::from(Refusal::from(&error)), error);
        let error = TargetError::Streams {
            target: "service".to_owned(),
            asked: 251,
            allowed: 250,
        };
        assert_eq!(TargetError::from(Refusal::from(&error)), error);
        let error = TargetError::Load("too much");
        assert_eq!(
            TargetError::from(Refusal::from(&error)).to_string(),
            "too much"
        );
    }
}
