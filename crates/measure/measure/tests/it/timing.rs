//! What a sample is: an operation alone without the clock's own cost, or a batch that is long enough.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use keywright_clock::{Clock, Hand, WallTime};
use keywright_measure::carry::{Check, Verify};
use keywright_measure::threads::Threads;
use keywright_measure::timer::Timer;
use keywright_measure::{
    Assignment, Carried, Carrier, Fault, FaultPhase, Load, Open, Stop, Window, Worker,
};

/// An operation of this length, on a clock whose readings cost something.
struct Lasting {
    hand: Arc<Hand>,
    nanos: u64,
    reading: u64,
}

impl Worker for Lasting {
    fn operate(&mut self) -> Result<(), Fault> {
        self.repeat(1)
    }

    fn repeat(&mut self, count: u64) -> Result<(), Fault> {
        let nanos = self.nanos * count + self.reading;
        self.hand.advance(Duration::from_nanos(nanos));
        Ok(())
    }

    fn check(&mut self) -> Check {
        Check::Right
    }
}

/// A run of 1000 operations of this length, on a clock with this reading.
fn carried(nanos: u64, reading: u64, load: &Load) -> Carried {
    said(nanos, (reading, reading), load)
}

/// All of a load for as long as `window` says, with nobody looking at outputs.
fn all_of<'a>(
    load: &'a Load,
    window: Window,
    (clock, stop): (&'a Clock, &'a Stop),
) -> Assignment<'a> {
    Assignment {
        load,
        window,
        seed: 1,
        verify: Verify::Off,
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        block: Duration::from_secs(60),
        clock,
        stop,
    }
}

/// The same where the reading is not what calibration says.
fn said(nanos: u64, (reading, calibrated): (u64, u64), load: &Load) -> Carried {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let worker = Lasting {
        hand: Arc::new(hand),
        nanos,
        reading,
    };
    let timer = Timer::known(1, calibrated * 1000, 0);
    let mut threads = Threads::new(vec![Box::new(worker)], timer);
    let stop = Stop::new();
    let assignment = all_of(load, Window::Operations(1000), (&clock, &stop));
    threads.carry(&assignment, &mut |_, _| {}).unwrap()
}

const LOOP: Load = Load::Closed {
    workers: NonZeroU32::MIN,
};

#[test]
fn a_reading_of_the_clock_is_no_part_of_an_operation_that_is_timed_alone() {
    let carried = carried(1000, 27, &LOOP);
    assert_eq!((carried.batch, carried.ledger.counts.sent), (1, 1000));
    let service = &carried.ledger.service;
    assert_eq!((service.min(), service.max()), (Some(1000), Some(1000)));
}

#[test]
fn a_schedule_takes_the_reading_off_as_well_and_nothing_ends_before_it_began() {
    // Each is due before the last one ends, so that nobody waits for a clock that nobody moves.
    let open = Open::constant(1e8, Duration::from_micros(10), NonZeroU32::MIN).unwrap();
    for (nanos, reading, read) in [(1000, (27, 27), 1000), (0, (20, 27), 0)] {
        let carried = said(nanos, reading, &Load::Open(open.clone()));
        let service = &carried.ledger.service;
        assert!(service.count() > 0 && carried.ledger.counts.balance());
        assert_eq!((service.min(), service.max()), (Some(read), Some(read)));
    }
}

#[test]
fn a_batch_reads_what_each_of_its_operations_takes() {
    let carried = carried(10, 20, &LOOP);
    assert!(carried.batch > 1);
    let service = &carried.ledger.service;
    assert_eq!((service.min(), service.max()), (Some(10_000), Some(10_000)));
}

/// An operation that looks whether its thread was made ready, and lasts until the next one is due, so that
/// no schedule is late however slow the machine is.
struct Ready {
    hand: Arc<Hand>,
}

impl Ready {
    const LASTS: Duration = Duration::from_micros(10);
}

thread_local! {
    static MADE_READY: Cell<bool> = const { Cell::new(false) };
}

impl Worker for Ready {
    fn operate(&mut self) -> Result<(), Fault> {
        self.hand.advance(Self::LASTS);
        match MADE_READY.get() {
            true => Ok(()),
            false => Err(Fault::other()),
        }
    }

    fn check(&mut self) -> Check {
        Check::Right
    }
}

#[test]
fn every_thread_is_made_ready_before_its_first_operation_and_the_caller_is_left_alone() {
    let workers = NonZeroU32::new(3).unwrap();
    let closed = Load::Closed { workers };
    let open = Load::Open(Open::constant(1e5, Duration::from_millis(1), workers).unwrap());
    for (load, window, planned) in [
        (&closed, Window::Operations(300), 300),
        (&open, Window::Time(Duration::from_millis(1)), 100),
    ] {
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
        let hand = Arc::new(hand);
        let made = (0..workers.get()).map(|_| -> Box<dyn Worker> {
            Box::new(Ready {
                hand: Arc::clone(&hand),
            })
        });
        let begun = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&begun);
        let mut threads =
            Threads::new(made.collect(), Timer::known(1, 1, 0)).with_begin(Box::new(move || {
                MADE_READY.set(true);
                counter.fetch_add(1, Ordering::Relaxed);
            }));
        let stop = Stop::new();
        let assignment = all_of(load, window, (&clock, &stop));
        let carried = threads.carry(&assignment, &mut |_, _| {}).unwrap();
        let counts = &carried.ledger.counts;
        assert_eq!((counts.sent, counts.error), (planned, 0), "{counts:?}");
        assert_eq!(begun.load(Ordering::Relaxed), workers.get());
        assert!(!MADE_READY.get());
    }
}

fn batch(timer: Timer, nanos: u64) -> u64 {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let mut repeat = |count: u64| {
        hand.advance(Duration::from_nanos(nanos * count));
        Ok(())
    };
    timer.batch(&clock, &mut repeat).unwrap()
}

#[test]
fn short_operations_come_in_batches_that_last_and_whose_cost_is_shared_by_many() {
    let timer = Timer::known(1, 20_000, 0);
    assert_eq!(timer.shortest_sample_ns(), 2000);
    assert_eq!(batch(timer, 420), 1);
    // One less than 21 readings: long enough after five, but five would bear the cost of a sample.
    assert_eq!(batch(timer, 419), 256);
    assert_eq!(batch(timer, 10), 256);
    assert_eq!(batch(timer, 1), 2048);
    // A clock that is coarse needs longer ones.
    assert_eq!(batch(Timer::known(34, 20_000, 0), 10), 4096);
}

#[test]
fn an_operation_that_fails_is_not_made_into_a_batch() {
    let (clock, _) = Clock::simulated(WallTime::from_unix_seconds(0));
    let fault = Fault::new(FaultPhase::Operation, "refused");
    let mut repeat = |_| Err(fault.clone());
    let timer = Timer::known(1, 20_000, 0);
    assert_eq!(timer.batch(&clock, &mut repeat), Err(fault.clone()));
}
