//! Reading and writing the files of a home.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use keywright_secret::SecretBytes;

use crate::HomeError;

/// Who may read a file.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    Owner,
    Everyone,
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, HomeError> {
    std::fs::read(path).map_err(|source| failed(path, "read", source))
}

/// The bytes of a file that only its owner may read.
pub(crate) fn read_private(path: &Path) -> Result<Vec<u8>, HomeError> {
    let metadata = std::fs::metadata(path).map_err(|source| failed(path, "read", source))?;
    if metadata.permissions().mode() & 0o077 != 0 && !is_credential(&metadata) {
        return Err(HomeError::PasswordExposed(path.to_owned()));
    }
    read(path)
}

/// Whether a file is as systemd hands out credentials: of root and its group, for nobody to write, and readable for
/// the service by an entry of its own, which shows as a right of the group.
fn is_credential(metadata: &std::fs::Metadata) -> bool {
    metadata.mode() & 0o777 == 0o440 && metadata.uid() == 0 && metadata.gid() == 0
}

/// The password in a file that only its owner may read; a line end behind it is not part of it.
pub(crate) fn read_password(path: &Path) -> Result<SecretBytes, HomeError> {
    let mut bytes = read_private(path)?;
    while bytes
        .last()
        .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    {
        bytes.pop();
    }
    if bytes.is_empty() {
        return Err(HomeError::PasswordEmpty(path.to_owned()));
    }
    Ok(SecretBytes::from_vec(bytes))
}

/// Writes a file that was not there, and makes it durable.
pub(crate) fn write_new(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), HomeError> {
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everyone => 0o644,
    };
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => HomeError::Exists(path.to_owned()),
        _ => failed(path, "written", source),
    })
}

/// Puts new bytes in the place of a file in one step: a reader sees the old or the new, never half.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), HomeError> {
    let beside = path.with_extension("new");
    drop(std::fs::remove_file(&beside));
    write_new(&beside, bytes, readers)?;
    std::fs::rename(&beside, path)
        .and_then(|()| sync_folder(path))
        .map_err(|source| failed(path, "written", source))
}

/// Makes a name in its folder durable.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new("."))).and_then(|folder| folder.sync_all())
}

pub(crate) fn failed(path: &Path, action: &'static str, source: std::io::Error) -> HomeError {
    HomeError::File {
        path: path.to_owned(),
        action,
        source,
    }
}
