//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bounds;
mod conversation;
mod copies;
mod forgery;
mod fuzz;
mod golden;
mod judge;
#[cfg(target_os = "linux")]
mod leftovers;
mod rest;
mod scene;
