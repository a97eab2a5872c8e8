//! The size of the pages that memory comes in.
//!
//! An allocator that asks for huge pages, as the program's does, makes a request cheaper and a connection larger: the
//! buffers of the protocol are made for the largest message, an idle connection has touched the beginning of each, and in
//! small pages the rest of them takes no memory. So few connections are served from huge pages, and many from small ones.
//! Both sides are seen by `keywright bench op service.encrypt` and `keywright bench op service.idle-connection.10k`, beside
//! the same under `MIMALLOC_ALLOW_THP=0`, which has small pages from the beginning.

use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};

/// From so many connections at one listener on, what the process takes comes in small pages.
const MANY: usize = 256;

/// Sees to it that many connections have small pages.
///
/// The setting is the process's, for all its listeners and whoever else set it, so it is asked for and not remembered, and
/// never taken back: small pages may be what somebody wanted who is not known here.
pub(super) fn fit(connections: usize) {
    if connections >= MANY && matches!(transparent_huge_pages_are_disabled(), Ok(false)) {
        // A kernel that does not let them be disabled costs memory, and nothing else.
        let _ = disable_transparent_huge_pages(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_connections_have_small_pages_and_few_have_what_the_system_gives() {
        let disabled = || transparent_huge_pages_are_disabled().unwrap();
        let before = disabled();
        for few in [0, 1, MANY - 1] {
            fit(few);
            assert_eq!(disabled(), before, "{few}");
        }
        for now in [MANY, 10_000, MANY - 1, 0] {
            fit(now);
            assert!(disabled(), "{now}");
        }
    }
}
