//! Keys that make message authentication codes.

use keywright_custody::{HolderOperation, Usage};
use keywright_primitives::mac::{Aes256Cmac, HmacSha256, HmacSha384, HmacSha512};
use keywright_types::{Algorithm, Code};

/// A version of such a key, in the backend's form.
pub(crate) enum MacVersion {
    Cmac(Aes256Cmac),
    Sha256(HmacSha256),
    Sha384(HmacSha384),
    Sha512(HmacSha512),
}

/// Whether the algorithm makes such codes.
pub(crate) const fn makes_macs(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::HmacSha256
            | Algorithm::HmacSha384
            | Algorithm::HmacSha512
            | Algorithm::Aes256Cmac
    )
}

impl MacVersion {
    pub(crate) fn new(algorithm: Algorithm, secret: &[u8; 32]) -> Result<Self, Code> {
        let made = match algorithm {
            Algorithm::HmacSha256 => HmacSha256::new(secret).map(Self::Sha256),
            Algorithm::HmacSha384 => HmacSha384::new(secret).map(Self::Sha384),
            Algorithm::HmacSha512 => HmacSha512::new(secret).map(Self::Sha512),
            Algorithm::Aes256Cmac => Aes256Cmac::new(secret).map(Self::Cmac),
            _ => return Err(Code::Unsupported),
        };
        made.map_err(|_| Code::HolderUnavailable)
    }

    /// Makes the code of a message, or looks whether that of the usage fits: one byte, 1 if it does.
    pub(crate) fn work(
        &self,
        operation: HolderOperation,
        (usage, message): (&Usage<'_>, &[u8]),
        out: &mut Vec<u8>,
    ) -> Result<(), Code> {
        match operation {
            HolderOperation::Mac => self.make(message, out),
            HolderOperation::VerifyMac => {
                out.push(u8::from(self.fits(message, usage.proof)));
                Ok(())
            }
            _ => Err(Code::Unsupported),
        }
    }

    fn make(&self, message: &[u8], out: &mut Vec<u8>) -> Result<(), Code> {
        match self {
            Self::Cmac(key) => {
                let mac = key.mac(message).map_err(|_| Code::HolderUnavailable)?;
                out.extend_from_slice(&mac);
            }
            Self::Sha256(key) => out.extend_from_slice(&key.mac(message)),
            Self::Sha384(key) => out.extend_from_slice(&key.mac(message)),
            Self::Sha512(key) => out.extend_from_slice(&key.mac(message)),
        }
        Ok(())
    }

    /// In constant time. A code of another length does not fit.
    fn fits(&self, message: &[u8], proof: &[u8]) -> bool {
        match self {
            Self::Cmac(key) => proof
                .try_into()
                .is_ok_and(|mac| key.verify(message, mac).is_ok()),
            Self::Sha256(key) => proof
                .try_into()
                .is_ok_and(|mac| key.verify(message, mac).is_ok()),
            Self::Sha384(key) => proof
                .try_into()
                .is_ok_and(|mac| key.verify(message, mac).is_ok()),
            Self::Sha512(key) => proof
                .try_into()
                .is_ok_and(|mac| key.verify(message, mac).is_ok()),
        }
    }
}
