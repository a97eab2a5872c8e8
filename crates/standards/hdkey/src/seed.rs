//! Seeds: bytes, and how they came to be.

use keywright_secret::{Secret, SecretBytes};

use crate::Error;
use crate::scheme::SeedScheme;

/// Bytes in the shortest and the longest seed.
const SHORTEST: usize = 16;
const LONGEST: usize = 64;

/// What a tree grows from.
#[derive(Debug)]
pub struct Seed {
    bytes: SecretBytes,
    scheme: SeedScheme,
}

impl Seed {
    /// Takes 16 to 64 bytes as they are.
    ///
    /// # Errors
    /// [`Error::SeedLength`] for any other number.
    pub fn raw(bytes: &[u8]) -> Result<Self, Error> {
        Self::restore(bytes, SeedScheme::Raw)
    }

    /// Takes the bytes of a seed that was made before, with the name it was kept under.
    ///
    /// # Errors
    /// [`Error::SeedLength`] unless there are 16 to 64, and 64 for what is made of words.
    pub fn restore(bytes: &[u8], scheme: SeedScheme) -> Result<Self, Error> {
        let found = bytes.len();
        let good = match scheme {
            SeedScheme::Raw => (SHORTEST..=LONGEST).contains(&found),
            SeedScheme::Apollo | SeedScheme::Bip39 => found == LONGEST,
            SeedScheme::Node => false,
        };
        match good {
            true => Ok(Self {
                bytes: SecretBytes::from_vec(bytes.to_vec()),
                scheme,
            }),
            false => Err(Error::SeedLength { found }),
        }
    }

    /// What a function of words has made.
    pub(crate) fn made(bytes: &Secret<LONGEST>, scheme: SeedScheme) -> Self {
        Self {
            bytes: SecretBytes::from_vec(bytes.expose().to_vec()),
            scheme,
        }
    }

    /// How the seed came to be.
    #[must_use]
    pub const fn scheme(&self) -> SeedScheme {
        self.scheme
    }

    /// The bytes.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.bytes.expose()
    }
}
