//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod binding;
mod forgery;
mod fuzz;
mod go;
mod golden;
mod judge;
mod pitfalls;
mod published;
mod refusals;
mod scene;
