//! Sealing and opening into the caller's buffers takes no memory from the heap. A test of its own, because
//! its allocator counts.

mod allocator;

use allocator::allocations;
use keywright_hpke::{
    Aad, Aead, Info, Kdf, Kem, Policy, PrivateKey, RecipientMode, SenderMode, Suite,
};

#[test]
fn h10_sealing_opening_and_exporting_allocate_nothing() {
    let recipient = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
    for (kdf, aead) in [
        (Kdf::HkdfSha256, Aead::ChaCha20Poly1305),
        (Kdf::HkdfSha384, Aead::Aes128Gcm),
        (Kdf::HkdfSha512, Aead::Aes256Gcm),
        (Kdf::Shake256Draft, Aead::Aes256Gcm),
    ] {
        let suite = Suite {
            kem: Kem::X25519HkdfSha256,
            kdf,
            aead,
        };
        let suite = Policy::of(&[suite]).admit(suite).unwrap();
        let to = suite.initiator(recipient.public_key(), SenderMode::Base, Info(b""));
        let (enc, mut sender) = to.unwrap().initiate().unwrap();
        let from = suite
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        let mut receiver = from.accept(enc.as_bytes()).unwrap();
        let (text, mut sealed, mut opened) = ([7; 1024], [0; 1040], [0; 1024]);
        let mut export = [0; 300];
        // The first export prepares the exporter.
        sender
            .exporter()
            .export_into(b"context", &mut export)
            .unwrap();
        let count = allocations(|| {
            for _ in 0..10 {
                sender.seal_into(Aad(b"aad"), &text, &mut sealed).unwrap();
                receiver
                    .open_into(Aad(b"aad"), &sealed, &mut opened)
                    .unwrap();
                assert!(
                    receiver
                        .open_into(Aad(b"aad"), &sealed, &mut opened)
                        .is_err()
                );
                sender
                    .exporter()
                    .export_into(b"context", &mut export)
                    .unwrap();
            }
        });
        assert_eq!(count, 0, "{kdf} {aead}");
        // The counter counts: what returns new memory takes some.
        assert!(allocations(|| drop(sender.seal(Aad(b""), b"text").unwrap())) > 0);
    }
}
