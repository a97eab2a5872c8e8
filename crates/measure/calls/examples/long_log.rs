//! How much memory and time a log of any length takes: lines are made on the fly, every one with names, processes,
//! sessions, keys and nonces of its own, and go through the analyser.
//!
//! `cargo run --release -p keywright-calls --example long_log -- 100000000` reads a hundred million lines. After each
//! tenth it says how much memory the process has; the exit code is 3 if that grew by more than 8 MiB between the
//! second tenth and the last.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]

#[path = "../tests/it/endless.rs"]
mod endless;

use std::process::ExitCode;

use endless::{resident, thousand};
use keywright_calls::{Analyzer, Options};
use keywright_clock::Clock;

const ROOM: usize = 8 << 20;

fn main() -> ExitCode {
    let lines = std::env::args()
        .nth(1)
        .map_or(10_000_000, |word| word.parse().unwrap());
    let blocks: u64 = lines / 1000;
    let clock = Clock::system();
    let mut analyzer = Analyzer::new(Options::default());
    let (mut text, mut bytes, mut sizes) = (String::new(), 0, Vec::new());
    for block in 0..blocks {
        thousand(block * 1000, &mut text);
        analyzer.push(text.as_bytes());
        bytes += text.len();
        if (block + 1) % (blocks / 10).max(1) == 0 {
            sizes.push(resident());
            println!(
                "{:>12} lines: {:>4} MiB in memory",
                (block + 1) * 1000,
                resident() >> 20
            );
        }
    }
    analyzer.finish();
    let seconds = clock.monotonic().nanos() as f64 / 1e9;
    let report = analyzer.report();
    println!(
        "{} calls of {} GB in {seconds:.0} s, the making of the lines with them: {:.0} lines a second; {} findings",
        report.total_ops,
        bytes / 1_000_000_000,
        report.total_ops as f64 / seconds,
        report.findings.len()
    );
    match (sizes.get(1), sizes.last()) {
        (Some(early), Some(late)) if late.saturating_sub(*early) > ROOM => ExitCode::from(3),
        _ => ExitCode::SUCCESS,
    }
}
