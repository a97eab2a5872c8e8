//! The thread behind an open log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use keywright_clock::{MonotonicTime, WallTime};

use crate::error::Step;
use crate::head::{SignedHead, Statement};
use crate::log::{Command, Commands, HeadSink, SyncMode, node_facts};
use crate::shared::{Room, Shared};
use crate::writer::Writer;
use crate::{AuditError, RecordType, history};

pub(crate) struct Keeper {
    shared: Arc<Shared>,
    /// The log's own writer, for starts and stops.
    own: Writer,
    dir: PathBuf,
    sink: HeadSink,
    last_head: MonotonicTime,
    /// The reserve was used and must be laid out again.
    reserve_used: bool,
    replenish_at: MonotonicTime,
}

enum Next {
    GoOn,
    End,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>, own: Writer, dir: PathBuf, sink: HeadSink) -> Self {
        let now = shared.clock.monotonic();
        Self {
            shared,
            own,
            dir,
            sink,
            last_head: now,
            reserve_used: false,
            replenish_at: now,
        }
    }

    pub(crate) fn run(mut self, commands: &Commands) {
        let _refuse_when_gone = RefuseWhenGone(Arc::clone(&self.shared));
        let tick = match self.shared.mode {
            SyncMode::Grouped(period) => period,
            SyncMode::Strict => TICK,
        };
        loop {
            let next = match commands.recv_timeout(tick) {
                Ok(command) => self.obey(command),
                Err(RecvTimeoutError::Timeout) => {
                    self.tick();
                    Next::GoOn
                }
                Err(RecvTimeoutError::Disconnected) => Next::End,
            };
            if matches!(next, Next::End) {
                return;
            }
        }
    }

    fn obey(&mut self, command: Command) -> Next {
        // Whoever asked and went away does not want the answer.
        match command {
            Command::Sign(reply) => {
                let _ = reply.send(self.sign(Statement::Running));
            }
            Command::ChangeSigner(key, reply) => {
                self.shared.sync_files();
                let signed = self.shared.change_signer(key.0, key.1);
                let _ = reply.send(signed.inspect(|head| self.publish(head)));
            }
            Command::Prune(before, reply) => {
                let _ = reply.send(self.prune(before));
            }
            Command::Stop(reply) => {
                let last = self.stop();
                // Writers that are still there write nothing more, and need not be waited for.
                self.shared.disk.release();
                let _ = reply.send(last);
                return Next::End;
            }
            Command::Crash => return Next::End,
        }
        Next::GoOn
    }

    fn tick(&mut self) {
        self.shared.sync_files();
        let now = self.shared.clock.monotonic();
        let age = now.since(self.last_head);
        let due = match self.shared.news() {
            Some(_) => age >= BUSY,
            None => age >= IDLE,
        };
        if due || self.shared.heads_failing.load(Ordering::Acquire) {
            // A failure is in `heads_failing`; the next tick tries again.
            let _ = self.sign(Statement::Running);
        }
        self.restore_reserve(now);
    }

    /// Syncs, signs, and passes the head on.
    fn sign(&mut self, statement: Statement) -> Result<SignedHead, AuditError> {
        self.shared.sync_files();
        let room = match statement {
            Statement::Shutdown => Room::Reserved,
            _ => self.shared.news().unwrap_or(Room::Ordinary),
        };
        let signed = self.shared.sign(statement, &[], room);
        let failing = signed.is_err() || self.shared.signs_in_reserve();
        self.reserve_used |= failing;
        self.shared.heads_failing.store(failing, Ordering::Release);
        signed.inspect(|head| self.publish(head))
    }

    fn publish(&mut self, head: &SignedHead) {
        self.last_head = self.shared.clock.monotonic();
        // The copy is the caller's code; if it panics, heads must go on being signed.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.sink)(head)));
    }

    /// Lays the reserve out again once heads go to the disk as they should.
    fn restore_reserve(&mut self, now: MonotonicTime) {
        if self.shared.heads_failing.load(Ordering::Acquire) || now < self.replenish_at {
            return;
        }
        self.replenish_at = now.plus(REPLENISH);
        self.reserve_used |= self.shared.leave_reserve();
        if self.reserve_used {
            self.reserve_used = self.shared.replenish().is_err();
        }
    }

    fn prune(&mut self, before: WallTime) -> Result<Option<SignedHead>, AuditError> {
        let Some(front) = history::front(&self.dir, self.shared.boot, before)? else {
            return Ok(None);
        };
        let gone: Vec<_> = (self.shared.older().into_iter())
            .filter(|state| front.boots.contains(&state.file.boot))
            .collect();
        self.shared.sync_files();
        let head = self
            .shared
            .sign(Statement::Prune(front.newest), &gone, Room::Ordinary)?;
        self.publish(&head);
        self.shared.drop_older(&gone);
        let records = gone.iter().map(|state| state.file.file_name());
        for name in records.chain(front.heads) {
            self.shared
                .disk
                .remove(&name)
                .map_err(Step::Remove.failed())?;
        }
        Ok(Some(head))
    }

    fn stop(&mut self) -> Result<SignedHead, AuditError> {
        self.shared.stopped.store(true, Ordering::Release);
        for slot in self.shared.slots() {
            let own = Some(slot.point().written.file) == self.own.file();
            // The stop itself is recorded in our own file or, on a full disk, in the reserve.
            if !own && slot.reserve.is_none() {
                slot.seal();
            }
        }
        let stop = node_facts(RecordType::NodeStop, &self.shared);
        // On a disk that takes nothing more the shutdown head still says what it can.
        let _ = self.own.record_stop(&stop.into());
        self.shared.end_files();
        self.sign(Statement::Shutdown)
    }
}

/// Whatever ends the thread, from then on no record is taken: nobody would sign it.
struct RefuseWhenGone(Arc<Shared>);

impl Drop for RefuseWhenGone {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Release);
        self.0.heads_failing.store(true, Ordering::Release);
    }
}

const TICK: Duration = Duration::from_millis(100);
/// With a tick before it and the signing after it, a head follows a record within a second.
const BUSY: Duration = Duration::from_millis(800);
const IDLE: Duration = Duration::from_secs(60);
const REPLENISH: Duration = Duration::from_secs(5);
