//! Operations of the registry through criterion, for `examples/instrument` to compare our engine with.
//!
//! Both drive the same worker by `repeat`; the clock, the loop around it and the statistics are
//! criterion's.

#[path = "../examples/instrument/local.rs"]
mod local;

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use criterion::measurement::{Measurement, WallTime};

/// As in `examples/instrument/criterion.rs`.
const NAMES: [&str; 2] = ["aead.aes-256-gcm.seal.16", "aead.aes-256-gcm.seal.8k"];

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut criterion = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_secs(1))
        .configure_from_args();
    for name in NAMES {
        let mut worker = local::worker(name)?;
        let mut failed = None;
        criterion.bench_function(name, |bencher| {
            bencher.iter_custom(|count| {
                let start = WallTime.start();
                let done = worker.repeat(black_box(count));
                let took = WallTime.end(start);
                failed = failed.take().or(done.err());
                took
            });
        });
        if let Some(fault) = failed {
            return Err(fault.to_string().into());
        }
    }
    criterion.final_summary();
    Ok(())
}
