//! One module per promise.
#![forbid(unsafe_code)]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod fuzz;
mod golden;
mod page;
mod prekeys;
mod refusals;
mod sizes;
