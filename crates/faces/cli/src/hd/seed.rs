//! `keywright hd seed`: new seeds, seeds from elsewhere, and seeds on their way out.

use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_hdkey::identus::{Purpose, key_path};
use keywright_hdkey::mnemonic::{
    APOLLO_SALTS, Mnemonic, PhraseCheck, WordCount, apollo_seed, phrase_seed,
};
use keywright_hdkey::{PrivateNode, Scheme, Seed};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use serde::Serialize;

use super::document::{Document, Export, PhraseRecord};
use super::material::{self, Password};
use super::protected::{ProfileName, refuse_existing};
use super::refused::refused;
use super::shares;
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
    /// Split a seed into shares, and bring it back from them.
    #[command(subcommand)]
    Shares(shares::Command),
}

/// Where a seed goes.
#[derive(Debug, clap::Args)]
pub(super) struct Destination {
    /// The file to write; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,
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
    /// Words of any of the ten BIP-39 lists with their checksum.
    Bip39Foreign,
    /// 16 to 64 bytes in hexadecimal digits.
    Raw,
    /// A seed file under another password, with the name that it was kept under.
    Sealed,
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
    /// For `apollo`: the public key of the first DID, m/29'/29'/0'/1'/0', in hexadecimal digits. The salt that
    /// leads to it is found among those that libraries of Identus have used.
    #[arg(long, value_name = "HEX", conflicts_with = "passphrase_file")]
    known_public: Option<String>,
    /// For `sealed`: the file with the password of the input, on one line.
    #[arg(long, value_name = "FILE", required_if_eq("seed_scheme", "sealed"))]
    input_password_file: Option<PathBuf>,
    /// Import a phrase without checking its words; the seed file records it.
    #[arg(long)]
    unchecked: bool,
}

impl Import {
    const fn phrase_check(&self) -> PhraseCheck {
        match self.unchecked {
            true => PhraseCheck::Skip,
            false => PhraseCheck::Require,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Leave {
    /// The file with the seed.
    #[arg(long, value_name = "FILE")]
    seed_file: PathBuf,
    #[command(flatten)]
    password: Password,
    /// The file to write the seed into, under another password; without it the seed is printed.
    #[arg(long, value_name = "FILE", requires = "new_password_file")]
    out: Option<PathBuf>,
    /// The file with that password, on one line.
    #[arg(long, value_name = "FILE", requires = "out")]
    new_password_file: Option<PathBuf>,
    /// How dear it is to guess that password.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
    #[command(flatten)]
    yes: Yes,
}

pub(super) fn run(command: &Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Import(arguments) => import(arguments, format),
        Command::Leave(arguments) => leave(arguments, format),
        Command::New(arguments) => new(arguments, format),
        Command::Shares(command) => shares::run(command, format),
    }
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    file: String,
    seed_scheme: &'static str,
    export: Export,
    /// Present if the phrase was imported without a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    phrase: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
}

impl Serialize for Export {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
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
    if arguments.destination.export == Export::Plain {
        output::check_kept("the words of the seed")?;
    }
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
    arguments
        .destination
        .write(seed, PhraseRecord::Checked, shown, format)
}

fn import(arguments: &Import, format: Format) -> Result<Exit, Failure> {
    refuse_existing(&arguments.destination.out)?;
    if let (SeedSchemeName::Sealed, Some(password)) =
        (arguments.seed_scheme, &arguments.input_password_file)
    {
        return sealed(arguments, &Password::of(password), format);
    }
    refuse_useless_unchecked(arguments)?;
    // The input is gone before anything is said about it.
    let seed = imported(arguments)?;
    let phrase = match arguments.unchecked {
        true => PhraseRecord::Unchecked,
        false => PhraseRecord::Checked,
    };
    arguments.destination.write(seed, phrase, None, format)
}

/// `--unchecked` means nothing for what has no phrase, or has one that only this program made.
fn refuse_useless_unchecked(arguments: &Import) -> Result<(), Failure> {
    let has_effect = matches!(
        arguments.seed_scheme,
        SeedSchemeName::Apollo | SeedSchemeName::Bip39Foreign
    );
    match arguments.unchecked && !has_effect {
        true => Err(Failure::new(
            Exit::Usage,
            "--unchecked has no effect with this --seed-scheme",
            "leave it out; a phrase without a check is imported as apollo or bip39-foreign",
        )),
        false => Ok(()),
    }
}

fn imported(arguments: &Import) -> Result<Seed, Failure> {
    let input = material::text(&arguments.input)?;
    let passphrase = passphrase(arguments.passphrase_file.as_deref())?;
    let (text, salt) = (as_text(&input)?, as_text(&passphrase)?);
    match arguments.seed_scheme {
        SeedSchemeName::Apollo => match &arguments.known_public {
            Some(public) => seed_of(text, public, arguments.phrase_check()),
            None => apollo_seed(text, salt, arguments.phrase_check())
                .map_err(|error| refused(error.into())),
        },
        SeedSchemeName::Bip39 => {
            let mnemonic = Mnemonic::parse(text).map_err(|error| refused(error.into()))?;
            Ok(mnemonic.to_seed(salt))
        }
        SeedSchemeName::Bip39Foreign => {
            phrase_seed(text, salt, arguments.phrase_check()).map_err(|error| refused(error.into()))
        }
        SeedSchemeName::Raw => raw(&input, arguments.passphrase_file.as_deref()),
        SeedSchemeName::Sealed => Err(Failure::new(
            Exit::Usage,
            "the input is under a password of its own",
            "add --input-password-file FILE",
        )),
    }
}

/// The seed whose first DID has this key, whichever of the known salts it was made with.
fn seed_of(words: &str, public: &str, check: PhraseCheck) -> Result<Seed, Failure> {
    let first = key_path(0, Purpose::Master, 0).map_err(|error| refused(error.into()))?;
    for salt in APOLLO_SALTS {
        let seed = apollo_seed(words, salt, check).map_err(|error| refused(error.into()))?;
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &first);
        let key = node.and_then(|node| node.public_key()).map_err(refused)?;
        if hex::encode(key.as_bytes()).eq_ignore_ascii_case(public.trim()) {
            return Ok(seed);
        }
    }
    Err(Failure::new(
        Exit::Negative,
        "no salt that libraries of Identus have used leads from the words to this key",
        "check words and key (33 bytes, compressed), or give the salt itself with --passphrase-file",
    ))
}

/// A seed file as the input. What was made to stay does not become free to leave.
fn sealed(arguments: &Import, password: &Password, format: Format) -> Result<Exit, Failure> {
    let document = Document::read(&arguments.input, &password.read()?)?;
    if arguments.destination.export == Export::Plain {
        may_leave(document.export)?;
    }
    arguments
        .destination
        .write(document.seed, document.phrase, None, format)
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
    /// Writes the seed file and says so.
    pub(super) fn write(
        &self,
        seed: Seed,
        phrase: PhraseRecord,
        words: Option<&str>,
        format: Format,
    ) -> Result<Exit, Failure> {
        let written = Written {
            file: self.out.display().to_string(),
            seed_scheme: seed.scheme().name(),
            export: self.export,
            phrase: phrase.shown(),
            words,
        };
        let document = Document {
            seed,
            export: self.export,
            phrase,
        };
        document.write(&self.out, &self.password.read()?, self.profile.into())?;
        drop(document);
        output::document(format, &written, || {
            let mut rows = vec![
                ("file", written.file.clone()),
                ("seed scheme", written.seed_scheme.to_owned()),
            ];
            rows.extend(phrase.shown().map(|text| ("phrase", text.to_owned())));
            if let Some(words) = words {
                rows.push(("words", words.to_owned()));
            }
            output::fields(&rows)
        })?;
        if words.is_some() {
            message!("write the words down now: they are not kept and are not shown again");
        }
        Ok(Exit::Ok)
    }
}

#[derive(Serialize)]
struct Left<'a> {
    seed_scheme: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phrase: Option<&'static str>,
    seed: &'a str,
}

fn leave(arguments: &Leave, format: Format) -> Result<Exit, Failure> {
    let document = Document::read(&arguments.seed_file, &arguments.password.read()?)?;
    may_leave(document.export)?;
    if let (Some(out), Some(password)) = (&arguments.out, &arguments.new_password_file) {
        return leave_sealed(arguments, &document, (out, &Password::of(password)), format);
    }
    confirm("the seed is printed in plain form", arguments.yes)?;
    let digits = SecretBytes::from_vec(hex::encode(document.seed.expose()).into_bytes());
    let left = Left {
        seed_scheme: document.seed.scheme().name(),
        phrase: document.phrase.shown(),
        seed: as_text(&digits)?,
    };
    output::document(format, &left, || {
        let mut rows = vec![("seed scheme", left.seed_scheme.to_owned())];
        rows.extend(left.phrase.map(|text| ("phrase", text.to_owned())));
        rows.push(("seed", left.seed.to_owned()));
        output::fields(&rows)
    })?;
    Ok(Exit::Ok)
}

/// A copy under another password, which is read as any seed file is.
fn leave_sealed(
    arguments: &Leave,
    document: &Document,
    (out, password): (&Path, &Password),
    format: Format,
) -> Result<Exit, Failure> {
    let password = password.read()?;
    document.write(out, &password, arguments.profile.into())?;
    // What was written must open and hold this very seed, or the backup is worthless.
    let back = Document::read(out, &password)?;
    if back.seed.expose() != document.seed.expose()
        || (back.export, back.phrase) != (document.export, document.phrase)
    {
        return Err(Failure::broken(
            "what was written does not lead back to the seed",
        ));
    }
    let written = Written {
        file: out.display().to_string(),
        seed_scheme: document.seed.scheme().name(),
        export: document.export,
        phrase: document.phrase.shown(),
        words: None,
    };
    output::document(format, &written, || {
        output::fields(&[
            ("file", written.file.clone()),
            ("seed scheme", written.seed_scheme.to_owned()),
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

pub(super) fn as_text(bytes: &SecretBytes) -> Result<&str, Failure> {
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
            if *name == SeedSchemeName::Sealed {
                // The name that it has is the one in the file.
                continue;
            }
            let first = shown
                .get_name()
                .trim_end_matches("-foreign")
                .parse::<SeedScheme>();
            assert!(first.is_ok(), "{}", shown.get_name());
        }
    }
}
