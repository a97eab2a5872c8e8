//! Memory that is kept out of swap, core dumps and forked children.
//!
//! [`Arena`] is one mapping cut into 32-byte slots, for many keys at a bounded cost. [`pin`] locks a
//! buffer that somebody else owns for as long as a computation runs. [`lock_process`] locks the whole
//! process, because a crypto backend keeps key schedules on its own heap, where no arena reaches.
//!
//! Locking can be forbidden by a resource limit. Nothing here fails for that reason: each call says
//! what it got ([`Locking`]), and its caller decides whether that is enough.
//!
//! Unsafe code, and how it could be unsound: a slot handed out twice (the free list is the only source
//! of indices and an index returns to it only in `Slot::drop`); a slot that outlives its mapping (each
//! slot holds the mapping by `Arc`); an unmapped or misaligned pointer (the mapping is page-aligned,
//! its length is fixed for its life, and offsets are `index * 32` with `index < slots`).
#![expect(
    unsafe_code,
    reason = "mmap, mlock, madvise and prctl have no safe form in std"
)]

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroize;

/// Bytes in one slot of an [`Arena`].
pub const SLOT_LEN: usize = 32;

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
        let length =
            length.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
        // existing memory; the result is checked before use.
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
        let start = NonNull::new(start)
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
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

/// A borrowed buffer that is locked until the guard is dropped, and wiped then.
pub struct Pinned<'a, T: Zeroize> {
    items: &'a mut [T],
    locking: Locking,
}

/// Locks the memory of `items` for the life of the guard; wiping it is part of letting go.
///
/// Pages are locked as a whole, so pinning suits large buffers with a page of their own.
pub fn pin<T: Zeroize>(items: &mut [T]) -> Pinned<'_, T> {
    let length = size_of_val(items);
    // SAFETY: the range is the slice itself, borrowed for as long as the guard lives.
    let locking = unsafe { lock_range(items.as_mut_ptr().cast(), length) };
    Pinned { items, locking }
}

impl<T: Zeroize> Pinned<'_, T> {
    /// Whether the buffer is locked.
    #[must_use]
    pub const fn locking(&self) -> Locking {
        self.locking
    }

    /// The buffer.
    pub const fn items(&mut self) -> &mut [T] {
        self.items
    }
}

impl<T: Zeroize> Drop for Pinned<'_, T> {
    fn drop(&mut self) {
        self.items.iter_mut().for_each(Zeroize::zeroize);
        if self.locking == Locking::Locked {
            let length = size_of_val(self.items);
            // SAFETY: the same range that `pin` locked. Errors leave the pages locked, which is harmless.
            unsafe { libc::munlock(self.items.as_ptr().cast(), length) };
        }
    }
}

impl<T: Zeroize> fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({} items, {:?})", self.items.len(), self.locking)
    }
}

/// Locks every present and future page of the process once it is touched, and turns off core dumps
/// and tracing by other processes of the same user.
#[must_use]
pub fn lock_process() -> Locking {
    let no_core = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls take plain values or a pointer to a live `rlimit`.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
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
    fn pinned_memory_is_wiped_when_let_go() {
        let mut buffer = vec![7_u8; 8192];
        pin(&mut buffer).items()[0] = 8;
        assert!(buffer.iter().all(|byte| *byte == 0));
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
