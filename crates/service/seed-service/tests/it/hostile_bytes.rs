//! The body of the fuzz target, over its corpus and ten thousand mutants of it.

use std::fs;
use std::path::Path;

use keywright_mutate::{mutants, mutations};
use keywright_seed_service::fuzzing;

#[test]
fn damaged_files_are_refused_or_say_no_more_than_they_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/seed_files");
    let entries = fs::read_dir(&folder).unwrap();
    let mut corpus: Vec<_> = entries
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 4, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::files(seed));
    for mutant in mutations(&seeds, mutants(), 3) {
        fuzzing::files(&mutant);
    }
}
