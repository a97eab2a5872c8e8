//! Key agreement: X25519 (RFC 7748) and ECDH over P-256, P-384 and P-521 (SP 800-56A 5.7.1.2).
//!
//! An `...Ephemeral` agrees once and is gone; an `...PrivateKey` can be kept. What comes out is the shared
//! secret as it is: the caller runs it through [`crate::kdf`], with both public keys in the info, before
//! anything is encrypted with it. The post-quantum way to a shared secret is [`crate::kem`].
//!
//! The backend refuses the all-zero secret of X25519 (RFC 7748, section 6.1). On a NIST curve zero is the
//! x-coordinate of a point like any other, and a secret; a protocol that refuses it looks itself.
//!
//! A private key knows its public half from the moment it exists: asking for it multiplies nothing.

use aws_lc_rs::agreement::{
    Algorithm, ECDH_P256, ECDH_P384, ECDH_P521, ParsedPublicKey, PrivateKey, UnparsedPublicKey,
    X25519, agree,
};
use aws_lc_rs::encoding::{AsBigEndian, Curve25519SeedBin, EcPrivateKeyBin};
use keywright_secret::Secret;

use crate::encoding::{P256, P384, P521};
use crate::{Error, Rejected, opaque_debug};

macro_rules! private_key {
    (
        $spoken:literal, $len:literal, $public_len:literal,
        $private:ident, $ephemeral:ident, $public:ident, $algorithm:ident, $encoding:ident
    ) => {
        #[doc = concat!("A private key for ", $spoken, " that agrees with any number of peers.")]
        pub struct $private(PrivateKey);

        #[doc = concat!("A private key for ", $spoken, " that agrees with one peer and is gone.")]
        pub struct $ephemeral($private);

        #[doc = concat!("A public key for ", $spoken, ".")]
        #[derive(Clone)]
        pub struct $public {
            parsed: ParsedPublicKey,
        }

        impl $private {
            /// Bytes in a key, and in the secret that two of them share.
            pub const LEN: usize = $len;

            /// A new key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn generate() -> Result<Self, Error> {
                let key = PrivateKey::generate(&$algorithm);
                key.map(Self).map_err(|_| Error::Backend)
            }

            #[doc = concat!("The key of these ", $len, " bytes, in the byte order of the standard.")]
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if they are no private key.
            pub fn from_bytes(bytes: &Secret<$len>) -> Result<Self, Error> {
                let key = PrivateKey::from_private_key(&$algorithm, bytes.expose());
                key.map(Self).map_err(|_| Error::KeyRejected)
            }

            #[doc = concat!("The ", $len, " bytes of the key.")]
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn to_bytes(&self) -> Result<Secret<$len>, Error> {
                let bytes: $encoding<'_> = self.0.as_be_bytes().map_err(|_| Error::Backend)?;
                Secret::copy_from(bytes.as_ref()).ok_or(Error::Backend)
            }

            /// The public half.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn public_key(&self) -> Result<$public, Error> {
                $public::parse(&self.public_bytes()?).map_err(|_| Error::Backend)
            }

            /// The public half as it is written, points uncompressed: for whoever sends it and needs no
            /// object to agree with.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn public_bytes(&self) -> Result<[u8; $public_len], Error> {
                let key = self.0.compute_public_key().map_err(|_| Error::Backend)?;
                key.as_ref().try_into().map_err(|_| Error::Backend)
            }

            /// The secret shared with the owner of `peer`.
            ///
            /// # Errors
            /// [`Rejected`] if the two make no secret: the peer's key is of small order.
            pub fn agree(&self, peer: &$public) -> Result<Secret<$len>, Rejected> {
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

            /// The public half as it is written.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn public_bytes(&self) -> Result<[u8; $public_len], Error> {
                self.0.public_bytes()
            }

            /// The secret shared with the owner of `peer`; the key is forgotten.
            ///
            /// # Errors
            /// [`Rejected`] if the two make no secret: the peer's key is of small order.
            pub fn agree(self, peer: &$public) -> Result<Secret<$len>, Rejected> {
                self.0.agree(peer)
            }
        }

        impl $public {
            /// Bytes in a key as it is written, points uncompressed.
            pub const LEN: usize = $public_len;

            fn parse(bytes: &[u8]) -> Result<Self, Error> {
                let parsed = parse(&$algorithm, bytes)?;
                Ok(Self { parsed })
            }
        }

        opaque_debug! { $private $ephemeral $public }
    };
}

macro_rules! point {
    ($public:ident, $curve:ident) => {
        impl $public {
            /// Reads a point as SEC 1 writes it, compressed or not.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is no such point of the curve.
            pub fn from_sec1(point: &[u8]) -> Result<Self, Error> {
                Self::parse($curve.point(point)?)
            }

            /// Reads a `SubjectPublicKeyInfo` (RFC 5480) with the name of the curve and an uncompressed
            /// point.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is none, or holds no point of the curve.
            pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
                Self::parse($curve.point_of_info(der)?)
            }

            /// The point as it was read; of a key that was made here, uncompressed.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                self.parsed.as_ref()
            }
        }
    };
}

private_key! {
    "X25519", 32, 32,
    X25519PrivateKey, X25519Ephemeral, X25519PublicKey, X25519, Curve25519SeedBin
}
private_key! {
    "ECDH over P-256", 32, 65,
    P256PrivateKey, P256Ephemeral, P256PublicKey, ECDH_P256, EcPrivateKeyBin
}
private_key! {
    "ECDH over P-384", 48, 97,
    P384PrivateKey, P384Ephemeral, P384PublicKey, ECDH_P384, EcPrivateKeyBin
}
private_key! {
    "ECDH over P-521", 66, 133,
    P521PrivateKey, P521Ephemeral, P521PublicKey, ECDH_P521, EcPrivateKeyBin
}
point! { P256PublicKey, P256 }
point! { P384PublicKey, P384 }
point! { P521PublicKey, P521 }

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

fn parse(algorithm: &'static Algorithm, bytes: &[u8]) -> Result<ParsedPublicKey, Error> {
    let unparsed = UnparsedPublicKey::new(algorithm, bytes);
    ParsedPublicKey::try_from(unparsed).map_err(|_| Error::KeyRejected)
}
