//! What a running node reads again when it is told to: its certificate and key, the anchors, revocation lists and
//! list of certificates of its clients, and the log level.
//!
//! All of it is read and judged first and put in force then; whatever is wrong with any part leaves all of it as
//! it was. Other keys of the configuration hold from the start of a node to its end: those that have changed are
//! named.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use keywright_service::{Ended, load_trust};
use serde::{Deserialize, Serialize};

use crate::doors::{Handshakes, Trust};
use crate::node::certificate_end;
use crate::{Config, Event, HomeError, Level, Node};

/// What was read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reloaded {
    /// Whether anchors, revocation lists or the list of certificates are others than before; the state epoch has risen
    /// then.
    pub trust_changed: bool,
    /// The log level in force.
    pub level: Level,
    /// Keys of the configuration that say something else than at the start, and take a restart.
    pub needs_restart: Vec<String>,
}

/// Whether something has been told before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    New,
    Old,
}

/// What reading the files about clients came to.
enum Change {
    None,
    Trust,
}

impl fmt::Display for Reloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.trust_changed {
            true => "reloaded: certificate, and changed anchors, revocation lists or list of certificates",
            false => "reloaded: certificate",
        })?;
        match self.needs_restart.as_slice() {
            [] => Ok(()),
            keys => write!(f, "; after a restart: {}", keys.join(", ")),
        }
    }
}

impl Node {
    /// Reads certificate, key, anchors, revocation lists and log level again and puts them in force.
    ///
    /// # Errors
    /// [`HomeError`], naming what is wrong; all stays as it was. [`HomeError::Admin`] after the trust was replaced
    /// if its record's end is still owed.
    pub fn reload(&self) -> Result<Reloaded, HomeError> {
        let done = self.read_again();
        self.admin()
            .shared()
            .metrics()
            .note_reload(Ended::of(&done));
        self.tell(&match &done {
            Ok(reloaded) => Event::Reloaded(reloaded.clone()),
            Err(error) => Event::ReloadFailed(error.with_causes()),
        });
        done
    }

    /// Reads anchors, revocation lists and the list of certificates again, and puts them in force if they have changed.
    /// `before` is how the last reading ended, `tell` whether a failure is news.
    ///
    /// # Errors
    /// As [`Node::reload`].
    pub(crate) fn reload_clients(&self, before: Ended, tell: News) -> Result<(), HomeError> {
        let done = self.read_clients_again();
        let event = match &done {
            Ok(Change::None) if before == Ended::Worked => None,
            // The files were put back: a failure that nobody takes back would be one until the next change.
            Ok(Change::None) => Some(Event::ClientsReadAgain),
            Ok(Change::Trust) => Some(Event::ClientsChanged),
            Err(_) if tell == News::Old => None,
            Err(error) => Some(Event::ReloadFailed(error.with_causes())),
        };
        if let Some(event) = event {
            self.admin()
                .shared()
                .metrics()
                .note_reload(Ended::of(&done));
            self.tell(&event);
        }
        done.map(drop)
    }

    fn read_clients_again(&self) -> Result<Change, HomeError> {
        let _one = self.one_reader();
        let trust = Trust::read(self.config(), self.clock())?;
        if load_trust(self.store())?.as_deref() == Some(&trust.text[..]) {
            return Ok(Change::None);
        }
        // Known beforehand, so that an old file that stays there is not one order after the other.
        let current = Arc::clone(&self.admin().shared().snapshot().trust);
        if let Some(older) = trust.all.older_than(&current) {
            return Err(older.into());
        }
        let handshakes = self.doors().trusting(&trust)?;
        self.replace_trust(&trust, handshakes)?;
        Ok(Change::Trust)
    }

    fn read_again(&self) -> Result<Reloaded, HomeError> {
        let _one = self.one_reader();
        let config = Config::read(self.config_path())?;
        let clock = self.admin().shared().clock().clone();
        let until = certificate_end(self.config())?;
        if until <= clock.wall() {
            return Err(HomeError::CertificateExpired(until));
        }
        let trust = Trust::read(self.config(), &clock)?;
        let known = load_trust(self.store())?;
        let changed = known.as_deref() != Some(&trust.text[..]);
        let handshakes = Handshakes::new(self.config(), &trust)?;
        if changed {
            self.replace_trust(&trust, handshakes)?;
        } else {
            self.doors().replace(handshakes);
        }
        self.set_certificate_until(until);
        self.set_level(config.log.level);
        Ok(Reloaded {
            trust_changed: changed,
            level: config.log.level,
            needs_restart: differences(self.config(), &config),
        })
    }
}

/// The keys in which two configurations differ, but for those that are read again.
fn differences(old: &Config, new: &Config) -> Vec<String> {
    let (old, new) = (leaves(old), leaves(new));
    let different: BTreeSet<_> = old.symmetric_difference(&new).collect();
    let keys: BTreeSet<_> = different.into_iter().map(|(key, _)| key.clone()).collect();
    keys.into_iter().filter(|key| key != "log.level").collect()
}

/// Each key with its section, and what it says.
fn leaves(config: &Config) -> BTreeSet<(String, String)> {
    let Ok(table) = toml::Table::try_from(config) else {
        return BTreeSet::new();
    };
    let mut leaves = BTreeSet::new();
    for (section, value) in table {
        match value {
            toml::Value::Table(keys) => {
                let named = |(key, value): (String, toml::Value)| {
                    (format!("{section}.{key}"), value.to_string())
                };
                leaves.extend(keys.into_iter().map(named));
            }
            value => drop(leaves.insert((section, value.to_string()))),
        }
    }
    leaves
}
