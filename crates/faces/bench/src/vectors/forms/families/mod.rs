//! Vectors of what sessions are made of, one file for each family: HPKE, AEAD, key agreement, signatures,
//! MAC, key derivation, ML-KEM, BLAKE3, Argon2.
//!
//! Cases are run while their file is read, through the same functions as everything else. What is not built
//! here, or what our narrower types cannot say, is counted as skipped with its reason.

mod aead;
mod agreement;
mod argon2;
mod blake3;
mod hpke;
mod kdf;
mod kem;
mod mac;
mod signature;

use serde_json::Value as Json;

use super::fields::{Fields, Wrong};

/// A case and what came of it.
#[derive(Debug)]
pub(in crate::vectors) struct Judged {
    pub(in crate::vectors) name: String,
    pub(in crate::vectors) ruling: Ruling,
}

/// What came of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vectors) enum Ruling {
    Holds,
    /// What was looked at holds, and it is not all of the case.
    HoldsInPart(&'static str),
    Fails,
    /// Not run, and why.
    Skipped(&'static str),
}

type Judgement = Result<Vec<Judged>, Wrong>;

/// What an implementation does with a case that may be meant to be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Accepted,
    Refused,
    Wrong,
    Skipped(&'static str),
}

impl Decision {
    /// The decision over an output.
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "reads like the comparison, which it is"
    )]
    const fn compared(right: bool) -> Self {
        match right {
            true => Self::Accepted,
            false => Self::Wrong,
        }
    }

    /// The decision of a verification.
    fn verified<T, E>(result: Result<T, E>) -> Self {
        result.map_or(Self::Refused, |_| Self::Accepted)
    }

    fn ruling(self, case: &Fields<'_>) -> Result<Ruling, Wrong> {
        let holds = match (self, case.text("result")?) {
            (Self::Skipped(reason), _) => return Ok(Ruling::Skipped(reason)),
            (Self::Accepted, word @ ("valid" | "acceptable" | "invalid")) => word != "invalid",
            (Self::Refused, word @ ("valid" | "acceptable" | "invalid")) => word != "valid",
            (Self::Wrong, _) => false,
            _ => return Err(case.wrong("result")),
        };
        Ok(ruling(holds))
    }
}

#[expect(
    clippy::fn_params_excessive_bools,
    reason = "reads like the comparison, which it is"
)]
const fn ruling(holds: bool) -> Ruling {
    match holds {
        true => Ruling::Holds,
        false => Ruling::Fails,
    }
}

#[expect(
    clippy::fn_params_excessive_bools,
    reason = "reads like the comparison, which it is"
)]
fn judged(name: impl Into<String>, holds: bool) -> Judged {
    Judged {
        name: name.into(),
        ruling: ruling(holds),
    }
}

/// How the cases of a group of Wycheproof are decided.
type Decide = fn(&Fields<'_>, &Fields<'_>) -> Result<Decision, Wrong>;

fn family(algorithm: &str) -> Option<Decide> {
    Some(match algorithm {
        "AES-GCM" => aead::aes_gcm,
        "CHACHA20-POLY1305" => aead::chacha20_poly1305,
        "XCHACHA20-POLY1305" => aead::xchacha20_poly1305,
        "EDDSA" => signature::eddsa,
        "HKDF-SHA-256" => kdf::hkdf_sha256,
        "HKDF-SHA-384" => kdf::hkdf_sha384,
        "HKDF-SHA-512" => kdf::hkdf_sha512,
        "HMACSHA256" => mac::hmac_sha256,
        "HMACSHA384" => mac::hmac_sha384,
        "HMACSHA512" => mac::hmac_sha512,
        "ML-KEM" => kem::ml_kem,
        "XDH" => agreement::xdh,
        _ => return None,
    })
}

/// The cases of a file; none if it is of no family of these.
pub(super) fn of_json(file: &Fields<'_>) -> Option<Judgement> {
    if file.has("testGroups") && file.has("numberOfTests") {
        let decide = family(file.text("algorithm").ok()?)?;
        return Some(wycheproof(file, decide));
    }
    if file.has("context_string") && file.has("cases") {
        return Some(blake3::read(file));
    }
    if file.has("rfc9106") {
        return Some(argon2::read(file));
    }
    None
}

/// The sets of a file that is a list; none if it is another list.
pub(super) fn of_list(name: &str, json: &Json) -> Option<Judgement> {
    let sets = json.as_array()?;
    sets.first()?.get("kem_id")?;
    Some(hpke::read(name, sets))
}

fn wycheproof(file: &Fields<'_>, decide: Decide) -> Judgement {
    let mut all = Vec::new();
    for group in file.list("testGroups")? {
        for case in group.list("tests")? {
            let number = case.number("tcId")?;
            let case = case.called(format!("case {number}"));
            let ruling = decide(&group, &case)?.ruling(&case)?;
            all.push(Judged {
                name: case.name().to_owned(),
                ruling,
            });
        }
    }
    let declared = file.number("numberOfTests")?;
    let found = u64::try_from(all.len()).unwrap_or(u64::MAX);
    match declared == found {
        true => Ok(all),
        false => Err(Wrong::Count { declared, found }),
    }
}

/// A field of exactly `N` bytes.
fn array<const N: usize>(fields: &Fields<'_>, name: &str) -> Result<[u8; N], Wrong> {
    fields.hex(name)?.try_into().map_err(|_| fields.wrong(name))
}
