//! Hash functions, each input in one call. The answers come from the interface for pieces.

use keywright_measure::{TargetError, Worker};
use keywright_primitives::hash::{self, Blake3, Sha256, Sha384, Sha512};

use super::row::Row;
use super::worker::{Ring, answered, ring_of};

macro_rules! hash {
    ($name:ident, $pieces:ident, $spoken:literal) => {
        #[doc = concat!("One input hashed with ", $spoken, ".")]
        pub(super) fn $name(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            digest(row, hash::$name, |input| {
                let mut pieces = $pieces::new();
                let (head, tail) = input.split_at(input.len() / 3);
                pieces.update(head);
                pieces.update(tail);
                pieces.finish()
            })
        }
    };
}

hash!(blake3, Blake3, "BLAKE3");
hash!(sha256, Sha256, "SHA-256");
hash!(sha384, Sha384, "SHA-384");
hash!(sha512, Sha512, "SHA-512");

/// One input hashed with BLAKE3 on all cores.
pub(super) fn blake3_on_all_cores(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    digest(row, hash::blake3_on_all_cores, hash::blake3)
}

fn digest<const N: usize>(
    row: &Row<'_>,
    at_once: impl Fn(&[u8]) -> [u8; N] + Send + 'static,
    in_pieces: impl Fn(&[u8]) -> [u8; N],
) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || {
        let input = seeded.bytes(row.bytes);
        let answer = in_pieces(&input);
        Ok((input, answer))
    })?;
    Ok(answered(ring, [0; N], move |input: &Vec<u8>, out| {
        *out = at_once(input);
        Ok(())
    }))
}
