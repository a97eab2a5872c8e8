//! C2SP's Wycheproof: groups of one radix and key size, whose cases are valid or invalid.

use std::rc::Rc;

use keywright_fpe::{Algorithm, Alphabet, Mode};

use super::super::case::{Case, Expected, Value};
use super::Content;
use super::fields::{Fields, Wrong};

/// All cases of a file; the number that it says it has is held against them.
pub(super) fn read(file: &Fields<'_>) -> Result<Content, Wrong> {
    let declared = file.number("numberOfTests")?;
    // Files about formats have cases of several algorithms, and name none.
    let algorithm = file.text("algorithm").unwrap_or("several algorithms");
    if algorithm != "AES-FF1" {
        return Ok(Content::Other {
            cases: declared,
            of: algorithm.to_owned(),
        });
    }
    let mut cases = Vec::new();
    for group in file.list("testGroups")? {
        // Files of texts have an alphabet, files of lists have none.
        let alphabet = match group.has("alphabet") {
            true => Some(group.alphabet("alphabet")?),
            false => None,
        };
        let radix = group.radix("radix")?;
        for fields in group.list("tests")? {
            let number = fields.number("tcId")?;
            let fields = fields.called(format!("case {number}"));
            cases.push(case(&fields, radix, alphabet.as_ref())?);
        }
    }
    let found = u64::try_from(cases.len()).unwrap_or(u64::MAX);
    if found != declared {
        return Err(Wrong::Count { declared, found });
    }
    Ok(Content::Cases(cases))
}

fn case(fields: &Fields<'_>, radix: u32, alphabet: Option<&Rc<Alphabet>>) -> Result<Case, Wrong> {
    let value = |name: &str| match alphabet {
        Some(alphabet) => Ok(Value::Text(
            Rc::clone(alphabet),
            fields.text(name)?.to_owned(),
        )),
        None => fields.digits(name),
    };
    Ok(Case {
        name: fields.name().to_owned(),
        mode: Mode::Ff1,
        algorithm: Algorithm::Aes,
        radix,
        secret: fields.hex("key")?,
        tweak: fields.hex("tweak")?,
        plain: value("msg")?,
        cipher: value("ct")?,
        expected: match fields.text("result")? {
            "valid" => Expected::Matches,
            "invalid" => Expected::Refused,
            // "acceptable" has no meaning for a permutation.
            _ => return Err(fields.wrong("result")),
        },
    })
}
