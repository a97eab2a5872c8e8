//! What can be done without a token: hashes, and signatures verified with a public key in a file.
//!
//! Not here: hashes other than SHA-256, SHA-384, SHA-512, and signatures other than RSA (PKCS#1 v1.5 and PSS with
//! SHA-256, a salt of 32 bytes and a mask of the same hash), ECDSA on P-256 with SHA-256 and on P-384 with SHA-384, Ed25519
//! and ML-DSA-65, both without a context.

use std::io::Read;

use keywright_encoding::base64;
use keywright_pkcs11::{Hash, MlDsa};
use keywright_primitives::hash::{Sha256, Sha384, Sha512};
use keywright_primitives::signature::VerifyingKey;
use keywright_primitives::signature::ecdsa::{P256VerifyingKey, P384VerifyingKey};
use keywright_primitives::signature::ml_dsa::MlDsa65VerifyingKey;
use keywright_primitives::signature::rsa::RsaVerifyingKey;

use crate::desk::hash_name;
use crate::error::Error;
use crate::piece::{Pieces, WHOLE, whole};
use crate::scheme::{Given, How, Scheme, SignatureForm};
use crate::signing::SignReport;
use keywright_encoding::der;

/// How a hash takes bytes, and how it ends.
type Steps<H> = (fn(&mut H, &[u8]), fn(H) -> Vec<u8>);

/// A hash, and how many bytes were hashed.
pub type Hashed = (Vec<u8>, u64);

/// Hashes an input, if this program has the hash.
///
/// # Errors
/// [`Error::Input`].
pub fn hash(hash: Hash, input: &mut dyn Read) -> Result<Option<Hashed>, Error> {
    fn run<H>(
        mut hash: H,
        input: &mut dyn Read,
        (update, finish): Steps<H>,
    ) -> Result<Option<Hashed>, Error> {
        let mut pieces = Pieces::new(input);
        let mut length = 0;
        while let Some(piece) = pieces.next()? {
            update(&mut hash, piece);
            length += piece.len() as u64;
        }
        Ok(Some((finish(hash), length)))
    }
    match hash {
        Hash::Sha256 => run(
            Sha256::new(),
            input,
            (Sha256::update, |h| h.finish().to_vec()),
        ),
        Hash::Sha384 => run(
            Sha384::new(),
            input,
            (Sha384::update, |h| h.finish().to_vec()),
        ),
        Hash::Sha512 => run(
            Sha512::new(),
            input,
            (Sha512::update, |h| h.finish().to_vec()),
        ),
        _ => Ok(None),
    }
}

/// A public key that verifies here.
enum Key {
    Ed25519(VerifyingKey),
    MlDsa65(MlDsa65VerifyingKey),
    P256(P256VerifyingKey),
    P384(P384VerifyingKey),
    Rsa(RsaVerifyingKey),
}

/// SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the key.
const ED25519: [u8; 12] = [0x30, 42, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 3, 33, 0];

impl Key {
    fn read(file: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(file).ok();
        let armoured = text.and_then(|text| {
            let body = text.trim().strip_prefix("-----BEGIN PUBLIC KEY-----")?;
            let body = body.strip_suffix("-----END PUBLIC KEY-----")?;
            let lines: String = body.split_ascii_whitespace().collect();
            base64::decode(&lines).ok()
        });
        let spki = armoured.as_deref().unwrap_or(file);
        if let Some(point) = spki.strip_prefix(&ED25519) {
            return Some(Self::Ed25519(VerifyingKey::from_bytes(
                point.try_into().ok()?,
            )));
        }
        if let Some(key) = ml_dsa_65(spki) {
            return Some(Self::MlDsa65(key));
        }
        if let Ok(key) = P256VerifyingKey::from_spki_der(spki) {
            return Some(Self::P256(key));
        }
        if let Ok(key) = P384VerifyingKey::from_spki_der(spki) {
            return Some(Self::P384(key));
        }
        RsaVerifyingKey::from_der(spki).ok().map(Self::Rsa)
    }

    const fn scheme(&self) -> (Scheme, Hash, &'static str) {
        match self {
            Self::Ed25519(_) => (Scheme::Eddsa, Hash::Sha512, "ED25519"),
            Self::MlDsa65(_) => (Scheme::MlDsa, Hash::Sha512, MlDsa::MlDsa65.name()),
            Self::P256(_) => (Scheme::Ecdsa, Hash::Sha256, "ECDSA"),
            Self::P384(_) => (Scheme::Ecdsa, Hash::Sha384, "ECDSA"),
            Self::Rsa(_) => (Scheme::Pkcs1, Hash::Sha256, "RSA"),
        }
    }

    fn accepts(&self, scheme: Scheme, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify(message, signature).is_ok()),
            Self::MlDsa65(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify(message, signature).is_ok()),
            Self::P256(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify_fixed(message, signature).is_ok()),
            Self::P384(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify_fixed(message, signature).is_ok()),
            Self::Rsa(key) if scheme == Scheme::Pss => key.verify_pss(message, signature).is_ok(),
            Self::Rsa(key) => key.verify_pkcs1(message, signature).is_ok(),
        }
    }
}

/// SubjectPublicKeyInfo of ML-DSA-65 (RFC 9881, 2).
fn ml_dsa_65(spki: &[u8]) -> Option<MlDsa65VerifyingKey> {
    let (algorithm, key) = der::first(0x30, der::exactly(0x30, spki)?)?;
    // No bits of the last byte are left over.
    let key = der::exactly(3, key)?.strip_prefix(&[0])?;
    let known = algorithm == MlDsa::MlDsa65.algorithm();
    let key = known.then(|| key.try_into().ok()).flatten()?;
    MlDsa65VerifyingKey::from_bytes(key).ok()
}

/// What a key in a file and the wishes for it come to.
struct Offline {
    key: Key,
    scheme: Scheme,
    hash: Hash,
    key_type: &'static str,
}

impl Offline {
    fn new(file: &[u8], how: How<'_>) -> Result<Self, Error> {
        let key = Key::read(file).ok_or_else(|| {
            Error::Value(
                "the file holds no public key of RSA, P-256, P-384, Ed25519 or ML-DSA-65"
                    .to_owned(),
            )
        })?;
        let (own, hash, key_type) = key.scheme();
        let scheme = own.chosen(how.scheme, key_type)?;
        let other_hash = how
            .hash
            .is_some_and(|wanted| wanted != hash || !own.hashes_first());
        if how.input == Given::Hash || other_hash {
            let text = format!(
                "without a token only data under {} is verified",
                hash_name(hash)
            );
            return Err(Error::Unusable(text));
        }
        if scheme == Scheme::EddsaPh || !how.context.is_empty() {
            return Err(Error::Unusable(
                "without a token no context and no pre-hashed variant is verified".to_owned(),
            ));
        }
        let salted = how.salt_len.is_some_and(|salt| salt != hash.len())
            || how.mask.is_some_and(|mask| mask != hash);
        if salted || (scheme != Scheme::Pss && (how.salt_len.is_some() || how.mask.is_some())) {
            return Err(Error::Unusable(
                "without a token only PSS with a salt of 32 bytes and a mask of sha256 is verified"
                    .to_owned(),
            ));
        }
        Ok(Self {
            key,
            scheme,
            hash,
            key_type,
        })
    }
}

/// Refuses what [`verify`] does not verify, without a look at any data.
pub(crate) fn able(file: &[u8], how: How<'_>) -> Result<(), Error> {
    Offline::new(file, how).map(|_| ())
}

/// Verifies a signature with the public key of a file: SubjectPublicKeyInfo, in PEM or DER.
///
/// # Errors
/// [`Error::Unfit`] if it does not fit, and only then; [`Error::Value`] for a file that is no such key;
/// [`Error::Unusable`] for a scheme or hash that is not verified here.
pub fn verify(
    file: &[u8],
    how: How<'_>,
    input: &mut dyn Read,
    signature: &[u8],
) -> Result<SignReport, Error> {
    let Offline {
        key,
        scheme,
        hash,
        key_type,
    } = Offline::new(file, how)?;
    let message = whole(input, WHOLE)?;
    let half = if hash == Hash::Sha384 { 48 } else { 32 };
    let raw = match (scheme, how.form) {
        (Scheme::Ecdsa, SignatureForm::Der) => der::signature_from_der(signature, half),
        _ => Some(signature.to_vec()),
    };
    let fits = raw.is_some_and(|raw| key.accepts(scheme, message.expose(), &raw));
    if !fits {
        return Err(Error::Unfit("signature"));
    }
    Ok(SignReport {
        operation: "verify",
        key_label: String::new(),
        key_type,
        mechanism: "none: verified without a token".to_owned(),
        scheme: scheme.name(),
        hash: scheme.hashes_first().then(|| hash_name(hash)),
        input_bytes: message.len() as u64,
        signature_bytes: signature.len(),
        verification: Some("valid"),
        self_verified: None,
    })
}
