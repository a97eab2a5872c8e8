//! `keywright hd`: keys of a tree from one seed.
//!
//! A seed lies in a file under a password, with the name of how it was made and whether it may leave. Words
//! and seeds come from a file or standard input, passwords from files; none is ever an argument. Words are
//! shown once, when they are made, and are not kept. Every answer names the scheme of its key. The process
//! writes no core file, and locks its memory where it may.

mod document;
mod keys;
mod material;
mod protected;
mod refused;
mod seed;
mod shares;
mod signing;
mod tree;
mod vault;

use std::path::Path;

use keywright_secret::SecretBytes;
use keywright_secret::locked::{Locking, lock_process};

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Keys of a tree from one seed.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make, import and export seeds.
    #[command(subcommand)]
    Seed(seed::Command),
    /// Let a private key out, if its seed may leave.
    Derive(keys::Derive),
    /// Show a public key.
    Public(keys::Public),
    /// Show a public node, from which others make public keys.
    Xpub(keys::Xpub),
    /// Sign a message.
    Sign(signing::Sign),
    /// Take over wallets of Identus agents from a secret store.
    #[command(subcommand)]
    Vault(Box<vault::Command>),
    /// Verify a signature.
    Verify(signing::Verify),
}

/// A seed of a file, for a wallet of the service: its bytes, the name of how it came to be, and whether it may
/// leave in plain form.
pub(crate) struct SeedOfFile {
    pub(crate) seed: SecretBytes,
    pub(crate) scheme: String,
    pub(crate) plain: bool,
}

impl SeedOfFile {
    /// That of a seed file under a password.
    pub(crate) fn read(file: &Path, password_file: &Path) -> Result<Self, Failure> {
        let password = material::Password::of(password_file).read()?;
        Ok(Self::of(&document::Document::read(file, &password)?))
    }

    /// That of the text which such a file, or one that was sealed to a public key, holds.
    pub(crate) fn parse(text: &SecretBytes) -> Option<Self> {
        document::Document::parse(text.expose()).map(|document| Self::of(&document))
    }

    fn of(document: &document::Document) -> Self {
        Self {
            seed: SecretBytes::from_vec(document.seed.expose().to_vec()),
            scheme: document.seed.scheme().to_string(),
            plain: document.export == document::Export::Plain,
        }
    }
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    // What a seed is read into must reach neither a core file nor the swap space. Where the system refuses
    // to lock memory, the user learns it once the command has done its work.
    let locking = lock_process();
    let ended = work(arguments, format)?;
    if locking != Locking::Locked && swaps() {
        message!("note: this user may lock too little memory (ulimit -l), and the machine swaps");
    }
    Ok(ended)
}

/// Whether the machine has any swap space.
fn swaps() -> bool {
    let listed = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    // The first line is the heading.
    listed.lines().count() > 1
}

fn work(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Derive(arguments) => keys::derive(&arguments, format),
        Command::Public(arguments) => keys::public(&arguments, format),
        Command::Seed(command) => seed::run(&command, format),
        Command::Sign(arguments) => signing::sign(&arguments, format),
        Command::Vault(command) => vault::run(&command, format),
        Command::Verify(arguments) => signing::verify(&arguments, format),
        Command::Xpub(arguments) => keys::xpub(&arguments, format),
    }
}
