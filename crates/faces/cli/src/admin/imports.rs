//! Keys that are brought in: wrapped to an import key, or sealed as `admin key export` has let them out.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use keywright_custody::ReaderDetail;
use keywright_custody::reader::{FormerName, NonceLen, ObjectId};
use keywright_encoding::{base64, hex};
use keywright_home::{Answer, KEY_TEXT, Order, Wrapped};
use keywright_secret::SecretBytes;
use keywright_types::{KeySpec, KeyVersion, Name};
use serde::Serialize;

use super::order::{give, give_running, unexpected};
use super::seed_service::{self, SeedService};
use super::{OneContext, Tenant};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use crate::place::Home;

#[derive(Debug, clap::Subcommand)]
pub(super) enum ImportCommand {
    /// Make a key to which one other key can be wrapped: for a day, and for as long as the node runs.
    Begin(Begin),
    /// Bring in a key of the seed service (hsm-service), to open and rewrap what that one sealed under it.
    Reader(Box<Reader>),
    /// Move contexts, keys to read with, clients, rights and revocations of the seed service (hsm-service) here.
    SeedService(Box<SeedService>),
}

#[derive(Debug, clap::Args)]
pub(super) struct Reader {
    #[command(flatten)]
    context: OneContext,
    /// The key's label there, which clients keep beside each ciphertext as its key_id.
    #[arg(long, value_name = "LABEL")]
    label: String,
    /// The name that the context had there [default: the name that it has here].
    #[arg(long, value_name = "NAME")]
    former_context: Option<String>,
    /// The mode that the context had there.
    #[arg(long, value_enum)]
    mode: Mode,
    /// Bytes of the nonce in its ciphertexts: 16, or 12 where its wrapper was set to that.
    #[arg(long, value_name = "BYTES", default_value = "16", value_parser = nonce_len)]
    nonce: NonceLen,
    /// Of a key in the token, its CKA_ID; without it, that of the one object with the label.
    #[arg(long, value_name = "HEX", conflicts_with = "wrapped_key")]
    object: Option<ObjectId>,
    /// The key in a file, wrapped to an import key as for `admin context create`; not for contexts in a token.
    #[arg(
        long,
        value_name = "FILE",
        requires = "import_key",
        requires = "check_value"
    )]
    wrapped_key: Option<PathBuf>,
    /// The import key that it is wrapped to, as `admin import begin` has printed it.
    #[arg(long, value_name = "ID", requires = "wrapped_key")]
    import_key: Option<String>,
    /// The first 5 bytes of the key's AES-CMAC over 16 zeros.
    #[arg(long, value_name = "HEX", requires = "wrapped_key")]
    check_value: Option<String>,
}

/// What the seed service put into the associated data besides the context.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Mode {
    /// The client's common name.
    Private,
    /// The client's first organisational unit.
    Shared,
}

impl Mode {
    const fn name(self) -> FormerName {
        match self {
            Self::Private => FormerName::CommonName,
            Self::Shared => FormerName::OrganizationalUnit,
        }
    }
}

pub(super) fn nonce_len(text: &str) -> Result<NonceLen, String> {
    let number: u8 = text.parse().map_err(|_| "it is 12 or 16".to_owned())?;
    NonceLen::try_from(number).map_err(str::to_owned)
}

#[derive(Debug, clap::Args)]
pub(super) struct Begin {
    /// The file to write the public key to, as PEM; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// A wrapped key of a new context.
#[derive(Debug, clap::Args)]
pub(super) struct WrappedOptions {
    /// Take the key's first secret from a file in which it is wrapped to an import key: an AES-256 key under RSA-OAEP
    /// with SHA-256, and behind it the secret under AES-KWP.
    #[arg(
        long,
        value_name = "FILE",
        requires = "import_key",
        requires = "check_value",
        conflicts_with_all = ["key_file", "tree"]
    )]
    wrapped_key: Option<PathBuf>,
    /// The import key that it is wrapped to, as `admin import begin` has printed it.
    #[arg(long, value_name = "ID", requires = "wrapped_key")]
    import_key: Option<String>,
    /// The check value of the secret: the first 5 bytes of its AES-CMAC over 16 zeros; for keys that sign or agree
    /// SHA-256 of the public key's SubjectPublicKeyInfo.
    #[arg(long, value_name = "HEX", requires = "wrapped_key")]
    check_value: Option<String>,
}

/// A key that another home has let out.
#[derive(Debug, clap::Args)]
pub(super) struct SealedOptions {
    /// Take the key's first secret from a file that `admin key export` has written.
    #[arg(
        long,
        value_name = "FILE",
        requires = "sealed_key_file",
        conflicts_with_all = ["key_file", "wrapped_key", "tree"]
    )]
    sealed_key: Option<PathBuf>,
    /// The file with the private key that opens it, as `keywright seal keygen` has written it.
    #[arg(long, value_name = "FILE", requires = "sealed_key")]
    sealed_key_file: Option<PathBuf>,
}

impl SealedOptions {
    /// The secret, if one is given; it has to be one for a context like this.
    pub(super) fn read(&self, spec: &KeySpec) -> Result<Option<SecretBytes>, Failure> {
        let (Some(file), Some(key)) = (&self.sealed_key, &self.sealed_key_file) else {
            return Ok(None);
        };
        let text = crate::seal::open_short(file, key)?;
        let held = Held::parse(&text).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                format!("{} holds no key", file.display()),
                "give the file that `keywright admin key export` has written",
            )
        })?;
        let (purpose, algorithm) = (spec.purpose.to_string(), spec.algorithm.to_string());
        if held.purpose != purpose || held.algorithm != algorithm {
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "the key is for {} with {}, the context for {purpose} with {algorithm}",
                    held.purpose, held.algorithm
                ),
                "make a context of the same kind as that of the key",
            ));
        }
        Ok(Some(held.secret))
    }
}

/// What stands in the file of a key.
struct Held<'a> {
    purpose: &'a str,
    algorithm: &'a str,
    secret: SecretBytes,
}

impl<'a> Held<'a> {
    /// Exactly the four lines that are written, each with its end.
    fn parse(text: &'a SecretBytes) -> Option<Self> {
        let text = std::str::from_utf8(text.expose())
            .ok()?
            .strip_suffix('\n')?;
        let mut lines = text.split('\n');
        if lines.next()? != KEY_TEXT {
            return None;
        }
        let purpose = lines.next()?.strip_prefix("purpose ")?;
        let algorithm = lines.next()?.strip_prefix("algorithm ")?;
        let digits = lines.next()?.strip_prefix("key ")?;
        let secret = SecretBytes::from_vec(hex::decode(digits).ok()?);
        (lines.next().is_none() && !secret.is_empty()).then_some(Self {
            purpose,
            algorithm,
            secret,
        })
    }
}

#[derive(Serialize)]
struct BegunDocument<'a> {
    id: &'a str,
    file: &'a Path,
    not_after: &'a str,
}

pub(super) fn run(home: &Home, command: &ImportCommand, format: Format) -> Result<(), Failure> {
    match command {
        ImportCommand::Begin(words) => begin(home, words, format),
        ImportCommand::Reader(words) => import_reader(home, words, format),
        ImportCommand::SeedService(words) => seed_service::run(home, words, format),
    }
}

#[derive(Serialize)]
struct ReaderDocument<'a> {
    name: &'a Name,
    label: &'a str,
    key_version: KeyVersion,
}

fn import_reader(home: &Home, words: &Reader, format: Format) -> Result<(), Failure> {
    let OneContext {
        name,
        tenant: Tenant { tenant },
    } = &words.context;
    let former = words.former_context.as_deref();
    let reader = ReaderDetail {
        label: words.label.clone(),
        context: former.unwrap_or(name.as_str()).to_owned(),
        name: words.mode.name(),
        nonce: words.nonce,
        object: words.object.clone(),
    };
    let given = (&words.wrapped_key, &words.import_key, &words.check_value);
    let wrapped = read_wrapped(given)?;
    let in_memory = wrapped.is_some();
    let order = Order::ReaderImport {
        tenant: tenant.clone(),
        name: name.clone(),
        reader,
        wrapped,
    };
    let imported = match in_memory {
        true => give_running(home, &order),
        false => give(home, order),
    };
    let Answer::ReaderImported { version } = imported? else {
        return Err(unexpected());
    };
    let document = ReaderDocument {
        name,
        label: &words.label,
        key_version: version,
    };
    output::document(format, &document, || {
        output::fields(&[
            ("name", name.to_string()),
            ("label", words.label.clone()),
            ("key version", version.to_string()),
        ])
    })
}

/// The place is made sure of before the key is made.
fn begin(home: &Home, words: &Begin, format: Format) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::new_file(&words.out, &error);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .open(&words.out)
        .map_err(unwritable)?;
    let begun = give_running(home, &Order::ImportBegin).and_then(|answer| match answer {
        Answer::ImportBegun {
            id,
            public_key,
            not_after,
        } => {
            let done = file.write_all(public_key.as_bytes());
            let done = done.and_then(|()| file.sync_all());
            done.map(|()| (id, not_after)).map_err(unwritable)
        }
        _ => Err(unexpected()),
    });
    if begun.is_err() {
        // An empty file is worse than none.
        drop(std::fs::remove_file(&words.out));
    }
    let (id, not_after) = begun?;
    let document = BegunDocument {
        id: &id,
        file: &words.out,
        not_after: &not_after,
    };
    output::document(format, &document, || {
        output::fields(&[
            ("import key", id.clone()),
            ("file", words.out.display().to_string()),
            ("not after", not_after.clone()),
        ])
    })
}

impl WrappedOptions {
    /// The wrapped key, if one is given.
    pub(super) fn read(&self) -> Result<Option<Wrapped>, Failure> {
        read_wrapped((&self.wrapped_key, &self.import_key, &self.check_value))
    }
}

/// File, import key and check value of a wrapped key.
type Given<'a> = (&'a Option<PathBuf>, &'a Option<String>, &'a Option<String>);

fn read_wrapped(given: Given<'_>) -> Result<Option<Wrapped>, Failure> {
    let (Some(path), Some(import), Some(check)) = given else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::file(path, "read", &error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} has more than {LONGEST} bytes", path.display()),
            "give the wrapped key as bytes: 384 of RSA-OAEP and what AES-KWP made",
        ));
    }
    Ok(Some(Wrapped {
        import: import.clone(),
        key: base64::encode(&bytes),
        check: check.clone(),
    }))
}

/// Bytes of the longest wrapped key that is read; the longest that there is has some thousands.
const LONGEST: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_four_lines_of_a_key_are_one() {
        let whole = "keywright key 1\npurpose mac\nalgorithm hmac-sha-256\nkey 0102\n";
        let parse = |text: &str| {
            let text = SecretBytes::from_vec(text.as_bytes().to_vec());
            Held::parse(&text).map(|held| held.secret.expose().to_vec())
        };
        assert_eq!(parse(whole), Some(vec![1, 2]));
        for (from, to) in [
            ("keywright key 1", "keywright key 2"),
            ("keywright key 1", "keywright seed 1"),
            ("purpose mac\n", ""),
            (
                "purpose mac\nalgorithm hmac-sha-256",
                "algorithm hmac-sha-256\npurpose mac",
            ),
            ("0102", "01 02"),
            ("0102", "010"),
            ("0102", "0A02"),
            ("0102", ""),
            ("0102\n", "0102"),
            ("0102\n", "0102\n\n"),
            ("0102\n", "0102\nkey 03\n"),
        ] {
            assert_eq!(parse(&whole.replacen(from, to, 1)), None, "{to:?}");
        }
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]), None, "{length}");
        }
    }
}
