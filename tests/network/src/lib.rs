//! Peers for tests of the network.
//!
//! * [`ca`]: a throw-away certificate authority, with clients to let in and clients to refuse.
//! * [`collector`]: a collector of OpenTelemetry, with good manners or bad ones.
//! * [`frames`]: HTTP/2 by hand, for what no client sends.
#![forbid(unsafe_code)]

pub mod ca;
pub mod collector;
pub mod frames;
