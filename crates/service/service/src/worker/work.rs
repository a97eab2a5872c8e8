//! Items of a request on their way to the holder and back.

use keywright_custody::effort::Effort;
use keywright_custody::{HolderError, Items, NO_DEADLINE, Placement, Reply, Request};
use keywright_policy::Permit;
use keywright_types::{Code, KeyVersion};

use super::entry::{Decided, Entry};
use super::performed::{Done, Performed};
use super::{Call, Worker};
use crate::allowance::Claim;
use crate::metrics::{Place, Spent};
use crate::plan::{DataOperation, Plan, Prepared, plan};
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
        let Decided { key, permit, paths } = match entry.decide(&snapshot, context) {
            Ok(decided) => decided,
            Err((code, reason)) => return Performed::ready(entry.refuse(code, reason)),
        };
        let timeout = self.shared.settings().request_timeout;
        let deadline = call.started.plus(timeout).nanos();
        let planned = entry.principal.as_deref().map_err(|code| *code);
        let planned = planned.and_then(|principal| {
            let items = match items.labels.is_empty() {
                true => items,
                false => {
                    let credential = call.caller.credential();
                    readers::settle(items, key, (principal, credential.as_deref()))?
                }
            };
            let rights = (&*snapshot.policy, principal, paths);
            plan(operation, key, rights, items, deadline)
        });
        let claimed = planned.and_then(|(plan, items)| {
            let first = plan.request.versions.first();
            let asked = (operation, items.len());
            let claim = self.shared.claim(key, first, asked);
            Ok((plan, items, claim.map_err(HolderError::code)?))
        });
        match claimed {
            Ok((plan, items, claim)) => {
                self.hand_over(entry, (operation, permit, claim), plan, items)
            }
            Err(code) => {
                self.note_idle(key, code, entry.facts.time);
                Performed::ready(entry.refuse(code, None))
            }
        }
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

    fn hand_over<'a>(
        &'a self,
        mut entry: Entry<'a>,
        (operation, permit, claim): (DataOperation, Permit, Option<Claim>),
        plan: Plan,
        items: Items,
    ) -> Performed<'a> {
        let Plan {
            request,
            refused,
            paths,
            noted,
        } = plan;
        let answer = move |reply: Result<Reply, HolderError>, spent| {
            let done = reply.map(|reply| Done {
                reply,
                refused,
                noted,
                spent,
            });
            done.map_err(HolderError::code)
        };
        entry.paths = paths;
        if request.versions.is_empty() {
            // Every item is refused already: no key is wanted, so no holder is asked.
            let done = answer(Ok(unopened(&items)), Spent::default());
            return Performed::ready(entry.finish_items(done, operation));
        }
        let (holder, random) = (self.shared.holder(), &self.random);
        let place = self.pool_for(&request, (items.len(), claim.is_some()));
        let (pool, items) = match place {
            Some(Queue::Device(pool)) if claim.is_none() => {
                let begun = self.shared.clock().monotonic();
                let mut random = random.borrow_mut();
                let now = holder.perform_now(&permit, &request, items, &mut random);
                drop(random);
                match now {
                    Ok(reply) => {
                        let done = answer(reply, entry.worked_here(begun));
                        return Performed::ready(entry.finish_items(done, operation));
                    }
                    Err(items) => (pool, items),
                }
            }
            Some(Queue::Device(pool) | Queue::Long(pool)) => (pool, items),
            None => {
                let (reply, spent) = self.work_here(&mut entry, &permit, (request, items));
                return Performed::ready(entry.finish_items(answer(reply, spent), operation));
            }
        };
        let work = Work {
            permit,
            request,
            items,
            claim,
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
    fn work_here(
        &self,
        entry: &mut Entry<'_>,
        permit: &Permit,
        (mut request, items): (Request, Items),
    ) -> (Result<Reply, HolderError>, Spent) {
        request.deadline_ns = NO_DEADLINE;
        let begun = self.shared.clock().monotonic();
        let holder = self.shared.holder();
        let mut random = self.random.borrow_mut();
        let reply = holder.perform(permit, &request, items, &mut random);
        drop(random);
        (reply, entry.worked_here(begun))
    }
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
