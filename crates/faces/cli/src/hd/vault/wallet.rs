//! A wallet that was taken over: a folder with its seed file, and a protected file of its other secrets.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_hdkey::Seed;
use keywright_hdkey::vault::{Export as SecretsFile, Kind, Secret, WalletId};
use keywright_password::Profile;
use keywright_primitives::random::RandomStream;
use keywright_secret::{SecretBytes, ct_eq};

use super::super::document::{Document, Export, PhraseRecord};
use super::super::protected::{Purpose, beside, exists};
use super::super::refused::refused;
use super::refused as not_taken;
use crate::exit::{Exit, Failure};

const SECRETS_FILE: Purpose = Purpose {
    label: b"keywright/hd/wallet",
    name: "file of a wallet's secrets",
    made_by: "keywright hd vault import",
    longest: 256 << 20,
};

const SEED_NAME: &str = "seed.kws";
const SECRETS_NAME: &str = "secrets.kws";

/// Under what, and how, wallets are kept.
pub(super) struct Keeping<'a> {
    pub(super) password: &'a SecretBytes,
    pub(super) profile: Profile,
    pub(super) export: Export,
}

/// What stands where a wallet is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Other,
    Same,
}

/// The place of a wallet.
pub(super) struct Wallet {
    folder: PathBuf,
}

impl Wallet {
    pub(super) fn new(out: &Path, id: &WalletId) -> Self {
        Self {
            folder: out.join(id.as_str()),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the wallet is there already, and whether it holds these secrets.
    pub(super) fn look(&self, secrets: &[Secret], keeping: &Keeping<'_>) -> Result<Found, Failure> {
        match std::fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Found::Nothing);
            }
            Err(error) => return Err(Failure::file(&self.folder, "read", &error)),
            Ok(_) => {}
        }
        let Ok((_, export, kept)) = Self::read(&self.folder, keeping.password) else {
            return Ok(Found::Other);
        };
        let (one, other) = (
            SecretsFile::write(kept.iter()),
            SecretsFile::write(secrets.iter()),
        );
        let same = export == keeping.export && ct_eq(one.expose(), other.expose());
        Ok(match same {
            true => Found::Same,
            false => Found::Other,
        })
    }

    /// Writes the folder. It appears as a whole, and never over another.
    pub(super) fn write(&self, secrets: &[Secret], keeping: &Keeping<'_>) -> Result<(), Failure> {
        let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
        let suffix = random.array().map_err(|error| refused(error.into()))?;
        let staged = beside(&self.folder, &suffix);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&staged)
            .map_err(|error| Failure::file(&self.folder, "made", &error))?;
        let placed = fill(&staged, secrets, keeping).and_then(|()| self.appear(&staged));
        if placed.is_err() {
            drop(std::fs::remove_dir_all(&staged));
        }
        placed
    }

    /// Removes what a run left that was killed while it wrote this wallet.
    pub(super) fn sweep(&self) -> Result<(), Failure> {
        let Some((above, name)) = self.folder.parent().zip(self.folder.file_name()) else {
            return Ok(());
        };
        let front = format!("{}.new-", name.to_string_lossy());
        let Ok(entries) = std::fs::read_dir(above) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let suffix = name.to_str().and_then(|name| name.strip_prefix(&front));
            if suffix.is_some_and(|suffix| hex::decode_array::<8>(suffix).is_ok()) {
                std::fs::remove_dir_all(entry.path())
                    .map_err(|error| Failure::file(&entry.path(), "removed", &error))?;
            }
        }
        Ok(())
    }

    fn appear(&self, staged: &Path) -> Result<(), Failure> {
        if std::fs::symlink_metadata(&self.folder).is_ok() {
            return Err(exists(&self.folder));
        }
        let failed = |error| Failure::file(&self.folder, "made", &error);
        std::fs::rename(staged, &self.folder).map_err(failed)?;
        // The name is on the disk before the command says so.
        let above = self.folder.parent().unwrap_or(Path::new("."));
        std::fs::File::open(above)
            .and_then(|folder| folder.sync_all())
            .map_err(failed)
    }

    /// Reads a folder again.
    pub(super) fn read(
        folder: &Path,
        password: &SecretBytes,
    ) -> Result<(WalletId, Export, Vec<Secret>), Failure> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let id = WalletId::parse(&name).map_err(|_| no_wallet(folder))?;
        let (seed, others) = (folder.join(SEED_NAME), folder.join(SECRETS_NAME));
        let mut found = None;
        let mut secrets = Vec::new();
        if others.exists() {
            let text = SECRETS_FILE.read(&others, password)?;
            let (export, kept) = parse(text.expose()).ok_or_else(|| SECRETS_FILE.none(&others))?;
            found = Some(export);
            secrets = kept;
        }
        if seed.exists() {
            let document = Document::read(&seed, password)?;
            let same = found.is_none_or(|export| export == document.export);
            found = same.then_some(document.export);
            secrets.push(of_seed(folder, &id, &document.seed)?);
        }
        let mine = secrets.iter().all(|secret| *secret.wallet() == id);
        match (found, mine) {
            (Some(export), true) => {
                secrets.sort_by(|one, other| one.path().cmp(other.path()));
                Ok((id, export, secrets))
            }
            _ => Err(no_wallet(folder)),
        }
    }
}

fn fill(staged: &Path, secrets: &[Secret], keeping: &Keeping<'_>) -> Result<(), Failure> {
    let export = keeping.export;
    if let Some(seed) = secrets.iter().find_map(Secret::seed) {
        let document = Document {
            seed,
            export,
            // It came from a store, not from a phrase.
            phrase: PhraseRecord::Checked,
        };
        document.write(&staged.join(SEED_NAME), keeping.password, keeping.profile)?;
    }
    let mut others = secrets
        .iter()
        .filter(|secret| secret.kind() != Kind::Seed)
        .peekable();
    if others.peek().is_some() {
        let path = staged.join(SECRETS_NAME);
        let text = text(export, &SecretsFile::write(others));
        SECRETS_FILE.write(&path, &text, keeping.password, keeping.profile)?;
    }
    Ok(())
}

/// A line with the version, one with whether the secrets may leave, and the secrets as JSON.
fn text(export: Export, secrets: &SecretBytes) -> SecretBytes {
    let front = format!("keywright wallet 1\nexport {}\n", export.name());
    let mut text = Vec::with_capacity(front.len() + secrets.len());
    text.extend_from_slice(front.as_bytes());
    text.extend_from_slice(secrets.expose());
    SecretBytes::from_vec(text)
}

fn parse(text: &[u8]) -> Option<(Export, Vec<Secret>)> {
    let text = text.strip_prefix(b"keywright wallet 1\nexport ")?;
    let (export, json) = match (text.strip_prefix(b"never\n"), text.strip_prefix(b"plain\n")) {
        (Some(json), _) => (Export::Never, json),
        (None, Some(json)) => (Export::Plain, json),
        (None, None) => return None,
    };
    let read = SecretsFile::read(json, "secret").ok()?;
    Some((export, read.wallets.into_values().flatten().collect()))
}

fn of_seed(folder: &Path, id: &WalletId, seed: &Seed) -> Result<Secret, Failure> {
    Secret::of_seed(id, seed).map_err(|error| not_taken(folder, Some(SEED_NAME), error))
}

/// A new file that its owner alone may read.
pub(super) fn write_plain(path: &Path, text: &SecretBytes) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let opened = options.open(path);
    let mut file = opened.map_err(|error| Failure::file(path, "written", &error))?;
    let written = file.write_all(text.expose()).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Half a file is none.
        drop(std::fs::remove_file(path));
        Failure::file(path, "written", &error)
    })
}

fn no_wallet(folder: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{} is no wallet", folder.display()),
        "give a folder that `keywright hd vault import` has made, with the wallet's id as its name",
    )
}
