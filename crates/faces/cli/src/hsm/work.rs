//! The commands that put keys to work: sign, verify, encrypt, decrypt, encrypt-symmetric, decrypt-symmetric,
//! hmac-sign, hmac-verify, cmac-sign, cmac-verify.

use std::path::PathBuf;

use keywright_hsm::mac::{self, Code, Shortest};
use keywright_hsm::sealing::{self, Layout};
use keywright_hsm::signing::{self, Given, How, Scheme, SignatureForm};
use keywright_hsm::{Access, Desk, Error, Hash};
use serde_json::{Value, json};

use super::answer::{Answer, Beside, Refusal};
use super::files::{self, Input, Output};
use super::make::HashName;
use super::pin::UserPin;
use super::place::{Entry, Key, Named, Place, Where};

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
    input: Input,
}

impl KeyWords {
    fn desk(&self, entry: Entry, beside: &mut Beside) -> Result<(Desk, Where), Refusal> {
        self.place.desk(beside, &self.pin, (Access::Read, entry))
    }

    fn told(&self, report: impl serde::Serialize) -> Value {
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SchemeName {
    Pkcs1v15,
    /// Salt as long as the hash.
    Pss,
    Ecdsa,
    Eddsa,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FormName {
    /// r and s side by side.
    Raw,
    /// A SEQUENCE, as OpenSSL has it.
    Der,
}

impl HowWords {
    fn how(&self) -> How {
        How {
            scheme: self.mechanism.map(|name| match name {
                SchemeName::Pkcs1v15 => Scheme::Pkcs1,
                SchemeName::Pss => Scheme::Pss,
                SchemeName::Ecdsa => Scheme::Ecdsa,
                SchemeName::Eddsa => Scheme::Eddsa,
            }),
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
    #[command(flatten)]
    output: Output,
}

pub(super) fn sign(words: &SignWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (mut desk, at) = words.key.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let (report, placed) = words.output.with(|out| {
        let (signature, report) = signing::sign(&mut desk, &choice, words.how.how(), &mut input)?;
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
}

pub(super) fn verify(words: &VerifyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let signature = files::read(&words.signature)?;
    let (mut desk, at) = words.key.desk(Entry::IfNamed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let report = signing::verify(&mut desk, &choice, words.how.how(), &mut input, &signature)?;
    Ok(Answer::of(&words.key.told(report)))
}

/// What to encrypt or decrypt with RSA.
#[derive(Debug, clap::Args)]
pub(crate) struct RsaWords {
    #[command(flatten)]
    key: KeyWords,
    /// The hash of OAEP [default: sha256, and sha1 on a token that has no other].
    #[arg(long, value_enum)]
    hash: Option<HashName>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn encrypt(words: &RsaWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (desk, at) = words.key.desk(Entry::IfNamed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let hash = words.hash.map(Hash::from);
    let (report, placed) = words.output.with(|out| {
        let (sealed, report) = sealing::encrypt_oaep(&desk, &choice, hash, &mut input)?;
        out.write_all(&sealed).map_err(Error::Output)?;
        Ok(report)
    })?;
    Ok(placed.answer(words.key.told(report)))
}

pub(super) fn decrypt(words: &RsaWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (desk, at) = words.key.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let hash = words.hash.map(Hash::from);
    let (report, placed) = words.output.with(|out| {
        let (plain, report) = sealing::decrypt_oaep(&desk, &choice, hash, &mut input)?;
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

impl SealWords {
    fn layout(&self) -> Layout {
        match self.container {
            LayoutName::Keywright => Layout::Container,
            LayoutName::IvCtTag => Layout::Bare,
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
    let (desk, at) = words.key.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let how = (words.layout(), aad.as_slice());
    let (report, placed) = words
        .output
        .with(|out| Ok(sealing::seal(&desk, &choice, how, &mut input, out)?))?;
    Ok(placed.answer(words.key.told(report)))
}

pub(super) fn open(words: &SealWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let aad = words.aad()?;
    let (desk, at) = words.key.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key.key, &mut named)?;
    let mut input = words.key.input.open()?;
    let how = (words.layout(), aad.as_slice());
    let (report, placed) = words
        .output
        .with(|out| Ok(sealing::open(&desk, &choice, how, &mut input, out)?))?;
    Ok(placed.answer(words.key.told(report)))
}

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
}

/// A code to verify, with AES.
#[derive(Debug, clap::Args)]
pub(crate) struct CmacVerifyWords {
    #[command(flatten)]
    key: KeyWords,
    /// The file with the code.
    #[arg(long, value_name = "FILE")]
    cmac: PathBuf,
    /// Accept a code of 4 bytes or more.
    #[arg(long)]
    allow_short: bool,
}

type Wanted = (Code, usize, Shortest);

fn make_code(
    (words, output): (&KeyWords, &Output),
    wanted: Wanted,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let (mut desk, at) = words.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
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
    wanted: (Code, Shortest),
    file: &std::path::Path,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let code = files::read(file)?;
    let (mut desk, at) = words.desk(Entry::Needed, beside)?;
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
    let mut input = words.input.open()?;
    let report = mac::verify(&mut desk, &choice, wanted, &mut input, &code)?;
    Ok(Answer::of(&words.told(report)))
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
    let wanted = (Code::Hmac(words.algorithm.into()), Shortest::Eight);
    check_code(&words.key, wanted, &words.hmac, beside)
}

pub(super) fn cmac_verify(words: &CmacVerifyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let wanted = (
        Code::Cmac,
        if words.allow_short {
            Shortest::Four
        } else {
            Shortest::Eight
        },
    );
    check_code(&words.key, wanted, &words.cmac, beside)
}
