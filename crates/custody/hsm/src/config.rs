//! The configuration file of the commands: which module, which token, where the PIN is.
//!
//! ```toml
//! module = "/usr/lib/softhsm/libsofthsm2.so"
//! token = "signing"
//!
//! [profile.backup]
//! module = "/opt/vendor/lib/libvendor.so"
//! serial = "0123456789"
//! pin_source = "/run/secrets/backup-pin"
//! ```
//!
//! A profile stands for itself: nothing of the values above it is used with it. An unknown key is an error,
//! because a misspelt one would lead to another token.
//!
//! Not here: which file is read, and who may have written it (the faces know the file system).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Where the commands find their token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// The module's file.
    pub module: Option<PathBuf>,
    /// The token's label.
    pub token: Option<String>,
    /// The token's serial number.
    pub serial: Option<String>,
    /// The file with the user's PIN, as a path or a `file:` URI.
    pub pin_source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    module: Option<PathBuf>,
    token: Option<String>,
    serial: Option<String>,
    pin_source: Option<String>,
    #[serde(default)]
    profile: BTreeMap<String, Settings>,
}

/// Why a configuration file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not TOML, or not these keys.
    #[error("{}, line {line}, column {column}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A path that depends on the current folder.
    #[error("{}: the module's path {} is not absolute", path.display(), module.display())]
    Relative {
        /// The file.
        path: PathBuf,
        /// What it says.
        module: PathBuf,
    },
    /// No profile of this name.
    #[error("{} has no profile {name:?}", path.display())]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
    },
}

impl Settings {
    /// Reads the text of the file at `path`.
    ///
    /// # Errors
    /// [`ConfigError`] with the place in the file.
    pub fn read(path: &Path, text: &str, profile: Option<&str>) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| malformed(path, text, &error))?;
        let File {
            module,
            token,
            serial,
            pin_source,
            mut profile,
        } = match profile {
            None => file,
            Some(name) => {
                let mut file = file;
                let chosen = file.profile.remove(name);
                let chosen = chosen.ok_or_else(|| ConfigError::NoProfile {
                    path: path.to_owned(),
                    name: name.to_owned(),
                })?;
                File {
                    module: chosen.module,
                    token: chosen.token,
                    serial: chosen.serial,
                    pin_source: chosen.pin_source,
                    profile: file.profile,
                }
            }
        };
        profile.clear();
        match &module {
            Some(module) if !module.is_absolute() => Err(ConfigError::Relative {
                path: path.to_owned(),
                module: module.clone(),
            }),
            _ => Ok(Self {
                module,
                token,
                serial,
                pin_source,
            }),
        }
    }

    /// The file that `pin_source` leads to.
    #[must_use]
    pub fn pin_file(&self) -> Option<PathBuf> {
        self.pin_source.as_deref().map(pin_path)
    }
}

/// The path of a `pin-source`: RFC 7512 2.4 names `file:` URIs, and a path as it is.
#[must_use]
pub fn pin_path(source: &str) -> PathBuf {
    let path = source.strip_prefix("file:").unwrap_or(source);
    // `file:///path` has an empty host between its slashes.
    PathBuf::from(path.strip_prefix("//").unwrap_or(path))
}

fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before.get(start..).unwrap_or_default().chars().count();
    ConfigError::Malformed {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: column + 1,
        message: error.message().replace('\n', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, profile: Option<&str>) -> Result<Settings, ConfigError> {
        Settings::read(Path::new("/c.toml"), text, profile)
    }

    const TWO: &str = "module = \"/a.so\"\ntoken = \"t\"\n[profile.p]\nmodule = \"/b.so\"\nserial = \"1\"\npin_source = \"file:///run/pin\"\n";

    #[test]
    fn a_profile_takes_nothing_from_what_stands_above_it() {
        let plain = read(TWO, None).unwrap();
        assert_eq!(plain.module, Some(PathBuf::from("/a.so")));
        assert_eq!(
            (plain.token.as_deref(), plain.pin_file()),
            (Some("t"), None)
        );
        let profile = read(TWO, Some("p")).unwrap();
        assert_eq!(
            (profile.token, profile.serial.as_deref()),
            (None, Some("1"))
        );
        assert_eq!(profile.module, Some(PathBuf::from("/b.so")));
        let settings = read(TWO, Some("p")).unwrap();
        assert_eq!(settings.pin_file(), Some(PathBuf::from("/run/pin")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_column() {
        let place = |text: &str| match read(text, None).unwrap_err() {
            ConfigError::Malformed { line, column, .. } => (line, column),
            other => panic!("{other}"),
        };
        assert_eq!(place("module = \"/a.so\"\nmodul = \"/b.so\"\n"), (2, 1));
        assert_eq!(place("token = 7\n"), (1, 9));
        assert_eq!(place("token = \"a\"\ntoken = \"b\"\n").0, 2);
        assert_eq!(place("[profile.p]\npin = \"1234\"\n"), (2, 1));
    }

    #[test]
    fn relative_modules_and_unknown_profiles_are_refused() {
        assert!(matches!(
            read("module = \"libx.so\"\n", None),
            Err(ConfigError::Relative { .. })
        ));
        assert!(matches!(
            read(TWO, Some("q")),
            Err(ConfigError::NoProfile { .. })
        ));
    }

    #[test]
    fn a_pin_source_is_a_path_or_a_file_uri() {
        for source in ["/run/pin", "file:/run/pin", "file:///run/pin"] {
            assert_eq!(pin_path(source), PathBuf::from("/run/pin"));
        }
    }
}
