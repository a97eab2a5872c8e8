//! A file that takes its name only when it is whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_primitives::random::RandomStream;

use crate::Error;

/// A temporary sibling of the file to come; removed on drop unless it was committed.
pub(crate) struct Staged {
    temporary: PathBuf,
    target: PathBuf,
    file: File,
    committed: bool,
}

impl Staged {
    /// Makes the sibling, readable by its owner alone. A sibling, because a name can be given to a file in
    /// one step only within one file system.
    pub(crate) fn beside(target: &Path) -> Result<Self, Error> {
        let name = target.file_name();
        let name = name.ok_or_else(|| Error::Write(io::ErrorKind::InvalidInput.into()))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(
            ".{}.part",
            hex::encode(&RandomStream::new()?.array::<8>()?)
        ));
        let temporary = target.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&temporary).map_err(Error::Write)?;
        Ok(Self {
            temporary,
            target: target.to_path_buf(),
            file,
            committed: false,
        })
    }

    pub(crate) const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)?;
        self.committed = true;
        Ok(())
    }

    /// As [`Staged::commit`], after the content has reached the disk, and then the name.
    pub(crate) fn commit_durably(self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        self.commit()?;
        File::open(folder)?.sync_all()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing can be done about a failure here; the name says what the file is.
            let _ignored = fs::remove_file(&self.temporary);
        }
    }
}
