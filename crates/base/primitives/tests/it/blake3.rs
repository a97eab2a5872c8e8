//! The vectors that are published with BLAKE3, for its three modes.

use keywright_primitives::hash::{Blake3, blake3};
use keywright_primitives::kdf::blake3_derive;
use keywright_primitives::mac::Blake3Mac;
use keywright_vectors::{Family, Record, Tally};

#[test]
fn the_three_modes_are_the_published_ones() {
    let mut tally = Tally::new("blake3");
    let Some(file) = Family::locate("blake3").json("test_vectors.json").unwrap() else {
        tally.skip("the folder of vectors is absent", 105);
        return tally.finish().unwrap();
    };
    let file = Record::new("blake3", &file).unwrap();
    assert_eq!(file.text("context_string").unwrap(), CONTEXT);
    let key = file.text("key").unwrap().as_bytes().try_into().unwrap();
    let key = Blake3Mac::new(key);
    for case in file.list("cases").unwrap() {
        let wheel = (0..=250_u8).cycle();
        let input: Vec<u8> = wheel.take(case.number("input_len").unwrap()).collect();
        tally.check(format!("{} hash", case.name()), hashes(&case, &input));
        let keyed = case.hex("keyed_hash").unwrap();
        let (head, tail) = input.split_at(input.len() / 3);
        tally.check(
            format!("{} keyed", case.name()),
            key.verify(&input, keyed[..32].try_into().unwrap()).is_ok()
                && key.mac_pieces(&[head, tail]) == keyed[..32],
        );
        let derived = case.hex("derive_key").unwrap();
        let mut out = vec![0; derived.len()];
        blake3_derive(CONTEXT, &[head, tail], &mut out);
        tally.check(format!("{} derived", case.name()), out == derived);
    }
    assert_eq!(tally.total(), 105);
    tally.finish().unwrap();
}

/// What the file says its keys are derived for.
const CONTEXT: &str = "BLAKE3 2019-12-27 16:29:52 test vectors context";

/// Whole, in pieces, and extended.
fn hashes(case: &Record, input: &[u8]) -> bool {
    let expected = case.hex("hash").unwrap();
    let mut pieces = Blake3::new();
    input.chunks(1000).for_each(|piece| pieces.update(piece));
    let mut extended = vec![0; expected.len()];
    pieces.clone().finish_into(&mut extended);
    blake3(input) == expected[..32] && pieces.finish() == expected[..32] && extended == expected
}
