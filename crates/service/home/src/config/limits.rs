//! `[limits]` and `[data_keys]`: how much, how many and how long.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much, how many and how long.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Items of a request.
    pub items: usize,
    /// Bytes of a request's header fields.
    pub header_bytes: u32,
    /// Connections that have finished their TLS handshake.
    pub connections: usize,
    /// Connections that have not, of all sources.
    pub unauthenticated_connections: usize,
    /// Of these, those of one source.
    pub unauthenticated_per_source: usize,
    /// Bits of an IPv4 address that name a source.
    pub source_prefix_ipv4: u32,
    /// Bits of an IPv6 address that name a source.
    pub source_prefix_ipv6: u32,
    /// From accepting a connection to the end of its TLS handshake, in milliseconds.
    pub handshake_timeout_ms: u64,
    /// Streams of one HTTP/2 connection.
    pub concurrent_streams: u32,
    /// Bytes of large bodies and answers that one connection may have in memory.
    pub connection_bytes: usize,
    /// Bytes of large bodies and answers that all connections together may have in memory.
    pub held_bytes: usize,
    /// From the first byte of a head to its last, in seconds.
    pub header_timeout_s: u64,
    /// From the head to the end of the body, in seconds.
    pub body_timeout_s: u64,
    /// From the head to the answer, in seconds.
    pub request_timeout_s: u64,
    /// A connection without a request ends after this, in seconds.
    pub idle_timeout_s: u64,
    /// How long running requests may take at shutdown, in seconds.
    pub drain_timeout_s: u64,
    /// Requests that may wait for a holder that waits for a device.
    pub holder_queue: usize,
    /// Threads of such a holder.
    pub holder_threads: usize,
    /// Requests that may wait for their turn at work that takes the processor long.
    pub long_queue: usize,
    /// Threads for such work; 0 for one per core.
    pub long_threads: usize,
    /// Requests that are begun and not answered, of all threads together.
    pub running_requests: usize,
    /// How long a request may wait for its turn while there is too much to do, in milliseconds.
    pub queued_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            items: 10_000,
            header_bytes: 64 << 10,
            connections: 10_000,
            unauthenticated_connections: 2000,
            unauthenticated_per_source: 1000,
            source_prefix_ipv4: 32,
            source_prefix_ipv6: 64,
            handshake_timeout_ms: 5000,
            concurrent_streams: 250,
            connection_bytes: 64 << 20,
            held_bytes: 1 << 30,
            header_timeout_s: 5,
            body_timeout_s: 30,
            request_timeout_s: 60,
            idle_timeout_s: 120,
            drain_timeout_s: 20,
            holder_queue: 128,
            holder_threads: 4,
            long_queue: 128,
            long_threads: 0,
            running_requests: 10_000,
            queued_ms: 25,
        }
    }
}

impl Limits {
    /// Seconds as a duration.
    #[must_use]
    pub const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }
}

/// Data keys handed to callers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct DataKeys {
    /// How long a caller should keep one, in seconds; told in `not_after`.
    pub validity_s: u64,
}

impl Default for DataKeys {
    fn default() -> Self {
        Self {
            validity_s: 24 * 3600,
        }
    }
}
