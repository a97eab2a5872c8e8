//! `keywright.toml`: everything a node needs to know, and nothing it does not.
//!
//! Unknown keys are refused with their line. Paths are relative to the file's own folder. Every key
//! has a default except those that name a file; the file written by `home` spells all of them out.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::section::{LogSection, Probe, Token};

/// A node's configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the file's own shape; a new key is faced by its reader"
)]
pub struct Config {
    /// The version of this format: 1.
    pub version: u32,
    /// Where the node listens, and as whom.
    pub server: Server,
    /// Which client certificates are believed.
    pub clients: Clients,
    /// Where rows are kept.
    pub store: StoreSection,
    /// The embedded key holder.
    pub keystore: Keystore,
    /// The token, if the node has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// The audit log.
    pub audit: Audit,
    /// How much, how many and how long.
    #[serde(default)]
    pub limits: Limits,
    /// Data keys handed to callers.
    #[serde(default)]
    pub data_keys: DataKeys,
    /// What the process says on its standard error.
    #[serde(default)]
    pub log: LogSection,
    /// The local probe, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Doors for programs that speak another API.
    #[serde(default)]
    pub compat: Compat,
}

/// Where the node listens, and as whom.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Server {
    /// Address and port.
    pub listen: SocketAddr,
    /// Server threads; 0 for one per core.
    #[serde(default)]
    pub threads: usize,
    /// The server's certificate chain.
    pub certificate: PathBuf,
    /// The server's private key.
    pub key: PathBuf,
    /// Whether answers say where their time went.
    #[serde(default)]
    pub timing: bool,
}

/// Which client certificates are believed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Clients {
    /// The trust anchors.
    pub authorities: PathBuf,
    /// One revocation list per anchor; without it every client is refused.
    pub revocation_lists: PathBuf,
}

/// Where rows are kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct StoreSection {
    /// The SQLite file.
    pub file: PathBuf,
}

/// The embedded key holder.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Keystore {
    /// Where the root key is.
    #[serde(default)]
    pub root_key: RootPlace,
    /// The root file; for a root key in the token, its description.
    pub root: PathBuf,
    /// The file that holds the root's password, readable by its owner alone. None for a root key in the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// Unwrapped keys that are kept in memory at most.
    #[serde(default = "default_unwrapped")]
    pub unwrapped_keys: usize,
    /// What to do where the system forbids locking memory.
    #[serde(default)]
    pub memory_lock: MemoryLock,
}

/// Where the root key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both places must be faced at start"
)]
pub enum RootPlace {
    /// In a file, under a password.
    #[default]
    File,
    /// In the token, which it never leaves.
    Token,
}

/// What to do where the system forbids locking memory (design 7.24).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both answers must be faced at start"
)]
pub enum MemoryLock {
    /// Start, and say so in log and health.
    #[default]
    Try,
    /// Refuse to start.
    Require,
}

/// The audit log.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Audit {
    /// The folder of its files.
    pub directory: PathBuf,
    /// When records reach the disk.
    #[serde(default)]
    pub sync: Sync,
}

/// When records reach the disk. Orders that change state and answers that hand out keys are synced
/// first in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both answers must be faced at start"
)]
pub enum Sync {
    /// Every 100 ms; before that they are with the operating system.
    #[default]
    Grouped,
    /// Before each answer.
    Strict,
}

/// How much, how many and how long.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Items of a request.
    pub items: usize,
    /// Bytes of a request's header fields.
    pub header_bytes: u32,
    /// Connections in all.
    pub connections: usize,
    /// Streams of one HTTP/2 connection.
    pub concurrent_streams: u32,
    /// From the first byte of a head to its last, in seconds.
    pub header_timeout_s: u64,
    /// From the head to the end of the body, in seconds.
    pub body_timeout_s: u64,
    /// From the head to the answer, in seconds.
    pub request_timeout_s: u64,
    /// A connection without a request ends after this, in seconds.
    pub idle_timeout_s: u64,
    /// How long running requests may take at shutdown, in seconds.
    pub drain_timeout_s: u64,
    /// Requests that may wait for a holder that waits for a device.
    pub holder_queue: usize,
    /// Threads of such a holder.
    pub holder_threads: usize,
    /// Requests that are begun and not answered, of all threads together.
    pub running_requests: usize,
    /// How long a request may wait for its turn while there is too much to do, in milliseconds.
    pub queued_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            items: 10_000,
            header_bytes: 64 << 10,
            connections: 10_000,
            concurrent_streams: 2000,
            header_timeout_s: 5,
            body_timeout_s: 30,
            request_timeout_s: 60,
            idle_timeout_s: 120,
            drain_timeout_s: 20,
            holder_queue: 128,
            holder_threads: 4,
            running_requests: 10_000,
            queued_ms: 25,
        }
    }
}

/// Data keys handed to callers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct DataKeys {
    /// How long a caller should keep one, in seconds; told in `not_after`.
    pub validity_s: u64,
}

impl Default for DataKeys {
    fn default() -> Self {
        Self {
            validity_s: 24 * 3600,
        }
    }
}

/// Doors for programs that speak another API.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Compat {
    /// Whether routes of Vault's transit engine are there.
    pub vault_transit: bool,
    /// How long a token of its login works, in seconds.
    pub vault_token_s: u64,
    /// Whether the seed service's routes are there.
    pub seed: bool,
}

impl Default for Compat {
    fn default() -> Self {
        Self {
            vault_transit: false,
            vault_token_s: 3600,
            seed: false,
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {0} cannot be read")]
    Read(PathBuf, #[source] std::io::Error),
    /// A key is unknown, missing or of the wrong type; the message names key and line.
    #[error("the configuration {0} is not valid: {1}")]
    Parse(PathBuf, Box<toml::de::Error>),
    /// A version that this program does not know.
    #[error("the configuration {0} has version {1}; this program reads version 1")]
    Version(PathBuf, u32),
    /// A file that the configuration names is not there.
    #[error("{key} names {path}, which cannot be read")]
    Missing {
        /// The key, with its section.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A key that another one makes necessary is missing.
    #[error("{key} is missing: {because}")]
    Needs {
        /// The key, with its section.
        key: &'static str,
        /// What makes it necessary.
        because: &'static str,
    },
    /// A key that another one leaves no room for.
    #[error("{key} has no place here: {because}")]
    Excess {
        /// The key, with its section.
        key: &'static str,
        /// What stands against it.
        because: &'static str,
    },
    /// A text that is not what its key takes.
    #[error("{key} is not valid: {reason}")]
    Value {
        /// The key, with its section.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A number outside its range.
    #[error("{key} is {value}; it must be {range}")]
    Range {
        /// The key, with its section.
        key: &'static str,
        /// What it says.
        value: u64,
        /// What it may say.
        range: &'static str,
    },
}

impl Config {
    /// Reads a configuration and resolves its paths.
    ///
    /// # Errors
    /// [`ConfigError`], naming the key and the line.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Read(path.to_owned(), error))?;
        let mut config: Self = toml::from_str(&text)
            .map_err(|error| ConfigError::Parse(path.to_owned(), Box::new(error)))?;
        if config.version != 1 {
            return Err(ConfigError::Version(path.to_owned(), config.version));
        }
        config.check()?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        config
            .paths()
            .into_iter()
            .for_each(|entry| *entry = folder.join(&*entry));
        Ok(config)
    }

    /// Checks its numbers, and that what it says goes together.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        self.check_places()
    }

    /// Checks that every file it names is there and readable.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] for the first that is not.
    pub fn check_files(&self) -> Result<(), ConfigError> {
        let mut files: Vec<(&'static str, &Path)> = vec![
            ("server.certificate", &self.server.certificate),
            ("server.key", &self.server.key),
            ("clients.authorities", &self.clients.authorities),
            ("clients.revocation_lists", &self.clients.revocation_lists),
            ("store.file", &self.store.file),
            ("keystore.root", &self.keystore.root),
        ];
        if let Some(password) = &self.keystore.password_file {
            files.push(("keystore.password_file", password));
        }
        if let Some(token) = &self.token {
            files.push(("token.module", &token.module));
            files.push(("token.pin_file", &token.pin_file));
        }
        for (key, path) in files {
            std::fs::File::open(path).map_err(|source| ConfigError::Missing {
                key,
                path: path.to_owned(),
                source,
            })?;
        }
        Ok(())
    }

    /// The file's text, with what each key means.
    ///
    /// # Errors
    /// Never in practice: plain structs of strings and numbers always have a TOML form.
    pub fn to_text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self).map(|text| format!("{HEADING}{text}"))
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let mut paths = vec![
            &mut self.server.certificate,
            &mut self.server.key,
            &mut self.clients.authorities,
            &mut self.clients.revocation_lists,
            &mut self.store.file,
            &mut self.keystore.root,
            &mut self.audit.directory,
        ];
        paths.extend(&mut self.keystore.password_file);
        if let Some(token) = &mut self.token {
            paths.extend([&mut token.module, &mut token.pin_file]);
        }
        paths
    }

    /// What one key says about the presence of another.
    fn check_places(&self) -> Result<(), ConfigError> {
        let needs = |key, because| Err(ConfigError::Needs { key, because });
        let excess = |key, because| Err(ConfigError::Excess { key, because });
        let keystore = &self.keystore;
        match (keystore.root_key, &keystore.password_file, &self.token) {
            (RootPlace::File, None, _) => needs(
                "keystore.password_file",
                "a root key in a file is under a password",
            ),
            (RootPlace::Token, Some(_), _) => excess(
                "keystore.password_file",
                "a root key in the token has no password",
            ),
            (RootPlace::Token, None, None) => needs(
                "token.module",
                "keystore.root_key says that the root key is in the token",
            ),
            _ => self.token.as_ref().map_or(Ok(()), Token::check),
        }?;
        self.probe.as_ref().map_or(Ok(()), Probe::check)
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a table, one line of thought for each number"
    )]
    fn check_ranges(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let numbers: [(&'static str, u64, u64, u64, &'static str); 17] = [
            (
                "limits.body_bytes",
                limits.body_bytes as u64,
                1024,
                64 << 20,
                "1024 to 67108864",
            ),
            ("limits.items", limits.items as u64, 1, 10_000, "1 to 10000"),
            (
                "limits.header_bytes",
                limits.header_bytes.into(),
                8 << 10,
                1 << 20,
                "8192 to 1048576",
            ),
            (
                "limits.connections",
                limits.connections as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.concurrent_streams",
                limits.concurrent_streams.into(),
                1,
                100_000,
                "1 to 100000",
            ),
            (
                "limits.header_timeout_s",
                limits.header_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.body_timeout_s",
                limits.body_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.idle_timeout_s",
                limits.idle_timeout_s,
                1,
                86_400,
                "1 to 86400",
            ),
            (
                "limits.drain_timeout_s",
                limits.drain_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.holder_threads",
                limits.holder_threads as u64,
                1,
                512,
                "1 to 512",
            ),
            (
                "limits.request_timeout_s",
                limits.request_timeout_s,
                1,
                3600,
                "1 to 3600",
            ),
            (
                "limits.holder_queue",
                limits.holder_queue as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.running_requests",
                limits.running_requests as u64,
                1,
                1_000_000,
                "1 to 1000000",
            ),
            (
                "limits.queued_ms",
                limits.queued_ms,
                1,
                10_000,
                "1 to 10000",
            ),
            (
                "keystore.unwrapped_keys",
                self.keystore.unwrapped_keys as u64,
                16,
                1 << 20,
                "16 to 1048576",
            ),
            (
                "data_keys.validity_s",
                self.data_keys.validity_s,
                1,
                366 * 86_400,
                "1 to 31622400",
            ),
            (
                "compat.vault_token_s",
                self.compat.vault_token_s,
                1,
                3600,
                "1 to 3600",
            ),
        ];
        let wrong = numbers
            .into_iter()
            .find(|(_, value, low, high, _)| value < low || value > high);
        wrong.map_or(Ok(()), |(key, value, _, _, range)| {
            Err(ConfigError::Range { key, value, range })
        })
    }
}

impl Limits {
    /// Seconds as a duration.
    #[must_use]
    pub const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }
}

const fn default_unwrapped() -> usize {
    16_384
}

const HEADING: &str = "\
# Configuration of one Keywright node. Paths are relative to this file.
# Unknown keys are refused. `keywright serve --config keywright.toml` reads it.

";

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> &'static str {
        "version = 1\n\
         [server]\nlisten = \"127.0.0.1:8443\"\ncertificate = \"server.pem\"\nkey = \"server.key\"\n\
         [clients]\nauthorities = \"ca.pem\"\nrevocation_lists = \"crl.pem\"\n\
         [store]\nfile = \"store.sqlite\"\n\
         [keystore]\nroot = \"root.kwf\"\npassword_file = \"root.password\"\n\
         [audit]\ndirectory = \"audit\"\n"
    }

    fn read(text: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keywright.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn a_minimal_file_has_safe_defaults_and_paths_of_its_folder() {
        let config = read(minimal()).unwrap();
        assert_eq!(config.limits.items, 10_000);
        assert_eq!(config.audit.sync, Sync::Grouped);
        assert!(!config.compat.vault_transit && !config.compat.seed);
        assert!(config.store.file.is_absolute() && config.store.file.ends_with("store.sqlite"));
    }

    #[test]
    fn what_is_written_reads_back() {
        let config = read(minimal()).unwrap();
        let text = config.to_text().unwrap();
        assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_name_and_line() {
        for (text, key, line) in [
            (format!("{}sink = 1\n", minimal()), "sink", 16),
            (format!("{}[limits]\nitem = 5\n", minimal()), "item", 17),
            (format!("surprise = true\n{}", minimal()), "surprise", 1),
        ] {
            let message = read(&text).unwrap_err().to_string();
            assert!(
                message.contains(key) && message.contains(&format!("line {line}")),
                "{message}"
            );
        }
    }

    #[test]
    fn wrong_types_missing_keys_and_other_versions_are_refused() {
        for (from, to) in [
            ("version = 1", "version = 2"),
            ("version = 1\n", ""),
            ("listen = \"127.0.0.1:8443\"", "listen = \"here\""),
            ("listen = \"127.0.0.1:8443\"", "listen = 8443"),
            ("key = \"server.key\"\n", ""),
            ("[audit]\n", "[audit]\nsync = \"never\"\n"),
            ("[audit]\n", "[limits]\nitems = 0\n[audit]\n"),
            ("[audit]\n", "[limits]\nitems = 10001\n[audit]\n"),
            ("[audit]\n", "[compat]\nvault_token_s = 0\n[audit]\n"),
            ("[audit]\n", "[compat]\nvault_token_s = 3601\n[audit]\n"),
            ("[audit]\n", "[compat]\nvault_transit = \"yes\"\n[audit]\n"),
            ("[audit]\n", "[compat]\nvault = true\n[audit]\n"),
            ("[audit]\n", "[compat]\nseed = \"on\"\n[audit]\n"),
            ("[audit]\n", "[limits]\nbody_bytes = -1\n[audit]\n"),
            ("[audit]\n", "[limits]\nheader_timeout_s = 0\n[audit]\n"),
            ("[audit]\n", "[limits]\nbody_timeout_s = 0\n[audit]\n"),
            ("[audit]\n", "[limits]\nidle_timeout_s = 0\n[audit]\n"),
            ("[audit]\n", "[limits]\ndrain_timeout_s = 0\n[audit]\n"),
            ("[audit]\n", "[limits]\nholder_threads = 0\n[audit]\n"),
            ("[audit]\n", "[log]\nlevel = \"debug\"\n[audit]\n"),
            ("[audit]\n", "[log]\nfile = \"x\"\n[audit]\n"),
            ("[audit]\n", "[probe]\n[audit]\n"),
            ("[audit]\n", "[probe]\nlisten = \"0.0.0.0:8081\"\n[audit]\n"),
            ("[audit]\n", "[probe]\nlisten = \"[::]:8081\"\n[audit]\n"),
            (
                "[audit]\n",
                "[probe]\nlisten = \"192.0.2.1:8081\"\n[audit]\n",
            ),
            (
                "[audit]\n",
                "[probe]\nlisten = \"127.0.0.1:8081\"\ntls = true\n[audit]\n",
            ),
        ] {
            let text = minimal().replacen(from, to, 1);
            assert!(read(&text).is_err(), "{text}");
        }
    }

    const TOKEN: &str =
        "[token]\nmodule = \"/usr/lib/m.so\"\nlabel = \"keys\"\npin_file = \"pin\"\n";

    #[test]
    fn a_token_has_safe_defaults_and_paths_of_its_folder() {
        let config = read(&format!("{}{TOKEN}", minimal())).unwrap();
        let token = config.token.as_ref().unwrap();
        assert_eq!((token.sessions, token.queue), (4, 128));
        assert!(token.session_copies && token.pin_file.is_absolute());
        assert_eq!(token.module, Path::new("/usr/lib/m.so"));
        let text = config.to_text().unwrap();
        assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
    }

    #[test]
    fn a_uri_stands_for_label_and_serial_and_its_pin_is_never_repeated() {
        let with = |uri: &str| {
            let token = TOKEN.replace("label = \"keys\"", &format!("uri = \"{uri}\""));
            read(&format!("{}{token}", minimal()))
        };
        let config = with("pkcs11:token=two%20words;serial=7;model=m").unwrap();
        let query = config.token.as_ref().unwrap().query().unwrap();
        assert_eq!(query.label.as_deref(), Some("two words"));
        assert_eq!(query.serial.as_deref(), Some("7"));
        assert_eq!(
            (query.model.as_deref(), query.manufacturer),
            (Some("m"), None)
        );
        let refused = with("pkcs11:token=keys?pin-value=hunter2").unwrap_err();
        assert!(refused.to_string().starts_with("token.uri is not valid"));
        assert!(!refused.to_string().contains("hunter2"));
    }

    #[test]
    fn a_root_in_the_token_needs_one_and_has_no_password() {
        let password = "password_file = \"root.password\"\n";
        let in_token = minimal().replace(password, "root_key = \"token\"\n");
        let message = read(&in_token).unwrap_err().to_string();
        assert!(message.starts_with("token.module is missing"), "{message}");
        let config = read(&format!("{in_token}{TOKEN}")).unwrap();
        assert_eq!(config.keystore.root_key, RootPlace::Token);
        let both = minimal().replace(password, &format!("{password}root_key = \"token\"\n"));
        for (text, key) in [
            (
                format!("{both}{TOKEN}"),
                "keystore.password_file has no place",
            ),
            (
                minimal().replace(password, ""),
                "keystore.password_file is missing",
            ),
        ] {
            let message = read(&text).unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }

    #[test]
    fn a_token_that_cannot_be_found_or_has_unknown_keys_is_refused() {
        for (from, to) in [
            ("label = \"keys\"\n", ""),
            (
                "label = \"keys\"\n",
                "label = \"keys\"\nuri = \"pkcs11:token=keys\"\n",
            ),
            ("label = \"keys\"\n", "slot = 1\nlabel = \"keys\"\n"),
            ("pin_file = \"pin\"\n", ""),
            ("pin_file = \"pin\"\n", "pin = \"1234\"\n"),
            ("pin_file = \"pin\"\n", "pin_file = \"pin\"\nsessions = 0\n"),
            (
                "pin_file = \"pin\"\n",
                "pin_file = \"pin\"\nsessions = 513\n",
            ),
            ("pin_file = \"pin\"\n", "pin_file = \"pin\"\nqueue = 0\n"),
            ("label = \"keys\"\n", "uri = \"pkcs12:token=keys\"\n"),
            ("label = \"keys\"\n", "uri = \"pkcs11:\"\n"),
            (
                "label = \"keys\"\n",
                "uri = \"pkcs11:token=keys;slot-id=3\"\n",
            ),
            ("label = \"keys\"\n", "uri = \"pkcs11:token=keys;id=%01\"\n"),
            ("label = \"keys\"\n", "uri = \"pkcs11:token=%ff\"\n"),
            (
                "label = \"keys\"\n",
                "uri = \"pkcs11:token=keys?pin-value=1234\"\n",
            ),
            (
                "label = \"keys\"\n",
                "uri = \"pkcs11:token=keys?module-path=/m.so\"\n",
            ),
        ] {
            let text = format!("{}{}", minimal(), TOKEN.replacen(from, to, 1));
            assert!(read(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_file_is_named_with_its_key() {
        let message = read(minimal())
            .unwrap()
            .check_files()
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("server.certificate names"), "{message}");
    }
}
