//! Commands that `keywright-bench` carries out: here for the help, the completions and the manual pages. What they take
//! is said by that program.

use std::ffi::OsString;
use std::path::PathBuf;

use keywright_hsm::Context;
use keywright_terminal::dispatch::{self, Delegation};
use keywright_terminal::token::answer::{self, Beside};
use keywright_terminal::token::pin::UserPin;
use keywright_terminal::token::place::{Key, Place};

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Words that are handed on as they are.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "keywright-bench runs this command and explains its flags where it is installed."
)]
pub(crate) struct Words {
    /// More flags and values of the command.
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

/// Let two parties talk over a bad line.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Session {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    /// Let two parties talk over pipes that lose, repeat, delay and change frames, and show what came of it.
    Demo(Words),
}

/// Run files of test vectors.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Vectors {
    #[command(subcommand)]
    command: VectorsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum VectorsCommand {
    /// Run files, and all files of folders.
    Run(Words),
}

/// Which token is measured, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    more: Words,
}

/// A log to read.
#[derive(Debug, clap::Args)]
pub(crate) struct LogWords {
    /// The log: of the recorder (JSON Lines) or of OpenSC's pkcs11-spy; `-` for standard input.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    more: Words,
}

impl Words {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        Err(kept())
    }
}

/// Words are handed on before those of this program are read, so that none of them gets here.
pub(crate) fn kept() -> Failure {
    Failure::broken(format!(
        "words of {} were not handed on to it",
        dispatch::BENCH
    ))
}

impl Session {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let SessionCommand::Demo(words) = self.command;
        words.run()
    }
}

impl Vectors {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let VectorsCommand::Run(words) = self.command;
        words.run()
    }
}

/// Lets the other program take the place of this one. Comes back only if that failed.
pub(crate) fn carry_out(delegation: &Delegation, format: Format) -> Exit {
    let failure = delegation.carry_out();
    let exit = failure.exit;
    match delegation.token_command() {
        Some(name) => {
            let (beside, refusal) = (Beside::default(), Err(failure.into()));
            // Whoever closed the pipe learns the exit code all the same.
            drop(answer::print(
                name,
                Context::General,
                format,
                &beside,
                refusal,
            ));
        }
        None => output::failure(format, &failure),
    }
    exit
}
