//! Whether a request may begin: its caller's limit, and what is counted of those that may not.

use keywright_audit::refusals::Whom;
use keywright_clock::MonotonicTime;
use keywright_custody::{Placement, Version};
use keywright_types::{Code, Operation, PrincipalId, TenantId};

use super::Worker;
use super::entry::authorize;
use crate::Caller;
use crate::meter::{Meter, Wait};

/// A request that its caller's limit does not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast(Wait);

impl TooFast {
    /// Whole seconds after which the caller may come back, at least one.
    #[must_use]
    pub fn retry_after(self) -> u32 {
        self.0.seconds()
    }
}

impl Worker {
    /// Lets a request in that came at `now`, if its caller's limit does: it pays for one item. One that is not let in
    /// is counted in the log, and needs no record of its own.
    ///
    /// # Errors
    /// [`TooFast`], and when to come back.
    pub fn admit(
        &self,
        caller: &Caller,
        operation: Operation,
        now: MonotonicTime,
    ) -> Result<(), TooFast> {
        self.charge(caller, operation, |meter| meter.enter(operation, now))
    }

    /// Takes what the items of a request cost, once they are known; the first is paid for.
    ///
    /// # Errors
    /// [`TooFast`] if the caller owes something already.
    pub fn charge_items(
        &self,
        caller: &Caller,
        operation: Operation,
        items: usize,
    ) -> Result<(), TooFast> {
        let more = (items as u64).saturating_sub(1);
        if more == 0 {
            return Ok(());
        }
        self.charge(caller, operation, |meter| {
            meter.more((operation, more), self.shared.clock().monotonic())
        })
    }

    fn charge(
        &self,
        caller: &Caller,
        operation: Operation,
        take: impl FnOnce(&Meter) -> Result<(), Wait>,
    ) -> Result<(), TooFast> {
        let asked = caller.metered(|meter, principal| {
            let whom = Whom::Principal(principal.tenant(), principal.id());
            take(meter).map_err(|wait| (wait, whom))
        });
        let Some(Err((wait, whom))) = asked else {
            return Ok(());
        };
        self.note_counted(operation, Code::RateLimited, whom);
        Err(TooFast(wait))
    }

    /// Whether the line in front of the device that has a context's keys is full: who may use them would be refused
    /// once the request had been read. Whoever may not is told that by the decision, as ever.
    #[must_use]
    pub fn is_backed_up(&self, caller: &Caller, operation: Operation, context: &str) -> bool {
        match self.shared.pool() {
            Some(pool) if pool.is_full() => self.would_wait(caller, operation, context),
            _ => false,
        }
    }

    fn would_wait(&self, caller: &Caller, operation: Operation, context: &str) -> bool {
        let snapshot = self.snapshot();
        let Ok(principal) = caller.principal(&snapshot, self.shared.clock().wall()) else {
            return false;
        };
        let Some(key) = snapshot.keyring.find(principal.tenant(), context) else {
            return false;
        };
        let holder = self.shared.holder();
        let waits = |version: &Version| {
            holder.placement_of(std::slice::from_ref(version.material())) == Placement::Pool
        };
        authorize(&snapshot, &principal, (key, operation)).is_ok()
            && key.versions().iter().all(waits)
    }

    /// Counts a request that is refused because there is too much to do already.
    pub fn note_overload(&self, caller: &Caller, operation: Operation) {
        let snapshot = self.snapshot();
        let principal = caller.principal(&snapshot, self.shared.clock().wall());
        // Somebody who is nobody any more is told so by the end of the connection.
        let nobody = (TenantId::NONE, PrincipalId::NONE);
        let (tenant, id) = principal.map_or(nobody, |one| (one.tenant(), one.id()));
        let whom = Whom::Principal(tenant, id);
        self.note_counted(operation, Code::Overloaded, whom);
    }

    fn note_counted(&self, operation: Operation, code: Code, whom: Whom) {
        self.counters.count_refused(operation, code);
        self.note_refused(whom, code);
    }
}
