//! `keywright.toml`: everything a node needs to know, and nothing it does not.
//!
//! Unknown keys are refused with their line. Paths are relative to the file's own folder. Every key
//! has a default except those that name a file; the file written by `home` spells all of them out.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::section::{AdminSection, LogSection, Probe, Token};

mod audit;
mod compat;
mod error;
mod keystore;
mod limits;
mod ranges;
mod server;
mod telemetry;
#[cfg(test)]
mod tests;

pub use audit::{Audit, ItemDetail, Sync};
pub use compat::Compat;
pub use error::ConfigError;
pub use keystore::{Keystore, MemoryLock, RootPlace, StoreSection};
pub use limits::{DataKeys, Limits};
pub use server::{Clients, Server};
pub use telemetry::Telemetry;

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
    /// The listener of administration, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<AdminSection>,
    /// The local probe, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Doors for programs that speak another API.
    #[serde(default)]
    pub compat: Compat,
    /// Where spans of requests go, if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
}

impl Config {
    /// Reads a configuration and resolves its paths.
    ///
    /// # Errors
    /// [`ConfigError`], naming the key and the line.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Read(path.to_owned(), error))?;
        let mut config = Self::parse(path, &text)?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        config
            .paths()
            .into_iter()
            .for_each(|entry| *entry = folder.join(&*entry));
        Ok(config)
    }

    /// The configuration of this text, which stands at `path`, with its paths as they are written.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)
            .map_err(|error| ConfigError::Parse(path.to_owned(), Box::new(error)))?;
        if config.version != 1 {
            return Err(ConfigError::Version(path.to_owned(), config.version));
        }
        config.check()?;
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
        if let Some(roster) = &self.clients.roster {
            files.push(("clients.roster", roster));
        }
        if let Some(password) = &self.keystore.password_file {
            files.push(("keystore.password_file", password));
        }
        if let Some((authorities, lists)) = self.admin.as_ref().and_then(AdminSection::own) {
            files.push(("admin.authorities", authorities));
            files.push(("admin.revocation_lists", lists));
        }
        if let Some(token) = &self.token {
            files.push(("token.module", &token.module));
            files.push(("token.pin_file", &token.pin_file));
        }
        let telemetry = self.telemetry.as_ref();
        if let Some(authorities) = telemetry.and_then(|one| one.authorities.as_ref()) {
            files.push(("telemetry.authorities", authorities));
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
        paths.extend(&mut self.clients.roster);
        paths.extend(&mut self.keystore.password_file);
        if let Some(admin) = &mut self.admin {
            paths.extend(&mut admin.authorities);
            paths.extend(&mut admin.revocation_lists);
        }
        if let Some(token) = &mut self.token {
            paths.extend([&mut token.module, &mut token.pin_file]);
        }
        if let Some(telemetry) = &mut self.telemetry {
            paths.extend(&mut telemetry.authorities);
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
        let listen = self.server.listen;
        let admin = self.admin.as_ref();
        admin.map_or(Ok(()), |admin| admin.check(listen))?;
        self.probe.as_ref().map_or(Ok(()), Probe::check)?;
        self.telemetry.as_ref().map_or(Ok(()), Telemetry::check)
    }
}

const HEADING: &str = "\
# Configuration of one Keywright node. Paths are relative to this file.
# Unknown keys are refused. `keywright serve --config keywright.toml` reads it.

";
