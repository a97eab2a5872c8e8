//! What goes into an operation and where its result goes: a file that appears whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use keywright_encoding::base64;
use serde_json::{Value, json};

use super::answer::{Answer, Refusal};
use super::interrupt::Interruptible;
use crate::exit::{Exit, Failure};

/// Where the data comes from.
#[derive(Debug, Default, clap::Args)]
pub struct Input {
    /// The file to read; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

/// Where the result goes.
#[derive(Debug, Default, clap::Args)]
pub struct Output {
    /// The file to write; `-` for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Whether a path means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens a file to read, or standard input.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Refusal> {
    if is_standard(path) {
        return Ok(Box::new(Interruptible(rustix::stdio::stdin())));
    }
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = opened.map_err(|error| Failure::file(path, "read", &error))?;
    Ok(Box::new(Interruptible(file)))
}

/// The bytes of a short file.
pub fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(LONGEST as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file(path, "read", &error))?;
    if bytes.len() > LONGEST {
        return Err(Refusal::usage(
            format!("{} has more than {LONGEST} bytes", path.display()),
            "name the right file",
        ));
    }
    Ok(bytes)
}

/// As much as is kept in memory for standard output, and as a short file may have.
const LONGEST: usize = 64 << 20;

impl Input {
    /// Opens it to be read.
    pub fn open(&self) -> Result<Box<dyn Read>, Refusal> {
        open(&self.input)
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.input.display().to_string()
    }
}

impl Output {
    /// Its name in messages.
    pub fn name(&self) -> String {
        self.output.display().to_string()
    }

    const fn existing(&self) -> Existing {
        if self.force {
            Existing::Replace
        } else {
            Existing::Keep
        }
    }

    /// Whether it is a file, and not standard output.
    pub fn is_file(&self) -> bool {
        !is_standard(&self.output)
    }

    /// To a file that another word names, under the same conditions.
    pub fn to(path: &Path, like: &Self) -> Self {
        Self {
            output: path.to_owned(),
            force: like.force,
        }
    }

    /// The text of an answer in the file, if there is one; the document stays with the answer.
    pub fn place_text(&self, mut answer: Answer) -> Result<Answer, Refusal> {
        if self.is_file() {
            let text = std::mem::take(&mut answer.text);
            self.with(|out| {
                let written = out.write_all(&text);
                Ok(written.map_err(|error| Failure::file(&self.output, "written", &error))?)
            })?;
        }
        Ok(answer)
    }

    /// Whether the result could be put there, before anything is done.
    pub fn prepare(&self) -> Result<Sink, Refusal> {
        if !self.is_file() {
            return Ok(Sink::Memory(Vec::new()));
        }
        let path = &self.output;
        match std::fs::symlink_metadata(path) {
            Ok(there) if there.is_dir() => {
                let error = ErrorKind::IsADirectory.into();
                Err(Failure::file(path, "written", &error).into())
            }
            Ok(_) if !self.force => Err(Failure::new(
                Exit::Refused,
                format!("{} exists", path.display()),
                "name another file, or add --force to replace it",
            )
            .into()),
            _ => Ok(Sink::File(Beside::create(path, self.existing())?)),
        }
    }

    /// Runs `work` with a writer; what it wrote is kept only if it went well.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut dyn Write) -> Result<T, Refusal>,
    ) -> Result<(T, Placed), Refusal> {
        let mut sink = self.prepare()?;
        let done = work(&mut sink)?;
        Ok((done, sink.keep()?))
    }
}

/// Writes a whole file, in place of one that is there.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let output = Output {
        output: path.to_owned(),
        force: true,
    };
    output.with(|out| {
        let written = out.write_all(bytes);
        Ok(written.map_err(|error| Failure::file(path, "written", &error))?)
    })?;
    Ok(())
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existing {
    Keep,
    Replace,
}

/// What takes a result until it is whole.
pub enum Sink {
    /// A file that has no name yet.
    File(Beside),
    /// Bytes for standard output.
    Memory(Vec<u8>),
}

/// Where the bytes of a result are.
pub enum Placed {
    /// In memory.
    Here(Vec<u8>),
    /// In the file.
    InFile,
}

impl Placed {
    /// The answer: bytes to standard output as they are, or within the document.
    pub fn answer(self, mut data: Value) -> Answer {
        match self {
            Self::InFile => Answer::of(&data),
            Self::Here(bytes) => {
                if let Some(fields) = data.as_object_mut() {
                    fields.insert("output_base64".to_owned(), json!(base64::encode(&bytes)));
                }
                Answer::of(&data).text(bytes)
            }
        }
    }
}

impl Sink {
    /// The whole result in its place.
    pub fn keep(self) -> Result<Placed, Refusal> {
        match self {
            Self::Memory(bytes) => Ok(Placed::Here(bytes)),
            Self::File(file) => {
                let path = file.path.clone();
                let kept = file.keep();
                kept.map_err(|error| Failure::file(&path, "written", &error))?;
                Ok(Placed::InFile)
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.file.write(bytes),
            Self::Memory(all) if all.len() + bytes.len() > LONGEST => Err(std::io::Error::other(
                "more than 64 MiB for standard output: name a file with --output",
            )),
            Self::Memory(all) => all.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The whole result before it has its place.
///
/// It has no name until then where the file system can do that, so that nothing of it is left however the program
/// ends. Elsewhere it lies beside its place, and is removed if it is not kept.
pub struct Beside {
    file: File,
    path: PathBuf,
    beside: PathBuf,
    is_named: bool,
    existing: Existing,
}

impl Beside {
    fn create(path: &Path, existing: Existing) -> Result<Self, Refusal> {
        let name = path.file_name().ok_or_else(|| {
            Refusal::usage(format!("{} names no file", path.display()), "name a file")
        })?;
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}.new", std::process::id()));
        let beside = path.with_file_name(beside);
        let (file, is_named) = match nameless(path) {
            Ok(file) => (file, false),
            Err(_) => {
                let named = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&beside);
                let file = named.map_err(|error| Failure::file(path, "written", &error))?;
                (file, true)
            }
        };
        Ok(Self {
            file,
            path: path.to_owned(),
            beside,
            is_named,
            existing,
        })
    }

    fn keep(mut self) -> std::io::Result<()> {
        self.file.sync_all()?;
        if !self.is_named {
            if self.existing == Existing::Keep {
                return link(&self.file, &self.path);
            }
            // Nothing that is there is replaced by a link: whole, it gets a name to be renamed from.
            link(&self.file, &self.beside)?;
            self.is_named = true;
        }
        if self.existing == Existing::Replace {
            return std::fs::rename(&self.beside, &self.path);
        }
        // Unlike a renaming, a link fails if somebody else was quicker. Not every file system has it.
        match std::fs::hard_link(&self.beside, &self.path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                std::fs::rename(&self.beside, &self.path)
            }
            linked => linked,
        }
    }
}

/// A file of the folder that `path` is in, without a name.
fn nameless(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?;
    let file = File::from(opened);
    // Without its entry there it could get no name afterwards.
    std::fs::symlink_metadata(own(&file))?;
    Ok(file)
}

/// Gives a nameless file its name; fails if there is one like that.
fn link(file: &File, name: &Path) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, own(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// How the system names an open file of this process.
fn own(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

impl Drop for Beside {
    fn drop(&mut self) {
        if self.is_named {
            drop(std::fs::remove_file(&self.beside));
        }
    }
}
