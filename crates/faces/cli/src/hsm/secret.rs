//! The commands on secret keys: gen-symmetric-key, gen-hmac-key, gen-cmac-key, wrap-key, unwrap-key.

use std::path::PathBuf;

use keywright_hsm::secrets::{self, Entering, Method, Unwrapped};
use keywright_hsm::{Access, Hash, Purpose, SecretKind};

use super::answer::{Answer, Beside, Refusal};
use super::files::{self, Output};
use super::keys::{NewWords, deliver};
use super::make::HashName;
use super::pin::UserPin;
use super::place::{Entry, Key, KeyName, Place};

/// An AES key to make.
#[derive(Debug, clap::Args)]
pub(crate) struct AesWords {
    #[command(flatten)]
    new: NewWords,
    /// Bits: 128, 192 or 256.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = aes_bits)]
    bits: u16,
    /// The one thing that the key may do.
    #[arg(long, value_enum, default_value_t = AesUsage::Encrypt)]
    usage: AesUsage,
}

fn aes_bits(text: &str) -> Result<u16, String> {
    match text {
        "128" | "192" | "256" => text.parse().map_err(|_| "no number".to_owned()),
        _ => Err("AES keys have 128, 192 or 256 bits".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AesUsage {
    Encrypt,
    Wrap,
    Mac,
}

impl AesUsage {
    const fn purpose(self) -> Purpose {
        match self {
            Self::Encrypt => Purpose::Encrypt,
            Self::Wrap => Purpose::Wrap,
            Self::Mac => Purpose::Mac,
        }
    }
}

fn gen_secret(
    new: &NewWords,
    kind: SecretKind,
    purpose: Purpose,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let id = new.id()?;
    let desk = new.desk(&[], beside)?;
    let report = secrets::generate(&desk, kind, &new.new_key(id.as_deref(), purpose))?;
    Ok(Answer::of(&report))
}

pub(super) fn gen_aes(words: &AesWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let kind = SecretKind::Aes {
        len: words.bits / 8,
    };
    gen_secret(&words.new, kind, words.usage.purpose(), beside)
}

/// A key for CMAC to make.
#[derive(Debug, clap::Args)]
pub(crate) struct CmacKeyWords {
    #[command(flatten)]
    new: NewWords,
    /// Bits: 128, 192 or 256.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = aes_bits)]
    bits: u16,
}

pub(super) fn gen_cmac(words: &CmacKeyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let kind = SecretKind::Aes {
        len: words.bits / 8,
    };
    gen_secret(&words.new, kind, Purpose::Mac, beside)
}

/// A key for HMAC to make.
#[derive(Debug, clap::Args)]
pub(crate) struct HmacKeyWords {
    #[command(flatten)]
    new: NewWords,
    /// Bits, from 112 to 4096, a multiple of 8.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = hmac_bits)]
    bits: u16,
}

fn hmac_bits(text: &str) -> Result<u16, String> {
    let bits = text.parse::<u16>().ok();
    bits.filter(|bits| (112..=4096).contains(bits) && bits % 8 == 0)
        .ok_or_else(|| "HMAC keys have 112 to 4096 bits, a multiple of 8".to_owned())
}

pub(super) fn gen_hmac(words: &HmacKeyWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let kind = SecretKind::Generic {
        len: words.bits / 8,
    };
    gen_secret(&words.new, kind, Purpose::Mac, beside)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum MethodName {
    /// AES key wrap (RFC 3394).
    AesKw,
    /// AES key wrap with padding (RFC 5649).
    AesKwp,
    /// RSA-OAEP.
    RsaOaep,
    /// An AES key of its own under RSA-OAEP, and the key under that (`CKM_RSA_AES_KEY_WRAP`).
    RsaAesKw,
}

impl MethodName {
    fn method(self, hash: HashName) -> Method {
        match self {
            Self::AesKw => Method::Kw,
            Self::AesKwp => Method::Kwp,
            Self::RsaOaep => Method::RsaOaep(Hash::from(hash)),
            Self::RsaAesKw => Method::RsaAes(Hash::from(hash)),
        }
    }
}

/// A key to wrap.
#[derive(Debug, clap::Args)]
pub(crate) struct WrapWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// The label of the key to wrap it under, or its PKCS#11 URI, which also chooses the token.
    #[arg(long, value_name = "LABEL")]
    wrapping_key_label: String,
    /// How.
    #[arg(long, value_enum, default_value_t = MethodName::AesKw)]
    method: MethodName,
    /// The hash of RSA-OAEP, alone or with an AES key.
    #[arg(long, value_enum, default_value_t = HashName::Sha256)]
    hash: HashName,
    #[command(flatten)]
    output: Output,
}

pub(super) fn wrap(words: &WrapWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::Needed);
    let named = words.place.key(&words.key)?;
    let wrapping = KeyName::read(&words.wrapping_key_label)?;
    let keys = [&named, &wrapping];
    let desk = words.place.desk(beside, &words.pin, how, &keys)?;
    let method = words.method.method(words.hash);
    let (wrapped, report) = secrets::wrap(&desk, &named.choice(), &wrapping.choice(), method)?;
    let mut data = serde_json::to_value(&report).unwrap_or_default();
    deliver(&words.output, &wrapped, &mut data)
}

/// A key to unwrap.
#[derive(Debug, clap::Args)]
pub(crate) struct UnwrapWords {
    #[command(flatten)]
    new: NewWords,
    /// The label of the key that it is wrapped under, or its PKCS#11 URI, which also chooses the token.
    #[arg(long, value_name = "LABEL")]
    wrapping_key_label: String,
    /// How it is wrapped.
    #[arg(long, value_enum, default_value_t = MethodName::AesKw)]
    method: MethodName,
    /// The hash of RSA-OAEP, alone or with an AES key.
    #[arg(long, value_enum, default_value_t = HashName::Sha256)]
    hash: HashName,
    /// The wrapped key.
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// What kind of key it is.
    #[arg(long, value_enum, default_value_t = SecretName::Aes)]
    key_type: SecretName,
    /// The one thing that the key may do [default: encrypt, and sign for a private key].
    #[arg(long, value_enum)]
    usage: Option<EnteringUsage>,
    /// The check value that the key must have, as wrap-key told it.
    #[arg(long, value_name = "HEX")]
    check_value: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SecretName {
    Aes,
    /// A generic secret, for HMAC.
    Generic,
    /// A private key of RSA.
    Rsa,
    /// A private key on a curve such as P-256.
    Ec,
}

impl UnwrapWords {
    /// A private key signs unless it is told to decrypt.
    const fn purpose(&self) -> Purpose {
        match (self.key_type, self.usage) {
            (SecretName::Rsa | SecretName::Ec, None) => Purpose::Sign,
            (_, None | Some(EnteringUsage::Encrypt)) => Purpose::Encrypt,
            (_, Some(EnteringUsage::Sign)) => Purpose::Sign,
            (_, Some(EnteringUsage::Mac)) => Purpose::Mac,
            (_, Some(EnteringUsage::Wrap)) => Purpose::Wrap,
        }
    }
}

/// What a key that comes in may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EnteringUsage {
    /// A private key decrypts.
    Encrypt,
    Mac,
    /// Private keys only.
    Sign,
    Wrap,
}

pub(super) fn unwrap(words: &UnwrapWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let private = matches!(words.key_type, SecretName::Rsa | SecretName::Ec);
    let signs = words.usage == Some(EnteringUsage::Sign);
    let codes = matches!(words.usage, Some(EnteringUsage::Mac | EnteringUsage::Wrap));
    if (signs && !private) || (codes && private) {
        return Err(Refusal::usage(
            "a key of this type is not used like that",
            "secret keys encrypt, wrap or make codes; private keys sign, or encrypt to decrypt",
        ));
    }
    let wrapped = files::read(&words.input)?;
    let id = words.new.id()?;
    let under = KeyName::read(&words.wrapping_key_label)?;
    let desk = words.new.desk(&[&under], beside)?;
    let what = Unwrapped {
        method: words.method.method(words.hash),
        kind: match words.key_type {
            SecretName::Aes => Entering::Secret(SecretKind::Aes { len: 32 }),
            SecretName::Generic => Entering::Secret(SecretKind::Generic { len: 32 }),
            SecretName::Rsa => Entering::Rsa,
            SecretName::Ec => Entering::Ec,
        },
        new: words.new.new_key(id.as_deref(), words.purpose()),
        check_value: words.check_value.as_deref(),
    };
    let report = secrets::unwrap(&desk, &under.choice(), &wrapped, &what)?;
    Ok(Answer::of(&report))
}
