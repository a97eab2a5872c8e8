//! The body of the fuzz target over the golden vectors, tokens that it accepts, and ten thousand mutations.

use keywright_mutate::{mutants, mutations};
use keywright_primitives::random::RandomStream;
use keywright_token::{Narrowing, VerifyingKeys, attenuate_into, fuzzing};
use keywright_vectors::golden::Golden;

use crate::golden::FILE;
use crate::scene::{at, claims, scope};

#[test]
fn t30_corpus_and_mutations_keep_the_promises() {
    let golden = Golden::load(FILE).unwrap();
    let stored = golden
        .cases()
        .iter()
        .map(|case| case.fields.hex("token").unwrap());
    let mut corpus: Vec<Vec<u8>> = stored.collect();
    let (mut keys, mut random) = (VerifyingKeys::new(), RandomStream::new().unwrap());
    for issuer in fuzzing::issuers().unwrap() {
        keys.insert(issuer.verifying_key().unwrap()).unwrap();
        let mut token = Vec::new();
        issuer
            .issue_into(&claims(), None, &mut random, &mut token)
            .unwrap();
        let narrowing = Narrowing::new().until(at(7)).scope(scope("read"));
        let mut narrower = Vec::new();
        if attenuate_into(&token, &narrowing, &mut narrower).is_ok() {
            corpus.push(narrower);
        }
        corpus.push(token);
    }
    assert!(corpus.len() > 480, "{}", corpus.len());
    corpus.iter().for_each(|bytes| fuzzing::token(bytes, &keys));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 12).for_each(|bytes| fuzzing::token(&bytes, &keys));
}
