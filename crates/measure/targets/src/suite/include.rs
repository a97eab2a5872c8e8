//! A suite file and the files that it includes.
//!
//! What may be included is bounded: paths are relative to the file that names them, made of plain names
//! only (no `..`, nothing absolute), and after links are followed they lie in the folder of the first
//! file. So a suite that was handed over with its folder reads nothing else on the machine. Files include
//! files at most four deep, and no file twice.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::error::{Error, Place, Problem, cut};

/// How deep files include each other.
pub(super) const DEEPEST: usize = 4;
/// How many files a suite has.
pub(super) const MOST_FILES: usize = 32;
/// The most bytes of a file.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Where included files may lie.
#[derive(Clone, Debug)]
pub(super) enum Folder {
    /// Nowhere: the suite is no file.
    None,
    /// Below this folder, with links followed.
    Below(PathBuf),
}

/// Reads a file up to the bound.
pub(super) fn read(path: &Path, place: &Place, written: &str) -> Result<String, Error> {
    let unreadable = |error: &io::Error| {
        Error::new(
            place.clone(),
            Problem::Unreadable {
                path: cut(written),
                reason: error.kind(),
            },
        )
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    text(bytes).map_err(|problem| Error::new(place.clone(), problem))
}

/// Bytes as the text of a suite.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.len() > MOST_BYTES {
        return Err(Problem::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Problem::NotText)
}

impl Folder {
    /// The folder of a suite file.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let parent = path.parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        parent.canonicalize().map(Self::Below)
    }

    /// The file that is meant by `written` in a file of the folder `here`.
    pub(super) fn find(&self, here: &Path, written: &str, place: &Place) -> Result<PathBuf, Error> {
        let error = |problem| Error::new(place.clone(), problem);
        let Self::Below(top) = self else {
            return Err(error(Problem::IncludeWithoutFolder));
        };
        let outside = || error(Problem::IncludePath { path: cut(written) });
        let path = Path::new(written);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if written.is_empty() || !path.components().all(plain) {
            return Err(outside());
        }
        let found = here.join(path).canonicalize().map_err(|reason| {
            error(Problem::Unreadable {
                path: cut(written),
                reason: reason.kind(),
            })
        })?;
        if found.starts_with(top) {
            Ok(found)
        } else {
            Err(outside())
        }
    }
}
