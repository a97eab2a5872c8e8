//! The sections `[token]`, `[admin]`, `[probe]` and `[log]` of a configuration.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use keywright_hsm::uri::{Uri, UriError};
use keywright_pkcs11::TokenQuery;
use serde::{Deserialize, Serialize};

use crate::ConfigError;

/// A token of any vendor, through its PKCS#11 module.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Token {
    /// The module's file.
    pub module: PathBuf,
    /// The token's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its serial number, where labels are not unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Both, and more, as a PKCS#11 URI (RFC 7512), in place of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The file that holds the user's PIN, readable by its owner alone.
    pub pin_file: PathBuf,
    /// Sessions, and as many threads that work with them.
    #[serde(default = "default_sessions")]
    pub sessions: usize,
    /// Requests that may wait for a session; one more is refused at once.
    #[serde(default = "default_queue")]
    pub queue: usize,
    /// Whether secret keys are copied to session objects where the token allows it.
    #[serde(default = "default_copies")]
    pub session_copies: bool,
    /// In which process the module runs.
    #[serde(default)]
    pub process: TokenPlace,
    /// How long a module in a child process may take over one request, in seconds.
    #[serde(default = "default_call_timeout")]
    pub call_timeout_s: u64,
}

/// In which process a token's module runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "both places must be faced at start"
)]
pub enum TokenPlace {
    /// In that of the service.
    #[default]
    Service,
    /// In a child of it, which costs a little and keeps the module's crashes out of the service.
    Child,
}

impl Token {
    /// The token that the module at `module` has under `label`, with everything else as it is by default.
    #[must_use]
    pub fn new(module: PathBuf, label: Option<String>, pin_file: PathBuf) -> Self {
        Self {
            module,
            label,
            serial: None,
            uri: None,
            pin_file,
            sessions: default_sessions(),
            queue: default_queue(),
            session_copies: default_copies(),
            process: TokenPlace::default(),
            call_timeout_s: default_call_timeout(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let named = self.label.is_some() || self.serial.is_some();
        match (&self.uri, named) {
            (Some(_), true) => Err(ConfigError::Excess {
                key: "token.uri",
                because: "token.label or token.serial stands beside it",
            }),
            (None, false) => Err(ConfigError::Needs {
                key: "token.label",
                because: "a token is found by its label, its serial number or a URI",
            }),
            _ => [
                ("token.sessions", self.sessions as u64, 512, "1 to 512"),
                ("token.queue", self.queue as u64, 1_000_000, "1 to 1000000"),
                ("token.call_timeout_s", self.call_timeout_s, 600, "1 to 600"),
            ]
            .into_iter()
            .find(|(_, value, high, _)| !(1..=*high).contains(value))
            .map_or_else(
                || self.query().map(drop),
                |(key, value, _, range)| Err(ConfigError::Range { key, value, range }),
            ),
        }
    }

    /// What a section asks for.
    pub(crate) fn query(&self) -> Result<TokenQuery, ConfigError> {
        let Some(uri) = &self.uri else {
            return Ok(TokenQuery {
                label: self.label.clone(),
                serial: self.serial.clone(),
                ..TokenQuery::default()
            });
        };
        let wrong = |reason: String| ConfigError::Value {
            key: "token.uri",
            reason,
        };
        let uri: Uri = uri
            .parse()
            .map_err(|error: UriError| wrong(error.to_string()))?;
        let text = |value: Option<Vec<u8>>, name: &str| {
            let text = value.map(String::from_utf8).transpose();
            text.map_err(|_| wrong(format!("the value of {name} is no text")))
        };
        let query = TokenQuery {
            label: text(uri.token.clone(), "token")?,
            serial: text(uri.serial.clone(), "serial")?,
            manufacturer: text(uri.manufacturer.clone(), "manufacturer")?,
            model: text(uri.model.clone(), "model")?,
            slot: None,
        };
        if says_more(&uri) {
            let reason = "a token is told by token, serial, manufacturer and model; module and PIN file have keys of their own";
            return Err(wrong(reason.to_owned()));
        }
        if query == TokenQuery::default() {
            return Err(wrong("it names no token".to_owned()));
        }
        Ok(query)
    }
}

/// Whether a URI says what would be passed over here: another module than the section's, a PIN, an object, a
/// slot, whose number may be another tomorrow.
const fn says_more(uri: &Uri) -> bool {
    let library = uri.library_manufacturer.is_some()
        || uri.library_version.is_some()
        || uri.library_description.is_some();
    let slot =
        uri.slot_id.is_some() || uri.slot_description.is_some() || uri.slot_manufacturer.is_some();
    let query = uri.module_path.is_some()
        || uri.module_name.is_some()
        || uri.pin_source.is_some()
        || uri.pin_value.is_some();
    let unknown = !uri.unknown.is_empty() || !uri.unknown_query.is_empty();
    library || slot || query || unknown || uri.names_object()
}

const fn default_sessions() -> usize {
    4
}

const fn default_queue() -> usize {
    128
}

const fn default_copies() -> bool {
    true
}

const fn default_call_timeout() -> u64 {
    10
}

/// The listener of administration: where there is one, orders that change the state of keys are answered there alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct AdminSection {
    /// Address and port.
    pub listen: SocketAddr,
    /// Trust anchors of its own clients; those of everybody if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorities: Option<PathBuf>,
    /// One revocation list per anchor of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_lists: Option<PathBuf>,
}

impl AdminSection {
    /// Its own anchors and lists, if it has any.
    pub(crate) fn own(&self) -> Option<(&Path, &Path)> {
        self.authorities
            .as_deref()
            .zip(self.revocation_lists.as_deref())
    }

    pub(crate) fn check(&self, everybody: SocketAddr) -> Result<(), ConfigError> {
        let needs = |key| {
            let because = "an anchor without a revocation list lets nobody in, and a list without its anchor nobody either";
            Err(ConfigError::Needs { key, because })
        };
        match (&self.authorities, &self.revocation_lists) {
            (Some(_), None) => needs("admin.revocation_lists"),
            (None, Some(_)) => needs("admin.authorities"),
            _ if self.listen == everybody && everybody.port() != 0 => Err(ConfigError::Value {
                key: "admin.listen",
                reason: format!("{everybody} is server.listen already"),
            }),
            _ => Ok(()),
        }
    }
}

/// The local probe: whether the process lives and is ready, without identity and without detail.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Probe {
    /// An address of loopback, and a port.
    pub listen: SocketAddr,
}

impl Probe {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.listen.ip().is_loopback() {
            return Ok(());
        }
        Err(ConfigError::Value {
            key: "probe.listen",
            reason: format!(
                "{} is not an address of loopback, and nobody is asked who they are there",
                self.listen
            ),
        })
    }
}

/// What the process says on its standard error.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct LogSection {
    /// How much of it.
    pub level: Level,
}

/// How much weight something has; a level shows itself and what is graver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever says something must choose one"
)]
pub enum Level {
    /// Requests are refused, or will be.
    Error,
    /// Somebody should look.
    Warning,
    /// What happened.
    #[default]
    Info,
}
