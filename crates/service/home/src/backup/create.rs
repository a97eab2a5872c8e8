//! A backup of a home, taken while its node runs.

use std::fs::File;
use std::path::Path;

use keywright_container::{DataKey, Slot};
use keywright_encoding::base64;
use keywright_envelope::Aad;
use keywright_secret::{Secret, SecretBytes};
use keywright_service::Author;
use keywright_store::Table;
use keywright_types::SlotType;
use serde::{Deserialize, Serialize};

use super::content::HomeFiles;
use super::{Content, LABEL, LONGEST_BACKUP, SEALING};
use crate::files::{self, failed};
use crate::{Answer, HomeError, Imported, Node};

/// A slot of a file as it travels to the node that writes the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct SlotText {
    /// The number of its type.
    pub kind: u8,
    /// Its content, as base64.
    pub content: String,
}

/// A backup that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackedUp {
    /// The state epoch of its moment.
    pub epoch: u64,
    /// The number of the newest audit head.
    pub head: u64,
    /// Contexts.
    pub contexts: usize,
    /// Versions of their keys, destroyed ones included.
    pub versions: usize,
    /// Rows of all tables.
    pub rows: usize,
    /// Bytes of the file.
    pub bytes: u64,
}

impl SlotText {
    /// This slot.
    #[must_use]
    pub fn new(slot: &Slot) -> Self {
        Self {
            kind: slot.kind().number(),
            content: base64::encode(slot.content()),
        }
    }

    fn open(&self, key: &DataKey) -> Result<Slot, keywright_container::Error> {
        let malformed = keywright_container::Error::Malformed;
        let Ok(kind) = SlotType::from_number(self.kind) else {
            return Err(malformed);
        };
        let content = base64::decode(&self.content).map_err(|_| malformed)?;
        Slot::from_parts(kind, content, key.id())
    }
}

impl Node {
    /// Writes a backup. It is recorded before the first row is read.
    pub(crate) fn back_up(
        &self,
        to: &Path,
        key: &Imported,
        slots: &[SlotText],
    ) -> Result<Answer, HomeError> {
        let key = Secret::copy_from(key.open()?.expose());
        let key = key.ok_or(HomeError::Sealing(keywright_container::Error::Malformed))?;
        let key = DataKey::from_bytes(&key);
        let slots = slots.iter().map(|slot| slot.open(&key));
        let slots: Vec<_> = slots
            .collect::<Result<_, _>>()
            .map_err(HomeError::Sealing)?;
        self.check_place(to)?;
        // What is counted in memory alone belongs to this moment as well.
        self.admin().save_uses()?;
        self.admin().record_backup(&Author::owner())?;
        let content = self.content()?;
        // A home has one audit key for good: no other has handed over to it.
        let too_long = || {
            let kind = std::io::ErrorKind::FileTooLarge;
            HomeError::Sealing(keywright_container::Error::Write(kind.into()))
        };
        let text = self.backup_signer().sign(&content, &[]);
        let text = text.map_err(|_| too_long())?;
        if text.len() as u64 > LONGEST_BACKUP - SEALING {
            return Err(too_long());
        }
        let bytes = write(&text, to, (&key, &slots))?;
        let count = |table| content.image.table(table).count();
        Ok(Answer::BackedUp(BackedUp {
            epoch: content.epoch(),
            head: content.head.id().number,
            contexts: count(Table::Keys),
            versions: count(Table::KeyVersions),
            rows: content.image.rows().count(),
            bytes,
        }))
    }

    /// Refuses a place that is taken, and one that goes where the home goes.
    fn check_place(&self, to: &Path) -> Result<(), HomeError> {
        if to.symlink_metadata().is_ok() {
            return Err(HomeError::Exists(to.to_owned()));
        }
        let folder = to.parent().unwrap_or_else(|| Path::new("/"));
        let real = |path: &Path| path.canonicalize();
        let folder = real(folder).map_err(|source| failed(to, "written", source))?;
        let home = real(self.folder()).map_err(|source| failed(self.folder(), "read", source))?;
        match folder.starts_with(home) {
            true => Err(HomeError::BackupInside(to.to_owned())),
            false => Ok(()),
        }
    }

    /// Everything, at one moment. The head is of before that moment, so whatever the store has is later than the
    /// head or covered by it.
    fn content(&self) -> Result<Content, HomeError> {
        let config = self.config();
        let head = self.sign_head()?;
        let image = self.store().image()?;
        let files = HomeFiles {
            configuration: files::read(self.config_path())?,
            root: files::read(&config.keystore.root)?,
            certificates: files::read(&config.server.certificate)?,
            anchors: files::read(&config.clients.authorities)?,
            lists: files::read(&config.clients.revocation_lists)?,
        };
        Ok(Content {
            created: self.clock().wall(),
            head,
            files,
            image,
        })
    }
}

/// Seals the text into a file that appears when it is whole, and is on the disk when this returns.
fn write(text: &[u8], to: &Path, (key, slots): (&DataKey, &[Slot])) -> Result<u64, HomeError> {
    let aad = Aad::EMPTY.caller(LABEL);
    let aad = aad.map_err(|_| HomeError::Sealing(keywright_container::Error::Malformed))?;
    let mut source = text;
    keywright_container::seal_to_path(&mut source, to, key, slots, &aad, &mut |_| ())
        .map_err(HomeError::Sealing)?;
    let durable = File::open(to).and_then(|file| {
        file.sync_all()?;
        files::sync_folder(to)?;
        file.metadata()
    });
    if durable.is_err() {
        // Whole it may be, but nobody can say that it stays.
        drop(std::fs::remove_file(to));
    }
    let about = durable.map_err(|source| failed(to, "written", source))?;
    Ok(about.len())
}

/// The 48 bytes of a data key on their way to the node.
impl From<&DataKey> for Imported {
    fn from(key: &DataKey) -> Self {
        Self::new(&SecretBytes::from_vec(key.to_bytes().expose().to_vec()))
    }
}
