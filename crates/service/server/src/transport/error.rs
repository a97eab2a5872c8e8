//! Why a server did not start, or did not end as it should.

use std::io;
use std::net::SocketAddr;

/// What can go wrong around a server, as opposed to inside one of its connections.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is not one of this machine's.
    #[error("address {addr} is not available on this machine")]
    AddressUnavailable {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// The operating system forbids this address or port.
    #[error("no permission to listen on {addr}")]
    PermissionDenied {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// Another socket listens there already.
    #[error("{addr} is already in use")]
    PortInUse {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// Another failure of the sockets or of their options.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// A thread or its runtime could not be made.
    #[error("cannot start a server thread")]
    Thread(#[source] io::Error),
    /// A server thread panicked: a bug of ours.
    #[error("a server thread panicked")]
    ThreadPanicked,
}
