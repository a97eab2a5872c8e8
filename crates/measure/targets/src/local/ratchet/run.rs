//! Figures of whole runs: threads beside each other, and time along a chain.

use keywright_clock::Clock;
use keywright_measure::TargetError;
use keywright_ratchet::Error;

use super::super::row::Row;
use super::Pair;

/// Messages of a thread between two readings of the clock.
const MESSAGES: usize = 20_000;
/// Sessions of a thread.
const SESSIONS: usize = 64;
/// How often one and two threads take turns; the median counts.
const ROUNDS: usize = 5;

/// Messages and sessions of the run along a chain.
const LENGTH: usize = 1_000;
const CHAINS: usize = 60;
/// Messages at either end of it that are compared; the very first ones find cold caches.
const END: usize = 200;
const COLD: usize = 20;

/// The rate of two threads over that of one, each thread with sessions of its own.
pub(in super::super) fn scaling(row: &Row<'_>) -> Result<f64, TargetError> {
    let clock = Clock::system();
    let mut threads = [sessions(row)?, sessions(row)?];
    let text = row.seeded().bytes(row.bytes);
    let mut carried = |count: usize| {
        let began = clock.monotonic().nanos();
        let done = std::thread::scope(|scope| {
            let running: Vec<_> = threads
                .iter_mut()
                .take(count)
                .map(|pairs| {
                    std::thread::Builder::new().spawn_scoped(scope, || carry(pairs, &text))
                })
                .collect();
            running.into_iter().all(|thread| {
                thread.is_ok_and(|thread| thread.join().is_ok_and(|done| done.is_ok()))
            })
        });
        let taken = clock.monotonic().nanos().saturating_sub(began);
        done.then_some(taken)
            .ok_or_else(|| row.fails("a message did not arrive, or the system gave no thread"))
    };
    carried(2)?;
    let mut ratios = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let (one, two) = (carried(1)?, carried(2)?);
        ratios.push(2.0 * float(one) / float(two));
    }
    Ok(median(&mut ratios))
}

fn sessions(row: &Row<'_>) -> Result<Vec<Pair>, TargetError> {
    (0..SESSIONS).map(|_| Pair::acquainted(row)).collect()
}

fn carry(pairs: &mut [Pair], text: &[u8]) -> Result<(), Error> {
    let mut out = vec![0; text.len()];
    for _ in 0..MESSAGES / SESSIONS {
        for pair in &mut *pairs {
            pair.carry(text, &mut out)?;
        }
    }
    Ok(())
}

/// The time of a message at the end of a run in one direction, over that of one at its beginning: medians over
/// places, each of which is the median over sessions.
pub(in super::super) fn trend(row: &Row<'_>) -> Result<f64, TargetError> {
    let clock = Clock::system();
    let text = row.seeded().bytes(row.bytes);
    let mut out = vec![0; row.bytes];
    let mut places = vec![Vec::new(); LENGTH];
    for _ in 0..CHAINS {
        let mut pair = Pair::acquainted(row)?;
        for place in &mut places {
            let began = clock.monotonic().nanos();
            let carried = pair.carry(&text, &mut out);
            let taken = clock.monotonic().nanos().saturating_sub(began);
            carried.map_err(|error| row.fails(error))?;
            place.push(float(taken));
        }
    }
    let mut medians: Vec<f64> = places.iter_mut().map(|place| median(place)).collect();
    let last = median(&mut medians[LENGTH - END..]);
    let first = median(&mut medians[COLD..COLD + END]);
    Ok(last / first)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a short time")]
const fn float(nanos: u64) -> f64 {
    nanos as f64
}
