//! Orders that come as requests: one thread carries them out, because they wait for disks.
//!
//! The queue is short and bounded. Orders are serial anyway, and whoever gives more of them than can be carried out
//! is told so at once.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Builder;

use keywright_clock::WallTime;
use keywright_custody::rows::approvals::LIFETIME as APPROVED_FOR;
use keywright_types::{ApprovalId, Code, KeyVersion, Name, State, TenantId};
use tokio::sync::oneshot;

use crate::life::{Author, LifeOrder};
use crate::{Admin, AdminError};

/// An order about a context.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain facts of a request")]
pub struct ContextOrder {
    /// Who gives it.
    pub author: Author,
    /// Whose the context is.
    pub tenant: TenantId,
    /// Its name.
    pub context: Name,
    /// What is ordered.
    pub what: Ordering,
}

/// What is ordered of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has an answer of its own")]
pub enum Ordering {
    /// Approve an order of somebody else.
    Approve(LifeOrder),
    /// Change the state of versions.
    Life(LifeOrder),
    /// Make a new version active.
    Rotate,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one for each order")]
pub enum OrderDone {
    /// The approval, and until when it counts.
    Approved(ApprovalId, WallTime),
    /// The versions whose state changed.
    Changed(Vec<(KeyVersion, State)>),
    /// The version that is active now.
    Rotated(KeyVersion),
}

/// Where an order's answer comes from.
pub(crate) type Answer = oneshot::Receiver<Result<OrderDone, Code>>;

type Job = (ContextOrder, oneshot::Sender<Result<OrderDone, Code>>);

/// Where requests hand orders in. The thread behind it ends when this is dropped.
pub struct Desk(SyncSender<Job>);

impl Desk {
    /// Starts the thread; `carry_out` is called for one order after the other.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(
        carry_out: impl Fn(ContextOrder) -> Result<OrderDone, Code> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, jobs) = sync_channel(WAITING);
        Builder::new()
            .name("orders".to_owned())
            .spawn(move || work(&jobs, carry_out))?;
        Ok(Self(sender))
    }

    /// Hands an order in. `Err` at once if too many wait.
    pub(crate) fn give(&self, order: ContextOrder) -> Result<Answer, Code> {
        let (sender, answer) = oneshot::channel();
        self.0
            .try_send((order, sender))
            .map_err(|error| match error {
                TrySendError::Full(_) => Code::Overloaded,
                TrySendError::Disconnected(_) => Code::ShuttingDown,
            })?;
        Ok(answer)
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}

impl Admin {
    /// Carries out an order that came as a request and was allowed.
    ///
    /// # Errors
    /// The code of the refusal; it is in the audit log.
    pub fn carry_out_for(&self, order: &ContextOrder) -> Result<OrderDone, Code> {
        let snapshot = self.shared.snapshot();
        let tenant = snapshot.tenants.get(&order.tenant);
        let tenant = tenant.ok_or(Code::ContextNotFound)?;
        let (author, named) = (&order.author, (&tenant.name, &order.context));
        let done = match order.what {
            Ordering::Approve(life) => self.approve(author, named, life).map(|approval| {
                let until = self.shared.clock().wall();
                OrderDone::Approved(approval, until.plus(APPROVED_FOR))
            }),
            Ordering::Life(life) => self
                .change_life(author, named, life)
                .map(OrderDone::Changed),
            Ordering::Rotate => self
                .rotate_as(author, named.0, named.1)
                .map(OrderDone::Rotated),
        };
        done.map_err(|error: AdminError| error.code())
    }
}

fn work(jobs: &Receiver<Job>, carry_out: impl Fn(ContextOrder) -> Result<OrderDone, Code>) {
    while let Ok((order, answer)) = jobs.recv() {
        // Nobody waits any more, and nothing was begun.
        if answer.is_closed() {
            continue;
        }
        let done = catch_unwind(AssertUnwindSafe(|| carry_out(order)));
        drop(answer.send(done.unwrap_or(Err(Code::Internal))));
    }
}

/// Orders that may wait; one more is refused.
const WAITING: usize = 16;
