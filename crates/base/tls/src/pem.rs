//! PEM (RFC 7468) in and out.

use std::fmt;

use keywright_encoding::base64;
use keywright_secret::{SecretBytes, wipe};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use zeroize::Zeroize;

use crate::{Error, Role};

/// A private key in DER, wiped on drop.
pub struct PrivateKey(PrivateKeyDer<'static>);

impl PrivateKey {
    /// Reads the key.
    #[must_use]
    pub const fn expose(&self) -> &PrivateKeyDer<'static> {
        &self.0
    }
}

impl Drop for PrivateKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

/// All certificates of a file, in order; sections of other kinds are passed over.
///
/// # Errors
/// [`Error::Pem`] or [`Error::Empty`].
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    sections(pem, Role::Certificate)
}

/// The one private key of a file (PKCS #8, SEC 1 or PKCS #1).
///
/// # Errors
/// [`Error::Pem`], [`Error::Empty`], or [`Error::Several`].
pub fn private_key(pem: &[u8]) -> Result<PrivateKey, Error> {
    let mut keys = PrivateKeyDer::pem_slice_iter(pem).map(|key| key.map(PrivateKey));
    let role = Role::PrivateKey;
    let key = keys
        .next()
        .ok_or(Error::Empty(role))?
        .map_err(|error| unreadable(&error, role))?;
    match keys.next() {
        None => Ok(key),
        Some(Ok(_)) => Err(Error::Several(role)),
        Some(Err(error)) => Err(unreadable(&error, role)),
    }
}

/// All revocation lists of a file, in order.
///
/// # Errors
/// [`Error::Pem`] or [`Error::Empty`].
pub fn revocation_lists(pem: &[u8]) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
    sections(pem, Role::RevocationLists)
}

/// All sections of one kind; none is an error, and so is a damaged one.
pub(crate) fn sections<T: PemObject>(pem: &[u8], role: Role) -> Result<Vec<T>, Error> {
    let found = T::pem_slice_iter(pem)
        .collect::<Result<Vec<T>, _>>()
        .map_err(|error| unreadable(&error, role))?;
    if found.is_empty() {
        return Err(Error::Empty(role));
    }
    Ok(found)
}

/// The library's error carries lines of the file, so it ends here.
fn unreadable(error: &pem::Error, role: Role) -> Error {
    match error {
        pem::Error::NoItemsFound => Error::Empty(role),
        _ => Error::Pem(role),
    }
}

/// One PEM section. Secret by default: of the two things written here, one is a private key.
pub(crate) fn encode(label: &str, der: &[u8]) -> SecretBytes {
    let mut digits = base64::encode(der).into_bytes();
    // Room for all of it, so that growing leaves no copy behind.
    let mut out = Vec::with_capacity(digits.len() / 64 * 65 + 66 + 2 * label.len() + 32);
    let mark = |out: &mut Vec<u8>, word: &str| {
        for piece in ["-----", word, " ", label, "-----\n"] {
            out.extend_from_slice(piece.as_bytes());
        }
    };
    mark(&mut out, "BEGIN");
    for line in digits.chunks(64) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    mark(&mut out, "END");
    wipe(&mut digits);
    SecretBytes::from_vec(out)
}
