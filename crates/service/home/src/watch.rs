//! Looks every few seconds how the node stands, for health, the probe and the metrics.
//!
//! On a thread of its own: what it asks may hang, and then nobody renews what was found, which says so too.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_clock::MonotonicTime;
use keywright_server::probe::{self, Question};
use keywright_service::{ClockState, HolderWatch, Lack, Standing};
use keywright_store::Table;

use crate::token_keys::Rounds;
use crate::{Event, HomeError, Node};

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Looks once, and then again and again; `keys` is what is known of those in a token.
    pub(crate) fn start(node: &Arc<Node>, keys: Rounds) -> Result<Self, HomeError> {
        let mut eye = Eye {
            keys,
            ..Eye::default()
        };
        eye.look(node);
        let (stop, stopped) = sync_channel(0);
        let node = Arc::downgrade(node);
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || watch(eye, &node, &stopped))
            .map_err(HomeError::Thread)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed, and findings have grown stale.
            drop(thread.join());
        }
    }
}

fn watch(mut eye: Eye, node: &Weak<Node>, stopped: &Receiver<()>) {
    while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let Some(node) = node.upgrade() else {
            return;
        };
        eye.look(&node);
    }
}

/// What is remembered between two looks.
#[derive(Debug, Default)]
struct Eye {
    holder: HolderWatch,
    keys: Rounds,
    /// Writes of the store that had failed when it was last looked at.
    failures: u64,
    /// Whether the store has refused a write and taken none since.
    refuses: bool,
    told: Option<Vec<Lack>>,
    warned: Option<MonotonicTime>,
}

impl Eye {
    fn look(&mut self, node: &Node) {
        let shared = node.admin().shared();
        let holder = self.holder.works(shared, PATIENCE);
        if holder && node.config().token.is_some() {
            let changes = self.keys.look_at_some(shared);
            let unfit = changes.unfit.into_iter().map(Event::KeyUnfit);
            let fit = changes.fit.into_iter().map(Event::KeyFit);
            unfit.chain(fit).for_each(|event| node.tell(&event));
        }
        let standing = Standing {
            holder,
            keys: self.keys.counts(),
            audit: node.audit_is_good(),
            store: self.store_works(node),
            clock: node.admin().watch_clock().unwrap_or(ClockState::Uncertain),
            certificate_until: node.certificate_until(),
            memory_locked: node.memory_is_locked(),
            stopping: node.is_stopping(),
            looked_at: shared.clock().monotonic(),
        };
        shared.publish_standing(standing);
        self.tell(node, standing);
    }

    /// Reads a row; and where the last write was refused, writes one to see whether that is over.
    fn store_works(&mut self, node: &Node) -> bool {
        let metrics = node.admin().shared().metrics();
        if metrics.store_failures() != self.failures {
            self.refuses = true;
        }
        if self.refuses {
            self.refuses = !node.admin().store_takes_a_write();
            self.failures = metrics.store_failures();
        }
        !self.refuses && node.store().get(Table::Counters, b"clock").is_ok()
    }

    fn tell(&mut self, node: &Node, standing: Standing) {
        if standing.stopping {
            return;
        }
        let shared = node.admin().shared();
        let now = (shared.clock().wall(), shared.clock().monotonic());
        let lacks = standing.lacks(&shared.snapshot(), now);
        if self.told.as_ref() != Some(&lacks) {
            let first = self.told.is_none();
            match lacks.is_empty() {
                true if first => {}
                true => node.tell(&Event::Ready),
                false => node.tell(&Event::NotReady(lacks.clone())),
            }
            self.told = Some(lacks);
        }
        let soon = standing
            .certificate_until
            .min(shared.snapshot().trust.expires());
        let quiet = self.warned.is_some_and(|then| now.1.since(then) < DAY);
        if soon < now.0.plus(NOTICE) && !quiet {
            node.tell(&Event::Expires(soon));
            self.warned = Some(now.1);
        }
    }
}

/// The local probe of `node`, if its configuration has one.
pub(crate) fn probe(node: &Arc<Node>) -> Result<Option<probe::Listener>, HomeError> {
    let Some(section) = &node.config().probe else {
        return Ok(None);
    };
    let weak = Arc::downgrade(node);
    let look = move |question| {
        weak.upgrade().is_some_and(|node| {
            let shared = node.admin().shared();
            let now = shared.clock().monotonic();
            match question {
                Question::Live => shared.metrics().longest_silence(now) <= SILENCE,
                Question::Ready => !node.is_stopping() && shared.lacks().is_empty(),
            }
        })
    };
    let listening = probe::listen(section.listen, Box::new(look));
    listening.map(Some).map_err(|source| HomeError::Probe {
        addr: section.listen,
        source,
    })
}

/// How often it looks. With the wait for a holder that says nothing, a node that cannot serve is not ready within
/// five seconds.
const EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(1);
/// A server thread that has not come round for longer will not come round again. Shorter times are left to a
/// device that is slow.
const SILENCE: Duration = Duration::from_secs(30);
/// How long before its end a certificate or list is told of, once a day.
const NOTICE: Duration = Duration::from_secs(14 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);
