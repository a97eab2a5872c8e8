//! The numbers of the file and what each may say.

use super::{Config, ConfigError};

impl Config {
    #[expect(
        clippy::too_many_lines,
        reason = "a table, one line of thought for each number"
    )]
    pub(super) fn check_ranges(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let numbers: [(&'static str, u64, u64, u64, &'static str); 26] = [
            (
                "limits.body_bytes",
                limits.body_bytes as u64,
                1024,
                64 << 20,
                "1024 to 67108864",
            ),
            ("limits.items", limits.items as u64, 1, 10_000, "1 to 10000"),
            (
                "limits.header_bytes",
                limits.header_bytes.into(),
                8 << 10,
                1 << 20,
                "8192 to 1048576",
            ),
            (
                "limits.connections",
                limits.connections as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.unauthenticated_connections",
                limits.unauthenticated_connections as u64,
                1,
                100_000,
                "1 to 100000",
            ),
            (
                "limits.unauthenticated_per_source",
                limits.unauthenticated_per_source as u64,
                1,
                100_000,
                "1 to 100000",
            ),
            (
                "limits.source_prefix_ipv4",
                limits.source_prefix_ipv4.into(),
                8,
                32,
                "8 to 32",
            ),
            (
                "limits.source_prefix_ipv6",
                limits.source_prefix_ipv6.into(),
                16,
                128,
                "16 to 128",
            ),
            (
                "limits.handshake_timeout_ms",
                limits.handshake_timeout_ms,
                100,
                60_000,
                "100 to 60000",
            ),
            (
                "limits.concurrent_streams",
                limits.concurrent_streams.into(),
                1,
                100_000,
                "1 to 100000",
            ),
            (
                "limits.connection_bytes",
                limits.connection_bytes as u64,
                1 << 20,
                1 << 32,
                "1048576 to 4294967296",
            ),
            (
                "limits.held_bytes",
                limits.held_bytes as u64,
                1 << 20,
                1 << 40,
                "1048576 to 1099511627776",
            ),
            (
                "limits.header_timeout_s",
                limits.header_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.body_timeout_s",
                limits.body_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.idle_timeout_s",
                limits.idle_timeout_s,
                1,
                86_400,
                "1 to 86400",
            ),
            (
                "limits.drain_timeout_s",
                limits.drain_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.holder_threads",
                limits.holder_threads as u64,
                1,
                512,
                "1 to 512",
            ),
            (
                "limits.request_timeout_s",
                limits.request_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.holder_queue",
                limits.holder_queue as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.long_queue",
                limits.long_queue as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.long_threads",
                limits.long_threads as u64,
                0,
                512,
                "0 to 512",
            ),
            (
                "limits.running_requests",
                limits.running_requests as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.queued_ms",
                limits.queued_ms,
                1,
                10_000,
                "1 to 10000",
            ),
            (
                "keystore.unwrapped_keys",
                self.keystore.unwrapped_keys as u64,
                16,
                1 << 20,
                "16 to 1048576",
            ),
            (
                "data_keys.validity_s",
                self.data_keys.validity_s,
                1,
                366 * 86_400,
                "1 to 31622400",
            ),
            (
                "compat.vault_token_s",
                self.compat.vault_token_s,
                1,
                3600,
                "1 to 3600",
            ),
        ];
        within(numbers)?;
        self.check_shares()
    }

    /// A share that is larger than the whole is a mistake: it would protect nobody.
    fn check_shares(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let (share, whole) = (
            limits.unauthenticated_per_source,
            limits.unauthenticated_connections,
        );
        if share <= whole {
            return Ok(());
        }
        Err(ConfigError::Value {
            key: "limits.unauthenticated_per_source",
            reason: format!("{share} is more than limits.unauthenticated_connections, {whole}"),
        })
    }
}

/// Whether each number (its key, what it says, the lowest and the highest that it may say, and those in words) is in its
/// range; the first that is not is the error.
pub(super) fn within(
    numbers: impl IntoIterator<Item = (&'static str, u64, u64, u64, &'static str)>,
) -> Result<(), ConfigError> {
    let wrong = numbers
        .into_iter()
        .find(|(_, value, low, high, _)| value < low || value > high);
    wrong.map_or(Ok(()), |(key, value, _, _, range)| {
        Err(ConfigError::Range { key, value, range })
    })
}
