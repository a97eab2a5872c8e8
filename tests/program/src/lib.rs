//! Whole-program tests live in `tests/it`, one module per promise; this library has what a benchmark
//! needs as well: [`load`], the open-loop generator.
//!
//! Beside it stands the program `keywright-served-home`, which serves one home until its input ends. It
//! is what the tests kill, starve and listen to.
#![forbid(unsafe_code)]

pub mod load;
