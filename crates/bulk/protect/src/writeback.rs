//! The output on its way to the disk while the run goes on, so that its end has little to wait for.
//!
//! Nothing but time depends on it: a run that goes on holds what the journal says against the files themselves.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Bytes that come together before the disk is asked to take them.
const SHARE: u64 = 32 << 20;

/// A thread that only waits for the disk, once there is something to wait for.
#[derive(Debug)]
pub(crate) struct Writeback {
    /// Where the output ended when the disk was asked last.
    asked: u64,
    thread: Option<Waiting>,
}

type Waiting = (SyncSender<()>, JoinHandle<io::Result<()>>);

impl Writeback {
    /// Behind what an earlier run has written.
    pub(crate) const fn behind(end: u64) -> Self {
        Self {
            asked: end,
            thread: None,
        }
    }

    /// The output ends here now.
    pub(crate) fn reached(&mut self, output: &File, end: u64) {
        if end.saturating_sub(self.asked) < SHARE {
            return;
        }
        self.asked = end;
        if self.thread.is_none() {
            self.thread = begin(output);
        }
        if let Some((ask, _)) = &self.thread {
            // Whoever was asked already and has not begun takes this as well.
            let _asked_before = ask.try_send(());
        }
    }

    /// Waits for what was asked.
    ///
    /// A file tells once that a part of it was lost, so that is kept until here.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let Some((ask, thread)) = self.thread.take() else {
            return Ok(());
        };
        drop(ask);
        let lost = || io::Error::other("the thread that waits for the disk is gone");
        thread.join().unwrap_or_else(|_panic| Err(lost()))
    }
}

/// Without a thread the disk is waited for at the end alone.
fn begin(output: &File) -> Option<Waiting> {
    let output = output.try_clone().ok()?;
    let (ask, asked) = sync_channel(1);
    let wait = move || {
        let mut asked = asked.into_iter();
        asked.try_for_each(|()| output.sync_data())
    };
    let thread = std::thread::Builder::new().name("writeback".to_owned());
    Some((ask, thread.spawn(wait).ok()?))
}

impl Drop for Writeback {
    fn drop(&mut self) {
        drop(self.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_asked_share_by_share() {
        let file = tempfile::tempfile().unwrap();
        let mut writeback = Writeback::behind(7);
        writeback.reached(&file, 7 + SHARE - 1);
        assert!(writeback.thread.is_none());
        for share in 1..5 {
            writeback.reached(&file, 7 + share * SHARE);
            assert!(writeback.thread.is_some());
        }
        writeback.finish().unwrap();
        writeback.finish().unwrap();
    }

    #[test]
    fn what_the_disk_refuses_is_told_at_the_end_and_once() {
        // Of a device there is nothing to be synced, which is an error.
        let device = File::open("/dev/null").unwrap();
        let mut writeback = Writeback::behind(0);
        for share in 1..9 {
            writeback.reached(&device, share * SHARE);
        }
        writeback.finish().unwrap_err();
        writeback.finish().unwrap();
    }
}
