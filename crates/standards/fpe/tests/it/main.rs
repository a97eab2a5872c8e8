//! One module per promise.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod batches;
mod footprint;
mod golden;
mod halves;
mod interop;
mod judge;
mod permutation;
mod properties;
mod published;
mod refusals;
mod scene;
mod sources;
mod texts;
