//! The transport over real loopback sockets, with real TLS and clients that are not ours.

mod abuse;
mod answers;
mod fixture;
mod lifetime;
mod limits;
mod turns;
