//! `keywright token`: tokens built, verified and narrowed.
//!
//! Keys come from files. A token is as good as a key to whoever holds it, so it is read from a file or
//! standard input and never from the command line; written to a file, it can be read by its owner alone. The
//! process writes no core file.

mod build;
mod claim;
mod key;
mod narrow;
mod refused;
mod text;
mod verify;

use keywright_secret::locked::refuse_core_files;
use keywright_secret::stack::swept;

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Tokens: who may do what until when.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a token.
    Build(build::Arguments),
    /// Verify a token and show what it permits.
    Verify(verify::Arguments),
    /// Take something away from a token that one holds.
    Attenuate(narrow::Arguments),
}

/// Does what takes a key, and overwrites the frames that it used.
fn with_key<T>(work: impl FnOnce() -> T) -> T {
    swept::<{ 64 << 10 }, T>(work)
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    match &arguments.command {
        Command::Build(arguments) => build::run(arguments, format),
        Command::Verify(arguments) => verify::run(arguments, format),
        Command::Attenuate(arguments) => narrow::run(arguments, format),
    }
}
