//! What all RSA keys (RFC 8017) share: their sizes.
//!
//! Keys of other sizes are refused, in both directions: shorter ones are weak, longer ones cost a verifier
//! more than it should pay for a stranger's key.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{KeySize, PublicKey, RsaParameters};

use crate::Error;
use crate::encoding::one_sequence;

/// The length of a modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a fourth size would be another decision"
)]
pub enum RsaSize {
    /// 2048 bits.
    Rsa2048,
    /// 3072 bits.
    Rsa3072,
    /// 4096 bits.
    Rsa4096,
}

impl RsaSize {
    /// All, from short to long.
    pub const ALL: [Self; 3] = [Self::Rsa2048, Self::Rsa3072, Self::Rsa4096];

    /// Bits in the modulus.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::Rsa2048 => 2048,
            Self::Rsa3072 => 3072,
            Self::Rsa4096 => 4096,
        }
    }

    /// Bytes in the modulus, in a signature and in a ciphertext.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.bits() / 8
    }

    pub(crate) fn of_bits(bits: usize) -> Result<Self, Error> {
        let mut all = Self::ALL.into_iter();
        all.find(|size| size.bits() == bits)
            .ok_or(Error::KeyRejected)
    }

    pub(crate) const fn backend(self) -> KeySize {
        match self {
            Self::Rsa2048 => KeySize::Rsa2048,
            Self::Rsa3072 => KeySize::Rsa3072,
            Self::Rsa4096 => KeySize::Rsa4096,
        }
    }
}

/// The size of a public key, and its `SubjectPublicKeyInfo`. `der` is one, or an `RSAPublicKey`.
pub(crate) fn read_public(der: &[u8]) -> Result<(RsaSize, Vec<u8>), Error> {
    let key = PublicKey::from_der(one_sequence(der)?).map_err(|_| Error::KeyRejected)?;
    let bits = RsaParameters::public_modulus_len(key.as_ref()).map_err(|_| Error::KeyRejected)?;
    let bits = usize::try_from(bits).map_err(|_| Error::KeyRejected)?;
    let spki = key.as_der().map_err(|_| Error::KeyRejected)?;
    Ok((RsaSize::of_bits(bits)?, spki.as_ref().to_vec()))
}
