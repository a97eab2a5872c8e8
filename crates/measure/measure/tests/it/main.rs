//! The measurement engine, judged in simulated time and against known truths.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here is a failed test, in the functions that tests share as well"
)]

mod blocks;
mod coverage;
mod gating;
mod hdr;
mod machine;
mod models;
mod recovery;
mod saturation;
mod simulated;
mod stats_changes;
mod stats_coverage;
mod stats_distributions;
mod stats_estimates;
mod stats_models;
mod stats_quantile;
mod stats_random;
mod stats_series;
mod stats_tests;
mod timing;
