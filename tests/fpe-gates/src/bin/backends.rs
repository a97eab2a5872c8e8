//! Compares all backends of the machine with the portable one on random records, over all cores.
//!
//! `backends [RECORDS]`: 100,000,000 unless given. Says on standard error how far it is, if that is a terminal.
//! The last line counts; the exit code is 3 if a backend differs.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of tests"
)]

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use keywright_fpe::{Algorithm, Backend};
use keywright_fpe_gates::backends::{compare, others};
use keywright_fpe_gates::sequence::Sequence;

/// How far all threads are.
struct Progress {
    wanted: u64,
    done: AtomicU64,
    differing: Mutex<Vec<String>>,
    shown: bool,
}

impl Progress {
    /// Draws until there are enough records, or one differs.
    fn run(&self, seed: u64) {
        let mut sequence = Sequence::new(seed);
        while self.done.load(Ordering::Relaxed) < self.wanted && self.lock().is_empty() {
            match compare(&mut sequence) {
                Ok(records) => self.add(records),
                Err(words) => self.lock().push(words),
            }
        }
    }

    fn add(&self, records: u64) {
        let before = self.done.fetch_add(records, Ordering::Relaxed);
        let percent = |records: u64| 100 * records / self.wanted;
        let now = percent(before + records).min(100);
        if self.shown && now > percent(before) {
            eprint!("\r{now} of 100");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        let poisoned = |error: std::sync::PoisonError<_>| error.into_inner();
        self.differing.lock().unwrap_or_else(poisoned)
    }
}

fn main() -> ExitCode {
    let given = std::env::args().nth(1).map(|words| words.parse());
    let Ok(wanted @ 1..) = given.unwrap_or(Ok(100_000_000)) else {
        println!("backends: a number of records is needed, at least 1");
        return ExitCode::from(2);
    };
    let progress = Progress {
        wanted,
        done: AtomicU64::new(0),
        differing: Mutex::new(Vec::new()),
        shown: std::io::stderr().is_terminal(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for seed in (201..).take(threads) {
            let progress = &progress;
            scope.spawn(move || progress.run(seed));
        }
    });
    if progress.shown {
        eprintln!();
    }
    let names: Vec<&str> = [Algorithm::Aes, Algorithm::Sm4]
        .into_iter()
        .flat_map(others)
        .map(Backend::name)
        .collect();
    let differing = progress.lock();
    for words in differing.iter() {
        println!("{words}");
    }
    println!(
        "{} records, both ways, {} differences; portable against {}",
        progress.done.load(Ordering::Relaxed),
        differing.len(),
        names.join(", ")
    );
    if differing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    }
}
