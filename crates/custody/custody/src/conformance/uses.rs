//! The part of the suite for keys that authenticate, sign and agree.
//!
//! What can be judged by other code is: signatures by the backend under the public key that the holder shows,
//! agreements by a key of the backend's on the other side. Nothing here knows what a holder is made of.

use std::sync::Arc;

use keywright_encoding::{Reader, put_lp};
use keywright_envelope::Binding;
use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_primitives::hash::{sha256, sha384, sha512};
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::VerifyingKey;
use keywright_primitives::signature::ecdsa::{P256VerifyingKey, P384VerifyingKey};
use keywright_primitives::signature::ml_dsa::MlDsa65VerifyingKey;
use keywright_primitives::signature::rsa::RsaVerifyingKey;
use keywright_types::{Algorithm, Code, Custody, KeySpec, Operation, Purpose};

use super::{Bench, Broken, Checked, permit};
use crate::{
    Form, HolderError, HolderOperation, Input, Items, KeyHolder, KeyMaterial, NO_DEADLINE, Request,
    Usage, Versions, fit,
};

/// Every key of these purposes that could be kept anywhere.
pub(super) fn specs() -> Vec<KeySpec> {
    let mut specs = Vec::new();
    for custody in [Custody::Wrapped, Custody::Token] {
        for purpose in [Purpose::Mac, Purpose::Sign, Purpose::Agree] {
            specs.extend(Algorithm::ALL.iter().map(|algorithm| KeySpec {
                purpose,
                algorithm: *algorithm,
                custody,
                ..KeySpec::seal()
            }));
        }
    }
    specs.retain(|spec| fit::check(spec).is_ok());
    specs
}

pub(super) fn run_for(holder: &dyn KeyHolder, spec: KeySpec) -> Checked {
    let bench = Bench::new(holder, spec)?;
    if !holder.supports(&spec, HolderOperation::first_of(spec.purpose)) {
        return bench.unsupported_is_refused();
    }
    // Pairs of some algorithms take their time: three of them serve every promise.
    let keys = Keys {
        key: bench.key(1, 1)?,
        next: bench.key(1, 2)?,
        other: bench.key(2, 1)?,
    };
    match spec.purpose {
        Purpose::Mac => {
            bench.macs_fit_their_message_and_key(&keys)?;
            bench.other_codes_do_not_fit(&keys)?;
        }
        Purpose::Sign => {
            bench.signatures_fit_their_message_and_key(&keys)?;
            bench.other_signatures_do_not_fit(&keys)?;
            bench.a_digest_stands_for_its_message(&keys)?;
            bench.forms_of_other_algorithms_are_refused(&keys)?;
            bench.signatures_fit_the_key_that_is_shown(&keys)?;
        }
        _ => {
            bench.both_sides_have_one_secret(&keys)?;
            bench.what_is_no_key_of_the_curve_makes_no_secret(&keys)?;
        }
    }
    bench.edited_and_moved_rows_do_not_load(&keys)?;
    bench.a_foreign_permit_is_refused(&keys)?;
    bench.items_end_each_for_itself(&keys)
}

struct Keys {
    key: Arc<KeyMaterial>,
    /// The next version of the same key.
    next: Arc<KeyMaterial>,
    other: Arc<KeyMaterial>,
}

/// `Ok` if the promise holds, else its sentence.
macro_rules! require {
    ($holds:expr, $promise:literal) => {
        if $holds {
            Ok(())
        } else {
            Err(Broken::from($promise))
        }
    };
}

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";
const LENGTHS: [usize; 8] = [0, 1, 31, 32, 33, 64, 1000, 100_000];

impl Bench<'_> {
    fn ask(
        &self,
        operation: HolderOperation,
        key: &Arc<KeyMaterial>,
        payload: &[u8],
        usage: &Usage<'_>,
    ) -> Result<Result<Vec<u8>, Code>, Broken> {
        let mut aad = Vec::new();
        usage.put(&mut aad);
        self.one(operation, key, payload, &aad)
    }

    fn made(
        &self,
        operation: HolderOperation,
        key: &Arc<KeyMaterial>,
        payload: &[u8],
    ) -> Result<Vec<u8>, Broken> {
        let made = self.ask(operation, key, payload, &Usage::default())?;
        made.map_err(|code| format!("{operation:?} fails with {code}"))
    }

    fn fits(
        &self,
        operation: HolderOperation,
        key: &Arc<KeyMaterial>,
        payload: &[u8],
        proof: &[u8],
    ) -> Result<bool, Broken> {
        let usage = Usage {
            proof,
            ..Usage::default()
        };
        match self.ask(operation, key, payload, &usage)?.as_deref() {
            Ok([1]) => Ok(true),
            Ok([0]) => Ok(false),
            Ok(_) => Err("the answer of a verification is 0 or 1".to_owned()),
            Err(code) => Err(format!("{operation:?} fails with {code}")),
        }
    }

    fn macs_fit_their_message_and_key(&self, keys: &Keys) -> Checked {
        let expected = match self.spec.algorithm {
            Algorithm::Aes256Cmac => 16,
            Algorithm::HmacSha384 => 48,
            Algorithm::HmacSha512 => 64,
            _ => 32,
        };
        for length in LENGTHS {
            let message = vec![0x5A; length];
            let mac = self.made(HolderOperation::Mac, &keys.key, &message)?;
            let again = self.made(HolderOperation::Mac, &keys.key, &message)?;
            require!(mac == again, "one message has one code")?;
            require!(mac.len() == expected, "a code has its whole length")?;
            let fits = self.fits(HolderOperation::VerifyMac, &keys.key, &message, &mac)?;
            require!(fits, "a code fits its message")?;
        }
        Ok(())
    }

    fn other_codes_do_not_fit(&self, keys: &Keys) -> Checked {
        let mac = self.made(HolderOperation::Mac, &keys.key, MESSAGE)?;
        let fits = |key: &Arc<KeyMaterial>, message: &[u8], proof: &[u8]| {
            self.fits(HolderOperation::VerifyMac, key, message, proof)
        };
        for other in [&keys.next, &keys.other] {
            require!(!fits(other, MESSAGE, &mac)?, "a code fits one key")?;
        }
        for message in [&b""[..], b"order 4711: 250 at 17.36", &MESSAGE[1..]] {
            require!(!fits(&keys.key, message, &mac)?, "a code fits one message")?;
        }
        for proof in changes(&mac) {
            require!(
                !fits(&keys.key, MESSAGE, &proof)?,
                "a changed, cut or longer code does not fit"
            )?;
        }
        Ok(())
    }

    fn signatures_fit_their_message_and_key(&self, keys: &Keys) -> Checked {
        for length in LENGTHS {
            let message = vec![0x5A; length];
            let made = self.made(HolderOperation::Sign, &keys.key, &message)?;
            let fits = self.fits(HolderOperation::Verify, &keys.key, &message, &made)?;
            require!(fits, "a signature fits its message")?;
        }
        Ok(())
    }

    fn other_signatures_do_not_fit(&self, keys: &Keys) -> Checked {
        let made = self.made(HolderOperation::Sign, &keys.key, MESSAGE)?;
        let fits = |key: &Arc<KeyMaterial>, message: &[u8], proof: &[u8]| {
            self.fits(HolderOperation::Verify, key, message, proof)
        };
        for other in [&keys.next, &keys.other] {
            require!(!fits(other, MESSAGE, &made)?, "a signature fits one key")?;
        }
        for message in [&b""[..], b"order 4711: 250 at 17.36", &MESSAGE[1..]] {
            require!(
                !fits(&keys.key, message, &made)?,
                "a signature fits one message"
            )?;
        }
        for proof in changes(&made) {
            require!(
                !fits(&keys.key, MESSAGE, &proof)?,
                "a changed, cut or longer signature does not fit"
            )?;
        }
        require!(
            fits(&keys.key, MESSAGE, &made)?,
            "signatures that do not fit leave the key as it was"
        )
    }

    fn a_digest_stands_for_its_message(&self, keys: &Keys) -> Checked {
        let digest = match self.spec.algorithm {
            Algorithm::Ed25519 | Algorithm::MlDsa65 => Vec::new(),
            Algorithm::EcdsaP384 => sha384(MESSAGE).to_vec(),
            Algorithm::EcdsaP521 => sha512(MESSAGE).to_vec(),
            _ => sha256(MESSAGE).to_vec(),
        };
        let usage = Usage {
            input: Input::Digest,
            ..Usage::default()
        };
        let sign = |digest: &[u8]| self.ask(HolderOperation::Sign, &keys.key, digest, &usage);
        if !digest.is_empty() {
            let made = sign(&digest)?.map_err(|code| format!("a digest fails with {code}"))?;
            let fits = self.fits(HolderOperation::Verify, &keys.key, MESSAGE, &made)?;
            require!(fits, "the signature of a digest fits its message")?;
            let made = self.made(HolderOperation::Sign, &keys.key, MESSAGE)?;
            let usage = Usage {
                proof: &made,
                ..usage
            };
            let fits = self.ask(HolderOperation::Verify, &keys.key, &digest, &usage)?;
            require!(
                fits == Ok(vec![1]),
                "the signature of a message fits its digest"
            )?;
        }
        // Ed25519 and ML-DSA sign messages alone.
        for length in [0, 20, digest.len().max(32) - 1, digest.len().max(32) + 1] {
            require!(
                sign(&vec![1; length])? == Err(Code::DigestInvalid),
                "a digest of another length is refused"
            )?;
        }
        Ok(())
    }

    fn forms_of_other_algorithms_are_refused(&self, keys: &Keys) -> Checked {
        let ed25519 = self.spec.algorithm == Algorithm::Ed25519;
        let foreign = match ed25519 {
            true => [Form::Ecdsa, Form::Schnorr],
            false => [Form::Ed25519, Form::Ed25519],
        };
        for form in foreign {
            let usage = Usage {
                form,
                ..Usage::default()
            };
            for operation in [HolderOperation::Sign, HolderOperation::Verify] {
                require!(
                    self.ask(operation, &keys.key, MESSAGE, &usage)? == Err(Code::Unsupported),
                    "a form of another algorithm is refused"
                )?;
            }
        }
        let usage = Usage {
            path: "m/0'",
            ..Usage::default()
        };
        require!(
            self.ask(HolderOperation::Sign, &keys.key, MESSAGE, &usage)? == Err(Code::PathInvalid),
            "a key that is no tree has no paths"
        )
    }

    /// The public key as the holder shows it: as its standard writes it, as a JSON Web Key, between lines of PEM.
    fn shown(&self, key: &Arc<KeyMaterial>) -> Result<Vec<u8>, Broken> {
        let shown = self.made(HolderOperation::PublicKey, key, b"")?;
        let mut parts = Reader::new(&shown);
        let mut part = || parts.lp().map_err(|_| "a public key has three parts");
        let (bytes, jwk, pem) = (part()?.to_vec(), part()?, part()?);
        require!(parts.is_empty(), "a public key has three parts")?;
        require!(
            jwk.starts_with(b"{\"") && jwk.ends_with(b"\"}"),
            "the second form of a public key is JSON"
        )?;
        require!(
            pem.starts_with(b"-----BEGIN PUBLIC KEY-----\n"),
            "the third form of a public key is PEM"
        )?;
        Ok(bytes)
    }

    fn signatures_fit_the_key_that_is_shown(&self, keys: &Keys) -> Checked {
        let public = self.shown(&keys.key)?;
        let other = self.shown(&keys.other)?;
        require!(public != other, "two keys have two public keys")?;
        let made = self.made(HolderOperation::Sign, &keys.key, MESSAGE)?;
        let algorithm = self.spec.algorithm;
        require!(
            judged(algorithm, &public, &made) != Some(false),
            "a signature fits under the key that is shown"
        )?;
        require!(
            judged(algorithm, &other, &made) != Some(true),
            "a signature fits under no other key"
        )?;
        // Of the two numbers that fit, the lower one is given out: whoever has one signature makes no second.
        let high = matches!(algorithm, Algorithm::EcdsaP256 | Algorithm::EcdsaSecp256k1)
            && made.get(32).is_none_or(|first| *first > 0x7f);
        require!(!high, "the second number of a signature is the lower one")
    }

    fn both_sides_have_one_secret(&self, keys: &Keys) -> Checked {
        let agree =
            |key: &Arc<KeyMaterial>, peer: &[u8]| self.made(HolderOperation::Agree, key, peer);
        let points = [self.shown(&keys.key)?, self.shown(&keys.other)?];
        let one = agree(&keys.key, &points[1])?;
        require!(one.len() == 32, "a secret has 32 bytes")?;
        require!(
            one == agree(&keys.other, &points[0])?,
            "both sides have one secret"
        )?;
        require!(
            one != agree(&keys.next, &points[1])?,
            "another version has another secret"
        )?;
        let broken = |_| "the backend refuses".to_owned();
        let theirs = if self.spec.algorithm == Algorithm::X25519 {
            let outside = X25519PrivateKey::generate().map_err(|_| "the backend refuses")?;
            let point = points[0].as_slice().try_into();
            let point = point.map_err(|_| "a public key of X25519 has 32 bytes")?;
            let point = X25519PublicKey::from_bytes(point).map_err(broken)?;
            let secret = outside.agree(&point).map_err(|_| "the backend refuses")?;
            (outside.public_bytes().map_err(broken)?.to_vec(), secret)
        } else {
            let outside = P256PrivateKey::generate().map_err(|_| "the backend refuses")?;
            let point = P256PublicKey::from_sec1(&points[0]).map_err(broken)?;
            let secret = outside.agree(&point).map_err(|_| "the backend refuses")?;
            (outside.public_bytes().map_err(broken)?.to_vec(), secret)
        };
        require!(
            agree(&keys.key, &theirs.0)? == theirs.1.expose(),
            "so has somebody outside"
        )
    }

    fn what_is_no_key_of_the_curve_makes_no_secret(&self, keys: &Keys) -> Checked {
        let mut bad = vec![
            vec![],
            vec![4],
            vec![9; 31],
            vec![9; 33],
            vec![4; 64],
            vec![4; 65],
        ];
        bad.push([&[4][..], &[0; 64]].concat());
        bad.push(vec![0; 65]);
        if self.spec.algorithm == Algorithm::X25519 {
            bad.push(vec![0; 32]);
            bad.push([&[1][..], &[0; 31]].concat());
        }
        for peer in bad {
            let usage = Usage::default();
            let agreed = self.ask(HolderOperation::Agree, &keys.key, &peer, &usage)?;
            require!(
                agreed == Err(Code::PeerKeyInvalid),
                "what is no key of the curve makes no secret"
            )?;
        }
        let one = self.shown(&keys.other)?;
        self.made(HolderOperation::Agree, &keys.key, &one).map(drop)
    }

    /// What the purpose is for, with a payload that fits.
    fn first(&self, other: &Arc<KeyMaterial>) -> Result<(HolderOperation, Vec<u8>), Broken> {
        let operation = HolderOperation::first_of(self.spec.purpose);
        let payload = match operation {
            HolderOperation::Agree => self.shown(other)?,
            _ => MESSAGE.to_vec(),
        };
        Ok((operation, payload))
    }

    fn edited_and_moved_rows_do_not_load(&self, keys: &Keys) -> Checked {
        let (operation, payload) = self.first(&keys.other)?;
        let mut aad = Vec::new();
        Usage::default().put(&mut aad);
        let original = self.sealing(1, 1);
        let mut rows: Vec<_> = Self::edits(original)
            .map(|edited| (edited, keys.key.sealed(), keys.key.parent().cloned()))
            .into();
        rows.push((original, keys.key.sealed(), Some(self.tenant(2)?)));
        // The row of one version with what is kept of another.
        rows.push((original, keys.next.sealed(), keys.key.parent().cloned()));
        rows.push((original, keys.other.sealed(), keys.key.parent().cloned()));
        rows.push((original, &[], keys.key.parent().cloned()));
        for (identity, sealed, parent) in rows {
            let row = Arc::new(KeyMaterial::new(identity, sealed.to_vec(), parent));
            let items: [(&[u8], &[u8], u16); 1] = [(&payload, &aad, 0)];
            let used = self.perform(operation, &[&row], Binding::None, &items);
            require!(
                used.err() == Some(HolderError::KeyRejected),
                "an edited or moved row does not load"
            )?;
        }
        Ok(())
    }

    fn a_foreign_permit_is_refused(&self, keys: &Keys) -> Checked {
        let operation = HolderOperation::first_of(self.spec.purpose);
        let allowed = operation.permitted_by();
        for wrong in [
            permit(keys.other.key(), allowed),
            permit(keys.key.key(), Operation::Encrypt),
        ] {
            let request = Request {
                operation,
                versions: Versions::from_iter([Arc::clone(&keys.key)]),
                binding: Binding::None,
                deadline_ns: NO_DEADLINE,
            };
            let refused = self.holder.perform(
                &wrong,
                &request,
                Items::default(),
                &mut RandomStream::unseeded(),
            );
            let refused = refused.err() == Some(HolderError::PermitMismatch);
            require!(refused, "a permit for another key or operation is refused")?;
        }
        Ok(())
    }

    /// Items of two versions, one of none, in one request.
    fn items_end_each_for_itself(&self, keys: &Keys) -> Checked {
        let (operation, payload) = self.first(&keys.other)?;
        let (mut usual, mut lost) = (Vec::new(), Vec::new());
        Usage::default().put(&mut usual);
        let path = Usage {
            path: "m/1'",
            ..Usage::default()
        };
        path.put(&mut lost);
        let items: [(&[u8], &[u8], u16); 4] = [
            (&payload, &usual, 0),
            (&payload, &lost, 0),
            (&payload, &usual, 7),
            (&payload, &usual, 1),
        ];
        let versions = [&keys.key, &keys.next];
        let reply = self.perform(operation, &versions, Binding::None, &items);
        let reply = reply.map_err(|error| format!("a mixed batch failed as a whole: {error}"))?;
        let codes: Vec<_> = reply
            .iter()
            .map(|item| (item.code, item.version.number()))
            .collect();
        // A MAC has no path to be wrong about: what is said of one is not looked at.
        let second = match codes.get(1) {
            Some((Code::Ok, 1)) if self.spec.purpose == Purpose::Mac => Code::Ok,
            _ => Code::PathInvalid,
        };
        let expected = [
            (Code::Ok, 1),
            (second, 1),
            (Code::VersionNotFound, 0),
            (Code::Ok, 2),
        ];
        require!(
            codes == expected,
            "results stand in order, each for its own item and version"
        )
    }
}

/// Whether the backend finds that a signature of [`MESSAGE`] fits; `None` for algorithms that it has not.
fn judged(algorithm: Algorithm, public: &[u8], made: &[u8]) -> Option<bool> {
    let fits = match algorithm {
        Algorithm::Ed25519 => {
            let key = VerifyingKey::from_bytes(public.try_into().ok()?);
            key.verify(MESSAGE, made.try_into().ok()?)
        }
        Algorithm::EcdsaP256 => {
            let key = P256VerifyingKey::from_sec1(public).ok()?;
            key.verify_fixed(MESSAGE, made.try_into().ok()?)
        }
        Algorithm::EcdsaP384 => {
            let key = P384VerifyingKey::from_sec1(public).ok()?;
            key.verify_fixed(MESSAGE, made.try_into().ok()?)
        }
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => {
            let key = RsaVerifyingKey::from_der(public).ok()?;
            key.verify_pkcs1(MESSAGE, made)
        }
        Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => {
            let key = RsaVerifyingKey::from_der(public).ok()?;
            key.verify_pss(MESSAGE, made)
        }
        Algorithm::MlDsa65 => {
            let key = MlDsa65VerifyingKey::from_bytes(public.try_into().ok()?).ok()?;
            key.verify(MESSAGE, made.try_into().ok()?)
        }
        _ => return None,
    };
    Some(fits.is_ok())
}

/// A proof changed at both ends and in its middle, cut, lengthened, and what is no number at all.
fn changes(proof: &[u8]) -> Vec<Vec<u8>> {
    let length = proof.len();
    let mut changed: Vec<_> = [0, 1, length / 2 - 1, length / 2, length - 1]
        .into_iter()
        .map(|place| {
            let mut changed = proof.to_vec();
            if let Some(byte) = changed.get_mut(place) {
                *byte ^= 0x40;
            }
            changed
        })
        .collect();
    changed.extend([vec![], vec![0; length], vec![0xff; length]]);
    changed.push(proof.get(..length - 1).unwrap_or_default().to_vec());
    changed.push([proof, &[0]].concat());
    // As others write it: a sequence of two numbers.
    let mut sequence = vec![0x30];
    let _ = put_lp(&mut sequence, proof);
    changed.push(sequence);
    changed
}
