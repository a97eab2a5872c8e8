//! The promises about foreign bytes, as one function that the fuzz target and a plain test both call.

use std::sync::LazyLock;

use keywright_secret::SecretBytes;

use crate::{
    Aad, Aead, Info, Kdf, Kem, Policy, PrivateKey, PublicKey, RecipientMode, Sealed, Suite,
};

/// What the key of each KEM is derived from.
pub const IKM: [u8; 66] = [0x5A; 66];

static KEYS: LazyLock<Vec<PrivateKey>> = LazyLock::new(|| {
    let derived = |kem: &Kem| PrivateKey::derive(*kem, &SecretBytes::from_vec(IKM.to_vec()));
    Kem::ALL.iter().flat_map(derived).collect()
});

/// Reads `data` as numbers of a suite, as keys, and as a message to the recipient with the keys of [`IKM`],
/// and checks that
///
/// * a suite or key that is read has this one spelling;
/// * what does not open leaves zeros in the buffer, and is refused alike alone and among others;
/// * the counter has not moved then: the message that comes next in order still would.
///
/// The first byte chooses KEM, the second KDF, the third AEAD.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn hpke(data: &[u8]) {
    let Some(([kem, kdf, aead], rest)) = data.split_first_chunk() else {
        return;
    };
    let suite = Suite {
        kem: pick(Kem::ALL, *kem),
        kdf: pick(Kdf::ALL, *kdf),
        aead: pick(Aead::ALL, *aead),
    };
    numbers(rest);
    keys(suite.kem, rest);
    message(suite, rest);
}

fn pick<T: Copy>(all: &[T], byte: u8) -> T {
    all[usize::from(byte) % all.len()]
}

fn numbers(rest: &[u8]) {
    if let Some(six) = rest.first_chunk::<6>() {
        let [a, b, c, d, e, f] = *six;
        let ids = [[a, b], [c, d], [e, f]].map(u16::from_be_bytes);
        if let Ok(suite) = Suite::from_ids(ids) {
            assert_eq!(suite.to_bytes(), *six, "a suite with two spellings");
        }
    }
}

fn keys(kem: Kem, rest: &[u8]) {
    if let Some(bytes) = rest.get(..kem.public_key_len())
        && let Ok(key) = PublicKey::from_bytes(kem, bytes)
    {
        assert_eq!(key.as_bytes(), bytes, "a public key with two spellings");
    }
    if PublicKey::from_bytes(kem, rest).is_ok() {
        assert_eq!(rest.len(), kem.public_key_len(), "a key of another length");
    }
    let secret = SecretBytes::from_vec(rest.to_vec());
    if let Ok(key) = PrivateKey::from_bytes(kem, &secret) {
        assert_eq!(rest.len(), kem.private_key_len(), "a key of another length");
        let again = key
            .to_bytes()
            .and_then(|bytes| PrivateKey::from_bytes(kem, &bytes));
        assert!(
            again.is_ok_and(|again| again.public_key() == key.public_key()),
            "what a key writes is another key"
        );
    }
}

fn message(suite: Suite, rest: &[u8]) {
    let (Some(key), Some((enc, ciphertext))) = (
        KEYS.iter().find(|key| key.kem() == suite.kem),
        rest.split_at_checked(suite.kem.enc_len()),
    ) else {
        return;
    };
    let Ok(admitted) = Policy::of(&[suite]).admit(suite) else {
        return;
    };
    let Ok(acceptor) = admitted.acceptor(key, RecipientMode::Base, Info(b"")) else {
        return;
    };
    let sealed = Sealed {
        enc,
        aad: Aad(b""),
        ciphertext,
    };
    let alone = acceptor.open(sealed);
    let among = acceptor.open_batch(&[sealed, sealed]);
    assert!(
        among.iter().all(|one| *one == alone),
        "a batch answers otherwise"
    );
    let mut out = vec![0xA5; ciphertext.len()];
    let into = acceptor.open_into(sealed, &mut out);
    if into.is_err() && suite.aead != Aead::ExportOnly {
        assert!(out.iter().all(|byte| *byte == 0), "something was left");
    }
    assert_eq!(into.ok(), alone.ok().map(|text| text.len()));
    if let Ok(mut context) = acceptor.accept(enc) {
        let first = context.open(Aad(b"another"), ciphertext);
        assert!(first.is_err(), "other associated data opened");
        let then = context.open(Aad(b""), ciphertext);
        assert_eq!(then, acceptor.open(sealed), "the counter has moved");
    }
    assert!(
        acceptor.accept(&enc[1..]).is_err(),
        "a shorter encapsulation"
    );
}
