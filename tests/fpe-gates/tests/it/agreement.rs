//! The bodies of the fuzz target over mutations of a few inputs.

use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::{agreement, second};

const MUTATIONS: usize = 10_000;

/// Random bytes of a random length, most of them a change of the input before.
fn mutations(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut sequence = Sequence::new(seed);
    let mut input = Vec::new();
    (0..MUTATIONS).map(move |number| {
        if number % 8 == 0 {
            let length = usize::try_from(sequence.below(220)).unwrap();
            input = vec![0; length];
            sequence.fill(&mut input);
        } else if !input.is_empty() {
            let length = u32::try_from(input.len()).unwrap();
            let place = usize::try_from(sequence.below(length)).unwrap();
            match sequence.below(4) {
                0 => input[place] ^= 1 << sequence.below(8),
                1 => input[place] = [0, 0xFF][place % 2],
                2 => input.truncate(place),
                _ => input.insert(place, 0x55),
            }
        }
        input.clone()
    })
}

#[test]
fn ff1_agrees_with_the_fpe_crate_on_mutated_inputs() {
    for input in mutations(81) {
        agreement::ff1(&input);
    }
}

#[test]
fn ff3_1_agrees_with_the_second_implementation_on_mutated_inputs() {
    for input in mutations(82) {
        agreement::ff3_1(&input);
    }
}

#[test]
fn inputs_without_a_byte_or_with_many_end() {
    for length in [0, 1, 3, 4, 20, 60, 5_000, 20_000] {
        for byte in [0, 0x40, 0x80, 0xFF] {
            agreement::ff1(&vec![byte; length]);
            agreement::ff3_1(&vec![byte; length]);
        }
    }
}

/// An independent value of the published FF3-1 mode, so that the judge is judged.
#[test]
fn the_second_implementation_gives_a_published_value() {
    let key = [
        0x2D, 0xE7, 0x9D, 0x23, 0x2D, 0xF5, 0x58, 0x5D, 0x68, 0xCE, 0x47, 0x88, 0x2A, 0xE2, 0x56,
        0xD6,
    ];
    let tweak = [0xCB, 0xD0, 0x92, 0x80, 0x97, 0x95, 0x64];
    let made = second::encrypt(&key, tweak, 10, &[3, 9, 9, 2, 5, 2, 0, 2, 4, 0]);
    assert_eq!(made.unwrap(), [8, 9, 0, 1, 8, 0, 1, 1, 0, 6]);
    assert!(second::encrypt(&key, tweak, 10, &[]).unwrap().is_empty());
}
