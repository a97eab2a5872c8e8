//! Checks on the shape of the workspace, each a function from what was read to what is wrong with it.
//!
//! * [`carriers`]: which crates are compiled by what they did at work.
//! * [`graph`]: floors and the direction of dependencies, and who alone may name a dangerous crate.
//! * [`source`]: unsafe code, the clock and the environment, by a look at the text.
//! * [`map`]: `ARCHITECTURE.md` against the manifests.
//! * [`decisions`]: the decisions that comments cite against the page that lists them.
//! * [`tree`]: traces of one machine in any file, and what leans on the folder beside the tree.
//!
//! A check that cannot fail proves nothing, so each has tests on planted mistakes beside it; the tests
//! under `tests/it` run them on this tree. Not here: what clippy and the compiler already refuse.
#![forbid(unsafe_code)]

pub mod carriers;
pub mod decisions;
pub mod graph;
pub mod map;
pub mod source;
pub mod tree;
