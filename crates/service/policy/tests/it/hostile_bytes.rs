//! The body of the fuzz target, over its corpus and ten thousand mutants of it.

use std::fs;
use std::path::Path;

use keywright_mutate::{mutants, mutations};
use keywright_policy::fuzzing;

#[test]
fn damaged_documents_are_refused_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/policy_document");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| fs::read(&path).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::document(seed));
    for mutant in mutations(&seeds, mutants(), 2) {
        fuzzing::document(&mutant);
    }
}
