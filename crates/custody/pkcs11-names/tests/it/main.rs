//! What the crate promises, from the outside.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod header;
mod providers;
mod record;
mod spelling;
