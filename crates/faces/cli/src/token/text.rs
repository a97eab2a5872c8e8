//! Tokens and small files on their way in and out.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use keywright_clock::{Clock, duration};
use keywright_encoding::base64;
use keywright_secret::SecretBytes;
use keywright_token::{MAX_LEN, UnixSeconds};

use super::refused::refused;
use crate::exit::{Exit, Failure};
use crate::place::standard_input;

/// More than the longest token in base64 with ends of lines.
const LONGEST: usize = 2 * MAX_LEN;

/// Where a token comes from.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The file with the token, as it was printed or as bytes; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

impl Input {
    /// The token's bytes. What is no base64 is taken as it is and judged as a token.
    pub(super) fn read(&self) -> Result<SecretBytes, Failure> {
        let given = match self.input == Path::new("-") {
            true => standard_input()
                .and_then(|mut input| bounded(Path::new("standard input"), &mut input, LONGEST)),
            false => file(&self.input, LONGEST),
        }?;
        let text = std::str::from_utf8(given.expose())
            .ok()
            .map(str::trim_ascii);
        let decoded = text.and_then(|text| base64::decode_secret(text).ok());
        Ok(decoded.map_or(given, SecretBytes::from_vec))
    }
}

/// Where a token goes.
#[derive(Debug, clap::Args)]
pub(super) struct Destination {
    /// The file to write, which must not exist, for its owner alone [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

impl Destination {
    /// Writes the token, or gives back what is to be printed.
    pub(super) fn place(&self, token: &[u8]) -> Result<Option<String>, Failure> {
        let text = base64::encode_secret(token);
        match &self.out {
            None => Ok(Some(text)),
            Some(path) => {
                let text = SecretBytes::from_vec(text.into_bytes());
                write_new(path, &[text.expose(), b"\n"], 0o600)?;
                Ok(None)
            }
        }
    }
}

/// When a token ends.
#[derive(Debug, clap::Args)]
pub(super) struct End {
    /// It ends so long from now, such as 15m or 8h.
    #[arg(long, value_name = "TIME", conflicts_with = "expires_at")]
    expires_in: Option<String>,
    /// It ends at this second since 1970.
    #[arg(long, value_name = "SECONDS")]
    expires_at: Option<u64>,
}

impl End {
    pub(super) fn time(&self) -> Result<Option<UnixSeconds>, Failure> {
        let Some(text) = &self.expires_in else {
            return self.expires_at.map(seconds).transpose();
        };
        let length = duration::parse(text).filter(|length| length.as_secs() > 0);
        let length = length.ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                format!("{text} is no time of a second or more"),
                "give --expires-in with a number and a unit, such as 90s, 15m or 8h",
            )
        })?;
        seconds(now().number().saturating_add(length.as_secs())).map(Some)
    }
}

/// The time of the system's clock.
pub(super) fn now() -> UnixSeconds {
    Clock::system().wall().into()
}

pub(super) fn seconds(number: u64) -> Result<UnixSeconds, Failure> {
    UnixSeconds::new(number).map_err(refused)
}

/// The bytes of a file that is not longer than this.
pub(super) fn file(path: &Path, longest: usize) -> Result<SecretBytes, Failure> {
    let mut file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
    bounded(path, &mut file, longest)
}

fn bounded(name: &Path, source: &mut impl Read, longest: usize) -> Result<SecretBytes, Failure> {
    let mut bytes = Vec::with_capacity(longest + 1);
    let limit = u64::try_from(longest + 1).unwrap_or(u64::MAX);
    let read = source.take(limit).read_to_end(&mut bytes);
    let bytes = SecretBytes::from_vec(bytes);
    read.map_err(|error| Failure::file(name, "read", &error))?;
    if bytes.len() > longest {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} has more than {longest} bytes", name.display()),
            "give the file that is meant; tokens have at most 2048 bytes, keys 32",
        ));
    }
    Ok(bytes)
}

/// Writes these pieces into a file that was not there.
pub(super) fn write_new(path: &Path, pieces: &[&[u8]], mode: u32) -> Result<(), Failure> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path);
    let written = file.and_then(|mut file| {
        for piece in pieces {
            file.write_all(piece)?;
        }
        file.sync_all()
    });
    written.map_err(|error| Failure::new_file(path, &error))
}
