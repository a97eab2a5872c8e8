//! Reads the files about clients again as soon as they change, where the configuration asks for that: for whoever
//! fetches revocation lists by a program that knows nothing of this one.
//!
//! A file that cannot be read, or is half written, leaves all as it was and is tried again until it can be read; that
//! is told once for each state of the files. Nothing is concluded from times alone: whether anything has changed is
//! seen in what was read.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_service::Ended;

use crate::reload::News;
use crate::section::AdminSection;
use crate::{Config, HomeError, Node};

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Follow {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follow {
    /// Begins, where the configuration asks for it.
    pub(crate) fn start(node: &Arc<Node>) -> Result<Option<Self>, HomeError> {
        if !node.config().clients.follow {
            return Ok(None);
        }
        let (stop, stopped) = sync_channel(0);
        // They were read when the node was opened; what has changed since is found at the first look.
        let node = Arc::downgrade(node);
        let thread = std::thread::Builder::new()
            .name("follow".to_owned())
            .spawn(move || follow(&node, &stopped))
            .map_err(HomeError::Thread)?;
        Ok(Some(Self {
            stop: Some(stop),
            thread: Some(thread),
        }))
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed; revocations then wait for `reload`.
            drop(thread.join());
        }
    }
}

fn follow(node: &Weak<Node>, stopped: &Receiver<()>) {
    let mut seen = Seen::default();
    while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let Some(node) = node.upgrade() else {
            return;
        };
        if !node.is_stopping() {
            seen.look(&node);
        }
    }
}

/// What the files looked like.
#[derive(Debug, Default)]
struct Seen {
    /// When they were last read and understood.
    good: Option<Vec<Look>>,
    /// When it was last told that they could not be.
    told: Option<Vec<Look>>,
    /// Looks since then.
    looks: u32,
}

/// Nothing for a file that is not there.
type Look = Option<(u64, u64, i64, i64)>;

impl Seen {
    fn look(&mut self, node: &Node) {
        // Looked at before they are read: what changes meanwhile is seen the next time.
        let now = looks(node.config());
        if self.good.as_ref() == Some(&now) {
            return;
        }
        let news = match self.told.as_ref() == Some(&now) {
            true => News::Old,
            false => News::New,
        };
        self.looks = match news {
            News::New => 0,
            News::Old => self.looks + 1,
        };
        // The same files may fail for what is not in them, such as a full disk.
        if !self.looks.is_multiple_of(AGAIN) {
            return;
        }
        let before = match self.told {
            Some(_) => Ended::Failed,
            None => Ended::Worked,
        };
        match node.reload_clients(before, news) {
            Ok(()) => (self.good, self.told) = (Some(now), None),
            Err(_) => self.told = Some(now),
        }
    }
}

/// Everything that a trust is made of.
fn looks(config: &Config) -> Vec<Look> {
    let clients = &config.clients;
    let mut files: Vec<&Path> = vec![&clients.authorities, &clients.revocation_lists];
    files.extend(clients.roster.as_deref());
    if let Some((authorities, lists)) = config.admin.as_ref().and_then(AdminSection::own) {
        files.extend([authorities, lists]);
    }
    files.into_iter().map(look_at).collect()
}

/// File, length, and the last change of either, which nobody can set by hand.
fn look_at(file: &Path) -> Look {
    let data = std::fs::metadata(file).ok()?;
    Some((data.ino(), data.len(), data.ctime(), data.ctime_nsec()))
}

/// How often they are looked at: with the sweep of connections, a revoked client is cut off within a second.
const EVERY: Duration = Duration::from_millis(250);
/// After how many looks files that could not be read are tried again as they are.
const AGAIN: u32 = 20;
