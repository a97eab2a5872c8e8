//! What `keywright` and `keywright-bench` share at the terminal.
//!
//! * [`exit`]: one table of exit codes, and a failure in two lines; [`output`]: results and failures as text or JSON.
//! * [`completions`], [`man`]: what shells and `man` know of a program.
//! * [`confirm`], [`progress`]: questions before a deed, bars on a terminal.
//! * [`place`]: a home, and TLS for a client of it; [`fpe_backend`]: the backend that the environment asks for.
//! * [`signals`]: signals that end a command in order.
//! * [`token`]: flags for a PKCS#11 module, a token and PINs, and what commands on tokens print.
//! * [`dispatch`]: how one program starts the other.
//!
//! Not here: commands, and anything that measures.
#![forbid(unsafe_code)]
#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    missing_debug_implementations,
    reason = "two programs of this workspace use it, and every failure is printed as it is"
)]

#[macro_use]
pub mod output;

pub mod completions;
pub mod confirm;
pub mod dispatch;
pub mod exit;
pub mod fpe_backend;
pub mod man;
pub mod place;
pub mod progress;
pub mod signals;
pub mod token;
