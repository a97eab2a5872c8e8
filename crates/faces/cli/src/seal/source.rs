//! Where the bytes come from: a file or standard input, once or twice.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Read, Seek, SeekFrom, Stdin};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use keywright_encoding::hex;
use keywright_primitives::random::RandomStream;

use super::refused::refused;
use crate::exit::Failure;

/// Where the bytes come from.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The file to read; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

/// Bytes that are read as they come.
pub(super) struct Source {
    from: From,
    bar: ProgressBar,
    /// Where the reading began again, if it did.
    start: u64,
}

enum From {
    File(File),
    Stdin(Stdin),
}

impl Input {
    pub(super) fn open(&self) -> Result<Source, Failure> {
        let from = if self.input == Path::new("-") {
            From::Stdin(std::io::stdin())
        } else {
            let failed = |error| Failure::file(&self.input, "read", &error);
            let file = File::open(&self.input).map_err(failed)?;
            if file.metadata().map_err(failed)?.is_dir() {
                return Err(failed(ErrorKind::IsADirectory.into()));
            }
            From::File(file)
        };
        Ok(Source {
            from,
            bar: ProgressBar::hidden(),
            start: 0,
        })
    }
}

impl Source {
    /// Shows how far it is, where somebody looks and the end is known.
    pub(super) fn with_progress(mut self, what: &'static str) -> Self {
        if let From::File(file) = &self.from
            && std::io::stderr().is_terminal()
            && let Some(length) = file.metadata().ok().filter(std::fs::Metadata::is_file)
        {
            let style = ProgressStyle::with_template("{msg:<9} [{bar:32}] {bytes}/{total_bytes}");
            self.bar = ProgressBar::new(length.len()).with_message(what);
            if let Ok(style) = style {
                self.bar.set_style(style.progress_chars("=> "));
            }
        }
        self
    }

    /// The same bytes, from here on, in a form that can be read twice. What is no file is copied into one
    /// first, as ciphertext and without a name.
    pub(super) fn repeatable(mut self) -> Result<Self, Failure> {
        if let From::File(file) = &mut self.from
            && file.metadata().is_ok_and(|about| about.is_file())
        {
            self.start = file.stream_position().map_err(unreadable)?;
            return Ok(self);
        }
        let mut copy = nameless()?;
        std::io::copy(&mut self, &mut copy)
            .and_then(|_| copy.rewind())
            .map_err(|error| {
                Failure::file(Path::new("the input"), "kept until it is verified", &error)
            })?;
        Ok(Self {
            from: From::File(copy),
            bar: ProgressBar::hidden(),
            start: 0,
        })
    }

    /// Begins again where [`Source::repeatable`] was called.
    pub(super) fn again(mut self) -> Result<Self, Failure> {
        if let From::File(file) = &mut self.from {
            file.seek(SeekFrom::Start(self.start)).map_err(unreadable)?;
        }
        self.bar.finish_and_clear();
        Ok(self)
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = match &mut self.from {
            From::File(file) => file.read(buffer),
            From::Stdin(stdin) => stdin.read(buffer),
        }?;
        self.bar.inc(u64::try_from(count).unwrap_or_default());
        Ok(count)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A file that is gone when it is closed, however the program ends.
fn nameless() -> Result<File, Failure> {
    let random = RandomStream::new().and_then(|mut random| random.array::<16>());
    let random = random.map_err(|error| refused(error.into()))?;
    let path = std::env::temp_dir().join(format!(".keywright-{}", hex::encode(&random)));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options
        .open(&path)
        .and_then(|file| std::fs::remove_file(&path).map(|()| file))
        .map_err(|error| Failure::file(&path, "written", &error))
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::file(Path::new("the input"), "read", &error)
}
