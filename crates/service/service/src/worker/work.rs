//! Items of a request on their way to the holder and back.

use keywright_custody::effort::Effort;
use keywright_custody::{HolderError, Items, NO_DEADLINE, Placement, Reply, Request};
use keywright_types::{Code, KeyVersion};

use super::entry::{Decided, Entry, Refusal};
use super::performed::{Done, Kept, Performed};
use super::{Call, Worker};
use crate::Snapshot;
use crate::metrics::{Place, Spent};
use crate::plan::{DataOperation, Prepared, plan};
use crate::pool::{Pool, Work, Worked};
use crate::readers;

impl Worker {
    /// Does `operation` on a context for each item: at once, unless the holder waits for a device.
    ///
    /// The work is begun by this call, not by the first poll of what it returns.
    pub fn perform(
        &self,
        call: Call<'_>,
        context: &str,
        operation: DataOperation,
        items: Prepared,
    ) -> Performed<'_> {
        let snapshot = self.shared.snapshot();
        let mut entry = self.begin(&call, operation.operation(), &snapshot);
        entry.facts.items = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let asked = (&call, context, operation);
        let (work, kept) = match self.prepare(&mut entry, &snapshot, asked, items) {
            Ok(prepared) => prepared,
            Err((code, reason)) => return Performed::ready(entry.refuse(code, reason)),
        };
        let answer = move |reply: Result<Reply, HolderError>, spent| {
            let done = reply.map(|reply| Done::new(reply, kept, spent));
            done.map_err(HolderError::code)
        };
        let (pool, work) = match self.work_at_once(&mut entry, work) {
            AtOnce::Done(reply, spent) => {
                return Performed::ready(entry.finish_items(answer(reply, spent), operation));
            }
            AtOnce::Left(pool, work) => (pool, work),
        };
        let waiting = match pool.submit(work) {
            Ok(waiting) => waiting,
            Err(error) => return Performed::ready(entry.refuse(error.code(), None)),
        };
        Performed::waiting(async move {
            let Worked { reply, spent } = waiting.await.unwrap_or(Worked::NOTHING);
            self.counters.note_holder(Place::Pool, spent);
            entry.spent = Some(spent);
            entry.finish_items(answer(reply, spent), operation)
        })
    }

    /// Decides, and says what is to be done with which keys.
    fn prepare(
        &self,
        entry: &mut Entry<'_>,
        snapshot: &Snapshot,
        (call, context, operation): (&Call<'_>, &str, DataOperation),
        items: Prepared,
    ) -> Result<(Work, Kept), Refusal> {
        let Decided { key, permit, paths } = entry.decide(snapshot, context)?;
        let time = entry.facts.time;
        let refused = |code| {
            self.note_idle(key, code, time);
            (code, None)
        };
        let principal = entry.principal.as_deref().map_err(|code| (*code, None))?;
        let items = match items.has_labels() {
            false => items,
            true => {
                let credential = call.caller.credential();
                let who = (principal, credential.as_deref());
                readers::settle(items, key, who).map_err(refused)?
            }
        };
        let timeout = self.shared.settings().request_timeout;
        let deadline = call.started.plus(timeout).nanos();
        let rights = (&*snapshot.policy, principal, paths);
        let (plan, items) = plan(operation, key, rights, items, deadline).map_err(refused)?;
        let first = plan.request.versions.first();
        let claim = self.shared.claim(key, first, (operation, items.len()));
        let claim = claim.map_err(|error| refused(error.code()))?;
        entry.paths = plan.paths;
        let work = Work {
            permit,
            request: plan.request,
            items,
            claim,
        };
        let kept = Kept {
            refused: plan.refused,
            noted: plan.noted,
        };
        Ok((work, kept))
    }

    /// Whether the holder works now. One that waits for a device is asked on its pool; where that has no room,
    /// the device is at work.
    pub async fn holder_works(&self) -> bool {
        let Some(pool) = self.shared.pool() else {
            return self.shared.holder().probe().is_ok();
        };
        match pool.probe() {
            Ok(answer) => matches!(answer.await, Ok(Ok(()))),
            Err(error) => error == HolderError::Full,
        }
    }

    /// Has the work done on this thread, unless a device or the disk is to be waited for or it takes long.
    fn work_at_once(&self, entry: &mut Entry<'_>, work: Work) -> AtOnce<'_> {
        if work.request.versions.is_empty() {
            // Every item is refused already: no key is wanted, so no holder is asked.
            return AtOnce::Done(Ok(unopened(&work.items)), Spent::default());
        }
        match self.pool_for(&work.request, (work.items.len(), work.claim.is_some())) {
            Some(Queue::Device(pool)) if work.claim.is_none() => self.ask_device(entry, work, pool),
            Some(Queue::Device(pool) | Queue::Long(pool)) => AtOnce::Left(pool, work),
            None => self.work_here(entry, work),
        }
    }

    /// Has a device do it while this thread looks on, if it is quick at the moment.
    fn ask_device<'p>(&self, entry: &mut Entry<'_>, work: Work, pool: &'p Pool) -> AtOnce<'p> {
        let Work {
            permit,
            request,
            items,
            claim,
        } = work;
        let begun = self.shared.clock().monotonic();
        let holder = self.shared.holder();
        let now = holder.perform_now(&permit, &request, items, &mut self.random.borrow_mut());
        match now {
            Ok(reply) => AtOnce::Done(reply, entry.worked_here(begun)),
            Err(items) => {
                let work = Work {
                    permit,
                    request,
                    items,
                    claim,
                };
                AtOnce::Left(pool, work)
            }
        }
    }

    /// Where a request is done that must not be done on this thread: it waits for a device or a disk, or takes long.
    pub(crate) fn pool_for(
        &self,
        request: &Request,
        (items, waits): (usize, bool),
    ) -> Option<Queue<'_>> {
        match self.shared.pool() {
            Some(pool)
                if self.shared.holder().placement_of(&request.versions) == Placement::Pool =>
            {
                Some(Queue::Device(pool))
            }
            _ if waits || Effort::of(request, items).is_long() => {
                Some(Queue::Long(self.shared.long()))
            }
            _ => None,
        }
    }

    /// Has the holder work on this thread, which nothing but the work keeps waiting.
    fn work_here(&self, entry: &mut Entry<'_>, work: Work) -> AtOnce<'static> {
        let Work {
            permit,
            mut request,
            items,
            ..
        } = work;
        request.deadline_ns = NO_DEADLINE;
        let begun = self.shared.clock().monotonic();
        let holder = self.shared.holder();
        let reply = holder.perform(&permit, &request, items, &mut self.random.borrow_mut());
        AtOnce::Done(reply, entry.worked_here(begun))
    }
}

/// What became of work on the thread that it came in on.
enum AtOnce<'a> {
    /// It is done, and this is where its time went.
    Done(Result<Reply, HolderError>, Spent),
    /// It is to be done on this pool.
    Left(&'a Pool, Work),
}

/// Which line a request is put into.
pub(crate) enum Queue<'a> {
    /// In front of a holder that waits for a device.
    Device(&'a Pool),
    /// For what takes the processor too long.
    Long(&'a Pool),
}

/// The reply for items that no version of the context can open.
fn unopened(items: &Items) -> Reply {
    let mut reply = Reply::with_capacity(items.len(), 0);
    for item in items.iter() {
        reply.push_unopened(KeyVersion::NONE, Code::DecryptionFailed, item.payload);
    }
    reply
}
