//! The body of the fuzz target over the golden vectors and ten thousand mutations of them.

use keywright_mutate::{mutants, mutations};
use keywright_password::fuzzing;
use keywright_vectors::golden::Golden;

#[test]
fn corpus_and_mutations_keep_the_promises() {
    let golden = Golden::load("password.json").unwrap();
    let corpus: Vec<Vec<u8>> = golden
        .cases()
        .iter()
        .map(|case| case.fields.hex("container").unwrap())
        .collect();
    assert!(corpus.len() > 50);
    corpus.iter().for_each(|bytes| fuzzing::container(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 2).for_each(|bytes| fuzzing::container(&bytes));
}
