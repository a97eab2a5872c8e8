//! What is left in memory after a session is gone: looked for in this process's own heap.
//!
//! Stacks are left out. What the backend and the compiler leave in frames that are no longer used is beyond
//! what a type can wipe.

use std::fs::{File, read_to_string};
use std::io::{Read as _, Seek as _, SeekFrom};

use keywright_ratchet::{Context, Mode, Reserve, SessionSecret, Start, hazmat};
use keywright_secret::Secret;

use crate::scene::{Party, pair_of};

/// Each byte of a pattern is kept inverted, so that the pattern does not find itself.
fn masked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

/// Writable private memory, but not the stack that this function runs on.
fn regions() -> Vec<(u64, u64)> {
    let here = 0_u8;
    let here = u64::try_from(std::ptr::from_ref(&here).addr()).unwrap();
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let maps = read_to_string("/proc/self/maps").unwrap();
    let writable = maps.lines().filter(|line| line.contains(" rw-p "));
    let ranges = writable.map(|line| {
        let (from, rest) = line.split_once('-').unwrap();
        (number(from), number(rest.split_once(' ').unwrap().0))
    });
    ranges
        .filter(|(from, to)| !(*from..*to).contains(&here))
        .collect()
}

/// How many of the patterns are somewhere in memory.
fn found(patterns: &[Vec<u8>]) -> usize {
    let mut starts = vec![false; 1 << 16];
    let start = |bytes: &[u8]| usize::from(bytes[0]) << 8 | usize::from(bytes[1]);
    for pattern in patterns {
        starts[start(&masked(&pattern[..2]))] = true;
    }
    let mut memory = File::open("/proc/self/mem").unwrap();
    let mut seen = vec![false; patterns.len()];
    let mut piece = vec![0; 1 << 20];
    for (from, to) in regions() {
        let mut at = from;
        while at < to {
            let length = usize::try_from((to - at).min(1 << 20)).unwrap();
            let piece = &mut piece[..length];
            // A region may be gone by now: other tests run in this process.
            if memory.seek(SeekFrom::Start(at)).is_err() || memory.read_exact(piece).is_err() {
                break;
            }
            for window in piece.windows(32).filter(|window| starts[start(window)]) {
                for (pattern, seen) in patterns.iter().zip(&mut seen) {
                    *seen |= window
                        .iter()
                        .zip(pattern)
                        .all(|(byte, inverse)| *byte == !inverse);
                }
            }
            at += u64::try_from(length).unwrap().saturating_sub(31).max(1);
            if length < 1 << 20 {
                break;
            }
        }
    }
    piece.fill(0);
    std::hint::black_box(&piece);
    seen.into_iter().filter(|seen| *seen).count()
}

/// Root key, header keys, chain keys and stored keys.
fn keys_of(party: &Party) -> Vec<Vec<u8>> {
    let state = hazmat::state(&party.session).unwrap();
    let state = state.expose();
    let mut keys: Vec<_> = state[32..128].chunks(32).map(masked).collect();
    // A turn is due: tag, peer's key, previous, tag; then the current chain.
    let current = 128 + 1 + 32 + 4 + 1;
    keys.extend(state[current..current + 64].chunks(32).map(masked));
    let stored = &state[current + 64 + 32 + 4 + 8 + 2..];
    keys.extend(stored.chunks_exact(44).map(|entry| masked(&entry[12..])));
    keys
}

#[test]
fn t32_no_key_of_a_dropped_session_is_left_on_the_heap() {
    let start = || Start {
        // Of this test alone: others run at the same time.
        secret: SessionSecret::expand(&Secret::from_fill(|key| key.fill(0xC3))).unwrap(),
        context: Context {
            initiator: b"alice",
            responder: b"bob",
            transcript: b"leftovers",
        },
        mode: Mode::Hedged,
    };
    let (mut alice, mut bob) = pair_of(start(), start());
    let packets: Vec<_> = (0..=150).map(|_| alice.seal(1, 64)).collect();
    // Growing, removing and sweeping move stored keys about.
    bob.open(&packets[60]).unwrap();
    for packet in &packets[..50] {
        bob.open(packet).unwrap();
    }
    bob.open(&packets[150]).unwrap();
    let keys = keys_of(&bob);
    assert_eq!((keys.len(), bob.session.stored_keys()), (3 + 2 + 99, 99));
    assert_eq!(found(&keys), keys.len(), "the search finds what is there");
    drop(bob.save(Reserve::Nothing).unwrap());
    drop((alice, bob));
    assert_eq!(found(&keys), 0);
}
