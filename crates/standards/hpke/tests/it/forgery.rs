//! What a thief of the recipient's keys can do (T07), by a second, literal implementation of the key schedule
//! from RFC 9180 and from the page of [`keywright_hpke::authpsk_pq`]; and what AuthPSK-PQ promises otherwise.

use keywright_encoding::lp;
use keywright_hpke::authpsk_pq::{ENC_LEN, RecipientKey, RecipientPublicKey};
use keywright_hpke::binder::{Identity, Negotiation};
use keywright_hpke::{
    Aad, Error, Info, Kem, Policy, PrivateKey, Psk, PskSecret, PublicKey, RecipientMode, Suite,
};
use keywright_primitives::aead::ChaCha20Poly1305;
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::HkdfSha256;
use keywright_primitives::kem::MlKem768EncapsulationKey;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;

use crate::scene::{admitted, key};

const KEM_ID: &[u8] = b"KEM\x00\x20";
const SUITE_ID: &[u8] = b"HPKE\x00\x20\x00\x01\x00\x03";

fn labelled_extract(salt: &[u8], id: &[u8], label: &[u8], ikm: &[u8]) -> HkdfSha256 {
    HkdfSha256::extract(salt, &[b"HPKE-v1", id, label, ikm].concat()).unwrap()
}

/// The bytes of an extraction: what HKDF-Extract gives is HMAC of the material under the salt.
fn extracted(salt: &[u8], id: &[u8], label: &[u8], ikm: &[u8]) -> [u8; 32] {
    let key = keywright_primitives::mac::HmacSha256::new(salt).unwrap();
    key.mac(&[b"HPKE-v1", id, label, ikm].concat())
}

fn labelled_expand<const N: usize>(
    prk: &HkdfSha256,
    id: &[u8],
    label: &[u8],
    info: &[u8],
) -> [u8; N] {
    let length = u16::try_from(N).unwrap().to_be_bytes();
    let mut out = [0; N];
    prk.expand(&[&length, b"HPKE-v1", id, label, info], &mut out)
        .unwrap();
    out
}

/// A thief who has the recipient's private key, and only the public key of the one he plays.
struct Thief {
    recipient: X25519PrivateKey,
    victim: X25519PublicKey,
}

impl Thief {
    fn of(recipient: &PrivateKey, victim: &PublicKey) -> Self {
        let secret = Secret::copy_from(recipient.to_bytes().unwrap().expose()).unwrap();
        Self {
            recipient: X25519PrivateKey::from_bytes(&secret).unwrap(),
            victim: X25519PublicKey::from_bytes(victim.as_bytes().try_into().unwrap()).unwrap(),
        }
    }

    /// AuthEncap without skS: DH(skS, pkR) is DH(skR, pkS). Then the key schedule, and one message.
    fn forge(&self, mode: u8, (psk, psk_id): (&[u8], &[u8]), info: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let ephemeral = X25519PrivateKey::generate().unwrap();
        let enc = ephemeral.public_bytes().unwrap();
        let own = self.recipient.public_key().unwrap();
        let first = ephemeral.agree(&own).unwrap();
        let second = self.recipient.agree(&self.victim).unwrap();
        let dh = [&first.expose()[..], second.expose()].concat();
        let context = [&enc, own.as_bytes(), self.victim.as_bytes()].concat();
        let prk = labelled_extract(b"", KEM_ID, b"eae_prk", &dh);
        let shared: [u8; 32] = labelled_expand(&prk, KEM_ID, b"shared_secret", &context);
        let context = [
            &[mode][..],
            &extracted(b"", SUITE_ID, b"psk_id_hash", psk_id),
            &extracted(b"", SUITE_ID, b"info_hash", info),
        ]
        .concat();
        let secret = labelled_extract(&shared, SUITE_ID, b"secret", psk);
        let key: [u8; 32] = labelled_expand(&secret, SUITE_ID, b"key", &context);
        let nonce: [u8; 12] = labelled_expand(&secret, SUITE_ID, b"base_nonce", &context);
        let mut text = b"it is me".to_vec();
        let key = ChaCha20Poly1305::new(&key).unwrap();
        let tag = key.seal(&nonce, b"", &mut text).unwrap();
        (enc.to_vec(), [&text[..], &tag].concat())
    }
}

#[test]
fn t07_a_stolen_recipient_key_forges_in_mode_auth_but_not_with_a_true_psk() {
    let (recipient, victim) = (key(Kem::X25519HkdfSha256, 1), key(Kem::X25519HkdfSha256, 2));
    let thief = Thief::of(&recipient, victim.public_key());
    let suite = admitted(Suite::X25519);
    let (enc, sealed) = thief.forge(2, (b"", b""), b"info");
    let mode = RecipientMode::AuthRfc9180(victim.public_key());
    let from = suite.acceptor(&recipient, mode, Info(b"info")).unwrap();
    let opened = from.accept(&enc).unwrap().open(Aad(b""), &sealed);
    assert_eq!(opened.unwrap(), b"it is me", "the documented weakness");

    // The thief knows the id, which is public, and must guess the key.
    let psk = Psk::new(PskSecret(&[7; 32]), b"id").unwrap();
    let (enc, sealed) = thief.forge(3, (&[8; 32], b"id"), b"info");
    let mode = RecipientMode::AuthPsk(victim.public_key(), psk);
    let from = suite.acceptor(&recipient, mode, Info(b"info")).unwrap();
    let refused = from.accept(&enc).unwrap().open(Aad(b""), &sealed);
    assert_eq!(refused, Err(Error::Rejected));
    // With the right one the same forgery opens: it was the key that stopped it.
    let (enc, sealed) = thief.forge(3, (&[7; 32], b"id"), b"info");
    assert!(from.accept(&enc).unwrap().open(Aad(b""), &sealed).is_ok());
}

fn recipient_key(number: u8) -> RecipientKey {
    let (curve, lattice) = (
        key(Kem::X25519HkdfSha256, number),
        key(Kem::MlKem768Draft, number),
    );
    RecipientKey::from_parts(curve, lattice).unwrap()
}

#[test]
fn t07_authpsk_pq_does_not_stop_the_thief_and_a_signature_does() {
    let (recipient, victim) = (recipient_key(1), key(Kem::X25519HkdfSha256, 2));
    let (curve, lattice) = (key(Kem::X25519HkdfSha256, 1), key(Kem::MlKem768Draft, 1));
    let thief = Thief::of(&curve, victim.public_key());
    // The page of the module, step by step.
    let public = lattice.public_key().as_bytes();
    let encapsulation = MlKem768EncapsulationKey::from_bytes(public.try_into().unwrap()).unwrap();
    let (ct, ss) = encapsulation.encapsulate().unwrap();
    let (pk_s, pk_r) = (
        victim.public_key().as_bytes(),
        curve.public_key().as_bytes(),
    );
    let h = sha256(&lp(&[public, &ct, pk_s, pk_r]).unwrap());
    let mut psk = [0; 32];
    let prk = HkdfSha256::extract(b"", ss.expose()).unwrap();
    prk.expand(&[b"keywright/authpsk-pq/v1", &h], &mut psk)
        .unwrap();
    let id = [&b"kw-pq-psk/1"[..], &sha256(&lp(&[public, &ct]).unwrap())].concat();
    assert_eq!(id.len(), 43);
    let (enc, sealed) = thief.forge(3, (&psk, &id), b"info");
    let enc = [enc, ct.to_vec()].concat();
    let policy = Policy::default();
    let mut context = recipient
        .accept(&policy, victim.public_key(), &enc, Info(b"info"))
        .unwrap();
    let opened = context.open(Aad(b""), &sealed);
    assert_eq!(opened.unwrap(), b"it is me", "the documented weakness");

    // The victim signs what he starts; the thief has another signing key.
    let signer = |byte| SigningKey::from_seed(&Secret::from_fill(|out| out.fill(byte))).unwrap();
    let negotiation = Negotiation {
        offered: &[[0x20, 1, 3]],
        published: &[[0x20, 1, 3]],
        initiator: Identity {
            name: b"victim",
            key: b"",
        },
        ..Negotiation::default()
    };
    let mode = keywright_hpke::SenderMode::Base;
    let (enc, bound) = negotiation
        .initiate(&policy, curve.public_key(), mode)
        .unwrap();
    let forged = bound.transcript().sign(&enc, &signer(9));
    let known = signer(1).verifying_key();
    let refused = bound.transcript().verify(enc.as_bytes(), &known, &forged);
    assert_eq!(refused, Err(Error::Rejected));
}

#[test]
fn authpsk_pq_opens_for_these_keys_and_no_others() {
    let (recipient, other) = (recipient_key(1), recipient_key(3));
    let (sender, stranger) = (key(Kem::X25519HkdfSha256, 2), key(Kem::X25519HkdfSha256, 4));
    let policy = Policy::default();
    let public = RecipientPublicKey::of(&recipient).unwrap();
    let (enc, mut context) = public.initiate(&policy, &sender, Info(b"info")).unwrap();
    assert_eq!(enc.len(), ENC_LEN);
    let sealed = context.seal(Aad(b""), b"text").unwrap();
    let open = |recipient: &RecipientKey, from: &PrivateKey, enc: &[u8], info| {
        let context = recipient.accept(&policy, from.public_key(), enc, Info(info));
        context?.open(Aad(b""), &sealed)
    };
    assert_eq!(open(&recipient, &sender, &enc, b"info").unwrap(), b"text");
    let refused = Err(Error::Rejected);
    assert_eq!(open(&recipient, &stranger, &enc, b"info"), refused);
    assert_eq!(open(&other, &sender, &enc, b"info"), refused);
    assert_eq!(open(&recipient, &sender, &enc, b"inf0"), refused);
    assert_eq!(open(&recipient, &sender, &enc[1..], b"info"), refused);
    assert_eq!(open(&recipient, &sender, b"", b"info"), refused);
    assert_eq!(
        open(&recipient, &sender, &[&enc[..], &[0]].concat(), b"info"),
        refused
    );
    for place in (0..ENC_LEN).step_by(13) {
        let mut changed = enc.clone();
        changed[place] ^= 1;
        assert_eq!(
            open(&recipient, &sender, &changed, b"info"),
            refused,
            "{place}"
        );
    }
    // Either half with the half of another.
    let mixed = [key(Kem::X25519HkdfSha256, 1), key(Kem::X25519HkdfSha256, 3)];
    let lattices = [key(Kem::MlKem768Draft, 3), key(Kem::MlKem768Draft, 1)];
    for (curve, lattice) in mixed.into_iter().zip(lattices) {
        let mixed = RecipientKey::from_parts(curve, lattice).unwrap();
        assert_eq!(open(&mixed, &sender, &enc, b"info"), refused);
    }
}

#[test]
fn authpsk_pq_refuses_keys_of_other_kems_and_policies_without_its_suite() {
    let curve = || key(Kem::X25519HkdfSha256, 1);
    let lattice = || key(Kem::MlKem768Draft, 1);
    let mismatch = Some(Error::KeyMismatch);
    assert_eq!(RecipientKey::from_parts(lattice(), curve()).err(), mismatch);
    assert_eq!(
        RecipientKey::from_parts(curve(), key(Kem::XWingDraft, 1)).err(),
        mismatch
    );
    assert_eq!(
        RecipientKey::from_parts(key(Kem::P256HkdfSha256, 1), lattice()).err(),
        mismatch
    );
    let again =
        |key: &PrivateKey| PublicKey::from_bytes(key.kem(), key.public_key().as_bytes()).unwrap();
    let swapped = RecipientPublicKey::from_parts(again(&lattice()), again(&curve()));
    assert_eq!(swapped.err(), mismatch);
    let public = RecipientPublicKey::from_parts(again(&curve()), again(&lattice())).unwrap();
    let policy = Policy::of(&[Suite::P256]);
    let refused = public.initiate(&policy, &curve(), Info(b""));
    assert_eq!(refused.err(), Some(Error::SuiteRefused));
    let wrong = public.initiate(&Policy::default(), &key(Kem::P256HkdfSha256, 1), Info(b""));
    assert_eq!(wrong.err(), mismatch);
}
