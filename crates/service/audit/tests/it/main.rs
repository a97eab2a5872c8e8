//! The promises of the audit log, one module each.

mod counters;
mod crash;
mod fuzz;
mod golden;
mod heads;
mod kill;
mod orders;
mod records;
mod support;
mod tamper;
mod trouble;
