//! A short secret on the stack.

use keywright_secret::wipe;

/// The longest: two shared secrets of P-521 beside each other.
const CAPACITY: usize = 132;

/// At most [`CAPACITY`] secret bytes, wiped when dropped. On the stack, because several are made for each
/// context and none outlives its step.
pub(crate) struct Short {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Short {
    pub(crate) const fn empty() -> Self {
        Self {
            bytes: [0; CAPACITY],
            len: 0,
        }
    }

    /// Takes over an array, which is wiped.
    pub(crate) fn take<const N: usize>(mut array: [u8; N]) -> Self {
        const { assert!(N <= CAPACITY) }
        let mut short = Self::empty();
        short.push(&array);
        wipe(&mut array);
        short
    }

    /// `len` bytes, which `fill` writes.
    pub(crate) fn try_fill<E>(
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut short = Self::empty();
        short.len = len.min(CAPACITY);
        fill(&mut short.bytes[..short.len])?;
        Ok(short)
    }

    /// Appends bytes. What is put side by side here has lengths that the suite fixes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub(crate) fn expose(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn expose_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        wipe(&mut self.bytes);
    }
}
