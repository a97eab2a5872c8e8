//! The body of the fuzz target over the golden vectors and ten thousand mutations of them.

use keywright_envelope::{Aad, Binding, derive, fuzzing, hazmat};
use keywright_mutate::{mutants, mutations};
use keywright_vectors::golden::Golden;

use crate::scene::{SEALING, group, identity};

fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for suite in 1..=6 {
        let golden = Golden::load(&format!("suite{suite}.json")).unwrap();
        let stored = |case| golden.bytes(case, "envelope", &|_| Vec::new()).ok();
        corpus.extend(golden.cases().iter().filter_map(stored));
    }
    // Envelopes that open under the key of the body.
    for (suite, _) in SEALING {
        let (sealing, _) = derive(&fuzzing::KEY, identity(suite)).unwrap();
        for (binding, text) in [(Binding::None, &b""[..]), (group(1), b"text")] {
            let made = hazmat::seal_with_nonce(&sealing, binding, &Aad::EMPTY, text, &[3; 24]);
            corpus.push(made.unwrap());
        }
    }
    corpus
}

#[test]
fn corpus_and_mutations_keep_the_promises() {
    let corpus = corpus();
    assert!(corpus.len() > 400, "{}", corpus.len());
    corpus.iter().for_each(|bytes| fuzzing::envelope(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, mutants(), 1).for_each(|bytes| fuzzing::envelope(&bytes));
}
