//! For tests and measurements: salts, nonces and costs chosen by the caller. What protects a secret comes
//! from [`crate::Container`], which chooses them itself.

use keywright_secret::{Secret, SecretBytes};

use crate::container::{Chosen, Nonce, seal_with};
use crate::{Cost, Error, Limits};

/// A container with this cost, salt and nonce: for tests. Sealing two secrets under one password, salt and
/// nonce gives both away.
///
/// # Errors
/// As [`crate::Container::seal`]; [`Error::OutOfBounds`] for a cost outside the standard limits.
pub fn seal_with_nonce(
    secret: &Secret<48>,
    password: &SecretBytes,
    cost: Cost,
    salt: [u8; 16],
    nonce: [u8; 24],
) -> Result<Vec<u8>, Error> {
    let chosen = Chosen {
        cost,
        salt,
        nonce: Nonce::Stated(nonce),
    };
    seal_with(secret, password, &chosen, &Limits::standard()).map(|sealed| sealed.bytes)
}

/// Argon2id 0x13 as the containers use it: 32 bytes. For tests, and for measuring what a cost costs: the
/// rows `kdf.argon2id.*` of `keywright bench` call it.
///
/// # Errors
/// As [`crate::Container::open`].
pub fn stretch(password: &[u8], salt: &[u8], cost: Cost) -> Result<Secret<32>, Error> {
    crate::stretch::stretch(password, salt, cost, &Limits::standard()).map(|(key, _)| key)
}
