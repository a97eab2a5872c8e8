//! A carrier of load over HTTP: one event loop, N connections with M streams each.
//!
//! The third driver of [`keywright_measure::dispatch`], beside threads and the simulation. One thread runs
//! one event loop. [`Lines`] are the connections (HTTP/2 or HTTP/1.1 over TLS with a client certificate),
//! an [`Exchange`] makes requests and judges answers, and [`Carrier`] joins the two.
//!
//! **Starts.** No timer decides one. The loop's timer, which knows milliseconds only, ends a sleep about
//! 1.5 ms before an operation is due; from there the loop looks at the clock between looks at the sockets
//! and releases everything that is due in one go. A load that is dense therefore keeps one core busy.
//!
//! **Stamps.** Sent is read when the request is handed to the connection. Completed is read once for all
//! answers that a turn of the loop finds, before any of them is looked at. The gauge of operations in
//! flight reads the clock for itself.
//!
//! **Outputs.** What can be compared is compared at once, after the stamp. What needs another request to
//! be judged (a ciphertext is judged by decrypting it) is asked about by a request that is neither timed
//! nor counted: of a sample after the end of the run, as far as 4 MiB of outputs can be kept, and
//! otherwise at once, in the place of the operation, which stays taken meanwhile.
//!
//! **Lost connections** are dialled again, at growing distances while they bring no answer. An operation
//! that needs a lost connection waits for the next attempt and fails with it.
//!
//! Not here: several threads, pipelining in HTTP/1.1, a pool that hides its connections.

mod books;
mod carrier;
mod dial;
mod endpoint;
mod exchange;
mod failure;
mod flight;
mod line;
mod process;
mod ready;
mod run;
mod settle;
mod slot;
mod step;

pub use carrier::{Carrier, Lines};
pub use endpoint::{Endpoint, Prepared};
pub use exchange::{Call, Draw, Exchange, Look, Reply, Step, service_fault};
pub use process::Process;
