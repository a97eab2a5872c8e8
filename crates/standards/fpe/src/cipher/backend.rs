//! Which instructions do the work: names, detection, and what each backend serves.
//!
//! Detection asks the processor and the operating system (the state of wide registers has to be
//! saved by it) through the standard library. Without `std` there is nobody to ask, so only the
//! portable backend exists. Environment variables are not read here: the faces do that and pass a
//! [`Backend`].

use core::fmt;
use core::str::FromStr;

/// A block cipher that the modes run over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// AES (FIPS 197) with keys of 16, 24 or 32 bytes.
    Aes,
    /// SM4 (GB/T 32907) with keys of 16 bytes.
    Sm4,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes => "aes",
            Self::Sm4 => "sm4",
        })
    }
}

/// An implementation of the block ciphers and of the kernels built on them.
///
/// All backends compute the same values; they differ in speed and in what they ask of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Bitsliced code without any special instruction; serves AES and SM4 everywhere.
    Portable,
    /// AES with AES-NI, eight blocks interleaved in batches; asks for AVX2, BMI2 and FMA as well.
    AesNi,
    /// AES with two blocks per instruction (VAES with AVX2, no AVX-512).
    Vaes256,
    /// AES with four blocks per instruction (VAES with AVX-512).
    Vaes512,
    /// SM4 by way of the AES-NI inversion, with byte shuffles for the affine maps.
    Sm4AesNi,
    /// SM4 with GFNI, sixteen blocks side by side with AVX-512.
    Sm4Gfni,
    /// AES with the Armv8 AES instructions.
    ArmAes,
    /// SM4 with the Armv8.2 SM4 instructions.
    ArmSm4,
}

impl Backend {
    /// Every backend, portable first, then by processor and algorithm from narrow to wide.
    pub const ALL: [Self; 8] = [
        Self::Portable,
        Self::AesNi,
        Self::Vaes256,
        Self::Vaes512,
        Self::Sm4AesNi,
        Self::Sm4Gfni,
        Self::ArmAes,
        Self::ArmSm4,
    ];

    /// The fastest backend of this machine for `algorithm`.
    #[must_use]
    pub fn detect(algorithm: Algorithm) -> Self {
        let fastest_first: &[Self] = match algorithm {
            Algorithm::Aes => &[Self::Vaes512, Self::Vaes256, Self::AesNi, Self::ArmAes],
            Algorithm::Sm4 => &[Self::Sm4Gfni, Self::Sm4AesNi, Self::ArmSm4],
        };
        fastest_first
            .iter()
            .copied()
            .find(|backend| backend.is_available())
            .unwrap_or(Self::Portable)
    }

    /// Whether this machine, with its operating system, can run the backend.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(feature = "std")]
            _ => self.has_instructions(),
            #[cfg(not(feature = "std"))]
            _ => false,
        }
    }

    /// Whether keys of `algorithm` can be used on the backend.
    #[must_use]
    pub const fn serves(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Portable => true,
            Self::AesNi | Self::Vaes256 | Self::Vaes512 | Self::ArmAes => {
                matches!(algorithm, Algorithm::Aes)
            }
            Self::Sm4AesNi | Self::Sm4Gfni | Self::ArmSm4 => matches!(algorithm, Algorithm::Sm4),
        }
    }

    /// The word that names the backend in settings and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::AesNi => "aesni",
            Self::Vaes256 => "vaes256",
            Self::Vaes512 => "vaes512",
            Self::Sm4AesNi => "sm4-aesni",
            Self::Sm4Gfni => "sm4-gfni",
            Self::ArmAes => "arm-aes",
            Self::ArmSm4 => "arm-sm4",
        }
    }

    /// The features named here are the ones that the `target_feature` attributes of the cipher
    /// and kernel modules name; a call into those modules is sound because this function said yes.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn has_instructions(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        let narrow = has!("aes") && has!("avx2") && has!("bmi2") && has!("fma");
        let wide =
            narrow && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        match self {
            Self::Portable => true,
            Self::AesNi | Self::Sm4AesNi => narrow,
            Self::Vaes256 => narrow && has!("vaes"),
            Self::Vaes512 => wide && has!("vaes"),
            Self::Sm4Gfni => wide && has!("gfni"),
            Self::ArmAes | Self::ArmSm4 => false,
        }
    }

    /// As above. What is written for little-endian registers serves no other order.
    #[cfg(all(target_arch = "aarch64", feature = "std"))]
    fn has_instructions(self) -> bool {
        use std::arch::is_aarch64_feature_detected as has;
        match self {
            Self::Portable => true,
            Self::ArmAes => cfg!(target_endian = "little") && has!("aes"),
            Self::ArmSm4 => cfg!(target_endian = "little") && has!("sm4"),
            _ => false,
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[cfg(feature = "std")]
    const fn has_instructions(self) -> bool {
        matches!(self, Self::Portable)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word given is not the name of a [`Backend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownBackend;

impl fmt::Display for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown backend: expected one of")?;
        Backend::ALL
            .iter()
            .try_for_each(|backend| write!(f, " {backend}"))
    }
}

impl core::error::Error for UnknownBackend {}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(word: &str) -> Result<Self, UnknownBackend> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.name() == word)
            .ok_or(UnknownBackend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_its_backend() {
        for backend in Backend::ALL {
            assert_eq!(backend.name().parse(), Ok(backend));
        }
    }

    #[test]
    fn a_word_that_is_no_backend_is_refused() {
        for word in ["", "AESNI", "aesni ", "vaes", "neon"] {
            assert_eq!(word.parse::<Backend>(), Err(UnknownBackend));
        }
    }

    #[test]
    fn what_is_detected_is_available_and_serves_the_algorithm() {
        for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
            let backend = Backend::detect(algorithm);
            assert!(backend.is_available());
            assert!(backend.serves(algorithm));
        }
    }
}
