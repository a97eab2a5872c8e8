//! HKDF of Wycheproof.

use keywright_primitives::kdf::{HkdfSha256, HkdfSha384, HkdfSha512};

use super::Decision;
use crate::vectors::forms::fields::{Fields, Wrong};

/// More than any hash here can expand to, so that a file cannot ask for all memory.
const LONGEST: u64 = 1 << 16;

macro_rules! hkdf {
    ($($function:ident $name:ident)*) => { $(
        pub(super) fn $function(_: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
            let Ok(key) = $name::extract(&case.hex("salt")?, &case.hex("ikm")?) else {
                return Ok(Decision::Wrong);
            };
            let (size, info) = (case.number("size")?.min(LONGEST), case.hex("info")?);
            let mut out = vec![0; usize::try_from(size).map_err(|_| case.wrong("size"))?];
            Ok(match key.expand(&[&info], &mut out) {
                Ok(()) => Decision::compared(out == case.hex("okm")?),
                Err(_) => Decision::Refused,
            })
        }
    )* };
}

hkdf! { hkdf_sha256 HkdfSha256 hkdf_sha384 HkdfSha384 hkdf_sha512 HkdfSha512 }
