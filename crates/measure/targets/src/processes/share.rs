//! A load divided among processes, and what they made of it put together again.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::series::record;
use keywright_measure::{Arrival, Assignment, Carried, Load, Open, Phase, TargetError};

use super::wire::Run;

/// Seeds of processes lie this far apart, so that no two do the same work.
const APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// The seed of the process of this number.
pub(super) const fn seed(seed: u64, number: u32) -> u64 {
    seed.wrapping_add((number as u64).wrapping_mul(APART))
}

/// What each process is told; nothing for one that has no operation to do.
pub(super) fn runs(
    assignment: &Assignment<'_>,
    processes: NonZeroU32,
) -> Result<Vec<Option<Run>>, TargetError> {
    let load = divided(assignment.load, processes)?;
    let share = |number: u32| {
        let mut run = Run::of(assignment, &load, seed(assignment.seed, number));
        if let Some(operations) = &mut run.operations {
            let count = u64::from(processes.get());
            let more = u64::from(u64::from(number) < *operations % count);
            *operations = *operations / count + more;
        }
        (run.operations != Some(0)).then_some(run)
    };
    Ok((0..processes.get()).map(share).collect())
}

/// The load of one of several processes.
pub(super) fn divided(load: &Load, processes: NonZeroU32) -> Result<Load, TargetError> {
    let each = NonZeroU32::new(load.cap().get() / processes).ok_or(TargetError::Load(
        "fewer operations in flight than processes",
    ))?;
    let Load::Open(open) = load else {
        return Ok(Load::Closed { workers: each });
    };
    if open.arrival != Arrival::Poisson {
        // Even distances in each process are heaps in all of them together.
        return Err(TargetError::Load(
            "constant schedules of several processes would start together; poisson ones do not",
        ));
    }
    let count = f64::from(processes.get());
    let phase = |phase: &Phase| {
        let (start, end) = (phase.start_per_s() / count, phase.end_per_s() / count);
        Phase::ramp(start, end, phase.duration())
    };
    let phases: Result<Vec<_>, _> = open.phases.iter().map(phase).collect();
    Ok(Load::Open(Open {
        arrival: open.arrival,
        phases: phases.map_err(|_| TargetError::Load("a share of the rate is no rate"))?,
        cap: each,
    }))
}

/// Runs of several processes as one. Each counted for itself over its own time, so rates add up.
pub(super) fn joined(runs: Vec<Carried>) -> Carried {
    let mut all = Carried::default();
    let mut area = Some(0.0);
    let mut cpu = Some(0);
    for run in runs {
        if all.ledger.counts.planned == 0 {
            all.ledger.deadline = run.ledger.deadline;
        }
        all.ledger.merge(&run.ledger);
        for (place, part) in run.parts.iter().enumerate() {
            match all.parts.get_mut(place) {
                Some(known) => known.merge(part),
                None => all.parts.push(part.clone()),
            }
        }
        all.elapsed_ns = all.elapsed_ns.max(run.elapsed_ns);
        all.rate_per_s += run.rate_per_s;
        all.by_worker.extend(run.by_worker);
        area = area.zip(run.in_flight_area).map(|(sum, one)| sum + one);
        cpu = cpu
            .zip(run.cpu_ns)
            .map(|(sum, one): (u64, u64)| sum.saturating_add(one));
        all.peak_in_flight += run.peak_in_flight;
        all.batch = all.batch.max(run.batch);
        all.interrupted |= run.interrupted;
    }
    (all.in_flight_area, all.cpu_ns) = (area, cpu);
    all
}

/// Blocks of several processes, until all of them have told of theirs.
#[derive(Debug)]
pub(super) struct Blocks {
    waiting: Vec<VecDeque<(BlockRecord, Ledger)>>,
    over: Vec<bool>,
}

impl Blocks {
    pub(super) fn new(processes: usize) -> Self {
        Self {
            waiting: (0..processes).map(|_| VecDeque::new()).collect(),
            over: vec![false; processes],
        }
    }

    pub(super) fn told(&mut self, process: usize, record: BlockRecord, ledger: Ledger) {
        if let Some(queue) = self.waiting.get_mut(process) {
            queue.push_back((record, ledger));
        }
    }

    /// Nothing more comes from this process.
    pub(super) fn over(&mut self, process: usize) {
        if let Some(over) = self.over.get_mut(process) {
            *over = true;
        }
    }

    /// The next block of all of them together, if all have told of theirs.
    pub(super) fn next(&mut self) -> Option<(BlockRecord, Ledger)> {
        let pairs = self.waiting.iter().zip(&self.over);
        let mut late = pairs.filter(|(queue, over)| queue.is_empty() && !**over);
        if late.next().is_some() {
            return None;
        }
        let fronts: Vec<_> = self
            .waiting
            .iter_mut()
            .filter_map(VecDeque::pop_front)
            .collect();
        let (first, _) = fronts.first()?;
        let start = first.start_ns;
        let mut ledger = Ledger::new();
        let (mut longest, mut in_flight) = (0, 0);
        for (record, books) in &fronts {
            ledger.merge(books);
            longest = longest.max(record.duration_ns);
            in_flight += record.in_flight;
        }
        Some((record(&ledger, start, longest, in_flight), ledger))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keywright_clock::Clock;
    use keywright_measure::carry::Verify;
    use keywright_measure::dispatch::{Delay, Release};
    use keywright_measure::ledger::{Outcome, Span};
    use keywright_measure::{Stop, Window};

    use super::*;

    fn count(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn shared(
        load: &Load,
        window: Window,
        processes: u32,
    ) -> Result<Vec<Option<Run>>, TargetError> {
        let assignment = Assignment {
            load,
            window,
            seed: 9,
            verify: Verify::All,
            timeout: Duration::from_secs(1),
            drain: Duration::from_secs(2),
            block: Duration::from_secs(1),
            clock: &Clock::system(),
            stop: &Stop::new(),
        };
        runs(&assignment, count(processes))
    }

    fn open(arrival: Arrival, rate: f64, cap: u32) -> Load {
        Load::Open(Open {
            arrival,
            phases: vec![Phase::ramp(rate, 2.0 * rate, Duration::from_secs(3)).unwrap()],
            cap: count(cap),
        })
    }

    #[test]
    fn every_operation_is_given_to_one_process_and_seeds_differ() {
        let load = Load::Closed { workers: count(8) };
        for (most, processes) in [(10, 4), (8, 8), (1, 4), (1000, 3)] {
            let runs = shared(&load, Window::Operations(most), processes).unwrap();
            assert_eq!(runs.len(), processes as usize);
            let given: u64 = runs.iter().flatten().filter_map(|run| run.operations).sum();
            assert_eq!(given, most);
            let mut seeds: Vec<u64> = runs.iter().flatten().map(|run| run.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            assert_eq!(seeds.len(), runs.iter().flatten().count());
        }
    }

    #[test]
    fn threads_and_rates_are_divided_and_what_cannot_be_is_refused() {
        let time = Window::Time(Duration::from_secs(3));
        let load = open(Arrival::Poisson, 1000.0, 8);
        let runs = shared(&load, time, 4).unwrap();
        for run in runs.iter().flatten() {
            let Load::Open(share) = run.load().unwrap() else {
                panic!("a schedule stays one");
            };
            assert_eq!(share.cap, count(2));
            let phase = &share.phases[0];
            assert_eq!((phase.start_per_s(), phase.end_per_s()), (250.0, 500.0));
            assert_eq!(phase.duration(), Duration::from_secs(3));
            assert_eq!((run.window(), run.verify()), (time, Verify::All));
        }
        let refused = |load: &Load, processes| shared(load, time, processes).unwrap_err();
        assert!(matches!(
            refused(&open(Arrival::Constant, 1000.0, 8), 4),
            TargetError::Load(_)
        ));
        let few = Load::Closed { workers: count(3) };
        assert!(matches!(refused(&few, 4), TargetError::Load(_)));
    }

    fn run(operations: u64, rate: f64) -> Carried {
        let mut carried = Carried::default();
        for number in 0..operations {
            let release = Release {
                intended: 0,
                delay: Delay::Pacer,
            };
            let span = Span {
                sent: 0,
                completed: 10 + number,
            };
            carried
                .ledger
                .ended(release, span, Outcome::Verified, u64::MAX);
        }
        carried.rate_per_s = rate;
        carried.elapsed_ns = operations;
        carried.by_worker = vec![operations];
        carried.batch = 1;
        carried.cpu_ns = Some(operations);
        carried
    }

    #[test]
    fn what_processes_did_adds_up() {
        let all = joined(vec![run(30, 3.0), run(50, 5.0), Carried::default()]);
        assert_eq!(
            (all.ledger.counts.sent, all.ledger.service.count()),
            (80, 80)
        );
        assert!(all.ledger.counts.balance());
        assert_eq!((all.elapsed_ns, all.batch), (50, 1));
        assert!((all.rate_per_s - 8.0).abs() < 1e-9);
        assert_eq!(all.by_worker, [30, 50]);
        // One of them did not say what it took.
        assert_eq!(all.cpu_ns, None);
        assert_eq!(joined(vec![run(1, 1.0), run(2, 1.0)]).cpu_ns, Some(3));
    }

    #[test]
    fn a_block_is_told_of_when_all_have_told_of_theirs() {
        let mut blocks = Blocks::new(2);
        let block = |done| {
            let ledger = run(done, 1.0).ledger;
            (record(&ledger, 0, 1_000, 1), ledger)
        };
        let (one, books) = block(3);
        blocks.told(0, one.clone(), books.clone());
        blocks.told(0, one, books);
        assert!(blocks.next().is_none());
        let (two, books) = block(4);
        blocks.told(1, two, books);
        let (record, ledger) = blocks.next().unwrap();
        assert_eq!(
            (record.done, record.in_flight, ledger.counts.sent),
            (7, 2, 7)
        );
        // The second process had a block less.
        assert!(blocks.next().is_none());
        blocks.over(1);
        assert_eq!(blocks.next().unwrap().0.done, 3);
        blocks.over(0);
        assert!(blocks.next().is_none());
    }
}
