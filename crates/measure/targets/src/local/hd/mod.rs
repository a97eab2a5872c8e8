//! Trees of keys: one key of an Identus wallet, from the seed or from a kept prefix.
//!
//! | row | one operation |
//! |---|---|
//! | `hd.identus.derive.private` | from a seed of 64 bytes down five hardened levels, the private key |
//! | `hd.identus.derive` | the same, and its public key |
//! | `hd.identus.derive.cached` | the private key, the account `m/29'/29'/did'` being kept |
//! | `hd.identus.derive.usage` | the private key, its parent being kept |
//! | `hd.identus.derive.cached.public`, `hd.identus.sign`, `hd.identus.sign.cached` | with the public key, with an ECDSA signature |
//! | `hd.identus.siblings` | the private keys of 1,000 indices under one parent |
//! | `hd.benchmark.derive` | the four levels `m/29'/0'/0'/i'` of the published comparison, private and public key |
//! | `hd.public.secp256k1` | a public key of a private key that is there |
//! | `hd.slip10-...derive.private` | five hardened levels under another scheme, the private key |
//! | `mac.hmac-sha512.new-key.37` | the backend's HMAC-SHA-512 over 37 bytes, each under a key of its own: what a level costs whoever keeps nothing |
//!
//! | `hd.identus.tail.t32` | a figure: the 99th of 100 times of 32 tasks on as many threads as cores, over the median of one task |
//! | `hd.identus.response.t32`, `...floor` | figures: how long one of these 32 takes from its submission on, in microseconds, and how long it has to: tasks over cores, times the service |
//!
//! Paths are parsed beforehand. Answers are put together from the backend's HMAC and the sum of keys.

mod answers;
mod deriving;
mod parts;
#[cfg(feature = "peers")]
pub(super) mod peers;
mod siblings;
mod tail;

pub(super) use deriving::{
    account, account_both, account_sign, both, ed25519, four_levels, nist256p1, private, sign,
    usage,
};
pub(super) use parts::{hmac, public_key};
pub(super) use siblings::siblings;
pub(super) use tail::{response, response_floor, tail};
