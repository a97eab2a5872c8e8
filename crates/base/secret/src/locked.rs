//! Memory that is kept out of swap, core dumps and forked children.
//!
//! [`Arena`] is one mapping cut into 32-byte slots, for many keys at a bounded cost. [`Region`] is a large
//! buffer for as long as a computation runs. [`lock_process`] locks the whole
//! process, because a crypto backend keeps key schedules on its own heap, where no arena reaches.
//!
//! Locking can be forbidden by a resource limit. Nothing here fails for that reason: each call says
//! what it got ([`Locking`]), and its caller decides whether that is enough.
//!
//! Unsafe code, and how it could be unsound: a slot handed out twice (the free list is the only source
//! of indices and an index returns to it only in `Slot::drop`); a slot that outlives its mapping (each
//! slot holds the mapping by `Arc`); an unmapped or misaligned pointer (the mapping is page-aligned,
//! its length is fixed for its life, and offsets are `index * 32` with `index < slots`); items of a
//! `Region` that are read before they have a value (`new` writes each before it returns), or referred to
//! after the memory is given back (they are borrowed from the `Region`, which does so only in `drop`).
#![expect(
    unsafe_code,
    reason = "mmap, mlock, madvise and prctl have no safe form in std"
)]

use std::alloc::Layout;
use std::ffi::c_void;
use std::fmt;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroize;

/// Bytes in one slot of an [`Arena`].
pub const SLOT_LEN: usize = 32;

/// What locking counts in. Where pages are larger the system refuses parts of them, and says so.
const PAGE: usize = 4096;

/// Whether the operating system agreed to keep memory out of swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third answer would have to be faced everywhere"
)]
pub enum Locking {
    /// The memory is locked.
    Locked,
    /// The system refused, with this `errno`; the memory works but may be swapped.
    Refused(i32),
}

/// A bounded set of 32-byte secrets in locked memory.
#[derive(Clone)]
pub struct Arena(Arc<Mapping>);

impl Arena {
    /// Maps room for `slots` secrets and asks for it to be locked.
    ///
    /// # Errors
    /// The operating system's error if the mapping itself is refused, or `InvalidInput` for no slots.
    pub fn new(slots: usize) -> std::io::Result<Self> {
        Mapping::new(slots).map(|mapping| Self(Arc::new(mapping)))
    }

    /// Whether the arena's memory is locked.
    #[must_use]
    pub fn locking(&self) -> Locking {
        self.0.locking
    }

    /// How many secrets fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.slots
    }

    /// How many more secrets fit now.
    #[must_use]
    pub fn available(&self) -> usize {
        self.0.free_list().len()
    }

    /// Takes a slot and fills it in place; `None` when the arena is full.
    pub fn insert(&self, fill: impl FnOnce(&mut [u8; SLOT_LEN])) -> Option<Slot> {
        let index = self.0.free_list().pop()?;
        let mut slot = Slot {
            mapping: Arc::clone(&self.0),
            index,
        };
        fill(slot.expose_mut());
        Some(slot)
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arena({} slots)", self.0.slots)
    }
}

/// One secret in an [`Arena`]; wiped and given back on drop.
pub struct Slot {
    mapping: Arc<Mapping>,
    index: usize,
}

impl Slot {
    /// Reads the secret.
    #[must_use]
    pub fn expose(&self) -> &[u8; SLOT_LEN] {
        // SAFETY: the index came from the free list and belongs to this slot alone until drop, so no
        // `&mut` to the same bytes exists; the mapping lives as long as `self.mapping`.
        unsafe { &*self.mapping.slot(self.index) }
    }

    fn expose_mut(&mut self) -> &mut [u8; SLOT_LEN] {
        // SAFETY: as in `expose`; `&mut self` makes this the only reference.
        unsafe { &mut *self.mapping.slot(self.index) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.expose_mut().zeroize();
        self.mapping.free_list().push(self.index);
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({SLOT_LEN})")
    }
}

struct Mapping {
    start: NonNull<c_void>,
    length: usize,
    slots: usize,
    locking: Locking,
    free: Mutex<Vec<usize>>,
}

// SAFETY: the mapping is plain memory that no thread owns; access to a slot goes through `Slot`,
// which hands out references by the usual borrow rules, and the free list is behind a mutex.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared access to `Mapping` itself only reads fields and locks the mutex.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(slots: usize) -> std::io::Result<Self> {
        let length = slots.checked_mul(SLOT_LEN).filter(|length| *length > 0);
        let length = length.ok_or_else(|| std::io::Error::from(ErrorKind::InvalidInput))?;
        let start = map(length)?;
        // SAFETY: the range is exactly the mapping made above.
        let locking = unsafe { lock_range(start.as_ptr(), length) };
        // SAFETY: as above. A forked child finds zeros instead of our keys.
        unsafe { libc::madvise(start.as_ptr(), length, libc::MADV_WIPEONFORK) };
        let free = Mutex::new((0..slots).rev().collect());
        Ok(Self {
            start,
            length,
            slots,
            locking,
            free,
        })
    }

    fn slot(&self, index: usize) -> *mut [u8; SLOT_LEN] {
        debug_assert!(index < self.slots);
        // SAFETY: `index < slots`, so the offset stays inside the mapping.
        unsafe { self.start.as_ptr().cast::<[u8; SLOT_LEN]>().add(index) }
    }

    fn free_list(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        // A panic while the list is held cannot leave it torn: push and pop are single steps.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: all slots are gone (each held an `Arc` of this mapping), so nothing points inside.
        unsafe { libc::munmap(self.start.as_ptr(), self.length) };
    }
}

/// A large buffer on pages of its own, for one computation: locked, and wiped at the end.
///
/// The memory is the global allocator's, not a mapping of its own: one that keeps pages for a moment spares the next
/// computation the system's zeros, which cost as much as a tenth of Argon2id over the same memory.
pub struct Region<T> {
    start: NonNull<T>,
    count: usize,
    layout: Layout,
    threads: usize,
    locking: Locking,
}

// SAFETY: the memory belongs to this value alone, as a `Vec`'s does.
unsafe impl<T: Send> Send for Region<T> {}

impl<T: Copy + Default + Send> Region<T> {
    /// Asks for room for `count` items, lets each of `threads` threads write its part first, and locks the memory.
    /// The first touch of a page is where its time goes, and it is spread that way.
    ///
    /// # Errors
    /// `OutOfMemory` if the allocator has no room, or `InvalidInput` for no items, no threads, or items of no size.
    pub fn new(count: usize, threads: usize) -> std::io::Result<Self> {
        const { assert!(align_of::<T>() <= PAGE, "a region begins at a page") }
        let layout = Some(count)
            .filter(|_| threads > 0)
            .and_then(pages_of::<T>)
            .ok_or(ErrorKind::InvalidInput)?;
        // SAFETY: the layout is not of size zero.
        let start = unsafe { std::alloc::alloc(layout) }.cast::<T>();
        let start = NonNull::new(start).ok_or(ErrorKind::OutOfMemory)?;
        // SAFETY: the range is the memory just given. All of it is about to be used, in no order that a
        // processor could guess: large pages cost fewer faults and fewer look-ups. A refusal costs time only.
        unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
        // SAFETY: the memory has room for `count` items and nobody else refers to it; as uninitialised items
        // they need no value yet.
        let items =
            unsafe { slice::from_raw_parts_mut(start.as_ptr().cast::<MaybeUninit<T>>(), count) };
        in_parts(items, threads, |part| {
            part.iter_mut().for_each(|item| {
                item.write(T::default());
            });
        });
        // SAFETY: the range is the memory given above, whole pages of it.
        let locking = unsafe { lock_range(start.as_ptr().cast(), layout.size()) };
        Ok(Self {
            start,
            count,
            layout,
            threads,
            locking,
        })
    }

    /// The items.
    pub const fn items(&mut self) -> &mut [T] {
        // SAFETY: `new` has written every item, and `&mut self` makes this the only reference.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl<T> Region<T> {
    /// Whether the memory is locked.
    #[must_use]
    pub const fn locking(&self) -> Locking {
        self.locking
    }
}

impl<T> Drop for Region<T> {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast::<u8>();
        let length = self.count * size_of::<T>();
        // SAFETY: the items of `new`, in bytes; they are never looked at again.
        let bytes = unsafe { slice::from_raw_parts_mut(start, length) };
        in_parts(bytes, self.threads, crate::wipe);
        // SAFETY: the pages that `new` asked for and locked; nothing refers to them any more. They are as the
        // allocator gave them before it has them back.
        unsafe {
            unlock_range(start.cast(), self.layout.size());
            std::alloc::dealloc(start, self.layout);
        }
    }
}

/// Whole pages with room for so many items; none for no room, or more than can be.
fn pages_of<T>(count: usize) -> Option<Layout> {
    let bytes = count
        .checked_mul(size_of::<T>())
        .filter(|bytes| *bytes > 0)?;
    Layout::from_size_align(bytes.checked_next_multiple_of(PAGE)?, PAGE).ok()
}

impl<T> fmt::Debug for Region<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} items, {:?})", self.count, self.locking)
    }
}

/// Has as many threads as there can be work on the items, one part each.
fn in_parts<T: Send>(
    items: &mut [T],
    threads: usize,
    work: impl Fn(&mut [T]) + Copy + Send + Sync,
) {
    let part = items.len().div_ceil(threads).max(1);
    let parts = Mutex::new(items.chunks_mut(part));
    let next = || {
        let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.next()
    };
    let run = || {
        while let Some(part) = next() {
            work(part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system gives no thread, the others do its part.
            if std::thread::Builder::new()
                .spawn_scoped(scope, run)
                .is_err()
            {
                break;
            }
        }
        run();
    });
}

/// An anonymous private mapping.
fn map(length: usize) -> std::io::Result<NonNull<c_void>> {
    // SAFETY: a mapping at an address of the kernel's choice touches no existing memory; the result is
    // checked before use.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    NonNull::new(start).ok_or_else(|| std::io::Error::from(ErrorKind::OutOfMemory))
}

/// Turns off core files of this process, and tracing by other processes of the same user.
pub fn refuse_core_files() {
    let no_core = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls take plain values or a pointer to a live `rlimit`.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
}

/// As [`refuse_core_files`], and locks every present and future page of the process once it is touched.
#[must_use]
pub fn lock_process() -> Locking {
    refuse_core_files();
    // On fault: pages that are never touched, such as thread stacks, do not count against the limit.
    // SAFETY: takes flags only.
    let result =
        unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) };
    answer(result)
}

/// # Safety
/// `start` and `length` must describe memory mapped by this process.
unsafe fn lock_range(start: *mut c_void, length: usize) -> Locking {
    if length == 0 {
        return Locking::Locked;
    }
    // SAFETY: by the caller's promise. MADV_DONTDUMP needs page alignment and is only advice: where it
    // is refused the process-wide switch of `lock_process` still keeps cores from being written.
    unsafe {
        libc::madvise(start, length, libc::MADV_DONTDUMP);
        answer(libc::mlock(start, length))
    }
}

/// # Safety
/// As [`lock_range`], which was asked for the same memory.
unsafe fn unlock_range(start: *mut c_void, length: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        libc::munlock(start, length);
        libc::madvise(start, length, libc::MADV_DODUMP);
    }
}

fn answer(result: i32) -> Locking {
    if result == 0 {
        Locking::Locked
    } else {
        Locking::Refused(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_distinct_bounded_and_reusable() {
        let arena = Arena::new(2).unwrap();
        let a = arena.insert(|slot| slot.fill(1)).unwrap();
        let b = arena.insert(|slot| slot.fill(2)).unwrap();
        assert!(
            arena.insert(|_| ()).is_none(),
            "a third secret does not fit"
        );
        assert_eq!((a.expose(), b.expose()), (&[1; 32], &[2; 32]));
        drop(a);
        assert_eq!(arena.available(), 1);
    }

    #[test]
    fn a_returned_slot_holds_zeros() {
        let arena = Arena::new(1).unwrap();
        drop(arena.insert(|slot| slot.fill(0xAA)).unwrap());
        let mut seen = [0xFF; 32];
        let slot = arena.insert(|slot| seen = *slot);
        assert_eq!(seen, [0; 32]);
        drop(slot);
    }

    #[test]
    fn an_arena_without_slots_is_refused() {
        assert!(Arena::new(0).is_err());
    }

    #[test]
    fn a_slot_outlives_the_handle_of_its_arena() {
        let arena = Arena::new(1).unwrap();
        let slot = arena.insert(|slot| slot.fill(9)).unwrap();
        drop(arena);
        assert_eq!(slot.expose(), &[9; 32]);
    }

    #[test]
    fn a_region_is_filled_by_every_thread_and_holds_what_is_written() {
        for threads in [1, 2, 3, 8, 64] {
            let mut region = Region::<u64>::new(4097, threads).unwrap();
            assert!(region.items().iter().all(|item| *item == 0));
            region.items()[4096] = 7;
            assert_eq!((region.items().len(), region.items()[4096]), (4097, 7));
        }
    }

    #[test]
    fn a_region_of_nothing_is_refused() {
        assert!(Region::<u64>::new(0, 1).is_err());
        assert!(Region::<u64>::new(1, 0).is_err());
        assert!(Region::<()>::new(1, 1).is_err());
        assert!(Region::<u64>::new(usize::MAX, 1).is_err());
    }

    #[test]
    fn slots_taken_by_many_threads_never_overlap() {
        let arena = Arena::new(64).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                let arena = arena.clone();
                scope.spawn(move || {
                    for _ in 0..1000 {
                        let slot = arena.insert(|slot| slot.fill(thread)).unwrap();
                        assert_eq!(slot.expose(), &[thread; 32]);
                    }
                });
            }
        });
        assert_eq!(arena.available(), 64);
    }
}
