//! `keywright seal|open` for public keys, `keywright lock|unlock` under a password (docs/formats.md, "File
//! with slots").
//!
//! Files of any length, in constant memory. A file appears under its name when it is whole, and standard output
//! gets the first byte of an opened file when its last one has been verified; `--stream` gives that up. Neither
//! keys nor passwords are ever words of the command; the process writes no core file, and keys and passwords are
//! gone before it says what came of it.
//!
//! Not here: files under a key of the service, and changing the recipients or the password of a file.

mod destination;
mod key_file;
mod password;
mod refused;
mod source;
mod ways;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use keywright_container::{DataKey, FileHeader, Slot};
use keywright_envelope::Aad;
use keywright_hpke::PublicKey;
use keywright_password::{Container, Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_secret::locked::{Locking, refuse_core_files};
use keywright_types::SlotType;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use destination::{Destination, Output, Readers};
use refused::refused;
use source::{Input, Source};
pub(crate) use ways::{KeyOptions, SlotOptions};

/// Seal a file to public keys.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Seal {
    #[command(subcommand)]
    keys: Option<key_file::Command>,
    /// A file with public keys of recipients, one on a line, as `keywright seal keygen` prints them; each of
    /// them opens the file. May be given more than once.
    #[arg(long = "recipient", value_name = "FILE")]
    recipients: Vec<PathBuf>,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
}

/// Open a sealed file with a private key.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Open {
    /// The file with the private key, as `keywright seal keygen` has written it.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    handing: Handing,
}

/// Seal a file under a password.
#[derive(Debug, clap::Args)]
pub(crate) struct Lock {
    #[command(flatten)]
    password: password::Origin,
    /// What trying a password costs: 64 MiB, 256 MiB or 1 GiB of memory.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
}

/// Open a locked file with its password.
#[derive(Debug, clap::Args)]
pub(crate) struct Unlock {
    #[command(flatten)]
    password: password::Origin,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    handing: Handing,
}

/// When an opened text is given out.
#[derive(Debug, clap::Args)]
struct Handing {
    /// Write to standard output while the file is read: what was written is whole only if the command ends
    /// with 0.
    #[arg(long)]
    stream: bool,
}

/// The profiles of the password container.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProfileName {
    /// 64 MiB, 2 lanes.
    Fast,
    /// 256 MiB, 4 lanes.
    Balanced,
    /// 1 GiB, 8 lanes.
    Strong,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Fast => Self::Fast,
            ProfileName::Balanced => Self::Balanced,
            ProfileName::Strong => Self::Strong,
        }
    }
}

/// What came of it, where it is not on standard output itself.
#[derive(Default, Serialize)]
struct Told {
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    password_memory_locked: Option<bool>,
}

impl Told {
    /// Prints the document, unless standard output has the file.
    fn print(&self, destination: &Destination, format: Format) -> Result<Exit, Failure> {
        if destination.is_file() {
            output::document(format, self, String::new)?;
        }
        Ok(Exit::Ok)
    }
}

/// The public keys in these files, of which there must be one.
pub(crate) fn recipients_of(files: &[PathBuf]) -> Result<Vec<PublicKey>, Failure> {
    key_file::recipients(files)
}

/// A short file that was sealed to a private key, opened in memory alone.
pub(crate) fn open_short(file: &Path, key_file: &Path) -> Result<SecretBytes, Failure> {
    let private = key_file::private(key_file)?;
    let unreadable = |error: std::io::Error| Failure::file(file, "read", &error);
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    if length > SHORT {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} is longer than what is looked for", file.display()),
            "give the file that the command before has written",
        ));
    }
    let sealed = std::fs::read(file).map_err(unreadable)?;
    let mut rest = sealed.as_slice();
    let header = FileHeader::read_from(&mut rest).map_err(refused)?;
    let opened = header.open_with_private_key(&private, &key_file::policy());
    let key = opened.map_err(|error| refused::unopened(error, SlotType::Hpke))?;
    // As long as it can become, so that no part of it is left behind by a move.
    let mut text = Vec::with_capacity(sealed.len());
    let done = keywright_container::open(
        &mut rest,
        &mut text,
        &header,
        &key,
        &Aad::EMPTY,
        &mut |_| (),
    );
    let text = SecretBytes::from_vec(text);
    done.map_err(refused)?;
    Ok(text)
}

/// Longer than any file that is opened in memory.
const SHORT: u64 = 64 << 10;

pub(crate) fn seal(arguments: &Seal, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    if let Some(command) = &arguments.keys {
        return key_file::run(command, format);
    }
    let recipients = key_file::recipients(&arguments.recipients)?;
    let destination = arguments.output.prepare(Readers::AsUsual, format)?;
    let source = arguments.input.open()?;
    let key = data_key()?;
    let policy = key_file::policy();
    let slot = |to| {
        let suite = key_file::suite(&policy, to)?;
        Slot::hpke(&key, to, suite).map_err(refused)
    };
    let slots: Vec<Slot> = recipients.iter().map(slot).collect::<Result<_, _>>()?;
    let told = Told {
        bytes: write_sealed(source, &destination, (&key, &slots))?,
        recipients: Some(slots.len()),
        ..Told::default()
    };
    drop(key);
    told.print(&destination, format)
}

pub(crate) fn open(arguments: &Open, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    let private = key_file::private(&arguments.key_file)?;
    let destination = arguments.output.prepare(Readers::Owner, format)?;
    let mut source = arguments.input.open()?;
    let header = FileHeader::read_from(&mut source).map_err(refused)?;
    let opened = header.open_with_private_key(&private, &key_file::policy());
    let key = opened.map_err(|error| refused::unopened(error, SlotType::Hpke))?;
    let told = Told {
        bytes: arguments
            .handing
            .write(source, &destination, (&header, &key))?,
        ..Told::default()
    };
    drop((private, key));
    told.print(&destination, format)
}

pub(crate) fn lock(arguments: &Lock, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    let destination = arguments.output.prepare(Readers::AsUsual, format)?;
    let source = arguments.input.open()?;
    let password = arguments.password.choose()?;
    let key = data_key()?;
    let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
    let sealed = Container::seal_and_report(
        &key.to_bytes(),
        &password,
        arguments.profile.into(),
        &mut random,
    );
    let sealed = sealed.map_err(|error| refused(error.into()))?;
    let slot = Slot::from_parts(SlotType::Password, sealed.bytes, key.id()).map_err(refused)?;
    let told = Told {
        bytes: write_sealed(source, &destination, (&key, &[slot]))?,
        password_memory_locked: Some(sealed.locking == Locking::Locked),
        ..Told::default()
    };
    drop((password, key));
    told.print(&destination, format)
}

pub(crate) fn unlock(arguments: &Unlock, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    let destination = arguments.output.prepare(Readers::Owner, format)?;
    let mut source = arguments.input.open()?;
    let header = FileHeader::read_from(&mut source).map_err(refused)?;
    if !header
        .slots()
        .iter()
        .any(|slot| slot.kind() == SlotType::Password)
    {
        return Err(refused::unopened(
            keywright_container::Error::NoSlot,
            SlotType::Password,
        ));
    }
    let password = arguments.password.read()?;
    let opened = header.open_with_password(&password, &Limits::standard());
    let (key, locking) = opened.map_err(refused)?;
    let told = Told {
        bytes: arguments
            .handing
            .write(source, &destination, (&header, &key))?,
        password_memory_locked: Some(locking == Locking::Locked),
        ..Told::default()
    };
    drop((password, key));
    told.print(&destination, format)
}

fn data_key() -> Result<DataKey, Failure> {
    RandomStream::new()
        .map_err(Into::into)
        .and_then(|mut random| DataKey::generate(&mut random))
        .map_err(refused)
}

fn write_sealed(
    source: Source,
    destination: &Destination,
    (key, slots): (&DataKey, &[Slot]),
) -> Result<u64, Failure> {
    let mut source = source.with_progress("sealing");
    destination.write(|out| {
        keywright_container::seal(&mut source, out, key, slots, &Aad::EMPTY, &mut |_| ())
    })
}

impl Handing {
    /// Opens what follows the header. A file takes its name at the end; for anything else all of the source is
    /// verified first, unless it was asked otherwise.
    fn write(
        &self,
        source: Source,
        destination: &Destination,
        opening: (&FileHeader, &DataKey),
    ) -> Result<u64, Failure> {
        if self.stream || destination.is_staged() {
            let mut source = source.with_progress("opening");
            return destination.write(|out| transfer(&mut source, out, opening));
        }
        let mut source = source.repeatable()?.with_progress("verifying");
        transfer(&mut source, &mut std::io::sink(), opening).map_err(refused)?;
        let mut source = source.again()?;
        destination.write(|out| transfer(&mut source, out, opening))
    }
}

fn transfer(
    source: &mut impl Read,
    mut out: &mut dyn Write,
    (header, key): (&FileHeader, &DataKey),
) -> Result<u64, keywright_container::Error> {
    keywright_container::open(source, &mut out, header, key, &Aad::EMPTY, &mut |_| ())
}
