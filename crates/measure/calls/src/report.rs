//! What was found in a log, as data. The JSON form is these types.
//!
//! `total_ops` to `errors` have the names and units of the tool that the command line follows; times elsewhere are
//! nanoseconds. A figure that is not known is absent, never zero.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::Finding;

/// Everything about a log.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What was read.
    pub source: Source,
    /// Calls.
    pub total_ops: u64,
    /// Calls that answered `CKR_OK`.
    pub success_count: u64,
    /// Calls that answered another code.
    pub error_count: u64,
    /// Calls without an answer.
    pub incomplete_count: u64,
    /// Per cent of the calls that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
    /// Of all calls whose duration is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_stats: Option<Durations>,
    /// By function.
    pub by_function: BTreeMap<String, FunctionRow>,
    /// By function and code, the most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Latency of calls by function, mechanism and how they ended.
    pub latency: Vec<LatencyRow>,
    /// Latency of whole operations: `Init`, `Update` and `Final` added up.
    pub operations: Vec<OperationRow>,
    /// Calls over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Calls that ran at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// Sessions.
    pub sessions: Sessions,
    /// Logins.
    pub logins: Logins,
    /// Calls per operation.
    pub ratios: Ratios,
    /// Calls that only asked for a length.
    pub size_queries: Vec<SizeQueryRow>,
    /// Nonces.
    pub nonces: Nonces,
    /// The keys that were used most, by their tag or handle.
    pub keys: Vec<KeyRow>,
    /// What to change, the heaviest first.
    pub findings: Vec<Finding>,
    /// What did not fit into the memory that is given to it.
    pub limits: Vec<Limit>,
}

impl Report {
    /// Whether there were lines, and none of them is of a log: not a call, and not a record of another kind or version.
    /// Nothing at all is an empty log, and no other file.
    #[must_use]
    pub const fn is_of_no_log(&self) -> bool {
        let source = &self.source;
        let strange = source.unreadable_lines > 0 || source.cut_lines > 0 || source.torn_last_line;
        strange && self.total_ops == 0 && source.records == 0
    }
}

/// What was read.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// `recorder`, `other-json`, `pkcs11-spy`, several with `+` between, or `none`.
    pub form: String,
    /// Lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
    /// Lines that say nothing that is understood.
    pub unreadable_lines: u64,
    /// The first of them, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unreadable_line: Option<u64>,
    /// Lines that were too long.
    pub cut_lines: u64,
    /// The last line has no end and is no record.
    pub torn_last_line: bool,
    /// Records of versions that are not known, by version; not looked into.
    pub foreign_versions: BTreeMap<String, u64>,
    /// Records in JSON, notes of the recorder and those of other versions among them.
    #[serde(skip)]
    pub(crate) records: u64,
    /// Records that the recorder says it could not write.
    pub dropped_records: u64,
    /// Records whose codes are of a tool that was seen to write its own numbers instead of return codes.
    pub unsure_codes: u64,
    /// Processes, or runs of the spy.
    pub processes: u64,
    /// Modules that were called.
    pub modules: Vec<String>,
    /// When the first call began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// When the last call began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_s: Option<f64>,
    /// Whether durations are `measured`, `partly` so, or `unknown`.
    pub durations: &'static str,
    /// The zone that local times were taken to be in, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Calls of the spy between whose lines others stand: what belongs to which is not known.
    pub ambiguous_calls: u64,
    /// Lines of the spy that can hold a secret, of which nothing was kept.
    pub secret_lines: u64,
}

/// Durations in milliseconds.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Durations {
    pub n: u64,
    pub total_ms: f64,
    pub avg_ms: f64,
    pub min_ms: f64,
    pub max_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
}

/// A function.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct FunctionRow {
    pub count: u64,
    pub success_count: u64,
    pub error_count: u64,
    pub incomplete_count: u64,
    pub size_queries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg_duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<f64>,
    /// Of the time of all calls, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_share: Option<f64>,
    /// Whether the standard has no such function.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// A code of a function.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct ErrorRow {
    pub func: String,
    pub rv: u64,
    pub rv_name: String,
    pub count: u64,
    /// The first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The line of the first, from 1.
    pub line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
    /// The command that says more.
    pub explain: String,
}

/// Times of one kind of call or operation.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Times {
    pub n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    pub quantiles: Vec<QuantileRow>,
}

/// A quantile with its 95 % interval. Without a value there are fewer than ten samples beyond it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct QuantileRow {
    pub name: String,
    pub ns: Option<u64>,
    pub lo_ns: Option<u64>,
    pub hi_ns: Option<u64>,
}

/// Latency of a function with a mechanism.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct LatencyRow {
    pub function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// `ok`, `error` or `size-query`.
    pub outcome: &'static str,
    #[serde(flatten)]
    pub times: Times,
}

/// Operations of one kind.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct OperationRow {
    pub operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    pub completed: u64,
    pub failed: u64,
    /// Begun, and another one begun in its place.
    pub abandoned: u64,
    /// Of those that were completed and whose every call was measured.
    #[serde(flatten)]
    pub times: Times,
}

/// Calls over time.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Throughput {
    /// From the first call to the last.
    pub calls_per_s: Option<f64>,
    pub operations_per_s: Option<f64>,
    pub bin_s: u64,
    /// Those with a call in them.
    pub bins: Vec<Bin>,
}

/// A stretch of time.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Bin {
    pub start: String,
    pub calls: u64,
    pub errors: u64,
    pub operations: u64,
}

/// Calls at the same time, within a process.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Concurrency {
    pub most: usize,
    /// While there was at least one.
    pub mean: f64,
    /// Shares of the time with a call in progress, by how many there were; the last stands for all above.
    pub shares: Vec<f64>,
    /// Calls that came too late in the log to be placed.
    pub late: u64,
}

/// Sessions.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Sessions {
    pub opened: u64,
    pub closed: u64,
    /// By `C_CloseAllSessions`.
    pub closed_together: u64,
    /// Still open when their process called `C_Finalize`.
    pub leaked: u64,
    /// Still open where the log ends.
    pub still_open: u64,
    pub most_open: u64,
}

/// Logins.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Logins {
    pub succeeded: u64,
    pub wrong_pin: u64,
    pub failed_otherwise: u64,
    pub logouts: u64,
    /// Tries right after a wrong PIN for the same slot and user.
    pub after_wrong_pin: u64,
}

/// Calls per operation; absent without operations.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Ratios {
    /// Operations on data and keys, searches not counted.
    pub operations: u64,
    pub searches: u64,
    pub calls_per_operation: Option<f64>,
    pub searches_per_operation: Option<f64>,
    pub logins_per_operation: Option<f64>,
    pub sessions_per_operation: Option<f64>,
}

/// Calls of a function that only asked for a length.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SizeQueryRow {
    pub function: String,
    pub size_queries: u64,
    pub calls: u64,
}

/// Nonces of encryption, by their tags.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Nonces {
    pub seen: u64,
    pub reused: u64,
    /// The share of nonces that are remembered and compared: 1 until there are very many.
    pub compared_share: f64,
}

/// A key.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct KeyRow {
    pub key: String,
    pub operations: u64,
}

/// Something that there was no room for.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Limit {
    pub what: &'static str,
    pub limit: u64,
    /// How often something did not fit.
    pub beyond: u64,
}
