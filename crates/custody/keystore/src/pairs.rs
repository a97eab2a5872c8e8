//! Key pairs that only the backend works with: ECDSA over P-384, RSA, ML-DSA-65.
//!
//! The stored secret of P-384 is its scalar, that of ML-DSA its seed, that of RSA a PKCS#8 document, as long as its
//! primes make it. None of them fits a slot of the arena: the backend keeps the private key on its own heap, in the
//! locked process, for as long as the version is loaded.

use keywright_custody::{Form, HolderOperation, Input, Usage};
use keywright_encoding::{base64, der, put_lp};
use keywright_primitives::hash::{sha256, sha384};
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::ecdsa::{P384SigningKey, P384VerifyingKey};
use keywright_primitives::signature::ml_dsa::{MlDsa65SigningKey, MlDsa65VerifyingKey};
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{Algorithm, Code};

/// A version of such a key.
pub(crate) enum KeyPair {
    MlDsa(Box<MlDsa65SigningKey>, MlDsa65VerifyingKey),
    P384(P384SigningKey, P384VerifyingKey),
    Rsa(Padding, RsaSigningKey, RsaVerifyingKey),
}

/// What is done with a hash before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    Pkcs1,
    Pss,
}

/// The padding and size of an RSA algorithm.
const fn rsa_of(algorithm: Algorithm) -> Option<(Padding, RsaSize)> {
    match algorithm {
        Algorithm::Rsa2048Pkcs1 => Some((Padding::Pkcs1, RsaSize::Rsa2048)),
        Algorithm::Rsa2048Pss => Some((Padding::Pss, RsaSize::Rsa2048)),
        Algorithm::Rsa3072Pkcs1 => Some((Padding::Pkcs1, RsaSize::Rsa3072)),
        Algorithm::Rsa3072Pss => Some((Padding::Pss, RsaSize::Rsa3072)),
        Algorithm::Rsa4096Pkcs1 => Some((Padding::Pkcs1, RsaSize::Rsa4096)),
        Algorithm::Rsa4096Pss => Some((Padding::Pss, RsaSize::Rsa4096)),
        _ => None,
    }
}

/// Whether the algorithm's keys are such pairs.
pub(crate) const fn is_pair(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::EcdsaP384 | Algorithm::MlDsa65) || rsa_of(algorithm).is_some()
}

/// A new document, for keys whose secret is no random string; `None` for all others. Takes up to seconds.
pub(crate) fn generate(algorithm: Algorithm) -> Option<Result<SecretBytes, Code>> {
    let (_, size) = rsa_of(algorithm)?;
    let made = RsaSigningKey::generate(size).and_then(|key| key.to_pkcs8());
    Some(made.map_err(|_| Code::HolderUnavailable))
}

/// The bytes of a secret that is no document.
pub(crate) const fn secret_len(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::EcdsaP384 => 48,
        _ => 32,
    }
}

/// A secret that was brought in, in the one form in which it is kept; `None` if it is no key of this algorithm.
pub(crate) fn canonical(algorithm: Algorithm, given: &SecretBytes) -> Option<SecretBytes> {
    match KeyPair::new(algorithm, given).ok()? {
        // A document may say more than the key, and say it in several ways.
        KeyPair::Rsa(_, key, _) => key.to_pkcs8().ok(),
        _ => Some(SecretBytes::from_vec(given.expose().to_vec())),
    }
}

impl KeyPair {
    /// The pair of a stored secret.
    pub(crate) fn new(algorithm: Algorithm, secret: &SecretBytes) -> Result<Self, Code> {
        let broken = |_| Code::HolderUnavailable;
        match algorithm {
            Algorithm::EcdsaP384 => {
                let scalar = Secret::copy_from(secret.expose()).ok_or(Code::Internal)?;
                let key = P384SigningKey::from_scalar(&scalar).map_err(broken)?;
                let public = key.verifying_key().map_err(broken)?;
                Ok(Self::P384(key, public))
            }
            Algorithm::MlDsa65 => {
                let seed = Secret::copy_from(secret.expose()).ok_or(Code::Internal)?;
                let key = MlDsa65SigningKey::from_seed(&seed).map_err(broken)?;
                let public = key.verifying_key().map_err(broken)?;
                Ok(Self::MlDsa(Box::new(key), public))
            }
            other => {
                let (padding, size) = rsa_of(other).ok_or(Code::Unsupported)?;
                let key = RsaSigningKey::from_pkcs8(secret).map_err(broken)?;
                if key.size() != size {
                    return Err(Code::Unsupported);
                }
                let public = key.verifying_key().map_err(broken)?;
                Ok(Self::Rsa(padding, key, public))
            }
        }
    }

    /// Does one item; what it makes is appended.
    pub(crate) fn work(
        &self,
        operation: HolderOperation,
        (usage, payload): (&Usage<'_>, &[u8]),
        out: &mut Vec<u8>,
    ) -> Result<(), Code> {
        let input = match operation {
            HolderOperation::PublicKey => return self.describe(out),
            HolderOperation::Sign | HolderOperation::Verify => self.input(usage, payload)?,
            _ => return Err(Code::Unsupported),
        };
        match operation {
            HolderOperation::Sign => self.sign(input, out),
            _ => {
                out.push(u8::from(self.fits(input, usage.proof)));
                Ok(())
            }
        }
    }

    /// What is signed, if keys of this kind sign such a thing in this form.
    fn input<'p>(&self, usage: &Usage<'_>, payload: &'p [u8]) -> Result<Signed<'p>, Code> {
        let known = match self {
            Self::P384(..) => matches!(usage.form, Form::Usual | Form::Ecdsa),
            Self::MlDsa(..) | Self::Rsa(..) => usage.form == Form::Usual,
        };
        if !known {
            return Err(Code::Unsupported);
        }
        let digest = |length| match payload.len() == length {
            true => Ok(Signed::Digest(payload)),
            false => Err(Code::DigestInvalid),
        };
        match (usage.input, self) {
            (Input::Message, _) => Ok(Signed::Message(payload)),
            (Input::Digest, Self::P384(..)) => digest(48),
            (Input::Digest, Self::Rsa(..)) => digest(32),
            // Its hash covers more than the message (FIPS 204, algorithm 7).
            (Input::Digest, Self::MlDsa(..)) => Err(Code::DigestInvalid),
        }
    }

    fn sign(&self, signed: Signed<'_>, out: &mut Vec<u8>) -> Result<(), Code> {
        match self {
            Self::P384(key, _) => {
                let made = key.sign_digest(&signed.sha384()?);
                out.extend_from_slice(&made.map_err(|_| Code::HolderUnavailable)?);
            }
            Self::MlDsa(key, _) => {
                let made = key.sign(signed.message()?);
                out.extend_from_slice(&made.map_err(|_| Code::HolderUnavailable)?);
            }
            Self::Rsa(padding, key, _) => {
                let digest = signed.sha256()?;
                let made = match padding {
                    Padding::Pkcs1 => key.sign_pkcs1_digest(&digest),
                    Padding::Pss => key.sign_pss_digest(&digest),
                };
                out.extend_from_slice(&made.map_err(|_| Code::HolderUnavailable)?);
            }
        }
        Ok(())
    }

    /// Whether a signature fits. One of another length does not.
    fn fits(&self, signed: Signed<'_>, proof: &[u8]) -> bool {
        match self {
            Self::P384(_, key) => signed.sha384().is_ok_and(|digest| {
                let proof = <&[u8; 96]>::try_from(proof);
                proof.is_ok_and(|proof| key.verify_digest(&digest, proof).is_ok())
            }),
            Self::MlDsa(_, key) => signed.message().is_ok_and(|message| {
                let proof = proof.try_into();
                proof.is_ok_and(|proof| key.verify(message, proof).is_ok())
            }),
            Self::Rsa(padding, _, key) => signed.sha256().is_ok_and(|digest| {
                let verified = match padding {
                    Padding::Pkcs1 => key.verify_pkcs1_digest(&digest, proof),
                    Padding::Pss => key.verify_pss_digest(&digest, proof),
                };
                verified.is_ok()
            }),
        }
    }

    /// lp(key as its standard writes it) + lp(JSON Web Key) + lp(PEM).
    fn describe(&self, out: &mut Vec<u8>) -> Result<(), Code> {
        let (short, jwk, info) = self.forms().ok_or(Code::HolderUnavailable)?;
        let pem = der::pem("PUBLIC KEY", &info);
        let parts: [&[u8]; 3] = [&short, jwk.as_bytes(), pem.as_bytes()];
        parts
            .iter()
            .try_for_each(|part| put_lp(out, part).map_err(|_| Code::Internal))
    }

    /// The key as its standard writes it, as a JSON Web Key, and as a `SubjectPublicKeyInfo`.
    fn forms(&self) -> Option<(Vec<u8>, String, Vec<u8>)> {
        match self {
            Self::P384(_, key) => {
                let (x, y) = key.as_sec1().get(1..)?.split_at_checked(48)?;
                let sign = 2 | (y.last()? & 1);
                // RFC 7518, 6.2.1.
                let (url_x, url_y) = (url(x), url(y));
                let jwk = format!(r#"{{"crv":"P-384","kty":"EC","x":"{url_x}","y":"{url_y}"}}"#);
                Some(([&[sign][..], x].concat(), jwk, key.as_spki_der().to_vec()))
            }
            Self::MlDsa(_, key) => {
                let bytes = key.as_bytes();
                // The key type of algorithms that say all by their name (draft-ietf-cose-dilithium).
                let public = url(bytes);
                let jwk = format!(r#"{{"alg":"ML-DSA-65","kty":"AKP","pub":"{public}"}}"#);
                let algorithm = der::sequence(&[&ML_DSA_65]);
                let info = der::sequence(&[&algorithm, &der::bit_string(bytes)]);
                Some((bytes.to_vec(), jwk, info))
            }
            Self::Rsa(_, _, key) => {
                let info = key.as_spki_der();
                let document = public_document(info)?;
                let (n, rest) = der::first(2, der::exactly(0x30, document)?)?;
                let (n, e) = (url(unsigned(n)), url(unsigned(der::exactly(2, rest)?)));
                // RFC 7518, 6.3.1.
                let jwk = format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#);
                Some((document.to_vec(), jwk, info.to_vec()))
            }
        }
    }
}

/// What is signed.
#[derive(Clone, Copy)]
enum Signed<'p> {
    Digest(&'p [u8]),
    Message(&'p [u8]),
}

impl<'p> Signed<'p> {
    fn message(self) -> Result<&'p [u8], Code> {
        match self {
            Self::Message(message) => Ok(message),
            Self::Digest(_) => Err(Code::DigestInvalid),
        }
    }

    fn sha256(self) -> Result<[u8; 32], Code> {
        match self {
            Self::Message(message) => Ok(sha256(message)),
            Self::Digest(digest) => digest.try_into().map_err(|_| Code::DigestInvalid),
        }
    }

    fn sha384(self) -> Result<[u8; 48], Code> {
        match self {
            Self::Message(message) => Ok(sha384(message)),
            Self::Digest(digest) => digest.try_into().map_err(|_| Code::DigestInvalid),
        }
    }
}

/// The `RSAPublicKey` (RFC 8017, A.1.1) in a `SubjectPublicKeyInfo`.
fn public_document(info: &[u8]) -> Option<&[u8]> {
    let (_, rest) = der::first(0x30, der::exactly(0x30, info)?)?;
    der::exactly(3, rest)?.strip_prefix(&[0])
}

/// The digits of an INTEGER without the zero that says it is not negative.
fn unsigned(digits: &[u8]) -> &[u8] {
    digits.strip_prefix(&[0]).unwrap_or(digits)
}

/// Base64 for addresses, without padding (RFC 4648, section 5).
fn url(bytes: &[u8]) -> String {
    let text = base64::encode(bytes);
    text.trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_")
}

/// 2.16.840.1.101.3.4.3.18, id-ml-dsa-65 (RFC 9881).
const ML_DSA_65: [u8; 11] = [
    0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_another_size_or_kind_is_no_key_and_more_than_the_key_is_not_kept() {
        let small = generate(Algorithm::Rsa2048Pss).unwrap().unwrap();
        assert!(KeyPair::new(Algorithm::Rsa2048Pss, &small).is_ok());
        for algorithm in [Algorithm::Rsa2048Pkcs1, Algorithm::Rsa2048Pss] {
            let kept = canonical(algorithm, &small).unwrap();
            assert_eq!(kept.expose(), small.expose());
        }
        for algorithm in Algorithm::ALL.iter().copied().filter(|one| is_pair(*one)) {
            let fits = matches!(algorithm, Algorithm::Rsa2048Pss | Algorithm::Rsa2048Pkcs1);
            assert_eq!(canonical(algorithm, &small).is_some(), fits, "{algorithm}");
            for bad in [vec![], vec![0; 48], vec![0xFF; 48], vec![0x30; 64]] {
                let bad = SecretBytes::from_vec(bad);
                assert!(canonical(algorithm, &bad).is_none(), "{algorithm}");
            }
        }
        let cut = SecretBytes::from_vec(small.expose()[..small.len() - 1].to_vec());
        assert!(canonical(Algorithm::Rsa2048Pss, &cut).is_none());
        assert!(generate(Algorithm::EcdsaP384).is_none());
    }
}
