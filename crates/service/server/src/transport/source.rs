//! Where a connection comes from, as far as its share of unauthenticated connections goes.
//!
//! One host has one IPv4 address and a whole /64 of IPv6 addresses (RFC 6177), so a source is a prefix of either.
//! Counts are shared by the threads of a listener, because the system spreads the connections of one source over all of
//! them. They are touched as a handshake begins and ends, and by no request.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Limits;

/// The network that an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    V4(u32),
    V6(u128),
}

impl Source {
    /// An IPv4 address that is mapped into IPv6 (RFC 4291 2.5.5.2) is the IPv4 address: otherwise all clients of a
    /// listener on `[::]` would be one source.
    pub(super) fn from_address(address: IpAddr, limits: &Limits) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let other = 32_u32.saturating_sub(limits.source_prefix_ipv4);
                Self::V4(address.to_bits() & u32::MAX.checked_shl(other).unwrap_or(0))
            }
            IpAddr::V6(address) => {
                let other = 128_u32.saturating_sub(limits.source_prefix_ipv6);
                Self::V6(address.to_bits() & u128::MAX.checked_shl(other).unwrap_or(0))
            }
        }
    }
}

/// How many unauthenticated connections there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) of_source: usize,
    pub(super) of_all: usize,
}

/// Unauthenticated connections of each source, of all threads.
#[derive(Debug, Default)]
pub(crate) struct SourceCounts {
    of_all: AtomicUsize,
    hasher: RandomState,
    shards: [Mutex<HashMap<Source, usize>>; SHARDS],
}

/// Threads that count at the same moment rarely meet in one shard.
const SHARDS: usize = 16;

impl SourceCounts {
    /// Counts one more; how many there are with it.
    pub(super) fn enter(&self, source: Source) -> Counts {
        let mut shard = self.shard(source);
        let of_source = shard.entry(source).or_insert(0);
        *of_source += 1;
        Counts {
            of_source: *of_source,
            of_all: self.of_all.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }

    /// Counts one less of a source that [entered](Self::enter).
    pub(super) fn leave(&self, source: Source) {
        if let Entry::Occupied(mut entry) = self.shard(source).entry(source) {
            self.of_all.fetch_sub(1, Ordering::Relaxed);
            match entry.get() {
                0 | 1 => drop(entry.remove()),
                count => *entry.get_mut() = count - 1,
            }
        }
    }

    /// How many there are.
    pub(super) fn of_all(&self) -> usize {
        self.of_all.load(Ordering::Relaxed)
    }

    fn shard(&self, source: Source) -> MutexGuard<'_, HashMap<Source, usize>> {
        let hash = self.hasher.hash_one(source);
        let index = usize::try_from(hash % SHARDS as u64).unwrap_or(0);
        let [first, ..] = &self.shards;
        let shard = self.shards.get(index).unwrap_or(first);
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str, limits: &Limits) -> Source {
        Source::from_address(address.parse().unwrap(), limits)
    }

    #[test]
    fn a_source_is_a_host_of_ipv4_and_a_network_of_ipv6() {
        let limits = Limits::default();
        let one = |address| source(address, &limits);
        assert_ne!(one("192.0.2.1"), one("192.0.2.2"));
        assert_eq!(one("2001:db8:0:1::1"), one("2001:db8:0:1:ffff::"));
        assert_ne!(one("2001:db8:0:1::1"), one("2001:db8:0:2::1"));
        assert_eq!(one("::ffff:192.0.2.1"), one("192.0.2.1"));
        assert_ne!(one("::ffff:192.0.2.1"), one("::ffff:192.0.2.2"));
    }

    #[test]
    fn prefixes_are_those_of_the_configuration() {
        let limits = |ipv4, ipv6| Limits {
            source_prefix_ipv4: ipv4,
            source_prefix_ipv6: ipv6,
            ..Limits::default()
        };
        let networks = limits(24, 48);
        assert_eq!(
            source("192.0.2.1", &networks),
            source("192.0.2.255", &networks)
        );
        assert_ne!(
            source("192.0.2.1", &networks),
            source("192.0.3.1", &networks)
        );
        assert_eq!(
            source("2001:db8:0:1::", &networks),
            source("2001:db8:0:2::", &networks)
        );
        let hosts = limits(32, 128);
        assert_ne!(source("2001:db8::1", &hosts), source("2001:db8::2", &hosts));
        let everything = limits(0, 0);
        assert_eq!(
            source("192.0.2.1", &everything),
            source("198.51.100.1", &everything)
        );
    }

    #[test]
    fn counts_add_up_and_keep_nothing_of_who_has_left() {
        let (counts, limits) = (SourceCounts::default(), Limits::default());
        let sources: Vec<_> = (0..100_u8)
            .map(|host| source(&format!("192.0.2.{host}"), &limits))
            .collect();
        for round in 1..=3 {
            for (number, one) in sources.iter().enumerate() {
                let entered = counts.enter(*one);
                let of_all = (round - 1) * sources.len() + number + 1;
                assert_eq!(
                    entered,
                    Counts {
                        of_source: round,
                        of_all
                    }
                );
            }
        }
        assert_eq!(counts.of_all(), 300);
        for one in sources.iter().cycle().take(300) {
            counts.leave(*one);
        }
        counts.leave(sources[0]);
        assert_eq!(counts.of_all(), 0);
        assert!(
            counts
                .shards
                .iter()
                .all(|one| one.lock().unwrap().is_empty())
        );
    }
}
