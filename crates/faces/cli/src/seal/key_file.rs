//! Keys of recipients: made, written as one line of text, and read again.
//!
//! ```text
//! keywright-public-key-1 KEM BASE64        keywright-private-key-1 KEM BASE64
//! ```
//!
//! The word in front tells the two apart, so that a private key is never taken for a public one and passed on.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use keywright_container::{Error, MAX_SLOTS};
use keywright_encoding::base64;
use keywright_hpke::{Admitted, Kem, Policy, PrivateKey, PublicKey};
use keywright_secret::SecretBytes;
use serde::Serialize;

use super::destination::{Destination, Readers};
use super::refused::refused;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

const PUBLIC: &str = "keywright-public-key-1";
const PRIVATE: &str = "keywright-private-key-1";
/// More than a private key of any KEM with its words.
const LONGEST_PRIVATE: u64 = 1 << 10;
/// More than as many recipients as a file can have.
const LONGEST_RECIPIENTS: u64 = 1 << 20;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a key pair: the private key goes to a file, the public key is printed.
    Keygen(Keygen),
    /// Print the public key of a private key.
    Public(Public),
}

#[derive(Debug, clap::Args)]
pub(super) struct Keygen {
    /// The file for the private key, which must not exist.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// What the key is for: x-wing-draft also stands against quantum computers.
    #[arg(long, value_enum, default_value_t = KemName::XWingDraft)]
    kem: KemName,
    /// Write the public key to this file, which must not exist, instead of printing it.
    #[arg(long, value_name = "FILE")]
    public_out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Public {
    /// The file with the private key.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

/// The KEMs of the suites that files are sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KemName {
    /// ML-KEM-768 and X25519 together, as the draft defines them; public keys have 1,700 characters.
    XWingDraft,
    /// X25519.
    X25519,
    /// ECDH over P-256.
    #[value(name = "p-256")]
    P256,
}

impl KemName {
    const ALL: [Self; 3] = [Self::XWingDraft, Self::X25519, Self::P256];

    const fn kem(self) -> Kem {
        match self {
            Self::XWingDraft => Kem::XWingDraft,
            Self::X25519 => Kem::X25519HkdfSha256,
            Self::P256 => Kem::P256HkdfSha256,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::XWingDraft => "x-wing-draft",
            Self::X25519 => "x25519",
            Self::P256 => "p-256",
        }
    }

    fn of(kem: Kem) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.kem() == kem)
    }

    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.word() == word)
    }
}

/// The suites that files are sealed with and opened under: one for each KEM.
pub(super) fn policy() -> Policy {
    Policy::default()
}

/// The suite of files for this key.
pub(super) fn suite(policy: &Policy, to: &PublicKey) -> Result<Admitted, Failure> {
    let suite = policy.suites().iter().find(|suite| suite.kem == to.kem());
    let unknown = keywright_hpke::Error::SuiteRefused;
    let admitted = suite.ok_or(unknown).and_then(|suite| policy.admit(*suite));
    admitted.map_err(|error| refused(error.into()))
}

pub(super) fn run(command: &Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Keygen(arguments) => keygen(arguments, format),
        Command::Public(arguments) => {
            let key = private(&arguments.key_file)?;
            let (kem, text) = (key.kem(), public_line(key.public_key()));
            drop(key);
            tell(kem, Some(text), format)
        }
    }
}

#[derive(Serialize)]
struct Told {
    kem: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

fn keygen(arguments: &Keygen, format: Format) -> Result<Exit, Failure> {
    let kem = arguments.kem.kem();
    let place = Destination::new_only(&arguments.out, Readers::Owner)?;
    let public_place = arguments.public_out.as_deref();
    let public_place = public_place.map(|path| Destination::new_only(path, Readers::AsUsual));
    let public_place = public_place.transpose()?;
    let key = PrivateKey::generate(kem).map_err(|error| refused(error.into()))?;
    let line = private_line(&key)?;
    let text = public_line(key.public_key());
    // The public key first: one without its private key harms nobody, and is taken back below.
    if let Some(place) = &public_place {
        place.write(|out| put(out, format!("{text}\n").as_bytes()))?;
    }
    let written = place.write(|out| put(out, line.expose()));
    if let (Err(_), Some(path)) = (&written, &arguments.public_out) {
        drop(std::fs::remove_file(path));
    }
    written?;
    drop((line, key));
    tell(kem, public_place.is_none().then_some(text), format)
}

fn put(out: &mut &mut dyn std::io::Write, bytes: &[u8]) -> Result<u64, Error> {
    out.write_all(bytes).map_err(Error::Write)?;
    Ok(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
}

fn tell(kem: Kem, public_key: Option<String>, format: Format) -> Result<Exit, Failure> {
    let told = Told {
        kem: word(kem),
        public_key,
    };
    let text = || {
        told.public_key
            .as_ref()
            .map_or_else(String::new, |text| format!("{text}\n"))
    };
    output::document(format, &told, text)?;
    Ok(Exit::Ok)
}

fn word(kem: Kem) -> &'static str {
    KemName::of(kem).map_or("unknown", KemName::word)
}

fn public_line(key: &PublicKey) -> String {
    format!(
        "{PUBLIC} {} {}",
        word(key.kem()),
        base64::encode(key.as_bytes())
    )
}

fn private_line(key: &PrivateKey) -> Result<SecretBytes, Failure> {
    let bytes = key.to_bytes().map_err(|error| refused(error.into()))?;
    let digits = SecretBytes::from_vec(base64::encode_secret(bytes.expose()).into_bytes());
    let front = format!("{PRIVATE} {} ", word(key.kem()));
    let mut line = Vec::with_capacity(front.len() + digits.len() + 1);
    line.extend_from_slice(front.as_bytes());
    line.extend_from_slice(digits.expose());
    line.push(b'\n');
    Ok(SecretBytes::from_vec(line))
}

/// The private key in a file that nobody but its owner can read.
pub(super) fn private(path: &Path) -> Result<PrivateKey, Failure> {
    let text = bounded(path, LONGEST_PRIVATE, Secrecy::Private)?;
    let line = std::str::from_utf8(text.expose()).unwrap_or_default();
    let wrong = || {
        let public = line.starts_with(PUBLIC);
        let happened = if public {
            "holds a public key"
        } else {
            "holds no private key"
        };
        Failure::new(
            Exit::Usage,
            format!("{} {happened}", path.display()),
            "give the file that `keywright seal keygen --out` has written",
        )
    };
    let (kem, bytes) = parse(PRIVATE, line.trim_ascii()).ok_or_else(wrong)?;
    PrivateKey::from_bytes(kem, &bytes).map_err(|_| wrong())
}

/// The public keys in all of these files.
pub(super) fn recipients(paths: &[PathBuf]) -> Result<Vec<PublicKey>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let text = bounded(path, LONGEST_RECIPIENTS, Secrecy::Public)?;
        let text = std::str::from_utf8(text.expose()).unwrap_or("?");
        let before = found.len();
        let lines = text.lines().map(str::trim_ascii).enumerate();
        for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
            found.push(recipient(line).ok_or_else(|| no_recipient(path, index, line))?);
        }
        if found.len() == before {
            return Err(no_recipient(path, 0, ""));
        }
    }
    match found.len() {
        0 => Err(Failure::new(
            Exit::Usage,
            "no recipient is named",
            "give --recipient FILE with a public key; `keywright seal keygen` makes one",
        )),
        1..=MAX_SLOTS => Ok(found),
        many => Err(refused(Error::SlotCount(many))),
    }
}

fn recipient(line: &str) -> Option<PublicKey> {
    let (kem, bytes) = parse(PUBLIC, line)?;
    PublicKey::from_bytes(kem, bytes.expose()).ok()
}

fn no_recipient(path: &Path, index: usize, line: &str) -> Failure {
    let (happened, advice) = if line.starts_with(PRIVATE) {
        (
            "is a private key",
            "keep it to yourself; `keywright seal public --key-file FILE` prints the public key to give here",
        )
    } else {
        (
            "is no public key",
            "give what `keywright seal keygen` has printed, one key on a line",
        )
    };
    let place = path.display();
    Failure::new(
        Exit::Usage,
        format!("line {} of {place} {happened}", index + 1),
        advice,
    )
}

/// KEM and bytes of one line.
fn parse(what: &str, line: &str) -> Option<(Kem, SecretBytes)> {
    let mut words = line.split(' ');
    let (front, kem, digits) = (words.next()?, words.next()?, words.next()?);
    if front != what || words.next().is_some() {
        return None;
    }
    let bytes = SecretBytes::from_vec(base64::decode_secret(digits).ok()?);
    Some((KemName::named(kem)?.kem(), bytes))
}

/// Whether others may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    Private,
    Public,
}

fn bounded(path: &Path, longest: u64, secrecy: Secrecy) -> Result<SecretBytes, Failure> {
    let failed = |error| Failure::file(path, "read", &error);
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if secrecy == Secrecy::Private && about.is_file() && about.permissions().mode() & 0o077 != 0 {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} can be read by others", path.display()),
            "run chmod 600 on it",
        ));
    }
    // Room from the beginning, so that growing leaves no copy behind.
    let room = if secrecy == Secrecy::Private {
        longest + 1
    } else {
        0
    };
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    let read = file.take(longest + 1).read_to_end(&mut bytes);
    let bytes = SecretBytes::from_vec(bytes);
    read.map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= longest) {
        return Ok(bytes);
    }
    Err(Failure::new(
        Exit::Usage,
        format!("{} is too long to hold keys", path.display()),
        "give a file that `keywright seal keygen` has written",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_nothing_that_is_nearly_one() {
        for name in KemName::ALL {
            let key = PrivateKey::generate(name.kem()).unwrap();
            let line = public_line(key.public_key());
            assert_eq!(recipient(&line).as_ref(), Some(key.public_key()));
            for wrong in [
                line.replace("public", "private"),
                line.replace("key-1", "key-2"),
                line.replace(name.word(), "x448"),
                line.replace(' ', "  "),
                format!("{line} more"),
                format!("{line}="),
                line[..line.len() - 4].to_owned(),
                line.replacen(' ', "", 1),
                String::new(),
            ] {
                assert!(recipient(&wrong).is_none(), "{wrong}");
            }
            for other in KemName::ALL.into_iter().filter(|other| *other != name) {
                let wrong = line.replace(name.word(), other.word());
                assert!(recipient(&wrong).is_none(), "{wrong}");
            }
        }
    }
}
