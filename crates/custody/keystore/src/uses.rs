//! Keys that sign and agree, alone or in a tree: what a version's secret becomes, and what is done with it.
//!
//! A tree's node is derived for each item, from a prefix that is kept in locked memory
//! ([`keywright_hdkey::cache`]); a key that is no tree is made once. No call takes a public key beside the
//! private one.

use std::sync::OnceLock;

use keywright_custody::{Form, HolderOperation, Input, Usage};
use keywright_encoding::{base64, put_lp};
use keywright_hdkey::{Curve, Digest, PrivateNode, PublicKey, Scheme};
use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_primitives::signature::ecdsa::P256SigningKey;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::Secret;
use keywright_secret::locked::Slot;
use keywright_types::{Algorithm, Code};

/// 32 bytes in the arena, or beside it where it had no room.
pub(crate) enum Held {
    Heap(Secret<32>),
    Slot(Slot),
}

impl Held {
    pub(crate) fn expose(&self) -> &[u8; 32] {
        match self {
            Self::Heap(secret) => secret.expose(),
            Self::Slot(slot) => slot.expose(),
        }
    }
}

/// A key that is no tree.
pub(crate) struct OwnKey {
    /// Names the curve, and nothing else of a tree.
    scheme: Scheme,
    secret: Held,
    /// The backend's form, where making it costs a multiplication.
    ed25519: Option<SigningKey>,
    /// As above. Keys of a tree, which are made for one item, do without.
    p256: Option<P256SigningKey>,
    public: OnceLock<PublicKey>,
}

/// The curve of an algorithm that is no tree's.
pub(crate) const fn curve_of(algorithm: Algorithm) -> Option<Scheme> {
    match algorithm {
        Algorithm::Ed25519 => Some(Scheme::Slip10Ed25519),
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Some(Scheme::Slip10NistP256),
        Algorithm::EcdsaSecp256k1 => Some(Scheme::Slip10Secp256k1),
        Algorithm::X25519 => Some(Scheme::Slip10Curve25519),
        _ => None,
    }
}

/// Whether 32 bytes are a private key of the algorithm's curve.
pub(crate) fn is_private_key(algorithm: Algorithm, secret: &[u8; 32]) -> bool {
    match algorithm {
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => p256::is_private_key(secret),
        Algorithm::EcdsaSecp256k1 => secp256k1::is_private_key(secret),
        _ => true,
    }
}

impl OwnKey {
    pub(crate) fn new(algorithm: Algorithm, secret: Held) -> Result<Self, Code> {
        let scheme = curve_of(algorithm).ok_or(Code::Unsupported)?;
        let (mut ed25519, mut p256) = (None, None);
        let copy = || Secret::from_fill(|copy| copy.copy_from_slice(secret.expose()));
        let broken = |_| Code::HolderUnavailable;
        match algorithm {
            Algorithm::Ed25519 => ed25519 = Some(SigningKey::from_seed(&copy()).map_err(broken)?),
            Algorithm::EcdsaP256 => {
                p256 = Some(P256SigningKey::from_scalar(&copy()).map_err(broken)?);
            }
            _ => {}
        }
        Ok(Self {
            scheme,
            secret,
            ed25519,
            p256,
            public: OnceLock::new(),
        })
    }

    fn public(&self) -> Result<PublicKey, Code> {
        if let Some(public) = self.public.get() {
            return Ok(*public);
        }
        let public = self.make_public()?;
        Ok(*self.public.get_or_init(|| public))
    }

    fn make_public(&self) -> Result<PublicKey, Code> {
        let secret = self.secret.expose();
        let broken = |_| Code::HolderUnavailable;
        let bytes = match self.scheme.curve() {
            Some(Curve::Secp256k1) => {
                let key = secp256k1::PrivateKey::from_bytes(secret).map_err(broken)?;
                key.public_key().map_err(broken)?.to_compressed().to_vec()
            }
            Some(Curve::P256) => {
                let key = p256::PrivateKey::from_bytes(secret).map_err(broken)?;
                key.public_key().map_err(broken)?.to_compressed().to_vec()
            }
            Some(Curve::Ed25519) => {
                let key = self.ed25519.as_ref().ok_or(Code::Internal)?;
                key.verifying_key().as_bytes().to_vec()
            }
            _ => {
                let key = X25519PrivateKey::from_bytes(&self.copy()).map_err(broken)?;
                key.public_bytes().map_err(broken)?.to_vec()
            }
        };
        PublicKey::from_bytes(self.scheme, &bytes).map_err(|_| Code::HolderUnavailable)
    }

    /// For calls of the backend that take a secret of their own.
    fn copy(&self) -> Secret<32> {
        Secret::from_fill(|copy| copy.copy_from_slice(self.secret.expose()))
    }
}

/// The private key that an item is for.
pub(crate) enum Private<'k> {
    Node(Box<PrivateNode>),
    Own(&'k OwnKey),
}

impl Private<'_> {
    /// Does one item; what it makes is appended.
    pub(crate) fn work(
        self,
        operation: HolderOperation,
        (usage, payload): (&Usage<'_>, &[u8]),
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), Code> {
        match operation {
            HolderOperation::Sign => self.sign(usage, payload, random, out),
            HolderOperation::Verify => {
                let valid = self.verify(usage, payload)?;
                out.push(u8::from(valid));
                Ok(())
            }
            HolderOperation::Agree => {
                out.extend_from_slice(self.agree(payload)?.expose());
                Ok(())
            }
            HolderOperation::PublicKey => describe(&self.public()?, out),
            HolderOperation::Xpub => self.xpub(out),
            HolderOperation::ExportKey => self.export(out),
            _ => Err(Code::Unsupported),
        }
    }

    fn curve(&self) -> Option<Curve> {
        match self {
            Self::Node(node) => node.scheme().curve(),
            Self::Own(own) => own.scheme.curve(),
        }
    }

    fn public(&self) -> Result<PublicKey, Code> {
        match self {
            Self::Node(node) => node.public_key().map_err(|_| Code::HolderUnavailable),
            Self::Own(own) => own.public(),
        }
    }

    /// The form that is meant, if keys of this curve have it.
    fn form(&self, asked: Form) -> Result<Form, Code> {
        let usual = match self.curve() {
            Some(Curve::Secp256k1 | Curve::P256) => Form::Ecdsa,
            Some(Curve::Ed25519) => Form::Ed25519,
            _ => return Err(Code::Unsupported),
        };
        let form = if asked == Form::Usual { usual } else { asked };
        let known = match form {
            Form::Ecdsa | Form::EcdsaRecoverable => usual == Form::Ecdsa,
            Form::Schnorr => self.curve() == Some(Curve::Secp256k1),
            other => other == usual,
        };
        known.then_some(form).ok_or(Code::Unsupported)
    }

    fn sign(
        &self,
        usage: &Usage<'_>,
        payload: &[u8],
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), Code> {
        match self.form(usage.form)? {
            Form::Ecdsa => out.extend_from_slice(&self.sign_ecdsa(&digest(usage, payload)?)?),
            Form::EcdsaRecoverable => {
                let (signature, id) = self.sign_recoverable(&digest(usage, payload)?)?;
                out.extend_from_slice(&signature);
                out.push(id);
            }
            Form::Schnorr => {
                let aux = random.array().map_err(|_| Code::HolderUnavailable)?;
                let message = whole(usage, payload)?;
                out.extend_from_slice(&self.sign_schnorr(message, &aux)?);
            }
            _ => out.extend_from_slice(&self.sign_ed25519(message(usage, payload)?)?),
        }
        Ok(())
    }

    fn sign_ecdsa(&self, digest: &[u8; 32]) -> Result<[u8; 64], Code> {
        let signed = match self {
            Self::Node(node) => {
                return node
                    .sign_ecdsa(&Digest::from_bytes(*digest))
                    .map_err(broken);
            }
            Self::Own(OwnKey {
                p256: Some(key), ..
            }) => key
                .sign_digest(digest)
                .and_then(|signature| p256::with_lower_s(&signature)),
            // No key of P-256 is here without its form above but those that agree.
            Self::Own(own) if own.scheme.curve() == Some(Curve::P256) => {
                return Err(Code::Unsupported);
            }
            Self::Own(own) => secp256k1::PrivateKey::from_bytes(own.secret.expose())
                .and_then(|key| key.sign_ecdsa(digest)),
        };
        signed.map_err(|_| Code::HolderUnavailable)
    }

    fn sign_recoverable(&self, digest: &[u8; 32]) -> Result<([u8; 64], u8), Code> {
        let signed = match self {
            Self::Node(node) => {
                let signed = node.sign_ecdsa_recoverable(&Digest::from_bytes(*digest));
                return signed.map(|one| (one.signature, one.id)).map_err(broken);
            }
            Self::Own(own) if own.scheme.curve() == Some(Curve::P256) => {
                p256::PrivateKey::from_bytes(own.secret.expose())
                    .and_then(|key| key.sign_recoverable(digest))
            }
            Self::Own(own) => secp256k1::PrivateKey::from_bytes(own.secret.expose())
                .and_then(|key| key.sign_recoverable(digest)),
        };
        signed.map_err(|_| Code::HolderUnavailable)
    }

    fn sign_schnorr(&self, message: &[u8], aux: &[u8; 32]) -> Result<[u8; 64], Code> {
        match self {
            Self::Node(node) => node.sign_schnorr(message, aux).map_err(broken),
            Self::Own(own) => secp256k1::PrivateKey::from_bytes(own.secret.expose())
                .and_then(|key| key.sign_schnorr(message, aux))
                .map_err(|_| Code::HolderUnavailable),
        }
    }

    fn sign_ed25519(&self, message: &[u8]) -> Result<[u8; 64], Code> {
        match self {
            Self::Node(node) => node.sign_ed25519(message).map_err(broken),
            Self::Own(own) => match &own.ed25519 {
                Some(key) => Ok(key.sign(message)),
                None => Err(Code::Unsupported),
            },
        }
    }

    /// Whether a signature fits. One of another length does not.
    fn verify(&self, usage: &Usage<'_>, payload: &[u8]) -> Result<bool, Code> {
        let (form, public) = (self.form(usage.form)?, self.public()?);
        let (proof, recovery) = match form {
            Form::EcdsaRecoverable => match usage.proof.split_last() {
                Some((id, proof)) => (proof, Some(*id)),
                None => return Ok(false),
            },
            _ => (usage.proof, None),
        };
        let Ok(signature) = <&[u8; 64]>::try_from(proof) else {
            return Ok(false);
        };
        let fits = match form {
            Form::Ecdsa | Form::EcdsaRecoverable => {
                let digest = Digest::from_bytes(digest(usage, payload)?);
                let recovers = recovery.is_none_or(|id| {
                    let whole = keywright_hdkey::RecoverableSignature::new(*signature, id);
                    let found = whole.recover(public.scheme(), &digest);
                    found.is_ok_and(|found| found.as_bytes() == public.as_bytes())
                });
                recovers && public.verify_ecdsa(&digest, signature).is_ok()
            }
            Form::Schnorr => public
                .verify_schnorr(whole(usage, payload)?, signature)
                .is_ok(),
            _ => public
                .verify_ed25519(message(usage, payload)?, signature)
                .is_ok(),
        };
        Ok(fits)
    }

    fn agree(&self, peer: &[u8]) -> Result<Secret<32>, Code> {
        let refused = Code::PeerKeyInvalid;
        match self {
            Self::Node(node) => {
                if matches!(node.scheme().curve(), None | Some(Curve::Ed25519)) {
                    return Err(Code::Unsupported);
                }
                let peer = PublicKey::from_bytes(node.scheme(), peer).map_err(|_| refused)?;
                node.agree(&peer).map_err(|_| refused)
            }
            Self::Own(own) if own.scheme.curve() == Some(Curve::Curve25519) => {
                let peer: &[u8; 32] = peer.try_into().map_err(|_| refused)?;
                let peer = X25519PublicKey::from_bytes(peer).map_err(|_| refused)?;
                let key = X25519PrivateKey::from_bytes(&own.copy());
                let key = key.map_err(|_| Code::HolderUnavailable)?;
                key.agree(&peer).map_err(|_| refused)
            }
            Self::Own(own) if own.scheme.curve() == Some(Curve::P256) => {
                let peer = P256PublicKey::from_sec1(peer).map_err(|_| refused)?;
                let key = P256PrivateKey::from_bytes(&own.copy());
                let key = key.map_err(|_| Code::HolderUnavailable)?;
                key.agree(&peer).map_err(|_| refused)
            }
            Self::Own(_) => Err(Code::Unsupported),
        }
    }

    fn xpub(self, out: &mut Vec<u8>) -> Result<(), Code> {
        let Self::Node(mut node) = self else {
            return Err(Code::Unsupported);
        };
        // What marks the node as shared goes with it: a tree that hands out public nodes exports nothing.
        let shared = node.share_public().map_err(|_| Code::Unsupported)?;
        let text = shared.to_xpub().map_err(|_| Code::Unsupported)?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// lp(private key) + lp(scheme) + lp(how the seed came to be).
    fn export(&self, out: &mut Vec<u8>) -> Result<(), Code> {
        let Self::Node(node) = self else {
            return Err(Code::Unsupported);
        };
        let key = node.export().map_err(|_| Code::Unsupported)?;
        let names = (key.scheme.name(), key.seed_scheme.name());
        let parts: [&[u8]; 3] = [key.key.expose(), names.0.as_bytes(), names.1.as_bytes()];
        parts
            .iter()
            .try_for_each(|part| put_lp(out, part).map_err(|_| Code::Internal))
    }
}

/// What ECDSA signs.
fn digest(usage: &Usage<'_>, payload: &[u8]) -> Result<[u8; 32], Code> {
    match usage.input {
        Input::Message => Ok(sha256(payload)),
        Input::Digest => payload.try_into().map_err(|_| Code::DigestInvalid),
    }
}

/// What BIP-340 signs: the message, or a digest in its place.
fn whole<'p>(usage: &Usage<'_>, payload: &'p [u8]) -> Result<&'p [u8], Code> {
    match usage.input {
        Input::Digest if payload.len() != 32 => Err(Code::DigestInvalid),
        _ => Ok(payload),
    }
}

/// What Ed25519 signs, which is a message and never a digest in its place.
fn message<'p>(usage: &Usage<'_>, payload: &'p [u8]) -> Result<&'p [u8], Code> {
    match usage.input {
        Input::Message => Ok(payload),
        Input::Digest => Err(Code::DigestInvalid),
    }
}

/// What a tree that was made for its use refuses is a use of another scheme, or the backend's fault.
const fn broken(error: keywright_hdkey::Error) -> Code {
    match error {
        keywright_hdkey::Error::WrongUse { .. } => Code::Unsupported,
        _ => Code::HolderUnavailable,
    }
}

/// lp(key as its curve writes it) + lp(JSON Web Key) + lp(PEM).
fn describe(public: &PublicKey, out: &mut Vec<u8>) -> Result<(), Code> {
    let jwk = public.to_jwk().map_err(|_| Code::HolderUnavailable)?;
    let pem = pem(public).ok_or(Code::HolderUnavailable)?;
    let parts: [&[u8]; 3] = [public.as_bytes(), jwk.as_bytes(), pem.as_bytes()];
    parts
        .iter()
        .try_for_each(|part| put_lp(out, part).map_err(|_| Code::Internal))
}

/// The `SubjectPublicKeyInfo` (RFC 5280, 5480, 8410) between its lines.
fn pem(public: &PublicKey) -> Option<String> {
    let bytes = public.as_bytes();
    let info = match public.scheme().curve()? {
        Curve::Secp256k1 => {
            let key = secp256k1::PublicKey::from_sec1(bytes).ok()?;
            [&SECP256K1_INFO[..], &key.to_uncompressed()].concat()
        }
        Curve::P256 => {
            let key = p256::PublicKey::from_sec1(bytes).ok()?;
            [&P256_INFO[..], &key.to_uncompressed()].concat()
        }
        Curve::Ed25519 => [&ED25519_INFO[..], bytes].concat(),
        Curve::Curve25519 => [&X25519_INFO[..], bytes].concat(),
        _ => return None,
    };
    let text = base64::encode(&info);
    let mut pem = String::from("-----BEGIN PUBLIC KEY-----\n");
    let (mut line, mut rest) = text.split_at(text.len().min(PEM_LINE));
    while !line.is_empty() {
        pem.push_str(line);
        pem.push('\n');
        (line, rest) = rest.split_at(rest.len().min(PEM_LINE));
    }
    pem.push_str("-----END PUBLIC KEY-----\n");
    Some(pem)
}

/// Characters of a line (RFC 7468).
const PEM_LINE: usize = 64;
/// Everything of a `SubjectPublicKeyInfo` before the point or key: the lengths, the names, the kind of the bits.
const SECP256K1_INFO: [u8; 23] = [
    0x30, 0x56, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b,
    0x81, 0x04, 0x00, 0x0a, 0x03, 0x42, 0x00,
];
const P256_INFO: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const ED25519_INFO: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
const X25519_INFO: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x03, 0x21, 0x00,
];
