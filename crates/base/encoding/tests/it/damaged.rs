//! Base64 over the committed corpus of its fuzz target, and ten thousand damaged texts.

use std::fs;
use std::path::Path;

use keywright_encoding::fuzzing;
use keywright_mutate::{mutants, mutations};

#[test]
fn two_decoders_agree_on_damaged_texts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/encoding_base64");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 7, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::base64(seed));
    for mutant in mutations(&seeds, mutants(), 59) {
        fuzzing::base64(&mutant);
    }
}
