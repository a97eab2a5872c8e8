//! Where results go: a file that appears whole or not at all, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Where the result goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Output {
    /// The file to write; `-` for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite the file if it exists.
    #[arg(long)]
    yes: bool,
}

impl Output {
    /// Decides, before the service is asked, whether the result can be put there.
    pub(super) fn prepare(&self, readers: Readers) -> Result<Destination, Failure> {
        match self.output == Path::new("-") {
            true => Ok(Destination::Stdout),
            false => FileDestination::new(&self.output, Yes { yes: self.yes }, readers)
                .map(Destination::File),
        }
    }
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Whoever the user's mask lets: for ciphertexts.
    AsUsual,
    /// The user alone: for plaintexts and keys.
    Owner,
}

pub(super) enum Destination {
    File(FileDestination),
    Stdout,
}

/// Where the bytes of a result are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    InDocument,
    InFile,
}

impl Placed {
    pub(super) fn in_document(self) -> bool {
        self == Self::InDocument
    }
}

impl Destination {
    /// Writes a result: to a file as bytes; to standard output as bytes, or within a document.
    pub(super) fn deliver<T: Serialize>(
        self,
        bytes: &[u8],
        format: Format,
        document: impl FnOnce(Placed) -> T,
    ) -> Result<Exit, Failure> {
        match (self, format) {
            (Self::Stdout, Format::Text | Format::Csv | Format::Html | Format::Sarif) => {
                output::data(bytes)?;
            }
            (Self::Stdout, Format::Json) => {
                output::document(format, &document(Placed::InDocument), String::new)?
            }
            (Self::File(file), _) => {
                file.write(bytes)?;
                output::document(format, &document(Placed::InFile), String::new)?;
            }
        }
        Ok(Exit::Ok)
    }
}

/// A file that may be written.
pub(super) struct FileDestination {
    path: PathBuf,
    readers: Readers,
    kind: Kind,
}

enum Kind {
    /// A device or a pipe: nothing there to be replaced.
    InPlace,
    New,
    Overwrite,
}

impl FileDestination {
    pub(super) fn new(path: &Path, yes: Yes, readers: Readers) -> Result<Self, Failure> {
        let (path, kind) = match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => (path.to_owned(), Kind::New),
            Err(error) => return Err(failed(path, &error)),
            Ok(there) if there.is_dir() => {
                return Err(failed(path, &ErrorKind::IsADirectory.into()));
            }
            Ok(there) if !there.is_file() => (path.to_owned(), Kind::InPlace),
            Ok(_) => {
                confirm(&format!("overwrite {}", path.display()), yes)?;
                // A link stays one; what it leads to is replaced.
                let target = path.canonicalize().map_err(|error| failed(path, &error))?;
                (target, Kind::Overwrite)
            }
        };
        Ok(Self {
            path,
            readers,
            kind,
        })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match self.kind {
            Kind::InPlace => OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(bytes)),
            Kind::New | Kind::Overwrite => self.place(bytes),
        };
        written.map_err(|error| failed(&self.path, &error))
    }

    /// The same for bytes that come one after the other: a file appears only if `fill` succeeds.
    pub(super) fn fill<T>(
        &self,
        fill: impl FnOnce(&mut File) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let failed = |error: std::io::Error| failed(&self.path, &error);
        if matches!(self.kind, Kind::InPlace) {
            let mut file = OpenOptions::new().write(true).open(&self.path);
            return fill(
                file.as_mut()
                    .map_err(|error| Failure::file(&self.path, "written", error))?,
            );
        }
        let (beside, mut file) = Beside::open(&self.path, self.readers).map_err(failed)?;
        let filled = fill(&mut file)?;
        file.sync_all().map_err(failed)?;
        self.move_in(&beside).map_err(failed)?;
        Ok(filled)
    }

    fn place(&self, bytes: &[u8]) -> std::io::Result<()> {
        let beside = Beside::create(&self.path, self.readers, bytes)?;
        self.move_in(&beside)
    }

    fn move_in(&self, beside: &Beside) -> std::io::Result<()> {
        match self.kind {
            // Unlike a renaming, a link fails if somebody else was quicker. Not every file system has it.
            Kind::New => match std::fs::hard_link(&beside.0, &self.path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    std::fs::rename(&beside.0, &self.path)
                }
                linked => linked,
            },
            Kind::InPlace | Kind::Overwrite => std::fs::rename(&beside.0, &self.path),
        }
    }
}

/// The whole result beside its place; removed in any case, also when it was moved there.
struct Beside(PathBuf);

impl Beside {
    fn create(path: &Path, readers: Readers, bytes: &[u8]) -> std::io::Result<Self> {
        let (whole, mut file) = Self::open(path, readers)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(whole)
    }

    fn open(path: &Path, readers: Readers) -> std::io::Result<(Self, File)> {
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}.new", std::process::id()));
        let beside = path.with_file_name(beside);
        let mode = match readers {
            Readers::AsUsual => 0o666,
            Readers::Owner => 0o600,
        };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&beside)?;
        Ok((Self(beside), file))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::file(path, "written", error)
}
