//! `keywright session`: sessions of two parties.

mod demo;
mod line;
mod party;

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

pub(crate) use demo::{Arguments as DemoArguments, run as demo};

impl Arguments {
    pub(crate) fn demo(self) -> DemoArguments {
        let Command::Demo(arguments) = self.command;
        arguments
    }
}
