//! What a node counts and measures, in the text form of Prometheus.
//!
//! Labels come from closed sets: operations, codes, states, the parts of a node; never a path, a name or a
//! client. Each server thread counts for itself, so that counting is never a contended write; whoever reads adds
//! up. What is rare (a commit of the store, a reload) is counted in one place.

mod counter;
mod histogram;
mod page;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keywright_clock::{MonotonicTime, WallTime};
use keywright_types::{Code, Operation};

use crate::Snapshot;
use crate::clock_watch::ClockState;
use crate::standing::Standing;
use crate::survey::Survey;
use counter::Counter;
use histogram::{Histogram, Summed};
use page::{Kind, Page, seconds};

/// The counters of one server thread, in the hand of that thread: there is one such hand, and it cannot be shared.
#[derive(Debug)]
pub struct Counters {
    counts: Arc<Counts>,
    one_thread: PhantomData<Cell<()>>,
}

/// What one server thread has counted, for whoever reads.
#[derive(Debug)]
struct Counts {
    requests: Vec<Counter>,
    items: Vec<Counter>,
    durations: Vec<Histogram>,
    holder: [Histogram; Place::ALL.len()],
    queue: Histogram,
    audit: Histogram,
    audit_failures: Counter,
    opened: Counter,
    closed: Counter,
    refused: Vec<Counter>,
    dropped: [Counter; DropReason::ALL.len()],
    /// When the thread last came round, and whether it still is there.
    beat: Counter,
}

/// Where a key holder did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a thread of the pool.
    Pool,
    /// On the server thread that read the request.
    Thread,
}

impl Place {
    const ALL: [Self; 2] = [Self::Pool, Self::Thread];

    const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Thread => "thread",
        }
    }
}

impl Counts {
    fn new() -> Self {
        let zeros = |count| (0..count).map(|_| Counter::default()).collect();
        Self {
            requests: zeros(NUMBERS * NUMBERS),
            items: zeros(NUMBERS),
            durations: (0..NUMBERS).map(|_| Histogram::default()).collect(),
            holder: Default::default(),
            queue: Histogram::default(),
            audit: Histogram::default(),
            audit_failures: Counter::default(),
            opened: Counter::default(),
            closed: Counter::default(),
            refused: zeros(NUMBERS),
            dropped: Default::default(),
            beat: Counter::default(),
        }
    }
}

impl Counters {
    /// Counts one request that was refused before anything was done for it; its time would say nothing
    /// about those that are answered.
    pub fn count_refused(&self, operation: Operation, code: Code) {
        add(self.counts.requests.get(index(operation, code)), 1);
    }

    /// Counts one answered request.
    pub(crate) fn count(&self, operation: Operation, code: Code, items: u64, took: Duration) {
        add(self.counts.requests.get(index(operation, code)), 1);
        let row = usize::from(operation.number());
        add(self.counts.items.get(row), items);
        if let Some(durations) = self.counts.durations.get(row) {
            durations.note(took);
        }
    }

    /// Notes how long a holder worked, and how long the request waited for its turn.
    pub(crate) fn note_holder(&self, place: Place, spent: Spent) {
        let [pool, thread] = &self.counts.holder;
        match place {
            Place::Pool => {
                self.counts.queue.note(spent.queue);
                pool.note(spent.holder);
            }
            Place::Thread => thread.note(spent.holder),
        }
    }

    /// Notes one write of audit records, which many requests share.
    pub(crate) fn note_audit(&self, took: Duration, ended: Ended) {
        self.counts.audit.note(took);
        self.counts.audit_failures.add(ended.failures());
    }

    pub(crate) fn note_opened(&self) {
        self.counts.opened.add(1);
    }

    pub(crate) fn note_closed(&self) {
        self.counts.closed.add(1);
    }

    pub(crate) fn note_refused(&self, code: Code) {
        add(self.counts.refused.get(usize::from(code.number())), 1);
    }

    pub(crate) fn note_dropped(&self, reason: DropReason) {
        let reasons = DropReason::ALL.iter().zip(&self.counts.dropped);
        let counter = reasons.filter(|(one, _)| **one == reason).last();
        add(counter.map(|(_, counter)| counter), 1);
    }

    /// Says that the thread is alive at `now`.
    pub(crate) fn beat(&self, now: MonotonicTime) {
        self.counts.beat.set(now.nanos().max(1));
    }

    /// Says that the thread has ended in order.
    pub(crate) fn ended(&self) {
        self.counts.beat.set(0);
    }
}

/// How something that is counted ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Ended {
    /// It failed.
    Failed,
    /// It worked.
    Worked,
}

impl Ended {
    /// How a result ended.
    #[must_use]
    pub const fn of<T, E>(result: &Result<T, E>) -> Self {
        match result {
            Ok(_) => Self::Worked,
            Err(_) => Self::Failed,
        }
    }

    const fn failures(self) -> u64 {
        match self {
            Self::Failed => 1,
            Self::Worked => 0,
        }
    }
}

/// The limit for which a connection was closed before it was one of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "one for each limit of the transport"
)]
pub enum DropReason {
    /// There were as many clients as there may be.
    Connections,
    /// Its TLS handshake took too long.
    HandshakeTimeout,
    /// There were too many connections that had shown no certificate.
    UnauthenticatedConnections,
    /// There were too many of them of its source.
    UnauthenticatedPerSource,
}

impl DropReason {
    /// Every one.
    pub const ALL: [Self; 4] = [
        Self::Connections,
        Self::HandshakeTimeout,
        Self::UnauthenticatedConnections,
        Self::UnauthenticatedPerSource,
    ];

    /// The name of the limit, without `limits.` and without its unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::UnauthenticatedConnections => "unauthenticated_connections",
            Self::UnauthenticatedPerSource => "unauthenticated_per_source",
        }
    }

    /// The code that the audit log counts it under.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::HandshakeTimeout => Code::RequestTimeout,
            _ => Code::Overloaded,
        }
    }
}

/// What became of the span of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum SpanFate {
    /// There was no room for it.
    Dropped,
    /// The collector did not take it.
    Lost,
    /// The collector took it.
    Sent,
}

impl SpanFate {
    const ALL: [Self; 3] = [Self::Dropped, Self::Lost, Self::Sent];

    const fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Lost => "lost",
            Self::Sent => "sent",
        }
    }
}

/// Where the time of a request went, as far as a key holder had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two durations")]
pub struct Spent {
    /// In the queue of the pool; zero where there is none.
    pub queue: Duration,
    /// With the holder.
    pub holder: Duration,
}

/// What is counted once for the whole node.
#[derive(Debug, Default)]
struct Rare {
    commits: Mutex<Histogram>,
    store_failures: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    /// Whether the last reload failed.
    reload_failed: AtomicU64,
    lost_log_lines: AtomicU64,
    spans: [AtomicU64; SpanFate::ALL.len()],
}

/// The counters of all threads, and of the node.
#[derive(Debug, Default)]
pub struct Metrics {
    threads: Mutex<Vec<Arc<Counts>>>,
    rare: Rare,
}

/// What the page says besides what was counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) standing: Option<&'a Standing>,
    pub(crate) survey: &'a Survey,
    pub(crate) now: (WallTime, MonotonicTime),
    pub(crate) started: WallTime,
}

impl Metrics {
    /// Counters for one more thread.
    #[must_use]
    pub fn thread(&self) -> Counters {
        let counts = Arc::new(Counts::new());
        self.all().push(Arc::clone(&counts));
        Counters {
            counts,
            one_thread: PhantomData,
        }
    }

    /// Notes that a line of the log could not be written.
    pub fn note_lost_log_line(&self) {
        self.rare.lost_log_lines.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a write of the store; one that was refused for the order's own sake has not failed.
    pub fn note_commit(&self, took: Duration, ended: Ended) {
        let rare = &self.rare;
        rare.commits().note(took);
        let failures = &rare.store_failures;
        failures.fetch_add(ended.failures(), Ordering::Relaxed);
    }

    /// Notes that configuration and certificates were read again, or could not be.
    pub fn note_reload(&self, ended: Ended) {
        let rare = &self.rare;
        let counter = match ended {
            Ended::Failed => &rare.failed_reloads,
            Ended::Worked => &rare.reloads,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let failed = ended.failures();
        rare.reload_failed.store(failed, Ordering::Relaxed);
    }

    /// Notes what became of so many spans.
    pub fn note_spans(&self, fate: SpanFate, spans: u64) {
        let [dropped, lost, sent] = &self.rare.spans;
        let counter = match fate {
            SpanFate::Dropped => dropped,
            SpanFate::Lost => lost,
            SpanFate::Sent => sent,
        };
        counter.fetch_add(spans, Ordering::Relaxed);
    }

    /// Writes of the store that the disk or the database refused, so far.
    #[must_use]
    pub fn store_failures(&self) -> u64 {
        self.rare.store_failures.load(Ordering::Relaxed)
    }

    /// How long the slowest of the threads that have not ended has not come round.
    #[must_use]
    pub fn longest_silence(&self, now: MonotonicTime) -> Duration {
        let beats = self.all();
        let beats = beats.iter().map(|one| one.beat.get());
        let silent = beats
            .filter(|beat| *beat != 0)
            .map(|beat| Duration::from_nanos(now.nanos().saturating_sub(beat)));
        silent.max().unwrap_or_default()
    }

    /// The page.
    pub(crate) fn render(&self, facts: &Facts<'_>) -> String {
        let threads = self.all().clone();
        let mut page = Page::with_capacity(32 << 10);
        requests(&mut page, &threads);
        holders(&mut page, &threads);
        connections(&mut page, &threads);
        audit(&mut page, &threads);
        self.rare.render(&mut page);
        standing(&mut page, facts);
        certificates(&mut page, facts);
        keys(&mut page, facts);
        page.finish()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Counts>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Threads = [Arc<Counts>];

fn requests(page: &mut Page, threads: &Threads) {
    let name = "keywright_requests_total";
    page.head(
        name,
        Kind::Counter,
        "Requests answered, by operation and code.",
    );
    for operation in Operation::ALL {
        for code in Code::ALL {
            let index = index(*operation, *code);
            let count = sum(threads, |counters| counters.requests.get(index));
            if count > 0 {
                let labels = format!("operation=\"{operation}\",code=\"{code}\"");
                page.sample(name, &labels, count);
            }
        }
    }
    let name = "keywright_items_total";
    page.head(
        name,
        Kind::Counter,
        "Items of answered requests, by operation.",
    );
    for operation in Operation::ALL {
        let row = usize::from(operation.number());
        let count = sum(threads, |counters| counters.items.get(row));
        if count > 0 {
            page.sample(name, &format!("operation=\"{operation}\""), count);
        }
    }
    let name = "keywright_request_duration_seconds";
    let help = "From the whole request to its audited answer, by operation.";
    page.head(name, Kind::Histogram, help);
    for operation in Operation::ALL {
        let row = usize::from(operation.number());
        let all = threads.iter().filter_map(|one| one.durations.get(row));
        let sum = Summed::of(all);
        if sum.count() > 0 {
            page.histogram(name, &format!("operation=\"{operation}\""), &sum);
        }
    }
}

fn holders(page: &mut Page, threads: &Threads) {
    let name = "keywright_holder_duration_seconds";
    let help = "Work of a key holder for one request, by the place where it was done.";
    page.head(name, Kind::Histogram, help);
    for (row, place) in Place::ALL.iter().enumerate() {
        let all = threads.iter().filter_map(|one| one.holder.get(row));
        let labels = format!("place=\"{}\"", place.name());
        page.histogram(name, &labels, &Summed::of(all));
    }
    let name = "keywright_holder_queue_seconds";
    let help = "Wait of a request for a thread of the key holder.";
    page.head(name, Kind::Histogram, help);
    let all = threads.iter().map(|one| &one.queue);
    page.histogram(name, "", &Summed::of(all));
}

fn connections(page: &mut Page, threads: &Threads) {
    let opened = sum(threads, |one| Some(&one.opened));
    let closed = sum(threads, |one| Some(&one.closed));
    let name = "keywright_connections_opened_total";
    let help = "Connections of clients that were let in.";
    page.one(name, Kind::Counter, help, opened);
    let name = "keywright_connections_open";
    let help = "Connections of clients that are open now.";
    page.one(name, Kind::Gauge, help, opened.saturating_sub(closed));
    let name = "keywright_connections_dropped_total";
    let help = "Connections that were closed before they had shown a certificate, or for want of a place, by limit.";
    page.head(name, Kind::Counter, help);
    for (row, reason) in DropReason::ALL.iter().enumerate() {
        let count = sum(threads, |one| one.dropped.get(row));
        page.sample(name, &format!("reason=\"{}\"", reason.name()), count);
    }
    let name = "keywright_connections_refused_total";
    let help = "Connections that were not let in, by code; a handshake that failed is one.";
    page.head(name, Kind::Counter, help);
    for code in Code::ALL {
        let row = usize::from(code.number());
        let count = sum(threads, |one| one.refused.get(row));
        if count > 0 {
            page.sample(name, &format!("code=\"{code}\""), count);
        }
    }
}

fn audit(page: &mut Page, threads: &Threads) {
    let name = "keywright_audit_write_duration_seconds";
    let help = "One write of audit records, which many requests share.";
    page.head(name, Kind::Histogram, help);
    page.histogram(name, "", &Summed::of(threads.iter().map(|one| &one.audit)));
    let name = "keywright_audit_write_failures_total";
    let help = "Writes of audit records that failed; their requests were answered 503.";
    let failures = sum(threads, |one| Some(&one.audit_failures));
    page.one(name, Kind::Counter, help, failures);
}

impl Rare {
    fn commits(&self) -> MutexGuard<'_, Histogram> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn render(&self, page: &mut Page) {
        let name = "keywright_store_commit_duration_seconds";
        page.head(name, Kind::Histogram, "One transaction of the store.");
        page.histogram(name, "", &Summed::of([&*self.commits()].into_iter()));
        let name = "keywright_store_failures_total";
        let help = "Transactions that the disk or the database refused.";
        let failures = self.store_failures.load(Ordering::Relaxed);
        page.one(name, Kind::Counter, help, failures);
        let name = "keywright_reloads_total";
        let help =
            "Readings of certificates, revocation lists and log level while running, by result.";
        page.head(name, Kind::Counter, help);
        for (result, counter) in [("failed", &self.failed_reloads), ("ok", &self.reloads)] {
            let count = counter.load(Ordering::Relaxed);
            page.sample(name, &format!("result=\"{result}\""), count);
        }
        let name = "keywright_last_reload_failed";
        let help = "Whether the last such reading failed: what was good before is in force.";
        let failed = self.reload_failed.load(Ordering::Relaxed);
        page.one(name, Kind::Gauge, help, failed);
        let name = "keywright_log_lines_lost_total";
        let help = "Lines of the log that could not be written to standard error.";
        let lost = self.lost_log_lines.load(Ordering::Relaxed);
        page.one(name, Kind::Counter, help, lost);
        let name = "keywright_spans_total";
        let help = "Spans of sampled requests, by what became of them.";
        page.head(name, Kind::Counter, help);
        for (fate, counter) in SpanFate::ALL.into_iter().zip(&self.spans) {
            let labels = format!("result=\"{}\"", fate.name());
            page.sample(name, &labels, counter.load(Ordering::Relaxed));
        }
    }
}

/// What the node last found of itself; nothing while nobody looks.
fn standing(page: &mut Page, facts: &Facts<'_>) {
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    let name = "keywright_build_info";
    page.head(name, Kind::Gauge, "The version of the program.");
    page.sample(name, &version, 1);
    let name = "process_start_time_seconds";
    let help = "Start of the node since the Unix epoch in seconds.";
    page.one(name, Kind::Gauge, help, seconds(facts.started.unix_nanos()));
    let Some(standing) = facts.standing else {
        return;
    };
    let name = "keywright_ready";
    let help = "Whether the node is ready to serve.";
    let ready = standing.lacks(facts.snapshot, facts.now).is_empty();
    page.one(name, Kind::Gauge, help, u8::from(ready));
    let name = "keywright_component_up";
    let help = "Whether a part of the node worked when it was last looked at.";
    page.head(name, Kind::Gauge, help);
    for (component, works) in [
        ("audit", standing.audit),
        ("holder", standing.holder),
        ("keys", standing.keys.serve()),
        ("store", standing.store),
    ] {
        let labels = format!("component=\"{component}\"");
        page.sample(name, &labels, u8::from(works));
    }
    let name = "keywright_unfit_keys";
    let help = "Versions of which the token has another key, none, or one that may do too much.";
    page.one(name, Kind::Gauge, help, standing.keys.unfit);
    let name = "keywright_clock_sure";
    let help = "Whether the clock is believed; if not, nothing is destroyed.";
    let sure = standing.clock == ClockState::Sure;
    page.one(name, Kind::Gauge, help, u8::from(sure));
    let name = "keywright_memory_locked";
    let help = "Whether all memory of the process is kept out of swap.";
    page.one(name, Kind::Gauge, help, u8::from(standing.memory_locked));
}

fn certificates(page: &mut Page, facts: &Facts<'_>) {
    let name = "keywright_expiry_timestamp_seconds";
    let help = "When the server's certificate, and the first revocation list, run out.";
    page.head(name, Kind::Gauge, help);
    let lists = facts.snapshot.trust.expires();
    page.sample(name, "of=\"revocation-list\"", lists.unix_seconds());
    if let Some(standing) = facts.standing {
        let server = standing.certificate_until.unix_seconds();
        page.sample(name, "of=\"server-certificate\"", server);
    }
}

fn keys(page: &mut Page, facts: &Facts<'_>) {
    let survey = facts.survey;
    let name = "keywright_state_epoch";
    let help = "The epoch of the state in use.";
    page.one(name, Kind::Gauge, help, facts.snapshot.epoch);
    let name = "keywright_contexts";
    let contexts = facts.snapshot.keyring.len();
    page.one(name, Kind::Gauge, "Contexts of all tenants.", contexts);
    let name = "keywright_contexts_without_active_version";
    let help = "Contexts that seal, sign or derive nothing because no version is active.";
    page.one(name, Kind::Gauge, help, survey.without_active);
    let name = "keywright_contexts_rotation_overdue";
    let help = "Contexts whose active version is a day older than their schedule allows.";
    page.one(name, Kind::Gauge, help, survey.overdue);
    let name = "keywright_key_versions";
    page.head(name, Kind::Gauge, "Key versions, by state.");
    for (state, count) in survey.states() {
        page.sample(name, &format!("state=\"{state}\""), count);
    }
    let name = "keywright_oldest_active_key_age_seconds";
    let help = "Age of the active version that is the oldest of all contexts.";
    let age = survey.oldest.map_or(Duration::ZERO, |made| {
        let nanos = facts.now.0.unix_nanos().saturating_sub(made.unix_nanos());
        Duration::from_nanos(nanos)
    });
    page.one(name, Kind::Gauge, help, age.as_secs());
}

fn sum<'a>(threads: &'a Threads, counter: impl Fn(&'a Counts) -> Option<&'a Counter>) -> u64 {
    let values = threads.iter().filter_map(|counts| counter(counts));
    values.map(Counter::get).sum()
}

fn add(counter: Option<&Counter>, value: u64) {
    if let Some(counter) = counter {
        counter.add(value);
    }
}

/// The place of a counter: by the numbers of the registry, which are found without a search.
fn index(operation: Operation, code: Code) -> usize {
    usize::from(operation.number()) * NUMBERS + usize::from(code.number())
}

/// Above every number of an operation or code; a test says when it no longer is.
const NUMBERS: usize = 64;

#[cfg(test)]
mod tests {
    use keywright_types::State;

    use super::*;

    #[test]
    fn every_operation_and_code_has_a_counter_of_its_own() {
        let operations = Operation::ALL.iter().map(|one| one.number());
        let codes = Code::ALL.iter().map(|one| one.number());
        let mut numbers = operations.chain(codes);
        assert!(numbers.all(|number| usize::from(number) < NUMBERS));
    }

    #[test]
    fn no_label_needs_escaping() {
        let operations = Operation::ALL.iter().map(ToString::to_string);
        let codes = Code::ALL.iter().map(ToString::to_string);
        let states = State::ALL.iter().map(ToString::to_string);
        for label in operations.chain(codes).chain(states) {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            assert!(label.chars().all(plain), "{label}");
        }
    }

    fn text(part: fn(&mut Page, &Threads), metrics: &Metrics) -> String {
        let mut page = Page::default();
        part(&mut page, &metrics.all().clone());
        page.finish()
    }

    #[test]
    fn threads_add_up_and_nothing_else_is_shown() {
        let metrics = Metrics::default();
        let (a, b) = (metrics.thread(), metrics.thread());
        a.count(Operation::Encrypt, Code::Ok, 1, Duration::from_micros(7));
        b.count(Operation::Encrypt, Code::Ok, 1000, Duration::from_millis(3));
        let failed = Code::DecryptionFailed;
        b.count(Operation::Decrypt, failed, 1, Duration::from_secs(9));
        let text = text(requests, &metrics);
        assert!(text.contains("keywright_requests_total{operation=\"encrypt\",code=\"ok\"} 2\n"));
        assert!(text.contains("keywright_items_total{operation=\"encrypt\"} 1001\n"));
        let bucket = |operation, bound, count| {
            let name = "keywright_request_duration_seconds_bucket";
            text.contains(&format!(
                "{name}{{operation=\"{operation}\",le=\"{bound}\"}} {count}\n"
            ))
        };
        assert!(bucket("encrypt", "0.00001", 1) && bucket("encrypt", "0.005", 2));
        assert!(bucket("decrypt", "1", 0) && bucket("decrypt", "+Inf", 1));
        assert!(text.contains("_sum{operation=\"encrypt\"} 0.003007000\n"));
        assert_eq!(text.matches("keywright_requests_total{").count(), 2);
    }

    #[test]
    fn a_flood_of_strangers_adds_no_series() {
        let metrics = Metrics::default();
        let one = metrics.thread();
        for _ in 0..10_000 {
            one.note_refused(Code::CertificateMissing);
        }
        let text = text(connections, &metrics);
        let refused = "keywright_connections_refused_total{code=\"certificate_missing\"} 10000\n";
        assert!(text.contains(refused), "{text}");
        assert_eq!(text.matches("refused_total{").count(), 1);
    }

    #[test]
    fn every_reason_to_drop_a_connection_is_there_before_the_first() {
        let metrics = Metrics::default();
        let (a, b) = (metrics.thread(), metrics.thread());
        let shown = |metrics: &Metrics| {
            let text = text(connections, metrics);
            let lines = text.lines().map(str::to_owned);
            let lines =
                lines.filter(|line| line.starts_with("keywright_connections_dropped_total{"));
            lines.collect::<Vec<_>>()
        };
        let line = |reason: DropReason, count: usize| {
            let name = reason.name();
            format!("keywright_connections_dropped_total{{reason=\"{name}\"}} {count}")
        };
        assert_eq!(
            shown(&metrics),
            DropReason::ALL.map(|reason| line(reason, 0))
        );
        for (count, reason) in DropReason::ALL.into_iter().enumerate() {
            (0..count).for_each(|_| a.note_dropped(reason));
            b.note_dropped(reason);
        }
        let mut counts = 1..;
        let expected = DropReason::ALL.map(|reason| line(reason, counts.next().unwrap()));
        assert_eq!(shown(&metrics), expected);
    }

    #[test]
    fn connections_that_ended_are_not_open() {
        let metrics = Metrics::default();
        let (a, b) = (metrics.thread(), metrics.thread());
        for thread in [&a, &b, &a] {
            thread.note_opened();
        }
        b.note_closed();
        let text = text(connections, &metrics);
        assert!(text.contains("keywright_connections_opened_total 3\n"));
        assert!(text.contains("keywright_connections_open 2\n"));
    }

    #[test]
    fn only_a_thread_that_has_not_ended_is_missed() {
        let metrics = Metrics::default();
        let (clock, _) = keywright_clock::Clock::simulated(WallTime::from_unix_seconds(0));
        let start = clock.monotonic();
        let at = |seconds| start.plus(Duration::from_secs(seconds));
        assert_eq!(metrics.longest_silence(at(9)), Duration::ZERO);
        let (a, b) = (metrics.thread(), metrics.thread());
        a.beat(at(2));
        b.beat(at(7));
        assert_eq!(metrics.longest_silence(at(9)), Duration::from_secs(7));
        a.ended();
        assert_eq!(metrics.longest_silence(at(9)), Duration::from_secs(2));
        // A beat that another thread made after this one looked at the clock.
        assert_eq!(metrics.longest_silence(at(1)), Duration::ZERO);
    }
}
