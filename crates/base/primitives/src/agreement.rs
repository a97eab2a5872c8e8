//! Key agreement: X25519 (RFC 7748) and ECDH over P-256 (SP 800-56A 5.7.1.2).
//!
//! An `...Ephemeral` agrees once and is gone; an `...PrivateKey` can be kept. What comes out is the shared
//! secret as it is: the caller runs it through [`crate::kdf`], with both public keys in the info, before
//! anything is encrypted with it. The post-quantum way to a shared secret is [`crate::kem`].

use aws_lc_rs::agreement::{
    Algorithm, ECDH_P256, ParsedPublicKey, PrivateKey, UnparsedPublicKey, X25519, agree,
};
use aws_lc_rs::encoding::{AsBigEndian, Curve25519SeedBin, EcPrivateKeyBin};
use keywright_secret::Secret;

use crate::encoding::P256;
use crate::{Error, Rejected, opaque_debug};

macro_rules! private_key {
    (
        $spoken:literal, $private:ident, $ephemeral:ident, $public:ident,
        $algorithm:ident, $encoding:ident
    ) => {
        #[doc = concat!("A private key for ", $spoken, " that agrees with any number of peers.")]
        pub struct $private(PrivateKey);

        #[doc = concat!("A private key for ", $spoken, " that agrees with one peer and is gone.")]
        pub struct $ephemeral($private);

        impl $private {
            /// A new key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn generate() -> Result<Self, Error> {
                let key = PrivateKey::generate(&$algorithm);
                key.map(Self).map_err(|_| Error::Backend)
            }

            /// The key of these 32 bytes, in the byte order of the standard.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if they are no private key.
            pub fn from_bytes(bytes: &Secret<32>) -> Result<Self, Error> {
                let key = PrivateKey::from_private_key(&$algorithm, bytes.expose());
                key.map(Self).map_err(|_| Error::KeyRejected)
            }

            /// The 32 bytes of the key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn to_bytes(&self) -> Result<Secret<32>, Error> {
                let bytes: $encoding<'_> = self.0.as_be_bytes().map_err(|_| Error::Backend)?;
                Secret::copy_from(bytes.as_ref()).ok_or(Error::Backend)
            }

            /// The public half.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn public_key(&self) -> Result<$public, Error> {
                let key = self.0.compute_public_key().map_err(|_| Error::Backend)?;
                $public::parse(key.as_ref()).map_err(|_| Error::Backend)
            }

            /// The secret shared with the owner of `peer`.
            ///
            /// # Errors
            /// [`Rejected`] if the two make no secret: the peer's key is of small order.
            pub fn agree(&self, peer: &$public) -> Result<Secret<32>, Rejected> {
                agree(&self.0, peer.parsed.clone(), Rejected, |secret| {
                    Secret::copy_from(secret).ok_or(Rejected)
                })
            }
        }

        impl $ephemeral {
            /// A new key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn generate() -> Result<Self, Error> {
                $private::generate().map(Self)
            }

            /// The public half.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn public_key(&self) -> Result<$public, Error> {
                self.0.public_key()
            }

            /// The secret shared with the owner of `peer`; the key is forgotten.
            ///
            /// # Errors
            /// [`Rejected`] if the two make no secret: the peer's key is of small order.
            pub fn agree(self, peer: &$public) -> Result<Secret<32>, Rejected> {
                self.0.agree(peer)
            }
        }

        impl $public {
            fn parse(bytes: &[u8]) -> Result<Self, Error> {
                let parsed = parse(&$algorithm, bytes)?;
                Ok(Self { parsed })
            }
        }
    };
}

/// A public key for X25519.
#[derive(Clone)]
pub struct X25519PublicKey {
    parsed: ParsedPublicKey,
}

/// A public key for ECDH over P-256.
#[derive(Clone)]
pub struct P256PublicKey {
    parsed: ParsedPublicKey,
}

private_key! {
    "X25519", X25519PrivateKey, X25519Ephemeral, X25519PublicKey, X25519, Curve25519SeedBin
}
private_key! {
    "ECDH over P-256", P256PrivateKey, P256Ephemeral, P256PublicKey, ECDH_P256, EcPrivateKeyBin
}
opaque_debug! {
    X25519PrivateKey X25519Ephemeral X25519PublicKey P256PrivateKey P256Ephemeral P256PublicKey
}

impl X25519PublicKey {
    /// Takes a public key; every value is one, though some make no secret.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the backend refuses it.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        Self::parse(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.parsed.as_ref()
    }
}

impl P256PublicKey {
    /// Reads a point as SEC 1 writes it, compressed or not.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is no such point of the curve.
    pub fn from_sec1(point: &[u8]) -> Result<Self, Error> {
        Self::parse(P256.point(point)?)
    }

    /// Reads a `SubjectPublicKeyInfo` (RFC 5480) with the name of the curve and an uncompressed point.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is none, or holds no point of the curve.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        Self::parse(P256.point_of_info(der)?)
    }

    /// The point as it was read; of a key that was made here, uncompressed.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.parsed.as_ref()
    }
}

fn parse(algorithm: &'static Algorithm, bytes: &[u8]) -> Result<ParsedPublicKey, Error> {
    let unparsed = UnparsedPublicKey::new(algorithm, bytes);
    ParsedPublicKey::try_from(unparsed).map_err(|_| Error::KeyRejected)
}
