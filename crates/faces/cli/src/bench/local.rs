//! Operations without a server: the envelope, streams, and what bounds them.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_container::{DataKey, Slot, seal_to_path};
use keywright_envelope::stream::{StreamOpener, StreamSealer};
use keywright_envelope::{
    Aad, Binding, Envelope, Identity, OpeningKey, SealingKey, derive, stream::Prefix,
};
use keywright_primitives::aead::Aes256Gcm;
use keywright_primitives::random::RandomStream;
use keywright_types::{KeyId, KeyVersion, Kind, SlotType, Suite};

use super::Block;
use crate::exit::{Exit, Failure};

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// A file copied by `cp`.
    Copy,
    /// The time of `cp` and the time of sealing as many bytes in memory: the bound for `FileSeal`.
    CopyAndSeal,
    /// A file sealed into another.
    FileSeal,
    /// The most memory that was resident while a file was sealed into another.
    FileSealMemory,
    /// An envelope of 64 bytes opened.
    Open,
    /// AES-256-GCM over 16 KiB in place: the bound for streams.
    RawSeal,
    /// 64 bytes sealed into an envelope.
    Seal,
    /// A stream opened from memory to memory.
    StreamOpen,
    /// A stream sealed from memory to memory.
    StreamSeal,
}

/// An operation with its inputs.
pub(crate) struct Runner {
    work: Work,
    clock: Clock,
    keys: (SealingKey, OpeningKey),
    stream_keys: (SealingKey, OpeningKey),
    raw: Aes256Gcm,
    random: RandomStream,
    /// A mebibyte, sealed in place again and again.
    buffer: Vec<u8>,
    envelope: Vec<u8>,
    stream: Vec<u8>,
    out: Vec<u8>,
    files: PathBuf,
}

impl Runner {
    pub(crate) fn new(work: Work, folder: &Path) -> Result<Self, Failure> {
        let mut random = RandomStream::new().map_err(broken)?;
        let keys = derive(&[1; 32], identity(Suite::Xaes256Gcm)).map_err(broken)?;
        let stream_keys = derive(&[1; 32], identity(Suite::Chunked)).map_err(broken)?;
        let mut envelope = Vec::new();
        keys.0
            .seal_into(
                Binding::None,
                &Aad::EMPTY,
                &[0x5A; 64],
                &mut random,
                &mut envelope,
            )
            .map_err(broken)?;
        let mut runner = Self {
            work,
            clock: Clock::system(),
            keys,
            stream_keys,
            raw: Aes256Gcm::new(&[2; 32]).map_err(broken)?,
            random,
            buffer: vec![0x5A; MEBIBYTE],
            envelope,
            stream: Vec::new(),
            out: Vec::new(),
            files: folder.to_owned(),
        };
        match work {
            Work::StreamOpen | Work::StreamSeal => {
                runner.stream = runner.whole_stream()?;
            }
            Work::Copy | Work::CopyAndSeal | Work::FileSeal | Work::FileSealMemory => {
                runner.make_file()?
            }
            Work::Open | Work::RawSeal | Work::Seal => {}
        }
        Ok(runner)
    }

    /// Repeats the operation for about `duration`.
    pub(crate) fn block(&mut self, duration: Duration) -> Result<Block, Failure> {
        if matches!(self.work, Work::FileSealMemory) {
            return self.peak_memory();
        }
        let (start, mut done) = (self.clock.monotonic(), 0.0);
        while self.clock.monotonic().since(start) < duration {
            done += self.some()?;
        }
        let took = self.clock.monotonic().since(start);
        // One thread that never waits: its processor time is the time that passed.
        let cpu_ns = took.as_nanos() as f64;
        let bytes = if matches!(self.work, Work::Seal | Work::Open) {
            64.0
        } else {
            MEBIBYTE as f64
        };
        Ok(Block {
            done,
            seconds: took.as_secs_f64(),
            cpu_ns,
            bytes: done * bytes,
            latencies: Vec::new(),
        })
    }

    /// A portion of work that is long against a look at the clock; returns how much it was.
    fn some(&mut self) -> Result<f64, Failure> {
        match self.work {
            Work::Seal => self.repeat(Self::seal),
            Work::Open => self.repeat(Self::open),
            Work::RawSeal => self.raw_seal(),
            Work::StreamSeal => self.stream_seal(),
            Work::StreamOpen => self.stream_open(),
            Work::Copy => self.copy(),
            Work::CopyAndSeal => {
                let copied = self.copy()?;
                let mut sealed = 0.0;
                while sealed < copied {
                    sealed += self.raw_seal()?;
                }
                Ok(copied)
            }
            Work::FileSeal | Work::FileSealMemory => self.file_seal(),
        }
    }

    fn repeat(&mut self, one: fn(&mut Self) -> Result<(), Failure>) -> Result<f64, Failure> {
        (0..1000).try_for_each(|_| one(self))?;
        Ok(1000.0)
    }

    fn seal(&mut self) -> Result<(), Failure> {
        self.out.clear();
        let message = &self.buffer[..64];
        let sealed = self.keys.0.seal_into(
            Binding::None,
            &Aad::EMPTY,
            message,
            &mut self.random,
            &mut self.out,
        );
        black_box(sealed.map_err(broken)?);
        Ok(())
    }

    fn open(&mut self) -> Result<(), Failure> {
        self.out.clear();
        let envelope = Envelope::parse(&self.envelope).map_err(broken)?;
        self.keys
            .1
            .open_into(&envelope, &Aad::EMPTY, &mut self.out)
            .map_err(broken)
    }

    fn raw_seal(&mut self) -> Result<f64, Failure> {
        for chunk in self.buffer.chunks_exact_mut(16 << 10) {
            black_box(self.raw.seal(&[3; 12], &[], chunk).map_err(broken)?);
        }
        Ok(1.0)
    }

    fn stream_seal(&mut self) -> Result<f64, Failure> {
        self.out.clear();
        let aad = Aad::EMPTY;
        let mut sealer = StreamSealer::new(
            &self.stream_keys.0,
            Binding::None,
            &aad,
            &mut self.random,
            &mut self.out,
        )
        .map_err(broken)?;
        for _ in 0..STREAM_MIB {
            // Constant memory: what was made is taken away before the next piece.
            self.out.clear();
            sealer.update(&self.buffer, &mut self.out).map_err(broken)?;
        }
        sealer.finish(&mut self.out).map_err(broken)?;
        Ok(STREAM_MIB as f64)
    }

    fn whole_stream(&mut self) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        let (key, aad) = (&self.stream_keys.0, Aad::EMPTY);
        let mut sealer = StreamSealer::new(key, Binding::None, &aad, &mut self.random, &mut out)
            .map_err(broken)?;
        (0..STREAM_MIB)
            .try_for_each(|_| sealer.update(&self.buffer, &mut out))
            .map_err(broken)?;
        sealer.finish(&mut out).map_err(broken)?;
        Ok(out)
    }

    fn stream_open(&mut self) -> Result<f64, Failure> {
        self.out.clear();
        let first = self
            .stream
            .first_chunk()
            .ok_or_else(|| Failure::broken("an empty stream"))?;
        let length = Prefix::length(first).map_err(broken)?;
        let (prefix, rest) = self.stream.split_at(length);
        let prefix = Prefix::parse(prefix).map_err(broken)?;
        let mut opener =
            StreamOpener::new(&self.stream_keys.1, &prefix, &Aad::EMPTY).map_err(broken)?;
        for piece in rest.chunks(MEBIBYTE) {
            self.out.clear();
            opener.update(piece, &mut self.out).map_err(broken)?;
        }
        opener.finish(&mut self.out).map_err(broken)?;
        Ok(STREAM_MIB as f64)
    }

    /// `done` is mebibytes over one second, so that the rate reads as memory.
    fn peak_memory(&mut self) -> Result<Block, Failure> {
        let broken = |error: std::io::Error| Failure::file(Path::new("/proc/self"), "read", &error);
        // Sets the high-water mark to what is resident now.
        std::fs::write("/proc/self/clear_refs", "5").map_err(broken)?;
        self.file_seal()?;
        let status = std::fs::read_to_string("/proc/self/status").map_err(broken)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line
            .and_then(|line| line.split_whitespace().next())
            .and_then(|kib| kib.parse::<f64>().ok());
        let kib = kib.ok_or_else(|| {
            Failure::broken("the system does not say how much memory was resident")
        })?;
        Ok(Block {
            done: kib / 1024.0,
            seconds: 1.0,
            cpu_ns: kib / 1024.0,
            bytes: kib * 1024.0,
            latencies: Vec::new(),
        })
    }

    fn make_file(&self) -> Result<(), Failure> {
        let path = self.files.join(PLAIN);
        let written = |error: std::io::Error| Failure::file(&path, "written", &error);
        let mut file = File::create(&path).map_err(written)?;
        (0..FILE_MIB)
            .try_for_each(|_| file.write_all(&self.buffer))
            .map_err(written)
    }

    fn copy(&self) -> Result<f64, Failure> {
        let (from, to) = (self.files.join(PLAIN), self.files.join("copy.bin"));
        drop(std::fs::remove_file(&to));
        let status = std::process::Command::new("cp")
            .arg("--reflink=never")
            .arg(&from)
            .arg(&to)
            .status();
        match status {
            Ok(status) if status.success() => Ok(FILE_MIB as f64),
            _ => Err(Failure::new(
                Exit::Target,
                "cp failed",
                "check the space on the disk",
            )),
        }
    }

    fn file_seal(&mut self) -> Result<f64, Failure> {
        let (from, to) = (self.files.join(PLAIN), self.files.join("sealed.kwf"));
        drop(std::fs::remove_file(&to));
        let key = DataKey::generate(&mut self.random).map_err(broken)?;
        let slot = Slot::from_parts(SlotType::Envelope, self.envelope.clone(), key.id())
            .map_err(broken)?;
        let mut reader = File::open(&from).map_err(|error| Failure::file(&from, "read", &error))?;
        seal_to_path(&mut reader, &to, &key, &[slot], &Aad::EMPTY, &mut |_| ()).map_err(broken)?;
        Ok(FILE_MIB as f64)
    }
}

fn identity(suite: Suite) -> Identity {
    let (key, version) = (KeyId::from_bytes([1; 16]), KeyVersion::FIRST);
    Identity {
        suite,
        kind: Kind::Message,
        key,
        version,
    }
}

fn broken(error: impl std::error::Error) -> Failure {
    Failure::broken(crate::exit::sentence(&error))
}

const MEBIBYTE: usize = 1 << 20;
/// Small enough to stay in the cache, where the bound is measured too.
const STREAM_MIB: usize = 4;
const FILE_MIB: usize = 256;
const PLAIN: &str = "plain.bin";
