//! What one operation is, and everything that follows from it: name, counts, backend, worker.

use std::fmt;

use keywright_fpe::{Algorithm, Alphabet, Backend, Mode};
use keywright_measure::{TargetError, Worker};

use super::super::row::Row;
use super::{batch, single};
use crate::operation::Setting;

/// A block cipher with the length of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what the modes run over")]
pub enum Cipher {
    /// AES with 16 bytes.
    Aes128,
    /// AES with 24 bytes.
    Aes192,
    /// AES with 32 bytes.
    Aes256,
    /// SM4 with 16 bytes.
    Sm4,
}

impl Cipher {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Aes128, Self::Aes192, Self::Aes256, Self::Sm4];

    pub(super) const fn algorithm(self) -> Algorithm {
        match self {
            Self::Sm4 => Algorithm::Sm4,
            _ => Algorithm::Aes,
        }
    }

    pub(super) const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 | Self::Sm4 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes128",
            Self::Aes192 => "aes192",
            Self::Aes256 => "aes256",
            Self::Sm4 => "sm4",
        }
    }
}

/// What values are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symbols {
    /// Text over a usual alphabet of 36, 62 or 64 symbols.
    Base(u32),
    /// Digits below a radix; text over the decimal digits if it is 10.
    Radix(u32),
}

impl Symbols {
    pub(super) const fn radix(self) -> u32 {
        match self {
            Self::Base(radix) | Self::Radix(radix) => radix,
        }
    }

    /// The alphabet with its symbols in order, of what is text.
    pub(super) const fn text(self) -> Option<(&'static Alphabet, &'static [u8])> {
        match self {
            Self::Radix(10) => Some((Alphabet::DIGITS, b"0123456789")),
            Self::Base(36) => Some((
                Alphabet::BASE36_LOWER,
                b"0123456789abcdefghijklmnopqrstuvwxyz",
            )),
            Self::Base(62) => Some((
                Alphabet::BASE62,
                b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            )),
            Self::Base(64) => Some((
                Alphabet::BASE64_URL,
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            )),
            _ => None,
        }
    }
}

/// How values are put through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the ways of this module")]
pub enum Way {
    /// Many, encrypted.
    Batch,
    /// Many, decrypted.
    BatchDecrypt,
    /// Many, as digits even where the radix is 10.
    BatchDigits,
    /// Many, a tweak each.
    BatchTweaks,
    /// One, decrypted.
    Decrypt,
    /// One as digits, where it stands.
    Inplace,
    /// One, with a key made for it.
    Oneshot,
    /// One as digits, into another buffer.
    Separate,
    /// One, encrypted under a prepared tweak.
    Single,
    /// One, encrypted under a tweak of the call.
    SingleTweak,
    /// Many, over so many threads.
    Threads(u32),
}

impl Way {
    /// Whether one operation is many values.
    #[must_use]
    pub const fn is_batch(self) -> bool {
        matches!(
            self,
            Self::Batch
                | Self::BatchDecrypt
                | Self::BatchDigits
                | Self::BatchTweaks
                | Self::Threads(_)
        )
    }

    /// Whether values are digits, whatever the symbols are.
    pub(super) const fn wants_digits(self) -> bool {
        matches!(self, Self::BatchDigits | Self::Inplace | Self::Separate)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Batch => "batch",
            Self::BatchDecrypt => "batch.decrypt",
            Self::BatchDigits => "batch.digits",
            Self::BatchTweaks => "batch.tweaks",
            Self::Decrypt => "decrypt",
            Self::Inplace => "inplace",
            Self::Oneshot => "oneshot",
            Self::Separate => "separate",
            Self::Single => "single",
            Self::SingleTweak => "single.tweak",
            Self::Threads(threads) => return write!(out, "batch.t{threads}"),
        })
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Task {
    /// The mode.
    pub mode: Mode,
    /// The block cipher.
    pub cipher: Cipher,
    /// What values are made of.
    pub symbols: Symbols,
    /// Digits of a value.
    pub digits: u32,
    /// How values are put through.
    pub way: Way,
}

impl Task {
    /// Values of one operation. A batch and its result stay in the first cache, if there are not several
    /// threads to keep busy.
    #[must_use]
    pub fn records(self) -> u32 {
        const TOGETHER: u32 = 16 << 10;
        match self.way {
            Way::Threads(_) => 1 << 22,
            way if way.is_batch() => 1 << (TOGETHER / self.value_bytes()).clamp(64, 1024).ilog2(),
            _ => 1,
        }
    }

    /// Bytes of a value.
    fn value_bytes(self) -> u32 {
        let wide = self.symbols.radix() > 256;
        self.digits * if wide { 2 } else { 1 }
    }

    /// Bytes of all values of one operation.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.records()) * u64::from(self.value_bytes())
    }

    /// The backend that is measured: the one that was asked for, or the best of the machine.
    #[must_use]
    pub fn backend(self, asked: Option<Backend>) -> Backend {
        asked.unwrap_or_else(|| Backend::detect(self.cipher.algorithm()))
    }

    /// Threads that work at the same time within one operation.
    #[must_use]
    pub const fn threads(self) -> u32 {
        match self.way {
            Way::Threads(threads) => threads,
            _ => 1,
        }
    }

    pub(super) const fn tweak_bytes(self) -> usize {
        match self.mode {
            Mode::Ff31 => 7,
            _ => 8,
        }
    }

    /// What does it.
    ///
    /// # Errors
    /// The backend does not run the cipher, or this machine does not have it.
    pub(crate) fn worker(
        self,
        name: &'static str,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn Worker>, TargetError> {
        let bytes = usize::try_from(self.bytes()).unwrap_or(usize::MAX);
        let row = Row {
            name,
            bytes,
            setting,
        };
        if self.way.is_batch() {
            batch::worker(self, &row)
        } else {
            single::worker(self, &row)
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mode, cipher) = (self.mode, self.cipher.name());
        match self.symbols {
            Symbols::Base(radix) => write!(out, "fpe.{mode}.{cipher}.base{radix}")?,
            Symbols::Radix(radix) => write!(out, "fpe.{mode}.{cipher}.r{radix}")?,
        }
        write!(out, ".n{}.{}", self.digits, self.way)
    }
}
