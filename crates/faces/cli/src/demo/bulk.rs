//! A large file under a data key: the service wraps the key, the bytes never leave this machine.
//!
//! The file of design 7.10 with one slot: the data key's envelope as the service gave it.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_client::Open;
use keywright_client::blocking::Client;
use keywright_clock::Clock;
use keywright_container::{DataKey, FileHeader, Slot, open_to_path, seal_to_path};
use keywright_envelope::Aad;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{DataKeyId, Name, SlotType};

use super::table;
use crate::exit::{Exit, Failure, sentence};
use crate::progress;

/// How fast it went, in MiB a second, files and all.
pub(super) struct Report {
    pub(super) seal_rate: f64,
    pub(super) open_rate: f64,
}

/// Makes a file of `mebibytes`, seals it, opens it, compares, and removes what it made.
pub(super) fn run(
    client: &Client,
    context: &Name,
    work: &Path,
    mebibytes: u64,
) -> Result<Report, Failure> {
    let files = Files::new(work);
    files.make_plain(mebibytes)?;
    let clock = Clock::system();
    let rate = |took: Duration| mebibytes as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE);
    let start = clock.monotonic();
    files.seal(client, context, mebibytes)?;
    let sealed = clock.monotonic();
    files.open(client, context, mebibytes)?;
    let opened = clock.monotonic();
    table::same(&files.plain, &files.opened)?;
    Ok(Report {
        seal_rate: rate(sealed.since(start)),
        open_rate: rate(opened.since(sealed)),
    })
}

/// Removes what an interrupted run may have left.
pub(super) fn remove(work: &Path) {
    drop(Files::new(work));
}

/// The three files of the step; removed when it is over, however it ends.
struct Files {
    plain: PathBuf,
    sealed: PathBuf,
    opened: PathBuf,
}

impl Files {
    fn new(work: &Path) -> Self {
        Self {
            plain: work.join("large.bin"),
            sealed: work.join("large.kwf"),
            opened: work.join("large.opened.bin"),
        }
    }

    /// Bytes that differ from block to block, so that a chunk in the wrong place shows.
    fn make_plain(&self, mebibytes: u64) -> Result<(), Failure> {
        let written = |error: std::io::Error| Failure::file(&self.plain, "written", &error);
        let mut writer = BufWriter::new(File::create(&self.plain).map_err(written)?);
        let mut block = vec![0_u8; 1 << 20];
        for number in 0..mebibytes {
            for (index, line) in block.chunks_mut(16).enumerate() {
                let stamp = (number << 20 | (index as u64) << 4).to_be_bytes();
                line[..8].copy_from_slice(&stamp);
            }
            writer.write_all(&block).map_err(written)?;
        }
        writer.flush().map_err(written)
    }

    fn seal(&self, client: &Client, context: &Name, mebibytes: u64) -> Result<(), Failure> {
        let given = client.datakey(context, None)?;
        let secret = given
            .plaintext
            .ok_or_else(|| Failure::broken("a data key came without its key"))?;
        let key = data_key(given.id, &secret)?;
        let slot =
            Slot::from_parts(SlotType::Envelope, given.ciphertext, given.id).map_err(failed)?;
        let mut reader = open_file(&self.plain)?;
        let bar = progress::bytes(mebibytes << 20, "sealing");
        let mut progress = |bytes| bar.set_position(bytes);
        seal_to_path(
            &mut reader,
            &self.sealed,
            &key,
            &[slot],
            &Aad::EMPTY,
            &mut progress,
        )
        .map_err(failed)?;
        bar.finish_and_clear();
        Ok(())
    }

    fn open(&self, client: &Client, context: &Name, mebibytes: u64) -> Result<(), Failure> {
        let mut reader = open_file(&self.sealed)?;
        let header = FileHeader::read_from(&mut reader).map_err(failed)?;
        let slot = header
            .slots()
            .first()
            .ok_or_else(|| Failure::broken("a sealed file has no slot"))?;
        let given = client.datakey_open(
            context,
            Open {
                ciphertext: slot.content(),
                aad: None,
            },
        )?;
        let key = data_key(given.id, &given.plaintext)?;
        let bar = progress::bytes(mebibytes << 20, "opening");
        let mut progress = |bytes| bar.set_position(bytes);
        open_to_path(
            &mut reader,
            &self.opened,
            &header,
            &key,
            &Aad::EMPTY,
            &mut progress,
        )
        .map_err(failed)?;
        bar.finish_and_clear();
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.plain, &self.sealed, &self.opened] {
            drop(std::fs::remove_file(path));
        }
    }
}

fn open_file(path: &Path) -> Result<impl Read, Failure> {
    let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

fn data_key(id: DataKeyId, secret: &SecretBytes) -> Result<DataKey, Failure> {
    let secret = Secret::copy_from(secret.expose());
    Ok(DataKey::new(
        id,
        secret.ok_or_else(|| Failure::broken("a data key has 32 bytes"))?,
    ))
}

fn failed(error: keywright_container::Error) -> Failure {
    Failure::new(
        Exit::Target,
        sentence(&error),
        "check the space on the disk and try again",
    )
}
