//! HTTP/2 and HTTP/1.1 over TLS: sockets, connections, limits, timeouts and the orderly stop.
//!
//! One thread per core, each with its own listener on the same port (SO_REUSEPORT), its own
//! single-threaded runtime and its own [`Handler`]; a request never leaves the thread that read
//! it, so nothing on its way takes a lock. The protocol is chosen by ALPN. There is no plaintext,
//! no upgrade and no h2c.
//!
//! Per request the transport costs one reference count, one task and no timer: deadlines are kept
//! in a table that one sweep per thread and quarter of a second looks at ([`SWEEP`]), and only a
//! request that has to wait is entered there.
//!
//! Not here: which certificates are trusted (`keywright-tls` builds the TLS configuration), who a
//! certificate is, routes, JSON, audit records. Those belong to the [`Handler`].
//!
//! An answer in pieces ([`Reply::pieces`]) is made only as the client takes it, and reads the request's body
//! only as it is made: what is under way is a few buffers, whatever comes and however slowly it goes. A
//! connection on which nothing but such answers runs, and none of them has moved for the idle time, is cut.
//!
//! A connection that has shown no certificate takes no place of one that has ([`Limits::connections`]). There are so many
//! of them, so many of one source, and each has so long ([`Limits::unauthenticated_connections`],
//! [`Limits::unauthenticated_per_source`], [`Limits::handshake_timeout`]); who goes when there are more is decided in
//! `pending`. The system is not asked to keep silent connections back (TCP_DEFER_ACCEPT): it would keep them in the same
//! queue as connections that are being opened, where without SYN cookies a flood of them keeps everybody out, and with SYN
//! cookies it passes them on once that queue is full.
//!
//! What stays bounded by the limits alone, and not by time: a client that opens streams, takes
//! answers in small sips over HTTP/2 flow control and keeps asking. It holds at most
//! [`Limits::concurrent_streams`] answers, and of large ones what [`Limits::connection_bytes`] leaves room for.

mod alarm;
mod body;
mod connection;
mod error;
pub mod group;
mod handler;
mod held;
mod listen;
mod pages;
mod pending;
mod records;
mod reply;
mod rest;
mod running;
mod settings;
mod source;
mod stream;
mod sweep;
mod thread;
mod turn;
mod watch;

pub use body::{Body, BodyError, Reserved, Room, read_body};
pub use error::Error;
pub use handler::{Handler, Peer};
pub(crate) use pending::{Handshake, Pending, Stage};
pub use reply::{Aborted, Outlet, Reply, empty, json, reply};
pub use running::{Ended, Running, start};
pub use settings::{Limits, Settings};
pub use sweep::SWEEP;
