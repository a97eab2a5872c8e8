//! C2SP Wycheproof: the cases of each file that our narrower types can express.
//!
//! There are no files for RSA or for AES-CBC in the folder; both are judged by the JOSE files, which carry
//! them inside.

mod aead;
mod agreement;
mod jose;
mod kdf;
mod kem;
mod mac;
mod signature;

use keywright_vectors::Verdict;

/// The verdict of a verification.
fn verdict<T, E>(result: Result<T, E>) -> Verdict {
    result.map_or(Verdict::Refused, |_| Verdict::Accepted)
}

/// The verdict over an output.
#[expect(
    clippy::fn_params_excessive_bools,
    reason = "reads like the comparison, which it is"
)]
fn compared(right: bool) -> Verdict {
    if right {
        Verdict::Accepted
    } else {
        Verdict::Wrong
    }
}
