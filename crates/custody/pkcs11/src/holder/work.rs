//! What keys that sign, agree and make MACs do with one item.
//!
//! Signatures and MACs are made in the token. So are those that a MAC is held against, and a signature is looked at
//! by the token's public key: nothing of a context in a token depends on a key elsewhere. What is shown of a public
//! key is what the version's check value says, which the object was held against.

use keywright_custody::{HolderOperation, KeyMaterial, Usage};
use keywright_encoding::{der, put_lp};
use keywright_secret::ct_eq;
use keywright_types::Code;

use crate::device::Fault;
use crate::holder::proof;
use crate::holder::shape::{Shape, Signature, is_low, mac, with_lower_s};
use crate::kinds::Curve;
use crate::locate::Located;
use crate::public_key::PublicKey;

/// Does one item; what it makes is appended.
pub(crate) fn one(
    (operation, material): (HolderOperation, &KeyMaterial),
    key: &Located<'_>,
    (usage, payload): (&Usage<'_>, &[u8]),
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    if !usage.path.is_empty() {
        return Err(Fault::Item(Code::PathInvalid));
    }
    let work = Work { material, key };
    match (key.shape, operation) {
        (Shape::Macs(hash), HolderOperation::Mac) => Ok(key.key.sign(&mac(hash), payload, out)?),
        (Shape::Macs(hash), HolderOperation::VerifyMac) => {
            let mut made = Vec::new();
            key.key.sign(&mac(hash), payload, &mut made)?;
            out.push(u8::from(ct_eq(&made, usage.proof)));
            Ok(())
        }
        (Shape::Signs(signature), HolderOperation::Sign) => {
            work.sign(signature, (usage, payload), out)
        }
        (Shape::Signs(signature), HolderOperation::Verify) => {
            out.push(u8::from(work.verify(signature, (usage, payload))?));
            Ok(())
        }
        (Shape::Agrees(curve), HolderOperation::Agree) => work.agree(curve, payload, out),
        (Shape::Signs(_) | Shape::Agrees(_), HolderOperation::PublicKey) => work.describe(out),
        _ => Err(Fault::Item(Code::Unsupported)),
    }
}

struct Work<'w> {
    material: &'w KeyMaterial,
    key: &'w Located<'w>,
}

impl Work<'_> {
    fn sign(
        &self,
        signature: Signature,
        (usage, payload): (&Usage<'_>, &[u8]),
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let input = prepared(signature, usage, payload)?;
        let start = out.len();
        let key = &self.key.key;
        key.sign(&signature.mechanism(usage.input), &input, out)?;
        let made = out.get_mut(start..).unwrap_or_default();
        if made.len() != signature.len() {
            return Err(Fault::Item(Code::HolderUnavailable));
        }
        if signature == Signature::Ecdsa(Curve::P256) {
            with_lower_s(made);
        }
        Ok(())
    }

    /// A signature of another length, or over P-256 with the higher s, does not fit.
    fn verify(
        &self,
        signature: Signature,
        (usage, payload): (&Usage<'_>, &[u8]),
    ) -> Result<bool, Fault> {
        let input = prepared(signature, usage, payload)?;
        let proof = usage.proof;
        let high =
            signature == Signature::Ecdsa(Curve::P256) && !proof.get(32..).is_some_and(is_low);
        if proof.len() != signature.len() || high {
            return Ok(false);
        }
        let public = self.key.public.as_deref();
        let public = public.ok_or(Fault::Item(Code::Internal))?;
        let key = &self.key.key;
        let mechanism = signature.mechanism(usage.input);
        let attempt = || key.verify(public.handle, &mechanism, &input, proof);
        match attempt() {
            Err(Fault::Token(error)) => {
                // Whoever sends numbers that are no signature must not cost others the connection. What the token meant
                // of itself it does not say again while the known one fits.
                let known = proof::still_verifies(self.key.shape, (key, public), self.material);
                match known {
                    Ok(true) => Ok(attempt().unwrap_or(false)),
                    _ => Err(Fault::Token(error)),
                }
            }
            looked => looked,
        }
    }

    fn agree(&self, curve: Curve, peer: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let refused = || Fault::Item(Code::PeerKeyInvalid);
        let peer = proof::peer_point(curve, peer).ok_or_else(refused)?;
        if curve == Curve::X25519 && OF_SMALL_ORDER.contains(&masked(&peer)) {
            return Err(refused());
        }
        let shared = self.key.key.agree(&peer)?;
        if shared.expose().iter().all(|byte| *byte == 0) {
            return Err(refused());
        }
        out.extend_from_slice(shared.expose());
        Ok(())
    }

    /// lp(key as its standard writes it) + lp(JSON Web Key) + lp(PEM).
    fn describe(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let broken = || Fault::Item(Code::Internal);
        let public = self.key.public.as_deref().ok_or_else(broken)?;
        let jwk = public.key.bare_jwk().ok_or_else(broken)?;
        let pem = der::pem("PUBLIC KEY", &public.key.spki());
        let parts = [&short(&public.key)[..], jwk.as_bytes(), pem.as_bytes()];
        let put = |part: &&[u8]| put_lp(out, part).map_err(|_| broken());
        parts.iter().try_for_each(put)
    }
}

fn prepared<'p>(
    signature: Signature,
    usage: &Usage<'_>,
    payload: &'p [u8],
) -> Result<std::borrow::Cow<'p, [u8]>, Fault> {
    if !signature.takes(usage.form) {
        return Err(Fault::Item(Code::Unsupported));
    }
    signature.prepare(usage, payload).map_err(Fault::Item)
}

/// A compressed point (SEC 1, 2.3.3), the 32 bytes of the other curves, a key of ML-DSA, ML-KEM or SLH-DSA as its standard
/// writes it, or an RSAPublicKey (RFC 8017 A.1.1).
fn short(key: &PublicKey) -> Vec<u8> {
    match key {
        PublicKey::Rsa { modulus, exponent } => {
            der::sequence(&[&der::integer(modulus), &der::integer(exponent)])
        }
        PublicKey::Curve { curve, point } if curve.is_weierstrass() => {
            let coordinates = point.get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            let odd = y.last().copied().unwrap_or_default() & 1;
            [&[2 | odd][..], x].concat()
        }
        PublicKey::Curve { point, .. } => point.clone(),
        PublicKey::MlDsa { key, .. }
        | PublicKey::MlKem { key, .. }
        | PublicKey::SlhDsa { key, .. } => key.clone(),
    }
}

/// A coordinate of Curve25519 without the bit that is not looked at (RFC 7748, 5).
fn masked(peer: &[u8]) -> [u8; 32] {
    let mut bytes = <[u8; 32]>::try_from(peer).unwrap_or_default();
    bytes[31] &= 0x7f;
    bytes
}

/// Coordinates that make no secret with any key, in either spelling: a token may fail over them in a way of its own.
const OF_SMALL_ORDER: [[u8; 32]; 7] = {
    let mut all = [[0; 32]; 7];
    all[1][0] = 1;
    all[2] = [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ];
    all[3] = [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ];
    // p - 1, p and p + 1.
    let mut index = 4;
    while index < 7 {
        all[index] = [0xff; 32];
        all[index][31] = 0x7f;
        index += 1;
    }
    all[4][0] = 0xec;
    all[5][0] = 0xed;
    all[6][0] = 0xee;
    all
};

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};

    #[test]
    fn the_listed_coordinates_make_no_secret_with_any_key() {
        let key = X25519PrivateKey::generate().unwrap();
        for bytes in OF_SMALL_ORDER {
            assert_eq!(masked(&bytes), bytes);
            let made = X25519PublicKey::from_bytes(&bytes).map(|peer| key.agree(&peer).is_ok());
            assert_ne!(made, Ok(true), "{bytes:02x?}");
        }
        let peer = X25519PrivateKey::generate()
            .unwrap()
            .public_bytes()
            .unwrap();
        assert!(!OF_SMALL_ORDER.contains(&masked(&peer)));
    }

    #[test]
    fn a_short_point_has_the_sign_of_its_second_coordinate() {
        for (last, first) in [(8, 2), (9, 3)] {
            let point = [&[4][..], &[1; 32], &[7; 31], &[last]].concat();
            let key = PublicKey::Curve {
                curve: Curve::P256,
                point,
            };
            assert_eq!(short(&key), [&[first][..], &[1; 32]].concat());
        }
    }
}
