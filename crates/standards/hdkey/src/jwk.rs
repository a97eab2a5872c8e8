//! Keys as JSON Web Keys (RFC 7517, RFC 8037, RFC 8812): public ones are written; of private ones that come
//! with a public half it is shown that the two belong together.
//!
//! A public half is never taken for granted: signing under another one than the private key's own gives the
//! private key away.
//!
//! Not here: the parsing of JSON, which is the business of whoever reads a file.

use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::signature::SigningKey;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::{Secret, ct_eq};

use crate::Error;
use crate::public::PublicKey;
use crate::scheme::Curve;

impl Curve {
    /// The name in the field `crv`.
    #[must_use]
    pub const fn jwk_name(self) -> &'static str {
        match self {
            Self::Curve25519 => "X25519",
            Self::Ed25519 => "Ed25519",
            Self::P256 => "P-256",
            Self::Secp256k1 => "secp256k1",
        }
    }

    /// The curve of this name.
    #[must_use]
    pub fn of_jwk_name(name: &str) -> Option<Self> {
        [Self::Curve25519, Self::Ed25519, Self::P256, Self::Secp256k1]
            .into_iter()
            .find(|curve| curve.jwk_name() == name)
    }
}

impl PublicKey {
    /// The key as one line of JSON, its fields in the order in which fingerprints of such keys (RFC 7638)
    /// take them.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn to_jwk(&self) -> Result<String, Error> {
        let bytes = self.as_bytes();
        let (curve, point) = match self.scheme().curve() {
            Some(curve @ Curve::Secp256k1) => (
                curve,
                secp256k1::PublicKey::from_sec1(bytes)?.to_uncompressed(),
            ),
            Some(curve @ Curve::P256) => {
                (curve, p256::PublicKey::from_sec1(bytes)?.to_uncompressed())
            }
            Some(curve) => return Ok(octets(curve, bytes)),
            None => return Err(Error::Backend),
        };
        let (x, y) = (base64url(&point[1..33]), base64url(&point[33..]));
        let curve = curve.jwk_name();
        Ok(format!(
            r#"{{"crv":"{curve}","kty":"EC","x":"{x}","y":"{y}"}}"#
        ))
    }
}

fn octets(curve: Curve, bytes: &[u8]) -> String {
    let (curve, x) = (curve.jwk_name(), base64url(bytes));
    format!(r#"{{"crv":"{curve}","kty":"OKP","x":"{x}"}}"#)
}

/// Shows that a private key and what was given as its public key belong together: 32 bytes for the curves of
/// 255 bits, an uncompressed point of 65 bytes for the others.
///
/// # Errors
/// [`Error::HalvesDiffer`] if they do not, [`Error::PrivateKeyRejected`] if the private key is none.
pub fn require_same(curve: Curve, private: &Secret<32>, public: &[u8]) -> Result<(), Error> {
    let own = match curve {
        Curve::Curve25519 => X25519PrivateKey::from_bytes(private)
            .map_err(|_| Error::PrivateKeyRejected)?
            .public_bytes()?
            .to_vec(),
        Curve::Ed25519 => SigningKey::from_seed(private)?
            .verifying_key()
            .as_bytes()
            .to_vec(),
        Curve::P256 => p256::PrivateKey::from_bytes(private.expose())
            .map_err(|_| Error::PrivateKeyRejected)?
            .public_key()?
            .to_uncompressed()
            .to_vec(),
        Curve::Secp256k1 => secp256k1::PrivateKey::from_bytes(private.expose())
            .map_err(|_| Error::PrivateKeyRejected)?
            .public_key()?
            .to_uncompressed()
            .to_vec(),
    };
    match ct_eq(&own, public) {
        true => Ok(()),
        false => Err(Error::HalvesDiffer),
    }
}

/// Base64 for addresses, without padding (RFC 4648, section 5).
fn base64url(bytes: &[u8]) -> String {
    let text = keywright_encoding::base64::encode(bytes);
    text.trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_")
}
