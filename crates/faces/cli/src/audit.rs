//! `keywright audit`: an audit log, verified and shown offline.
//!
//! The files are read as they are, also while a node writes them: no lock is taken and nothing changed.

mod show;
mod verify;

use std::path::PathBuf;

pub(crate) use verify::parse_fingerprint;

use crate::exit::{Exit, Failure};
use crate::output::Format;
use crate::place::existing_home;

/// Verify or show an audit log.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check every link, head and signature; exit code 8 with the place of the first thing that is wrong.
    Verify(verify::Arguments),
    /// Print records as one JSON document per line. Not verified: use `audit verify` for that.
    Show(show::Arguments),
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Verify(arguments) => verify::run(&arguments, format),
        Command::Show(arguments) => show::run(&arguments),
    }
}

/// Where the log is.
#[derive(Debug, clap::Args)]
struct Place {
    /// The folder of the log [default: that of the home].
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The home [default: keywright-home, unless DIR is given].
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl Place {
    fn folder(&self) -> Result<PathBuf, Failure> {
        match (&self.folder, self.home()) {
            (Some(folder), _) => Ok(folder.clone()),
            (None, home) => {
                let config = existing_home(&home.unwrap_or_default())?;
                let config = keywright_home::Config::read(&config)
                    .map_err(keywright_home::HomeError::from)?;
                Ok(config.audit.directory)
            }
        }
    }

    /// The home, if it was named, or if nothing was: the log of another folder is not that of the home
    /// which happens to be here.
    fn home(&self) -> Option<PathBuf> {
        match (&self.home, &self.folder) {
            (Some(home), _) => Some(home.clone()),
            (None, None) => Some("keywright-home".into()),
            (None, Some(_)) => None,
        }
    }
}
