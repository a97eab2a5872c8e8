//! The body of the fuzz target over the golden vectors and ten thousand mutations of them.

use keywright_container::{DataKey, fuzzing};
use keywright_secret::Secret;
use keywright_testkit::mutate::mutations;
use keywright_types::DataKeyId;
use keywright_vectors::golden::Golden;

use crate::scene::{CHUNK, envelope_slot, sealed, text};

#[test]
fn corpus_and_mutations_keep_the_promises() {
    let golden = Golden::load("file.json").unwrap();
    let stored = |case| golden.bytes(case, "file", &|_| Vec::new()).ok();
    let mut corpus: Vec<Vec<u8>> = golden.cases().iter().filter_map(stored).collect();
    assert!(corpus.len() > 100);
    // Files that open under the key of the body.
    let secret = Secret::copy_from(&fuzzing::SECRET).unwrap();
    let key = DataKey::new(DataKeyId::from_bytes([1; 16]), secret);
    for length in [0, 5, CHUNK, CHUNK + 1] {
        corpus.push(sealed(&key, &[envelope_slot(&key, 1)], &text(length)));
    }
    corpus.iter().for_each(|bytes| fuzzing::file(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, 10_000, 3).for_each(|bytes| fuzzing::file(&bytes));
}
