//! The service over HTTP/2 and mutual TLS.
//!
//! * [`transport`]: sockets, TLS, connections, limits, timeouts and the orderly stop.
//! * [`Application`]: routes and JSON in front of `keywright-service`.
//! * [`probe`]: whether the process lives and is ready, for whoever watches it on its own machine.
//! * [`NullApplication`]: the same TLS, routes, limits and JSON with constant answers, no keys and no
//!   audit: a yardstick of its own mode, never part of a normal server.
//!
//! Not here: who may do what, keys, records (`keywright-service`), and configuration files.
#![forbid(unsafe_code)]

mod application;
mod exchange;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod null;
mod orders;
pub mod probe;
mod seed;
mod streams;
mod timing;
mod traces;
pub mod transport;
mod uses;
mod vault;

pub use application::{Application, Probes, Settings};
pub use gate::Load;
pub use null::NullApplication;
pub use seed::SeedDoor;
pub use timing::Timing;
pub use vault::VaultDoor;
