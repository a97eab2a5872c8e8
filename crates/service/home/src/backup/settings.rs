//! Settings of a backup's configuration that reach outside of the home: programs, files, listeners and collectors.
//!
//! A signature says who wrote them, and not that they are right on the machine of the restore. Each is given again or
//! confirmed by name. Every section is taken apart without `..`, so that a new key is decided on here.

use std::net::SocketAddr;
use std::path::{Component, Path};

use serde::Serialize;

use super::{BackupError, Restoration};
use crate::config::{Clients, Server, Telemetry};
use crate::create::{CONFIG_FILE, FINGERPRINT_FILE};
use crate::section::{AdminSection, Token};
use crate::{Config, control};

/// A setting that reaches outside of the home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutsideSetting {
    /// Its key, with the section.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// Settings that an order does not confirm.
#[derive(Debug, thiserror::Error)]
#[error("the backup's configuration reaches outside of the home: {}", list(.settings))]
pub struct Unconfirmed {
    settings: Vec<OutsideSetting>,
    advice: String,
}

/// The keys that an order can confirm by name. `token.module` is always given again.
pub const CONFIRMABLE: [&str; 14] = [
    "admin.authorities",
    "admin.listen",
    "admin.revocation_lists",
    "clients.authorities",
    "clients.revocation_lists",
    "clients.roster",
    "keystore.password_file",
    "server.certificate",
    "server.key",
    "server.listen",
    "telemetry.allow_plaintext",
    "telemetry.authorities",
    "telemetry.endpoint",
    "token.pin_file",
];

impl Unconfirmed {
    fn new(settings: Vec<OutsideSetting>) -> Self {
        let flags = settings.iter().map(|setting| match setting.key {
            MODULE => "--module FILE".to_owned(),
            key => format!("--accept {key}"),
        });
        let flags: Vec<_> = flags.collect();
        let advice = format!(
            "compare each with the home that was lost, and give {}",
            flags.join(" ")
        );
        Self { settings, advice }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &[OutsideSetting] {
        &self.settings
    }

    /// What confirms them.
    #[must_use]
    pub fn advice(&self) -> &str {
        &self.advice
    }
}

fn list(settings: &[OutsideSetting]) -> String {
    let settings = settings
        .iter()
        // Quoted: control characters of a value are escaped.
        .map(|setting| format!("{} = {:?}", setting.key, setting.value));
    settings.collect::<Vec<_>>().join(", ")
}

/// Refuses what reaches outside and is neither given again nor confirmed. `config` has what is given in its place.
pub(super) fn check(config: &Config, order: &Restoration<'_>) -> Result<(), BackupError> {
    let confirmed = |setting: &OutsideSetting| match setting.key {
        MODULE => order.module.is_some(),
        key => order.accepted.contains(&key),
    };
    let mut settings = outside(config);
    settings.retain(|setting| !confirmed(setting));
    if !settings.is_empty() {
        let unconfirmed = Unconfirmed::new(settings);
        return Err(BackupError::Unconfirmed(Box::new(unconfirmed)));
    }
    check_collisions(config)
}

/// The settings of a configuration that reach outside of the home.
pub(super) fn outside(config: &Config) -> Vec<OutsideSetting> {
    let Config {
        version: _,
        server,
        clients,
        // Store, root and log are always in the home; what else these sections say stays in the process.
        store: _,
        keystore,
        token,
        audit: _,
        limits: _,
        data_keys: _,
        log: _,
        admin,
        // On loopback, or the configuration is refused.
        probe: _,
        // Doors of the listeners that are there.
        compat: _,
        telemetry,
    } = config;
    let mut found = Vec::new();
    of_server(server, &mut found);
    of_clients(clients, &mut found);
    if let Some(file) = &keystore.password_file {
        put_path("keystore.password_file", file, &mut found);
    }
    if let Some(token) = token {
        of_token(token, &mut found);
    }
    if let Some(admin) = admin {
        of_admin(admin, &mut found);
    }
    if let Some(telemetry) = telemetry {
        of_telemetry(telemetry, &mut found);
    }
    found
}

fn of_server(section: &Server, found: &mut Vec<OutsideSetting>) {
    let Server {
        listen,
        threads: _,
        certificate,
        key,
        timing: _,
    } = section;
    put_address("server.listen", *listen, found);
    put_path("server.certificate", certificate, found);
    put_path("server.key", key, found);
}

fn of_clients(section: &Clients, found: &mut Vec<OutsideSetting>) {
    let Clients {
        authorities,
        revocation_lists,
        roster,
        follow: _,
    } = section;
    put_path("clients.authorities", authorities, found);
    put_path("clients.revocation_lists", revocation_lists, found);
    if let Some(roster) = roster {
        put_path("clients.roster", roster, found);
    }
}

fn of_token(section: &Token, found: &mut Vec<OutsideSetting>) {
    let Token {
        module,
        // Which token of the module: a module and a PIN in it are refused.
        label: _,
        serial: _,
        uri: _,
        pin_file,
        sessions: _,
        queue: _,
        session_copies: _,
        // In a child it is this program that runs.
        process: _,
        call_timeout_s: _,
    } = section;
    put(MODULE, module.display().to_string(), found);
    put_path("token.pin_file", pin_file, found);
}

fn of_admin(section: &AdminSection, found: &mut Vec<OutsideSetting>) {
    let AdminSection {
        listen,
        authorities,
        revocation_lists,
    } = section;
    put_address("admin.listen", *listen, found);
    if let Some(authorities) = authorities {
        put_path("admin.authorities", authorities, found);
    }
    if let Some(lists) = revocation_lists {
        put_path("admin.revocation_lists", lists, found);
    }
}

fn of_telemetry(section: &Telemetry, found: &mut Vec<OutsideSetting>) {
    let Telemetry {
        endpoint,
        authorities,
        allow_plaintext,
        ratio: _,
        parents_per_s: _,
        queue: _,
        timeout_ms: _,
        service_name: _,
        resource: _,
    } = section;
    put("telemetry.endpoint", endpoint.clone(), found);
    if let Some(authorities) = authorities {
        put_path("telemetry.authorities", authorities, found);
    }
    if *allow_plaintext {
        put("telemetry.allow_plaintext", "true".to_owned(), found);
    }
}

fn put(key: &'static str, value: String, found: &mut Vec<OutsideSetting>) {
    found.push(OutsideSetting { key, value });
}

fn put_path(key: &'static str, path: &Path, found: &mut Vec<OutsideSetting>) {
    if !is_inside(path) {
        put(key, path.display().to_string(), found);
    }
}

fn put_address(key: &'static str, address: SocketAddr, found: &mut Vec<OutsideSetting>) {
    if !address.ip().is_loopback() {
        put(key, address.to_string(), found);
    }
}

/// Whether a path of the configuration stays in its folder. The folder of a restore is new and has no links.
pub(super) fn is_inside(path: &Path) -> bool {
    let mut components = path.components();
    let normal = components.all(|component| matches!(component, Component::Normal(_)));
    normal && !path.as_os_str().is_empty()
}

/// Refuses two settings that name one file of the home, and one in the folder of the log: a file of the backup must
/// become no other file than the one that it is.
pub(super) fn check_collisions(config: &Config) -> Result<(), BackupError> {
    let named = named(config);
    let mut named = named.iter().filter(|(_, path)| is_inside(path));
    let mut seen: Vec<(&'static str, &Path)> = Vec::new();
    named.try_for_each(|(key, path)| {
        let clash =
            |(_, other): &&(&str, &Path)| path.starts_with(other) || other.starts_with(path);
        match seen.iter().find(clash) {
            Some((first, _)) => Err(BackupError::Collision { first, second: key }),
            None => {
                seen.push((key, path));
                Ok(())
            }
        }
    })
}

/// The places that a restore writes, those of every home first.
fn named(config: &Config) -> Vec<(&'static str, &Path)> {
    let fixed = [CONFIG_FILE, FINGERPRINT_FILE, control::SOCKET];
    let mut named: Vec<_> = fixed.map(|name| (name, Path::new(name))).into();
    named.extend([
        ("store.file", config.store.file.as_path()),
        ("keystore.root", &config.keystore.root),
        ("audit.directory", &config.audit.directory),
        ("server.certificate", &config.server.certificate),
        ("server.key", &config.server.key),
        ("clients.authorities", &config.clients.authorities),
        ("clients.revocation_lists", &config.clients.revocation_lists),
    ]);
    let optional = [
        ("clients.roster", config.clients.roster.as_deref()),
        (
            "keystore.password_file",
            config.keystore.password_file.as_deref(),
        ),
        (
            "token.pin_file",
            config.token.as_ref().map(|token| token.pin_file.as_path()),
        ),
    ];
    named.extend(
        optional
            .into_iter()
            .filter_map(|(key, path)| Some((key, path?))),
    );
    if let Some((authorities, lists)) = config.admin.as_ref().and_then(AdminSection::own) {
        named.push(("admin.authorities", authorities));
        named.push(("admin.revocation_lists", lists));
    }
    named
}

const MODULE: &str = "token.module";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_in_the_folder_is_inside_of_it() {
        for inside in ["a", "a/b", "root.kwf"] {
            assert!(is_inside(Path::new(inside)), "{inside}");
        }
        for outside in [
            "",
            "/a",
            "../a",
            "a/../../b",
            "./../a",
            ".",
            "/proc/self/fd/3",
        ] {
            assert!(!is_inside(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn every_confirmable_key_is_one_that_is_asked_for() {
        let text = "version = 1\n\
            [server]\nlisten = \"192.0.2.1:1\"\ncertificate = \"/c\"\nkey = \"/k\"\n\
            [clients]\nauthorities = \"/a\"\nrevocation_lists = \"../l\"\nroster = \"/r\"\n\
            [store]\nfile = \"/s\"\n[keystore]\nroot = \"/root\"\npassword_file = \"/proc/self/fd/3\"\n\
            [token]\nmodule = \"m.so\"\nlabel = \"t\"\npin_file = \"/pin\"\n[audit]\ndirectory = \"/log\"\n\
            [admin]\nlisten = \"[::]:2\"\nauthorities = \"/aa\"\nrevocation_lists = \"/al\"\n\
            [telemetry]\nendpoint = \"https://c\"\nauthorities = \"/t\"\nallow_plaintext = true\n";
        let config = Config::parse(Path::new("keywright.toml"), text).unwrap();
        let mut keys: Vec<_> = outside(&config).iter().map(|one| one.key).collect();
        keys.sort_unstable();
        let mut expected = CONFIRMABLE.to_vec();
        expected.push(MODULE);
        expected.sort_unstable();
        assert_eq!(keys, expected);
    }
}
