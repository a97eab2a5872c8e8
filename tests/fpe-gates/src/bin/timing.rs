//! Times every kernel of the engine with fixed against random plaintexts, the making of a key with fixed
//! against random keys, and the codecs and comparisons that secrets go through. Prints the median of |t| over five repeats of each; it must stay under 4.5, and that
//! of a planted leak must not. The last line counts.
//!
//! `timing [SAMPLES [NAME]]`: measurements of each repeat, 1,000,000 unless given; 20,000 are enough to see
//! that the program works. With a part of a name, only what has it, beside the planted leak. Needs a machine
//! with nothing else to do.
#![expect(clippy::print_stdout, reason = "a program of tests")]

use std::process::ExitCode;

use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::timing::{BOUND, median};
use keywright_fpe_gates::{codecs, kernels};

const REPEATS: usize = 5;

fn main() -> ExitCode {
    let given = std::env::args().nth(1).map(|words| words.parse());
    let (Ok(count), Ok(mut all)) = (given.unwrap_or(Ok(1_000_000_usize)), kernels::all()) else {
        println!("timing: a number of samples, and an engine that takes its keys, are needed");
        return ExitCode::from(2);
    };
    all.extend(codecs::all().into_iter().filter(|timed| !timed.leaks()));
    if let Some(part) = std::env::args().nth(2) {
        all.retain(|timed| timed.leaks() || timed.name().contains(&part));
    }
    println!(
        "{REPEATS} times {count} measurements of each of {} things",
        all.len()
    );
    let mut sequence = Sequence::new(101);
    let (mut passed, mut failed) = (0, 0);
    for timed in &mut all {
        let mut repeat = |_| timed.sample(count, &mut sequence).t();
        let t = median(&core::array::from_fn::<f64, REPEATS, _>(&mut repeat));
        let good = (t > BOUND) == timed.leaks();
        let words = match (timed.leaks(), good) {
            (false, true) => "no difference found",
            (false, false) => "DIFFERENT",
            (true, true) => "found, as it must be",
            (true, false) => "NOT FOUND",
        };
        println!("{:7.2}  {}: {words}", t, timed.name());
        passed += u32::from(good);
        failed += u32::from(!good);
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    }
}
