//! Counts, codes and latency by function.

use std::collections::{BTreeMap, HashMap};

use keywright_pkcs11_names::explain::{Context, Explanation};
use keywright_pkcs11_names::{Function, ReturnCode};

use super::{Call, Mech, Outcome, limit};
use crate::bounded::Bounded;
use crate::moment;
use crate::reader::printable;
use crate::report::{
    Durations, ErrorRow, FunctionRow, LatencyRow, Limit, QuantileRow, SizeQueryRow,
};
use crate::series::Series;

/// Everything that is counted by function.
#[derive(Debug)]
pub(super) struct Counts {
    names: HashMap<&'static str, Function>,
    functions: Bounded<Box<str>, FunctionCount>,
    /// What has no room of its own.
    others: FunctionCount,
    errors: Bounded<(Box<str>, u64), First>,
    latency: Bounded<(Box<str>, Mech, Outcome), Series>,
    all: Series,
}

#[derive(Clone, Copy, Debug, Default)]
struct FunctionCount {
    calls: u64,
    done: u64,
    failed: u64,
    unanswered: u64,
    size_queries: u64,
    timed: u64,
    nanos: f64,
    least: u64,
    most: u64,
}

#[derive(Debug)]
struct First {
    count: u64,
    time: Option<i64>,
    line: u64,
}

/// Calls of all functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) calls: u64,
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) unanswered: u64,
}

impl Totals {
    pub(super) fn success_rate(self) -> Option<f64> {
        let answered = self.done + self.failed;
        (answered > 0).then(|| self.done as f64 * 100.0 / answered as f64)
    }
}

/// More functions than the standard has, for those of vendors.
const FUNCTIONS: usize = 256;
const ERRORS: usize = 1024;
/// Each needs up to some 200 KB.
const DISTRIBUTIONS: usize = 192;

impl Default for Counts {
    fn default() -> Self {
        Self {
            names: Function::all().map(|one| (one.name(), one)).collect(),
            functions: Bounded::new(FUNCTIONS),
            others: FunctionCount::default(),
            errors: Bounded::new(ERRORS),
            latency: Bounded::new(DISTRIBUTIONS),
            all: Series::default(),
        }
    }
}

impl Counts {
    pub(super) fn function(&self, name: &str) -> Option<Function> {
        self.names.get(name).copied()
    }

    pub(super) fn take(&mut self, call: &Call<'_>) {
        let name: Box<str> = match call.function {
            Some(function) => function.name().into(),
            None => printable(call.name(), 64).into(),
        };
        let count = self.functions.entry(name.clone(), FunctionCount::default);
        count.unwrap_or(&mut self.others).take(call);
        if let Some(nanos) = call.nanos {
            self.all.record(nanos);
            let key = (name.clone(), call.mech, call.outcome);
            if let Some(series) = self.latency.entry(key, Series::default) {
                series.record(nanos);
            }
        }
        if let Some(code) = call.code().filter(|code| !code.is_ok())
            && call.outcome != Outcome::Unanswered
        {
            let first = || First {
                count: 0,
                time: call.seen.time,
                line: call.seen.line,
            };
            if let Some(error) = self.errors.entry((name, code.value()), first) {
                error.count += 1;
            }
        }
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals {
            calls: 0,
            done: 0,
            failed: 0,
            unanswered: 0,
        };
        let all = self.functions.iter().map(|(_, count)| count);
        for count in all.chain([&self.others]) {
            totals.calls += count.calls;
            totals.done += count.done;
            totals.failed += count.failed;
            totals.unanswered += count.unanswered;
        }
        totals
    }

    pub(super) fn by_function(&self) -> BTreeMap<String, FunctionRow> {
        let whole = self.functions.iter().map(|(_, count)| count.nanos);
        let whole: f64 = whole.sum::<f64>() + self.others.nanos;
        let row = |name: &str, count: &FunctionCount| {
            let mut row = count.row(whole);
            row.unknown = !self.names.contains_key(name);
            (name.to_owned(), row)
        };
        let mut rows: BTreeMap<_, _> = self
            .functions
            .iter()
            .map(|(name, count)| row(name, count))
            .collect();
        if self.others.calls > 0 {
            rows.extend([row("other functions", &self.others)]);
        }
        rows
    }

    pub(super) fn errors(&self) -> Vec<ErrorRow> {
        let mut rows: Vec<_> = self
            .errors
            .iter()
            .map(|((name, code), first)| self.error(name, *code, first))
            .collect();
        rows.sort_by(|a, b| {
            let order = b.count.cmp(&a.count);
            order.then_with(|| (&a.func, a.rv).cmp(&(&b.func, b.rv)))
        });
        rows
    }

    fn error(&self, name: &str, code: u64, first: &First) -> ErrorRow {
        let code = ReturnCode::new(code);
        let known = Explanation::of(code);
        let context = self.function(name).map_or(Context::General, Context::of);
        ErrorRow {
            func: name.to_owned(),
            rv: code.value(),
            rv_name: code.to_string(),
            count: first.count,
            timestamp: first.time.map(|time| moment::written(time.into())),
            line: first.line,
            meaning: known.map(Explanation::meaning),
            advice: known.map(Explanation::hint),
            explain: format!(
                "keywright hsm explain-error 0x{:x} --context {}",
                code.value(),
                context.name()
            ),
        }
    }

    pub(super) fn latency(&self) -> Vec<LatencyRow> {
        let mut sorted: Vec<_> = self.latency.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        let row =
            |((name, mech, outcome), series): (&(Box<str>, Mech, Outcome), &Series)| LatencyRow {
                function: name.to_string(),
                mechanism: mech.name(),
                outcome: match outcome {
                    Outcome::Done => "ok",
                    Outcome::Failed | Outcome::Unanswered => "error",
                    Outcome::SizeQuery => "size-query",
                },
                times: series.times(),
            };
        sorted.into_iter().map(row).collect()
    }

    pub(super) fn durations(&self) -> Option<Durations> {
        let times = self.all.times();
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let at = |name: &str| {
            let mut fits = times
                .quantiles
                .iter()
                .filter(|one: &&QuantileRow| one.name == name);
            fits.next().and_then(|one| one.ns).map(ms)
        };
        let mean = times.mean_ns?;
        Some(Durations {
            n: times.n,
            total_ms: mean * times.n as f64 / 1e6,
            avg_ms: mean / 1e6,
            min_ms: ms(times.min_ns?),
            max_ms: ms(times.max_ns?),
            p50_ms: at("p50"),
            p95_ms: at("p95"),
            p99_ms: at("p99"),
        })
    }

    pub(super) fn size_queries(&self) -> Vec<SizeQueryRow> {
        let asked = self
            .functions
            .iter()
            .filter(|(_, count)| count.size_queries > 0);
        let mut rows: Vec<_> = asked
            .map(|(name, count)| SizeQueryRow {
                function: name.to_string(),
                size_queries: count.size_queries,
                calls: count.calls,
            })
            .collect();
        rows.sort_by(|a, b| {
            let order = b.size_queries.cmp(&a.size_queries);
            order.then_with(|| a.function.cmp(&b.function))
        });
        rows
    }

    pub(super) fn limits(&self) -> impl Iterator<Item = Limit> {
        [
            limit("functions kept apart", &self.functions),
            limit("codes kept apart", &self.errors),
            limit("distributions of latency", &self.latency),
        ]
        .into_iter()
    }
}

impl FunctionCount {
    fn take(&mut self, call: &Call<'_>) {
        self.calls += 1;
        match (call.outcome, call.code()) {
            (Outcome::Unanswered, _) => self.unanswered += 1,
            (_, Some(code)) if code.is_ok() => self.done += 1,
            _ => self.failed += 1,
        }
        self.size_queries += u64::from(call.outcome == Outcome::SizeQuery);
        if let Some(nanos) = call.nanos {
            self.least = match self.timed {
                0 => nanos,
                _ => self.least.min(nanos),
            };
            self.most = self.most.max(nanos);
            self.nanos += nanos as f64;
            self.timed += 1;
        }
    }

    fn row(&self, whole: f64) -> FunctionRow {
        let timed = |value: f64| (self.timed > 0).then_some(value);
        FunctionRow {
            count: self.calls,
            success_count: self.done,
            error_count: self.failed,
            incomplete_count: self.unanswered,
            size_queries: self.size_queries,
            total_duration_ms: timed(self.nanos / 1e6),
            avg_duration_ms: timed(self.nanos / self.timed.max(1) as f64 / 1e6),
            min_duration_ms: timed(self.least as f64 / 1e6),
            max_duration_ms: timed(self.most as f64 / 1e6),
            time_share: timed(self.nanos / whole).filter(|_| whole > 0.0),
            unknown: false,
        }
    }
}
