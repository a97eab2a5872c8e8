//! The body of the fuzz target for ciphertexts of the seed service, over its corpus and mutants of it.

use std::fs;
use std::path::Path;

use keywright_keystore::fuzzing;

#[test]
fn what_was_not_sealed_does_not_open_and_leaves_nothing_behind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/seed_ciphertext");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for cut in 0..=bytes.len() {
            fuzzing::old_ciphertext(&bytes[..cut]);
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] = changed[place].wrapping_add(0x55);
            fuzzing::old_ciphertext(&changed);
        }
        count += 1;
    }
    assert!(count >= 4, "the corpus is gone");
}
