//! The root file: the installation's id and its root key, under a password.
//!
//! A file of design 7.10 with one password slot; its message is 65 bytes:
//!
//! ```text
//! format u8 (1) | installation 16 | root key id 16 | root key 32
//! ```
//!
//! Losing this file or its password loses every key of the installation; whoever has both has every
//! key (7.14).

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use keywright_container::{DataKey, FileHeader, Slot};
use keywright_custody::{HolderError, RootKey};
use keywright_encoding::Reader;
use keywright_envelope::{Aad, Binding, Envelope, Identity, OpeningKey, SealingKey, derive};
use keywright_password::{Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{InstallationId, KeyId, KeyVersion, Kind, Suite};

/// The opened root.
#[derive(Debug)]
pub struct Root {
    installation: InstallationId,
    key_id: KeyId,
    key: Secret<32>,
}

/// Why a root file could not be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is a file already; a root is never overwritten.
    #[error("a root file is there already")]
    Exists,
    /// The file cannot be read or written.
    #[error("the root file cannot be read or written")]
    Io(#[source] std::io::Error),
    /// Wrong password, or a file that was changed: the two cannot be told apart.
    #[error("the root file does not open with this password")]
    Rejected,
    /// The file is not a root file of this version.
    #[error("this is not a root file")]
    Malformed,
    /// The password could not be stretched, or the file not be sealed.
    #[error("the root file cannot be sealed or opened now: {0}")]
    Container(keywright_container::Error),
    /// The crypto backend failed.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
    /// An envelope could not be made.
    #[error("a key could not be sealed")]
    Seal(#[from] keywright_envelope::Error),
    /// The root key is kept elsewhere, and did not work there.
    #[error("the root key did not work: {0}")]
    Root(#[from] HolderError),
}

impl From<keywright_container::Error> for Error {
    fn from(error: keywright_container::Error) -> Self {
        match error {
            keywright_container::Error::Malformed | keywright_container::Error::NoSlot => {
                Self::Malformed
            }
            keywright_container::Error::Rejected => Self::Rejected,
            other => Self::Container(other),
        }
    }
}

impl Root {
    /// Makes a new root and writes it to `path`, readable by its owner alone.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a file; [`Error::Io`]; [`Error::Container`].
    pub fn create(path: &Path, password: &SecretBytes, profile: Profile) -> Result<Self, Error> {
        let mut random = RandomStream::new()?;
        let root = Self {
            installation: InstallationId::from_bytes(random.array()?),
            key_id: KeyId::from_bytes(random.array()?),
            key: random.secret()?,
        };
        let sealed = root.seal(password, profile, &mut random)?;
        write_new(path, &sealed)?;
        Ok(root)
    }

    /// Opens the root at `path`.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a wrong password or a changed file, [`Error::Malformed`] for another
    /// kind of file, [`Error::Io`].
    pub fn open(path: &Path, password: &SecretBytes, limits: &Limits) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(Error::Io)?;
        file.take(MAX_FILE)
            .read_to_end(&mut bytes)
            .map_err(Error::Io)?;
        Self::from_sealed(&bytes, password, limits)
    }

    /// Opens a root from the bytes of its file.
    ///
    /// # Errors
    /// [`Error::Rejected`], [`Error::Malformed`].
    pub fn from_sealed(
        bytes: &[u8],
        password: &SecretBytes,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut reader = bytes;
        let header = FileHeader::read_from(&mut reader)?;
        let (data_key, _) = header.open_with_password(password, limits)?;
        Self::open_message(&mut reader, &header, &data_key)
    }

    /// Which installation this is the root of.
    #[must_use]
    pub const fn installation(&self) -> InstallationId {
        self.installation
    }

    /// The id under which envelopes of the root name their key.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key_id
    }

    fn seal(
        &self,
        password: &SecretBytes,
        profile: Profile,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        let data_key = DataKey::generate(random)?;
        let slot = Slot::password(&data_key, password, profile, random)?;
        let message: Secret<MESSAGE_LEN> = Secret::from_fill(|message| {
            message[0] = FORMAT;
            message[1..17].copy_from_slice(self.installation.as_bytes());
            message[17..33].copy_from_slice(self.key_id.as_bytes());
            message[33..].copy_from_slice(self.key.expose());
        });
        let mut out = Vec::new();
        let mut reader = &message.expose()[..];
        keywright_container::seal(
            &mut reader,
            &mut out,
            &data_key,
            &[slot],
            &Aad::EMPTY,
            &mut |_| (),
        )?;
        Ok(out)
    }

    fn open_message(
        reader: &mut &[u8],
        header: &FileHeader,
        data_key: &DataKey,
    ) -> Result<Self, Error> {
        let mut message = Vec::with_capacity(MESSAGE_LEN);
        let mut ignore = |_| ();
        let read = keywright_container::open(
            reader,
            &mut message,
            header,
            data_key,
            &Aad::EMPTY,
            &mut ignore,
        );
        let message = SecretBytes::from_vec(message);
        read?;
        Self::parse(message.expose()).ok_or(Error::Malformed)
    }

    fn parse(message: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(message);
        if message.len() != MESSAGE_LEN || reader.u8().ok()? != FORMAT {
            return None;
        }
        Some(Self {
            installation: InstallationId::from_bytes(*reader.array().ok()?),
            key_id: KeyId::from_bytes(*reader.array().ok()?),
            key: Secret::copy_from(reader.rest())?,
        })
    }
}

/// The root of a file as the key on top: suite 1, as every wrapped key.
#[derive(Debug)]
pub(crate) struct OpenRoot {
    installation: InstallationId,
    key_id: KeyId,
    sealing: SealingKey,
    opening: OpeningKey,
}

impl OpenRoot {
    pub(crate) fn new(root: &Root) -> Result<Self, Error> {
        let identity = Identity {
            suite: Suite::Xaes256Gcm,
            kind: Kind::Key,
            key: root.key_id,
            version: KeyVersion::FIRST,
        };
        let (sealing, opening) = derive(root.key.expose(), identity)?;
        Ok(Self {
            installation: root.installation,
            key_id: root.key_id,
            sealing,
            opening,
        })
    }
}

impl RootKey for OpenRoot {
    fn key_id(&self) -> KeyId {
        self.key_id
    }

    fn installation(&self) -> InstallationId {
        self.installation
    }

    fn seal(
        &self,
        message: &Secret<48>,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        let text = message.expose();
        let sealed = self
            .sealing
            .seal_into(Binding::None, aad, text, random, out);
        sealed.map(drop).map_err(|_| HolderError::Unavailable)
    }

    fn open(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        let opened = self.opening.open_into(envelope, aad, out);
        opened.map_err(|_| HolderError::KeyRejected)
    }

    /// Seals a key and opens it: suite 1 has no budget of seals.
    fn probe(&self) -> Result<(), HolderError> {
        let mut random = RandomStream::new().map_err(|_| HolderError::Unavailable)?;
        let message = random.secret().map_err(|_| HolderError::Unavailable)?;
        let (mut sealed, mut opened) = (Vec::new(), Vec::with_capacity(PROBE_ROOM));
        self.seal(&message, &Aad::EMPTY, &mut random, &mut sealed)?;
        let envelope = Envelope::parse(&sealed).map_err(|_| HolderError::Unavailable)?;
        self.open(&envelope, &Aad::EMPTY, &mut opened)?;
        let opened = SecretBytes::from_vec(opened);
        if opened.expose() == message.expose() {
            Ok(())
        } else {
            Err(HolderError::Unavailable)
        }
    }
}

/// Writes a file that was not there and makes it durable, name included.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Exists,
        _ => Error::Io(error),
    })?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or_else(|| Path::new(".")))
                .and_then(|folder| folder.sync_all())
        });
    written.map_err(|error| {
        // A root that may be incomplete is worse than none: nothing depends on it yet.
        drop(std::fs::remove_file(path));
        Error::Io(error)
    })
}

const FORMAT: u8 = 1;
/// For a message of 48 bytes: a buffer that grows leaves a copy.
const PROBE_ROOM: usize = 64;
const MESSAGE_LEN: usize = 1 + 16 + 16 + 32;
/// Far above any root file: a few slots of 4 KiB and one message.
const MAX_FILE: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// The file without the cost of its password: the envelope behind the slots is tried as a whole,
    /// byte by byte.
    #[test]
    fn the_message_opens_only_whole_and_unchanged() {
        let mut random = RandomStream::new().unwrap();
        let root = Root {
            installation: InstallationId::from_bytes([1; 16]),
            key_id: KeyId::from_bytes([2; 16]),
            key: random.secret().unwrap(),
        };
        let password = SecretBytes::from_vec(b"p".to_vec());
        let file = root.seal(&password, Profile::Fast, &mut random).unwrap();
        let mut rest = &file[..];
        let header = FileHeader::read_from(&mut rest).unwrap();
        let (data_key, _) = header
            .open_with_password(&password, &Limits::standard())
            .unwrap();
        let open = |mut bytes: &[u8]| Root::open_message(&mut bytes, &header, &data_key);
        assert!(open(rest).unwrap().key.ct_eq(&root.key));
        for index in 0..rest.len() {
            assert!(open(&rest[..index]).is_err(), "cut to {index}");
            for bit in 0..8 {
                let mut changed = rest.to_vec();
                changed[index] ^= 1 << bit;
                assert!(open(&changed).is_err(), "byte {index}, bit {bit}");
            }
        }
        assert!(open(&[rest, b"\0"].concat()).is_err());
    }

    #[test]
    fn a_message_of_another_format_or_length_is_no_root() {
        let mut message = vec![7; MESSAGE_LEN];
        message[0] = FORMAT;
        assert!(Root::parse(&message).is_some());
        for format in [0, 2, 255] {
            message[0] = format;
            assert!(Root::parse(&message).is_none());
        }
        message[0] = FORMAT;
        assert!(Root::parse(&message[..MESSAGE_LEN - 1]).is_none());
        message.push(0);
        assert!(Root::parse(&message).is_none());
        assert!(Root::parse(&[]).is_none());
    }
}
