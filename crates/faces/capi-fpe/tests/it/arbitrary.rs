//! The body of the fuzz target over mutations of a few inputs.

use keywright_fpe_gates::sequence::{Sequence, mutations};

#[test]
fn the_functions_keep_their_promises_whatever_they_are_called_with() {
    for input in mutations(83, 10_000) {
        fpe::exercise(&input);
    }
}

/// Longer inputs, in which every number can be what a call needs.
#[test]
fn random_calls_end_in_a_value_that_comes_back_or_in_a_reason() {
    let mut sequence = Sequence::new(84);
    for length in (0..20_000).map(|number| number % 900) {
        let mut input = vec![0; length];
        sequence.fill(&mut input);
        fpe::exercise(&input);
    }
}
