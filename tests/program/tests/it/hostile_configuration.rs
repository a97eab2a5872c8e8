//! The body of the fuzz target of configurations, over its corpus and ten thousand mutants of it.

use std::fs;
use std::path::Path;

use keywright_home::fuzzing;
use keywright_mutate::{mutants, mutations};

use crate::fixture::*;

#[test]
fn damaged_configurations_are_refused_in_words_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/configuration");
    let files = fs::read_dir(folder).unwrap();
    let mut corpus: Vec<_> = files
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 4, "the corpus is gone");
    corpus.push(fs::read(Home::demo().config()).unwrap());
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let read = seeds.iter().filter(|seed| fuzzing::configuration(seed));
    assert!(read.count() >= 4, "the corpus is no configuration");
    let mutants = mutations(&seeds, mutants(), 16);
    let accepted = mutants.filter(|mutant| fuzzing::configuration(mutant));
    let accepted = accepted.count();
    assert!(accepted > 20, "only {accepted} mutants were read");
}
