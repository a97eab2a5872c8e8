//! The promises of the audit log, one module each.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what tests share may fail as tests do"
)]

mod counters;
mod crash;
mod edits;
mod forged;
mod fuzz;
mod golden;
mod heads;
mod kill;
mod orders;
mod records;
mod support;
mod tamper;
mod trouble;
