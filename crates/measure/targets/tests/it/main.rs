//! What can be measured, measured: one module per kind of target.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what fails here is a failed test, in the functions that tests share as well"
)]

mod http_books;
mod http_echo;
mod http_lost;
mod http_server;
mod local;
mod service;
mod store;
mod store_real;
mod store_refused;
mod suite;
