//! What calls leave behind on the stack.
//!
//! Backends take keys by value and move them about; each move may leave a copy in a frame that is dead and is
//! overwritten only by chance. Keys are therefore used two frames down, and what lay there is overwritten
//! afterwards. Of a signature, that is one part in a hundred.

use std::hint::black_box;

/// More than the frames of a signature or a multiplication take.
const DEPTH: usize = 16 << 10;

/// Does the work, and overwrites the stack below this frame.
#[inline(never)]
pub(crate) fn swept<T>(work: impl FnOnce() -> T) -> T {
    let made = below(work);
    sweep();
    made
}

#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Takes the place of the frames that have returned.
#[inline(never)]
fn sweep() {
    let mut room = [0_u8; DEPTH];
    black_box(&mut room);
}
