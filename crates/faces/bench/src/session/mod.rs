//! `keywright session`: sessions of two parties.

mod demo;
mod line;
mod party;

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Sessions of two parties.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Let two parties talk over pipes that lose, repeat, delay and change frames, and show what came of it.
    Demo(demo::Arguments),
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Demo(arguments) => demo::run(arguments, format),
    }
}
