//! The body of the fuzz target over the golden vectors and ten thousand mutations of them.

use keywright_mutate::{mutants, mutations};
use keywright_vectors::golden::Golden;
use keywright_wire::fuzzing;

use crate::golden::FILE;
use crate::prekeys::prekey_frame;

#[test]
fn t30_corpus_and_mutations_keep_the_promises() {
    let golden = Golden::load(FILE).unwrap();
    let mut corpus: Vec<Vec<u8>> = golden
        .cases()
        .iter()
        .map(|case| case.fields.hex("frame").unwrap())
        .collect();
    corpus.extend([prekey_frame(None), prekey_frame(Some(&[7; 1088]))]);
    assert!(corpus.len() > 300, "{}", corpus.len());
    corpus.iter().for_each(|bytes| fuzzing::frames(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 11).for_each(|bytes| fuzzing::frames(&bytes));
}
