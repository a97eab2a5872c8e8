//! What tests share.
//!
//! * [`ca`]: a throw-away certificate authority, with clients to let in and clients to refuse.
//! * [`holder`]: a real key holder behind a known capacity, a wait, or a fault.
//! * [`mutate`]: damaged inputs by the thousand.
#![forbid(unsafe_code)]

pub mod ca;
pub mod holder;
pub mod mutate;
