//! The embedded key holder: a root key in a file under a password, and everything else under it.
//!
//! Root -> tenant keys -> version keys; each is an envelope of kind 2 under its parent, sealed over
//! its fixed attributes (design 7.12). `root` is the file (7.10), [`Keystore`] the holder.
//!
//! Keys are unwrapped when they are first used, into a bounded arena of locked memory; when it is
//! full, the one that was not used for longest makes room. The crypto backend keeps key schedules on
//! its own heap, which is why a process that serves also calls `keywright_secret::locked::lock_process`.
//!
//! Not here: who may use a key, and where rows are stored.
#![forbid(unsafe_code)]

mod cache;
mod formats;
#[doc(hidden)]
pub mod fuzzing;
mod holder;
pub mod macs;
mod messages;
mod pairs;
mod readers;
mod root;
mod trees;
mod uses;
mod working;

pub use holder::{Keystore, ServiceKey};
pub use root::{Error, Root};
