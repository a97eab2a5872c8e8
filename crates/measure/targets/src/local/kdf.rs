//! HKDF (RFC 5869), extraction and expansion: from a secret of 32 bytes, a salt of 32 and an info of 16 to
//! as many bytes as the operation's name says. The answers are put together from HMAC.

use keywright_measure::{TargetError, Worker};
use keywright_primitives::Error;
use keywright_primitives::kdf::{HkdfSha256, HkdfSha384, HkdfSha512};
use keywright_primitives::mac::{HmacSha256, HmacSha384, HmacSha512};
use keywright_secret::{Secret, SecretBytes};

use super::row::{Row, refused};
use super::worker::{Ring, answered, ring_of};

/// The longest output, in blocks of the hash.
const MOST_BLOCKS: usize = 255;

pub(super) struct Inputs {
    pub(super) salt: [u8; 32],
    pub(super) secret: Secret<32>,
    pub(super) info: [u8; 16],
}

macro_rules! hkdf {
    ($name:ident, $inputs:ident, $hkdf:ident, $hmac:ident, $block:literal, $spoken:literal) => {
        #[doc = concat!("What ", $spoken, " is given, and what it makes of it.")]
        pub(super) fn $inputs(row: &Row<'_>) -> Result<Ring<(Inputs, SecretBytes)>, TargetError> {
            if row.bytes > MOST_BLOCKS * $block {
                return Err(row.lacks("an output has at most 255 blocks"));
            }
            let mut seeded = row.seeded();
            Ring::fill(ring_of(row.bytes), || {
                let inputs = Inputs {
                    salt: seeded.array(),
                    secret: seeded.secret(),
                    info: seeded.array(),
                };
                let answer = by_hmac(&inputs, row.bytes, |key, pieces| {
                    Ok($hmac::new(key)?.mac_pieces(pieces))
                });
                Ok((inputs, answer.map_err(|error| row.fails(error))?))
            })
        }

        #[doc = concat!("One key derived with ", $spoken, ".")]
        pub(super) fn $name(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            let ring = $inputs(row)?;
            let first = SecretBytes::zeroed(row.bytes);
            Ok(answered(ring, first, |inputs: &Inputs, out| {
                $hkdf::extract(&inputs.salt, inputs.secret.expose())
                    .and_then(|key| key.expand(&[&inputs.info], out.expose_mut()))
                    .map_err(refused)
            }))
        }
    };
}

hkdf!(
    hkdf_sha256,
    sha256_inputs,
    HkdfSha256,
    HmacSha256,
    32,
    "HKDF-SHA-256"
);
hkdf!(
    hkdf_sha384,
    sha384_inputs,
    HkdfSha384,
    HmacSha384,
    48,
    "HKDF-SHA-384"
);
hkdf!(
    hkdf_sha512,
    sha512_inputs,
    HkdfSha512,
    HmacSha512,
    64,
    "HKDF-SHA-512"
);

/// PRK = HMAC(salt, IKM); T(i) = HMAC(PRK, T(i-1) | info | i); the output is T(1) | T(2) | ...
fn by_hmac<const N: usize>(
    inputs: &Inputs,
    length: usize,
    hmac: impl Fn(&[u8], &[&[u8]]) -> Result<[u8; N], Error>,
) -> Result<SecretBytes, Error> {
    let mut out = SecretBytes::zeroed(length);
    let prk = hmac(&inputs.salt, &[inputs.secret.expose()])?;
    let mut before: Option<[u8; N]> = None;
    for (number, block) in (1..=u8::MAX).zip(out.expose_mut().chunks_mut(N)) {
        let before_it = before.as_ref().map_or(&[][..], |before| before);
        let made = hmac(&prk, &[before_it, &inputs.info, &[number]])?;
        block.copy_from_slice(&made[..block.len()]);
        before = Some(made);
    }
    Ok(out)
}
