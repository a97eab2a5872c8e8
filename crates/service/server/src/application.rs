//! The routes of the service, each answered only after its audit record is written.

mod contexts;
mod handler;
pub(crate) mod health;
mod random;
mod routes;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use keywright_api::error::Refusal;
use keywright_api::route::Route;
use keywright_api::{Codecs, Limits};
use keywright_clock::MonotonicTime;
use keywright_service::{Call, Caller, Desk, Recorded, TooFast, Worker};
use keywright_telemetry::Tracer;
use keywright_types::{Code, Operation, Plane, RequestId};

use crate::gate::{Gate, LetIn, Load};
use crate::seed::SeedDoor;
use crate::timing::Timing;
use crate::transport::group::GroupFlush;
use crate::transport::{Body, read_body};
use crate::vault::VaultDoor;

/// What health asks besides the key holder.
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever joins a node must answer each of these"
)]
pub struct Probes {
    /// Whether the audit log takes records and signs heads.
    pub audit: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether the process's memory is locked (design 7.24).
    pub memory_locked: bool,
    /// Where orders are handed in.
    pub desk: Desk,
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probes(memory locked: {})", self.memory_locked)
    }
}

/// The service behind one server thread.
#[derive(Debug)]
pub struct Application {
    pub(crate) worker: Rc<Worker>,
    pub(crate) group: Rc<GroupFlush>,
    pub(crate) limits: Limits,
    pub(crate) body_timeout: Duration,
    gate: Rc<Gate>,
    pub(crate) probes: Arc<Probes>,
    timing: Timing,
    /// Whose listener it is behind; none where there is one for all.
    pub(crate) plane: Option<Plane>,
    /// The routes that programs ask which speak Vault's transit API, where they are switched on.
    vault: Option<Arc<VaultDoor>>,
    /// Those of clients of the seed service, where they are.
    seed: SeedDoor,
    /// Where spans of requests go, if anywhere.
    pub(crate) traces: Option<Tracer>,
}

/// What an application puts up with.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever joins a node must decide each of these"
)]
pub struct Settings {
    /// How much one request may bring.
    pub limits: Limits,
    /// How long its body may take.
    pub body_timeout: Duration,
    /// What one thread takes on.
    pub load: Load,
}

/// What is known of a request when its answer is written.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) route: &'static Route,
    pub(crate) codecs: Codecs,
}

impl Application {
    /// An application over `worker`; call it on the thread that will serve, inside its runtime.
    #[must_use]
    pub fn new(worker: Rc<Worker>, settings: Settings, probes: Arc<Probes>) -> Self {
        let flusher = Rc::clone(&worker);
        let group = Rc::new(GroupFlush::new(move || flusher.flush()));
        count_refusals(Rc::downgrade(&worker), Rc::downgrade(&group));
        let gate = Rc::new(Gate::new(settings.load, worker.shared().clock().clone()));
        Self {
            worker,
            group,
            limits: settings.limits,
            body_timeout: settings.body_timeout,
            gate,
            probes,
            timing: Timing::default(),
            plane: None,
            vault: None,
            seed: SeedDoor::Shut,
            traces: None,
        }
    }

    /// The same, telling where time goes or not.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// The same, handing spans of sampled requests over, or not.
    #[must_use]
    pub fn with_traces(mut self, tracer: Option<Tracer>) -> Self {
        self.traces = tracer;
        self
    }

    /// Whether the request may begin, which needs keys of `context` if it names one. What may not is counted, and
    /// answered without a record of its own.
    pub(crate) fn enter(
        &self,
        caller: &Caller,
        (operation, context): (Operation, Option<&str>),
        body: &Body,
    ) -> Result<LetIn, Refusal> {
        let room =
            || !context.is_some_and(|name| self.worker.is_backed_up(caller, operation, name));
        let Some(let_in) = self.gate.enter(body.queued()).filter(|_| room()) else {
            self.worker.note_overload(caller, operation);
            return Err(Refusal::new(Code::Overloaded));
        };
        let began = self.began(body.begun());
        let admitted = self.worker.admit(caller, operation, began);
        admitted.map_err(too_fast)?;
        Ok(let_in)
    }

    /// Behind the listener of one plane: with its routes, and for its principals alone.
    #[must_use]
    pub const fn with_plane(mut self, plane: Option<Plane>) -> Self {
        self.plane = plane;
        self
    }

    /// With the routes for programs that speak Vault's transit API, or without.
    #[must_use]
    pub fn with_vault(mut self, door: Option<Arc<VaultDoor>>) -> Self {
        self.vault = door;
        self
    }

    /// With the routes for clients of the seed service, or without.
    #[must_use]
    pub fn with_seed(mut self, door: SeedDoor) -> Self {
        self.seed = door;
        self
    }

    /// Waits until the record is written, then gives the result out.
    pub(crate) async fn release<T>(&self, recorded: Recorded<Result<T, Code>>) -> Result<T, Code> {
        // Whether this request's record was written is asked of the log, not of the flush.
        let _ = self.group.join().await;
        recorded.release(&self.worker)?
    }

    /// Takes what the items cost; the first is paid for already.
    fn charge(&self, asked: Asked<'_>, items: usize) -> Result<(), Refusal> {
        let operation = asked.route.operation;
        let charged = self
            .worker
            .charge_items(asked.call.caller, operation, items);
        charged.map_err(too_fast)
    }

    /// The whole body; a body that cannot be had is recorded here.
    async fn body_of(&self, asked: &mut Asked<'_>, body: &mut Body) -> Result<Bytes, Refusal> {
        let read = self
            .body(&mut asked.call, asked.route.operation, body)
            .await;
        read.map_err(Refusal::new)
    }

    /// As [`Self::body_of`], for any table of routes.
    pub(crate) async fn body(
        &self,
        call: &mut Call<'_>,
        operation: Operation,
        body: &mut Body,
    ) -> Result<Bytes, Code> {
        let expected = self.worker.expect(*call, operation);
        let read = read_body(body, self.limits.body_bytes, self.body_timeout).await;
        expected.arrived();
        if body.was_waited_for() {
            call.arrived = self.worker.shared().clock().monotonic();
        }
        match read {
            Ok(bytes) => {
                call.bytes_in = bytes.len() as u64;
                Ok(bytes)
            }
            Err(error) => Err(Box::pin(self.record_refusal(*call, operation, error.code())).await),
        }
    }

    /// Records a request that was not understood, and gives back why.
    pub(crate) async fn refused(&self, asked: Asked<'_>, refusal: Refusal) -> Refusal {
        let (operation, code) = (asked.route.operation, refusal.code());
        match self.record_refusal(asked.call, operation, code).await {
            Code::AuditUnavailable => Refusal::new(Code::AuditUnavailable),
            _ => refusal,
        }
    }

    /// Records a request that was not understood; the code that it ends with.
    pub(crate) async fn record_refusal(
        &self,
        call: Call<'_>,
        operation: Operation,
        code: Code,
    ) -> Code {
        let recorded = self.worker.refuse::<()>(call, operation, code);
        match self.release(recorded).await {
            Err(Code::AuditUnavailable) => Code::AuditUnavailable,
            _ => code,
        }
    }

    pub(crate) async fn unrouted(&self, call: Call<'_>, code: Code) -> Code {
        let recorded = self.worker.refuse::<()>(call, Operation::Unrouted, code);
        self.release(recorded).await.err().unwrap_or(code)
    }

    /// When a request began: then, or now.
    fn began(&self, begun: Option<MonotonicTime>) -> MonotonicTime {
        begun.unwrap_or_else(|| self.worker.shared().clock().monotonic())
    }

    /// A request that began then, or now.
    pub(crate) fn call<'a>(&self, caller: &'a Caller, begun: Option<MonotonicTime>) -> Call<'a> {
        // Without randomness a request has no id; it will fail for that reason soon enough.
        let request = self.worker.request_id().unwrap_or(RequestId::NONE);
        let started = self.began(begun);
        Call {
            caller,
            request,
            started,
            arrived: started,
            bytes_in: 0,
        }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        self.worker.finish();
    }
}

/// Writes counted refusals once a second, for as long as the application lives.
fn count_refusals(worker: std::rc::Weak<Worker>, group: std::rc::Weak<GroupFlush>) {
    tokio::task::spawn_local(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let (Some(worker), Some(group)) = (worker.upgrade(), group.upgrade()) else {
                return;
            };
            if worker.drain_refusals() {
                drop(group.join());
            }
        }
    });
}

fn too_fast(too_fast: TooFast) -> Refusal {
    Refusal::new(Code::RateLimited).after(too_fast.retry_after())
}

fn to_json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    // Plain structs of texts and numbers always have a JSON form.
    serde_json::to_vec(value).unwrap_or_default()
}
