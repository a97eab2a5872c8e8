//! The commands of message authentication codes: hmac-sign, hmac-verify, cmac-sign, cmac-verify.

use std::path::PathBuf;

use keywright_hsm::Error;
use keywright_hsm::mac::{self, Code, Shortest};
use serde_json::json;

use super::answer::{Answer, Beside, Refusal};
use super::files::{self, Output};
use super::make::HashName;
use super::place::Entry;
use super::work::KeyWords;

/// What to make a code over.
#[derive(Debug, clap::Args)]
pub(crate) struct HmacWords {
    #[command(flatten)]
    key: KeyWords,
    /// The hash of HMAC.
    #[arg(long, value_enum, default_value_t = HashName::Sha256)]
    algorithm: HashName,
    /// Cut the code to its first bytes; at least 8 [default: whole].
    #[arg(long, value_name = "BYTES")]
    mac_len: Option<usize>,
    #[command(flatten)]
    output: Output,
}

/// What to make a code over, with AES.
#[derive(Debug, clap::Args)]
pub(crate) struct CmacWords {
    #[command(flatten)]
    key: KeyWords,
    /// Cut the code to its first bytes; at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    mac_len: usize,
    /// Accept a code of 4 bytes or more.
    #[arg(long)]
    allow_short: bool,
    #[command(flatten)]
    output: Output,
}

/// A code to verify.
#[derive(Debug, clap::Args)]
pub(crate) struct HmacVerifyWords {
    #[command(flatten)]
    key: KeyWords,
    /// The hash of HMAC.
    #[arg(long, value_enum, default_value_t = HashName::Sha256)]
    algorithm: HashName,
    /// The file with the code.
    #[arg(long, value_name = "FILE")]
    hmac: PathBuf,
    /// Bytes of a code that was cut when it was made; at least 8 [default: whole].
    #[arg(long, value_name = "BYTES")]
    mac_len: Option<usize>,
}

/// A code to verify, with AES.
#[derive(Debug, clap::Args)]
pub(crate) struct CmacVerifyWords {
    #[command(flatten)]
    key: KeyWords,
    /// The file with the code.
    #[arg(long, value_name = "FILE")]
    cmac: PathBuf,
    /// Bytes of a code that was cut when it was made; at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    mac_len: usize,
    /// Accept a --mac-len of 4 bytes or more.
    #[arg(long)]
    allow_short: bool,
}

type Wanted = (Code, usize, Shortest);

fn make_code(
    (words, output): (&KeyWords, &Output),
    wanted: Wanted,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let named = words.key()?;
    let mut desk = words.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.input.open()?;
    let ((report, code), placed) = output.with(|out| {
        let (code, report) = mac::sign(&mut desk, &choice, wanted, &mut input)?;
        out.write_all(&code).map_err(Error::Output)?;
        Ok((report, code))
    })?;
    let mut data = words.told(report);
    data["mac_hex"] = json!(keywright_encoding::hex::encode(&code));
    Ok(placed.answer(data))
}

fn check_code(
    words: &KeyWords,
    wanted: Wanted,
    file: &std::path::Path,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let code = files::read(file)?;
    let named = words.key()?;
    let mut desk = words.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.input.open()?;
    let operation = wanted.0.verifying();
    let report = mac::verify(&mut desk, &choice, wanted, &mut input, &code);
    words.verified(operation, &named, report)
}

pub(super) fn hmac(words: &HmacWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let code = Code::Hmac(words.algorithm.into());
    let length = words.mac_len.unwrap_or(code.whole_len());
    make_code(
        (&words.key, &words.output),
        (code, length, Shortest::Eight),
        beside,
    )
}

pub(super) fn cmac(words: &CmacWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let wanted = (
        Code::Cmac,
        words.mac_len,
        if words.allow_short {
            Shortest::Four
        } else {
            Shortest::Eight
        },
    );
    make_code((&words.key, &words.output), wanted, beside)
}

pub(super) fn hmac_verify(words: &HmacVerifyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let code = Code::Hmac(words.algorithm.into());
    let length = words.mac_len.unwrap_or(code.whole_len());
    let wanted = (code, length, Shortest::Eight);
    check_code(&words.key, wanted, &words.hmac, beside)
}

pub(super) fn cmac_verify(words: &CmacVerifyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let wanted = (
        Code::Cmac,
        words.mac_len,
        if words.allow_short {
            Shortest::Four
        } else {
            Shortest::Eight
        },
    );
    check_code(&words.key, wanted, &words.cmac, beside)
}
