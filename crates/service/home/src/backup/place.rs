//! The files of the new home: which of the backup's go where, and which secrets come from elsewhere.
//!
//! What the configuration keeps in the home comes back into the home. Store, root and log always do, also where they
//! were elsewhere before; certificates, keys and secrets that the configuration has elsewhere are the operator's,
//! and are left where they are if the order confirms that.

use std::path::{Path, PathBuf};

use super::content::HomeFiles;
use super::settings::{self, is_inside};
use super::{BackupError, Restoration};
use crate::create::{CONFIG_FILE, PASSWORD, ROOT_IN_FILE, ROOT_IN_TOKEN, make_folder};
use crate::doors::{self, Files};
use crate::files::{self, Readers};
use crate::section::AdminSection;
use crate::{Config, ConfigError, HomeError, RootPlace};

/// A new home in the making, which has its files and neither store nor log.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) folder: PathBuf,
    /// With the paths of the folder in the making.
    pub(super) config: Config,
    /// With the paths as they are written.
    written: Config,
}

/// The configuration of the new home, before anything of it is written.
#[derive(Debug)]
pub(super) struct Plan {
    text: String,
    /// With the paths as they will be written.
    written: Config,
}

impl Plan {
    /// The configuration of a backup with what the order gives in place of its own, if nothing else in it reaches
    /// outside of the home without being confirmed.
    pub(super) fn new(backup: &HomeFiles, order: &Restoration<'_>) -> Result<Self, BackupError> {
        let parsed = read_configuration(backup)?;
        let mut written = parsed.clone();
        bring_home(&mut written, order)?;
        settings::check(&written, order)?;
        let same = written.to_text().ok() == parsed.to_text().ok();
        let text = match same {
            // As its writer left it, comments and all.
            true => String::from_utf8(backup.configuration.clone()).ok(),
            false => written.to_text().ok(),
        };
        Ok(Self {
            text: text.ok_or(BackupError::Content)?,
            written,
        })
    }

    /// The configuration by which the root is opened before there is a home: secrets are where the order has them,
    /// or where a confirmed path leads from `home`.
    pub(super) fn before_home(&self, home: &Path, order: &Restoration<'_>) -> Config {
        let mut config = self.written.clone();
        if let Some(file) = &mut config.keystore.password_file {
            *file = order
                .root_password
                .map_or_else(|| home.join(&*file), Path::to_owned);
        }
        if let Some(token) = &mut config.token {
            let given = order.token_pin.map(Path::to_owned);
            token.pin_file = given.unwrap_or_else(|| home.join(&token.pin_file));
        }
        config
    }
}

/// The configuration in a backup, as it was written.
pub(super) fn read_configuration(backup: &HomeFiles) -> Result<Config, BackupError> {
    let text = std::str::from_utf8(&backup.configuration).map_err(|_| BackupError::Content)?;
    let parsed = Config::parse(Path::new(CONFIG_FILE), text).map_err(HomeError::from)?;
    Ok(parsed)
}

/// Lays the files of a backup out in `folder`, but for anchors and lists, which may have changed since.
pub(super) fn lay_out(
    folder: &Path,
    plan: Plan,
    backup: &HomeFiles,
    order: &Restoration<'_>,
) -> Result<Site, BackupError> {
    let path = folder.join(CONFIG_FILE);
    files::write_new(&path, plan.text.as_bytes(), Readers::Everyone)?;
    let site = Site {
        folder: folder.to_owned(),
        config: Config::read(&path).map_err(HomeError::from)?,
        written: plan.written,
    };
    for parent in [&site.config.audit.directory, &folder.join("clients")] {
        make_folder(parent)?;
    }
    site.write(&site.written.keystore.root, &backup.root, Readers::Owner)?;
    site.bring_secrets(backup, order)?;
    site.fits()?;
    Ok(site)
}

/// Sets the paths of what has to be in the new home, and of what is given for it.
fn bring_home(config: &mut Config, order: &Restoration<'_>) -> Result<(), BackupError> {
    let root = match config.keystore.root_key {
        RootPlace::File => ROOT_IN_FILE,
        RootPlace::Token => ROOT_IN_TOKEN,
    };
    for (path, usual) in [
        (&mut config.store.file, "store.sqlite"),
        (&mut config.keystore.root, root),
        (&mut config.audit.directory, "audit"),
    ] {
        if !is_inside(path) {
            *path = usual.into();
        }
    }
    // It lets an older store pass, and was meant for that of the lost home.
    config.audit.store_at_head = None;
    for (given, path, usual) in [
        (order.server_key, &mut config.server.key, SERVER_KEY),
        (
            order.server_certificate,
            &mut config.server.certificate,
            SERVER_CERTIFICATE,
        ),
    ] {
        if given.is_some() && !is_inside(path) {
            *path = usual.into();
        }
    }
    if config.keystore.root_key == RootPlace::File {
        let place = config.keystore.password_file.get_or_insert_default();
        bring_secret(place, order.root_password, PASSWORD)
            .ok_or(BackupError::SecretMissing("the password of the root key"))?;
    }
    bring_token(config, order)
}

fn bring_token(config: &mut Config, order: &Restoration<'_>) -> Result<(), BackupError> {
    let Some(token) = &mut config.token else {
        return match (order.module, order.token_pin) {
            (Some(_), _) => Err(BackupError::NoToken("--module")),
            (None, Some(_)) => Err(BackupError::NoToken("--token-pin-file")),
            (None, None) => Ok(()),
        };
    };
    if let Some(module) = order.module {
        let failed = |error| files::failed(module, "read", error);
        token.module = std::path::absolute(module).map_err(failed)?;
    }
    bring_secret(&mut token.pin_file, order.token_pin, PIN)
        .ok_or(BackupError::SecretMissing("the PIN of the token"))
}

/// Sets the path of a secret that is given; nothing if it belongs into the home and is not given.
fn bring_secret(path: &mut PathBuf, given: Option<&Path>, usual: &str) -> Option<()> {
    match (given, is_inside(path)) {
        (None, true) => None,
        (Some(_), false) => {
            *path = usual.into();
            Some(())
        }
        _ => Some(()),
    }
}

impl Site {
    /// Writes a file of the configuration, if that has it in the folder.
    fn write(&self, written: &Path, bytes: &[u8], readers: Readers) -> Result<(), HomeError> {
        if !is_inside(written) {
            return Ok(());
        }
        let path = self.folder.join(written);
        path.parent().map_or(Ok(()), make_folder)?;
        files::write_new(&path, bytes, readers)
    }

    /// Secrets, and the certificate that belongs to one of them.
    fn bring_secrets(
        &self,
        backup: &HomeFiles,
        order: &Restoration<'_>,
    ) -> Result<(), BackupError> {
        let password = order.root_password.map(files::read_private).transpose()?;
        let place = self.written.keystore.password_file.as_deref();
        if let (Some(password), Some(place)) = (password, place) {
            let password = keywright_secret::SecretBytes::from_vec(password);
            files::write_new(&self.folder.join(place), password.expose(), Readers::Owner)?;
        }
        if let (Some(pin), Some(token)) = (order.token_pin, &self.written.token) {
            let pin = keywright_secret::SecretBytes::from_vec(files::read_private(pin)?);
            let place = self.folder.join(&token.pin_file);
            files::write_new(&place, pin.expose(), Readers::Owner)?;
        }
        let chain = match order.server_certificate {
            Some(file) => files::read(file)?,
            None => backup.certificates.clone(),
        };
        let server = &self.written.server;
        self.write(&server.certificate, &chain, Readers::Everyone)?;
        if let Some(file) = order.server_key {
            let key = keywright_secret::SecretBytes::from_vec(files::read(file)?);
            self.write(&server.key, key.expose(), Readers::Owner)?;
        }
        Ok(())
    }

    /// Whether certificate and key go together, where both lie in the home: one whose server cannot start is none.
    fn fits(&self) -> Result<(), HomeError> {
        let (written, server) = (&self.written.server, &self.config.server);
        let ours = [&written.certificate, &written.key];
        let there = [&server.certificate, &server.key];
        if ours.iter().all(|path| is_inside(path)) && there.iter().all(|path| path.exists()) {
            doors::identity(&self.config)?;
        }
        Ok(())
    }

    /// Writes the anchors, revocation lists and list of certificates that are in force, if anybody knows them.
    pub(super) fn write_trust(&self, trust: Option<Files<'_>>) -> Result<(), HomeError> {
        let Some(trust) = trust else {
            return Ok(());
        };
        let own = self.written.admin.as_ref().and_then(AdminSection::own);
        // Where it is not known which anchors are whose, those of administration must not become everybody's.
        if own.is_some() && trust.admin.is_none() {
            return Ok(());
        }
        let clients = &self.written.clients;
        let mut pairs = vec![
            (clients.authorities.as_path(), trust.anchors),
            (clients.revocation_lists.as_path(), trust.lists),
        ];
        if let (Some(own), Some(trust)) = (own, trust.admin) {
            pairs.extend([(own.0, trust.0), (own.1, trust.1)]);
        }
        pairs.extend(clients.roster.as_deref().zip(trust.roster));
        let mut pairs = pairs.into_iter();
        pairs.try_for_each(|(place, bytes)| self.write(place, bytes, Readers::Everyone))
    }

    /// Whether everything is there that says who is let in.
    pub(super) fn has_trust(&self) -> bool {
        trust_of(&self.config).all(Path::exists)
    }

    /// Files that the configuration names and that are not there, as they will be named.
    pub(super) fn missing(&self, home: &Path) -> Vec<PathBuf> {
        let pairs = named_by(&self.config).zip(named_by(&self.written));
        let missing = pairs.filter(|(path, _)| !path.exists());
        missing.map(|(_, written)| home.join(written)).collect()
    }
}

/// The files that may have to come from elsewhere.
fn named_by(config: &Config) -> impl Iterator<Item = &Path> {
    let server = &config.server;
    let own = [&server.certificate, &server.key].map(PathBuf::as_path);
    let telemetry = config.telemetry.as_ref();
    let collectors = telemetry.and_then(|one| one.authorities.as_deref());
    own.into_iter().chain(trust_of(config)).chain(collectors)
}

/// The files that say who is let in.
fn trust_of(config: &Config) -> impl Iterator<Item = &Path> {
    let clients = &config.clients;
    let own = config.admin.as_ref().and_then(AdminSection::own);
    [&clients.authorities, &clients.revocation_lists]
        .into_iter()
        .chain(&clients.roster)
        .map(PathBuf::as_path)
        .chain(
            own.map(|(authorities, lists)| [authorities, lists])
                .into_iter()
                .flatten(),
        )
}

impl From<ConfigError> for BackupError {
    fn from(error: ConfigError) -> Self {
        Self::Home(error.into())
    }
}

/// Where the PIN of a token comes to lie.
const PIN: &str = "token.pin";
/// Where the server's key and certificates come to be, if they are given and were elsewhere.
const SERVER_KEY: &str = "server.key";
const SERVER_CERTIFICATE: &str = "server.pem";
