//! `keywright hd seed shares`: a seed in parts on as many sheets, and back again.

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_hdkey::shares::{Plan, Share, ShareError, combine, split};
use keywright_primitives::random::RandomStream;
use serde::Serialize;

use super::document::{Document, PhraseRecord};
use super::material::{self, Password};
use super::protected::{beside, exists, refuse_existing};
use super::refused::refused;
use super::seed::{Destination, as_text, may_leave};
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Put shares together, and keep the seed in a file under a password.
    Combine(Combine),
    /// Write shares of a seed that may leave, each into a file of its own.
    Split(Split),
}

#[derive(Debug, clap::Args)]
pub(super) struct Split {
    /// The file with the seed.
    #[arg(long, value_name = "FILE")]
    seed_file: PathBuf,
    #[command(flatten)]
    password: Password,
    /// How many shares bring the seed back: 2 to 16.
    #[arg(long, value_name = "N")]
    needed: u8,
    /// How many shares there are: up to 16.
    #[arg(long, value_name = "N")]
    count: u8,
    /// The folder to make, with one file for each share.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    yes: Yes,
}

#[derive(Debug, clap::Args)]
pub(super) struct Combine {
    /// The files with the shares, in any order. With more than are needed, those that do not fit are named.
    #[arg(value_name = "FILE", required = true)]
    shares: Vec<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

pub(super) fn run(command: &Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Combine(arguments) => put_together(arguments, format),
        Command::Split(arguments) => take_apart(arguments, format),
    }
}

#[derive(Serialize)]
struct Written {
    folder: String,
    set: String,
    needed: u8,
    count: u8,
    files: Vec<String>,
}

fn take_apart(arguments: &Split, format: Format) -> Result<Exit, Failure> {
    let plan = Plan::new(arguments.needed, arguments.count).map_err(|error| unfit(&error))?;
    refuse_existing(&arguments.out)?;
    let document = Document::read(&arguments.seed_file, &arguments.password.read()?)?;
    may_leave(document.export)?;
    confirm(
        "shares of the seed are written in plain form",
        arguments.yes,
    )?;
    let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
    let shares = split(&document.seed, plan, &mut random).map_err(refused)?;
    // What is handed out must lead back to this very seed, or the backup is worthless.
    let back = combine(&shares).map_err(|error| unfit(&error))?;
    if back.expose() != document.seed.expose() || back.scheme() != document.seed.scheme() {
        return Err(Failure::broken("the shares do not lead back to the seed"));
    }
    let suffix = random.array().map_err(|error| refused(error.into()))?;
    let files = write_folder(&arguments.out, &beside(&arguments.out, &suffix), &shares)?;
    let written = Written {
        folder: arguments.out.display().to_string(),
        set: shares
            .first()
            .map(|share| hex::encode(share.set()))
            .unwrap_or_default(),
        needed: plan.needed(),
        count: plan.count(),
        files,
    };
    output::document(format, &written, || {
        output::fields(&[
            ("folder", written.folder.clone()),
            ("set", written.set.clone()),
            (
                "shares",
                format!("{} of which {} are needed", plan.count(), plan.needed()),
            ),
        ])
    })?;
    message!("give each file to another place, and remove the folder");
    Ok(Exit::Ok)
}

/// The folder appears with all shares in it, or not at all.
fn write_folder(folder: &Path, staged: &Path, shares: &[Share]) -> Result<Vec<String>, Failure> {
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(staged)
        .map_err(|error| Failure::file(folder, "made", &error))?;
    let filled: Result<Vec<String>, Failure> = shares
        .iter()
        .map(|share| write_share(staged, share))
        .collect();
    let placed = filled.and_then(|files| match std::fs::rename(staged, folder) {
        Ok(()) => Ok(files),
        Err(error) if is_taken(&error) => Err(exists(folder)),
        Err(error) => Err(Failure::file(folder, "made", &error)),
    });
    if placed.is_err() {
        drop(std::fs::remove_dir_all(staged));
    }
    placed
}

/// A folder takes the place of an empty one at most.
fn is_taken(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
}

fn write_share(folder: &Path, share: &Share) -> Result<String, Failure> {
    let name = format!("share-{}-of-{}.txt", share.number(), share.plan().count());
    let path = folder.join(&name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&path).and_then(|mut file| {
        std::io::Write::write_all(&mut file, share.to_text().expose())?;
        file.sync_all()
    });
    written
        .map(|()| name)
        .map_err(|error| Failure::file(&path, "written", &error))
}

fn put_together(arguments: &Combine, format: Format) -> Result<Exit, Failure> {
    refuse_existing(&arguments.destination.out)?;
    let mut shares = Vec::new();
    for path in &arguments.shares {
        let text = material::text(path)?;
        let share = Share::parse(as_text(&text)?).map_err(|error| match error {
            ShareError::NotAShare => Failure::new(
                Exit::Usage,
                format!("{} is no share of a seed", path.display()),
                "give files that `keywright hd seed shares split` has written, letter by letter",
            ),
            other => unfit(&other),
        })?;
        shares.push(share);
    }
    let seed = combine(&shares).map_err(|error| unfit(&error))?;
    arguments
        .destination
        .write(seed, PhraseRecord::Checked, None, format)
}

fn unfit(error: &ShareError) -> Failure {
    let (exit, advice) = match error {
        ShareError::Plan => (Exit::Usage, "give --needed and --count, such as 3 and 5"),
        ShareError::Damaged { .. } => (
            Exit::Usage,
            "compare this share with its original, digit by digit",
        ),
        ShareError::OtherSet { .. } => (
            Exit::Usage,
            "give shares with the same line `set`, made by one splitting",
        ),
        ShareError::Repeated { .. } | ShareError::TooFew { .. } => {
            (Exit::Usage, "add shares with other numbers")
        }
        ShareError::Unfit { .. } => (
            Exit::Negative,
            "leave them out: the others are enough and fit",
        ),
        _ => (
            Exit::Negative,
            "add one share more than are needed, and those that do not fit are named",
        ),
    };
    Failure::new(exit, error.to_string(), advice)
}
