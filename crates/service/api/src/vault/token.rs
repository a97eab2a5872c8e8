//! The text of a token that a client gets for its certificate.
//!
//! ```text
//! kwv1. + hexadecimal of: not-after u64 (seconds since 1970) | MAC 32
//! ```
//!
//! Not here: what the MAC is over, which is the server's business alone.

use std::fmt;

use keywright_encoding::hex;

/// The parts of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginToken {
    /// When it ends, in seconds since 1970.
    pub not_after: u64,
    /// What proves it.
    pub mac: [u8; 32],
}

impl LoginToken {
    /// A token of these parts.
    #[must_use]
    pub const fn new(not_after: u64, mac: [u8; 32]) -> Self {
        Self { not_after, mac }
    }

    /// Reads a token. Each has one spelling.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let bytes: [u8; 40] = hex::decode_array(digits).ok()?;
        let (not_after, mac) = bytes.split_first_chunk::<8>()?;
        Some(Self {
            not_after: u64::from_be_bytes(*not_after),
            mac: mac.try_into().ok()?,
        })
    }

    /// The text. It works for whoever shows the certificate beside it.
    #[must_use]
    pub fn expose(&self) -> String {
        let bytes = [&self.not_after.to_be_bytes()[..], &self.mac].concat();
        format!("{PREFIX}{}", hex::encode(&bytes))
    }
}

impl fmt::Debug for LoginToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoginToken(until {})", self.not_after)
    }
}

const PREFIX: &str = "kwv1.";
