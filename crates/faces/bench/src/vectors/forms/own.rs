//! Our own files: what was collected from others, what was computed from the standard, and the golden file.

use std::rc::Rc;

use super::super::case::{Case, Expected, Value, algorithm, mode};
use super::Content;
use super::fields::{Fields, Wrong};

/// Collected cases are texts with their alphabets, generated ones lists of digits.
pub(super) fn published(cases: &[Fields<'_>]) -> Result<Content, Wrong> {
    let cases: Result<Vec<Case>, Wrong> = cases
        .iter()
        .map(|case| {
            let texts = case.has("alphabet");
            let (radix, plain, cipher) = if texts {
                let symbols = case.alphabet("alphabet")?;
                let text = |name: &str| -> Result<Value, Wrong> {
                    Ok(Value::Text(
                        Rc::clone(&symbols),
                        case.text(name)?.to_owned(),
                    ))
                };
                (symbols.symbols(), text("pt")?, text("ct")?)
            } else {
                (case.radix("radix")?, case.digits("pt")?, case.digits("ct")?)
            };
            let follows = !case.has("verified") || case.truth("verified")?;
            Ok(Case {
                name: case.name().to_owned(),
                mode: mode(case.text("alg")?).ok_or_else(|| case.wrong("alg"))?,
                algorithm: algorithm(case.text("cipher")?).ok_or_else(|| case.wrong("cipher"))?,
                radix,
                secret: case.hex("key")?,
                tweak: case.hex("tweak")?,
                plain,
                cipher,
                expected: match follows {
                    true => Expected::Matches,
                    false => Expected::Differs,
                },
            })
        })
        .collect();
    cases.map(Content::Cases)
}

/// The golden file of the repository.
pub(super) fn golden(cases: &[Fields<'_>]) -> Result<Content, Wrong> {
    let cases: Result<Vec<Case>, Wrong> = cases
        .iter()
        .map(|case| {
            let word = case.text("algorithm")?;
            Ok(Case {
                name: case.text("name")?.to_owned(),
                mode: mode(case.text("mode")?).ok_or_else(|| case.wrong("mode"))?,
                algorithm: algorithm(word).ok_or_else(|| case.wrong("algorithm"))?,
                radix: case.radix("radix")?,
                secret: case.hex("key")?,
                tweak: case.hex("tweak")?,
                plain: case.digits("plaintext")?,
                cipher: case.digits("ciphertext")?,
                expected: Expected::Matches,
            })
        })
        .collect();
    cases.map(Content::Cases)
}
