//! `hmac-sign`, `hmac-verify`, `cmac-sign`, `cmac-verify`: message authentication codes over inputs of any size.
//!
//! A code may be cut to its first bytes. One of full length is verified by the token; a shorter one is made
//! again and compared in constant time, since not every token verifies a part. The verifier says how long the code
//! is, never the code: else each forger chooses how many bits to guess (SP 800-107 5.3.3).

use std::io::Read;

use keywright_pkcs11::{Ability, Hash, Mechanism, ObjectHandle};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_secret::ct_eq;
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::selection::KeyChoice;
use crate::signing::each;

/// Which code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Code {
    /// AES-CMAC (SP 800-38B).
    Cmac,
    /// HMAC (FIPS 198-1).
    Hmac(Hash),
}

/// Fewest bytes of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Shortest {
    /// 8.
    Eight,
    /// 4, by name: one of 2^32 forgeries passes.
    Four,
}

impl Code {
    const fn mechanism(self) -> Mechanism<'static> {
        match self {
            Self::Cmac => Mechanism::AesCmac,
            Self::Hmac(hash) => Mechanism::Hmac(hash),
        }
    }

    /// Bytes of a whole one.
    #[must_use]
    pub const fn whole_len(self) -> usize {
        match self {
            Self::Cmac => 16,
            Self::Hmac(hash) => hash.len(),
        }
    }

    /// The command that verifies one.
    #[must_use]
    pub const fn verifying(self) -> &'static str {
        match self {
            Self::Cmac => "cmac-verify",
            Self::Hmac(_) => "hmac-verify",
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Cmac => ("cmac", "aes"),
            Self::Hmac(hash) => ("hmac", hash_name(hash)),
        }
    }

    /// Refuses a length that no code may have.
    fn check(self, length: usize, shortest: Shortest) -> Result<(), Error> {
        let min = match shortest {
            Shortest::Eight => 8,
            Shortest::Four => 4,
        };
        if (min..=self.whole_len()).contains(&length) {
            return Ok(());
        }
        Err(Error::Value(format!(
            "a code of {length} bytes: it has {min} to {} bytes",
            self.whole_len()
        )))
    }
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct MacReport {
    pub operation: String,
    pub key_label: String,
    pub algorithm: &'static str,
    pub mechanism: String,
    pub input_bytes: u64,
    pub mac_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<&'static str>,
}

fn report(desk: &Desk, key: ObjectHandle, code: Code, verb: &str) -> Result<MacReport, Error> {
    let (name, algorithm) = code.words();
    let label = desk.session.attribute(key, AttributeType::LABEL)?;
    Ok(MacReport {
        operation: format!("{name}-{verb}"),
        key_label: label.text().unwrap_or_default(),
        algorithm,
        mechanism: code.mechanism().kind().to_string(),
        input_bytes: 0,
        mac_bytes: 0,
        verification: None,
    })
}

/// Makes a code of `length` bytes.
///
/// # Errors
/// [`Error::Value`] for a length that it cannot have; [`Error::NoKey`]; what the token refuses.
pub fn sign(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    (code, length, shortest): (Code, usize, Shortest),
    input: &mut dyn Read,
) -> Result<(Vec<u8>, MacReport), Error> {
    code.check(length, shortest)?;
    let key = desk.find(choice, ObjectClass::SECRET_KEY)?;
    desk.session
        .token()
        .require(&code.mechanism(), Ability::Sign)?;
    let mut told = report(desk, key, code, "sign")?;
    let (mut mac, input_bytes) = make(desk, key, code, input)?;
    mac.truncate(length);
    told.input_bytes = input_bytes;
    told.mac_bytes = mac.len();
    Ok((mac, told))
}

fn make(
    desk: &mut Desk,
    key: ObjectHandle,
    code: Code,
    input: &mut dyn Read,
) -> Result<(Vec<u8>, u64), Error> {
    let mut running = desk.session.sign_stream(&code.mechanism(), key)?;
    let length = each(input, |piece| running.update(piece))?;
    let mut mac = Vec::new();
    running.finish(&mut mac)?;
    Ok((mac, length))
}

/// Verifies a code of `length` bytes.
///
/// # Errors
/// [`Error::MacLength`] if it has another length, [`Error::Unfit`] if it does not fit, and only then;
/// [`Error::Value`] for a length that none has; what the token refuses.
pub fn verify(
    desk: &mut Desk,
    choice: &KeyChoice<'_>,
    (code, length, shortest): (Code, usize, Shortest),
    input: &mut dyn Read,
    mac: &[u8],
) -> Result<MacReport, Error> {
    code.check(length, shortest)?;
    let key = desk.find(choice, ObjectClass::SECRET_KEY)?;
    if mac.len() != length {
        return Err(Error::MacLength {
            found: mac.len(),
            wanted: length,
        });
    }
    let mut told = report(desk, key, code, "verify")?;
    told.mac_bytes = mac.len();
    if mac.len() == code.whole_len() {
        desk.session
            .token()
            .require(&code.mechanism(), Ability::Verify)?;
        let mut running = desk.session.verify_stream(&code.mechanism(), key)?;
        told.input_bytes = each(input, |piece| running.update(piece))?;
        running.finish(mac)?;
    } else {
        let (whole, length) = make(desk, key, code, input)?;
        told.input_bytes = length;
        if !whole
            .get(..mac.len())
            .is_some_and(|start| ct_eq(start, mac))
        {
            return Err(Error::Unfit("code"));
        }
    }
    told.verification = Some("valid");
    Ok(told)
}
