//! What the tests share: a policy with everything in it, keys, and contexts made quickly.

use keywright_hpke::{
    Admitted, Enc, Info, Kem, Policy, PrivateKey, Recipient, RecipientMode, Sender, SenderMode,
    Suite,
};
use keywright_secret::SecretBytes;

/// A policy that admits every suite that is built.
pub(crate) fn everything() -> Policy {
    Policy::of(&Suite::all().collect::<Vec<_>>())
}

/// The suite, admitted.
pub(crate) fn admitted(suite: Suite) -> Admitted {
    everything().admit(suite).unwrap()
}

/// A suite of this KEM.
pub(crate) fn of_kem(kem: Kem) -> Suite {
    Suite {
        kem,
        ..Suite::X25519
    }
}

/// The KEMs that prove a sender.
pub(crate) fn dh_kems() -> impl Iterator<Item = Kem> {
    Kem::ALL.iter().copied().filter(|kem| kem.authenticates())
}

/// A key that is the same in every run; another number, another key.
pub(crate) fn key(kem: Kem, number: u8) -> PrivateKey {
    PrivateKey::derive(kem, &SecretBytes::from_vec(vec![number; 66])).unwrap()
}

/// Both ends of a context in mode base.
pub(crate) fn pair(suite: Suite, to: &PrivateKey, info: &[u8]) -> (Enc, Sender, Recipient) {
    let suite = admitted(suite);
    let initiator = suite.initiator(to.public_key(), SenderMode::Base, Info(info));
    let (enc, sender) = initiator.unwrap().initiate().unwrap();
    let acceptor = suite.acceptor(to, RecipientMode::Base, Info(info)).unwrap();
    let recipient = acceptor.accept(enc.as_bytes()).unwrap();
    (enc, sender, recipient)
}
