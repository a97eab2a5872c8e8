//! Whole files: copied, sealed, and the bound between the two. The file's text comes from the seed and is
//! shared by all operations of a run; each worker writes files of its own.
//!
//! An operation removes what the one before it wrote, so that each makes a new file. Sealing makes the
//! data key and seals it under a context key, as `keywright` does for a file.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use keywright_container::{DataKey, FileHeader, Slot, open, seal_to_path};
use keywright_envelope::{Aad, Binding, OpeningKey, SealingKey};
use keywright_measure::carry::Check;
use keywright_measure::{Fault, FaultPhase, TargetError, Worker};
use keywright_primitives::hash::{Blake3, Blake3Digest};
use keywright_primitives::random::RandomStream;
use keywright_types::{Kind, Suite};

use super::aead::{MebibyteInPieces, pieces};
use super::envelope::keys;
use super::row::{Row, Seeded, refused};

const MEBIBYTE: usize = 1 << 20;

/// The file that is read, and the digest of its text.
struct Plain {
    path: PathBuf,
    digest: Blake3Digest,
}

impl Plain {
    /// Writes the file unless another operation has.
    fn prepare(row: &Row<'_>) -> Result<Self, TargetError> {
        let (folder, seed, index) = (row.setting.folder, row.setting.seed, row.setting.index);
        let mebibytes = row.bytes / MEBIBYTE;
        let path = folder.join(format!("plain-{mebibytes}-{seed:016x}.bin"));
        let mut text = Text::of(seed);
        let mut hash = Blake3::new();
        let written = if path.exists() {
            text.write(mebibytes, &mut |block| {
                hash.update(block);
                Ok(())
            })
        } else {
            // Under its name it is whole, so that nobody takes up half a file.
            let begun = folder.join(format!("plain-{mebibytes}-{seed:016x}-{index}.part"));
            File::create(&begun)
                .and_then(|mut file| {
                    text.write(mebibytes, &mut |block| {
                        hash.update(block);
                        file.write_all(block)
                    })
                })
                .and_then(|()| std::fs::rename(&begun, &path))
        };
        written.map_err(|error| row.fails(error))?;
        Ok(Self {
            path,
            digest: hash.finish(),
        })
    }

    /// Whether a file holds this text.
    fn judge<E>(&self, digest: Result<Blake3Digest, E>) -> Check {
        match digest {
            Ok(digest) if digest == self.digest => Check::Right,
            _ => Check::Wrong,
        }
    }

    /// A path beside it for this worker alone.
    fn beside(&self, row: &Row<'_>) -> PathBuf {
        let (name, index) = (row.name, row.setting.index);
        self.path.with_file_name(format!("{name}-{index}.out"))
    }
}

/// Mebibytes of which no two are equal, so that a change of places is seen as well.
struct Text(Vec<u8>);

impl Text {
    fn of(seed: u64) -> Self {
        Self(Seeded::labelled(seed, b"file").bytes(MEBIBYTE))
    }

    fn write(
        &mut self,
        mebibytes: usize,
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for number in 0..mebibytes {
            self.0[..8].copy_from_slice(&(number as u64).to_be_bytes());
            each(&self.0)?;
        }
        Ok(())
    }
}

/// A writer that keeps the digest only.
struct Digesting(Blake3);

impl Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn digest(path: &Path) -> io::Result<Blake3Digest> {
    let mut digesting = Digesting(Blake3::new());
    io::copy(&mut File::open(path)?, &mut digesting)?;
    Ok(digesting.0.finish())
}

fn system(error: &io::Error) -> Fault {
    Fault::new(FaultPhase::Operation, error.kind().to_string())
}

fn remove(path: &Path) -> Result<(), Fault> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(system(&error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
fn spoil_if_asked(path: &Path) {
    if super::spoil::is_asked() {
        let mut bytes = std::fs::read(path).unwrap();
        super::output::Output::spoil(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
}

/// Copied by `cp`, which must not share the blocks of the source.
struct Copying {
    plain: Plain,
    copy: PathBuf,
}

impl Worker for Copying {
    fn operate(&mut self) -> Result<(), Fault> {
        remove(&self.copy)?;
        let status = Command::new("cp")
            .arg("--reflink=never")
            .args([&self.plain.path, &self.copy])
            .status()
            .map_err(|error| system(&error))?;
        match status.success() {
            true => Ok(()),
            false => Err(Fault::new(FaultPhase::Operation, "cp failed")),
        }
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        spoil_if_asked(&self.copy);
        self.plain.judge(digest(&self.copy))
    }
}

fn copying(row: &Row<'_>) -> Result<Copying, TargetError> {
    let plain = Plain::prepare(row)?;
    let copy = plain.beside(row);
    Ok(Copying { plain, copy })
}

/// A file copied.
pub(super) fn copy(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(copying(row)?))
}

/// One after the other: what no sealing of a file that reads, seals and writes in turn can beat.
struct CopyAndSeal {
    copying: Copying,
    sealing: MebibyteInPieces,
    mebibytes: u64,
}

impl Worker for CopyAndSeal {
    fn operate(&mut self) -> Result<(), Fault> {
        self.copying.operate()?;
        self.sealing.repeat(self.mebibytes)
    }

    fn check(&mut self) -> Check {
        match self.copying.check() {
            Check::Right => self.sealing.check(),
            other => other,
        }
    }
}

/// A file copied, and as many bytes sealed in memory.
pub(super) fn copy_and_raw_seal(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(CopyAndSeal {
        copying: copying(row)?,
        sealing: pieces(row)?,
        mebibytes: (row.bytes / MEBIBYTE) as u64,
    }))
}

/// A file sealed into another under a context key.
struct Sealing {
    plain: Plain,
    sealed: PathBuf,
    keys: (SealingKey, OpeningKey),
    random: RandomStream,
}

impl Sealing {
    fn seal(&mut self) -> Result<(), keywright_container::Error> {
        let key = DataKey::generate(&mut self.random)?;
        let (sealing, aad) = (&self.keys.0, Aad::EMPTY);
        let slot = Slot::envelope(&key, sealing, Binding::None, &aad, &mut self.random)?;
        let mut plain = File::open(&self.plain.path).map_err(keywright_container::Error::Read)?;
        seal_to_path(&mut plain, &self.sealed, &key, &[slot], &aad, &mut |_| ()).map(drop)
    }

    /// The digest of what the sealed file opens to, through its slot.
    fn opened(&self) -> Result<Blake3Digest, keywright_container::Error> {
        let sealed = File::open(&self.sealed).map_err(keywright_container::Error::Read)?;
        let mut sealed = BufReader::new(sealed);
        let header = FileHeader::read_from(&mut sealed)?;
        let key = header.open_with_key(&self.keys.1, &Aad::EMPTY)?;
        let mut text = Digesting(Blake3::new());
        let (aad, quiet) = (Aad::EMPTY, &mut |_| ());
        open(&mut sealed.by_ref(), &mut text, &header, &key, &aad, quiet)?;
        Ok(text.0.finish())
    }
}

impl Worker for Sealing {
    fn operate(&mut self) -> Result<(), Fault> {
        remove(&self.sealed)?;
        self.seal().map_err(|error| match error {
            keywright_container::Error::Read(error) | keywright_container::Error::Write(error) => {
                system(&error)
            }
            other => refused(other),
        })
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        spoil_if_asked(&self.sealed);
        self.plain.judge(self.opened())
    }
}

fn sealing(row: &Row<'_>) -> Result<Sealing, TargetError> {
    let mut seeded = row.seeded();
    let plain = Plain::prepare(row)?;
    let sealed = plain.beside(row);
    Ok(Sealing {
        plain,
        sealed,
        keys: keys(row, &mut seeded, Suite::Xaes256Gcm, Kind::Key)?,
        random: RandomStream::new().map_err(|error| row.fails(error))?,
    })
}

/// A file sealed.
pub(super) fn seal(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(sealing(row)?))
}

/// The most memory of this process, in MiB, that was resident while a file was sealed. It holds whatever
/// else the process holds, so it is measured alone; that it is far below the file's length is the point.
pub(super) fn peak_memory(row: &Row<'_>) -> Result<f64, TargetError> {
    let mut worker = sealing(row)?;
    // Sets the high-water mark to what is resident now.
    std::fs::write("/proc/self/clear_refs", "5").map_err(|error| row.fails(error))?;
    let sealed = worker.operate();
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| row.fails(error))?;
    sealed.map_err(|fault| row.fails(fault))?;
    if worker.check() != Check::Right {
        return Err(row.fails("the sealed file does not open to its text"));
    }
    let kib =
        high_water(&status).ok_or_else(|| row.lacks("the system keeps no high-water mark"))?;
    Ok(kib / 1024.0)
}

fn high_water(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
