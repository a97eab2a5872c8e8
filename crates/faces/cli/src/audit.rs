//! `keywright audit`: an audit log, verified and shown offline.
//!
//! The files are read as they are, also while a node writes them: no lock is taken and nothing changed.

mod show;
mod verify;

use std::path::PathBuf;

use keywright_audit::head::Fingerprint;
use keywright_encoding::hex;

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
    /// Print records as one JSON document per line. The signer is compared; use `audit verify` for all of the log.
    Show(show::Arguments),
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Verify(arguments) => verify::run(&arguments, format),
        Command::Show(arguments) => show::run(&arguments),
    }
}

/// Whose log it has to be.
#[derive(Debug, clap::Args)]
struct SignerArgs {
    /// The fingerprint of the log's signer, from outside the log [default: audit-signer.txt of the home].
    #[arg(long, value_name = "HEX", conflicts_with = "fingerprint_file")]
    fingerprint: Option<String>,
    /// The same, in a file.
    #[arg(long, value_name = "FILE")]
    fingerprint_file: Option<PathBuf>,
}

impl SignerArgs {
    /// The fingerprint, if one is given or in the home.
    fn read(&self, place: &Place) -> Result<Option<Fingerprint>, Failure> {
        let file = match (&self.fingerprint, &self.fingerprint_file, place.home()) {
            (Some(text), ..) => return parse_fingerprint(text, "--fingerprint").map(Some),
            (None, Some(file), _) => file.clone(),
            (None, None, Some(home)) => {
                let file = home.join(keywright_home::FINGERPRINT_FILE);
                if !file.exists() {
                    return Ok(None);
                }
                file
            }
            (None, None, None) => return Ok(None),
        };
        let text = crate::place::read(&file)?;
        parse_fingerprint(&String::from_utf8_lossy(&text), &file.display().to_string()).map(Some)
    }
}

pub(crate) fn parse_fingerprint(text: &str, place: &str) -> Result<Fingerprint, Failure> {
    hex::decode_array(text.trim())
        .map(Fingerprint::from_bytes)
        .map_err(|_| {
            let happened = format!("{place} holds no fingerprint");
            Failure::new(
                Exit::Usage,
                happened,
                "a fingerprint is 64 lower-case hexadecimal digits, as in audit-signer.txt",
            )
        })
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
