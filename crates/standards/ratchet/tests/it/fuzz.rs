//! The bodies of the fuzz targets over their corpora and ten thousand mutations.

use keywright_mutate::{mutants, mutations};
use keywright_ratchet::fuzzing;

#[test]
fn packets_and_their_mutations_keep_the_promises() {
    let mut scenes = fuzzing::scenes().unwrap();
    let corpus: Vec<Vec<u8>> = scenes
        .iter()
        .flat_map(|scene| scene.pending.clone())
        .collect();
    assert!(corpus.len() > 20);
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 10).for_each(|bytes| fuzzing::packet(&mut scenes, &bytes));
    // What nobody changed opens, once.
    let kept: usize = scenes.iter().map(|scene| scene.session.stored_keys()).sum();
    assert!(kept > 10);
    seeds
        .iter()
        .for_each(|bytes| fuzzing::packet(&mut scenes, bytes));
    let left: usize = scenes.iter().map(|scene| scene.session.stored_keys()).sum();
    // A responder that had received nothing has stored the key of the message before the one it opened.
    assert_eq!(left, 1);
}

#[test]
fn states_and_their_mutations_keep_the_promises() {
    let corpus = fuzzing::states().unwrap();
    assert!(corpus.len() >= 12);
    corpus.iter().for_each(|bytes| fuzzing::state(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 11).for_each(|bytes| fuzzing::state(&bytes));
}
