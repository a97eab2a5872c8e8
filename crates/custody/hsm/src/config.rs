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
//!
//! [profile.test]
//! module = "/usr/lib/softhsm/libsofthsm2.so"
//! provider = "SoftHSM"
//! env = { SOFTHSM2_CONF = "/srv/tokens/softhsm2.conf" }
//! ```
//!
//! A profile stands for itself: nothing of the values above it is used with it. An unknown key is an error,
//! because a misspelt one would lead to another token.
//!
//! `provider` says whose module it must be, so that no PIN goes to another one. `env` is what the module finds in the
//! environment of its process; what would change which programs, libraries or configurations are used is refused.
//!
//! Not here: which file is read, and who may have written it (the faces know the file system); how the variables get
//! into the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keywright_pkcs11_names::explain::Provider;
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
    /// Whose module it must be: the name of a provider whose ways are known.
    pub provider: Option<String>,
    /// Variables that the module finds in its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    module: Option<PathBuf>,
    token: Option<String>,
    serial: Option<String>,
    pin_source: Option<String>,
    provider: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
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
    /// A provider that nothing is known of.
    #[error("{}: no provider is known as {name:?}; known are {}", path.display(), known_providers())]
    Provider {
        /// The file.
        path: PathBuf,
        /// What it says.
        name: String,
    },
    /// A variable that is not set for a module.
    #[error("{}: the variable {name:?} is not set: {reason}", path.display())]
    Variable {
        /// The file.
        path: PathBuf,
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
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
        let settings = file.chosen(path, profile)?;
        settings.check(path)?;
        Ok(settings)
    }

    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let path = || path.to_owned();
        if let Some(module) = self.module.as_ref().filter(|module| !module.is_absolute()) {
            return Err(ConfigError::Relative {
                path: path(),
                module: module.clone(),
            });
        }
        if let Some(name) = &self.provider
            && self.known_provider().is_none()
        {
            return Err(ConfigError::Provider {
                path: path(),
                name: name.clone(),
            });
        }
        for (name, value) in &self.env {
            if let Some(reason) = unsettable(name, value) {
                return Err(ConfigError::Variable {
                    path: path(),
                    name: name.clone(),
                    reason,
                });
            }
        }
        Ok(())
    }

    /// Whose module it must be.
    #[must_use]
    pub fn known_provider(&self) -> Option<Provider> {
        let name = self.provider.as_deref()?;
        Provider::ALL
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(name))
    }

    /// The file that `pin_source` leads to.
    #[must_use]
    pub fn pin_file(&self) -> Option<PathBuf> {
        self.pin_source.as_deref().map(pin_path)
    }
}

impl File {
    /// What stands under `profile`, or above all profiles. Neither takes anything from the other.
    fn chosen(mut self, path: &Path, profile: Option<&str>) -> Result<Settings, ConfigError> {
        let Some(name) = profile else {
            return Ok(Settings {
                module: self.module,
                token: self.token,
                serial: self.serial,
                pin_source: self.pin_source,
                provider: self.provider,
                env: self.env,
            });
        };
        let chosen = self.profile.remove(name);
        chosen.ok_or_else(|| ConfigError::NoProfile {
            path: path.to_owned(),
            name: name.to_owned(),
        })
    }
}

fn known_providers() -> String {
    Provider::ALL.map(Provider::name).join(", ")
}

/// Names of variables that decide about more than a module: which programs and libraries are used, and which
/// configuration of these commands is read. A name that ends with `*` stands for all that begin like it.
const REFUSED: [&str; 12] = [
    "LD_*",
    "DYLD_*",
    "GLIBC_*",
    "MALLOC_*",
    "GCONV_PATH",
    "PATH",
    "HOME",
    "IFS",
    "XDG_CONFIG_HOME",
    "CREDENTIALS_DIRECTORY",
    "PKCS11_MODULE",
    "KEYWRIGHT_*",
];

/// Why a variable is not set, if it is not.
fn unsettable(name: &str, value: &str) -> Option<&'static str> {
    let begins = name
        .bytes()
        .next()
        .is_some_and(|first| !first.is_ascii_digit());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !begins || !name.bytes().all(plain) {
        return Some("a name has letters, digits and underscores, and does not begin with a digit");
    }
    if value.contains('\0') {
        return Some("its value has a zero byte");
    }
    let refused = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *pattern,
    };
    REFUSED
        .iter()
        .any(refused)
        .then_some("it decides about more than the module")
}

/// The path of a `pin-source`: RFC 7512 2.4 names `file:` URIs, and a path as it is.
#[must_use]
pub fn pin_path(source: &str) -> PathBuf {
    let path = source.strip_prefix("file:").unwrap_or(source);
    // `file:///path` has an empty host between its slashes.
    PathBuf::from(path.strip_prefix("//").unwrap_or(path))
}

fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    ConfigError::Malformed {
        path: path.to_owned(),
        line,
        column,
        message: error.message().replace('\n', " "),
    }
}

/// Line and column of a byte of a text, from 1, the column in characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before.get(start..).unwrap_or_default().chars().count();
    (before.matches('\n').count() + 1, column + 1)
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
    fn a_provider_is_one_whose_ways_are_known() {
        let provider = |text: &str| read(text, None).map(|settings| settings.known_provider());
        for name in ["SoftHSM", "softhsm"] {
            let found = provider(&format!("provider = {name:?}\n")).unwrap();
            assert_eq!(found, Some(Provider::SoftHsm));
        }
        assert_eq!(provider("token = \"t\"\n").unwrap(), None);
        for name in ["", "SoftHSM2", "Luna", " SoftHSM"] {
            let error = provider(&format!("provider = {name:?}\n")).unwrap_err();
            assert!(matches!(error, ConfigError::Provider { .. }), "{error}");
            assert!(error.to_string().contains("Kryoptic"), "{error}");
        }
    }

    #[test]
    fn variables_are_for_the_module_and_for_nothing_else() {
        let env = |name: &str, value: &str| {
            let quoted = format!("{value:?}").replace("\\0", "\\u0000");
            read(&format!("[env]\n{name:?} = {quoted}\n"), None)
        };
        let set = env("SOFTHSM2_CONF", "/a b/c.conf").unwrap().env;
        assert_eq!(set["SOFTHSM2_CONF"], "/a b/c.conf");
        assert!(env("PATHS", "").is_ok() && env("_X1", "=").is_ok());
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PATH",
            "HOME",
            "KEYWRIGHT_HSM_CONFIG",
            "PKCS11_MODULE",
            "XDG_CONFIG_HOME",
            "GLIBC_TUNABLES",
            "DYLD_INSERT_LIBRARIES",
            "CREDENTIALS_DIRECTORY",
            "",
            "1A",
            "A=B",
            "A B",
            "\u{e9}",
        ] {
            let error = env(name, "x").unwrap_err();
            assert!(
                matches!(error, ConfigError::Variable { .. }),
                "{name}: {error}"
            );
        }
        assert!(matches!(
            env("A", "b\0c"),
            Err(ConfigError::Variable { .. })
        ));
        assert!(matches!(
            read("[env]\nA = 7\n", None),
            Err(ConfigError::Malformed { line: 2, .. })
        ));
    }

    #[test]
    fn a_profile_that_is_not_used_is_not_looked_at_closely() {
        let text =
            "token = \"t\"\n[profile.p]\nprovider = \"none\"\n[profile.p.env]\nPATH = \"/\"\n";
        assert_eq!(read(text, None).unwrap().token.as_deref(), Some("t"));
        assert!(read(text, Some("p")).is_err());
    }

    #[test]
    fn a_pin_source_is_a_path_or_a_file_uri() {
        for source in ["/run/pin", "file:/run/pin", "file:///run/pin"] {
            assert_eq!(pin_path(source), PathBuf::from("/run/pin"));
        }
    }
}
