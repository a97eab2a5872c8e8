//! Keys from one seed, each under the name of its scheme.
//!
//! | module | what | source |
//! |---|---|---|
//! | [`Scheme`], [`SeedScheme`] | the names that every node, key and seed carries | |
//! | [`Seed`], [`mnemonic`] | raw seeds, BIP-39, the salts of the Identus library | BIP-39 |
//! | [`Path`], [`preset`], [`identus`] | paths, strictly parsed, and those that wallets and Identus use | BIP-32, 44, 49, 84, 86 |
//! | [`PrivateNode`], [`PublicNode`] | derivation: BIP-32, SLIP-0010, BIP32-Ed25519 | |
//! | [`Siblings`] | many children of one parent, its HMAC pads hashed once | |
//! | [`cache`] | prefixes kept in locked memory, bounded and expiring | |
//! | [`extended`] | `xprv` and `xpub` | BIP-32 |
//! | [`slip21`] | symmetric keys by labels | SLIP-0021 |
//! | [`shares`] | a seed in parts, of which so many bring it back | Shamir, 1979 |
//! | [`rules`] | who may do what with which keys, by path and purpose | |
//! | [`jwk`] | public keys as JSON, and halves that have to fit | RFC 7517, 8037, 8812 |
//! | `vault` | the secrets of an Identus agent in a store, with the feature of that name | |
//! | [`profile`] | keys that libraries of Identus made of nodes | |
//!
//! ```
//! use keywright_hdkey::{Path, PrivateNode, Scheme, Seed};
//!
//! let seed = Seed::raw(&[0; 64])?;
//! let path: Path = "m/29'/29'/0'/1'/0'".parse()?;
//! let key = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &path)?;
//! let digest = keywright_hdkey::Digest::of_sha256(b"message");
//! let signature = key.sign_ecdsa(&digest)?;
//! key.public_key()?.verify_ecdsa(&digest, &signature)?;
//! # Ok::<(), keywright_hdkey::Error>(())
//! ```
//!
//! A key is used where it is: it signs and agrees. It leaves by [`PrivateNode::export`] alone, with its names.
//! Children that a public parent could make too are off until [`PrivateNode::allow_soft`].
//!
//! Not here: whose rules about paths are whose, records of use, storage of seeds. Those are the service's.
#![forbid(unsafe_code)]

mod base58;
pub mod cache;
mod derive;
mod error;
pub mod extended;
#[doc(hidden)]
pub mod fuzzing;
pub mod identus;
pub mod jwk;
mod lists;
pub mod mnemonic;
mod node;
mod path;
pub mod preset;
pub mod profile;
mod public;
pub mod rules;
mod scheme;
mod seed;
pub mod shares;
mod siblings;
pub mod slip21;
mod stack;
mod r#use;
#[cfg(feature = "vault")]
pub mod vault;
mod words;

pub use error::Error;
pub use node::{ExportedKey, PrivateNode, SoftChildren};
pub use path::{ChildIndex, Path, PathError};
pub use public::{PublicKey, PublicNode};
pub use scheme::{Curve, Scheme, SeedScheme, UnknownScheme};
pub use seed::Seed;
pub use siblings::{Batch, Siblings};
pub use r#use::{Digest, RecoverableSignature};
