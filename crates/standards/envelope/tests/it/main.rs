//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod batches;
mod collision;
mod fuzz;
mod golden;
mod published;
mod refusals;
mod scene;
mod streams;
