//! The front of a container is what it is written as, or refused.

use keywright_hsm::{hybrid, sealing::fuzz_header};
use keywright_mutate::{mutants, mutations};

#[test]
fn damaged_headers_are_read_as_they_are_written_or_refused() {
    let mut good = b"KWHS\x01\x01\x00\x01\x00\x00".to_vec();
    good.extend_from_slice(&[7; 16]);
    good.extend_from_slice(b"\x04keyid and what follows");
    let seeds: [&[u8]; 2] = [&good, b"KWHS"];
    mutations(&seeds, mutants(), 0x4b57).for_each(|bytes| fuzz_header(&bytes));
}

#[test]
fn damaged_fronts_of_envelopes_are_read_as_they_are_written_or_refused() {
    let mut good = b"KWHE\x01\x01\x00\x01\x00\x00\x00\x10".to_vec();
    good.extend_from_slice(&[7; 20]);
    let mut older = good.clone();
    older[5] = 2;
    let seeds: [&[u8]; 3] = [&good, &older, b"KWHE"];
    mutations(&seeds, mutants(), 0x4b58).for_each(|bytes| hybrid::fuzz_header(&bytes));
}
