//! Worked examples: NIST's as JSON and as blocks of `Name = value`, and the text of FFX, the parent of FF1.

use std::collections::BTreeMap;
use std::rc::Rc;

use keywright_fpe::{Algorithm, Mode};

use super::super::case::{Case, Expected, Value, mode};
use super::Content;
use super::fields::{Fields, Wrong, alphabet, field, unhex};

/// A file for one mode: `engine` says which, or what it says of its source.
pub(super) fn json(file: &Fields<'_>, cases: &[Fields<'_>]) -> Result<Content, Wrong> {
    let word = file.text("engine").ok().or_else(|| {
        let words = file.text("source").ok()?.split([' ', ',']);
        words.into_iter().find(|word| mode(word).is_some())
    });
    let mode = word.and_then(mode).ok_or(Wrong::Mode)?;
    let read = |case: &Fields<'_>| {
        let output = match case.has("expected") {
            true => "expected",
            false => "ciphertext",
        };
        let texts = [
            case.text("alphabet")?,
            case.text("key")?,
            case.text("tweak")?,
            case.text("plaintext")?,
            case.text(output)?,
        ];
        of_texts(case.name(), mode, texts)
    };
    let cases: Result<Vec<Case>, Wrong> = cases.iter().map(read).collect();
    cases.map(Content::Cases)
}

/// Blocks that end with `CT`; what a block does not say stays as the one before it said.
pub(super) fn blocks(text: &str) -> Result<Content, Wrong> {
    let mut said: BTreeMap<&str, &str> = BTreeMap::new();
    let mut cases = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        said.insert(name.trim(), value.trim());
        if name.trim() != "CT" {
            continue;
        }
        let number = said.get("Count").copied().unwrap_or("of no number");
        let name = format!("case {number}");
        let need = |field_name: &str| {
            let found = said.get(field_name).copied();
            found.ok_or_else(|| field(&name, field_name))
        };
        let mode = mode(need("Method")?).ok_or_else(|| field(&name, "Method"))?;
        let texts = [
            need("Alphabet")?,
            need("Key")?,
            need("Tweak")?,
            need("PT")?,
            need("CT")?,
        ];
        cases.push(of_texts(&name, mode, texts)?);
    }
    match cases.is_empty() {
        true => Ok(Content::Unknown),
        false => Ok(Content::Cases(cases)),
    }
}

const FFX: &str = "AES FFX Test Vector Data";
const FFX_KEY: &str = "AES-128 key for all test vectors:";

/// The text of FFX: its values are those of FF1 if the tweak is taken as the bytes of its text.
pub(super) fn ffx(text: &str) -> Result<Content, Wrong> {
    if !text.starts_with(FFX) {
        return Ok(Content::Unknown);
    }
    let key = text.lines().find_map(|line| line.strip_prefix(FFX_KEY));
    let key = key.ok_or_else(|| field("the file", "key"))?.trim();
    let mut cases = Vec::new();
    for (place, part) in text.split("Test vector ").skip(1).enumerate() {
        let name = format!("case {}", place + 1);
        let line = |word: &str| part.lines().find(|line| line.trim().starts_with(word));
        let quoted = |word: &str| {
            let found = line(word).and_then(|line| line.split('"').nth(1));
            found.ok_or_else(|| field(&name, word))
        };
        let symbols = match line("Radix")
            .and_then(|line| line.split('=').nth(1))
            .map(str::trim)
        {
            Some("10") => "0123456789",
            Some("36") => "0123456789abcdefghijklmnopqrstuvwxyz",
            _ => return Err(field(&name, "Radix")),
        };
        // One of them has no tweak, and no quotes for it.
        let tweak = quoted("Tweak").unwrap_or_default();
        let tweak = keywright_encoding::hex::encode(tweak.as_bytes());
        let (plain, cipher) = (quoted("Input")?, quoted("Encrypted")?);
        let upper = plain
            .chars()
            .chain(cipher.chars())
            .any(|symbol| symbol.is_ascii_uppercase());
        let symbols = match upper {
            true => symbols.to_ascii_uppercase(),
            false => symbols.to_owned(),
        };
        cases.push(of_texts(
            &name,
            Mode::Ff1,
            [&symbols, key, &tweak, plain, cipher],
        )?);
    }
    Ok(Content::Cases(cases))
}

/// A case of which everything is text: alphabet, key, tweak, plaintext, ciphertext.
fn of_texts(
    name: &str,
    mode: Mode,
    [symbols, key, tweak, plain, cipher]: [&str; 5],
) -> Result<Case, Wrong> {
    let symbols = alphabet(name, symbols)?;
    Ok(Case {
        name: name.to_owned(),
        mode,
        algorithm: Algorithm::Aes,
        radix: symbols.symbols(),
        secret: unhex(key).ok_or_else(|| field(name, "key"))?,
        tweak: unhex(tweak).ok_or_else(|| field(name, "tweak"))?,
        plain: Value::Text(Rc::clone(&symbols), plain.to_owned()),
        cipher: Value::Text(symbols, cipher.to_owned()),
        expected: Expected::Matches,
    })
}
