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
#[cfg(target_arch = "x86_64")]
pub(crate) mod sm4_x86;

use core::fmt;

use zeroize::{Zeroize, Zeroizing};

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

    /// The AES round keys, the first included, if this is an AES key on an x86 backend.
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
    #[cfg(target_arch = "x86_64")]
    if backend != Backend::Portable {
        let (keys, rounds) = x86::expand_aes(key)?;
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
    #[cfg(target_arch = "x86_64")]
    if backend != Backend::Portable {
        return Some(Keys::Sm4(x86::expand_sm4(key, backend)));
    }
    let _ = backend;
    Some(Keys::Sm4(sm4_soft::expand(key, sm4_soft::sub_word)))
}

impl Cipher for Schedule {
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        match &self.keys {
            #[cfg(target_arch = "x86_64")]
            Keys::AesBytes { keys, rounds } => x86::aes(&keys[..=*rounds], block),
            #[cfg(target_arch = "x86_64")]
            Keys::Sm4(keys) if self.backend != Backend::Portable => {
                x86::sm4(keys, self.backend, block)
            }
            keys => {
                let mut out = [block];
                keys.encrypt_portable(&mut out);
                out[0]
            }
        }
    }

    fn encrypt8(&self, blocks: &mut [[u8; 16]; 8]) {
        match &self.keys {
            #[cfg(target_arch = "x86_64")]
            Keys::AesBytes { keys, rounds } => x86::aes8(&keys[..=*rounds], blocks),
            #[cfg(target_arch = "x86_64")]
            Keys::Sm4(keys) if self.backend != Backend::Portable => {
                x86::sm4_8(keys, self.backend, blocks);
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
            // Byte keys are made for x86 backends only, and those do not come here.
            Self::AesBytes { .. } => {}
        }
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        match &mut self.keys {
            Keys::AesBytes { keys, .. } => keys.zeroize(),
            Keys::AesPlanes { keys, .. } => keys.zeroize(),
            Keys::Sm4(keys) => keys.zeroize(),
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

/// The steps from safe code into code that needs instructions the compiler was not promised.
#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "calls into functions with target features")]

    use super::{Backend, aes_ni, aes_soft, sm4_soft, sm4_x86};

    pub(super) fn expand_aes(key: &[u8]) -> Option<(aes_soft::RoundKeys, usize)> {
        // SAFETY: `Schedule::new` has checked that the machine has AES-NI and AVX2.
        aes_soft::expand(key, |word| unsafe { aes_ni::sub_word(word) })
    }

    pub(super) fn expand_sm4(key: &[u8; 16], backend: Backend) -> sm4_soft::RoundKeys {
        if backend == Backend::Sm4Gfni {
            // SAFETY: `Schedule::new` has checked that the machine has GFNI and AVX2.
            sm4_soft::expand(key, |word| unsafe { sm4_x86::sub_word_gfni(word) })
        } else {
            // SAFETY: `Schedule::new` has checked that the machine has AES-NI and AVX2.
            sm4_soft::expand(key, |word| unsafe { sm4_x86::sub_word_aes(word) })
        }
    }

    #[inline]
    pub(super) fn aes(keys: &[[u8; 16]], block: [u8; 16]) -> [u8; 16] {
        // SAFETY: the keys come from a schedule whose backend has AES-NI and AVX2.
        unsafe { aes_ni::encrypt(keys, block) }
    }

    #[inline]
    pub(super) fn aes8(keys: &[[u8; 16]], blocks: &mut [[u8; 16]; 8]) {
        // SAFETY: the keys come from a schedule whose backend has AES-NI and AVX2.
        unsafe { aes_ni::encrypt_many(keys, blocks) }
    }

    #[inline]
    pub(super) fn sm4(keys: &sm4_soft::RoundKeys, backend: Backend, block: [u8; 16]) -> [u8; 16] {
        let mut group = [[block, [0; 16], [0; 16], [0; 16]]];
        sm4_groups(keys, backend, &mut group);
        group[0][0]
    }

    #[inline]
    pub(super) fn sm4_8(keys: &sm4_soft::RoundKeys, backend: Backend, blocks: &mut [[u8; 16]; 8]) {
        let [a, b, c, d, e, f, g, h] = *blocks;
        let mut groups = [[a, b, c, d], [e, f, g, h]];
        sm4_groups(keys, backend, &mut groups);
        blocks.copy_from_slice(groups.as_flattened());
    }

    #[inline]
    fn sm4_groups<const N: usize>(
        keys: &sm4_soft::RoundKeys,
        backend: Backend,
        groups: &mut [[[u8; 16]; 4]; N],
    ) {
        if backend == Backend::Sm4Gfni {
            // SAFETY: a schedule of this backend exists only where GFNI and AVX2 do.
            unsafe { sm4_x86::encrypt_gfni(keys, groups) }
        } else {
            // SAFETY: a schedule of this backend exists only where AES-NI and AVX2 do.
            unsafe { sm4_x86::encrypt_aes(keys, groups) }
        }
    }
}

#[cfg(test)]
mod tests;
