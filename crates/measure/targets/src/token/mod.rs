//! Operations of a PKCS#11 token: what a token does for a caller, through `keywright-pkcs11`.
//!
//! The first fourteen rows are those of a published benchmark of tokens, with its payloads: 32 bytes to sign,
//! to encrypt with RSA and to make a code over, 1 KiB to seal and to hash. Rows that it leaves out follow.
//!
//! Keys are made for the measurement as session objects, so nothing is left in the token however the program
//! ends; keys stored in the token are made only if that is asked for, and destroyed again. Each worker has a
//! session of its own; keys are shared by the workers, as those of a service are, or one each. Set-up is not
//! timed: sessions, log-in, keys, inputs, and one operation whose result is looked at before anything counts.
//!
//! Not here: which token and whose PIN (the caller opens a [`TokenPlace`]), and loads other than threads.

mod deeds;
mod inputs;
mod judge;
mod keys;
mod named;
mod place;
mod table;
mod task;
mod worker;

pub use keys::{Sharing, Storage};
pub use named::NamedKey;
pub(crate) use place::of_suite;
pub use place::{Opened, TokenPlace};
pub use table::{OPERATIONS, SEED_ROWS};
pub use task::{Code, Padding, Shape, Signature, Task, Whose};
pub(crate) use worker::worker;

/// The kind of target of every operation here.
pub(crate) const TARGET: &str = "pkcs11";

#[cfg(test)]
mod tests;
