//! What is sealed many at a time is what is sealed alone.

use std::collections::HashSet;

use keywright_envelope::{Aad, Binding, Envelope, hazmat};
use keywright_primitives::random::RandomStream;

use crate::scene::{SEALING, group, identity, keys, open};

/// More than are derived at a time.
const MANY: usize = 40;

#[test]
fn each_message_is_the_envelope_of_its_nonce_however_many_were_announced() {
    for (suite, nonce_len) in SEALING {
        let (sealing, opening) = keys(suite);
        let mut random = RandomStream::new().unwrap();
        for announced in [0, 1, 2, 15, 16, 17, MANY, 1000] {
            let mut batch = sealing.batch(announced);
            let mut seen = HashSet::new();
            for index in 0..MANY {
                let text = vec![0x5A; index * 7];
                let row = index.to_be_bytes();
                let aad = Aad::EMPTY.caller(&row).unwrap();
                let binding = if index % 2 == 0 {
                    Binding::None
                } else {
                    group(3)
                };
                let mut out = b"before".to_vec();
                let message = batch
                    .seal_into(binding, &aad, &text, &mut random, &mut out)
                    .unwrap();
                let made = out.split_off(6);
                assert_eq!(out, b"before");
                assert_eq!(made.len(), sealing.sealed_len(binding, text.len()));
                let envelope = Envelope::parse(&made).unwrap();
                assert_eq!(envelope.header().identity(), identity(suite));
                assert_eq!(envelope.message_id(), message);
                let place = envelope.header().encoded_len();
                let mut nonce = [0; 24];
                nonce[..nonce_len].copy_from_slice(&made[place..place + nonce_len]);
                assert!(nonce_len == 0 || seen.insert(nonce), "no nonce twice");
                let alone = hazmat::seal_with_nonce(&sealing, binding, &aad, &text, &nonce);
                assert_eq!(alone.unwrap(), made, "{suite}, {announced}, {index}");
                assert_eq!(open(&opening, &made, &aad), Some(text));
                assert_eq!(open(&opening, &made, &Aad::EMPTY), None);
            }
        }
    }
}

#[test]
fn two_batches_of_one_key_share_no_nonce() {
    for (suite, nonce_len) in SEALING {
        if nonce_len == 0 {
            continue;
        }
        let (sealing, _) = keys(suite);
        let mut random = RandomStream::new().unwrap();
        let mut seen = HashSet::new();
        for _ in 0..20 {
            // Half of what is announced is not sealed.
            let mut batch = sealing.batch(20);
            for _ in 0..10 {
                let mut out = Vec::new();
                let message =
                    batch.seal_into(Binding::None, &Aad::EMPTY, b"", &mut random, &mut out);
                assert!(seen.insert(message.unwrap()), "{suite}");
            }
        }
    }
}

#[test]
fn a_batch_prints_no_byte_of_its_key() {
    let (sealing, _) = keys(SEALING[0].0);
    let mut batch = sealing.batch(3);
    let mut out = Vec::new();
    let sealed = batch.seal_into(
        Binding::None,
        &Aad::EMPTY,
        b"secret",
        &mut RandomStream::new().unwrap(),
        &mut out,
    );
    sealed.unwrap();
    let shown = format!("{batch:?}");
    assert!(shown.contains("Ahead(2 messages)"), "{shown}");
    assert!(!shown.contains('['), "{shown}");
}
