//! Damaged files by the thousand.

use std::fs;
use std::path::Path;

use keywright_mutate::{mutants, mutations};
use keywright_tabular::fuzzing;

/// The committed corpus of the fuzz target.
fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/tabular_csv");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // In one order everywhere, so that the mutants are the same everywhere.
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn every_file_of_the_corpus_keeps_every_promise() {
    let corpus = corpus();
    assert!(corpus.len() >= 10, "the corpus is not where it should be");
    for file in &corpus {
        fuzzing::csv(file);
    }
}

#[test]
fn ten_thousand_damaged_files_keep_every_promise() {
    let corpus = corpus();
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    for mutant in mutations(&seeds, mutants(), 0x6373_7631) {
        fuzzing::csv(&mutant);
    }
}

#[test]
fn every_truncation_of_a_file_keeps_every_promise() {
    let file = b"\xef\xbb\xbfid,\"na\"\"me\"\r\n1,\"x\r\ny\"\r\n\r\n2,\"\"\"\"\r\n3,z";
    for end in 0..=file.len() {
        fuzzing::csv(&file[..end]);
    }
}
