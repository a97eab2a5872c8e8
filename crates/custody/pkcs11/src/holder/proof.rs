//! What the store keeps of a key in a token, and how it is held against the object (design 7.21).
//!
//! The checked text is `keywright check`, then the key's attributes, so that an edited row does not fit either:
//!
//! ```text
//! seals    envelope of "keywright check", the attributes as associated data (field 3)
//! macs     the first 16 bytes of the MAC over "keywright check" | attributes
//! signs    lp(public key) | signature over "keywright check" | attributes | public key
//! agrees   lp(public key) | lp(public key of nobody) | the first 16 bytes of
//!          HMAC-SHA-256(what the two agree on, "keywright check" | attributes | public key)
//! ```
//!
//! A public key is an uncompressed point, the 32 bytes of X25519 and Ed25519, what FIPS 204 writes of ML-DSA, or an RSA
//! modulus, whose exponent is 65537. Nobody has the private half of the other key of an agreement: it is forgotten when
//! it has been used once.

use keywright_custody::{Input, KeyMaterial, Usage};
use keywright_encoding::{Reader, put_lp};
use keywright_envelope::{Aad, Binding, Envelope, Sealing};
use keywright_primitives::agreement::{
    P256Ephemeral, P256PublicKey, X25519Ephemeral, X25519PublicKey,
};
use keywright_primitives::mac::HmacSha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::ecdsa::P256VerifyingKey;
use keywright_secret::ct_eq;
use keywright_types::{Code, Kind};

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::holder::job::device_key;
use crate::holder::shape::{Shape, Signature, mac};
use crate::kinds::Curve;
use crate::object::ObjectHandle;
use crate::public_key::PublicKey;

/// `Ok` if it is so; else it is another key.
macro_rules! require {
    ($holds:expr) => {
        if $holds { Ok(()) } else { Err(wrong()) }
    };
}

/// The public half of a pair: what it is, and where it is in this connection.
#[derive(Debug)]
pub(crate) struct Public {
    pub(crate) key: PublicKey,
    pub(crate) handle: ObjectHandle,
}

/// Makes the check value of a new key.
pub(crate) fn make(
    shape: Shape,
    (key, public): (&TokenKey<'_>, Option<ObjectHandle>),
    material: &KeyMaterial,
) -> Result<Vec<u8>, Fault> {
    let read = |handle: Option<ObjectHandle>| {
        let handle = handle.ok_or(Fault::Item(Code::Internal))?;
        let public = key.public(handle)?;
        Ok::<_, Fault>((bytes_of(&public), handle))
    };
    match shape {
        Shape::Seals => envelope(key, material),
        Shape::Macs(_) => mac_of(shape, key, material),
        Shape::Signs(signature) => {
            let (bytes, _) = read(public)?;
            let mut out = Vec::new();
            put_part(&mut out, &bytes)?;
            sign(signature, key, &text(material, &bytes), &mut out)?;
            Ok(out)
        }
        Shape::Agrees(curve) => {
            let (bytes, _) = read(public)?;
            let (nobody, expected) = agree_once(curve, &bytes)?;
            let shared = key.agree(&nobody)?;
            // The object and its public half do not belong together.
            if !ct_eq(shared.expose(), expected.expose()) {
                return Err(Fault::Token(Error::WrongKey));
            }
            let mut out = Vec::new();
            put_part(&mut out, &bytes)?;
            put_part(&mut out, &nobody)?;
            out.extend_from_slice(&tag(shared.expose(), &text(material, &bytes))?);
            Ok(out)
        }
    }
}

/// Whether the check value of `material` is one of this key. What its public half is, if it is of a pair.
pub(crate) fn check(
    shape: Shape,
    key: &TokenKey<'_>,
    material: &KeyMaterial,
    find_public: impl FnOnce() -> Result<ObjectHandle, Error>,
) -> Result<Option<Public>, Fault> {
    let held = || -> Result<Option<Public>, Fault> {
        match shape {
            Shape::Seals => envelope_opens(key, material).map(|()| None),
            Shape::Macs(_) => {
                let made = mac_of(shape, key, material)?;
                require!(ct_eq(&made, material.sealed())).map(|()| None)
            }
            Shape::Signs(signature) => {
                let stored = Stored::read(shape, material)?;
                let public = stored.found(key, find_public()?)?;
                let text = text(material, stored.public);
                let mut fresh = Vec::new();
                sign(signature, key, &text, &mut fresh)?;
                for one in [stored.proof, fresh.as_slice()] {
                    require!(fits(signature, (key, &public), &text, one)?)?;
                }
                Ok(Some(public))
            }
            Shape::Agrees(curve) => {
                let stored = Stored::read(shape, material)?;
                let public = stored.found(key, find_public()?)?;
                let mut rest = Reader::new(stored.proof);
                let nobody = rest.lp().map_err(|_| wrong())?;
                let nobody = peer_point(curve, nobody).ok_or_else(wrong)?;
                let shared = key.agree(&nobody)?;
                let tag = tag(shared.expose(), &text(material, stored.public))?;
                require!(ct_eq(&tag, rest.rest())).map(|()| Some(public))
            }
        }
    };
    match held() {
        // Of a public key that does not fit, some tokens say so before they look.
        Err(Fault::Token(Error::SignatureInvalid(_) | Error::Unusable(_))) => Err(wrong()),
        held => held,
    }
}

/// Whether the signature that the store keeps still fits: then it was another signature that the token failed over.
pub(crate) fn still_verifies(
    shape: Shape,
    (key, public): (&TokenKey<'_>, &Public),
    material: &KeyMaterial,
) -> Result<bool, Fault> {
    let Shape::Signs(signature) = shape else {
        return Err(Fault::Item(Code::Unsupported));
    };
    let stored = Stored::read(shape, material)?;
    let text = text(material, stored.public);
    fits(signature, (key, public), &text, stored.proof)
}

fn fits(
    signature: Signature,
    (key, public): (&TokenKey<'_>, &Public),
    text: &[u8],
    proof: &[u8],
) -> Result<bool, Fault> {
    let input = signature.prepare(&Usage::default(), text);
    let input = input.map_err(Fault::Item)?;
    let mechanism = signature.mechanism(Input::Message);
    key.verify(public.handle, &mechanism, &input, proof)
}

/// The check value of a pair, taken apart.
struct Stored<'m> {
    public: &'m [u8],
    key: PublicKey,
    proof: &'m [u8],
}

impl<'m> Stored<'m> {
    fn read(shape: Shape, material: &'m KeyMaterial) -> Result<Self, Fault> {
        let mut reader = Reader::new(material.sealed());
        let public = reader.lp().map_err(|_| wrong())?;
        Ok(Self {
            public,
            key: key_of(shape, public).ok_or_else(wrong)?,
            proof: reader.rest(),
        })
    }

    /// The public object, which must be the key that is stored.
    fn found(&self, key: &TokenKey<'_>, handle: ObjectHandle) -> Result<Public, Fault> {
        require!(key.public(handle)? == self.key)?;
        let key = self.key.clone();
        Ok(Public { key, handle })
    }
}

fn key_of(shape: Shape, bytes: &[u8]) -> Option<PublicKey> {
    let curve = match shape {
        Shape::Agrees(curve) | Shape::Signs(Signature::Ecdsa(curve)) => curve,
        Shape::Signs(Signature::Ed25519) => Curve::Ed25519,
        Shape::Signs(Signature::MlDsa(set)) => {
            let key = bytes.to_vec();
            return (bytes.len() == set.public_len()).then_some(PublicKey::MlDsa { set, key });
        }
        Shape::Signs(signature) => {
            let modulus = bytes.to_vec();
            let exponent = vec![1, 0, 1];
            let fits = bytes.len() == signature.len() && bytes.first() != Some(&0);
            return fits.then_some(PublicKey::Rsa { modulus, exponent });
        }
        _ => return None,
    };
    let point = bytes.to_vec();
    (bytes.len() == curve.public_len()).then_some(PublicKey::Curve { curve, point })
}

fn bytes_of(key: &PublicKey) -> Vec<u8> {
    match key {
        PublicKey::Rsa { modulus, .. } => modulus.clone(),
        PublicKey::Curve { point, .. } => point.clone(),
        PublicKey::MlDsa { key, .. }
        | PublicKey::MlKem { key, .. }
        | PublicKey::SlhDsa { key, .. } => key.clone(),
    }
}

/// The point of the other side as a token takes it: uncompressed. `None` for what is none of the curve.
pub(crate) fn peer_point(curve: Curve, bytes: &[u8]) -> Option<Vec<u8>> {
    match curve {
        Curve::P256 => {
            let key = P256VerifyingKey::from_sec1(bytes).ok()?;
            Some(key.as_sec1().to_vec())
        }
        Curve::X25519 => (bytes.len() == 32).then(|| bytes.to_vec()),
        _ => None,
    }
}

/// A key that agrees once with `public` and is forgotten: its public half, and what was agreed on.
fn agree_once(
    curve: Curve,
    public: &[u8],
) -> Result<(Vec<u8>, keywright_secret::Secret<32>), Fault> {
    let failed = |_| Fault::Item(Code::HolderUnavailable);
    let nobody = |_| wrong();
    if curve == Curve::X25519 {
        let ours = X25519Ephemeral::generate().map_err(failed)?;
        let theirs = public.try_into().map_err(|_| wrong())?;
        let theirs = X25519PublicKey::from_bytes(theirs).map_err(nobody)?;
        let bytes = ours.public_bytes().map_err(failed)?.to_vec();
        return Ok((bytes, ours.agree(&theirs).map_err(|_| wrong())?));
    }
    let ours = P256Ephemeral::generate().map_err(failed)?;
    let theirs = P256PublicKey::from_sec1(public).map_err(nobody)?;
    let bytes = ours.public_bytes().map_err(failed)?.to_vec();
    Ok((bytes, ours.agree(&theirs).map_err(|_| wrong())?))
}

fn sign(
    signature: Signature,
    key: &TokenKey<'_>,
    text: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let input = signature
        .prepare(&Usage::default(), text)
        .map_err(Fault::Item)?;
    key.sign(&signature.mechanism(Input::Message), &input, out)
}

fn mac_of(shape: Shape, key: &TokenKey<'_>, material: &KeyMaterial) -> Result<Vec<u8>, Fault> {
    let Shape::Macs(hash) = shape else {
        return Err(Fault::Item(Code::Unsupported));
    };
    let mut made = Vec::new();
    key.sign(&mac(hash), &text(material, &[]), &mut made)?;
    made.truncate(TAG_LEN);
    Ok(made)
}

fn tag(secret: &[u8], text: &[u8]) -> Result<[u8; TAG_LEN], Fault> {
    let key = HmacSha256::new(secret).map_err(|_| Fault::Item(Code::HolderUnavailable))?;
    let whole = key.mac(text);
    let (tag, _) = whole
        .split_first_chunk()
        .ok_or(Fault::Item(Code::Internal))?;
    Ok(*tag)
}

/// What is kept of a key that seals: an envelope over its attributes that only this key opens.
fn envelope(key: &TokenKey<'_>, material: &KeyMaterial) -> Result<Vec<u8>, Fault> {
    let mut random = RandomStream::new().map_err(|_| Fault::Item(Code::HolderUnavailable))?;
    let attributes = material.attributes();
    let aad = Aad::EMPTY.attributes(&attributes);
    let sealing = Sealing {
        binding: Binding::None,
        aad: &aad,
        plaintext: CHECK_TEXT,
    };
    let mut out = Vec::new();
    let device = device_key(material, Kind::Message)?;
    key.seal(device, &sealing, &mut random, &mut out)?;
    Ok(out)
}

/// Whether that envelope opens with this key and says what it must.
pub(crate) fn envelope_opens(key: &TokenKey<'_>, material: &KeyMaterial) -> Result<(), Fault> {
    let envelope = Envelope::parse(material.sealed()).map_err(|_| wrong())?;
    let attributes = material.attributes();
    let aad = Aad::EMPTY.attributes(&attributes);
    let mut text = Vec::new();
    let device = device_key(material, Kind::Message)?;
    match key.open(device, &envelope, &aad, &mut text) {
        Ok(()) => require!(text == CHECK_TEXT),
        Err(Fault::Item(_)) => Err(wrong()),
        Err(fault) => Err(fault),
    }
}

fn text(material: &KeyMaterial, public: &[u8]) -> Vec<u8> {
    [CHECK_TEXT, &material.attributes(), public].concat()
}

fn put_part(out: &mut Vec<u8>, part: &[u8]) -> Result<(), Fault> {
    put_lp(out, part).map_err(|_| Fault::Item(Code::Internal))
}

const fn wrong() -> Fault {
    Fault::Token(Error::WrongKey)
}

/// What a check value says (design 7.21).
const CHECK_TEXT: &[u8] = b"keywright check";
/// Bytes of a MAC or tag in a check value.
const TAG_LEN: usize = 16;
