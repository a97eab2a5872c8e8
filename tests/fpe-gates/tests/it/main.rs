//! The gates themselves, on small inputs.
#![deny(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agreement;
mod backends;
mod codecs;
mod disassembly;
mod document;
mod timing;
