//! What the `hsm` commands and the terminal do with a token, without a line of output.
//!
//! | module | what |
//! |---|---|
//! | [`uri`] | PKCS#11 URIs (RFC 7512): parsed, written, matched |
//! | [`config`] | the configuration file of the commands |
//! | [`TokenChoice`], [`KeyChoice`] | exactly one token, exactly one object, or the list of candidates |
//! | [`Desk`] | a session with the chosen token, logged in if asked; the operations are its methods |
//! | [`information`], [`objects`], [`inspection`] | what a module, a slot, a token and an object say about themselves |
//! | [`expected`] | what a key is expected to be, from a file |
//! | [`capabilities`] | what a token really does, found out by doing it |
//! | [`tokens`] | tokens initialised, PINs set, tokens re-initialised |
//! | [`pairs`], [`secrets`] | keys made, destroyed, wrapped and unwrapped |
//! | [`signing`], [`sealing`], [`oaep`], [`hybrid`], [`mac`] | what keys do |
//! | [`here`] | what needs no token: hashes, signatures verified with a public key in a file |
//! | [`public_key`] | public keys, as the standards write them (the layer's module) |
//! | [`request`] | certificate requests |
//! | [`audit`] | what is on a token held against rules |
//! | [`explanation`] | return codes explained |
//! | [`Error`] | what went wrong, of which kind, and what to do |
//!
//! Results are values that serialise under the names of the JSON documents. Inputs of any size are read and
//! written piece by piece; whoever gives the writer decides that nothing partial is kept.
//!
//! Not here: flags, files, terminals, PIN prompts (the faces), and every call of PKCS#11 (`keywright-pkcs11`).
#![forbid(unsafe_code)]

mod attribute;
pub mod audit;
pub mod capabilities;
pub mod config;
mod desk;
mod error;
pub mod expected;
pub mod explanation;
pub mod here;
pub mod hybrid;
pub mod information;
pub mod inspection;
mod likeness;
pub mod mac;
mod name;
pub mod oaep;
pub mod objects;
pub mod pairs;
mod piece;
pub mod request;
mod scheme;
pub mod sealing;
pub mod secrets;
mod selection;
pub mod signing;
pub mod tokens;
pub mod uri;
mod usages;

pub use attribute::Secrets;
pub use desk::{Caution, Desk, Login, hash_name};
pub use error::{Apart, Error, Kind};
pub use keywright_pkcs11::public_key;
pub use keywright_pkcs11::{
    Access, Curve, Hash, MlDsa, MlKem, Module, PairKind, Pin, Purpose, SecretKind, SlhDsa, Token,
    User,
};
pub use keywright_pkcs11_names::explain::Context;
pub use name::NameError;
pub use piece::PIECE;
pub use selection::{KeyChoice, TokenChoice};
pub use uri::Uri;
