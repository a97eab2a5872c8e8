//! One module per promise.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod batches;
mod caching;
mod fuzz;
mod interop;
mod pitfalls;
mod profiles;
mod published;
mod refusals;
mod rules;
mod scene;
mod secrecy;
mod shares;
#[cfg(feature = "vault")]
mod vault;
mod wycheproof;
