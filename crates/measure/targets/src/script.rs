//! A scripted server in real time: a known service time, known places, known faults, and a thread for each
//! caller that waits for it.
//!
//! The simulated server of `keywright-measure` shows that the engine calculates right. This one shows that
//! clocks, threads and schedules do as well: it keeps the same promises, but what it makes callers wait is
//! real. The queue is counted and not kept: whoever comes is told when one of the places will have served
//! them, first come, first served, and waits until then.
//!
//! Waiting is sleep until shortly before the time and then a loop on the clock, so a service time holds
//! within microseconds on a machine with a core to spare. Not here: the generator's own cost per start, which
//! a real generator has without being told.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime, nanos};
use keywright_measure::carry::Check;
use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::simulate::{Server, Service};
use keywright_measure::stats::random::Generator;
use keywright_measure::threads::Threads;
use keywright_measure::timer::Timer;
use keywright_measure::{
    Assignment, Carried, Carrier, Fault, FaultPhase, Load, Stop, TargetError, Window, Worker,
};

/// A scripted server and the threads that call it.
#[derive(Debug)]
pub(crate) struct Scripted {
    desk: Arc<Mutex<Desk>>,
    threads: Threads,
    /// Whether it is known how many operations make a sample.
    calibrated: bool,
}

/// The server as its callers share it.
#[derive(Debug)]
struct Desk {
    server: Server,
    run: Option<Run>,
}

/// What belongs to one run.
#[derive(Debug)]
struct Run {
    clock: Clock,
    stop: Stop,
    start: MonotonicTime,
    /// How long a caller is left without an answer that never comes.
    patience: u64,
    random: Generator,
    /// When each place becomes free, in nanoseconds since the start.
    places: BinaryHeap<Reverse<u64>>,
    taken: u64,
    waiting: u64,
    faults: Faults,
}

/// Whether operations fail as the script says. While samples are calibrated none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Faults {
    None,
    Scripted,
}

/// What a caller is told.
struct Told {
    clock: Clock,
    stop: Stop,
    start: MonotonicTime,
    /// Until when to wait, in nanoseconds since the start.
    until: u64,
    answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Fault(&'static str),
    Right,
    Wrong,
}

impl Scripted {
    /// A server, and as many callers as operations may be in flight.
    pub(crate) fn new(server: &Server, load: &Load, timer: Timer) -> Self {
        let desk = Arc::new(Mutex::new(Desk {
            server: server.clone(),
            run: None,
        }));
        let callers = (0..load.cap().get()).map(|_| {
            Box::new(Caller {
                desk: Arc::clone(&desk),
                last: Answer::Right,
            }) as Box<dyn Worker>
        });
        Self {
            threads: Threads::new(callers.collect(), timer),
            desk,
            calibrated: false,
        }
    }

    fn open(&self, assignment: &Assignment<'_>, faults: Faults) {
        let mut desk = lock(&self.desk);
        let places = desk.server.places.max(1);
        desk.run = Some(Run {
            clock: assignment.clock.clone(),
            stop: assignment.stop.clone(),
            start: assignment.clock.monotonic(),
            // A little longer, so that it is the timeout that ends it.
            patience: assignment.timeout_nanos().saturating_add(1_000_000),
            random: Generator::new(assignment.seed ^ 0x5e17_ab1e),
            places: (0..places).map(|_| Reverse(0)).collect(),
            taken: 0,
            waiting: 0,
            faults,
        });
    }
}

impl Carrier for Scripted {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        if !self.calibrated {
            // Finding out how many operations make a sample would use up every so manyth of the faults.
            self.open(assignment, Faults::None);
            let once = Assignment {
                window: Window::Operations(1),
                ..assignment.clone()
            };
            self.threads.carry(&once, &mut |_, _| {})?;
            self.calibrated = true;
        }
        self.open(assignment, Faults::Scripted);
        self.threads.carry(assignment, block)
    }
}

/// A thread's end of it.
struct Caller {
    desk: Arc<Mutex<Desk>>,
    last: Answer,
}

impl Worker for Caller {
    fn operate(&mut self) -> Result<(), Fault> {
        let told = lock(&self.desk).take();
        let Some(told) = told else {
            return Err(Fault::new(FaultPhase::Service, "not_started"));
        };
        told.wait();
        self.last = told.answer;
        lock(&self.desk).leave();
        match told.answer {
            Answer::Fault(code) => Err(Fault::new(FaultPhase::Service, code)),
            Answer::Right | Answer::Wrong => Ok(()),
        }
    }

    fn check(&mut self) -> Check {
        match self.last {
            Answer::Wrong => Check::Wrong,
            Answer::Fault(_) | Answer::Right => Check::Right,
        }
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    // Whoever panicked has changed counts only.
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    /// One more operation: what becomes of it, and when.
    fn take(&mut self) -> Option<Told> {
        let Self { server, run } = self;
        let run = run.as_mut()?;
        let now = nanos(run.clock.monotonic().since(run.start));
        run.taken += 1;
        let scripted = run.faults == Faults::Scripted;
        let every = |every: u64| scripted && every > 0 && run.taken.is_multiple_of(every);
        let (silent, failing) = (every(server.silent_every), every(server.fault_every));
        let wrong = every(server.wrong_every);
        let full = server.queue > 0 && run.waiting >= server.queue + u64::from(server.places);
        let (until, answer) = if silent {
            (now.saturating_add(run.patience), Answer::Fault("silent"))
        } else if failing {
            (now, Answer::Fault("scripted"))
        } else if full {
            (now, Answer::Fault("overloaded"))
        } else {
            let answer = if wrong { Answer::Wrong } else { Answer::Right };
            (run.serve(server, now), answer)
        };
        run.waiting += 1;
        Some(Told {
            clock: run.clock.clone(),
            stop: run.stop.clone(),
            start: run.start,
            until,
            answer,
        })
    }

    fn leave(&mut self) {
        if let Some(run) = &mut self.run {
            run.waiting = run.waiting.saturating_sub(1);
        }
    }
}

impl Run {
    /// Takes the place that is free first; gives when it will have served.
    fn serve(&mut self, server: &Server, now: u64) -> u64 {
        let length = match server.service {
            Service::Fixed(time) => nanos(time),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive time; the cast saturates"
            )]
            Service::Exponential(mean) => {
                self.random.exponential(mean.as_nanos() as f64).round() as u64
            }
            _ => 0,
        };
        let free = self.places.pop().map_or(0, |Reverse(free)| free);
        let done = through_freezes(server, now.max(free), length);
        self.places.push(Reverse(done));
        done
    }
}

/// When work of `length` that starts at `start` is done: freezes push it back, in the order of time.
fn through_freezes(server: &Server, start: u64, length: u64) -> u64 {
    let mut freezes: Vec<(u64, u64)> = server
        .freezes
        .iter()
        .map(|(from, lasts)| (nanos(*from), nanos(*lasts)))
        .collect();
    freezes.sort_unstable();
    let mut done = start.saturating_add(length);
    for (from, lasts) in freezes {
        let until = from.saturating_add(lasts);
        if start < until && done > from {
            // What was done before the freeze stays done.
            done = done.saturating_add(until - start.max(from));
        }
    }
    done
}

/// A sleeper wakes this late at most, as a rule.
const SPIN_NS: u64 = 200_000;
/// A wish to end is looked for this often.
const LOOK_NS: u64 = 20_000_000;

impl Told {
    fn wait(&self) {
        loop {
            let now = nanos(self.clock.monotonic().since(self.start));
            if now >= self.until || self.stop.is_asked() {
                return;
            }
            let left = self.until - now;
            if left > SPIN_NS {
                std::thread::sleep(Duration::from_nanos((left - SPIN_NS).min(LOOK_NS)));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use keywright_measure::carry::Verify;
    use keywright_measure::document::Counts;

    use super::*;

    const SHORT: Duration = Duration::from_micros(50);

    fn carried(server: &Server, workers: u32, operations: u64, runs: u32) -> Vec<Carried> {
        let clock = Clock::system();
        let load = Load::Closed {
            workers: NonZeroU32::new(workers).unwrap(),
        };
        // A busy machine may hold a thread back for longer than callers that are to give up are patient.
        let gives_up = server.silent_every > 0 || !server.freezes.is_empty();
        let timeout = Duration::from_millis(if gives_up { 300 } else { 10_000 });
        let mut scripted = Scripted::new(server, &load, Timer::known(1, 1, 0));
        let assignment = Assignment {
            load: &load,
            window: Window::Operations(operations),
            seed: 1,
            verify: Verify::All,
            timeout,
            drain: Duration::from_secs(5),
            block: Duration::from_secs(1),
            clock: &clock,
            stop: &Stop::new(),
        };
        let run = |_| scripted.carry(&assignment, &mut |_, _| {}).unwrap();
        (0..runs).map(run).collect()
    }

    fn counts(server: &Server, operations: u64) -> Counts {
        carried(server, 1, operations, 1).remove(0).ledger.counts
    }

    fn server() -> Server {
        Server {
            service: Service::Fixed(SHORT),
            ..Server::default()
        }
    }

    #[test]
    fn no_operation_takes_less_than_the_script_says_and_all_of_them_are_right() {
        for runs in carried(&server(), 2, 40, 2) {
            let counts = &runs.ledger.counts;
            assert_eq!((counts.sent, counts.verified), (40, 40));
            assert!(runs.ledger.service.min().unwrap() >= nanos(SHORT));
        }
        // Two callers of one place: the second waits for the first.
        let sum: f64 = carried(&server(), 2, 40, 1)
            .iter()
            .map(|run| run.elapsed_ns as f64)
            .sum();
        assert!(sum >= 40.0 * nanos(SHORT) as f64);
    }

    #[test]
    fn every_so_manyth_output_is_wrong_and_every_so_manyth_operation_fails() {
        let wrong = Server {
            wrong_every: 10,
            ..server()
        };
        // The count begins anew with each run, and calibration takes none of it.
        for run in carried(&wrong, 1, 35, 3) {
            assert_eq!(
                (run.ledger.counts.wrong, run.ledger.counts.verified),
                (3, 32)
            );
        }
        let failing = counts(
            &Server {
                fault_every: 7,
                ..server()
            },
            35,
        );
        assert_eq!((failing.error, failing.verified), (5, 30));
    }

    #[test]
    fn an_operation_that_is_never_answered_times_out_and_a_freeze_holds_up_what_is_in_it() {
        let silent = counts(
            &Server {
                silent_every: 4,
                ..server()
            },
            9,
        );
        assert_eq!((silent.timeout, silent.verified), (2, 7));
        // Longer than the callers' patience, so that whoever comes first gives up.
        let frozen = Server {
            freezes: vec![(Duration::ZERO, Duration::from_secs(1))],
            ..server()
        };
        let held = counts(&frozen, 3);
        assert_eq!((held.timeout, held.verified), (1, 2));
    }

    #[test]
    fn freezes_add_up_whatever_order_they_are_written_in() {
        let ms = Duration::from_millis;
        let mut frozen = Server {
            freezes: vec![(ms(10), ms(5)), (ms(2), ms(3))],
            ..server()
        };
        let done = through_freezes(&frozen, 1_000_000, 8_000_000);
        frozen.freezes.reverse();
        assert_eq!(through_freezes(&frozen, 1_000_000, 8_000_000), done);
        assert_eq!(done, 1_000_000 + 8_000_000 + 3_000_000 + 5_000_000);
        assert_eq!(through_freezes(&frozen, 20_000_000, 7), 20_000_007);
    }
}
