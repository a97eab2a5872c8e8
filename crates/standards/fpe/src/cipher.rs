//! AES (FIPS 197) and SM4 (GB/T 32907-2016) under one key on one backend.
//!
//! Only encryption of blocks: the modes never decrypt one. Every implementation runs in constant
//! time, the key schedules included: there is no table and no branch that depends on a key or a
//! block. The kernels for many values read the round keys from here and bring their own loops.

mod aes_soft;
mod backend;
mod sbox;
mod sm4_soft;

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes_ni;
#[cfg(target_arch = "aarch64")]
pub(crate) mod arm;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[cfg_attr(target_arch = "x86_64", path = "cipher/native/x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "cipher/native/arm.rs")]
mod native;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sm4_x86;

use core::fmt;

use zeroize::Zeroizing;

use crate::kernel::wipe;

pub use backend::{Algorithm, Backend, UnknownBackend};

/// A block cipher under a fixed key.
pub(crate) trait Cipher {
    /// Encrypts one block.
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16];
    /// Encrypts eight independent blocks in place.
    fn encrypt8(&self, blocks: &mut [[u8; 16]; 8]);
}

/// Why a key could not be scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScheduleError {
    /// The cipher has no keys of this many bytes.
    KeySize { algorithm: Algorithm, bytes: usize },
    /// The backend does not serve the algorithm.
    NotServed {
        algorithm: Algorithm,
        backend: Backend,
    },
    /// This machine cannot run the backend.
    Unavailable {
        algorithm: Algorithm,
        backend: Backend,
    },
}

/// The round keys of one key, in the form its backend wants; wiped on drop.
pub(crate) struct Schedule {
    backend: Backend,
    keys: Keys,
}

/// Zeros in every byte are the first form, so that a wiped one is a value still.
#[repr(u8)]
enum Keys {
    AesBytes {
        keys: aes_soft::RoundKeys,
        rounds: usize,
    },
    AesPlanes {
        keys: [[u16; 8]; 15],
        rounds: usize,
    },
    Sm4(sm4_soft::RoundKeys),
}

impl Schedule {
    /// Schedules `key` for `backend`.
    ///
    /// A schedule exists only for a backend that this machine can run: the calls into SIMD code
    /// below and in the kernels rely on that.
    pub(crate) fn new(
        algorithm: Algorithm,
        key: &[u8],
        backend: Backend,
    ) -> Result<Self, ScheduleError> {
        if !backend.serves(algorithm) {
            return Err(ScheduleError::NotServed { algorithm, backend });
        }
        if !backend.is_available() {
            return Err(ScheduleError::Unavailable { algorithm, backend });
        }
        let keys = match algorithm {
            Algorithm::Aes => expand_aes(key, backend),
            Algorithm::Sm4 => expand_sm4(key, backend),
        };
        match keys {
            Some(keys) => Ok(Self { backend, keys }),
            None => Err(ScheduleError::KeySize {
                algorithm,
                bytes: key.len(),
            }),
        }
    }

    /// The backend the key was scheduled for.
    pub(crate) const fn backend(&self) -> Backend {
        self.backend
    }

    /// The AES round keys, the first included, if this is an AES key on a backend with instructions for it.
    pub(crate) fn aes_keys(&self) -> Option<&[[u8; 16]]> {
        match &self.keys {
            Keys::AesBytes { keys, rounds } => keys.get(..=*rounds),
            _ => None,
        }
    }

    /// The SM4 round keys, if this is an SM4 key.
    pub(crate) const fn sm4_keys(&self) -> Option<&[u32; 32]> {
        match &self.keys {
            Keys::Sm4(keys) => Some(keys),
            _ => None,
        }
    }
}

fn expand_aes(key: &[u8], backend: Backend) -> Option<Keys> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if backend != Backend::Portable {
        let (keys, rounds) = native::expand_aes(key)?;
        return Some(Keys::AesBytes { keys, rounds });
    }
    let _ = backend;
    let (keys, rounds) = aes_soft::expand(key, aes_soft::sub_word)?;
    let keys = Zeroizing::new(keys);
    Some(Keys::AesPlanes {
        keys: aes_soft::to_planes(&keys),
        rounds,
    })
}

fn expand_sm4(key: &[u8], backend: Backend) -> Option<Keys> {
    let key = key.try_into().ok()?;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if backend != Backend::Portable {
        return Some(Keys::Sm4(native::expand_sm4(key, backend)));
    }
    let _ = backend;
    Some(Keys::Sm4(sm4_soft::expand(key, sm4_soft::sub_word)))
}

impl Cipher for Schedule {
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        let mut out = [block];
        match &self.keys {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Keys::AesBytes { keys, rounds } => native::aes(&keys[..=*rounds], &mut out),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Keys::Sm4(keys) if self.backend != Backend::Portable => {
                return native::sm4(keys, self.backend, block);
            }
            keys => keys.encrypt_portable(&mut out),
        }
        out[0]
    }

    fn encrypt8(&self, blocks: &mut [[u8; 16]; 8]) {
        match &self.keys {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Keys::AesBytes { keys, rounds } => native::aes(&keys[..=*rounds], blocks),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Keys::Sm4(keys) if self.backend != Backend::Portable => {
                native::sm4_8(keys, self.backend, blocks);
            }
            keys => keys.encrypt_portable(blocks),
        }
    }
}

impl Keys {
    fn encrypt_portable(&self, blocks: &mut [[u8; 16]]) {
        match self {
            Self::AesPlanes { keys, rounds } => {
                for four in blocks.chunks_mut(4) {
                    aes_soft::encrypt(&keys[..=*rounds], four);
                }
            }
            Self::Sm4(keys) => sm4_soft::encrypt(keys, blocks),
            // Byte keys are made for backends with AES instructions only, and those do not come here.
            Self::AesBytes { .. } => {}
        }
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        // All of it, whatever form it has: what a shorter form leaves free may hold what was there before.
        wipe(&mut self.keys);
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
