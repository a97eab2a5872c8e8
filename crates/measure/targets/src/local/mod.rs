//! Operations in this process: primitives, envelopes, streams, files, format-preserving encryption, columns, tokens,
//! frames, and the empty operation.
//!
//! Each row of [`OPERATIONS`] makes workers; [`mod@fpe`] has a table of its own. Keys, nonces and inputs are made with the worker, and outputs
//! are judged by another way than the one that was timed: what was sealed is opened, what was signed is
//! verified, and hashes, tags and keys are held against answers that were found by another way before.
//!
//! The input of a hash or MAC, the text of a cipher and the message of a signature are as long as the name's
//! last part says, 32 bytes for signatures and RSA encryption; for `kdf.hkdf-...` it is the length of the
//! output, and the input is a secret of 32 bytes. `mac.aes-cmac` has a key of 256 bits, `mac.blake3` is the
//! keyed mode. The memory that an output lies in is made outside of what is timed where the primitive lets
//! its caller do that; where it returns new memory, making that is part of the operation.
//!
//! Nonces of `aead` and `cbc` are made beforehand. An envelope or stream makes its own, signatures and key
//! encapsulation draw what randomness they need, and all of that is timed.
//!
//! Not here: anything that needs a server or a token.

mod aead;
mod agreement;
mod argon2id;
mod cbc;
mod envelope;
mod file;
mod format;
pub mod fpe;
mod hash;
mod hd;
mod hpke;
mod kdf;
mod kem;
mod mac;
mod memory;
mod output;
#[cfg(feature = "peers")]
mod peers;
mod random;
mod ratchet;
mod row;
mod rsa_encryption;
mod rsa_keys;
mod session;
mod signature;
#[cfg(test)]
mod spoil;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod wire;
mod worker;

pub use table::OPERATIONS;
