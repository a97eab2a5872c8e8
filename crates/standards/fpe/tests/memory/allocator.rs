//! An allocator that counts for one thread, and that remembers whether a freed block held what is looked for.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Watching;

#[global_allocator]
static ALLOCATOR: Watching = Watching;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static NEEDLE: Cell<Option<[u8; 16]>> = const { Cell::new(None) };
    static FOUND: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the allocator of the system as it came.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Ok(Some(needle)) = NEEDLE.try_with(Cell::get) {
            // SAFETY: the block has the size of the layout and was zeroed when it was given out.
            let bytes = unsafe { core::slice::from_raw_parts(block, layout.size()) };
            if bytes.windows(needle.len()).any(|window| window == needle) {
                let _ = FOUND.try_with(|count| count.set(count.get() + 1));
            }
        }
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// How often the call asks for memory on this thread.
pub(crate) fn allocations(call: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

/// How many blocks this thread gives back with the needle in them during the call.
pub(crate) fn freed_with(needle: [u8; 16], call: impl FnOnce()) -> u64 {
    let before = FOUND.get();
    NEEDLE.set(Some(needle));
    call();
    NEEDLE.set(None);
    FOUND.get() - before
}
