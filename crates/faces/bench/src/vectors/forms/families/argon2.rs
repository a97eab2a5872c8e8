//! Argon2id of the PHC strings; of the RFC's own values the parts that containers do not use are skipped.

use keywright_encoding::base64;
use keywright_password::{Cost, hazmat};

use super::{Judged, Judgement, Ruling, ruling};
use crate::vectors::forms::fields::{Fields, Wrong};

const WITH_SECRET: &str = "Argon2 with a secret and associated data, which containers do not have";

pub(super) fn read(file: &Fields<'_>) -> Judgement {
    let mut all = Vec::new();
    for case in file.list("rfc9106")? {
        all.push(Judged {
            name: case.name().to_owned(),
            ruling: Ruling::Skipped(WITH_SECRET),
        });
    }
    let strings = file.json("phc_argon2id_v19")?.as_array();
    for text in strings.ok_or_else(|| file.wrong("phc_argon2id_v19"))? {
        let text = text
            .as_str()
            .ok_or_else(|| file.wrong("phc_argon2id_v19"))?;
        let string = Phc::parse(text).ok_or_else(|| file.wrong("phc_argon2id_v19"))?;
        all.push(Judged {
            name: text.to_owned(),
            ruling: string.ruling()?,
        });
    }
    Ok(all)
}

/// `$argon2id$v=19$m=..,t=..,p=..$salt$hash`
struct Phc {
    cost: Cost,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

impl Phc {
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("$argon2id$v=19$")?;
        let [cost, salt, hash] = rest.split('$').collect::<Vec<_>>().try_into().ok()?;
        let [m, t, p] = cost.split(',').collect::<Vec<_>>().try_into().ok()?;
        let number = |text: &str, name| text.strip_prefix(name)?.parse().ok();
        Some(Self {
            cost: Cost {
                memory_kib: number(m, "m=")?,
                passes: number(t, "t=")?,
                lanes: number(p, "p=")?,
            },
            salt: unpadded(salt)?,
            hash: unpadded(hash)?,
        })
    }

    /// The strings do not say of which password they are: upstream's tests use these two.
    fn ruling(&self) -> Result<Ruling, Wrong> {
        let holds = [&b"password"[..], b"differentpassword"].iter().any(|word| {
            let made = hazmat::stretch(word, &self.salt, self.cost);
            made.is_ok_and(|made| made.expose()[..] == self.hash[..])
        });
        Ok(ruling(holds))
    }
}

/// Base64 as PHC strings have it: without padding.
fn unpadded(text: &str) -> Option<Vec<u8>> {
    let padding = "=".repeat((4 - text.len() % 4) % 4);
    base64::decode(&format!("{text}{padding}")).ok()
}
