//! `keywright fpe`: one value into a value of the same form, and back.
//!
//! The key comes from a file and from nowhere else. What is refused by default (small domains, no tweak,
//! encryption with the FF3 family) has a flag of its own that opens it. Neither value nor key is in any
//! message; the code of an error is a word that stays the same.

mod alphabet;
mod refused;
mod secret;

pub(crate) use self::secret::read as read_key;
mod value;

use std::path::PathBuf;

use keywright_encoding::hex;
use keywright_fpe::{Algorithm, Key, Mode, Options, Policy, Radix};
use keywright_terminal::fpe_backend::backend;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use alphabet::{Chosen, choose};
use refused::refused;
use value::{Numerals, Value};

/// Format-preserving encryption of one value.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Encrypt a value.
    Encrypt(ValueArguments),
    /// Decrypt a value.
    Decrypt(ValueArguments),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Decrypt,
    Encrypt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ModeName {
    /// For new data: ten rounds, any tweak.
    Ff1,
    /// Broken, for reading old data: a tweak of 8 bytes.
    Ff3,
    /// Withdrawn, for reading old data: a tweak of 7 bytes.
    #[value(name = "ff3-1")]
    Ff31,
    /// What fpe-c wrote as FF3-1, for reading it: the tweak's halves are not the standard's.
    #[value(name = "fpec-ff3-1")]
    FpecFf31,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CipherName {
    /// AES with a key of 16, 24 or 32 bytes.
    Aes,
    /// SM4 with a key of 16 bytes.
    Sm4,
}

#[derive(Debug, clap::Args)]
struct ValueArguments {
    /// The mode.
    #[arg(long, value_enum, default_value_t = ModeName::Ff1)]
    mode: ModeName,
    /// The block cipher.
    #[arg(long, value_enum, default_value_t = CipherName::Aes)]
    cipher: CipherName,
    /// The file with the key: 16, 24 or 32 bytes, or as many in hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The tweak in hexadecimal digits.
    #[arg(long, value_name = "HEX", conflicts_with = "tweak_text")]
    tweak: Option<String>,
    /// The tweak as the bytes of a text.
    #[arg(long, value_name = "TEXT")]
    tweak_text: Option<String>,
    /// The alphabet by its name, or its symbols in order [default: digits].
    #[arg(long, value_name = "NAME|SYMBOLS", conflicts_with = "radix")]
    alphabet: Option<String>,
    /// The value is decimal numerals below N, with spaces or commas between them.
    #[arg(long, value_name = "N")]
    radix: Option<u32>,
    /// Accept forms of fewer than a million values, down to 100.
    #[arg(long)]
    allow_small_domain: bool,
    /// Accept FF1 without a tweak.
    #[arg(long)]
    allow_empty_tweak: bool,
    /// Let FF3 and FF3-1 encrypt. They always decrypt.
    #[arg(long)]
    legacy: bool,
    /// Let fpec-ff3-1 encrypt, to test a migration: nothing but fpe-c reads the result.
    #[arg(long)]
    danger_reproduce_fpec: bool,
    /// Say on standard error which code does it.
    #[arg(long, short)]
    verbose: bool,
    /// The value; `-` for standard input, without the last end of line.
    #[arg(value_name = "VALUE", default_value = "-")]
    value: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Decrypt(arguments) => put_through(Way::Decrypt, arguments, format),
        Command::Encrypt(arguments) => put_through(Way::Encrypt, arguments, format),
    }
}

fn put_through(way: Way, arguments: &ValueArguments, format: Format) -> Result<Exit, Failure> {
    let chosen = match arguments.radix {
        Some(radix) => Chosen::Numerals(radix),
        None => Chosen::Alphabet(choose(arguments.alphabet.as_deref().unwrap_or("digits"))?),
    };
    let tweak = arguments.tweak()?;
    let key = arguments.key(chosen.radix()?)?;
    if arguments.verbose {
        message!("backend: {}", key.backend());
    }
    let value = Value::read(&arguments.value)?;
    match chosen {
        Chosen::Alphabet(alphabet) => {
            let made = match way {
                Way::Decrypt => key.decrypt_string(&tweak, &alphabet, value.text()),
                Way::Encrypt => key.encrypt_string(&tweak, &alphabet, value.text()),
            };
            let made = Value::of(made.map_err(refused)?);
            let told = Told {
                value: Some(made.text()),
                ..Told::by(&key, made.text().chars().count())
            };
            told.print(format)
        }
        Chosen::Numerals(_) => {
            let numerals = Numerals::read(value.text())?;
            let mut made = numerals.same_length();
            match way {
                Way::Decrypt => key.decrypt(&tweak, numerals.digits(), made.digits_mut()),
                Way::Encrypt => key.encrypt(&tweak, numerals.digits(), made.digits_mut()),
            }
            .map_err(refused)?;
            let told = Told {
                numerals: Some(&made),
                ..Told::by(&key, made.digits().len())
            };
            told.print(format)
        }
    }
}

impl ValueArguments {
    fn tweak(&self) -> Result<Vec<u8>, Failure> {
        let Some(digits) = &self.tweak else {
            let text = self.tweak_text.as_deref().unwrap_or_default();
            return Ok(text.as_bytes().to_vec());
        };
        hex::decode(&digits.to_ascii_lowercase()).map_err(|_| {
            Failure::new(
                Exit::Usage,
                "the tweak is not an even number of hexadecimal digits",
                "give --tweak HEX, or --tweak-text TEXT for the bytes of a text",
            )
        })
    }

    fn key(&self, radix: Radix) -> Result<Key, Failure> {
        let mut policy = Policy::STRICT;
        if self.allow_small_domain {
            policy = policy.accept_small_domain();
        }
        if self.allow_empty_tweak {
            policy = policy.allow_empty_tweak();
        }
        if self.legacy {
            policy = policy.allow_legacy_encrypt();
        }
        if self.danger_reproduce_fpec {
            policy = policy.danger_reproduce_fpec();
        }
        let mode = match self.mode {
            ModeName::Ff1 => Mode::Ff1,
            ModeName::Ff3 => Mode::Ff3,
            ModeName::Ff31 => Mode::Ff31,
            ModeName::FpecFf31 => Mode::FpecFf31,
        };
        let algorithm = match self.cipher {
            CipherName::Aes => Algorithm::Aes,
            CipherName::Sm4 => Algorithm::Sm4,
        };
        let mut options = Options::new(mode, algorithm, radix).with_policy(policy);
        if let Some(backend) = backend()? {
            options = options.with_backend(backend);
        }
        let secret = secret::read(&self.key_file)?;
        Key::new(options, secret.expose()).map_err(refused)
    }
}

/// What came of it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numerals: Option<&'a Numerals>,
    /// Whether digits stand in it that fpe-c never encrypted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partly_in_clear: bool,
    backend: &'static str,
}

impl Told<'_> {
    fn by(key: &Key, digits: usize) -> Self {
        Self {
            value: None,
            numerals: None,
            partly_in_clear: key.is_partly_in_clear(digits),
            backend: key.backend().name(),
        }
    }

    fn print(&self, format: Format) -> Result<Exit, Failure> {
        output::document(format, self, || {
            let numerals = self.numerals.map(Numerals::text);
            let value = self.value.map(str::to_owned);
            value.or(numerals).unwrap_or_default() + "\n"
        })?;
        if self.partly_in_clear {
            message!(
                "partly in clear: the stored value held digits of this one that were never encrypted"
            );
        }
        Ok(Exit::Ok)
    }
}
