//! One module per promise.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod argon2;
mod fuzz;
mod golden;
mod profiles;
mod refusals;
