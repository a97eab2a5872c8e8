//! Many tasks on few cores: how long the slowest of a hundred takes.
//!
//! 32 derivations with a kept account are always under way, on as many threads as there are cores; each
//! thread takes the next one when it is done with its own, so no task waits behind one that sleeps. The time
//! of a task is that of its own work; its response is counted from its submission, which is when one of the
//! 32 before it ended.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use keywright_clock::Clock;
use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache, Wanted};
use keywright_hdkey::{PrivateNode, Scheme, Seed, SoftChildren};
use keywright_measure::TargetError;

use super::super::row::Row;
use super::answers::identus;

const TASKS: usize = 32;
const WARM_UP: usize = 1_000;
const SAMPLES: usize = 20_000;

/// Nanoseconds, in ascending order.
struct Times {
    service: Vec<u64>,
    response: Vec<u64>,
}

/// The 99th of 100 service times of 32 tasks, over the median of one.
pub(in super::super) fn tail(row: &Row<'_>) -> Result<f64, TargetError> {
    let one = quantile(&run(row, 1, 1)?.service, 50);
    let many = quantile(&run(row, TASKS, cores())?.service, 99);
    Ok(many / one)
}

/// The median response of one of 32 tasks, in microseconds.
pub(in super::super) fn response(row: &Row<'_>) -> Result<f64, TargetError> {
    Ok(quantile(&run(row, TASKS, cores())?.response, 50) / 1_000.0)
}

/// What that response cannot be less than: tasks over cores, times the median of one task's service.
pub(in super::super) fn response_floor(row: &Row<'_>) -> Result<f64, TargetError> {
    let service = quantile(&run(row, 1, 1)?.service, 50);
    #[expect(clippy::cast_precision_loss, reason = "a few tasks and cores")]
    let share = TASKS as f64 / cores() as f64;
    Ok(service * share / 1_000.0)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn run(row: &Row<'_>, tasks: usize, threads: usize) -> Result<Times, TargetError> {
    let wallet = Wallet::new(row)?;
    for number in 0..WARM_UP {
        wallet.derive(number).map_err(|error| row.fails(error))?;
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let began = wallet.clock.monotonic().nanos();
    let ended: Vec<AtomicU64> = (0..SAMPLES).map(|_| AtomicU64::new(began)).collect();
    let work = || {
        let mut times = Vec::with_capacity(SAMPLES);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(end) = ended.get(number) else {
                return times;
            };
            let before = number
                .checked_sub(tasks)
                .and_then(|before| ended.get(before));
            let submitted = before.map_or(began, |before| before.load(Ordering::Relaxed));
            let start = wallet.clock.monotonic().nanos();
            if wallet.derive(number).is_err() {
                failed.fetch_add(1, Ordering::Relaxed);
            }
            let now = wallet.clock.monotonic().nanos();
            end.store(now, Ordering::Relaxed);
            times.push((now.saturating_sub(start), now.saturating_sub(submitted)));
        }
    };
    let pairs: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, work))
            .collect();
        let mut pairs = Vec::with_capacity(SAMPLES);
        for thread in started {
            // Fewer threads are another load.
            pairs.extend(thread?.join().unwrap_or_default());
        }
        Ok(pairs)
    })
    .map_err(|error: std::io::Error| row.fails(error))?;
    if failed.into_inner() > 0 || pairs.len() != SAMPLES {
        return Err(row.fails("a derivation failed"));
    }
    let sorted = |mut times: Vec<u64>| {
        times.sort_unstable();
        times
    };
    Ok(Times {
        service: sorted(pairs.iter().map(|(service, _)| *service).collect()),
        response: sorted(pairs.iter().map(|(_, response)| *response).collect()),
    })
}

/// One tree of one tenant, as a wallet in use has it.
struct Wallet {
    clock: Clock,
    cache: PrefixCache,
    seed: Seed,
    paths: Vec<keywright_hdkey::Path>,
}

impl Wallet {
    fn new(row: &Row<'_>) -> Result<Self, TargetError> {
        let clock = Clock::system();
        let seed = Seed::raw(&row.seeded().array::<64>()).map_err(|error| row.fails(error))?;
        let cache = PrefixCache::new(clock.clone(), Limits::default());
        let paths: Result<Vec<_>, _> = (0..256).map(|index| identus(row, 0, index)).collect();
        Ok(Self {
            cache: cache.map_err(|error| row.fails(error))?,
            clock,
            seed,
            paths: paths?,
        })
    }

    fn derive(&self, number: usize) -> Result<(), keywright_hdkey::Error> {
        let path = self.paths.get(number % 256);
        let path = path.unwrap_or(const { &keywright_hdkey::Path::ROOT });
        let scheme = Scheme::Bip32Secp256k1;
        let wanted = Wanted {
            owner: Owner {
                tenant: [1; 16],
                tree: [2; 16],
            },
            scheme,
            soft: SoftChildren::Refuse,
            path,
            keep: Keep::Account,
        };
        let node = self
            .cache
            .derive(&wanted, || PrivateNode::root(&self.seed, scheme))?;
        std::hint::black_box(&node);
        Ok(())
    }
}

/// Of times in ascending order: the one at this percentage of their number, as the published comparison
/// counts it.
fn quantile(times: &[u64], percent: usize) -> f64 {
    let place = times.len() * percent / 100;
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a short time")]
    let time = times.get(place).copied().unwrap_or_default() as f64;
    time
}
