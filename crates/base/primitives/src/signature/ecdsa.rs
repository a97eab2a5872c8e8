//! ECDSA (FIPS 186-5) over P-256 with SHA-256 and over P-384 with SHA-384.
//!
//! A signature has two spellings: `fixed` is r and s side by side (IEEE P1363, JOSE, PKCS#11), `der` is an
//! ASN.1 sequence of the two (X.509, TLS). Both `(r, s)` and `(r, n - s)` are valid: a signature is no
//! identity of a message. The secret number of each signature is random, so no two are equal.

use aws_lc_rs::digest::{Digest, SHA256, SHA384};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING,
    ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    KeyPair as _, ParsedPublicKey,
};
use keywright_secret::{Secret, SecretBytes};

use crate::agreement::{P256PrivateKey, P384PrivateKey};
use crate::encoding::{P256, P384, one_sequence};
use crate::{Error, Rejected, opaque_debug};

/// The algorithms of the backend for one curve, and its lengths in bytes.
macro_rules! ecdsa {
    (
        $spoken:literal, $signing:ident, $verifying:ident,
        $sign:ident, $fixed:ident, $der:ident,
        $curve:ident, $signature_len:literal, $point_len:literal,
        $scalar:ident, $scalar_len:literal, $digest:ident
    ) => {
        #[doc = concat!("A key that signs with ", $spoken, ".")]
        pub struct $signing(EcdsaKeyPair);

        #[doc = concat!("A key that verifies with ", $spoken, ".")]
        #[derive(Clone)]
        pub struct $verifying {
            fixed: ParsedPublicKey,
            der: ParsedPublicKey,
            spki: Vec<u8>,
        }

        impl $signing {
            /// A new key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn generate() -> Result<Self, Error> {
                let pair = EcdsaKeyPair::generate(&$sign);
                pair.map(Self).map_err(|_| Error::Backend)
            }

            /// The key of this scalar, big-endian.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is zero, or not below the order of the curve.
            pub fn from_scalar(scalar: &Secret<$scalar_len>) -> Result<Self, Error> {
                let public = $scalar::from_bytes(scalar)?.public_bytes()?;
                let pair =
                    EcdsaKeyPair::from_private_key_and_public_key(&$sign, scalar.expose(), &public);
                pair.map(Self).map_err(|_| Error::KeyRejected)
            }

            /// Reads an unencrypted PKCS#8 document (RFC 5958).
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is none, or holds no key of this curve.
            pub fn from_pkcs8(der: &SecretBytes) -> Result<Self, Error> {
                let pair = EcdsaKeyPair::from_pkcs8(&$sign, one_sequence(der.expose())?);
                pair.map(Self).map_err(|_| Error::KeyRejected)
            }

            /// The unencrypted PKCS#8 document of the key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn to_pkcs8(&self) -> Result<SecretBytes, Error> {
                let document = self.0.to_pkcs8v1().map_err(|_| Error::Backend)?;
                Ok(SecretBytes::from_vec(document.as_ref().to_vec()))
            }

            /// Signs `message`: r and s, each as long as the field.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn sign_fixed(&self, message: &[u8]) -> Result<[u8; $signature_len], Error> {
                let signature = self.0.sign(&SystemRandom::new(), message);
                let signature = signature.map_err(|_| Error::Backend)?;
                signature.as_ref().try_into().map_err(|_| Error::Backend)
            }

            /// Signs a digest as it is: r and s, each as long as the field.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn sign_digest(
                &self,
                digest: &[u8; $scalar_len],
            ) -> Result<[u8; $signature_len], Error> {
                let digest = Digest::import_less_safe(digest, &$digest);
                let signature = self.0.sign_digest(&digest.map_err(|_| Error::Backend)?);
                let signature = signature.map_err(|_| Error::Backend)?;
                signature.as_ref().try_into().map_err(|_| Error::Backend)
            }

            /// Signs `message`: an ASN.1 sequence of r and s.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn sign_der(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
                sequence(&self.sign_fixed(message)?)
            }

            /// The public half.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn verifying_key(&self) -> Result<$verifying, Error> {
                $verifying::parse(self.0.public_key().as_ref()).map_err(|_| Error::Backend)
            }
        }

        impl $verifying {
            /// Reads a point as SEC 1 writes it, compressed or not.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is no such point of this curve.
            pub fn from_sec1(point: &[u8]) -> Result<Self, Error> {
                Self::parse($curve.point(point)?)
            }

            /// Reads a `SubjectPublicKeyInfo` (RFC 5480) with the name of the curve and an uncompressed point.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if it is none, or holds no point of this curve.
            pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
                Self::parse($curve.point_of_info(der)?)
            }

            fn parse(point: &[u8]) -> Result<Self, Error> {
                let parsed = |algorithm| ParsedPublicKey::new(algorithm, point);
                let fixed = parsed(&$fixed).map_err(|_| Error::KeyRejected)?;
                let der = parsed(&$der).map_err(|_| Error::KeyRejected)?;
                let spki = fixed.as_der().map_err(|_| Error::KeyRejected)?;
                let spki = spki.as_ref().to_vec();
                Ok(Self { fixed, der, spki })
            }

            /// The `SubjectPublicKeyInfo` (RFC 5280) of the key.
            #[must_use]
            pub fn as_spki_der(&self) -> &[u8] {
                &self.spki
            }

            /// The uncompressed point as SEC 1 writes it.
            #[must_use]
            pub fn as_sec1(&self) -> &[u8] {
                // The info ends in the point, whichever form was read.
                &self.spki[self.spki.len().saturating_sub($point_len)..]
            }

            /// Verifies r and s.
            ///
            /// # Errors
            /// [`Rejected`] if they do not fit.
            pub fn verify_fixed(
                &self,
                message: &[u8],
                signature: &[u8; $signature_len],
            ) -> Result<(), Rejected> {
                let verified = self.fixed.verify_sig(message, signature);
                verified.map_err(|_| Rejected)
            }

            /// Verifies r and s over a digest.
            ///
            /// # Errors
            /// [`Rejected`] if they do not fit.
            pub fn verify_digest(
                &self,
                digest: &[u8; $scalar_len],
                signature: &[u8; $signature_len],
            ) -> Result<(), Rejected> {
                let digest = Digest::import_less_safe(digest, &$digest).map_err(|_| Rejected)?;
                let verified = self.fixed.verify_digest_sig(&digest, signature);
                verified.map_err(|_| Rejected)
            }

            /// Verifies an ASN.1 sequence of r and s, which must be DER.
            ///
            /// # Errors
            /// [`Rejected`] if it is none, or does not fit.
            pub fn verify_der(&self, message: &[u8], signature: &[u8]) -> Result<(), Rejected> {
                let verified = self.der.verify_sig(message, signature);
                verified.map_err(|_| Rejected)
            }
        }
    };
}

ecdsa! {
    "ECDSA over P-256 with SHA-256", P256SigningKey, P256VerifyingKey,
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_ASN1,
    P256, 64, 65, P256PrivateKey, 32, SHA256
}
ecdsa! {
    "ECDSA over P-384 with SHA-384", P384SigningKey, P384VerifyingKey,
    ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_ASN1,
    P384, 96, 97, P384PrivateKey, 48, SHA384
}
opaque_debug! { P256SigningKey P256VerifyingKey P384SigningKey P384VerifyingKey }

/// `SEQUENCE { r INTEGER, s INTEGER }` of the two halves. The backend ties a private key to one spelling,
/// and a second key in memory would be dearer than this.
fn sequence(fixed: &[u8]) -> Result<Vec<u8>, Error> {
    let (r, s) = fixed.split_at(fixed.len() / 2);
    element(0x30, [integer(r)?, integer(s)?].concat())
}

fn integer(big_endian: &[u8]) -> Result<Vec<u8>, Error> {
    let zeros = big_endian.iter().take_while(|byte| **byte == 0).count();
    let digits = &big_endian[zeros..];
    // Without a leading zero a set top bit would be a sign, and zero itself would have no byte.
    let sign = match digits.first() {
        Some(first) if *first < 0x80 => &[][..],
        _ => &[0],
    };
    element(0x02, [sign, digits].concat())
}

/// Tag, length, contents. No length here reaches 128, where DER would spell it otherwise.
fn element(tag: u8, contents: Vec<u8>) -> Result<Vec<u8>, Error> {
    match u8::try_from(contents.len()) {
        Ok(length @ ..0x80) => Ok([vec![tag, length], contents].concat()),
        _ => Err(Error::Backend),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_as_short_as_der_wants_them_and_never_negative() {
        for (bytes, expected) in [
            (&[0, 0, 1][..], &[2, 1, 1][..]),
            (&[0, 0x7F, 0], &[2, 2, 0x7F, 0]),
            (&[0, 0x80], &[2, 2, 0, 0x80]),
            (&[0xFF, 0xFF], &[2, 3, 0, 0xFF, 0xFF]),
            (&[0, 0], &[2, 1, 0]),
        ] {
            assert_eq!(integer(bytes).unwrap(), expected);
        }
        assert_eq!(
            sequence(&[0, 1, 0, 2]).unwrap(),
            [0x30, 6, 2, 1, 1, 2, 1, 2]
        );
        assert_eq!(element(4, vec![0; 128]), Err(Error::Backend));
    }
}
