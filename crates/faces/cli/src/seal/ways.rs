//! The ways to the data key of a file that another command makes or opens: a password, public keys, a private key.

use std::path::{Path, PathBuf};

use keywright_container::{DataKey, FileHeader, Slot};
use keywright_password::Limits;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::SlotType;

use super::{ProfileName, data_key, key_file, password, refused};
use crate::exit::Failure;

/// How a file is to be sealed: to public keys, under a password, or both.
#[derive(Debug, clap::Args)]
pub(crate) struct SlotOptions {
    /// A file with public keys, as `keywright seal keygen` prints them; each of their owners opens the file. May be
    /// given more than once. Without it, and beside it where one is named, the file is under a password.
    #[arg(long = "recipient", value_name = "FILE")]
    recipients: Vec<PathBuf>,
    #[command(flatten)]
    password: password::Origin,
    /// What trying a password costs: 64 MiB, 256 MiB or 1 GiB of memory.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
}

/// How a file is to be opened: with its password, or with a private key.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyOptions {
    /// The file with the private key, as `keywright seal keygen` has written it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["password_file", "password_fd"])]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    password: password::Origin,
}

impl SlotOptions {
    /// The file with the password, if there is one.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        self.password.file()
    }

    /// A new data key, and a slot for each way. `admit` looks at a password before it is used.
    pub(crate) fn make(
        &self,
        admit: impl FnOnce(&SecretBytes) -> Result<(), Failure>,
    ) -> Result<(DataKey, Vec<Slot>), Failure> {
        let recipients = match self.recipients.is_empty() {
            true => Vec::new(),
            false => key_file::recipients(&self.recipients)?,
        };
        let password = match recipients.is_empty() || self.password.is_named() {
            true => Some(self.password.choose()?),
            false => None,
        };
        password.as_ref().map_or(Ok(()), admit)?;
        let key = data_key()?;
        let policy = key_file::policy();
        let to_recipient = |to| {
            let suite = key_file::suite(&policy, to)?;
            Slot::hpke(&key, to, suite).map_err(refused)
        };
        let slots: Result<Vec<_>, _> = recipients.iter().map(to_recipient).collect();
        let mut slots = slots?;
        if let Some(password) = password {
            let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
            let slot = Slot::password(&key, &password, self.profile.into(), &mut random);
            slots.push(slot.map_err(refused)?);
        }
        Ok((key, slots))
    }
}

impl KeyOptions {
    /// The data key of a file.
    pub(crate) fn open(&self, header: &FileHeader) -> Result<DataKey, Failure> {
        let wanted = match &self.key_file {
            Some(_) => SlotType::Hpke,
            None => SlotType::Password,
        };
        if !header.slots().iter().any(|slot| slot.kind() == wanted) {
            return Err(refused::unopened_here(
                keywright_container::Error::NoSlot,
                wanted,
            ));
        }
        let opened = match &self.key_file {
            Some(file) => {
                let private = key_file::private(file)?;
                header.open_with_private_key(&private, &key_file::policy())
            }
            None => {
                let password = self.password.read()?;
                let opened = header.open_with_password(&password, &Limits::standard());
                opened.map(|(key, _)| key)
            }
        };
        opened.map_err(|error| refused::unopened_here(error, wanted))
    }
}
