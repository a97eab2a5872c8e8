//! What goes to the service: messages, ciphertexts, additional data.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use keywright_encoding::base64;
use keywright_secret::SecretBytes;
use keywright_types::Code;

use crate::exit::{Exit, Failure};

/// Where the bytes come from.
#[derive(Debug, clap::Args)]
pub(crate) struct Input {
    /// The file to read; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

impl Input {
    /// All of it, wiped after use: it may be a plaintext.
    pub(super) fn read(&self) -> Result<SecretBytes, Failure> {
        let is_stdin = self.input == Path::new("-");
        let name = if is_stdin {
            Path::new("standard input")
        } else {
            &self.input
        };
        let source = match is_stdin {
            true => read_bounded(&mut std::io::stdin().lock()),
            false => File::open(&self.input).and_then(|mut file| read_bounded(&mut file)),
        };
        match source.map_err(|error| Failure::file(name, "read", &error))? {
            Some(bytes) => Ok(bytes),
            None => Err(Failure::new(
                Exit::Usage,
                format!("{} has more than {LONGEST} bytes", name.display()),
                "split it, or take a data key and encrypt locally",
            )),
        }
    }

    /// Where the bytes come from, for whoever reads them piece by piece.
    pub(super) fn reader(&self) -> Result<Box<dyn Read + Send>, Failure> {
        if self.input == Path::new("-") {
            return Ok(Box::new(std::io::stdin()));
        }
        let file = File::open(&self.input);
        let file = file.map_err(|error| Failure::file(&self.input, "read", &error))?;
        Ok(Box::new(file))
    }

    /// An envelope, given as its bytes or as base64 of them.
    pub(super) fn read_ciphertext(&self) -> Result<Ciphertext, Failure> {
        let given = self.read()?;
        let envelope = match given.expose() {
            raw if raw.starts_with(&MAGIC) => Some(raw.to_vec()),
            text => decode_text(text).filter(|bytes| bytes.starts_with(&MAGIC)),
        };
        envelope.map(Ciphertext).ok_or_else(|| Failure {
            code: Some(Code::CiphertextMalformed.name()),
            ..Failure::new(
                Exit::Negative,
                "the input is not a ciphertext: neither an envelope nor base64 of one",
                "give the whole output of encrypt, rewrap or datakey; base64 of it begins with KWR1",
            )
        })
    }
}

/// An envelope of the service, not yet looked into.
pub(super) struct Ciphertext(pub(super) Vec<u8>);

/// What was given, or must be given again, beside the message.
#[derive(Debug, clap::Args)]
pub(crate) struct Aad {
    /// Additional data that must be the same for opening; it is not kept secret.
    #[arg(long, value_name = "TEXT", conflicts_with = "aad_file")]
    aad: Option<String>,
    /// The same, from a file.
    #[arg(long, value_name = "FILE")]
    aad_file: Option<PathBuf>,
}

impl Aad {
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        match &self.aad_file {
            Some(file) => crate::place::read(file).map(Some),
            None => Ok(self.aad.as_ref().map(|text| text.as_bytes().to_vec())),
        }
    }
}

/// Reads into a buffer that grows without leaving copies behind; `None` if there is too much.
fn read_bounded(source: &mut impl Read) -> std::io::Result<Option<SecretBytes>> {
    let mut bytes = SecretBytes::zeroed(64 << 10);
    let mut length = 0;
    loop {
        if length == bytes.len() {
            let mut larger = SecretBytes::zeroed(length * 2);
            larger.expose_mut()[..length].copy_from_slice(bytes.expose());
            bytes = larger;
        }
        match source.read(&mut bytes.expose_mut()[length..]) {
            Ok(0) => {
                return Ok(Some(SecretBytes::from_vec(
                    bytes.expose()[..length].to_vec(),
                )));
            }
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length > LONGEST {
            return Ok(None);
        }
    }
}

fn decode_text(text: &[u8]) -> Option<Vec<u8>> {
    // Tools break base64 into lines; the service's own form has none.
    let text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    base64::decode(std::str::from_utf8(&text).ok()?).ok()
}

/// The first bytes of every envelope (design 7.4).
const MAGIC: [u8; 3] = [0x29, 0x64, 0x75];
/// As much as the largest request that a service can be configured to take.
const LONGEST: usize = 64 << 20;
