//! Where the bytes go: a file that appears whole or not at all, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use keywright_container::Error;

use super::refused::refused;
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Where the bytes go.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// The file to write; `-` for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite the file if it exists.
    #[arg(long)]
    yes: bool,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Whoever the user's mask lets: for ciphertexts.
    AsUsual,
    /// The user alone: for plaintexts and keys.
    Owner,
}

/// A place that can be written to.
pub(super) enum Destination {
    /// A device or a pipe: nothing there to be replaced.
    InPlace(PathBuf),
    New(PathBuf, Readers),
    Overwrite(PathBuf, Readers),
    Stdout,
}

impl Output {
    /// Decides, before anything is read, whether the result can be put there.
    pub(super) fn prepare(&self, readers: Readers, format: Format) -> Result<Destination, Failure> {
        if self.output != Path::new("-") {
            return Destination::file(&self.output, Yes { yes: self.yes }, readers);
        }
        if format == Format::Json {
            return Err(Failure::new(
                Exit::Usage,
                "the file and a JSON document cannot both go to standard output",
                "name the file with --output FILE, or leave --format json out",
            ));
        }
        Ok(Destination::Stdout)
    }
}

impl Destination {
    fn file(path: &Path, yes: Yes, readers: Readers) -> Result<Self, Failure> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self::New(path.to_owned(), readers))
            }
            Err(error) => Err(unwritable(path, &error)),
            Ok(there) if there.is_dir() => Err(unwritable(path, &ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => Ok(Self::InPlace(path.to_owned())),
            Ok(_) => {
                confirm(&format!("overwrite {}", path.display()), yes)?;
                // A link stays one; what it leads to is replaced.
                let target = path.canonicalize();
                Ok(Self::Overwrite(
                    target.map_err(|error| unwritable(path, &error))?,
                    readers,
                ))
            }
        }
    }

    /// A file that must not exist: keys are never written over.
    pub(super) fn new_only(path: &Path, readers: Readers) -> Result<Self, Failure> {
        match std::fs::symlink_metadata(path) {
            Ok(_) => Err(exists(path)),
            Err(_) => Ok(Self::New(path.to_owned(), readers)),
        }
    }

    pub(super) const fn is_file(&self) -> bool {
        !matches!(self, Self::Stdout)
    }

    /// Whether what is written can still be taken back.
    pub(super) const fn is_staged(&self) -> bool {
        matches!(self, Self::New(..) | Self::Overwrite(..))
    }

    /// Lets `fill` write, and keeps the result only if it succeeds.
    pub(super) fn write(
        &self,
        fill: impl FnOnce(&mut &mut dyn Write) -> Result<u64, Error>,
    ) -> Result<u64, Failure> {
        match self {
            Self::InPlace(path) => {
                let opened = OpenOptions::new().write(true).open(path);
                let mut file = opened.map_err(|error| unwritable(path, &error))?;
                fill(&mut (&mut file as &mut dyn Write)).map_err(|error| at(path, error))
            }
            Self::New(path, readers) | Self::Overwrite(path, readers) => {
                let mut staged = Staged::beside(path, *readers)?;
                let total = fill(&mut (&mut staged.file as &mut dyn Write));
                let total = total.map_err(|error| at(path, error))?;
                let placed = match self {
                    Self::Overwrite(..) => staged.replace(path),
                    _ => staged.appear(path),
                };
                placed.map(|()| total)
            }
            Self::Stdout => {
                let mut out = std::io::stdout().lock();
                match fill(&mut (&mut out as &mut dyn Write)) {
                    // Enough was read, which is a success.
                    Err(Error::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
                    other => other.map_err(|error| at(Path::new("standard output"), error)),
                }
            }
        }
    }
}

/// The temporary file that a signal removes.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file beside its place; removed in any case, also when it has been given its name.
struct Staged {
    temporary: PathBuf,
    file: File,
}

impl Staged {
    fn beside(path: &Path, readers: Readers) -> Result<Self, Failure> {
        let failed = |error| unwritable(path, &error);
        let name = path
            .file_name()
            .ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let mode = match readers {
            Readers::AsUsual => 0o666,
            Readers::Owner => 0o600,
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        clean_up_when_interrupted()?;
        // Under the lock, so that no signal finds the file without its name.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = options.open(&temporary).map_err(failed)?;
        *unfinished = Some(temporary.clone());
        Ok(Self { temporary, file })
    }

    /// Takes a name that nobody has. Unlike a renaming, a link fails if somebody else was quicker; not every
    /// file system has it.
    fn appear(&self, path: &Path) -> Result<(), Failure> {
        self.file
            .sync_all()
            .map_err(|error| unwritable(path, &error))?;
        match std::fs::hard_link(&self.temporary, path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(path)),
            Err(_) => self.replace(path),
        }
    }

    fn replace(&self, path: &Path) -> Result<(), Failure> {
        self.file
            .sync_all()
            .and_then(|()| std::fs::rename(&self.temporary, path))
            .map_err(|error| unwritable(path, &error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.temporary));
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Removes the temporary file at an interrupt, from here on until the program ends.
fn clean_up_when_interrupted() -> Result<(), Failure> {
    static ONCE: Once = Once::new();
    let mut listening = Ok(());
    ONCE.call_once(|| {
        listening = crate::signals::on_ending(|| {
            if let Ok(unfinished) = UNFINISHED.lock()
                && let Some(path) = &*unfinished
            {
                drop(std::fs::remove_file(path));
            }
            std::process::exit(i32::from(Exit::Interrupted as u8));
        });
    });
    listening
}

/// What went wrong, with the path where it was the writing.
fn at(path: &Path, error: Error) -> Failure {
    match error {
        Error::Write(error) => unwritable(path, &error),
        other => refused(other),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::file(path, "written", error)
}

fn exists(path: &Path) -> Failure {
    Failure::new(
        Exit::Refused,
        format!("{} exists and is not written over", path.display()),
        "choose another name",
    )
}
