//! `keywright hd seed`: new seeds, seeds from elsewhere, and seeds on their way out.

use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_hdkey::Seed;
use keywright_hdkey::mnemonic::{Mnemonic, WordCount, apollo_seed, foreign_seed};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use serde::Serialize;

use super::document::{Document, Export, ProfileName, refuse_existing};
use super::material::{self, Password};
use super::refused::refused;
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a seed. With `--export plain` its words are shown, this once.
    New(New),
    /// Take a seed from words or digits.
    Import(Import),
    /// Let a seed out, if it may leave.
    #[command(name = "export")]
    Leave(Leave),
}

/// Where a seed goes.
#[derive(Debug, clap::Args)]
struct Destination {
    /// The file to write; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    password: Password,
    /// How dear it is to guess the password.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
    /// Whether the seed and private keys of it may ever leave.
    #[arg(long, value_enum, default_value_t = Export::Never)]
    export: Export,
}

#[derive(Debug, clap::Args)]
pub(super) struct New {
    #[command(flatten)]
    destination: Destination,
    /// How many words: 12, 15, 18, 21 or 24.
    #[arg(long, value_name = "N", default_value_t = 24)]
    words: usize,
    /// The file with the passphrase that the words are used with, on one line.
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

/// What a seed is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SeedSchemeName {
    /// Words as the library of Identus uses them.
    Apollo,
    /// English words with their checksum.
    Bip39,
    /// Words of another list, taken as they are.
    Bip39Foreign,
    /// 16 to 64 bytes in hexadecimal digits.
    Raw,
}

#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(flatten)]
    destination: Destination,
    /// What the input is.
    #[arg(long, value_enum)]
    seed_scheme: SeedSchemeName,
    /// The file with the words or digits; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The file with the passphrase, on one line. For `apollo` it is the whole salt.
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Leave {
    /// The file with the seed.
    #[arg(long, value_name = "FILE")]
    seed_file: PathBuf,
    #[command(flatten)]
    password: Password,
    #[command(flatten)]
    yes: Yes,
}

pub(super) fn run(command: &Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Import(arguments) => import(arguments, format),
        Command::Leave(arguments) => leave(arguments, format),
        Command::New(arguments) => new(arguments, format),
    }
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    file: String,
    seed_scheme: &'static str,
    export: Export,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
}

impl Serialize for Export {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Never => "never",
            Self::Plain => "plain",
        })
    }
}

fn new(arguments: &New, format: Format) -> Result<Exit, Failure> {
    let count = WordCount::ALL
        .into_iter()
        .find(|count| count.words() == arguments.words);
    let count = count.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("there is no mnemonic of {} words", arguments.words),
            "give --words 12, 15, 18, 21 or 24",
        )
    })?;
    refuse_existing(&arguments.destination.out)?;
    let passphrase = passphrase(arguments.passphrase_file.as_deref())?;
    let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
    let mnemonic = Mnemonic::generate(count, &mut random).map_err(refused)?;
    let seed = mnemonic.to_seed(as_text(&passphrase)?);
    // What is shown must lead back to this very seed, or the backup is worthless.
    let phrase = mnemonic.phrase();
    let again = Mnemonic::parse(as_text(&phrase)?).map_err(|error| refused(error.into()))?;
    if again.to_seed(as_text(&passphrase)?).expose() != seed.expose() {
        return Err(Failure::broken("the words do not lead back to the seed"));
    }
    let shown = match arguments.destination.export {
        Export::Never => None,
        Export::Plain => Some(as_text(&phrase)?),
    };
    arguments.destination.write(seed, shown, format)
}

fn import(arguments: &Import, format: Format) -> Result<Exit, Failure> {
    refuse_existing(&arguments.destination.out)?;
    let input = material::text(&arguments.input)?;
    let passphrase = passphrase(arguments.passphrase_file.as_deref())?;
    let (text, salt) = (as_text(&input)?, as_text(&passphrase)?);
    let seed = match arguments.seed_scheme {
        SeedSchemeName::Apollo => apollo_seed(text, salt).map_err(|error| refused(error.into()))?,
        SeedSchemeName::Bip39 => {
            let mnemonic = Mnemonic::parse(text).map_err(|error| refused(error.into()))?;
            mnemonic.to_seed(salt)
        }
        SeedSchemeName::Bip39Foreign => foreign_seed(text, salt),
        SeedSchemeName::Raw => raw(&input, arguments.passphrase_file.as_deref())?,
    };
    arguments.destination.write(seed, None, format)
}

fn raw(input: &SecretBytes, passphrase: Option<&Path>) -> Result<Seed, Failure> {
    let wrong = |happened: &str| {
        Failure::new(
            Exit::Usage,
            happened,
            "give 32 to 128 hexadecimal digits and nothing else",
        )
    };
    if passphrase.is_some() {
        return Err(wrong("a raw seed has no passphrase"));
    }
    let bytes = material::digits(input);
    let bytes =
        bytes.ok_or_else(|| wrong("the input is not an even number of hexadecimal digits"))?;
    Seed::raw(bytes.expose()).map_err(refused)
}

impl Destination {
    fn write(&self, seed: Seed, words: Option<&str>, format: Format) -> Result<Exit, Failure> {
        let written = Written {
            file: self.out.display().to_string(),
            seed_scheme: seed.scheme().name(),
            export: self.export,
            words,
        };
        let document = Document {
            seed,
            export: self.export,
        };
        document.write(&self.out, &self.password.read()?, self.profile.into())?;
        output::document(format, &written, || {
            let mut rows = vec![
                ("file", written.file.clone()),
                ("seed scheme", written.seed_scheme.to_owned()),
            ];
            if let Some(words) = words {
                rows.push(("words", words.to_owned()));
            }
            output::fields(&rows)
        })?;
        if words.is_some() {
            eprintln!("write the words down now: they are not kept and are not shown again");
        }
        Ok(Exit::Ok)
    }
}

#[derive(Serialize)]
struct Left<'a> {
    seed_scheme: &'static str,
    seed: &'a str,
}

fn leave(arguments: &Leave, format: Format) -> Result<Exit, Failure> {
    let document = Document::read(&arguments.seed_file, &arguments.password.read()?)?;
    may_leave(document.export)?;
    confirm("the seed is printed in plain form", arguments.yes)?;
    let digits = SecretBytes::from_vec(hex::encode(document.seed.expose()).into_bytes());
    let left = Left {
        seed_scheme: document.seed.scheme().name(),
        seed: as_text(&digits)?,
    };
    output::document(format, &left, || {
        output::fields(&[
            ("seed scheme", left.seed_scheme.to_owned()),
            ("seed", left.seed.to_owned()),
        ])
    })?;
    Ok(Exit::Ok)
}

/// Refuses where the seed was made or imported to stay.
pub(super) fn may_leave(export: Export) -> Result<(), Failure> {
    match export {
        Export::Plain => Ok(()),
        Export::Never => Err(Failure::new(
            Exit::Refused,
            "the seed was made to stay: neither it nor a private key of it leaves",
            "use the key where it is: keywright hd sign, keywright hd public",
        )),
    }
}

fn passphrase(file: Option<&Path>) -> Result<SecretBytes, Failure> {
    match file {
        Some(file) => material::line(file),
        None => Ok(SecretBytes::zeroed(0)),
    }
}

fn as_text(bytes: &SecretBytes) -> Result<&str, Failure> {
    std::str::from_utf8(bytes.expose()).map_err(|_| {
        Failure::new(
            Exit::Usage,
            "the passphrase is not text in UTF-8",
            "give a text",
        )
    })
}

#[cfg(test)]
mod tests {
    use keywright_hdkey::SeedScheme;

    use super::*;

    #[test]
    fn what_is_imported_has_the_librarys_name() {
        use clap::ValueEnum as _;
        for name in SeedSchemeName::value_variants() {
            let shown = name.to_possible_value().unwrap();
            let first = shown
                .get_name()
                .trim_end_matches("-foreign")
                .parse::<SeedScheme>();
            assert!(first.is_ok(), "{}", shown.get_name());
        }
    }
}
