//! Protected files (design 7.10) with one password slot, each over a text of one purpose.
//!
//! A file appears under its name only when it is whole, and never over another.

use std::fs::File;
use std::path::{Path, PathBuf};

use keywright_container::{DataKey, FileHeader, Slot, open, seal_to_path};
use keywright_encoding::hex;
use keywright_envelope::Aad;
use keywright_password::{Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::SlotType;

use crate::exit::{Exit, Failure, limit_advice_within, sentence};

/// What a file holds. Said to every file, so that none passes for another.
pub(super) struct Purpose {
    /// What is authenticated with the text.
    pub(super) label: &'static [u8],
    /// What messages call the file.
    pub(super) name: &'static str,
    /// How such a file comes to be.
    pub(super) made_by: &'static str,
    /// Bytes in the longest text.
    pub(super) longest: usize,
}

/// How dear it is to guess the password.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum ProfileName {
    /// For tests.
    Fast,
    /// For most.
    Balanced,
    /// For seeds that protect much.
    Strong,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Fast => Self::Fast,
            ProfileName::Balanced => Self::Balanced,
            ProfileName::Strong => Self::Strong,
        }
    }
}

impl Purpose {
    /// Writes the file. What exists already stays as it is, and that is an error.
    pub(super) fn write(
        &self,
        path: &Path,
        text: &SecretBytes,
        password: &SecretBytes,
        profile: Profile,
    ) -> Result<(), Failure> {
        refuse_existing(path)?;
        let failed = |error: &(dyn std::error::Error + 'static)| self.failed(path, error);
        let mut random = RandomStream::new().map_err(|error| failed(&error))?;
        let key = DataKey::generate(&mut random).map_err(|error| failed(&error))?;
        let slot =
            Slot::password(&key, password, profile, &mut random).map_err(|error| failed(&error))?;
        let suffix = random.array::<8>().map_err(|error| failed(&error))?;
        let staged = beside(path, &suffix);
        let sealed = seal_to_path(
            &mut text.expose(),
            &staged,
            &key,
            &[slot],
            &self.aad()?,
            &mut |_| {},
        );
        sealed.map_err(|error| failed(&error))?;
        appear(&staged, path)
    }

    /// Opens the file.
    pub(super) fn read(&self, path: &Path, password: &SecretBytes) -> Result<SecretBytes, Failure> {
        let failed = |error: &(dyn std::error::Error + 'static)| self.failed(path, error);
        let mut file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::new(
                Exit::NotFound,
                format!("there is no {} {}", self.name, path.display()),
                format!("make one: {}", self.made_by),
            ),
            _ => Failure::file(path, "read", &error),
        })?;
        let header = FileHeader::read_from(&mut file).map_err(|error| failed(&error))?;
        let slot = header
            .slots()
            .iter()
            .find(|slot| slot.kind() == SlotType::Password);
        let slot = slot.ok_or_else(|| self.none(path))?;
        let (key, _) = slot
            .open_password(password, &Limits::standard())
            .map_err(|error| failed(&error))?;
        let length =
            std::fs::metadata(path).map_err(|error| Failure::file(path, "read", &error))?;
        let length = usize::try_from(length.len()).unwrap_or(usize::MAX);
        let mut text = Bounded(SecretBytes::zeroed(length.min(self.longest)), 0);
        open(
            &mut file,
            &mut text,
            &header,
            &key,
            &self.aad()?,
            &mut |_| {},
        )
        .map_err(|error| failed(&error))?;
        Ok(text.into_text())
    }

    /// The file is something else.
    pub(super) fn none(&self, path: &Path) -> Failure {
        Failure::new(
            Exit::Usage,
            format!("{} is no {}", path.display(), self.name),
            format!("give a file that `{}` has written", self.made_by),
        )
    }

    fn aad(&self) -> Result<Aad<'static>, Failure> {
        Aad::EMPTY
            .caller(self.label)
            .map_err(|error| self.failed(Path::new(self.name), &error))
    }

    fn failed(&self, path: &Path, error: &(dyn std::error::Error + 'static)) -> Failure {
        use keywright_container::Error;
        let (exit, advice) = match error.downcast_ref::<Error>() {
            Some(Error::Rejected | Error::Password(keywright_password::Error::Rejected)) => (
                Exit::Authentication,
                "check the password, and whether the file was changed".to_owned(),
            ),
            Some(Error::Malformed) => (
                Exit::Usage,
                format!("give a file that `{}` has written", self.made_by),
            ),
            Some(Error::Password(
                keywright_password::Error::Busy | keywright_password::Error::OutOfMemory,
            )) => (
                Exit::Internal,
                "free memory, raise the memory limit (ulimit -v), or make the file with a smaller --profile"
                    .to_owned(),
            ),
            _ => (
                Exit::Internal,
                limit_advice_within(error)
                    .unwrap_or("check that the path exists and that you may use it")
                    .to_owned(),
            ),
        };
        Failure::new(
            exit,
            format!("{}: {}", path.display(), sentence(error)),
            advice,
        )
    }
}

/// A buffer that does not grow.
struct Bounded(SecretBytes, usize);

impl Bounded {
    fn into_text(self) -> SecretBytes {
        let text = self.0.expose().get(..self.1).unwrap_or_default();
        SecretBytes::from_vec(text.to_vec())
    }
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let end = self.1 + bytes.len();
        let room = self.0.expose_mut().get_mut(self.1..end);
        let room = room.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::WriteZero))?;
        room.copy_from_slice(bytes);
        self.1 = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A name in the same folder that nothing has.
pub(super) fn beside(path: &Path, suffix: &[u8; 8]) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", hex::encode(suffix)));
    path.with_file_name(name)
}

/// Gives a finished file its name.
pub(super) fn appear(staged: &Path, path: &Path) -> Result<(), Failure> {
    // A link is refused where something stands already, which a renaming would replace.
    let linked = std::fs::hard_link(staged, path);
    let removed = std::fs::remove_file(staged);
    match linked {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(error) => Err(Failure::file(path, "written", &error)),
        Ok(()) => removed.map_err(|error| Failure::file(staged, "removed", &error)),
    }
}

/// Said before anything is made or asked for; what is made says it again at the end.
pub(super) fn refuse_existing(path: &Path) -> Result<(), Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(exists(path)),
        Err(_) => Ok(()),
    }
}

pub(super) fn exists(path: &Path) -> Failure {
    Failure::new(
        Exit::Refused,
        format!(
            "{} exists, and a seed is never written over",
            path.display()
        ),
        "choose another name with --out",
    )
}
