//! What can hurt: here for comparison and for reading what others wrote, never for a format of our own.
//!
//! * [`cbc`]: AES-CBC with PKCS#7 padding. Nothing in it notices a changed ciphertext.
//! * [`long_nonce`]: AES-256-GCM with a nonce of 16 bytes, for opening.
//! * [`ml_kem`]: encapsulation with randomness that the caller brings, as published vectors do.
//! * [`repeated`]: randomness that somebody has seen before, for tests.
//! * [`rsa_pkcs1`]: RSA encryption with PKCS#1 v1.5 padding.
//! * [`xchacha`]: the part of XChaCha20-Poly1305 before its first byte, for measurements.
//!
//! The two with a padding have the same trap: whoever tells a stranger whether the padding was right, in words or by the time
//! it took, decrypts for that stranger. Neither may stand behind an interface that strangers reach.

pub mod cbc;
pub mod long_nonce;
pub mod ml_kem;
pub mod repeated;
pub mod rsa_pkcs1;
pub mod xchacha;
