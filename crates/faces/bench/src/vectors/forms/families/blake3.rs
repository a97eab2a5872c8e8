//! The vectors that are published with BLAKE3: three modes for each length.

use keywright_primitives::hash::Blake3;
use keywright_primitives::kdf::blake3_derive;
use keywright_primitives::mac::Blake3Mac;

use super::{Judgement, judged};
use crate::vectors::forms::fields::Fields;

/// What the published file derives keys for. A context is a constant of a program, so another file's cannot
/// be run.
const CONTEXT: &str = "BLAKE3 2019-12-27 16:29:52 test vectors context";
/// More than any published input has.
const LONGEST: u64 = 1 << 24;

pub(super) fn read(file: &Fields<'_>) -> Judgement {
    let key = file.text("key")?.as_bytes();
    let key = key.try_into().map_err(|_| file.wrong("key"))?;
    if file.text("context_string")? != CONTEXT {
        return Err(file.wrong("context_string"));
    }
    let key = Blake3Mac::new(key);
    let mut all = Vec::new();
    for case in file.list("cases")? {
        let length = case.number("input_len")?.min(LONGEST);
        let length = usize::try_from(length).map_err(|_| case.wrong("input_len"))?;
        let input: Vec<u8> = (0..=250_u8).cycle().take(length).collect();
        let (hash, keyed, derived) = (
            case.hex("hash")?,
            case.hex("keyed_hash")?,
            case.hex("derive_key")?,
        );
        let mut whole = Blake3::new();
        whole.update(&input);
        let mut made = vec![0; hash.len()];
        whole.finish_into(&mut made);
        all.push(judged(format!("{} hash", case.name()), made == hash));
        let mac = keyed.first_chunk();
        let right = mac.is_some_and(|mac| key.verify(&input, mac).is_ok());
        all.push(judged(format!("{} keyed hash", case.name()), right));
        let mut made = vec![0; derived.len()];
        blake3_derive(CONTEXT, &[&input], &mut made);
        all.push(judged(
            format!("{} derived key", case.name()),
            made == derived,
        ));
    }
    Ok(all)
}
