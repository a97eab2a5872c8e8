//! Whole files: sealed, opened, given other slots.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use keywright_envelope::stream::{StreamOpener, StreamSealer};
use keywright_envelope::{Aad, Binding};
use keywright_primitives::random::RandomStream;

use crate::header::encode_slots;
use crate::staged::Staged;
use crate::{DataKey, Error, FileHeader, Slot};

/// Seals all of `reader` into `writer`, and says how many bytes were read. `progress` is given the bytes
/// read so far, once a MiB.
///
/// # Errors
/// [`Error::SlotCount`] and [`Error::SlotOfAnotherKey`] before anything is written; [`Error::Read`],
/// [`Error::Write`], [`Error::Seal`] and [`Error::Backend`] after which `writer` holds no whole file.
#[expect(
    clippy::too_many_arguments,
    reason = "a source, a destination, and what the format says of both"
)]
pub fn seal(
    reader: &mut impl Read,
    writer: &mut impl Write,
    key: &DataKey,
    slots: &[Slot],
    aad: &Aad<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let (sealing, _) = key.stream_keys()?;
    let mut front = encode_slots(slots, key.id())?;
    let mut random = RandomStream::new()?;
    let stream = StreamSealer::new(&sealing, Binding::None, aad, &mut random, &mut front)?;
    writer.write_all(&front).map_err(Error::Write)?;
    let total = stream.transfer(reader, writer, progress)?;
    writer.flush().map_err(Error::Write)?;
    Ok(total)
}

/// Opens what follows `header` in `reader` into `writer`, and says how many bytes were written.
///
/// The text is complete only if this returns `Ok`.
///
/// # Errors
/// [`Error::Rejected`] if key, associated data or any chunk do not fit, [`Error::Malformed`] if there is
/// less than the smallest stream, [`Error::Read`], [`Error::Write`].
#[expect(
    clippy::too_many_arguments,
    reason = "a source, a destination, and what the format says of both"
)]
pub fn open(
    reader: &mut impl Read,
    writer: &mut impl Write,
    header: &FileHeader,
    key: &DataKey,
    aad: &Aad<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let (_, opening) = key.stream_keys()?;
    let stream = StreamOpener::new(&opening, header.prefix(), aad)?;
    let total = stream.transfer(reader, writer, progress)?;
    writer.flush().map_err(Error::Write)?;
    Ok(total)
}

/// As [`seal`], into a file that appears under its name only when it is whole.
///
/// # Errors
/// As [`seal`]; nothing is left behind then, and what stood under the name before stays.
#[expect(
    clippy::too_many_arguments,
    reason = "a source, a destination, and what the format says of both"
)]
pub fn seal_to_path(
    reader: &mut impl Read,
    path: &Path,
    key: &DataKey,
    slots: &[Slot],
    aad: &Aad<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let mut staged = Staged::beside(path)?;
    let total = seal(reader, staged.file(), key, slots, aad, progress)?;
    staged.commit().map_err(Error::Write)?;
    Ok(total)
}

/// As [`open`], into a file that appears under its name only when all of it was verified. It is readable
/// by its owner alone, as its text was protected until now.
///
/// # Errors
/// As [`open`]; nothing is left behind then, and what stood under the name before stays.
#[expect(
    clippy::too_many_arguments,
    reason = "a source, a destination, and what the format says of both"
)]
pub fn open_to_path(
    reader: &mut impl Read,
    path: &Path,
    header: &FileHeader,
    key: &DataKey,
    aad: &Aad<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Error> {
    let mut staged = Staged::beside(path)?;
    let total = open(reader, staged.file(), header, key, aad, progress)?;
    staged.commit().map_err(Error::Write)?;
    Ok(total)
}

/// Copies a file with other slots; the stream is copied as it is. Says how many bytes the stream's chunks
/// have.
///
/// # Errors
/// [`Error::Malformed`] if `reader` gives no file, [`Error::SlotCount`] and [`Error::SlotOfAnotherKey`]
/// before anything is written, [`Error::Read`] and [`Error::Write`].
pub fn rewrite_slots(
    reader: &mut impl Read,
    writer: &mut impl Write,
    slots: &[Slot],
) -> Result<u64, Error> {
    let header = FileHeader::read_from(reader)?;
    let mut front = encode_slots(slots, header.data_key())?;
    header.prefix().encode_into(&mut front);
    writer.write_all(&front).map_err(Error::Write)?;
    let copied = copy(reader, writer)?;
    writer.flush().map_err(Error::Write)?;
    Ok(copied)
}

/// Gives the file at `path` other slots: the new file is on disk before it takes the old one's place, so
/// that a crash leaves one or the other. Its permissions are kept.
///
/// # Errors
/// As [`rewrite_slots`]; the file is as it was then.
pub fn rewrite_slots_at(path: &Path, slots: &[Slot]) -> Result<u64, Error> {
    let mut old = File::open(path).map_err(Error::Read)?;
    let permissions = old.metadata().map_err(Error::Read)?.permissions();
    let mut staged = Staged::beside(path)?;
    let copied = rewrite_slots(&mut old, staged.file(), slots)?;
    staged
        .file()
        .set_permissions(permissions)
        .map_err(Error::Write)?;
    staged.commit_durably().map_err(Error::Write)?;
    Ok(copied)
}

/// Copies what is left, and tells which of the two sides failed.
fn copy(reader: &mut impl Read, writer: &mut impl Write) -> Result<u64, Error> {
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0;
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Read(error)),
        };
        writer.write_all(&buffer[..length]).map_err(Error::Write)?;
        total += u64::try_from(length).unwrap_or(u64::MAX);
    }
}
