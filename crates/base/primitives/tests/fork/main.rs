//! What a process draws after it was copied by `fork`. A test of its own, because it forks.
#![expect(unsafe_code, reason = "the standard library has no fork")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashSet;
use std::io::{Read as _, Write as _};

use keywright_primitives::agreement::{P256PrivateKey, X25519PrivateKey};
use keywright_primitives::random::RandomStream;

/// What is drawn in one process, 32 bytes each: the streams of new jobs, and what the backend generates.
const DRAWN: usize = 3 * 20;

fn draw() -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..DRAWN / 3 {
        let mut job = RandomStream::new().unwrap();
        out.extend_from_slice(&job.array::<32>().unwrap());
        let key = X25519PrivateKey::generate().unwrap();
        out.extend_from_slice(&key.public_bytes().unwrap());
        let key = P256PrivateKey::generate().unwrap();
        out.extend_from_slice(&key.public_bytes().unwrap()[1..33]);
    }
    out
}

/// What a copy of this process draws.
fn drawn_by_a_copy() -> Vec<u8> {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // SAFETY: the copy has this thread alone, takes locks of nobody but the allocator, which the C library
    // hands over in order, and ends without running what the process does at its end.
    let copy = unsafe { libc::fork() };
    assert!(copy >= 0, "no copy was made");
    if copy == 0 {
        let written = writer.write_all(&draw());
        // SAFETY: ends the copy, whatever has happened in it.
        unsafe { libc::_exit(i32::from(written.is_err())) }
    }
    drop(writer);
    let mut drawn = Vec::new();
    reader.read_to_end(&mut drawn).unwrap();
    let mut status = 0;
    // SAFETY: waits for the copy that was made above, and writes to a number that is there.
    let ended = unsafe { libc::waitpid(copy, &raw mut status, 0) };
    assert_eq!((ended, status), (copy, 0), "the copy failed");
    drawn
}

#[test]
fn t47_a_forked_process_draws_nothing_that_another_draws() {
    // All sources are in use before the copies are made.
    let mut all = draw();
    for _ in 0..4 {
        let theirs = drawn_by_a_copy();
        assert_eq!(theirs.len(), DRAWN * 32);
        all.extend(theirs);
        all.extend(draw());
    }
    let (pieces, rest) = all.as_chunks::<32>();
    assert!(rest.is_empty());
    let different: HashSet<_> = pieces.iter().collect();
    assert_eq!(different.len(), pieces.len());
    assert_eq!(pieces.len(), 9 * DRAWN);
}
