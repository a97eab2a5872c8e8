//! NIST's validation server: its own JSON with questions and answers in one file, and a table of
//! cases transcribed from it, which has no alphabets and no mode.

use std::path::Path;
use std::rc::Rc;

use keywright_fpe::{Algorithm, Mode};

use super::super::case::{Case, Expected, Value, mode};
use super::Content;
use super::fields::{Fields, Wrong, alphabet, field, unhex};

/// What the server writes as `internalProjection.json`.
pub(super) fn json(file: &Fields<'_>) -> Result<Content, Wrong> {
    let Ok(name) = file.text("algorithm") else {
        return Ok(Content::Unknown);
    };
    let Some(mode) = name.strip_prefix("ACVP-AES-").and_then(mode) else {
        let groups = file.list("testGroups")?;
        let of_group = |group: &Fields<'_>| group.list("tests").map_or(0, |tests| tests.len());
        let cases: usize = groups.iter().map(of_group).sum();
        return Ok(Content::Other {
            cases: u64::try_from(cases).unwrap_or(u64::MAX),
            of: name.to_owned(),
        });
    };
    let mut cases = Vec::new();
    for group in file.list("testGroups")? {
        let symbols = group.alphabet("alphabet")?;
        for fields in group.list("tests")? {
            let number = fields.number("tcId")?;
            let fields = fields.called(format!("case {number}"));
            let value = |name: &str| -> Result<Value, Wrong> {
                Ok(Value::Text(
                    Rc::clone(&symbols),
                    fields.text(name)?.to_owned(),
                ))
            };
            cases.push(Case {
                name: fields.name().to_owned(),
                mode,
                algorithm: Algorithm::Aes,
                radix: symbols.symbols(),
                secret: fields.hex("key")?,
                tweak: fields.hex("tweak")?,
                plain: value("pt")?,
                cipher: value("ct")?,
                expected: Expected::Matches,
            });
        }
    }
    Ok(Content::Cases(cases))
}

const COLUMNS: &str = "# tcId\tdir\tkeyLen\tradix\tkey\ttweak\tpt\tct";

/// The table.
pub(super) fn table(path: &Path, text: &str) -> Result<Content, Wrong> {
    if text.lines().next() != Some(COLUMNS) {
        return Ok(Content::Unknown);
    }
    let mode = mode_of(path).ok_or(Wrong::Mode)?;
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let cases: Result<Vec<Case>, Wrong> = rows.map(|row| table_row(mode, row)).collect();
    cases.map(Content::Cases)
}

/// The file's name says it, or the folder that it stands in.
fn mode_of(path: &Path) -> Option<Mode> {
    let whole = std::path::absolute(path).ok()?;
    whole.ancestors().take(2).find_map(|place| {
        let name = place.file_name()?.to_str()?.to_ascii_lowercase();
        // The longer name first: it has the shorter one in it.
        [Mode::Ff31, Mode::Ff3, Mode::Ff1]
            .into_iter()
            .find(|mode| name.contains(mode.name()))
    })
}

fn table_row(mode: Mode, row: &str) -> Result<Case, Wrong> {
    let columns: Vec<&str> = row.split('\t').collect();
    let [number, _, _, radix, key, tweak, plain, cipher] = columns[..] else {
        return Err(field(
            row.split('\t').next().unwrap_or_default(),
            "a column",
        ));
    };
    let name = format!("case {number}");
    let symbols = match radix {
        "10" => "0123456789",
        "26" => "abcdefghijklmnopqrstuvwxyz",
        "64" => "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
        _ => return Err(field(&name, "radix")),
    };
    let symbols = alphabet(&name, symbols)?;
    let bytes = |text: &str, column: &str| unhex(text).ok_or_else(|| field(&name, column));
    Ok(Case {
        mode,
        algorithm: Algorithm::Aes,
        radix: symbols.symbols(),
        secret: bytes(key, "key")?,
        tweak: bytes(tweak, "tweak")?,
        plain: Value::Text(Rc::clone(&symbols), plain.to_owned()),
        cipher: Value::Text(symbols, cipher.to_owned()),
        expected: Expected::Matches,
        name,
    })
}
