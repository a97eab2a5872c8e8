//! The body of the fuzz target over its corpus and ten thousand mutations.

use keywright_mutate::{mutants, mutations};
use keywright_session::fuzzing;

#[test]
fn t30_corpus_and_mutations_keep_the_promises() {
    let corpus = fuzzing::corpus().unwrap();
    assert_eq!(corpus.len(), 7);
    corpus.iter().for_each(|bytes| fuzzing::foreign(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 12).for_each(|bytes| fuzzing::foreign(&bytes));
}
