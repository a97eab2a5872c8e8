//! Files of new keys: written before the first row, and gone again if nothing of the run is left.
//!
//! What is wrong with rules, columns and descriptions is found before a file is made, and what is wrong with a row
//! takes it away again. It stays with an output, and with what an interrupted run can go on with: neither is of use
//! without its key.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use keywright_secret::SecretBytes;

use crate::exit::{Exit, Failure};

/// Files that are still to be written.
#[derive(Debug, Default)]
pub(super) struct NewFiles(Vec<(PathBuf, SecretBytes)>);

impl NewFiles {
    /// A file with this line.
    pub(super) fn add(&mut self, path: &Path, line: Vec<u8>) -> Result<(), Failure> {
        let line = SecretBytes::from_vec(line);
        free(path)?;
        self.0.push((path.to_owned(), line));
        Ok(())
    }

    /// Writes them all, or none.
    pub(super) fn write(&self) -> Result<Written, Failure> {
        let made = self.0.iter().map(|(path, line)| Made::write(path, line));
        made.collect::<Result<Vec<_>, _>>().map(Written)
    }
}

/// Files that are on the disk, and go away again with this unless they are kept.
#[must_use]
pub(super) struct Written(Vec<Made>);

impl Written {
    /// Leaves them there.
    pub(super) fn keep(mut self) {
        for made in &mut self.0 {
            made.is_kept = true;
        }
    }
}

/// A file that this run has made.
struct Made {
    path: PathBuf,
    /// While it is open no other file can be taken for it.
    file: File,
    is_kept: bool,
}

impl Made {
    /// Makes the file, for its owner alone, and makes it last: what is protected with the key comes later.
    fn write(path: &Path, line: &SecretBytes) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o600).open(path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => taken(path),
            _ => Failure::file(path, "written", &error),
        })?;
        let mut made = Self {
            path: path.to_owned(),
            file,
            is_kept: false,
        };
        let filled = made.fill(line);
        filled.map_err(|error| Failure::file(path, "written", &error))?;
        Ok(made)
    }

    fn fill(&mut self, line: &SecretBytes) -> std::io::Result<()> {
        self.file.write_all(line.expose())?;
        self.file.write_all(b"\n")?;
        self.file.sync_all()?;
        let folder = self.path.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
    }

    /// Whether its name still leads to it: somebody may have put another file there.
    fn is_there(&self) -> bool {
        match (self.file.metadata(), self.path.symlink_metadata()) {
            (Ok(own), Ok(there)) => (own.dev(), own.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // After a bug nobody knows what is left of the run.
        if !self.is_kept && !std::thread::panicking() && self.is_there() {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// Refuses a name that something has.
pub(super) fn free(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => Err(taken(path)),
        Err(_) => Ok(()),
    }
}

fn taken(path: &Path) -> Failure {
    Failure::new(
        Exit::Refused,
        format!("{} exists and is not written over", path.display()),
        "choose another name, or leave --new-key out to use what is there",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_files(folder: &Path, names: &[&str]) -> NewFiles {
        let mut files = NewFiles::default();
        for name in names {
            files.add(&folder.join(name), b"0102".to_vec()).unwrap();
        }
        files
    }

    #[test]
    fn files_stay_only_if_they_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one");
        let files = new_files(folder.path(), &["one"]);
        assert!(!path.exists());
        let written = files.write().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"0102\n");
        drop(written);
        assert!(!path.exists());
        files.write().unwrap().keep();
        assert!(path.exists());
    }

    #[test]
    fn what_was_there_is_neither_written_over_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let files = new_files(folder.path(), &["one", "two"]);
        std::fs::write(&two, "another").unwrap();
        assert!(files.write().is_err());
        assert!(!one.exists());
        assert_eq!(std::fs::read(&two).unwrap(), b"another");
        assert!(NewFiles::default().add(&two, Vec::new()).is_err());
    }

    #[test]
    fn a_file_that_somebody_has_put_in_its_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("one"), folder.path().join("other"));
        let written = new_files(folder.path(), &["one"]).write().unwrap();
        std::fs::write(&other, "another").unwrap();
        std::fs::rename(&other, &path).unwrap();
        drop(written);
        assert_eq!(std::fs::read(&path).unwrap(), b"another");
    }
}
