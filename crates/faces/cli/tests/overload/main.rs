//! What an overloaded service keeps. Tests of their own, because they have deadlines: `scripts/run-tests` runs
//! them when nothing else runs, and cargo runs one program of tests after the other.
#![forbid(unsafe_code)]

#[cfg(test)]
#[expect(dead_code, reason = "the other tests of the program use more of it")]
#[path = "../it/bench.rs"]
mod bench;
#[cfg(test)]
mod bench_overload;
#[cfg(test)]
#[expect(dead_code, reason = "the other tests of the program use more of it")]
#[path = "../it/program.rs"]
mod program;
#[cfg(test)]
#[path = "../it/schema.rs"]
mod schema;
