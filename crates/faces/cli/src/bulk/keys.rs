//! Where the keys of columns come from: files, or a data key that a context has wrapped.

use std::path::{Path, PathBuf};

use keywright_client::Open;
use keywright_client::blocking::Client;
use keywright_clock::Clock;
use keywright_encoding::{base64, hex};
use keywright_format::Rules;
use keywright_home::{HomeError, MemoryPlan, Node, Serving};
use keywright_primitives::random::RandomStream;
use keywright_protect::{ColumnKey, Keys};
use keywright_secret::{Secret, SecretBytes};
use keywright_types::Name;

use super::made::{self, NewFiles};
use super::refused;
use crate::client::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::place;

/// Whether a run begins, or goes on with what one before it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Begins,
    GoesOn,
}

/// The keys of a run.
#[derive(Debug, clap::Args)]
pub(super) struct Given {
    /// A key of 32 bytes, or of 64 hexadecimal digits; NAME=FILE for one that a rule names. For tests and
    /// small work.
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with = "wrapped_key")]
    key_file: Vec<String>,
    /// The version that is written beside the data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    key_version: u32,
    /// A data key that a context of a service or a home has wrapped.
    #[arg(long, value_name = "FILE", requires = "context")]
    wrapped_key: Option<PathBuf>,
    /// The context that wrapped it.
    #[arg(long, value_name = "NAME", requires = "wrapped_key")]
    context: Option<Name>,
    /// Make the key, and write it to a file that must not exist.
    #[arg(long)]
    new_key: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Given {
    /// The keys for what protects; new ones where that was asked for, with the files that are to be written.
    pub(super) fn fetch(&self, rules: &Rules, start: Start) -> Result<(Keys, NewFiles), Failure> {
        // The command of the run that was interrupted has made its keys, and goes on with them. Other keys that
        // are there would not fit its journal.
        let is_made = start == Start::GoesOn && self.files().all(Path::exists);
        if !self.new_key || is_made {
            return Ok((self.fetch_existing()?, NewFiles::default()));
        }
        match (&self.wrapped_key, &self.context) {
            (Some(path), Some(context)) => self.wrap_new(path, context),
            _ => self.make_new(rules),
        }
    }

    /// The files that keys are in, or come to.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let plain = self.key_file.iter().map(|given| split(given).1);
        plain.chain(self.wrapped_key.as_deref())
    }

    fn make_new(&self, rules: &Rules) -> Result<(Keys, NewFiles), Failure> {
        let (mut keys, mut files) = (Keys::none(), NewFiles::default());
        for given in &self.key_file {
            let (name, path) = split(given);
            let known = |name| rules.columns().iter().any(|rule| rule.key() == Some(name));
            if let Some(name) = name.filter(|name| !known(name)) {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("no rule names the key {name:?}"),
                    "leave the name out, or write key = \"NAME\" into a rule",
                ));
            }
            let fresh = RandomStream::new().and_then(|mut random| random.secret::<32>());
            let fresh = fresh.map_err(|error| refused(error.into()))?;
            files.add(path, hex::encode(fresh.expose()).into_bytes())?;
            keys = with(keys, name, (self.key_version, fresh))?;
        }
        Ok((keys, files))
    }

    /// The keys for what reveals, which a new key could not.
    pub(super) fn fetch_old(&self) -> Result<Keys, Failure> {
        if self.new_key {
            return Err(Failure::new(
                Exit::Usage,
                "a new key reveals nothing",
                "leave --new-key out, and give the key it was protected with",
            ));
        }
        self.fetch_existing()
    }

    /// The keys that are there.
    fn fetch_existing(&self) -> Result<Keys, Failure> {
        match (&self.wrapped_key, &self.context) {
            (Some(path), Some(context)) => self.unwrap(path, context),
            _ => of_files(&self.key_file, self.key_version),
        }
    }

    fn wrap_new(&self, path: &Path, context: &Name) -> Result<(Keys, NewFiles), Failure> {
        made::free(path)?;
        let service = Service::reach(&self.connection)?;
        let made = service.client.datakey(context, None)?;
        let secret = made
            .plaintext
            .ok_or_else(|| Failure::broken("a data key came without its key"))?;
        let mut files = NewFiles::default();
        files.add(path, base64::encode(&made.ciphertext).into_bytes())?;
        Ok((self.keys(*made.id.as_bytes(), &secret)?, files))
    }

    fn unwrap(&self, path: &Path, context: &Name) -> Result<Keys, Failure> {
        let bytes = place::read(path)?;
        let text = std::str::from_utf8(&bytes).map(str::trim);
        let decoded = text.ok().and_then(|text| base64::decode(text).ok());
        let ciphertext = decoded.unwrap_or(bytes);
        let service = Service::reach(&self.connection)?;
        let item = Open {
            ciphertext: &ciphertext,
            aad: None,
        };
        let opened = service.client.datakey_open(context, item)?;
        self.keys(*opened.id.as_bytes(), &opened.plaintext)
    }

    fn keys(&self, id: [u8; 16], secret: &SecretBytes) -> Result<Keys, Failure> {
        let secret = Secret::copy_from(secret.expose())
            .ok_or_else(|| Failure::broken("a data key has 32 bytes"))?;
        Ok(Keys::none().with_unnamed(ColumnKey::new(id, self.key_version, secret)))
    }
}

/// A service that answers: one that runs, or the home's own, in this process, while it is asked.
struct Service {
    client: Client,
    serving: Option<Serving>,
}

impl Service {
    fn reach(connection: &Connection) -> Result<Self, Failure> {
        if let Some((home, client)) = connection.of_home() {
            let config = place::existing_home(home)?;
            match Node::open(&config, Clock::system(), MemoryPlan::AsConfigured) {
                Ok(node) => {
                    crate::serve::report_log(&node);
                    let serving = node.serve(Some(([127, 0, 0, 1], 0).into()))?;
                    let address = serving.local_addr();
                    let settings = crate::demo::settings(home, address, Some(client.as_str()))?;
                    return Ok(Self {
                        client: Client::connect(settings)?,
                        serving: Some(serving),
                    });
                }
                // It runs already, and is asked where it listens.
                Err(HomeError::Busy) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self {
            client: connection.open()?,
            serving: None,
        })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            // Its audit log is whole after each answer; a failure to end changes nothing of the key.
            drop(serving.stop());
        }
    }
}

/// Keys from files, `NAME=FILE` or `FILE` each.
pub(super) fn of_files(given: &[String], version: u32) -> Result<Keys, Failure> {
    let mut keys = Keys::none();
    for one in given {
        let (name, path) = split(one);
        let bytes = crate::fpe::read_key(path)?;
        let secret = Secret::copy_from(bytes.expose()).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                format!("{} holds {} bytes", path.display(), bytes.len()),
                "a key of columns has 32 bytes, or 64 hexadecimal digits",
            )
        })?;
        keys = with(keys, name, (version, secret))?;
    }
    Ok(keys)
}

/// One key more, for the rules that give this name or for those that give none.
fn with(
    keys: Keys,
    name: Option<&str>,
    (version, secret): (u32, Secret<32>),
) -> Result<Keys, Failure> {
    let key = ColumnKey::without_id(version, secret).map_err(refused)?;
    Ok(match name {
        Some(name) => keys.with_named(name, key),
        None => keys.with_unnamed(key),
    })
}

/// A name before the first `=`, unless that belongs to a path.
fn split(given: &str) -> (Option<&str>, &Path) {
    match given.split_once('=') {
        Some((name, path)) if !name.contains('/') => (Some(name), Path::new(path)),
        _ => (None, Path::new(given)),
    }
}
