//! A channel: two pipes between one thread of the service and one of the child.
//!
//! Pipes, because they take less of the system's time for a message than sockets. They have no time limit of their own,
//! so the service's ends are looked at before they are waited on: a read that finds nothing within a tick, and a write
//! for which there is no room, come back as [`ErrorKind::WouldBlock`]. The child waits for as long as there is a service.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::descriptor;
use crate::line::TICK;

/// The service's ends.
pub(crate) struct Asker {
    to: PipeWriter,
    from: PipeReader,
}

/// The child's ends.
pub(crate) struct Worker {
    from: PipeReader,
    to: PipeWriter,
}

/// What can be said of an answer without waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It has begun to come.
    Begun,
    /// None will come.
    Ended,
    Nothing,
}

/// Why there is no channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// This process has no descriptor left, or the child is slow to take them: no reason to end it.
    Here,
    /// The child has no end of the control socket any more.
    There,
}

impl From<std::io::Error> for Unopened {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::NotConnected => {
                Self::There
            }
            _ => Self::Here,
        }
    }
}

impl Asker {
    /// A new channel, whose other ends are handed to the child.
    pub(crate) fn open(control: &UnixStream) -> Result<Self, Unopened> {
        let (from, theirs_to) = std::io::pipe()?;
        let (theirs_from, to) = std::io::pipe()?;
        // Of this end alone: the child's are descriptions of their own.
        rustix::io::ioctl_fionbio(&to, true).map_err(std::io::Error::from)?;
        descriptor::send(control, [theirs_from.as_fd(), theirs_to.as_fd()])?;
        Ok(Self { to, from })
    }

    pub(crate) fn look(&self) -> Seen {
        match ready(&self.from, PollFlags::IN, Timespec::default()) {
            Ok(seen) if seen.contains(PollFlags::IN) => Seen::Begun,
            Ok(seen) if !seen.is_empty() => Seen::Ended,
            // Nobody can say now; it is looked at again.
            Ok(_) | Err(_) => Seen::Nothing,
        }
    }
}

impl Read for &Asker {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if ready(&self.from, PollFlags::IN, tick())?.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        (&self.from).read(out)
    }
}

impl Write for &Asker {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match (&self.to).write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ready(&self.to, PollFlags::OUT, tick())?;
                Err(error)
            }
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Worker {
    /// The next channel that the service opens; `None` at the end.
    pub(crate) fn next(control: &UnixStream) -> std::io::Result<Option<Self>> {
        let ends: Option<[OwnedFd; 2]> = descriptor::receive(control)?;
        Ok(ends.map(|[from, to]| Self {
            from: from.into(),
            to: to.into(),
        }))
    }
}

impl Read for &Worker {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        (&self.from).read(out)
    }
}

impl Write for &Worker {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        (&self.to).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What can be done with a descriptor within a time; nothing if it is over. An end of the other side counts.
fn ready(descriptor: impl AsFd, wanted: PollFlags, within: Timespec) -> std::io::Result<PollFlags> {
    let mut looked = [PollFd::new(&descriptor, wanted)];
    poll(&mut looked, Some(&within))?;
    Ok(looked[0].revents())
}

/// How long a thread waits before it looks at the time.
fn tick() -> Timespec {
    Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(TICK.subsec_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Buffer, Lost, MOST};

    fn pair() -> (Asker, Worker) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let asker = Asker::open(&ours).unwrap_or_else(|_| panic!("no channel"));
        (asker, Worker::next(&theirs).unwrap().unwrap())
    }

    fn never() -> Option<Lost> {
        None
    }

    fn written(length: usize) -> Buffer {
        let mut buffer = Buffer::new();
        buffer.begin();
        buffer.put(&vec![7; length]);
        buffer
    }

    #[test]
    fn orders_and_answers_of_every_size_come_over() {
        for length in [0, 1, 4092, 4093, 65_536, 3_000_000] {
            let (asker, worker) = pair();
            let child = std::thread::spawn(move || {
                let mut order = Buffer::new();
                order.receive(&worker, MOST, never).unwrap();
                written(order.body().len()).send(&worker, never).unwrap();
            });
            written(length).send(&asker, never).unwrap();
            let mut answer = Buffer::new();
            answer.receive(&asker, MOST, never).unwrap();
            assert_eq!(answer.body(), vec![7; length]);
            child.join().unwrap();
        }
    }

    #[test]
    fn whoever_asks_a_child_that_does_nothing_decides_for_how_long() {
        let (asker, _worker) = pair();
        let mut ticks = 0;
        let mut waited = || {
            ticks += 1;
            (ticks == 3).then_some(Lost::Late)
        };
        let mut answer = Buffer::new();
        assert_eq!(answer.receive(&asker, 100, &mut waited), Err(Lost::Late));
        // More than a pipe takes.
        ticks = 0;
        let mut waited = || {
            ticks += 1;
            (ticks == 3).then_some(Lost::Hung)
        };
        let sent = written(4 << 20).send(&asker, &mut waited);
        assert_eq!((sent, ticks), (Err(Lost::Hung), 3));
    }

    #[test]
    fn an_end_is_seen_on_both_sides() {
        let (asker, worker) = pair();
        assert_eq!(asker.look(), Seen::Nothing);
        (&worker).write_all(b"x").unwrap();
        assert_eq!(asker.look(), Seen::Begun);
        let (asker, worker) = pair();
        drop(worker);
        assert_eq!(asker.look(), Seen::Ended);
        let mut answer = Buffer::new();
        assert_eq!(answer.receive(&asker, 100, never), Err(Lost::Ended));
        assert_eq!(written(10).send(&asker, never), Err(Lost::Ended));
        let (asker, worker) = pair();
        drop(asker);
        assert_eq!(answer.receive(&worker, 100, never), Err(Lost::Ended));
    }

    #[test]
    fn a_child_that_is_gone_is_told_from_a_process_that_has_nothing_left() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(Asker::open(&ours).err(), Some(Unopened::There));
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_write_timeout(Some(TICK)).unwrap();
        // Nobody takes them, until there is no room.
        let refused = (0..100_000).find_map(|_| Asker::open(&ours).err());
        assert_eq!(refused, Some(Unopened::Here));
    }
}
