//! The files of a run, and their names while it is under way.
//!
//! | file | name |
//! |---|---|
//! | the output, until it is whole | `OUT.part` |
//! | how far it is | `OUT.journal` |
//! | the rejected rows, until the end | `REJECTS.part` |
//! | what stands beside the output | `OUT.protection.json` |

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufReader, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use keywright_tabular::csv::{Layout, Options as Dialect, Reader};

use crate::error::Error;
use crate::plan::Direction;

/// A file that is open, to be read as a table.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    file: File,
    metadata: Metadata,
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NoFile`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| read_failed(path, source);
        // Before it is opened: a pipe would wait for its writer.
        let kind = std::fs::metadata(path).map_err(failed)?;
        if !kind.is_file() {
            return Err(Error::NoFile {
                path: path.to_owned(),
            });
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NoFile {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            metadata,
        })
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the whole file, when it was opened.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.metadata.len()
    }

    /// The file. Whoever reads it by a cursor shares that with everybody else.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }
}

/// A CSV file that is open.
#[derive(Debug)]
pub struct Source {
    input: Input,
    layout: Layout,
    header: Vec<u8>,
}

impl Source {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NoFile`], [`Error::Table`].
    pub fn open(path: &Path, dialect: &Dialect) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let reader = Reader::new(BufReader::new(input.file()), dialect)?;
        let (layout, header) = (reader.layout().clone(), reader.header().to_vec());
        Ok(Self {
            input,
            layout,
            header,
        })
    }

    /// The columns.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Bytes of the whole file, when it was opened.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.input.size()
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.input.path()
    }

    /// The header line as it stands in the file.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    pub(crate) const fn input(&self) -> &Input {
        &self.input
    }

    pub(crate) const fn file(&self) -> &File {
        self.input.file()
    }
}

/// Whether files that are there may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "yes or no")]
pub enum Overwrite {
    /// They stay, and the run is refused.
    Never,
    /// They are replaced when the new ones are whole.
    Replace,
}

/// Where a run writes.
#[derive(Clone, Debug)]
pub struct Files {
    output: PathBuf,
    rejects: PathBuf,
    overwrite: Overwrite,
    keep: Vec<PathBuf>,
}

impl Files {
    /// To this file, which must not exist. Rejected rows, if there are any, go to `OUT.rejects`.
    #[must_use]
    pub fn new(output: &Path) -> Self {
        Self {
            output: output.to_owned(),
            rejects: beside(output, ".rejects"),
            overwrite: Overwrite::Never,
            keep: Vec::new(),
        }
    }

    /// Rejected rows go to this file.
    #[must_use]
    pub fn with_rejects(mut self, rejects: &Path) -> Self {
        self.rejects = rejects.to_owned();
        self
    }

    /// What happens to files that are there.
    #[must_use]
    pub const fn with_overwrite(mut self, overwrite: Overwrite) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Another file that must never be written over, such as that with the rules.
    #[must_use]
    pub fn keeping(mut self, file: &Path) -> Self {
        self.keep.push(file.to_owned());
        self
    }

    /// The output.
    #[must_use]
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Where rejected rows go.
    #[must_use]
    pub fn rejects(&self) -> &Path {
        &self.rejects
    }

    /// What happens to files that are there.
    #[must_use]
    pub const fn overwrite(&self) -> Overwrite {
        self.overwrite
    }

    /// The journal, which is there while a run is not finished.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        beside(&self.output, ".journal")
    }

    pub(crate) fn part(&self) -> PathBuf {
        beside(&self.output, ".part")
    }

    pub(crate) fn rejects_part(&self) -> PathBuf {
        beside(&self.rejects, ".part")
    }

    /// Refuses names that would destroy a file of the run, whatever links lead to it.
    pub(crate) fn judge(&self, input: &Input, rejects: Rejects) -> Result<(), Error> {
        let mut own = vec![
            self.output.clone(),
            self.part(),
            self.journal(),
            protection_of(&self.output),
        ];
        if rejects == Rejects::Yes {
            own.extend([self.rejects.clone(), self.rejects_part()]);
        }
        let places: Vec<PathBuf> = own.iter().map(|path| canonical(path)).collect();
        for (place, path) in own.iter().enumerate() {
            let others = own.iter().zip(&places).skip(place + 1);
            let mut same_place = others.filter(|(_, other)| places.get(place) == Some(other));
            if let Some((other, _)) = same_place.next() {
                return Err(same(path, other));
            }
            let is_link = is_link(path);
            let Ok(there) = std::fs::metadata(path) else {
                match is_link {
                    true => return Err(Error::Link { path: path.clone() }),
                    false => continue,
                }
            };
            let is = |other: &Metadata| (there.dev(), there.ino()) == (other.dev(), other.ino());
            if is(&input.metadata) {
                return Err(same(path, &input.path));
            }
            for kept in &self.keep {
                if std::fs::metadata(kept).is_ok_and(|kept| is(&kept)) {
                    return Err(same(path, kept));
                }
            }
            // The new file would take the place of the link, and not of what it leads to.
            if is_link {
                return Err(Error::Link { path: path.clone() });
            }
            if !there.is_file() {
                return Err(Error::NoFile { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Refuses to replace what is there, unless that was asked for.
    pub(crate) fn free(&self, rejects: Rejects) -> Result<(), Error> {
        let mut finished = vec![self.output.clone(), protection_of(&self.output)];
        let mut under_way = vec![self.part()];
        if rejects == Rejects::Yes {
            finished.push(self.rejects.clone());
            under_way.push(self.rejects_part());
        }
        // What is half made by somebody else is nobody's to replace.
        if self.overwrite == Overwrite::Never {
            under_way.extend(finished);
        }
        match under_way.into_iter().find(|path| exists(path)) {
            Some(path) => Err(Error::Exists { path }),
            None => Ok(()),
        }
    }
}

/// Whether a run has a second file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejects {
    No,
    Yes,
}

/// Where the description of a protected file stands.
#[must_use]
pub fn protection_of(file: &Path) -> PathBuf {
    beside(file, ".protection.json")
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A path by which two spellings of one file are equal, also of a file that is not there yet: its folder without links and
/// dots, and its name.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        // Without the folder nothing can be written there.
        _ => path.to_owned(),
    }
}

pub(crate) fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink())
}

fn same(output: &Path, other: &Path) -> Error {
    Error::SameFile {
        output: output.to_owned(),
        other: other.to_owned(),
    }
}

pub(crate) fn read_failed(path: &Path, source: std::io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn write_failed(path: &Path, source: std::io::Error) -> Error {
    Error::Write {
        path: path.to_owned(),
        source,
    }
}

/// Who may read what is written: values in clear are for their owner alone.
pub(crate) const fn mode(direction: Direction) -> u32 {
    match direction {
        Direction::Reveal => 0o600,
        Direction::Protect | Direction::Migrate => 0o666,
    }
}

/// Opens a file of the run to read and write, and makes it if it is not there.
pub(crate) fn open(path: &Path, mode: u32) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let opened = options.mode(mode).open(path);
    opened.map_err(|source| write_failed(path, source))
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(write_failed(path, error)),
        _ => Ok(()),
    }
}

/// Gives a file its name, if it still has the one it was written under.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(write_failed(to, error)),
        _ => Ok(()),
    }
}

/// Writes a small file whole or not at all.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let part = beside(path, ".part");
    let failed = |source| write_failed(path, source);
    let mut file = File::create(&part).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

/// Makes names last that were given or taken in the folder of a file.
pub(crate) fn sync_folder(file: &Path) -> Result<(), Error> {
    let folder = match file.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    let opened = File::open(folder).and_then(|folder| folder.sync_all());
    opened.map_err(|source| write_failed(file, source))
}
