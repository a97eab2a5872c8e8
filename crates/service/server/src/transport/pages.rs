//! The size of the pages that memory comes in.
//!
//! An allocator that asks for huge pages, as the program's does, makes requests a few per cent cheaper, and a connection
//! half as large again: the buffers of the protocol are made for the largest message, and an idle connection has touched
//! the beginning of each. In small pages the rest of them takes no memory. So few connections are served from huge pages,
//! and many from small ones.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::disable_transparent_huge_pages;

/// From so many connections on, pages are small; huge ones come back below half of that.
const MANY: usize = 256;

/// Which pages this process was last told to use. Memory keeps the pages that it has.
#[derive(Debug, Default)]
pub(super) struct Pages {
    small: AtomicBool,
}

impl Pages {
    /// Looks whether there are too many or too few connections for the pages in use.
    pub(super) fn fit(&self, connections: usize) {
        let was = self.small.load(Ordering::Relaxed);
        let small = connections >= if was { MANY / 2 } else { MANY };
        if small != was && self.small.swap(small, Ordering::Relaxed) == was {
            // A kernel that knows no huge pages has small ones.
            let _ = disable_transparent_huge_pages(small);
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::transparent_huge_pages_are_disabled;

    use super::*;

    #[test]
    fn many_connections_have_small_pages_and_few_have_what_the_system_gives() {
        let before = transparent_huge_pages_are_disabled().unwrap();
        let pages = Pages::default();
        for (connections, small) in [
            (0, before),
            (MANY - 1, before),
            (MANY, true),
            (MANY / 2, true),
            (10_000, true),
            (MANY / 2 - 1, false),
            (MANY - 1, false),
        ] {
            pages.fit(connections);
            assert_eq!(
                transparent_huge_pages_are_disabled().unwrap(),
                small,
                "{connections}"
            );
        }
    }
}
