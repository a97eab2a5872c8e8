//! Tags: what is authenticated under which key.
//!
//! | suite | key of the first tag | key of a block's tag | id of a branch |
//! |---|---|---|---|
//! | 0x01 | BLAKE3-derive("keywright/token/v1", secret, 01, key id) | BLAKE3-derive("keywright/token/block/v1", tag before) | BLAKE3-derive("keywright/token/branch/v1", tag) |
//! | 0x02 | HMAC(secret, "keywright/token/v1", 02, key id) | HMAC(tag before, "keywright/token/block/v1") | SHA-256("keywright/token/branch/v1", tag) |
//! | 0x11 | the issuer's | the one named before | SHA-256("keywright/token/branch/v1", signature) |
//!
//! ```text
//! first tag = MAC(header, claims, binder if bound)[0..16]      block's tag = MAC(block)[0..16]
//! first signature over  "keywright/token/v1", header, claims, binder if bound
//! block's signature over  "keywright/token/block/v1", first signature, the token up to the block's signature
//! ```
//!
//! The key id and suite are in the key of the first tag, so a token cannot be taken for one of another key.
//! A length or a fixed size precedes each part, which makes the joined bytes unambiguous.

use std::fmt;

use keywright_primitives::Error;
use keywright_primitives::hash::Sha256;
use keywright_primitives::kdf::blake3_derive;
use keywright_primitives::mac::{Blake3Mac, HmacSha256, MacKey};
use keywright_secret::{Secret, wipe};

use crate::format::{KeyId, MAC_LEN, MAX_LEN, SIGNATURE_LEN, Suite};
use crate::key::Binder;
use crate::revoke::RevocationId;

const BASE: &str = "keywright/token/v1";
const BLOCK: &str = "keywright/token/block/v1";
const BRANCH: &str = "keywright/token/branch/v1";

pub(crate) type MacTag = [u8; MAC_LEN];

/// The key of first tags.
#[expect(
    clippy::large_enum_variant,
    reason = "one of these a key, behind an `Arc`; a box would be one more jump in each tag"
)]
pub(crate) enum MacBase {
    Blake3(Blake3Mac),
    Hmac(MacKey),
}

impl MacBase {
    pub(crate) fn blake3(id: KeyId, secret: &Secret<32>) -> Self {
        let number = [Suite::Blake3.number()];
        let mut key = [0; 32];
        blake3_derive(BASE, &[secret.expose(), &number, id.as_bytes()], &mut key);
        let made = Self::Blake3(Blake3Mac::new(&key));
        wipe(&mut key);
        made
    }

    pub(crate) fn hmac_sha256(id: KeyId, secret: &Secret<32>) -> Self {
        let number = [Suite::HmacSha256.number()];
        let pieces = [BASE.as_bytes(), &number, id.as_bytes()];
        let mut key = MacKey::new(secret.expose()).mac_pieces(&pieces);
        let made = Self::Hmac(MacKey::new(&key));
        wipe(&mut key);
        made
    }

    pub(crate) const fn suite(&self) -> Suite {
        match self {
            Self::Blake3(_) => Suite::Blake3,
            Self::Hmac(_) => Suite::HmacSha256,
        }
    }

    /// The first tag.
    pub(crate) fn tag(&self, base: &[u8], binder: Option<&Binder>) -> MacTag {
        let whole = match (self, binder) {
            (Self::Blake3(key), None) => key.mac(base),
            (Self::Blake3(key), Some(binder)) => key.mac_pieces(&[base, binder.expose()]),
            (Self::Hmac(key), None) => key.mac(base),
            (Self::Hmac(key), Some(binder)) => key.mac_pieces(&[base, binder.expose()]),
        };
        cut(&whole)
    }
}

impl fmt::Debug for MacBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacBase")
    }
}

/// The tag after one more block.
pub(crate) fn next_tag(suite: Suite, tag: &[u8], block: &[u8]) -> Result<MacTag, Error> {
    match suite {
        Suite::Blake3 => {
            let mut key = [0; 32];
            blake3_derive(BLOCK, &[tag], &mut key);
            let made = Blake3Mac::mac_once(&key, block);
            wipe(&mut key);
            Ok(cut(&made))
        }
        Suite::HmacSha256 | Suite::Ed25519 => {
            let mut key = HmacSha256::new(tag)?.mac(BLOCK.as_bytes());
            let made = MacKey::new(&key).mac(block);
            wipe(&mut key);
            Ok(cut(&made))
        }
    }
}

/// Names the branch that begins with the block of this tag or signature.
pub(crate) fn branch(suite: Suite, tag: &[u8]) -> RevocationId {
    match suite {
        Suite::Blake3 => {
            let mut id = [0; 16];
            blake3_derive(BRANCH, &[tag], &mut id);
            RevocationId::from_bytes(id)
        }
        Suite::HmacSha256 | Suite::Ed25519 => {
            let mut hash = Sha256::new();
            hash.update(BRANCH.as_bytes());
            hash.update(tag);
            RevocationId::from_bytes(cut(&hash.finish()))
        }
    }
}

/// What the issuer signs.
pub(crate) fn signed_base<R>(
    base: &[u8],
    binder: Option<&Binder>,
    with: impl FnOnce(&[u8]) -> R,
) -> Option<R> {
    let binder = binder.map_or(&[][..], |binder| binder.expose());
    joined(&[BASE.as_bytes(), base, binder], with)
}

/// What the holder of a delegation key signs: the issuer's signature, and the token up to the place of his own.
pub(crate) fn signed_block<R>(
    first: &[u8],
    up_to: &[u8],
    with: impl FnOnce(&[u8]) -> R,
) -> Option<R> {
    joined(&[BLOCK.as_bytes(), first, up_to], with)
}

/// The longest thing that is signed.
const LONGEST: usize = BLOCK.len() + SIGNATURE_LEN + MAX_LEN;

/// Pieces in one slice, without the heap; `None` if they are too long, which no token is.
fn joined<R>(pieces: &[&[u8]], with: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let mut room = [0; LONGEST];
    let mut used = 0;
    for piece in pieces {
        let end = used + piece.len();
        room.get_mut(used..end)?.copy_from_slice(piece);
        used = end;
    }
    let result = with(room.get(..used)?);
    // The binder is among what was joined.
    wipe(&mut room);
    Some(result)
}

fn cut(whole: &[u8; 32]) -> [u8; 16] {
    let (front, _) = whole.split_first_chunk().unwrap_or((&[0; 16], &[]));
    *front
}
