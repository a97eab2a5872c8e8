//! The body of the fuzz target, over its corpus and ten thousand mutants of it.

use std::fs;
use std::path::Path;

use keywright_api::fuzzing;
use keywright_mutate::{mutants, mutations};

#[test]
fn damaged_requests_are_refused_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/api_request");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| fs::read(&path).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::request(seed));
    for mutant in mutations(&seeds, mutants(), 3) {
        fuzzing::request(&mutant);
    }
}

#[test]
fn damaged_bodies_of_the_seed_services_clients_are_refused_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/seed_request");
    let entries = fs::read_dir(&folder).unwrap();
    let mut corpus: Vec<_> = entries
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::seed(seed));
    for mutant in mutations(&seeds, mutants(), 3) {
        fuzzing::seed(&mutant);
    }
}

#[test]
fn damaged_requests_in_cbor_are_refused_or_mean_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/cbor_request");
    let entries = fs::read_dir(&folder).unwrap();
    let mut corpus: Vec<_> = entries
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 10, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::cbor(seed));
    for mutant in mutations(&seeds, mutants(), 3) {
        fuzzing::cbor(&mutant);
    }
}

#[test]
fn damaged_headers_choose_one_form_whatever_their_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/request_headers");
    let mut corpus: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::headers(seed));
    for mutant in mutations(&seeds, mutants(), 14) {
        fuzzing::headers(&mutant);
    }
}
