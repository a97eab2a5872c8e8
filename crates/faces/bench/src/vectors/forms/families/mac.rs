//! HMAC of Wycheproof. Shorter tags, which nothing here makes, must be the beginning of the whole one.

use keywright_primitives::mac::{HmacSha256, HmacSha384, HmacSha512};

use super::Decision;
use crate::vectors::forms::fields::{Fields, Wrong};

macro_rules! hmac {
    ($($function:ident $name:ident $len:literal)*) => { $(
        pub(super) fn $function(_: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
            let Ok(key) = $name::new(&case.hex("key")?) else {
                return Ok(Decision::Wrong);
            };
            let (message, tag) = (case.hex("msg")?, case.hex("tag")?);
            Ok(match <&[u8; $len]>::try_from(&tag[..]) {
                Ok(tag) => Decision::verified(key.verify(&message, tag)),
                Err(_) => Decision::verified(key.mac(&message).strip_prefix(&tag[..]).ok_or(())),
            })
        }
    )* };
}

hmac! { hmac_sha256 HmacSha256 32 hmac_sha384 HmacSha384 48 hmac_sha512 HmacSha512 64 }
