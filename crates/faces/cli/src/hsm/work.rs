//! The commands that put keys to work: sign, verify, encrypt, decrypt, encrypt-symmetric, decrypt-symmetric.

use std::path::PathBuf;

use keywright_hsm::oaep::Padding;
use keywright_hsm::sealing::{self, Cipher, Layout, Sealing};
use keywright_hsm::signing::{self, Check, Given, How, Scheme, SignatureForm};
use keywright_hsm::{Access, Desk, Error, Hash, Kind};
use keywright_hsm::{hybrid, oaep};
use serde_json::{Value, json};

use super::answer::{Answer, Beside, Refusal};
use super::files::{self, Input, Output};
use super::make::HashName;
use super::pin::UserPin;
use super::place::{Entry, Key, KeyName, Place};

/// A token, a PIN, a key.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    pub(super) input: Input,
}

impl KeyWords {
    /// The key that is named.
    pub(super) fn key(&self) -> Result<KeyName<'_>, Refusal> {
        self.place.key(&self.key)
    }

    /// A session with the token of this key.
    pub(super) fn desk(
        &self,
        entry: Entry,
        key: &KeyName<'_>,
        beside: &mut Beside,
    ) -> Result<Desk, Refusal> {
        self.place
            .desk(beside, &self.pin, (Access::Read, entry), &[key])
    }

    /// What came of verifying. What does not fit is a result as well, with the failure beside it.
    pub(super) fn verified(
        &self,
        operation: &str,
        key: &KeyName<'_>,
        report: Result<impl serde::Serialize, Error>,
    ) -> Result<Answer, Refusal> {
        match report {
            Ok(report) => Ok(Answer::of(&self.told(report))),
            Err(error) if error.kind() == Kind::Negative => {
                let label = key.choice().name();
                let data = json!({ "operation": operation, "key_label": label, "verification": "invalid" });
                Ok(Answer::of(&self.told(data)).text("").but(error.into()))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn told(&self, report: impl serde::Serialize) -> Value {
        let mut data = serde_json::to_value(report).unwrap_or_default();
        data["input_file"] = json!(self.input.name());
        data
    }
}

/// How to sign.
#[derive(Debug, clap::Args)]
pub(crate) struct HowWords {
    /// The scheme [default: pkcs1v15 for RSA, else that of the key].
    #[arg(long, value_enum)]
    mechanism: Option<SchemeName>,
    /// The hash [default: sha256 for RSA, that of the curve for ECDSA].
    #[arg(long, value_enum)]
    hash: Option<HashName>,
    /// The input is the hash of the data, in bytes.
    #[arg(long)]
    prehashed: bool,
    /// How an ECDSA signature is written.
    #[arg(long, value_enum, default_value_t = FormName::Raw)]
    signature_format: FormName,
    /// Bytes of the salt of PSS [default: as many as the hash has].
    #[arg(long, value_name = "N")]
    salt_length: Option<usize>,
    /// The hash of the mask of PSS [default: that of the data].
    #[arg(long, value_name = "HASH", value_enum)]
    mgf: Option<HashName>,
    /// A context, up to 255 bytes, that must be the same for verification: Ed25519ctx, Ed448, ML-DSA, SLH-DSA.
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file")]
    context: Option<String>,
    /// The same, from a file.
    #[arg(long, value_name = "FILE")]
    context_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SchemeName {
    Pkcs1v15,
    Pss,
    Ecdsa,
    /// Ed25519 or Ed448; with a context Ed25519ctx.
    Eddsa,
    /// Ed25519ph or Ed448ph: the data is hashed first, by the token.
    EddsaPh,
    MlDsa,
    SlhDsa,
}

impl SchemeName {
    pub(super) const fn scheme(self) -> Scheme {
        match self {
            Self::Pkcs1v15 => Scheme::Pkcs1,
            Self::Pss => Scheme::Pss,
            Self::Ecdsa => Scheme::Ecdsa,
            Self::Eddsa => Scheme::Eddsa,
            Self::EddsaPh => Scheme::EddsaPh,
            Self::MlDsa => Scheme::MlDsa,
            Self::SlhDsa => Scheme::SlhDsa,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FormName {
    /// r and s side by side.
    Raw,
    /// A SEQUENCE, as OpenSSL has it.
    Der,
}

impl HowWords {
    /// The context. An empty one is refused: no scheme tells it from none.
    fn context(&self) -> Result<Vec<u8>, Refusal> {
        let context = match &self.context_file {
            Some(file) => files::read(file)?,
            None => self
                .context
                .as_deref()
                .unwrap_or_default()
                .as_bytes()
                .to_vec(),
        };
        let given = self.context.is_some() || self.context_file.is_some();
        if given && context.is_empty() {
            return Err(Refusal::usage(
                "the context is empty",
                "give it 1 to 255 bytes, or leave it out",
            ));
        }
        Ok(context)
    }

    fn how<'a>(&self, context: &'a [u8]) -> How<'a> {
        How {
            scheme: self.mechanism.map(SchemeName::scheme),
            hash: self.hash.map(Hash::from),
            input: if self.prehashed {
                Given::Hash
            } else {
                Given::Data
            },
            form: match self.signature_format {
                FormName::Der => SignatureForm::Der,
                FormName::Raw => SignatureForm::Raw,
            },
            salt_len: self.salt_length,
            mask: self.mgf.map(Hash::from),
            context,
        }
    }
}

/// What to sign.
#[derive(Debug, clap::Args)]
pub(crate) struct SignWords {
    #[command(flatten)]
    key: KeyWords,
    #[command(flatten)]
    how: HowWords,
    /// Verify the signature before it is written: in the token, or here where it has no public half.
    #[arg(long)]
    self_verify: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn sign(words: &SignWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let context = words.how.context()?;
    let how = words.how.how(&context);
    let check = if words.self_verify {
        Check::Verify
    } else {
        Check::None
    };
    let named = words.key.key()?;
    let mut desk = words.key.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    let (report, placed) = words.output.with(|out| {
        let (signature, report) = signing::sign(&mut desk, &choice, (how, check), &mut input)?;
        out.write_all(&signature).map_err(Error::Output)?;
        Ok(report)
    })?;
    let mut data = words.key.told(report);
    data["signature_file"] = json!(words.output.name());
    Ok(placed.answer(data))
}

/// What to verify.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyWords {
    #[command(flatten)]
    key: KeyWords,
    #[command(flatten)]
    how: HowWords,
    /// The file with the signature.
    #[arg(long, value_name = "FILE")]
    signature: PathBuf,
    /// Verify here with the public key of this file (SubjectPublicKeyInfo, PEM or DER), without a token.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key_label", "id"])]
    pubkey: Option<PathBuf>,
}

pub(super) fn verify(words: &VerifyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let signature = files::read(&words.signature)?;
    let context = words.how.context()?;
    let how = words.how.how(&context);
    if let Some(file) = &words.pubkey {
        let public = files::read(file)?;
        let mut input = words.key.input.open()?;
        let report = keywright_hsm::here::verify(&public, how, &mut input, &signature);
        return words.key.verified("verify", &KeyName::default(), report);
    }
    let named = words.key.key()?;
    let mut desk = words.key.desk(Entry::IfNamed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    let report = signing::verify(&mut desk, &choice, how, &mut input, &signature);
    words.key.verified("verify", &named, report)
}

/// What to encrypt or decrypt with RSA.
#[derive(Debug, clap::Args)]
pub(crate) struct RsaWords {
    #[command(flatten)]
    key: KeyWords,
    /// The hash of OAEP [default: sha256, and sha1 on a token that has no other].
    #[arg(long, value_enum)]
    hash: Option<HashName>,
    /// An input of any size: under a fresh key of its own, which alone is encrypted with RSA. In this form `decrypt`
    /// finds the hash in the file.
    #[arg(long)]
    envelope: bool,
    /// Additional data that must be the same for decryption; it is not kept secret.
    #[arg(long, value_name = "TEXT", requires = "envelope")]
    aad: Option<String>,
    /// The padding of PKCS#1 v1.5, for what knows no OAEP. Not safe for new uses.
    #[arg(long, conflicts_with_all = ["hash", "envelope"])]
    legacy: bool,
    #[command(flatten)]
    output: Output,
}

impl RsaWords {
    fn aad(&self) -> &[u8] {
        self.aad.as_deref().unwrap_or_default().as_bytes()
    }

    /// The padding, with a warning where it is the older one.
    fn padding(&self, beside: &mut Beside) -> Padding {
        if !self.legacy {
            return Padding::Oaep(self.hash.map(Hash::from));
        }
        beside.warnings.push(LEGACY.to_owned());
        Padding::Pkcs1
    }
}

const LEGACY: &str = "PKCS#1 v1.5 encryption is there for what knows no other: whoever learns which ciphertexts do not decrypt can read one; use OAEP";

pub(super) fn encrypt(words: &RsaWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let named = words.key.key()?;
    let desk = words.key.desk(Entry::IfNamed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    if words.envelope {
        let how = (words.hash.map(Hash::from), words.aad());
        let (report, placed) = words
            .output
            .with(|out| Ok(hybrid::seal(&desk, &choice, how, &mut input, out)?))?;
        return Ok(placed.answer(words.key.told(report)));
    }
    let padding = words.padding(beside);
    let (report, placed) = words.output.with(|out| {
        let (sealed, report) = oaep::encrypt(&desk, &choice, padding, &mut input)?;
        out.write_all(&sealed).map_err(Error::Output)?;
        Ok(report)
    })?;
    Ok(placed.answer(words.key.told(report)))
}

pub(super) fn decrypt(words: &RsaWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    if words.envelope && words.hash.is_some() {
        return Err(Refusal::usage(
            "an envelope says itself which hash it was made with",
            "leave --hash out",
        ));
    }
    let named = words.key.key()?;
    let desk = words.key.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    if words.envelope {
        let (report, placed) = words
            .output
            .with(|out| Ok(hybrid::open(&desk, &choice, words.aad(), &mut input, out)?))?;
        return Ok(placed.answer(words.key.told(report)));
    }
    let padding = words.padding(beside);
    let (report, placed) = words.output.with(|out| {
        let (plain, report) = oaep::decrypt(&desk, &choice, padding, &mut input)?;
        out.write_all(plain.expose()).map_err(Error::Output)?;
        Ok(report)
    })?;
    Ok(placed.answer(words.key.told(report)))
}

/// What to encrypt or decrypt with AES.
#[derive(Debug, clap::Args)]
pub(crate) struct SealWords {
    #[command(flatten)]
    key: KeyWords,
    #[command(flatten)]
    output: Output,
    /// The file format: the container, or nonce, ciphertext and tag alone.
    #[arg(long, value_enum, default_value_t = LayoutName::Keywright)]
    container: LayoutName,
    /// The cipher [default: gcm]. `decrypt-symmetric` finds it in the container.
    #[arg(long, value_enum)]
    cipher: Option<CipherName>,
    /// Additional data that must be the same for decryption; it is not kept secret.
    #[arg(long, value_name = "TEXT", conflicts_with = "aad_file")]
    aad: Option<String>,
    /// The same, from a file.
    #[arg(long, value_name = "FILE")]
    aad_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LayoutName {
    Keywright,
    IvCtTag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CipherName {
    /// AES-GCM.
    Gcm,
    /// AES-CCM.
    Ccm,
}

impl SealWords {
    fn sealing<'a>(&self, aad: &'a [u8]) -> Sealing<'a> {
        Sealing {
            layout: match self.container {
                LayoutName::Keywright => Layout::Container,
                LayoutName::IvCtTag => Layout::Bare,
            },
            cipher: self.cipher.map(|name| match name {
                CipherName::Gcm => Cipher::AesGcm,
                CipherName::Ccm => Cipher::AesCcm,
            }),
            aad,
        }
    }

    fn aad(&self) -> Result<Vec<u8>, Refusal> {
        match &self.aad_file {
            Some(file) => files::read(file),
            None => Ok(self.aad.as_deref().unwrap_or_default().as_bytes().to_vec()),
        }
    }
}

pub(super) fn seal(words: &SealWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let aad = words.aad()?;
    let named = words.key.key()?;
    let desk = words.key.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    let how = words.sealing(&aad);
    let (report, placed) = words
        .output
        .with(|out| Ok(sealing::seal(&desk, &choice, how, &mut input, out)?))?;
    Ok(placed.answer(words.key.told(report)))
}

pub(super) fn open(words: &SealWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let aad = words.aad()?;
    let named = words.key.key()?;
    let desk = words.key.desk(Entry::Needed, &named, beside)?;
    let choice = named.choice();
    let mut input = words.key.input.open()?;
    let how = words.sealing(&aad);
    let (report, placed) = words
        .output
        .with(|out| Ok(sealing::open(&desk, &choice, how, &mut input, out)?))?;
    Ok(placed.answer(words.key.told(report)))
}
