//! `keywright client`: one call of a key service.
//!
//! Files are looked at before the service is called, so that a mistake in them costs no key and no
//! audit record. Not here: batches of files and local encryption under data keys.

pub(crate) mod connection;
mod destination;
mod input;
mod keys;
mod streams;
mod tokens;
mod uses;

use std::path::PathBuf;

use keywright_api::answer::{HealthAnswer, Readiness};
use keywright_client::{DataKey, Open, Opened, Seal, Sealed};
use keywright_encoding::base64;
use keywright_secret::SecretBytes;
use keywright_types::{DataKeyId, KeyVersion, Name};
use serde::Serialize;

use crate::client::connection::Connection;
use crate::client::destination::{FileDestination, Output, Readers};
use crate::client::input::{Aad, Input};
use crate::client::streams::{Call, Way};
use crate::confirm::Yes;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Use a key service: encrypt, decrypt, tokens of values, signatures, codes, data keys, random bytes, health.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a secret with the owner of a public key.
    Agree(uses::AgreeWords),
    /// List the contexts on which this client has a right.
    Contexts(Bare),
    /// Make a data key: its id, the key wrapped by the context, and when to take a new one.
    Datakey(Datakey),
    /// Open a wrapped data key.
    DatakeyOpen(DatakeyOpen),
    /// Open a ciphertext, given as base64 or as the envelope's bytes.
    Decrypt(DecryptWords),
    /// Open a ciphertext of `deterministic-encrypt`.
    DeterministicDecrypt(Decrypt),
    /// Seal bytes so that equal ones look alike: whoever sees two ciphertexts sees whether the texts are equal.
    DeterministicEncrypt(Encrypt),
    /// Make values of tokens, one on each line.
    Detokenize(tokens::OfTokens),
    /// Seal bytes under a context's key.
    Encrypt(EncryptWords),
    /// Say how the service is; exit code 5 if it is degraded.
    Health(Bare),
    /// The versions of a context's key: versions, rotate, suspend, destroy, approve.
    #[command(subcommand)]
    Key(keys::KeyCommand),
    /// Let a private key of a tree out, where its context and the policy allow that.
    KeyExport(uses::ExportWords),
    /// Make a message authentication code.
    Mac(uses::MacWords),
    /// Look whether a message authentication code fits; exit code 8 if it does not.
    MacVerify(uses::MacVerifyWords),
    /// Show what a context's mask leaves of the values of tokens, one on each line.
    Mask(tokens::OfTokens),
    /// Show a public key, as PEM.
    PublicKey(uses::PublicKeyWords),
    /// Take random bytes from the service.
    Random(Random),
    /// Seal a ciphertext again under the newest version, without opening it here.
    Rewrap(Encrypt),
    /// Sign a message or a digest.
    Sign(uses::SignWords),
    /// Make tokens of values, one on each line: values of the same format.
    #[command(alias = "tokenise")]
    Tokenize(tokens::Tokenize),
    /// Look whether a signature fits; exit code 8 if it does not.
    Verify(uses::VerifyWords),
    /// Show an extended public key of a tree that hands them out.
    Xpub(uses::PathWords),
}

#[derive(Debug, clap::Args)]
struct Bare {
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, clap::Args)]
struct Encrypt {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    aad: Aad,
    /// Write the envelope's bytes instead of base64; a JSON document always has base64.
    #[arg(long)]
    raw: bool,
}

#[derive(Debug, clap::Args)]
struct EncryptWords {
    #[command(flatten)]
    encrypt: Encrypt,
    /// Seal bytes of any number as they come, in constant memory; what is written is the envelope's bytes.
    #[arg(long)]
    stream: bool,
}

#[derive(Debug, clap::Args)]
struct Decrypt {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    aad: Aad,
}

#[derive(Debug, clap::Args)]
struct DecryptWords {
    #[command(flatten)]
    decrypt: Decrypt,
    /// Open a stream of any length as it comes, in constant memory. A file is written only if all of it opens.
    #[arg(long)]
    stream: bool,
}

#[derive(Debug, clap::Args)]
struct Datakey {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    aad: Aad,
    #[command(flatten)]
    plain: PlainKey,
}

#[derive(Debug, clap::Args)]
struct DatakeyOpen {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    aad: Aad,
    #[command(flatten)]
    plain: PlainKey,
}

/// Where a plain key may go. Without either it is not asked for.
#[derive(Debug, clap::Args)]
struct PlainKey {
    /// Write the 32 bytes of the plain key to this file, readable by you alone.
    #[arg(long, value_name = "FILE")]
    key_out: Option<PathBuf>,
    /// Print the plain key in base64.
    #[arg(long)]
    plain: bool,
    /// Overwrite the key file if it exists.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
struct Random {
    /// How many bytes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    bytes: u64,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    output: Output,
    /// Write the bytes instead of base64; a JSON document always has base64.
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Agree(words) => uses::agree(&words, format),
        Command::Contexts(arguments) => contexts(&arguments, format),
        Command::Datakey(arguments) => datakey(&arguments, format),
        Command::DatakeyOpen(arguments) => datakey_open(&arguments, format),
        Command::Decrypt(arguments) => decrypt(&arguments, format),
        Command::DeterministicDecrypt(arguments) => deterministic_decrypt(&arguments, format),
        Command::DeterministicEncrypt(arguments) => deterministic_encrypt(&arguments, format),
        Command::Detokenize(arguments) => tokens::detokenize(&arguments, format),
        Command::Encrypt(arguments) => encrypt(&arguments, format),
        Command::Health(arguments) => health(&arguments, format),
        Command::Key(command) => keys::run(command, format),
        Command::KeyExport(words) => uses::export(&words, format),
        Command::Mac(words) => uses::mac(&words, format),
        Command::MacVerify(words) => uses::mac_verify(&words, format),
        Command::Mask(arguments) => tokens::mask(&arguments, format),
        Command::PublicKey(words) => uses::public_key(&words, format),
        Command::Random(arguments) => random(&arguments, format),
        Command::Rewrap(arguments) => rewrap(&arguments, format),
        Command::Sign(words) => uses::sign(&words, format),
        Command::Tokenize(arguments) => tokens::tokenize(&arguments, format),
        Command::Verify(words) => uses::verify(&words, format),
        Command::Xpub(words) => uses::xpub(&words, format),
    }
}

// === messages ===

#[derive(Serialize)]
struct SealedDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext: Option<String>,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct OpenedDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<&'a str>,
    key_version: KeyVersion,
}

fn encrypt(words: &EncryptWords, format: Format) -> Result<Exit, Failure> {
    let arguments = &words.encrypt;
    if words.stream {
        let call = Call {
            context: &arguments.context,
            connection: &arguments.connection,
            input: &arguments.input,
            output: &arguments.output,
            aad: &arguments.aad,
        };
        return streams::run(&call, Way::Seal, format);
    }
    let (plaintext, aad) = (arguments.input.read()?, arguments.aad.read()?);
    seal(arguments, format, |client| {
        let item = Seal {
            plaintext: plaintext.expose(),
            aad: aad.as_deref(),
        };
        client.encrypt(&arguments.context, item)
    })
}

fn deterministic_encrypt(arguments: &Encrypt, format: Format) -> Result<Exit, Failure> {
    let (plaintext, aad) = (arguments.input.read()?, arguments.aad.read()?);
    seal(arguments, format, |client| {
        let item = Seal {
            plaintext: plaintext.expose(),
            aad: aad.as_deref(),
        };
        client.deterministic_encrypt(&arguments.context, item)
    })
}

fn rewrap(arguments: &Encrypt, format: Format) -> Result<Exit, Failure> {
    let (ciphertext, aad) = (arguments.input.read_ciphertext()?, arguments.aad.read()?);
    seal(arguments, format, |client| {
        let item = Open {
            ciphertext: &ciphertext.0,
            aad: aad.as_deref(),
        };
        client.rewrap(&arguments.context, item)
    })
}

fn seal(
    arguments: &Encrypt,
    format: Format,
    call: impl FnOnce(&keywright_client::blocking::Client) -> Result<Sealed, keywright_client::Error>,
) -> Result<Exit, Failure> {
    let destination = arguments.output.prepare(Readers::AsUsual)?;
    let sealed = call(&arguments.connection.open()?)?;
    let text = base64::encode(&sealed.ciphertext);
    let document = |ciphertext| SealedDocument {
        ciphertext,
        key_version: sealed.key_version,
    };
    let bytes = if arguments.raw {
        sealed.ciphertext.clone()
    } else {
        format!("{text}\n").into_bytes()
    };
    destination.deliver(&bytes, format, |placed| {
        document(placed.in_document().then_some(text))
    })
}

fn decrypt(words: &DecryptWords, format: Format) -> Result<Exit, Failure> {
    let arguments = &words.decrypt;
    if words.stream {
        let call = Call {
            context: &arguments.context,
            connection: &arguments.connection,
            input: &arguments.input,
            output: &arguments.output,
            aad: &arguments.aad,
        };
        return streams::run(&call, Way::Open, format);
    }
    open(arguments, format, |client, item| {
        client.decrypt(&arguments.context, item)
    })
}

fn deterministic_decrypt(arguments: &Decrypt, format: Format) -> Result<Exit, Failure> {
    open(arguments, format, |client, item| {
        client.deterministic_decrypt(&arguments.context, item)
    })
}

type OpenedOr = Result<Opened, keywright_client::Error>;

fn open(
    arguments: &Decrypt,
    format: Format,
    call: impl FnOnce(&keywright_client::blocking::Client, Open<'_>) -> OpenedOr,
) -> Result<Exit, Failure> {
    let (ciphertext, aad) = (arguments.input.read_ciphertext()?, arguments.aad.read()?);
    let destination = arguments.output.prepare(Readers::Owner)?;
    let item = Open {
        ciphertext: &ciphertext.0,
        aad: aad.as_deref(),
    };
    let opened = call(&arguments.connection.open()?, item)?;
    let text = secret_base64(&opened.plaintext);
    destination.deliver(opened.plaintext.expose(), format, |placed| OpenedDocument {
        plaintext: placed.in_document().then(|| as_text(&text)),
        key_version: opened.key_version,
    })
}

// === data keys ===

#[derive(Serialize)]
struct KeyDocument<'a> {
    id: DataKeyId,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrapped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<&'a str>,
    key_version: KeyVersion,
    not_after: &'a str,
}

impl KeyDocument<'_> {
    fn print(&self, format: Format) -> Result<Exit, Failure> {
        output::document(format, self, || {
            let mut rows = vec![("id", self.id.to_string())];
            rows.extend(self.wrapped.clone().map(|wrapped| ("wrapped", wrapped)));
            rows.extend(self.plain.map(|plain| ("plain", plain.to_owned())));
            rows.push(("key version", self.key_version.to_string()));
            rows.push(("not after", self.not_after.to_owned()));
            output::fields(&rows)
        })?;
        Ok(Exit::Ok)
    }
}

impl PlainKey {
    fn is_wanted(&self) -> bool {
        self.plain || self.key_out.is_some()
    }

    fn file(&self) -> Result<Option<FileDestination>, Failure> {
        let file =
            |path: &PathBuf| FileDestination::new(path, Yes { yes: self.yes }, Readers::Owner);
        self.key_out.as_ref().map(file).transpose()
    }

    /// Puts the key where it was asked for; gives back what is to be printed.
    fn hand_out(
        &self,
        file: Option<FileDestination>,
        key: &SecretBytes,
    ) -> Result<Option<SecretBytes>, Failure> {
        if let Some(file) = file {
            file.write(key.expose())?;
        }
        Ok(self.plain.then(|| secret_base64(key)))
    }
}

fn datakey(arguments: &Datakey, format: Format) -> Result<Exit, Failure> {
    let (aad, file) = (arguments.aad.read()?, arguments.plain.file()?);
    let client = arguments.connection.open()?;
    let DataKey {
        id,
        plaintext,
        ciphertext,
        key_version,
        not_after,
        ..
    } = match arguments.plain.is_wanted() {
        true => client.datakey(&arguments.context, aad.as_deref())?,
        false => client.datakey_wrapped(&arguments.context, aad.as_deref())?,
    };
    let plain = match &plaintext {
        Some(key) => arguments.plain.hand_out(file, key)?,
        None => None,
    };
    let wrapped = Some(base64::encode(&ciphertext));
    let plain = plain.as_ref().map(as_text);
    KeyDocument {
        id,
        wrapped,
        plain,
        key_version,
        not_after: &not_after,
    }
    .print(format)
}

fn datakey_open(arguments: &DatakeyOpen, format: Format) -> Result<Exit, Failure> {
    if !arguments.plain.is_wanted() {
        let happened = "it is not said where the plain key goes";
        return Err(Failure::new(
            Exit::Usage,
            happened,
            "give --key-out FILE, or --plain to print it",
        ));
    }
    let (ciphertext, aad) = (arguments.input.read_ciphertext()?, arguments.aad.read()?);
    let file = arguments.plain.file()?;
    let item = Open {
        ciphertext: &ciphertext.0,
        aad: aad.as_deref(),
    };
    let opened = arguments
        .connection
        .open()?
        .datakey_open(&arguments.context, item)?;
    let plain = arguments.plain.hand_out(file, &opened.plaintext)?;
    let (id, key_version, not_after) = (opened.id, opened.key_version, &opened.not_after);
    let plain = plain.as_ref().map(as_text);
    KeyDocument {
        id,
        wrapped: None,
        plain,
        key_version,
        not_after,
    }
    .print(format)
}

// === the rest ===

#[derive(Serialize)]
struct RandomDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    random: Option<&'a str>,
}

fn random(arguments: &Random, format: Format) -> Result<Exit, Failure> {
    let destination = arguments.output.prepare(Readers::Owner)?;
    let random = arguments.connection.open()?.random(arguments.bytes)?;
    if random.len() as u64 != arguments.bytes {
        return Err(Failure::broken(
            "the service gave another number of random bytes than asked for",
        ));
    }
    let text = secret_base64(&random);
    let line = with_line_end(&text);
    let bytes = if arguments.raw { &random } else { &line };
    destination.deliver(bytes.expose(), format, |placed| RandomDocument {
        random: placed.in_document().then(|| as_text(&text)),
    })
}

fn contexts(arguments: &Bare, format: Format) -> Result<Exit, Failure> {
    let answer = arguments.connection.open()?.contexts()?;
    output::document(format, &answer, || {
        let heading = ["name", "id", "active", "versions"]
            .map(str::to_owned)
            .to_vec();
        let row = |context: &keywright_api::answer::ContextEntry| {
            let active = context
                .active_version
                .map_or_else(|| "-".to_owned(), |version| version.to_string());
            vec![
                context.name.to_string(),
                context.id.to_string(),
                active,
                context.versions.len().to_string(),
            ]
        };
        let rows: Vec<_> = std::iter::once(heading)
            .chain(answer.contexts.iter().map(row))
            .collect();
        output::table(&rows)
    })?;
    Ok(Exit::Ok)
}

fn health(arguments: &Bare, format: Format) -> Result<Exit, Failure> {
    let answer = arguments.connection.open()?.health()?;
    output::document(format, &answer, || {
        let HealthAnswer {
            status,
            holder,
            unfit_keys,
            audit,
            store,
            certificates,
            clock,
            memory,
            epoch,
        } = answer;
        let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        output::fields(&[
            ("status", word(&status)),
            ("holder", word(&holder)),
            ("unfit keys", unfit_keys.to_string()),
            ("audit", word(&audit)),
            ("store", word(&store)),
            ("certificates", word(&certificates)),
            ("clock", word(&clock)),
            ("memory", word(&memory)),
            ("epoch", epoch.to_string()),
        ])
    })?;
    match answer.status {
        Readiness::Ready => Ok(Exit::Ok),
        Readiness::Degraded => Ok(Exit::Target),
    }
}

/// Base64 of a secret, as wiped as the secret.
fn secret_base64(secret: &SecretBytes) -> SecretBytes {
    SecretBytes::from_vec(base64::encode_secret(secret.expose()).into_bytes())
}

fn with_line_end(text: &SecretBytes) -> SecretBytes {
    let mut line = SecretBytes::zeroed(text.len() + 1);
    line.expose_mut()[..text.len()].copy_from_slice(text.expose());
    line.expose_mut()[text.len()] = b'\n';
    line
}

fn as_text(text: &SecretBytes) -> &str {
    // Base64 is ASCII.
    std::str::from_utf8(text.expose()).unwrap_or_default()
}
