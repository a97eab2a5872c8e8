//! The body of the fuzz target over the golden vectors and ten thousand mutations of them.

use keywright_container::{DataKey, Slot, fuzzing};
use keywright_hpke::{Policy, Suite};
use keywright_mutate::{mutants, mutations};
use keywright_secret::Secret;
use keywright_types::DataKeyId;
use keywright_vectors::golden::Golden;

use crate::scene::{CHUNK, envelope_slot, sealed, text};

/// A slot that the key of the body opens.
fn for_the_recipient(key: &DataKey) -> Slot {
    let recipient = fuzzing::recipient().unwrap();
    let suite = Policy::default().admit(Suite::X25519).unwrap();
    Slot::hpke(key, recipient.public_key(), suite).unwrap()
}

#[test]
fn corpus_and_mutations_keep_the_promises() {
    let mut corpus: Vec<Vec<u8>> = Vec::new();
    for name in ["file.json", "recipient.json"] {
        let golden = Golden::load(name).unwrap();
        let stored = |case| golden.bytes(case, "file", &|_| Vec::new()).ok();
        corpus.extend(golden.cases().iter().filter_map(stored));
    }
    assert!(corpus.len() > 140);
    // Files that open under the key of the body.
    let secret = Secret::copy_from(&fuzzing::SECRET).unwrap();
    let key = DataKey::new(DataKeyId::from_bytes([1; 16]), secret);
    for length in [0, 5, CHUNK, CHUNK + 1] {
        corpus.push(sealed(&key, &[envelope_slot(&key, 1)], &text(length)));
        let slots = [for_the_recipient(&key), envelope_slot(&key, 1)];
        corpus.push(sealed(&key, &slots, &text(length)));
    }
    corpus.iter().for_each(|bytes| fuzzing::file(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 3).for_each(|bytes| fuzzing::file(&bytes));
}
