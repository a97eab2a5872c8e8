//! Runs the engine under valgrind with keys and digits marked as undefined. A conditional jump or an address
//! that depends on them is an error of the case in which it happens. The last line counts the cases.
#![deny(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program of tests")]

use std::process::ExitCode;

use keywright_fpe::{Algorithm, Backend, Key};
use keywright_fpe_gates::cases::{self, Case};
use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::{memcheck, planted};

#[derive(Default)]
struct Count {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Count {
    /// Counts one call by what memcheck says of it and by whether the value came back.
    fn judge(&mut self, name: &str, call: impl FnOnce() -> Result<bool, String>) {
        let before = memcheck::errors();
        let answer = call();
        let errors = memcheck::errors() - before;
        match answer {
            Ok(true) if errors == 0 => self.passed += 1,
            other => {
                self.failed += 1;
                println!("{name}: {errors} uses of a secret, came back: {other:?}");
            }
        }
    }

    /// Counts one call that memcheck must report.
    fn judge_planted(&mut self, name: &str, call: impl FnOnce()) {
        let before = memcheck::errors();
        call();
        if memcheck::errors() > before {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("{name}: the planted leak was not found");
        }
    }
}

fn words(error: &dyn std::fmt::Display) -> String {
    error.to_string()
}

fn run(case: Case, count: &mut Count, sequence: &mut Sequence) {
    let mut key = None;
    count.judge(&format!("{case}, key"), || {
        key = Some(case.key(sequence).map_err(|error| words(&error))?);
        Ok(true)
    });
    let Some(key) = key else { return };
    count.judge(&format!("{case}, one value of longs"), || {
        case.one::<u32>(&key, sequence).map_err(|e| words(&e))
    });
    if case.digits <= 1_000 {
        every_way(case, &key, count, sequence);
    }
    count.judge(&format!("{case}, wiping"), || {
        drop(key);
        Ok(true)
    });
}

fn every_way(case: Case, key: &Key, count: &mut Count, sequence: &mut Sequence) {
    if case.radix <= 256 {
        count.judge(&format!("{case}, one value"), || {
            case.one::<u8>(key, sequence).map_err(|e| words(&e))
        });
        count.judge(&format!("{case}, batch"), || {
            case.batch::<u8>(key, sequence).map_err(|e| words(&e))
        });
    }
    count.judge(&format!("{case}, one value of words"), || {
        case.one::<u16>(key, sequence).map_err(|e| words(&e))
    });
    count.judge(&format!("{case}, batch of words"), || {
        case.batch::<u16>(key, sequence).map_err(|e| words(&e))
    });
    count.judge(&format!("{case}, one text"), || {
        case.text(key, sequence).map_err(|e| words(&e))
    });
    count.judge(&format!("{case}, batch of texts"), || {
        case.batch_text(key, sequence).map_err(|e| words(&e))
    });
}

fn planted(count: &mut Count) {
    let digits: [u8; 16] = core::array::from_fn(|i| u8::try_from(i % 10).unwrap_or_default());
    memcheck::secret(&digits);
    count.judge_planted("a branch on digits", || {
        core::hint::black_box(planted::branches(&digits));
    });
    count.judge_planted("a table looked up with digits", || {
        core::hint::black_box(planted::looks_up(&digits));
    });
    // For the gate that looks at the instructions of this program; memcheck is silent about divisions.
    let divisor = core::hint::black_box(10);
    core::hint::black_box(planted::divides(77, divisor));
}

fn main() -> ExitCode {
    if !memcheck::is_running() {
        println!("secrets: to be run by valgrind");
        return ExitCode::from(2);
    }
    let mut count = Count::default();
    let mut sequence = Sequence::new(71);
    planted(&mut count);
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        for backend in Backend::ALL {
            if !backend.serves(algorithm) {
                continue;
            }
            if !backend.is_available() {
                println!("skipped: valgrind's processor has no {backend}");
                count.skipped += 1;
                continue;
            }
            let before = count.passed;
            let longest = [cases::longest(algorithm, backend)];
            for case in cases::of(algorithm, backend).into_iter().chain(longest) {
                run(case, &mut count, &mut sequence);
            }
            let passed = count.passed - before;
            println!("{algorithm:?} on {backend}: {passed} calls without a trace of a secret");
        }
    }
    let Count {
        passed,
        failed,
        skipped,
    } = count;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
