//! Local operations are measured through the engine as any caller does it: made from the table, driven by
//! threads, and every output looked at.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::document::Counts;
use keywright_measure::threads::Threads;
use keywright_measure::timer::Timer;
use keywright_measure::{Assignment, Carrier, Load, Stop, Window, Worker};
use keywright_targets::local::OPERATIONS;
use keywright_targets::operation::{Make, Setting};

const WORKERS: u32 = 2;

fn workers(name: &str) -> Vec<Box<dyn Worker>> {
    let folder = tempfile::tempdir().unwrap();
    let row = OPERATIONS.iter().find(|row| row.name == name);
    let Make::Worker(make) = row.expect(name).make else {
        panic!("{name} is no worker");
    };
    let made = (0..WORKERS).map(|index| {
        make(&Setting {
            seed: 3,
            index,
            bytes: None,
            folder: folder.path(),
            program: None,
            server_cpu: None,
            fpe_backend: None,
        })
    });
    made.collect::<Result<_, _>>().unwrap()
}

fn counted(name: &str, operations: u64, verify: Verify) -> Counts {
    // Known properties, so that how operations are batched does not depend on the machine.
    let mut threads = Threads::new(workers(name), Timer::known(1, 1, 0));
    let clock = Clock::system();
    let assignment = Assignment {
        load: &Load::Closed {
            workers: NonZeroU32::new(WORKERS).unwrap(),
        },
        window: Window::Operations(operations),
        seed: 3,
        verify,
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        block: Duration::from_secs(1),
        clock: &clock,
        stop: &Stop::new(),
    };
    let carried = threads.carry(&assignment, &mut |_, _| ());
    carried.unwrap().ledger.counts
}

#[test]
fn workers_of_one_operation_run_side_by_side_and_every_output_is_right() {
    for name in [
        "aead.aes-256-gcm.open.1k",
        "agreement.x25519",
        "envelope.seal.64",
        "hash.blake3.1k",
        "mac.hmac-sha256.verify.32",
        "random.32",
        "signature.ed25519.sign",
    ] {
        let counts = counted(name, 301, Verify::All);
        assert_eq!(counts.verified, 301, "{name}");
        assert_eq!((counts.wrong, counts.error), (0, 0), "{name}");
    }
}

#[test]
fn outputs_nobody_looked_at_are_not_called_verified() {
    let counts = counted("hash.sha256.1k", 100, Verify::Off);
    assert_eq!((counts.verified, counts.unverified), (0, 100));
}
