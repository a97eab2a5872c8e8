//! Secrets that a command reads: from a file or standard input, wiped after use.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_secret::SecretBytes;

use crate::exit::{Exit, Failure};
use crate::place::standard_input;

/// More than any password, mnemonic or seed; messages have a bound of their own.
const LONGEST: usize = 64 << 10;

/// More than a message that anyone signs whole.
const LONGEST_MESSAGE: usize = 64 << 20;

/// A password in a file.
#[derive(Debug, clap::Args)]
pub(super) struct Password {
    /// The file with the password of the seed file, on one line.
    #[arg(long, value_name = "FILE")]
    password_file: PathBuf,
}

impl Password {
    /// The password in another file.
    pub(super) fn of(file: &Path) -> Self {
        Self {
            password_file: file.to_owned(),
        }
    }

    /// As for the password of a home, nobody but its owner may be able to read the file.
    pub(super) fn read(&self) -> Result<SecretBytes, Failure> {
        let file = &self.password_file;
        let metadata =
            std::fs::metadata(file).map_err(|error| Failure::file(file, "read", &error))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(Failure::new(
                Exit::Usage,
                format!("{} can be read by others", file.display()),
                "run chmod 600 on it",
            ));
        }
        let password = line(file)?;
        match password.is_empty() {
            true => Err(Failure::new(
                Exit::Usage,
                format!("{} holds no password", file.display()),
                "put the password into it, on one line",
            )),
            false => Ok(password),
        }
    }
}

/// The first line of a file, without its end; more than one is refused.
pub(super) fn line(path: &Path) -> Result<SecretBytes, Failure> {
    let bytes = bounded(path, LONGEST)?;
    let text = bytes.expose();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    match text.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
        true => Err(Failure::new(
            Exit::Usage,
            format!("{} has more than one line", path.display()),
            "keep one line in it",
        )),
        false => Ok(SecretBytes::from_vec(text.to_vec())),
    }
}

/// The text of a file or, for `-`, of standard input.
pub(super) fn text(path: &Path) -> Result<SecretBytes, Failure> {
    let bytes = bounded(path, LONGEST)?;
    match std::str::from_utf8(bytes.expose()) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(Failure::new(
            Exit::Usage,
            format!("{} is not text in UTF-8", shown(path)),
            "give words, or hexadecimal digits",
        )),
    }
}

/// A message to sign or verify.
pub(super) fn message(path: &Path) -> Result<SecretBytes, Failure> {
    bounded(path, LONGEST_MESSAGE)
}

/// Bytes in hexadecimal digits of either case, with white space around them.
pub(super) fn digits(text: &SecretBytes) -> Option<SecretBytes> {
    let text = std::str::from_utf8(text.expose()).ok()?.trim_ascii();
    let lower = SecretBytes::from_vec(text.to_ascii_lowercase().into_bytes());
    let bytes = hex::decode(std::str::from_utf8(lower.expose()).ok()?).ok()?;
    Some(SecretBytes::from_vec(bytes))
}

fn bounded(path: &Path, longest: usize) -> Result<SecretBytes, Failure> {
    let read = match path == Path::new("-") {
        true => all(&mut standard_input()?, longest),
        false => File::open(path).and_then(|mut file| all(&mut file, longest)),
    };
    let read = read.map_err(|error| Failure::file(Path::new(&shown(path)), "read", &error))?;
    read.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{} has more than {longest} bytes", shown(path)),
            "give what the command asks for, alone",
        )
    })
}

fn shown(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// Grows by doubling into fresh memory and wipes the old one; a vector would leave it behind.
fn all(source: &mut dyn Read, longest: usize) -> std::io::Result<Option<SecretBytes>> {
    let mut bytes = SecretBytes::zeroed(4 << 10);
    let mut length = 0;
    loop {
        if length == bytes.len() {
            let mut larger = SecretBytes::zeroed(length * 2);
            larger.expose_mut()[..length].copy_from_slice(bytes.expose());
            bytes = larger;
        }
        match source.read(&mut bytes.expose_mut()[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length > longest {
            return Ok(None);
        }
    }
    Ok(Some(SecretBytes::from_vec(
        bytes.expose()[..length].to_vec(),
    )))
}
