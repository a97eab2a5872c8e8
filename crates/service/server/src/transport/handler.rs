//! What the transport asks of the program that answers.

use std::net::SocketAddr;

use http::Response;
use http::request::Parts;
use keywright_service::DropReason;
use keywright_tls::Protocol;
use keywright_types::Code;
use rustls::pki_types::CertificateDer;

use super::{Body, Reply};

/// Who is at the other end of a connection that has just finished its TLS handshake.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain record that tests of handlers build too"
)]
pub struct Peer<'a> {
    /// The address the connection comes from.
    pub address: SocketAddr,
    /// The client's certificate chain, leaf first, as the TLS library accepted it. After a resumed
    /// handshake nobody has verified it again (design 7.27): `accept` must.
    pub certificates: &'a [CertificateDer<'static>],
    /// The protocol of the connection.
    pub protocol: Protocol,
    /// The connection's number: from 1, never used twice by one process.
    pub number: u64,
    /// Whether the handshake resumed an earlier session.
    pub resumed: bool,
}

/// The program behind the transport. Each server thread makes its own and keeps it to itself, so
/// neither it nor its futures need be `Send`; what threads share stands behind an `Arc` inside.
///
/// All methods are called on the server thread, inside its runtime, `closed` perhaps while the
/// runtime is being taken down: it must not spawn.
pub trait Handler: 'static {
    /// What is kept for each connection, made once after the handshake.
    type Connection: 'static;

    /// Decides whether a connection may go on. A refused one is closed at once, without an answer;
    /// counting it is the handler's business.
    ///
    /// # Errors
    /// The reason for the refusal.
    fn accept(&self, peer: Peer<'_>) -> Result<Self::Connection, Code>;

    /// Answers one request. Head and body stay where they are for as long as that takes, so that no future
    /// has to carry them; whoever wants the body for longer takes it ([`Body::take`]).
    ///
    /// The future is dropped when the client cancels the request, when the connection ends, and when
    /// [`Limits::request_timeout`](super::Limits::request_timeout) is over.
    fn respond(
        &self,
        connection: &Self::Connection,
        head: &Parts,
        body: &mut Body,
    ) -> impl Future<Output = Response<Reply>>;

    /// The answer to a request whose `respond` did not end well: [`Code::DeadlineExceeded`] when it
    /// took too long, [`Code::Internal`] when it panicked. Or to one that was not even begun, with
    /// [`Code::Overloaded`]: the connection has as many bytes of bodies and answers in memory as it may.
    fn abandoned(&self, connection: &Self::Connection, code: Code) -> Response<Reply>;

    /// Whether the connection may go on living. Asked at every sweep ([`super::SWEEP`]); `false`
    /// ends the connection at once, running requests and bodies included. It should be a
    /// comparison of an epoch and a time, not a look-up.
    fn still_welcome(&self, connection: &Self::Connection) -> bool;

    /// A connection that did not get as far as `accept`: its TLS handshake failed.
    fn handshake_refused(&self, from: SocketAddr, reason: Code);

    /// A connection that was closed before it got as far as `accept`, because of a limit: it took too long, or there
    /// were too many.
    fn connection_dropped(&self, from: SocketAddr, reason: DropReason) {
        self.handshake_refused(from, reason.code());
    }

    /// The connection and all its requests are gone.
    fn closed(&self, connection: &Self::Connection) {
        let _ = connection;
    }
}
