//! The service over HTTP/2 and mutual TLS.
//!
//! * [`transport`]: sockets, TLS, connections, limits, timeouts and the orderly stop.
//! * [`Application`]: routes and JSON in front of `keywright-service`.
//! * [`NullApplication`]: the same TLS, routes, limits and JSON with constant answers, no keys and no
//!   audit: a yardstick of its own mode, never part of a normal server.
//!
//! Not here: who may do what, keys, records (`keywright-service`), and configuration files.
#![forbid(unsafe_code)]

mod application;
mod exchange;
mod null;
mod orders;
pub mod transport;
mod uses;
mod vault;

pub use application::{Application, Probes};
pub use null::NullApplication;
pub use vault::VaultDoor;
