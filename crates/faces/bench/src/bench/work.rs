//! The folder of a measurement: files, homes of servers. It goes with the measurement.

use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// A folder for a measurement.
pub(super) struct Work {
    folder: PathBuf,
    remove: bool,
}

const PREFIX: &str = "keywright-bench-";

impl Work {
    /// The folder that was asked for, which stays, or one of our own, which does not.
    pub(super) fn prepare(wanted: Option<&Path>) -> Result<Self, Failure> {
        let (folder, remove) = match wanted {
            Some(folder) => (folder.to_owned(), false),
            None => (
                std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id())),
                true,
            ),
        };
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::file(&folder, "written", &error))?;
        Ok(Self { folder, remove })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.remove {
            drop(std::fs::remove_dir_all(&self.folder));
        }
    }
}

/// Folders of processes that are no more: killed before they could remove them.
pub(super) fn abandoned() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else {
        return Vec::new();
    };
    let left = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .map(str::to_owned);
        id.and_then(|id| id.parse::<u32>().ok())
            .is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
    };
    let entries = entries.filter_map(Result::ok);
    entries.filter(left).map(|entry| entry.path()).collect()
}
