//! What the use of a key leaves behind on the stack.

/// More than the frames of a signature or a multiplication take. Of a signature, overwriting them is one part in a
/// hundred.
const DEPTH: usize = 16 << 10;

/// Does the work, and overwrites the stack below this frame.
pub(crate) fn swept<T>(work: impl FnOnce() -> T) -> T {
    keywright_secret::stack::swept::<DEPTH, T>(work)
}
