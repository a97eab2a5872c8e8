//! Backups: a home in one sealed file, and a new home of it (design 7.22).
//!
//! * A running node writes one, or whoever opens the home: everything in the store at one moment, secrets sealed as
//!   they are, and the files of the home that are no secrets in the open. The file is that of design 7.10; its
//!   password or its recipients are the caller's choice, and its data key is made by whoever asks.
//! * [`SealedBackup`] is such a file; opened under the fingerprint of the audit log's signer it is a [`Backup`], whose
//!   every byte that signer signed. No other way leads to a [`Backup`].
//! * [`Backup::restore`] makes a home of it where there is none. What was ordered since is taken from the audit log.
//!   Settings that reach outside of the home ([`OutsideSetting`]) are confirmed by the order or refused.
//!
//! **In no backup**: the root's password, a token's PIN, the keys of TLS, and keys that are in a token. Whoever opens
//! a backup has no key: the root in it is under its own password.

mod content;
mod create;
mod error;
mod place;
mod proof;
mod restore;
mod settings;
mod signature;

use std::fs::File;
use std::io::{BufReader, Read as _, Take};
use std::path::Path;

use keywright_audit::head::{Fingerprint, Signer};
use keywright_container::{DataKey, FileHeader};
use keywright_encoding::hex;
use keywright_envelope::Aad;
use keywright_store::Table;
use serde::Serialize;

pub(crate) use content::Content;
pub use create::{BackedUp, SlotText};
pub use error::BackupError;
pub use restore::{LaterLog, Restoration, Restored};
pub use settings::{CONFIRMABLE, OutsideSetting, Unconfirmed};
pub(crate) use signature::{BackupSigner, SignedText};

/// A backup that is not open yet.
#[derive(Debug)]
pub struct SealedBackup {
    header: FileHeader,
    source: BufReader<Take<File>>,
}

/// Bytes of the longest file. It is decrypted whole before its signature is verified, and whoever knows a recipient can
/// seal a file to him: without a limit such a file would take all memory.
pub const LONGEST_BACKUP: u64 = 1 << 30;

/// Bytes that slots and the tags of chunks take of it at most.
const SEALING: u64 = 4 << 20;

/// A backup that was opened, and whose signature holds.
#[derive(Clone, Debug)]
pub struct Backup {
    content: Content,
    signer: Signer,
    digest: [u8; 32],
}

/// What a backup says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// When it was made (RFC 3339).
    pub created: String,
    /// The fingerprint of the key that signed it.
    pub signer: String,
    /// The installation.
    pub installation: String,
    /// The node.
    pub node: String,
    /// The state epoch.
    pub epoch: u64,
    /// The number of the newest audit head.
    pub head: u64,
    /// The hash of that head.
    pub head_hash: String,
    /// Tenants.
    pub tenants: usize,
    /// Contexts.
    pub contexts: usize,
    /// Versions of their keys, destroyed ones included.
    pub versions: usize,
    /// Rows of all tables.
    pub rows: usize,
    /// Whether a policy is in it.
    pub policy: bool,
    /// Settings that reach outside of the home, which a restore asks for.
    pub outside: Vec<OutsideSetting>,
}

impl SealedBackup {
    /// Begins to read a file.
    ///
    /// # Errors
    /// [`BackupError::Read`], [`BackupError::TooLong`], [`BackupError::Sealed`] if it is no file with slots.
    pub fn read(path: &Path) -> Result<Self, BackupError> {
        let failed = |error| BackupError::Read(path.to_owned(), error);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length > LONGEST_BACKUP {
            return Err(BackupError::TooLong(length));
        }
        // Also for a file that grows, and for a pipe.
        let mut source = BufReader::new(file.take(LONGEST_BACKUP));
        let header = FileHeader::read_from(&mut source)?;
        Ok(Self { header, source })
    }

    /// Its slots.
    #[must_use]
    pub const fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Opens all of it, and verifies that the key with this fingerprint signed it.
    ///
    /// # Errors
    /// [`BackupError::Sealed`] for another key and for bytes that were changed or cut off, [`BackupError::Format`],
    /// [`BackupError::Content`] for a file of something else, [`BackupError::Signer`].
    pub fn open(mut self, key: &DataKey, fingerprint: Fingerprint) -> Result<Backup, BackupError> {
        let mut text = Vec::new();
        let (header, source) = (&self.header, &mut self.source);
        keywright_container::open(source, &mut text, header, key, &aad()?, &mut |_| ())?;
        let text = SignedText::parse(&text)?.authenticate(fingerprint)?;
        Ok(Backup {
            content: text.content,
            signer: text.signer,
            digest: text.digest,
        })
    }
}

impl Backup {
    /// Looks at everything that can be seen without the root.
    ///
    /// # Errors
    /// [`BackupError::Incomplete`]; [`BackupError::Home`] for a configuration that is none.
    pub fn verify(&self) -> Result<Description, BackupError> {
        if !self.content.image.is_complete() {
            return Err(BackupError::Incomplete);
        }
        let config = place::read_configuration(&self.content.files)?;
        settings::check_collisions(&config)?;
        let outside = settings::outside(&config);
        Ok(self.describe(outside))
    }

    fn describe(&self, outside: Vec<OutsideSetting>) -> Description {
        let Content { head, image, .. } = &self.content;
        let count = |table| image.table(table).count();
        let mut policies = image.table(Table::Policies);
        let policy = policies.any(|row| row.key == keywright_service::POLICY_ROW);
        Description {
            created: self.content.created.rfc3339(),
            signer: hex::encode(Fingerprint::of(&self.signer.key).as_bytes()),
            installation: head.head().installation.to_string(),
            node: head.head().node.to_string(),
            epoch: self.content.epoch(),
            head: head.id().number,
            head_hash: hex::encode(&head.id().hash),
            tenants: count(Table::Tenants),
            contexts: count(Table::Keys),
            versions: count(Table::KeyVersions),
            rows: image.rows().count(),
            policy,
            outside,
        }
    }
}

/// What tells a backup from every other file under the same key.
fn aad() -> Result<Aad<'static>, BackupError> {
    let told = Aad::EMPTY.caller(LABEL);
    told.map_err(|_| BackupError::Content)
}

const LABEL: &[u8] = b"keywright/backup/v1";
