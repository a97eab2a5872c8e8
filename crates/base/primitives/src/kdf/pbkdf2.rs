//! PBKDF2 (RFC 8018, 5.2) with HMAC-SHA-512, for formats that ask for it.
//!
//! Not for passwords of this project's own: those go through Argon2id, which costs an attacker memory too.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2::{PBKDF2_HMAC_SHA512, derive};

/// Fills `out` from a password and a salt.
pub fn pbkdf2_sha512(password: &[u8], salt: &[u8], rounds: NonZeroU32, out: &mut [u8]) {
    derive(PBKDF2_HMAC_SHA512, rounds, salt, password, out);
}
