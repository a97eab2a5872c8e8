//! `keywright vectors run`: files of test vectors, every case both ways on every backend of the machine.
//!
//! Forms that are read: Wycheproof's FF1 files, with texts and with lists of digits; the validation server's
//! JSON and the table of cases transcribed from it; worked examples as JSON, as `Count = ...` blocks and as
//! the FFX text; our own `collected`, `generated` and golden files. Cases run under everything that the
//! standard of 2016 allows; how many of them the strict policy refuses is counted by reason.
//!
//! Trees of keys have their own forms and no backends: BIP-32, BIP-39, BIP-340, SLIP-0010, SLIP-0021, PRISM.
//!
//! So have the primitives that sessions are made of: HPKE, X25519, Ed25519, AES-GCM, ChaCha20-Poly1305 and
//! XChaCha20-Poly1305, HKDF, HMAC, ML-KEM, BLAKE3, Argon2id.
//!
//! Not here: vectors of other algorithms. Their cases are counted as skipped where the file says how many
//! it has, and their files as ignored where it does not.

mod case;
mod forms;
mod judge;
mod report;

use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use forms::Content;
use judge::Judge;
use report::Report;

/// Test vectors.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run files, and all files of folders.
    Run(RunArguments),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    /// Files and folders.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self) -> RunArguments {
        let Command::Run(arguments) = self.command;
        arguments
    }
}

pub(crate) fn run(arguments: &RunArguments, format: Format) -> Result<Exit, Failure> {
    let mut report = Report::new();
    let judge = Judge::new();
    for path in &arguments.paths {
        let found = files(path)?;
        for file in &found {
            match forms::read(file)? {
                Content::Cases(cases) => report.file(file, &judge, &cases),
                Content::Judged(cases) => report.judged(file, &cases),
                Content::Other { cases, of } => report.skip(&of, cases),
                // What is named has to be read; a folder may hold other things.
                Content::Unknown if file == path => return Err(unknown(file)),
                Content::Unknown => report.ignore(),
            }
        }
    }
    if report.is_empty() {
        return Err(Failure::new(
            Exit::NotFound,
            "there is no case in these files that this command runs",
            "name files or folders of vectors; the command's help says which forms are read",
        ));
    }
    report.backends(&judge);
    output::document(format, &report, || report.text())?;
    Ok(match report.has_failed() {
        true => Exit::Gate,
        false => Exit::Ok,
    })
}

fn unknown(file: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format!(
            "{} is no file of vectors that this command reads",
            file.display()
        ),
        "name a file of FF1, FF3 or FF3-1 vectors or of trees of keys, or the folder that it stands in",
    )
}

/// The file, or all files below the folder in the order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let about = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(
            Exit::NotFound,
            format!("there is nothing at {}", path.display()),
            "name a file or a folder of vectors",
        ),
        _ => Failure::file(path, "read", &error),
    })?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    below(path, &mut found)?;
    found.sort();
    Ok(found)
}

/// Links to folders are not followed, so the way ends.
fn below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| Failure::file(folder, "read", &error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            below(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    Ok(())
}
