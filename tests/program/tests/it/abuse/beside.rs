//! Clients in earnest beside an attack, and what they see of it.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_tls::Protocol;

use crate::fixture::*;

/// One attack at a time: the machine is shared by those who attack, who are attacked, and who measure.
static ALONE: Mutex<()> = Mutex::new(());

pub(super) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A service in its own process, and its home.
pub(super) struct Attacked {
    pub(super) served: Served,
    pub(super) home: Home,
}

impl Attacked {
    pub(super) fn start(home: Home) -> Self {
        let served = Served::start(&home.path());
        Self { served, home }
    }

    pub(super) fn wire(&self, client: &str, protocol: Protocol) -> Wire {
        let tls = self.home.tls(Some(self.home.identity(client)), protocol);
        Wire::connect(self.served.address, tls).unwrap()
    }

    /// What is in the log is whole, and nothing panicked.
    pub(super) fn stop(self) -> Home {
        let told = self.served.stop();
        assert!(!told.contains("panicked"), "{told}");
        self.home.verify();
        self.home
    }

    /// Bytes of memory that it has resident.
    pub(super) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.served.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<u64>().unwrap() * 1024
    }

    /// Carries an attack out while clients in earnest work, and gives back what came of it.
    ///
    /// Their answers are right whatever happens. Their time is asserted as an outcome, ten times what is promised:
    /// a machine that is busy with other tests may hold anybody back once, so a bound that was missed is measured
    /// again, from a new baseline.
    pub(super) fn bears<T>(&self, name: &str, ceiling: u64, attack: impl Fn() -> T + Sync) -> T
    where
        T: Send,
    {
        let _alone = alone();
        let before = self.resident();
        let mut last = None;
        for _ in 0..2 {
            let (quiet, ()) = self.while_clients_work(|| std::thread::sleep(QUIET));
            let (during, done) = self.while_clients_work(&attack);
            let bound = 10 * (2 * quiet.p99()).max(Duration::from_millis(5));
            let grown = during.most_resident.saturating_sub(before);
            println!(
                "{name}: p99 {:.1?} over {} answers, before {:.1?} over {}; {} MiB more in memory",
                during.p99(),
                during.times.len(),
                quiet.p99(),
                quiet.times.len(),
                grown >> 20,
            );
            assert!(grown < ceiling, "{name}: {} MiB more", grown >> 20);
            if during.p99() <= bound {
                return done;
            }
            last = Some((during.p99(), bound));
        }
        panic!("{name}: p99 and its bound, twice missed: {last:?}");
    }

    fn while_clients_work<T: Send>(&self, work: impl FnOnce() -> T + Send) -> (Seen, T) {
        let (stop, most) = (AtomicBool::new(false), AtomicU64::new(0));
        let wires = BOTH.map(|protocol| self.wire(TRADING, protocol));
        std::thread::scope(|scope| {
            let (stop, most) = (&stop, &most);
            let clients = wires.map(|wire| scope.spawn(move || work_until(wire, stop)));
            let watch = scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    most.fetch_max(self.resident(), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let worked = scope.spawn(work).join();
            stop.store(true, Ordering::Relaxed);
            watch.join().unwrap();
            let mut times: Vec<_> = clients
                .into_iter()
                .flat_map(|client| client.join().unwrap())
                .collect();
            times.sort_unstable();
            let most_resident = most.load(Ordering::Relaxed);
            let seen = Seen {
                times,
                most_resident,
            };
            (
                seen,
                worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        })
    }
}

/// What clients in earnest have seen.
struct Seen {
    /// How long each answer took, in order of length.
    times: Vec<Duration>,
    most_resident: u64,
}

impl Seen {
    fn p99(&self) -> Duration {
        let rank = (self.times.len() * 99).div_ceil(100).max(1) - 1;
        self.times.get(rank).copied().unwrap_or(Duration::MAX)
    }
}

/// Seals and opens, and holds every answer against what was asked.
fn work_until(mut wire: Wire, stop: &AtomicBool) -> Vec<Duration> {
    let (clock, mut times) = (Clock::system(), Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let text = format!("number {}", times.len());
        let started = clock.monotonic();
        let sealed = seal(&mut wire, EXCHANGE, text.as_bytes(), b"");
        let between = clock.monotonic();
        let got = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
        assert_eq!(got.status, 200, "{}", got.json());
        assert_eq!(got.binary("plaintext"), text.as_bytes());
        times.push(between.since(started));
        times.push(clock.monotonic().since(between));
        std::thread::sleep(Duration::from_millis(1));
    }
    times
}

/// For how long clients are measured before an attack.
const QUIET: Duration = Duration::from_millis(700);

/// What a server may have in memory beyond what it had, where nothing large is asked for.
pub(super) const CEILING: u64 = 96 << 20;
