//! Items of a request on their way to the holder and back.

use keywright_custody::effort::Effort;
use keywright_custody::{AtOnce, HolderError, Items, NO_DEADLINE, Placement, Reply, Request};
use keywright_policy::Permit;
use keywright_types::{Code, KeyVersion};

use super::entry::{Decided, Entry, Refusal};
use super::performed::{Done, Kept, Performed, outcome};
use super::{Call, Worker};
use crate::allowance::Claim;
use crate::metrics::{Place, Spent};
use crate::plan::{DataOperation, Plan, Prepared};
use crate::pool::{Pool, Work, Worked};
use crate::{Caller, Snapshot, readers};

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
        let snapshot = self.snapshot();
        let mut entry = self.begin(&call, operation.operation(), &snapshot);
        entry.facts.items = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let timeout = self.shared.settings().request_timeout;
        let mut plan = Plan::new(operation, items, call.started.plus(timeout).nanos());
        let asked = (call.caller, context, operation);
        match self.decide(&mut entry, &snapshot, asked, &mut plan) {
            Ok(allowed) => self.carry_out(entry, operation, (allowed, plan)),
            Err((code, reason)) => Performed::ready(entry.refuse(code, reason)),
        }
    }

    /// Decides whether it may be done, and with which keys.
    #[inline]
    fn decide(
        &self,
        entry: &mut Entry<'_>,
        snapshot: &Snapshot,
        (caller, context, operation): (&Caller, &str, DataOperation),
        plan: &mut Plan,
    ) -> Result<Allowed, Refusal> {
        let Decided { key, permit, paths } = entry.decide(snapshot, context)?;
        let time = entry.facts.time;
        let refused = |code| {
            self.note_idle(key, code, time);
            (code, None)
        };
        let principal = entry.principal.as_deref().map_err(|code| (*code, None))?;
        if plan.prepared.has_labels() {
            let credential = caller.credential();
            let given = std::mem::take(&mut plan.prepared);
            let who = (principal, credential.as_deref());
            plan.prepared = readers::settle(given, key, who).map_err(refused)?;
        }
        let whom = (&*snapshot.policy, principal, paths);
        plan.decide(operation, key, whom, &mut entry.paths)
            .map_err(refused)?;
        let (first, items) = (plan.request.versions.first(), plan.prepared.len());
        let claim = self.shared.claim(key, first, (operation, items));
        let claim = claim.map_err(|error| refused(error.code()))?;
        Ok(Allowed { permit, claim })
    }

    /// Has the work done on this thread, unless a device or the disk is to be waited for or it takes long.
    #[inline]
    fn carry_out<'w>(
        &'w self,
        entry: Entry<'w>,
        operation: DataOperation,
        (Allowed { permit, claim }, plan): (Allowed, Plan),
    ) -> Performed<'w> {
        let Plan {
            mut request,
            prepared: Prepared { items, refused, .. },
            noted,
        } = plan;
        let kept = Kept { refused, noted };
        if request.versions.is_empty() {
            // Every item is refused already: no key is wanted, so no holder is asked.
            let done = Done::new(unopened(&items), kept, Spent::default());
            return Performed::ready(entry.finish_items(Ok(done), operation));
        }
        let (clock, holder) = (self.shared.clock(), self.shared.holder());
        let (pool, items) = match self.pool_for(&request, (items.len(), claim.is_some())) {
            None => {
                // Nothing but the work keeps this thread waiting.
                request.deadline_ns = NO_DEADLINE;
                let begun = clock.monotonic();
                let reply =
                    self.with_random(|random| holder.perform(&permit, &request, items, random));
                let times = (begun, clock.monotonic());
                return entry.done_here(times, reply, (kept, operation));
            }
            // A device that is quick at the moment works while this thread looks on.
            Some(Queue::Device(pool)) if claim.is_none() => {
                let begun = clock.monotonic();
                let done = self.with_random(|random| {
                    holder.perform_now(&permit, (&request, begun), items, random)
                });
                match done {
                    Ok(AtOnce { reply, ended }) => {
                        return entry.done_here((begun, ended), reply, (kept, operation));
                    }
                    Err(items) => (pool, items),
                }
            }
            Some(Queue::Device(pool) | Queue::Long(pool)) => (pool, items),
        };
        let work = Work {
            permit,
            request,
            items,
            claim,
        };
        self.wait_for(entry, (pool, work), (kept, operation))
    }

    /// Has a pool do the work.
    fn wait_for<'w>(
        &'w self,
        mut entry: Entry<'w>,
        (pool, work): (&Pool, Work),
        (kept, operation): (Kept, DataOperation),
    ) -> Performed<'w> {
        let waiting = match pool.submit(work) {
            Ok(waiting) => waiting,
            Err(error) => return Performed::ready(entry.refuse(error.code(), None)),
        };
        Performed::waiting(async move {
            let Worked { reply, spent } = waiting.await.unwrap_or(Worked::NOTHING);
            self.counters.note_holder(Place::Pool, spent);
            entry.spent = Some(spent);
            entry.finish_items(outcome(reply, kept, spent), operation)
        })
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
}

/// A request that may be done.
struct Allowed {
    permit: Permit,
    /// Uses that have to be taken first.
    claim: Option<Claim>,
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
