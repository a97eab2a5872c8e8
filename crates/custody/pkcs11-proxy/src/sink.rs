//! Where lines go: a file that is set aside when it is full, a datagram socket, a collector, standard error.
//!
//! Nothing here fails: what cannot be written is counted, and the next lines are tried again, a file that cannot be
//! opened once a second. A file never holds half a line in its middle: after a write that stopped inside a line the
//! next begins on a new one.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};

use crate::collector::Collector;
use crate::form::Form;
use crate::settings::Log;

/// Lines that were not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) u64);

/// Where lines go.
pub(crate) enum Sink {
    File(Turning),
    Socket {
        socket: Option<UnixDatagram>,
        path: PathBuf,
    },
    Collector(Box<Collector>),
    StandardError,
}

/// A file that is set aside when it reaches a size.
pub(crate) struct Turning {
    path: PathBuf,
    limit: Option<u64>,
    keep: u32,
    open: Option<Open>,
    tried: Option<MonotonicTime>,
}

struct Open {
    file: File,
    size: u64,
    /// Whether it ends within a line.
    torn: bool,
}

/// How long a file that could not be opened is left alone.
const AGAIN: Duration = Duration::from_secs(1);
/// A request for each look at the ring would cost a collector more than the spans.
const BATCH: Duration = Duration::from_millis(200);

impl Sink {
    /// For the log of calls to this module.
    pub(crate) fn new(log: Log, module: &str) -> Self {
        match log {
            Log::File { path, limit, keep } => Self::File(Turning {
                path,
                limit,
                keep,
                open: None,
                tried: None,
            }),
            Log::Socket(path) => Self::Socket { socket: None, path },
            Log::Collector(endpoint) => Self::Collector(Box::new(Collector::new(endpoint, module))),
            Log::StandardError => Self::StandardError,
        }
    }

    /// What its lines look like.
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Collector(_) => Form::spans(),
            _ => Form::Records,
        }
    }

    /// How long lines may wait for others to go with them.
    pub(crate) const fn pause(&self) -> Duration {
        match self {
            Self::Collector(_) => BATCH,
            _ => Duration::ZERO,
        }
    }

    /// Writes whole lines, each with its end.
    pub(crate) fn write(&mut self, lines: &[u8], clock: &Clock) -> Lost {
        match self {
            Self::File(file) => file.write(lines, clock.monotonic()),
            Self::Socket { socket, path } => send(socket, path, lines),
            Self::Collector(collector) => match collector.send(lines, clock) {
                true => Lost(0),
                false => Lost(count(lines)),
            },
            Self::StandardError => match std::io::stderr().write_all(lines) {
                Ok(()) => Lost(0),
                Err(_) => Lost(count(lines)),
            },
        }
    }
}

impl Turning {
    fn write(&mut self, lines: &[u8], now: MonotonicTime) -> Lost {
        self.turn(lines.len());
        if self.open.is_none() && !self.try_open(now) {
            return Lost(count(lines));
        }
        let Some(open) = &mut self.open else {
            return Lost(count(lines));
        };
        if open.torn && open.append(b"\n") == 0 {
            return Lost(count(lines));
        }
        let written = open.append(lines);
        let (_, rest) = lines.split_at(written);
        if rest.is_empty() {
            open.torn = false;
            return Lost(0);
        }
        open.torn = written > 0 && lines.get(written - 1) != Some(&b'\n');
        Lost(count(rest))
    }

    fn try_open(&mut self, now: MonotonicTime) -> bool {
        if self.tried.is_some_and(|tried| now < tried.plus(AGAIN)) {
            return false;
        }
        self.tried = Some(now);
        // Without blocking: a pipe in the place of a file must not hold the writer.
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(&self.path);
        self.open = file.ok().map(|file| Open {
            size: file.metadata().map(|meta| meta.len()).unwrap_or_default(),
            file,
            torn: false,
        });
        self.open.is_some()
    }

    /// Sets a full file aside: `log` becomes `log.1`, that `log.2`, and so on; the last goes.
    fn turn(&mut self, more: usize) {
        let (Some(limit), Some(open)) = (self.limit, &self.open) else {
            return;
        };
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        if open.size == 0 || open.size.saturating_add(more) <= limit {
            return;
        }
        for number in (1..self.keep).rev() {
            drop(std::fs::rename(self.aside(number), self.aside(number + 1)));
        }
        if std::fs::rename(&self.path, self.aside(1)).is_ok() {
            self.open = None;
            self.tried = None;
        }
    }

    fn aside(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

impl Open {
    /// How much of `bytes` was written.
    fn append(&mut self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => break,
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.size = self
            .size
            .saturating_add(u64::try_from(written).unwrap_or_default());
        written
    }
}

/// A datagram for each line.
fn send(socket: &mut Option<UnixDatagram>, path: &Path, lines: &[u8]) -> Lost {
    if socket.is_none() {
        *socket = UnixDatagram::unbound()
            .ok()
            .filter(|socket| socket.set_nonblocking(true).is_ok());
    }
    let Some(socket) = socket else {
        return Lost(count(lines));
    };
    let sent = |line: &[u8]| socket.send_to(line, path).is_ok();
    let lost = lines
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !sent(line))
        .count();
    Lost(u64::try_from(lost).unwrap_or(u64::MAX))
}

/// Lines that end in here.
fn count(lines: &[u8]) -> u64 {
    let ends = lines.iter().filter(|byte| **byte == b'\n').count();
    u64::try_from(ends).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path, limit: Option<u64>, keep: u32) -> Sink {
        Sink::new(
            Log::File {
                path: path.to_path_buf(),
                limit,
                keep,
            },
            "module.so",
        )
    }

    #[test]
    fn a_full_file_is_set_aside_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let clock = Clock::system();
        let mut sink = file(&path, Some(20), 2);
        for number in 0..8 {
            assert_eq!(
                sink.write(format!("line-{number}\n").as_bytes(), &clock),
                Lost(0)
            );
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("log"), "line-6\nline-7\n");
        assert_eq!(read("log.1"), "line-4\nline-5\n");
        assert_eq!(read("log.2"), "line-2\nline-3\n");
        assert!(!folder.path().join("log.3").exists());
    }

    #[test]
    fn a_file_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        file(&path, None, 0).write(b"x\n", &Clock::system());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let (clock, hand) = Clock::simulated(keywright_clock::WallTime::from_unix_seconds(0));
        let mut sink = file(&missing.join("log"), None, 0);
        assert_eq!(sink.write(b"a\nb\n", &clock), Lost(2));
        std::fs::create_dir(&missing).unwrap();
        assert_eq!(
            sink.write(b"c\n", &clock),
            Lost(1),
            "left alone for a while"
        );
        hand.advance(AGAIN);
        assert_eq!(sink.write(b"d\n", &clock), Lost(0));
        assert_eq!(std::fs::read(missing.join("log")).unwrap(), b"d\n");
        let mut full = file(Path::new("/dev/full"), None, 0);
        assert_eq!(full.write(b"a\nb\n", &clock), Lost(2));
    }

    #[test]
    fn a_pipe_that_nobody_reads_does_not_hold_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(
            file(&pipe, None, 0).write(b"a\n", &Clock::system()),
            Lost(1)
        );
    }

    #[test]
    fn a_socket_gets_a_datagram_for_each_line_and_none_when_nobody_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let clock = Clock::system();
        let mut sink = Sink::new(Log::Socket(path.clone()), "module.so");
        assert_eq!(sink.write(b"early\n", &clock), Lost(1));
        let listener = UnixDatagram::bind(&path).unwrap();
        assert_eq!(sink.write(b"one\ntwo\n", &clock), Lost(0));
        let mut buffer = [0; 16];
        for line in ["one\n", "two\n"] {
            let length = listener.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], line.as_bytes());
        }
    }
}
