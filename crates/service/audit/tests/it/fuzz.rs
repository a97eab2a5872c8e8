//! The body of the fuzz target over real logs and ten thousand damaged ones.

use std::fs;

use keywright_audit::fuzzing;
use keywright_audit::record::Record;
use keywright_mutate::{mutants, mutations};

use crate::support::*;

#[test]
fn damaged_records_heads_and_files_are_refused_without_a_panic() {
    let folder = small_log(4);
    let mut corpus = Vec::new();
    for path in record_files(folder.path()) {
        let bytes = fs::read(path).unwrap();
        corpus.push(bytes[4..boundaries(&bytes)[1] - 8].to_vec());
        corpus.push(bytes);
    }
    for path in head_files(folder.path()) {
        let bytes = fs::read(path).unwrap();
        corpus.push(bytes[4..head_boundaries(&bytes)[1]].to_vec());
        corpus.push(bytes);
    }
    let mut body = Vec::new();
    Record::from(request(1)).put(1, &mut body);
    corpus.push(body);
    // Check frames that hold, fail, are torn, stand twice or before any record; heads with marks.
    let shelf = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../fuzz/corpus/audit_record"
    );
    let before = corpus.len();
    for file in fs::read_dir(shelf).unwrap() {
        corpus.push(fs::read(file.unwrap().path()).unwrap());
    }
    assert!(corpus.len() >= before + 15);
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::audit(seed));
    mutations(&seeds, mutants(), 1).for_each(|mutant| fuzzing::audit(&mutant));
}

#[test]
fn a_damaged_log_never_verifies() {
    let folder = small_log(3);
    let path = record_files(folder.path()).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    let seeds = [whole.as_slice()];
    for mutant in mutations(&seeds, 2_000, 2).filter(|mutant| *mutant != whole) {
        fs::write(&path, &mutant).unwrap();
        assert!(verify(folder.path()).is_err());
    }
}
