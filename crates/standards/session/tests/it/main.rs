//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conversation;
mod crash;
mod disk;
mod downgrade;
mod folders;
mod fuzz;
mod golden;
mod pitfalls;
mod records;
mod scene;
