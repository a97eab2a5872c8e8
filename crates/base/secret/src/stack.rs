//! What calls leave behind on the stack.
//!
//! Backends take keys by value, and values are moved about; each move may leave a copy in a frame that is dead
//! and is overwritten only by chance. Keys are therefore used two frames down, and what lay there is overwritten
//! afterwards.

use std::hint::black_box;

/// Does the work, and then overwrites `DEPTH` bytes of the stack below this frame: more than the frames of the work
/// that had a key in them.
#[inline(never)]
pub fn swept<const DEPTH: usize, T>(work: impl FnOnce() -> T) -> T {
    let made = below(work);
    sweep::<DEPTH>();
    made
}

#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Takes the place of the frames that have returned.
#[inline(never)]
fn sweep<const DEPTH: usize>() {
    let mut room = [0_u8; DEPTH];
    black_box(&mut room);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_work_makes_comes_back() {
        assert_eq!(swept::<4096, _>(|| vec![7; 3]), [7; 3]);
        assert_eq!(swept::<0, _>(|| 5), 5);
    }
}
