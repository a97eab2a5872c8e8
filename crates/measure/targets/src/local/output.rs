//! What operations put out: compared here, and spoilt in tests.

use keywright_secret::{Secret, SecretBytes, ct_eq};

/// An output that can be told from a wrong one.
pub(super) trait Output: Send + 'static {
    fn equals(&self, other: &Self) -> bool;

    /// Changes one bit, or makes it as wrong as its type can be.
    #[cfg(test)]
    fn spoil(&mut self);
}

/// Whether what had to be accepted was.
impl Output for bool {
    fn equals(&self, other: &Self) -> bool {
        self == other
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        *self = !*self;
    }
}

impl<const N: usize> Output for [u8; N] {
    fn equals(&self, other: &Self) -> bool {
        self == other
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        self[N / 2] ^= 1;
    }
}

impl Output for Vec<u8> {
    fn equals(&self, other: &Self) -> bool {
        self == other
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        let middle = self.len() / 2;
        self[middle] ^= 1;
    }
}

impl<const N: usize> Output for Secret<N> {
    fn equals(&self, other: &Self) -> bool {
        self.ct_eq(other)
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        let mut bytes = *self.expose();
        bytes[N / 2] ^= 1;
        *self = Self::from_fill(|out| *out = bytes);
    }
}

impl Output for SecretBytes {
    fn equals(&self, other: &Self) -> bool {
        ct_eq(self.expose(), other.expose())
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        let middle = self.len() / 2;
        self.expose_mut()[middle] ^= 1;
    }
}

/// Spoilt in its second half, which is the one that the first does not show.
impl<A: Output, B: Output> Output for (A, B) {
    fn equals(&self, other: &Self) -> bool {
        self.0.equals(&other.0) && self.1.equals(&other.1)
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        self.1.spoil();
    }
}
