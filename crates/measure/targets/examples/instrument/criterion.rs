//! The same code through criterion, which has its own clock, loop and statistics.

use std::path::Path;

use keywright_measure::Window;
use keywright_measure::stats::location::median;
use keywright_measure::threads::Threads;
use serde_json::Value;

use crate::engine::closed;
use crate::sheet::{Line, Sheet, time};
use crate::{Bench, Failure, local};

/// As in the bench `criterion`.
const NAMES: [&str; 2] = ["aead.aes-256-gcm.seal.16", "aead.aes-256-gcm.seal.8k"];
const ROUNDS: usize = 5;

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    for name in NAMES {
        let title = format!("criterion, {name}");
        let theirs = match &bench.criterion {
            None => Err("--criterion does not say where its estimates are".into()),
            Some(folder) => estimate(folder, name),
        };
        match theirs {
            Err(why) => sheet.not_measured(&title, &why.to_string()),
            Ok(theirs) => compare(bench, sheet, (name, &title), theirs)?,
        }
    }
    Ok(())
}

/// The median that criterion found, in nanoseconds.
fn estimate(folder: &Path, name: &str) -> Result<f64, Failure> {
    let file = folder.join(name).join("new").join("estimates.json");
    let bytes = std::fs::read(&file);
    let bytes = bytes.map_err(|_| "the bench `criterion` has not been run")?;
    let estimates: Value = serde_json::from_slice(&bytes)?;
    let median = estimates["median"]["point_estimate"].as_f64();
    median.ok_or_else(|| "its estimates have no median".into())
}

fn compare(
    bench: &Bench,
    sheet: &mut Sheet,
    (name, title): (&str, &str),
    theirs: f64,
) -> Result<(), Failure> {
    let mut threads = Threads::new(vec![local::worker(name)?], bench.engine.timer);
    let window = Window::Time(bench.seconds_of_ten(1.0));
    let mut medians = Vec::new();
    let mut batch = 0;
    for _ in 0..ROUNDS {
        let carried = bench.engine.run(&mut threads, &closed(1), window)?;
        let unit = if carried.batch > 1 { 1000.0 } else { 1.0 };
        let p50 = carried
            .ledger
            .service
            .quantile(0.5)
            .ok_or("nothing was timed")?;
        medians.push(p50 as f64 / unit);
        batch = carried.batch;
    }
    let ours = median(&medians).ok_or("no round")?;
    sheet.judge_quiet(&Line {
        name: title,
        value: format!(
            "{} here, {} there, ratio {:.4}, {batch} at a time",
            time(ours),
            time(theirs),
            ours / theirs
        ),
        bar: "5 %",
        holds: (ours / theirs - 1.0).abs() <= 0.05,
    });
    Ok(())
}
