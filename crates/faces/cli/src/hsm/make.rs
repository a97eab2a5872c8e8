//! The commands that need no key: gen-random, hash.

use keywright_encoding::{base64, hex};
use keywright_hsm::{Access, Hash, hash_name};
use serde_json::json;

use super::answer::{Answer, Beside, Refusal};
use super::files::{Input, Output};
use super::pin::UserPin;
use super::place::{Entry, Place};
use crate::exit::{Exit, Failure};

/// Random bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct RandomWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// How many bytes, up to 16 MiB.
    #[arg(long, alias = "length", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    bytes: u32,
    #[command(flatten)]
    output: Output,
    /// Write hexadecimal digits.
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// Write base64.
    #[arg(long)]
    base64: bool,
}

pub(super) fn random(words: &RandomWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let desk = words.place.desk(beside, &words.pin, how, &[])?;
    let length = usize::try_from(words.bytes).unwrap_or_default();
    let bytes = desk.random(length)?;
    let (format, written) = match (words.hex, words.base64) {
        (true, _) => ("hex", hex::encode(bytes.expose()) + "\n"),
        (_, true) => ("base64", base64::encode_secret(bytes.expose()) + "\n"),
        _ => ("binary", String::new()),
    };
    let written = if format == "binary" {
        bytes.expose()
    } else {
        written.as_bytes()
    };
    let mut data = json!({ "operation": "gen-random", "bytes": words.bytes, "format": format });
    if words.output.is_file() {
        data["output_file"] = json!(words.output.name());
        words.output.with(|out| {
            out.write_all(written)
                .map_err(|e| keywright_hsm::Error::Output(e).into())
        })?;
        return Ok(Answer::of(&data));
    }
    match format {
        "base64" => data["data"] = json!(base64::encode_secret(bytes.expose())),
        _ => data["data_hex"] = json!(hex::encode(bytes.expose())),
    }
    Ok(Answer::of(&data).text(written))
}

/// A hash.
#[derive(Debug, clap::Args)]
pub(crate) struct HashWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// Which hash.
    #[arg(long, value_enum, default_value_t = HashName::Sha256)]
    algorithm: HashName,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    /// Write the bytes of the hash instead of hexadecimal digits.
    #[arg(long)]
    binary: bool,
    /// Make the hash here, without a token: sha256, sha384 or sha512.
    #[arg(long)]
    local: bool,
}

/// A hash on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum HashName {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    #[value(name = "sha3-224")]
    Sha3_224,
    #[value(name = "sha3-256")]
    Sha3_256,
    #[value(name = "sha3-384")]
    Sha3_384,
    #[value(name = "sha3-512")]
    Sha3_512,
}

impl From<HashName> for Hash {
    fn from(name: HashName) -> Self {
        match name {
            HashName::Sha1 => Self::Sha1,
            HashName::Sha224 => Self::Sha224,
            HashName::Sha256 => Self::Sha256,
            HashName::Sha384 => Self::Sha384,
            HashName::Sha512 => Self::Sha512,
            HashName::Sha3_224 => Self::Sha3_224,
            HashName::Sha3_256 => Self::Sha3_256,
            HashName::Sha3_384 => Self::Sha3_384,
            HashName::Sha3_512 => Self::Sha3_512,
        }
    }
}

pub(super) fn hash(words: &HashWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let hash = Hash::from(words.algorithm);
    let (digest, length) = match words.local {
        true => hashed_here(hash, words)?,
        false => {
            let how = (Access::Read, Entry::IfNamed);
            let mut desk = words.place.desk(beside, &words.pin, how, &[])?;
            desk.hash(hash, &mut words.input.open()?)?
        }
    };
    let digits = hex::encode(&digest);
    let written = match words.binary {
        true => digest,
        false => (digits.clone() + "\n").into_bytes(),
    };
    let mut data = json!({
        "operation": "hash",
        "algorithm": hash_name(hash),
        "local": words.local,
        "input_file": words.input.name(),
        "input_bytes": length,
        "digest_hex": digits,
    });
    if words.output.is_file() {
        data["output_file"] = json!(words.output.name());
        words.output.with(|out| {
            out.write_all(&written)
                .map_err(|e| keywright_hsm::Error::Output(e).into())
        })?;
        return Ok(Answer::of(&data));
    }
    Ok(Answer::of(&data).text(written))
}

fn hashed_here(hash: Hash, words: &HashWords) -> Result<(Vec<u8>, u64), Refusal> {
    let hashed = keywright_hsm::here::hash(hash, &mut words.input.open()?)?;
    hashed.ok_or_else(|| {
        let name = hash_name(hash);
        Failure::new(
            Exit::Unsupported,
            format!("{name} is not made without a token"),
            "choose sha256, sha384 or sha512, or leave out --local",
        )
        .into()
    })
}
