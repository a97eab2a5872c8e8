//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fuzz;
mod golden;
mod paths;
mod recipients;
mod refusals;
mod scene;
