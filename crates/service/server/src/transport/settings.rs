//! Where the service listens and what it puts up with.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use keywright_clock::Clock;

/// What [`start`](super::start) needs to know.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever starts a server must decide each of these"
)]
pub struct Settings {
    /// The address. Port 0 takes a free one; see [`Running::local_addr`](super::Running::local_addr).
    pub listen: SocketAddr,
    /// Number of server threads; 0 takes one per core.
    pub threads: usize,
    /// The TLS configuration. A new one put here holds for every handshake that begins after.
    pub tls: Arc<ArcSwap<rustls::ServerConfig>>,
    /// The limits.
    pub limits: Limits,
    /// What tells when requests are begun: the handler's own, which measures from there on.
    pub clock: Clock,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("listen", &self.listen)
            .field("threads", &self.threads)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// How much, how many and how long. Times are kept to within two sweeps
/// ([`SWEEP`](super::SWEEP)); never shorter than stated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain numbers, read from a configuration with defaults beneath"
)]
pub struct Limits {
    /// Bytes of all header fields of one request; more is answered 431. Default 64 KiB, at least
    /// 8 KiB.
    pub header_bytes: u32,
    /// Number of header fields of one HTTP/1.1 request; more is answered 431. Default 64.
    pub header_fields: usize,
    /// From the first byte of a request's head to its last; over HTTP/2 also from the first byte of
    /// any frame but DATA to its last, and from the handshake to the end of the preface. Then the
    /// connection ends. Default 5 s.
    pub header_timeout: Duration,
    /// Bytes of a request's body; the handler passes this or less to
    /// [`read_body`](super::read_body). Default 16 MiB.
    pub body_bytes: usize,
    /// From the head of a request to the end of its body, for
    /// [`read_body`](super::read_body); over HTTP/2 also from the first byte of one DATA frame to
    /// its last, which ends the connection. Default 30 s.
    pub body_timeout: Duration,
    /// From the head of a request to its answer, body included. Default 60 s.
    pub request_timeout: Duration,
    /// A connection without a running request ends after this; so it is also the longest time a
    /// client may take to fetch its last answer. Default 120 s.
    pub idle_timeout: Duration,
    /// From accepting a connection to the end of its TLS handshake. Default 5 s.
    pub handshake_timeout: Duration,
    /// Streams that one HTTP/2 connection may have open: what one client can put into a thread's line at once, before
    /// those who come next. Default 250.
    pub concurrent_streams: u32,
    /// Connections that have finished their TLS handshake; one more is closed at once. Default 10,000.
    pub connections: usize,
    /// Connections that have not, of all sources; one more drops one of the source that has the most of them.
    /// Each thread may go beyond it by one. Default 2,000.
    pub unauthenticated_connections: usize,
    /// Of these, those of one source; one more drops one of that source. Each thread may go beyond it by one.
    /// Default 1,000.
    pub unauthenticated_per_source: usize,
    /// Bits of an IPv4 address that name a source. Default 32.
    pub source_prefix_ipv4: u32,
    /// Bits of an IPv6 address that name a source. Default 64.
    pub source_prefix_ipv6: u32,
    /// After [`Running::stop`](super::Running::stop): how long running requests may take before
    /// their connections are cut. Default 20 s.
    pub drain_timeout: Duration,
    /// Streams that a client may have opened and reset before they were looked at; one more ends
    /// the connection (CVE-2023-44487, rapid reset). Default 20.
    pub pending_resets: usize,
    /// Streams that we may have reset because of the client's errors; one more ends the connection
    /// (CVE-2025-8671, "made you reset"). Default 256.
    pub local_resets: usize,
    /// Streams that a client may reset per second, on average over a second; more ends the
    /// connection. Default 1,000.
    pub resets_per_second: u32,
    /// Frames per second, on average over a second, that carry no part of a request (PING, SETTINGS,
    /// PRIORITY, empty or padded DATA, unknown types, and window updates that belong to no answer); more ends the
    /// connection (CVE-2019-9512, 9515, 9518). Default 2,000.
    pub idle_frames_per_second: u32,
    /// Bytes of bodies and answers of over 16 KiB that one connection may have in memory. A body that
    /// would go beyond it is refused, and while it is reached every request is. Never less than four
    /// bodies. Default 64 MiB.
    pub connection_bytes: usize,
    /// The same for all connections together; beyond it, bodies of over 16 KiB are refused. Default
    /// 1 GiB.
    pub held_bytes: usize,
    /// Bytes that may be under way in one stream, and in all streams of a connection together,
    /// before the handler has read them. Default 1 MiB each.
    pub window_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes: 64 << 10,
            header_fields: 64,
            header_timeout: Duration::from_secs(5),
            body_bytes: 16 << 20,
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(120),
            handshake_timeout: Duration::from_secs(5),
            concurrent_streams: 250,
            connections: 10_000,
            unauthenticated_connections: 2000,
            unauthenticated_per_source: 1000,
            source_prefix_ipv4: 32,
            source_prefix_ipv6: 64,
            drain_timeout: Duration::from_secs(20),
            pending_resets: 20,
            local_resets: 256,
            resets_per_second: 1000,
            idle_frames_per_second: 2000,
            connection_bytes: 64 << 20,
            held_bytes: 1 << 30,
            window_bytes: 1 << 20,
        }
    }
}
