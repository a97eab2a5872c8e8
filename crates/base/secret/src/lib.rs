//! Bytes that wipe themselves, never print, and compare in constant time.
//!
//! * [`Secret`] has its length in its type; [`SecretBytes`] has it at run time.
//! * [`locked`] keeps many 32-byte secrets in memory that is neither swapped nor dumped.
//! * [`stack`] overwrites the frames of calls that had keys in them.
//!
//! A secret has no `Clone`, no `Serialize` and no `==`; its `Debug` shows the length and nothing
//! else. Reading one is spelled `expose`, so a review finds every place where a secret is read.
//!
//! Not here: key derivation and randomness (`keywright-primitives`). Wiping covers the buffer that
//! a type owns; copies that a compiler or a crypto backend makes are outside its reach.

pub mod locked;
pub mod stack;

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A secret of exactly `N` bytes, on the heap, wiped on drop.
pub struct Secret<const N: usize>(Box<[u8; N]>);

impl<const N: usize> Secret<N> {
    /// Makes a secret and fills it in place, so that no copy is left on the caller's stack.
    pub fn from_fill(fill: impl FnOnce(&mut [u8; N])) -> Self {
        let mut secret = Self(Box::new([0; N]));
        fill(&mut secret.0);
        secret
    }

    /// Like [`Secret::from_fill`], for a source that can fail.
    ///
    /// # Errors
    /// Whatever `fill` returns; the half-filled buffer is wiped.
    pub fn try_from_fill<E>(fill: impl FnOnce(&mut [u8; N]) -> Result<(), E>) -> Result<Self, E> {
        let mut secret = Self(Box::new([0; N]));
        fill(&mut secret.0)?;
        Ok(secret)
    }

    /// Copies `bytes` into a secret. `None` if the length is not `N`. The source is not wiped.
    #[must_use]
    pub fn copy_from(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == N).then(|| Self::from_fill(|buffer| buffer.copy_from_slice(bytes)))
    }

    /// Reads the secret.
    #[must_use]
    pub fn expose(&self) -> &[u8; N] {
        &self.0
    }

    /// Whether both hold the same bytes, in time that depends on `N` alone.
    #[must_use]
    pub fn ct_eq(&self, other: &Self) -> bool {
        ct_eq(self.expose(), other.expose())
    }
}

impl<const N: usize> Drop for Secret<N> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize> fmt::Debug for Secret<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret<{N}>")
    }
}

/// A secret whose length is known only at run time, wiped on drop.
pub struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// Takes over `bytes`; they are wiped, with the spare capacity, when the value is dropped.
    #[must_use]
    pub const fn from_vec(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// `length` zero bytes, to be filled through [`SecretBytes::expose_mut`].
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        Self(vec![0; length])
    }

    /// Reads the secret.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Writes the secret. The length is fixed, so that growing cannot leave a copy behind.
    pub fn expose_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        wipe_vec(&mut self.0);
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretBytes({})", self.0.len())
    }
}

/// Whether `a` and `b` are equal, in time that depends on their lengths alone.
///
/// For commitments, tags and MACs: values that are not secret but must not be guessed byte by byte.
#[must_use]
pub fn ct_eq(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// Overwrites `bytes` with zeros in a way the compiler may not remove.
///
/// One `memset` instead of a store for each byte, because whole batches of plaintext go through here.
/// The compiler cannot know what `black_box` does with the zeros, so it must have written them.
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    std::hint::black_box(bytes);
}

/// As [`wipe`], with the spare capacity, and leaves `bytes` empty: whoever shortened a buffer has left
/// bytes behind its end.
pub fn wipe_vec(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(bytes.capacity(), 0);
    std::hint::black_box(bytes.as_mut_slice());
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_length_and_no_content() {
        let secret = Secret::<4>::copy_from(b"\xAA\xBB\xCC\xDD").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret<4>");
        assert_eq!(
            format!("{:?}", SecretBytes::from_vec(vec![1, 2])),
            "SecretBytes(2)"
        );
    }

    #[test]
    fn a_copy_of_the_wrong_length_is_refused() {
        assert!(Secret::<4>::copy_from(b"abc").is_none());
        assert!(Secret::<4>::copy_from(b"abcde").is_none());
    }

    #[test]
    fn comparison_sees_every_byte_and_the_length() {
        assert!(ct_eq(b"abc", b"abc"));
        assert!(!ct_eq(b"abc", b"abd"));
        assert!(!ct_eq(b"abc", b"xbc"));
        assert!(!ct_eq(b"abc", b"ab"));
        let (a, b) = (Secret::<2>::copy_from(b"xy"), Secret::<2>::copy_from(b"xz"));
        assert!(!a.unwrap().ct_eq(&b.unwrap()));
    }

    #[test]
    fn a_failed_fill_yields_no_secret() {
        let failed: Result<Secret<4>, &str> = Secret::try_from_fill(|buffer| {
            buffer[0] = 7;
            Err("no")
        });
        assert_eq!(failed.err(), Some("no"));
    }
}
