//! The routes of the service, each answered only after its audit record is written.

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use keywright_api::answer::{
    ClockWord, ContextEntry, ContextFormat, ContextsAnswer, HealthAnswer, Memory, Probe, Readiness,
    VersionEntry,
};
use keywright_api::error::Refusal;
use keywright_api::request::{Body as Items, RandomItem, parse};
use keywright_api::route::{Endpoint, Route, RouteMatch, match_route};
use keywright_api::write::{self, Done};
use keywright_api::{Limits, MAX_RANDOM, MAX_RANDOM_TOTAL, openapi};
use keywright_audit::RecordType;
use keywright_audit::field::{Field, Resumption, Serial, Subject};
use keywright_audit::record::Facts;
use keywright_audit::refusals::Whom;
use keywright_clock::WallTime;
use keywright_custody::{Detail, Key};
use keywright_service::{
    Call, Caller, ClockState, DataOperation, Desk, Need, Recorded, TooFast, Worker,
};
use keywright_types::{Code, Operation, RequestId};

use crate::exchange::{Understood, answer, good, refuse, understand, wrong_method};
use crate::gate::{Gate, LetIn, Load};
use crate::orders;
use crate::seed::{self, SeedDoor};
use crate::streams::Incoming;
use crate::timing::Timing;
use crate::transport::group::GroupFlush;
use crate::transport::{Body, Handler, Peer, Reply, json, read_body, reply};
use crate::vault::{self, VaultDoor};

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
    /// The routes that programs ask which speak Vault's transit API, where they are switched on.
    vault: Option<Arc<VaultDoor>>,
    /// Those of clients of the seed service, where they are.
    seed: SeedDoor,
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
            vault: None,
            seed: SeedDoor::Shut,
        }
    }

    /// The same, telling where time goes or not.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Whether the request may begin. What may not is counted, and answered without a record of its own.
    pub(crate) fn enter(
        &self,
        caller: &Caller,
        operation: Operation,
        queued: Duration,
    ) -> Result<LetIn, Refusal> {
        let Some(let_in) = self.gate.enter(queued) else {
            self.worker.note_overload(caller, operation);
            return Err(Refusal::new(Code::Overloaded));
        };
        self.worker.admit(caller, operation).map_err(too_fast)?;
        Ok(let_in)
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

    async fn route(&self, asked: Asked<'_>, context: Option<&str>, body: Body) -> Response<Reply> {
        let result = match data_operation(asked.route.endpoint) {
            Some(operation) => {
                self.data(asked, operation, context.unwrap_or_default(), body)
                    .await
            }
            // Boxed, so that the future of the hot routes, which is moved a few times on its way into
            // its task, does not carry room for the rare ones.
            None => Box::pin(self.other(asked, context.unwrap_or_default(), body)).await,
        };
        result.unwrap_or_else(|refusal| refuse(&refusal, &self.limits, asked.call.request))
    }

    async fn data(
        &self,
        mut asked: Asked<'_>,
        operation: DataOperation,
        context: &str,
        body: Body,
    ) -> Result<Response<Reply>, Refusal> {
        let body = self.body_of(&mut asked, body).await?;
        let understood = understand(operation, &body, &self.limits);
        let Understood { items, form } = match understood {
            Ok(understood) => understood,
            Err(refusal) => return Err(Box::pin(self.refused(asked, refusal)).await),
        };
        self.charge(asked, items.len())?;
        let recorded = self
            .worker
            .perform(asked.call, context, operation, items)
            .await;
        let done = self.release(recorded).await?;
        let not_after = if operation.hands_out_keys() {
            self.data_keys_end()
        } else {
            NEVER
        };
        let written = answer(operation, &form, done.iter(), (done.byte_len(), not_after))?;
        let mut response = good(written);
        self.timing.note(&mut response, done.spent());
        Ok(response)
    }

    /// Takes what the items cost; the first is paid for already.
    fn charge(&self, asked: Asked<'_>, items: usize) -> Result<(), Refusal> {
        let operation = asked.route.operation;
        let charged = self
            .worker
            .charge_items(asked.call.caller, operation, items);
        charged.map_err(too_fast)
    }

    /// When a data key that is handed out now should be exchanged for another.
    fn data_keys_end(&self) -> WallTime {
        let shared = self.worker.shared();
        shared
            .clock()
            .wall()
            .plus(shared.settings().data_key_validity)
    }

    async fn other(
        &self,
        asked: Asked<'_>,
        context: &str,
        body: Body,
    ) -> Result<Response<Reply>, Refusal> {
        match asked.route.endpoint {
            _ if asked.route.is_order() => self.order(asked, context, body).await,
            Endpoint::KeyVersions => {
                let recorded = self.worker.describe(asked.call, context);
                let key = self.release(recorded).await?;
                let uses = self.worker.shared().uses();
                Ok(good(to_json(&orders::versions(&key, uses))))
            }
            Endpoint::Random => self.random(asked, body).await,
            Endpoint::Contexts => {
                let keys = self.release(self.worker.contexts(asked.call)).await?;
                let contexts = keys.iter().map(entry).collect();
                Ok(good(to_json(&ContextsAnswer { contexts })))
            }
            Endpoint::Metrics => {
                let recorded =
                    self.worker
                        .plain(asked.call, Operation::MetricsRead, Need::Grant, |_| ());
                self.release(recorded).await?;
                let text = self.worker.shared().metrics_page();
                Ok(reply(
                    StatusCode::OK,
                    HeaderValue::from_static(PROMETHEUS),
                    text,
                ))
            }
            Endpoint::Openapi => {
                let recorded =
                    self.worker
                        .plain(asked.call, Operation::ApiRead, Need::Identity, |_| ());
                self.release(recorded).await?;
                let mut document = openapi::document(&self.limits);
                if self.vault.is_some() {
                    keywright_api::vault::add_to(&mut document, &self.limits);
                }
                if self.seed == SeedDoor::Open {
                    keywright_api::seed::add_to(&mut document, &self.limits);
                }
                Ok(good(to_json(&document)))
            }
            _ => self.health(asked).await,
        }
    }

    async fn order(
        &self,
        mut asked: Asked<'_>,
        context: &str,
        body: Body,
    ) -> Result<Response<Reply>, Refusal> {
        let body = self.body_of(&mut asked, body).await?;
        let what = match orders::understand(asked.route.endpoint, &body, &self.limits) {
            Ok(what) => what,
            Err(refusal) => return Err(self.refused(asked, refusal).await),
        };
        let order = (asked.route.operation, what);
        let desk = &self.probes.desk;
        let recorded = self.worker.order(asked.call, context, order, desk).await;
        let done = self.release(recorded).await?;
        Ok(good(orders::answer(done)))
    }

    async fn random(&self, mut asked: Asked<'_>, body: Body) -> Result<Response<Reply>, Refusal> {
        let body = self.body_of(&mut asked, body).await?;
        let parsed = parse(&body, &self.limits).and_then(|parsed: Items<RandomItem>| {
            let total = parsed
                .items()
                .iter()
                .fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
            let single_wrong = !parsed.is_batch() && !length_is_good(total);
            if single_wrong || total > MAX_RANDOM_TOTAL {
                Err(Refusal::new(Code::ValueInvalid))
            } else {
                Ok(parsed)
            }
        });
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(refusal) => return Err(Box::pin(self.refused(asked, refusal)).await),
        };
        let good_lengths = parsed
            .items()
            .iter()
            .map(|item| item.bytes)
            .filter(|n| length_is_good(*n));
        self.charge(asked, parsed.items().len())?;
        let total = usize::try_from(good_lengths.sum::<u64>()).unwrap_or(usize::MAX);
        let outcomes: Vec<_> = parsed.items().iter().map(outcome_of).collect();
        let bytes = self
            .release(self.worker.random(asked.call, total, &outcomes))
            .await?;
        Ok(good(write_random(&parsed, bytes.expose())))
    }

    async fn health(&self, asked: Asked<'_>) -> Result<Response<Reply>, Refusal> {
        let holder = self.worker.holder_works().await;
        let recorded = self.worker.plain(
            asked.call,
            Operation::HealthRead,
            Need::Identity,
            |snapshot| snapshot.epoch,
        );
        let epoch = self.release(recorded).await?;
        let audit = (self.probes.audit)();
        let Looked {
            store,
            certificates,
            clock,
        } = self.looked();
        let probe = |works| if works { Probe::Ok } else { Probe::Failed };
        let ready = holder && audit && store && certificates;
        let answer = HealthAnswer {
            status: if ready {
                Readiness::Ready
            } else {
                Readiness::Degraded
            },
            holder: probe(holder),
            audit: probe(audit),
            store: probe(store),
            certificates: probe(certificates),
            clock,
            memory: if self.probes.memory_locked {
                Memory::Locked
            } else {
                Memory::Unlocked
            },
            epoch,
        };
        let status = if ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Ok(json(status, to_json(&answer)))
    }

    /// What is not asked now, but by whoever looks after the node. Where nobody does, nothing speaks against it.
    pub(crate) fn looked(&self) -> Looked {
        let shared = self.worker.shared();
        let (clock, snapshot) = (shared.clock(), shared.snapshot());
        let Some(standing) = shared.standing() else {
            return Looked {
                store: true,
                certificates: true,
                clock: ClockWord::Sure,
            };
        };
        Looked {
            store: standing.store && standing.is_fresh(clock.monotonic()),
            certificates: standing.certificates_hold(&snapshot, clock.wall()),
            clock: match standing.clock {
                ClockState::Sure => ClockWord::Sure,
                ClockState::Uncertain => ClockWord::Uncertain,
            },
        }
    }

    /// The whole body; a body that cannot be had is recorded here.
    async fn body_of(&self, asked: &mut Asked<'_>, body: Body) -> Result<Bytes, Refusal> {
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
        body: Body,
    ) -> Result<Bytes, Code> {
        let expected = self.worker.expect(*call, operation);
        let read = read_body(body, self.limits.body_bytes, self.body_timeout).await;
        expected.arrived();
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

    pub(crate) fn call<'a>(&self, caller: &'a Caller) -> Call<'a> {
        // Without randomness a request has no id; it will fail for that reason soon enough.
        let request = self.worker.request_id().unwrap_or(RequestId::NONE);
        Call {
            caller,
            request,
            started: self.worker.shared().clock().monotonic(),
            bytes_in: 0,
        }
    }
}

impl Handler for Application {
    type Connection = Caller;

    fn accept(&self, peer: Peer<'_>) -> Result<Caller, Code> {
        let shared = self.worker.shared();
        let (snapshot, now) = (shared.snapshot(), shared.clock().wall());
        let caller = Caller::identify(peer.certificates, peer.number, &snapshot, now).inspect_err(
            |code| {
                self.worker
                    .note_refused(Whom::from(peer.address.ip()), *code)
            },
        )?;
        if !self.note_connection(&peer, &caller, snapshot.epoch) {
            let code = Code::AuditUnavailable;
            self.worker
                .note_refused(Whom::from(peer.address.ip()), code);
            return Err(code);
        }
        Ok(caller)
    }

    async fn respond(&self, caller: &Caller, request: Request<Body>) -> Response<Reply> {
        let (head, body) = request.into_parts();
        if let Some(route) = self.seed.route(head.uri.path()) {
            let started = self.worker.shared().clock().monotonic();
            let response = Box::pin(seed::respond(self, caller, route, (&head.method, body))).await;
            let total = || self.worker.shared().clock().monotonic().since(started);
            return self.timing.stamp(response, total);
        }
        let matched = match_route(&head.method, head.uri.path());
        let operation = match matched {
            RouteMatch::Found { route, .. } => route.operation,
            RouteMatch::NotFound => VaultDoor::operation(self.vault.as_ref(), &head),
            RouteMatch::WrongMethod { .. } => Operation::Unrouted,
        };
        let let_in = match self.enter(caller, operation, body.queued()) {
            Ok(let_in) => let_in,
            Err(refusal) => return refuse(&refusal, &self.limits, RequestId::NONE),
        };
        let call = self.call(caller);
        let response = match matched {
            RouteMatch::Found { route, context } if route.is_stream() => {
                let incoming = Incoming {
                    context: context.unwrap_or_default(),
                    headers: &head.headers,
                    body,
                    let_in,
                };
                let asked = Asked { call, route };
                let answered = Box::pin(self.stream(asked, incoming)).await;
                answered.unwrap_or_else(|refusal| refuse(&refusal, &self.limits, call.request))
            }
            RouteMatch::Found { route, context } => {
                self.route(Asked { call, route }, context, body).await
            }
            RouteMatch::NotFound => match VaultDoor::of(self.vault.as_ref(), head.uri.path()) {
                Some(door) => Box::pin(vault::respond(self, door, call, &head, body)).await,
                None => {
                    let code = self.unrouted(call, Code::RouteNotFound).await;
                    refuse(&Refusal::new(code), &self.limits, call.request)
                }
            },
            RouteMatch::WrongMethod { allow } => {
                match self.unrouted(call, Code::MethodNotAllowed).await {
                    Code::MethodNotAllowed => wrong_method(allow, &self.limits, call.request),
                    other => refuse(&Refusal::new(other), &self.limits, call.request),
                }
            }
        };
        let total = || self.worker.shared().clock().monotonic().since(call.started);
        self.timing.stamp(response, total)
    }

    fn abandoned(&self, caller: &Caller, code: Code) -> Response<Reply> {
        let call = self.call(caller);
        let recorded = self.worker.refuse::<()>(call, Operation::Unrouted, code);
        // This answer cannot wait for the group, and must not leave before its record: written alone.
        self.worker.flush();
        let code = recorded
            .release(&self.worker)
            .map_or_else(|lost| lost, |_| code);
        refuse(&Refusal::new(code), &self.limits, call.request)
    }

    fn still_welcome(&self, caller: &Caller) -> bool {
        let shared = self.worker.shared();
        caller
            .principal(&shared.snapshot(), shared.clock().wall())
            .is_ok()
    }

    fn closed(&self, _: &Caller) {
        self.worker.note_closed();
    }

    fn handshake_refused(&self, from: SocketAddr, reason: Code) {
        self.worker.note_refused(Whom::from(from.ip()), reason);
    }
}

impl Application {
    /// Whether the connection has its record.
    fn note_connection(&self, peer: &Peer<'_>, caller: &Caller, epoch: u64) -> bool {
        let Some(credential) = caller.credential() else {
            return false;
        };
        let shared = self.worker.shared();
        let mut facts = Facts::new(
            RecordType::Connection,
            Operation::Connect,
            shared.clock().wall(),
        );
        (facts.epoch, facts.connection) = (epoch, peer.number);
        if let Ok(principal) = caller.principal(&shared.snapshot(), facts.time) {
            (facts.principal, facts.tenant) = (principal.id(), principal.tenant());
        }
        let resumed = if peer.resumed {
            Resumption::Resumed
        } else {
            Resumption::Full
        };
        let noted = self.worker.note_connection(
            caller,
            facts,
            &[
                Field::Address(peer.address),
                Field::Anchor(credential.anchor),
                Field::Leaf(credential.leaf),
                Field::Serial(Serial::new(&credential.serial)),
                Field::Subject(Subject::new(&credential.subject)),
                Field::Resumed(resumed),
            ],
        );
        // The flush happens whether or not anybody waits for it; after a failure it is what lets the
        // writer begin anew.
        drop(self.group.join());
        noted
    }
}

/// Parts of health that are looked at beforehand.
pub(crate) struct Looked {
    pub(crate) store: bool,
    pub(crate) certificates: bool,
    clock: ClockWord,
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

const fn data_operation(endpoint: Endpoint) -> Option<DataOperation> {
    match endpoint {
        Endpoint::Datakey => Some(DataOperation::Datakey),
        Endpoint::DatakeyOpen => Some(DataOperation::DatakeyOpen),
        Endpoint::Decrypt => Some(DataOperation::Decrypt),
        Endpoint::DeterministicDecrypt => Some(DataOperation::DeterministicDecrypt),
        Endpoint::DeterministicEncrypt => Some(DataOperation::DeterministicEncrypt),
        Endpoint::Detokenize => Some(DataOperation::Detokenize),
        Endpoint::Encrypt => Some(DataOperation::Encrypt),
        Endpoint::Mask => Some(DataOperation::Mask),
        Endpoint::Rewrap => Some(DataOperation::Rewrap),
        Endpoint::Tokenize => Some(DataOperation::Tokenize),
        Endpoint::Agree => Some(DataOperation::Agree),
        Endpoint::KeyExport => Some(DataOperation::KeyExport),
        Endpoint::Mac => Some(DataOperation::Mac),
        Endpoint::MacVerify => Some(DataOperation::VerifyMac),
        Endpoint::PublicKey => Some(DataOperation::PublicKey),
        Endpoint::Sign => Some(DataOperation::Sign),
        Endpoint::Verify => Some(DataOperation::Verify),
        Endpoint::Xpub => Some(DataOperation::Xpub),
        Endpoint::Contexts
        | Endpoint::DecryptStream
        | Endpoint::EncryptStream
        | Endpoint::KeyApprove
        | Endpoint::KeyCancelDestroy
        | Endpoint::KeyDestroy
        | Endpoint::KeyResume
        | Endpoint::KeyRetire
        | Endpoint::KeyRotate
        | Endpoint::KeyScheduleDestroy
        | Endpoint::KeySuspend
        | Endpoint::KeyVersions
        | Endpoint::Health
        | Endpoint::Metrics
        | Endpoint::Openapi
        | Endpoint::Random => None,
    }
}

fn entry(key: &Arc<Key>) -> ContextEntry {
    let versions = key.versions().iter();
    ContextEntry {
        name: key.name().clone(),
        id: key.id(),
        purpose: key.spec().purpose,
        format: key.detail().and_then(|detail| format_of(detail)),
        active_version: key.active().map(keywright_custody::Version::number),
        versions: versions
            .map(|version| VersionEntry {
                version: version.number(),
                state: version.state(),
            })
            .collect(),
    }
}

fn format_of(detail: &Detail) -> Option<ContextFormat> {
    match detail {
        Detail::Format(format) => Some(ContextFormat {
            format: format.format.clone(),
            tweak: format.tweak.clone(),
            mask: format.mask.clone(),
        }),
        _ => None,
    }
}

const fn outcome_of(item: &RandomItem) -> Code {
    if length_is_good(item.bytes) {
        Code::Ok
    } else {
        Code::ValueInvalid
    }
}

pub(crate) const fn length_is_good(bytes: u64) -> bool {
    bytes >= 1 && bytes <= MAX_RANDOM
}

/// Deals out `bytes` to the items of the request.
fn write_random(parsed: &Items<RandomItem>, bytes: &[u8]) -> Vec<u8> {
    if !parsed.is_batch() {
        return write::one(&Done::Random(bytes));
    }
    let mut batch = write::Batch::with_capacity(bytes.len() / 3 * 4);
    let mut rest = bytes;
    for item in parsed.items() {
        let length = usize::try_from(item.bytes).unwrap_or(usize::MAX);
        let taken = rest
            .split_at_checked(length)
            .filter(|_| length_is_good(item.bytes));
        batch.push(match taken {
            Some((now, later)) => {
                rest = later;
                Ok(Done::Random(now))
            }
            None => Err(Code::ValueInvalid),
        });
    }
    batch.finish()
}

fn to_json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    // Plain structs of texts and numbers always have a JSON form.
    serde_json::to_vec(value).unwrap_or_default()
}

/// Stands where no data key is handed out and no answer names a time.
const NEVER: WallTime = WallTime::from_unix_nanos(0);
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
