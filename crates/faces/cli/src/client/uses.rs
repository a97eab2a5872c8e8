//! `client sign`, `verify`, `agree`, `public-key`, `xpub`, `key-export`, `mac` and `mac-verify`.

use keywright_client::{Sign, SignatureForm, Signing, Verify, Which};
use keywright_encoding::base64;
use keywright_secret::SecretBytes;
use keywright_types::{KeyVersion, Name};
use serde::Serialize;

use super::connection::Connection;
use super::destination::{Output, Readers};
use super::input::Input;
use super::{as_text, secret_base64, with_line_end};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// A context, and who asks.
#[derive(Debug, clap::Args)]
struct Target {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
}

/// Where a key lies.
#[derive(Debug, clap::Args)]
struct KeyPath {
    /// Where the key lies, such as m/44'/0'/7', if the context is a tree of keys.
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Message {
    #[command(flatten)]
    input: Input,
    /// The input is a digest of 32 bytes (48 for P-384, 64 for P-521), and not a message.
    #[arg(long)]
    digest: bool,
    /// The form of the signature [default: the usual one of the key].
    #[arg(long, value_enum)]
    form: Option<FormName>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormName {
    Ecdsa,
    /// With a byte more from which the public key can be computed.
    EcdsaRecoverable,
    Ed25519,
    /// BIP-340.
    Schnorr,
}

impl FormName {
    const fn form(self) -> SignatureForm {
        match self {
            Self::Ecdsa => SignatureForm::Ecdsa,
            Self::EcdsaRecoverable => SignatureForm::EcdsaRecoverable,
            Self::Ed25519 => SignatureForm::Ed25519,
            Self::Schnorr => SignatureForm::Schnorr,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct SignWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    message: Message,
    #[command(flatten)]
    path: KeyPath,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
pub(super) struct VerifyWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    message: Message,
    #[command(flatten)]
    path: KeyPath,
    /// The signature, in base64.
    #[arg(long, value_name = "BASE64")]
    signature: String,
    /// The version that `sign` answered.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: u32,
}

#[derive(Debug, clap::Args)]
pub(super) struct AgreeWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    path: KeyPath,
    /// The other's public key, in base64.
    #[arg(long, value_name = "BASE64")]
    peer: String,
    /// The version to use [default: the active one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: Option<u32>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
pub(super) struct PublicKeyWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    path: KeyPath,
    /// The version to show [default: the active one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(super) struct PathWords {
    #[command(flatten)]
    target: Target,
    /// Where the key lies, such as m/44'/0'/7'.
    #[arg(long, value_name = "PATH")]
    path: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExportWords {
    #[command(flatten)]
    words: PathWords,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
pub(super) struct MacWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
pub(super) struct MacVerifyWords {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
    /// The code, in base64.
    #[arg(long, value_name = "BASE64")]
    mac: String,
    /// The version that `mac` answered.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: u32,
}

#[derive(Serialize)]
struct SignedDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct VerifiedDocument {
    valid: bool,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct SecretDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct PublicKeyDocument<'a> {
    public_key: String,
    jwk: &'a std::collections::BTreeMap<String, String>,
    pem: &'a str,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct XpubDocument<'a> {
    xpub: &'a str,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct ExportDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    private_key: Option<&'a str>,
    scheme: &'a str,
    seed: &'a str,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct MacDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
    key_version: KeyVersion,
}

impl Message {
    fn signing<'a>(&self, bytes: &'a SecretBytes, path: &'a KeyPath) -> Sign<'a> {
        Sign {
            what: match self.digest {
                true => Signing::Digest(bytes.expose()),
                false => Signing::Message(bytes.expose()),
            },
            path: path.path.as_deref(),
            form: self.form.map(FormName::form),
        }
    }
}

/// The version goes to standard error, where it is in the way of nothing.
fn tell(format: Format, word: &str, version: KeyVersion) {
    if format == Format::Text {
        message!("key version {version}: {word} must be told");
    }
}

pub(super) fn sign(words: &SignWords, format: Format) -> Result<Exit, Failure> {
    let bytes = words.message.input.read()?;
    let destination = words.output.prepare(Readers::AsUsual)?;
    let item = words.message.signing(&bytes, &words.path);
    let client = words.target.connection.open()?;
    let signed = client.sign(&words.target.context, item)?;
    let text = base64::encode(&signed.signature);
    tell(format, "verify", signed.key_version);
    destination.deliver(format!("{text}\n").as_bytes(), format, |placed| {
        SignedDocument {
            signature: placed.in_document().then_some(text.clone()),
            key_version: signed.key_version,
        }
    })
}

pub(super) fn verify(words: &VerifyWords, format: Format) -> Result<Exit, Failure> {
    let bytes = words.message.input.read()?;
    let signature = binary("--signature", &words.signature)?;
    let item = Verify {
        signed: words.message.signing(&bytes, &words.path),
        signature: &signature,
        key_version: KeyVersion::from_number(words.key_version),
    };
    let client = words.target.connection.open()?;
    fits(
        client.verify(&words.target.context, item)?,
        "signature",
        format,
    )
}

fn fits(verified: keywright_client::Verified, what: &str, format: Format) -> Result<Exit, Failure> {
    let document = VerifiedDocument {
        valid: verified.valid,
        key_version: verified.key_version,
    };
    if !verified.valid && format != Format::Json {
        return Err(Failure::new(
            Exit::Negative,
            format!("the {what} does not fit"),
            "give the same input, form, path and version as when it was made",
        ));
    }
    output::document(format, &document, || format!("the {what} fits\n"))?;
    Ok(if verified.valid {
        Exit::Ok
    } else {
        Exit::Negative
    })
}

pub(super) fn agree(words: &AgreeWords, format: Format) -> Result<Exit, Failure> {
    let peer = binary("--peer", &words.peer)?;
    let destination = words.output.prepare(Readers::Owner)?;
    let which = Which {
        path: words.path.path.as_deref(),
        key_version: words.key_version.map(KeyVersion::from_number),
    };
    let client = words.target.connection.open()?;
    let agreed = client.agree(&words.target.context, &peer, which)?;
    let text = secret_base64(&agreed.secret);
    let line = with_line_end(&text);
    destination.deliver(line.expose(), format, |placed| SecretDocument {
        secret: placed.in_document().then(|| as_text(&text)),
        key_version: agreed.key_version,
    })
}

pub(super) fn public_key(words: &PublicKeyWords, format: Format) -> Result<Exit, Failure> {
    let which = Which {
        path: words.path.path.as_deref(),
        key_version: words.key_version.map(KeyVersion::from_number),
    };
    let client = words.target.connection.open()?;
    let key = client.public_key(&words.target.context, which)?;
    let document = PublicKeyDocument {
        public_key: base64::encode(&key.public_key),
        jwk: &key.jwk,
        pem: &key.pem,
        key_version: key.key_version,
    };
    output::document(format, &document, || key.pem.clone())?;
    Ok(Exit::Ok)
}

pub(super) fn xpub(words: &PathWords, format: Format) -> Result<Exit, Failure> {
    let client = words.target.connection.open()?;
    let key = client.xpub(&words.target.context, &words.path)?;
    let document = XpubDocument {
        xpub: &key.xpub,
        key_version: key.key_version,
    };
    output::document(format, &document, || format!("{}\n", key.xpub))?;
    Ok(Exit::Ok)
}

pub(super) fn export(words: &ExportWords, format: Format) -> Result<Exit, Failure> {
    let destination = words.output.prepare(Readers::Owner)?;
    let PathWords { target, path } = &words.words;
    let key = target
        .connection
        .open()?
        .key_export(&target.context, path)?;
    if format == Format::Text {
        message!(
            "scheme {}, seed {}: keep them with the key",
            key.scheme,
            key.seed
        );
    }
    let text = secret_base64(&key.private_key);
    let line = with_line_end(&text);
    destination.deliver(line.expose(), format, |placed| ExportDocument {
        private_key: placed.in_document().then(|| as_text(&text)),
        scheme: &key.scheme,
        seed: &key.seed,
        key_version: key.key_version,
    })
}

pub(super) fn mac(words: &MacWords, format: Format) -> Result<Exit, Failure> {
    let bytes = words.input.read()?;
    let destination = words.output.prepare(Readers::AsUsual)?;
    let client = words.target.connection.open()?;
    let made = client.mac(&words.target.context, bytes.expose())?;
    let text = base64::encode(&made.mac);
    tell(format, "mac-verify", made.key_version);
    destination.deliver(format!("{text}\n").as_bytes(), format, |placed| {
        MacDocument {
            mac: placed.in_document().then_some(text.clone()),
            key_version: made.key_version,
        }
    })
}

pub(super) fn mac_verify(words: &MacVerifyWords, format: Format) -> Result<Exit, Failure> {
    let bytes = words.input.read()?;
    let mac = binary("--mac", &words.mac)?;
    let version = KeyVersion::from_number(words.key_version);
    let client = words.target.connection.open()?;
    let verified = client.mac_verify(&words.target.context, bytes.expose(), &mac, version)?;
    fits(verified, "code", format)
}

fn binary(flag: &str, text: &str) -> Result<Vec<u8>, Failure> {
    base64::decode(text.trim()).map_err(|_| {
        Failure::new(
            Exit::Usage,
            format!("{flag} is not base64"),
            "give what the command printed, standard base64 with padding",
        )
    })
}
