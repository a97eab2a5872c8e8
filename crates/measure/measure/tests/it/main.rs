//! The measurement engine, judged in simulated time and against known truths.

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
