//! A token's module in a child process of the service.
//!
//! A module is code of somebody else. In the service's process its memory errors are the service's; in a child they
//! cost the operations in that token, until the child is there again, and nothing else.
//!
//! | here | what |
//! |---|---|
//! | [`TokenProcess`] | the child of one token: started, watched, ended, started again |
//! | [`ChildHolder`] | the holder of keys that stay in its token |
//! | [`ChildRoot`] | a root key in its token |
//! | [`run`] | what the child does |
//!
//! The two speak frames: over a socket pair on the child's standard input the hello, with the PIN, and over pairs of
//! pipes that are handed over there one request at a time each. Requests and replies are `keywright_custody`'s, as bytes.
//! Every frame is bounded before room is made for it, every byte from the child is taken as foreign, and buffers are
//! wiped on both sides after each use. No order waits longer than it may: see [`Settings::patience`].
//!
//! Not here: the calls of the module (`keywright-pkcs11`, in the child), and which program the child is ([`Program`]).
#![forbid(unsafe_code)]

mod answer;
mod channel;
mod descriptor;
mod frame;
mod hello;
mod holder;
mod host;
mod keeper;
mod line;
mod order;
mod part;
mod root;

pub use holder::ChildHolder;
pub use host::run;
pub use keeper::{Cause, Memory, Notice, Program, Settings, StartError, Teller, TokenProcess};
pub use root::ChildRoot;

/// The bodies of fuzz targets.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::answer::fuzz_answer;
    pub use crate::hello::fuzz_hello;
    pub use crate::order::fuzz_order;
    pub use crate::part::fuzz_part;
}

/// Why a process is no token's process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The standard input is not the socket of a service.
    #[error("this command is run by the service alone, which talks to it on its standard input")]
    NoService,
    /// The system refused something that it needs.
    #[error("the system refused the token's process something that it needs")]
    System(#[source] std::io::Error),
}
