//! A log taken in call by call, and what is known of it at any time.

mod concurrency;
mod counts;
mod judge;
mod nonces;
mod operations;
mod recent;
mod sessions;
mod throughput;

use std::collections::BTreeSet;

use keywright_pkcs11_names::{Function, MechanismType, ReturnCode};

use crate::bounded::Bounded;
use crate::finding::Spot;
use crate::moment::{self, Zone};
use crate::reader::{Ending, Origin, Reader, Seen, Tally, printable};
use crate::report::{KeyRow, Limit, Report, Source};
use concurrency::Together;
use counts::Counts;
use nonces::Tags;
use operations::Operations;
use recent::Recent;
use sessions::Places;
use throughput::Rates;

pub use recent::RecentCall;

/// How a log is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The zone of local times, which the spy writes.
    pub zone: Zone,
    /// So many of the calls that came last are kept for [`Analyzer::recent`].
    pub recent: usize,
}

impl Options {
    /// With this zone for local times.
    #[must_use]
    pub fn in_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Keeping so many of the calls that came last.
    #[must_use]
    pub const fn keeping(mut self, recent: usize) -> Self {
        self.recent = recent;
        self
    }
}

/// Takes a log in.
#[derive(Debug)]
pub struct Analyzer {
    reader: Reader,
    state: State,
    zone: String,
}

/// The mechanism of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mech {
    None,
    Number(MechanismType),
    /// Named by a name that has no number here.
    Unnamed,
}

impl Mech {
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Number(number) => Some(number.to_string()),
            Self::Unnamed => Some("unknown mechanism".to_owned()),
        }
    }

    pub(crate) const fn number(self) -> Option<MechanismType> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Done,
    Failed,
    SizeQuery,
    Unanswered,
}

/// A call with what follows from it.
pub(crate) struct Call<'a> {
    pub(crate) seen: &'a Seen<'a>,
    pub(crate) function: Option<Function>,
    /// Which process, by its place among them.
    pub(crate) process: u32,
    pub(crate) mech: Mech,
    /// The key's handle, of this call or of the one that began its operation.
    pub(crate) key: Option<u64>,
    pub(crate) nanos: Option<u64>,
    pub(crate) outcome: Outcome,
}

impl Call<'_> {
    pub(crate) fn code(&self) -> Option<ReturnCode> {
        self.seen.record.rv
    }

    pub(crate) fn name(&self) -> &str {
        &self.seen.record.func
    }
}

#[derive(Debug)]
struct State {
    origins: BTreeSet<&'static str>,
    processes: Bounded<(Origin, u64), u32>,
    modules: BTreeSet<String>,
    first: Option<i64>,
    last: Option<i64>,
    dropped: u64,
    unsure_codes: u64,
    ambiguous: Spot,
    timed: u64,
    counts: Counts,
    operations: Operations,
    places: Places,
    rates: Rates,
    together: Together,
    tags: Tags,
    keys: Bounded<String, u64>,
    recent: Recent,
    legacy: judge::Legacy,
    bursts: judge::Bursts,
    lost: Spot,
    incomplete: Spot,
}

const PROCESSES: usize = 4096;
const MODULES: usize = 16;
const KEYS: usize = 1024;
const SHOWN_KEYS: usize = 20;

impl Default for State {
    fn default() -> Self {
        Self {
            origins: BTreeSet::new(),
            processes: Bounded::new(PROCESSES),
            modules: BTreeSet::new(),
            first: None,
            last: None,
            dropped: 0,
            unsure_codes: 0,
            ambiguous: Spot::default(),
            timed: 0,
            counts: Counts::default(),
            operations: Operations::default(),
            places: Places::default(),
            rates: Rates::default(),
            together: Together::default(),
            tags: Tags::default(),
            keys: Bounded::new(KEYS),
            recent: Recent::default(),
            legacy: judge::Legacy::default(),
            bursts: judge::Bursts::default(),
            lost: Spot::default(),
            incomplete: Spot::default(),
        }
    }
}

impl Analyzer {
    /// One that has read nothing.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            zone: options.zone.name().to_owned(),
            reader: Reader::new(options.zone),
            state: State {
                recent: Recent::of(options.recent),
                ..State::default()
            },
        }
    }

    /// Takes the next bytes of the log, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { reader, state, .. } = self;
        reader.push(bytes, |seen| state.take(seen));
    }

    /// The log has ended: what is still held is its last line.
    pub fn finish(&mut self) {
        let Self { reader, state, .. } = self;
        reader.finish(|seen| state.take(seen));
    }

    /// The calls that came last, the oldest first; as many as were asked for at most.
    #[must_use]
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = &RecentCall> {
        self.state.recent.calls()
    }

    /// Everything that is known by now.
    #[must_use]
    pub fn report(&self) -> Report {
        let state = &self.state;
        let span = state.span();
        let totals = state.counts.totals();
        let ratios = state.operations.ratios(totals.calls, &state.places);
        let tally = self.reader.tally();
        Report {
            source: state.source(&tally, &self.zone),
            total_ops: totals.calls,
            success_count: totals.done,
            error_count: totals.failed,
            incomplete_count: totals.unanswered,
            success_rate: totals.success_rate(),
            duration_stats: state.counts.durations(),
            by_function: state.counts.by_function(),
            errors: state.counts.errors(),
            latency: state.counts.latency(),
            operations: state.operations.rows(),
            throughput: state.rates.report(span, totals.calls, ratios.operations),
            concurrency: state.together.report(),
            sessions: state.places.sessions(),
            logins: state.places.logins(),
            size_queries: state.counts.size_queries(),
            nonces: state.tags.report(),
            keys: state.keys(),
            findings: judge::findings(state, &tally, &ratios),
            limits: state.limits(),
            ratios,
        }
    }
}

impl State {
    fn take(&mut self, seen: &Seen<'_>) {
        let record = &seen.record;
        self.dropped += record.dropped.unwrap_or_default();
        if record.func.starts_with("recorder:") {
            return;
        }
        self.meet(seen);
        let Some(process) = self.process(seen) else {
            return;
        };
        let function = self.counts.function(&record.func);
        let mut call = Call {
            seen,
            function,
            process,
            mech: given(seen),
            key: record.key.as_ref().map(|key| key.handle),
            nanos: record
                .duration_ns()
                .filter(|_| seen.ending == Ending::Answered),
            outcome: outcome(seen),
        };
        self.timed += u64::from(call.nanos.is_some());
        let ended = self.operations.take(&mut call);
        self.counts.take(&call);
        self.places.take(&call);
        self.rates.take(&call, ended);
        self.together.take(&call);
        self.tags.take(&call);
        self.key(&call);
        self.recent.take(&call);
        self.judge(&call);
    }

    fn meet(&mut self, seen: &Seen<'_>) {
        let origin = match seen.process.0 {
            Origin::Recorder => "recorder",
            Origin::OtherJson => "other-json",
            Origin::Spy => "pkcs11-spy",
        };
        self.origins.insert(origin);
        self.unsure_codes +=
            u64::from(seen.process.0 == Origin::OtherJson && seen.record.rv.is_some());
        if let Some(module) = &seen.record.module
            && self.modules.len() < MODULES
            && !self.modules.contains(module.as_ref())
        {
            self.modules.insert(printable(module, 128));
        }
        if let Some(time) = seen.time {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
    }

    fn process(&mut self, seen: &Seen<'_>) -> Option<u32> {
        let (origin, number) = seen.process;
        let next = u32::try_from(self.processes.len()).ok()?;
        let known = self.processes.entry((origin, number), || next);
        // Those beyond the limit share a place of their own.
        Some(known.map_or(u32::MAX, |index| *index))
    }

    fn key(&mut self, call: &Call<'_>) {
        let Some(key) = &call.seen.record.key else {
            return;
        };
        let name = match &key.tag {
            Some(tag) => printable(tag, 64),
            None => format!("handle {} of process {}", key.handle, call.process),
        };
        if let Some(count) = self.keys.entry(name, || 0) {
            *count += 1;
        }
    }

    fn judge(&mut self, call: &Call<'_>) {
        let line = call.seen.line;
        match call.seen.ending {
            Ending::Ambiguous => self.ambiguous.mark(line),
            Ending::Incomplete => self.incomplete.mark(line),
            Ending::Answered => {}
        }
        self.legacy.take(call);
        self.bursts.take(call);
        if call.code().is_some_and(judge::is_loss) {
            self.lost.mark(line);
        }
    }

    fn span(&self) -> Option<f64> {
        let nanos = self.last?.checked_sub(self.first?)?;
        Some(nanos as f64 / 1e9)
    }

    fn source(&self, tally: &Tally, zone: &str) -> Source {
        let forms: Vec<_> = self.origins.iter().copied().collect();
        let spied = self.origins.contains("pkcs11-spy");
        let answered = self.counts.totals().calls;
        Source {
            form: match forms.is_empty() {
                true => "none".to_owned(),
                false => forms.join("+"),
            },
            lines: tally.lines,
            bytes: tally.bytes,
            unreadable_lines: tally.unreadable,
            first_unreadable_line: tally.first_unreadable,
            cut_lines: tally.cut,
            torn_last_line: tally.torn,
            foreign_versions: tally.foreign.clone(),
            records: tally.records,
            dropped_records: self.dropped,
            unsure_codes: self.unsure_codes,
            processes: self.processes.len() as u64,
            modules: self.modules.iter().cloned().collect(),
            first: self.first.map(|time| moment::written(time.into())),
            last: self.last.map(|time| moment::written(time.into())),
            span_s: self.span(),
            durations: match self.timed {
                0 => "unknown",
                some if some < answered => "partly",
                _ => "measured",
            },
            time_zone: spied.then(|| zone.to_owned()),
            ambiguous_calls: self.ambiguous.count,
            secret_lines: tally.secret_lines,
        }
    }

    fn keys(&self) -> Vec<KeyRow> {
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let keys = keys.into_iter().take(SHOWN_KEYS);
        keys.map(|(key, operations)| KeyRow {
            key: key.clone(),
            operations: *operations,
        })
        .collect()
    }

    fn limits(&self) -> Vec<Limit> {
        let own = [
            limit("processes kept apart", &self.processes),
            limit("keys counted", &self.keys),
        ];
        let all = own.into_iter().chain(self.counts.limits());
        let all = all
            .chain(self.operations.limits())
            .chain(self.places.limits());
        all.filter(|limit| limit.beyond > 0).collect()
    }
}

pub(crate) fn limit<K: Eq + std::hash::Hash, V>(what: &'static str, map: &Bounded<K, V>) -> Limit {
    Limit {
        what,
        limit: map.limit() as u64,
        beyond: map.beyond(),
    }
}

fn given(seen: &Seen<'_>) -> Mech {
    match &seen.record.mech {
        None => Mech::None,
        Some(mech) => mech.value.map_or(Mech::Unnamed, Mech::Number),
    }
}

fn outcome(seen: &Seen<'_>) -> Outcome {
    match (seen.ending, seen.record.rv) {
        (Ending::Answered, Some(_)) if seen.record.size_query => Outcome::SizeQuery,
        (Ending::Answered, Some(code)) if code.is_ok() => Outcome::Done,
        (Ending::Answered, Some(_)) => Outcome::Failed,
        _ => Outcome::Unanswered,
    }
}
