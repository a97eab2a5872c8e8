//! Where foreign vectors are found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Error;

/// The folder of one family of vector files.
#[derive(Clone, Debug)]
pub struct Family {
    name: String,
    folder: PathBuf,
    demanded: bool,
}

impl Family {
    /// The family's folder under `KEYWRIGHT_VECTORS` or, without it, under `../shared/vectors`; both are
    /// taken relative to the repository.
    #[must_use]
    pub fn locate(name: &str) -> Self {
        Self::below(name, environment("KEYWRIGHT_VECTORS"))
    }

    fn below(name: &str, named: Option<OsString>) -> Self {
        let demanded = named.is_some();
        let root = named.map_or_else(|| PathBuf::from("../shared/vectors"), PathBuf::from);
        Self {
            name: name.to_owned(),
            folder: repository().join(root).join(name),
            demanded,
        }
    }

    /// The files whose names match `pattern`, in which one `*` stands for anything; none if the folder is
    /// absent and nobody asked for it.
    ///
    /// # Errors
    /// [`Error::Empty`] if `KEYWRIGHT_VECTORS` is set and nothing matches.
    pub fn files(&self, pattern: &str) -> Result<Vec<PathBuf>, Error> {
        let (head, tail) = pattern.split_once('*').unwrap_or((pattern, ""));
        let whole = !pattern.contains('*');
        let fits = |name: &str| {
            name == pattern
                || (!whole
                    && name.len() >= head.len() + tail.len()
                    && name.starts_with(head)
                    && name.ends_with(tail))
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(fits)
            })
            .collect();
        files.sort();
        if files.is_empty() && self.demanded {
            return Err(Error::Empty {
                family: format!("{}/{pattern}", self.name),
            });
        }
        Ok(files)
    }

    /// The one file of this name; `None` if it is absent and nobody asked for it.
    ///
    /// # Errors
    /// [`Error::Empty`] as in [`Family::files`], [`Error::Io`] or [`Error::Json`] for a file that is none.
    pub fn json(&self, name: &str) -> Result<Option<Value>, Error> {
        self.files(name)?
            .first()
            .map(|path| read_json(path))
            .transpose()
    }
}

/// The root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    // This crate lies two folders below the root.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_path_buf()
}

pub(crate) fn read_json(path: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_path_buf(),
        source,
    })?;
    serde_json::from_slice(&bytes).map_err(|source| Error::Json {
        path: path.to_path_buf(),
        source,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test crate: the folder of vectors is named by the environment"
)]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_folder_is_empty_unless_it_was_asked_for() {
        let absent = Family::below("no-such-family", None);
        assert!(absent.files("*").unwrap().is_empty());
        assert!(absent.json("a.json").unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("f")).unwrap();
        let asked = Family::below("f", Some(folder.path().into()));
        assert!(matches!(asked.files("*"), Err(Error::Empty { .. })));
    }

    #[test]
    fn a_pattern_selects_by_both_ends_and_a_name_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a_1_test.json",
            "a_2_test.json",
            "a_test.txt",
            "b_test.json",
        ] {
            std::fs::write(folder.path().join(name), "{}").unwrap();
        }
        let family = Family::below(".", Some(folder.path().into()));
        assert_eq!(family.files("a_*_test.json").unwrap().len(), 2);
        assert_eq!(family.files("b_test.json").unwrap().len(), 1);
        assert!(family.files("a_*x").is_err());
        assert!(family.files("a_").is_err());
    }

    #[test]
    fn a_file_that_is_no_json_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.json"), "{").unwrap();
        let family = Family::below(".", Some(folder.path().into()));
        assert!(matches!(family.json("x.json"), Err(Error::Json { .. })));
    }
}
