//! One case, whatever file it stands in.

use std::rc::Rc;

use keywright_fpe::{Algorithm, Alphabet, Mode};

/// A plaintext with its ciphertext, and what has to come of them.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) mode: Mode,
    pub(super) algorithm: Algorithm,
    pub(super) radix: u32,
    pub(super) secret: Vec<u8>,
    pub(super) tweak: Vec<u8>,
    pub(super) plain: Value,
    pub(super) cipher: Value,
    pub(super) expected: Expected,
}

/// A value as its file has it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Digits, most significant first.
    Digits(Vec<u32>),
    /// Digits of which one is no integer of 32 bits: it cannot even be asked for.
    Never,
    /// Text over an alphabet.
    Text(Rc<Alphabet>, String),
}

/// What has to come of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Another value: what the file has is known to be wrong.
    Differs,
    /// The value of the file, both ways.
    Matches,
    /// A refusal.
    Refused,
}

/// The mode of this name, in any case of letters.
pub(super) fn mode(word: &str) -> Option<Mode> {
    let modes = [Mode::Ff1, Mode::Ff3, Mode::Ff31, Mode::FpecFf31];
    modes
        .into_iter()
        .find(|mode| mode.name().eq_ignore_ascii_case(word))
}

/// The algorithm of this name, in any case of letters.
pub(super) fn algorithm(word: &str) -> Option<Algorithm> {
    match word.to_ascii_lowercase().as_str() {
        "aes" => Some(Algorithm::Aes),
        "sm4" => Some(Algorithm::Sm4),
        _ => None,
    }
}
