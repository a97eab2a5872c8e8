//! The libraries as C programs meet them: installed, linked, run, under sanitisers and valgrind.
//!
//! The programs are in `tests/c`, `examples` and `programs`, and are built with the `cc` of the
//! machine. Where there is none, or no sanitiser or valgrind, the tests say so and are counted as
//! skipped.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod arbitrary;
mod cases;
mod checks;
mod measuring;
mod shipped;
mod workshop;
