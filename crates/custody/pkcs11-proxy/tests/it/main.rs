//! The recorder as applications meet it: loaded as a module, in processes of their own.
//!
//! Most tests put a module behind it that does nothing (`tests/fake`); those of `judge` put real tokens there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[macro_use]
#[path = "../../src/boundary/table.rs"]
mod table;
#[path = "../fake/word.rs"]
mod word;

mod applications;
mod caller;
mod judge;
mod log;
mod messages;
mod process;
mod secrets;
mod tables;
mod transparency;
mod world;
