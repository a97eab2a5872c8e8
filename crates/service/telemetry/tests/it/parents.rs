//! Values of `traceparent`: the committed corpus of the fuzz target, and ten thousand damaged ones.

use std::fs;
use std::path::Path;

use keywright_mutate::{mutants, mutations};
use keywright_telemetry::fuzzing;

#[test]
fn damaged_parents_are_none_or_what_stands_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/traceparent");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 4, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::traceparent(seed));
    for mutant in mutations(&seeds, mutants(), 53) {
        fuzzing::traceparent(&mutant);
    }
}
