//! `keywright hd`: keys of a tree from one seed.
//!
//! A seed lies in a file under a password, with the name of how it was made and whether it may leave. Words
//! and seeds come from a file or standard input, passwords from files; none is ever an argument. Words are
//! shown once, when they are made, and are not kept. Every answer names the scheme of its key.

mod document;
mod keys;
mod material;
mod refused;
mod seed;
mod signing;
mod tree;

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
    /// Verify a signature.
    Verify(signing::Verify),
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Derive(arguments) => keys::derive(&arguments, format),
        Command::Public(arguments) => keys::public(&arguments, format),
        Command::Seed(command) => seed::run(&command, format),
        Command::Sign(arguments) => signing::sign(&arguments, format),
        Command::Verify(arguments) => signing::verify(&arguments, format),
        Command::Xpub(arguments) => keys::xpub(&arguments, format),
    }
}
