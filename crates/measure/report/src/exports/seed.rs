//! The JSON and CSV of the token benchmark this engine took as its first model, and a reader of its JSON.
//!
//! The form has milliseconds as decimals and no place for a bound, an interval, a run or a verdict. What it
//! cannot say is null or empty here. Its own program rounds to two decimals; here as many are written as
//! there are nanoseconds, so that a fast operation is not `0.00`. What is read from it can serve as a
//! baseline for the eye, and says of itself that it knows nothing about the spread between runs.
//!
//! Its figures follow from each other, as they do in the program that made it: `total_duration` is the time
//! spent in the operations, `avg_latency_ms` that over `iterations`, and `ops_per_sec` its inverse. They are
//! of all runs together, and quantiles are given however few values lie beyond them. [`json_beside`] and
//! [`csv_beside`] have the figures of this engine beside these.

use keywright_encoding::terminal::escaped_json;
use keywright_measure::Word;
use keywright_measure::document::{
    Bound, Case, Counts, Document, Environment, Latency, LoadRecord, Quantile, Remark, Run, SCHEMA,
    SCHEMA_VERSION,
};
use keywright_measure::hdr;
use keywright_measure::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::tree::Tree;
use crate::{Error, csv, json, number, quantile};

#[derive(Serialize, Deserialize)]
struct Results {
    metadata: Metadata,
    results: Vec<Line>,
}

/// Both forms in one.
#[derive(Serialize)]
struct Both {
    #[serde(flatten)]
    document: Document,
    #[serde(flatten)]
    results: Results,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Metadata {
    timestamp: String,
    token_label: String,
    iterations_per_test: Option<u64>,
    warmup_iterations: Option<u64>,
    system_info: System,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct System {
    os: String,
    os_version: String,
    cpu_count: u32,
    total_memory_mb: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Line {
    name: String,
    iterations: u64,
    total_duration: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    percentiles: BTreeMap<String, Option<f64>>,
    ops_per_sec: Option<f64>,
    avg_latency_ms: Option<f64>,
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
}

/// The document as that JSON.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn json(document: &Document) -> Result<String, Error> {
    let results = Results {
        metadata: metadata(document),
        results: document.cases.iter().map(line).collect(),
    };
    serde_json::to_string_pretty(&results)
        .map(|text| escaped_json(&text).into_owned() + "\n")
        .map_err(Error::Unwritable)
}

/// The document as this engine's JSON with the members of that JSON, `metadata` and `results`, beside its own.
/// [`json::read`] takes it for the former, readers of the latter find theirs.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn json_beside(document: &Document) -> Result<String, Error> {
    let results = Results {
        metadata: metadata(document),
        results: document.cases.iter().map(line).collect(),
    };
    let both = Both {
        document: json::current(document),
        results,
    };
    serde_json::to_string_pretty(&both)
        .map(|text| escaped_json(&text).into_owned() + "\n")
        .map_err(Error::Unwritable)
}

/// The columns of that CSV.
const COLUMNS: &str = "operation,iterations,ops_per_sec,avg_ms,p50_ms,p95_ms,p99_ms,min_ms,max_ms";
/// Columns of this engine behind them.
const MORE_COLUMNS: &str =
    "runs,achieved_per_s,achieved_lo,achieved_hi,errors,wrong,baseline_per_s,diff_percent,verdict";

/// The document as that CSV.
#[must_use]
pub fn csv(document: &Document) -> String {
    let mut out = format!("{COLUMNS}\n");
    for case in &document.cases {
        out += &format!("{}\n", row(case));
    }
    out
}

/// The same with columns of this engine's figures behind the others.
#[must_use]
pub fn csv_beside(document: &Document) -> String {
    let mut out = format!("{COLUMNS},{MORE_COLUMNS}\n");
    for case in &document.cases {
        out += &format!("{},{}\n", row(case), more(document, case));
    }
    out
}

fn more(document: &Document, case: &Case) -> String {
    let figure = |value: Option<f64>| csv::float(value);
    let interval = case.achieved_interval.as_ref();
    let counts = &case.counts;
    let compared = document
        .comparison
        .iter()
        .find(|one| one.case == case.id && matches!(one.metric.as_str(), "throughput" | "figure"));
    let verdict = compared
        .and_then(|one| one.verdict)
        .or_else(|| case.verdicts.first().copied());
    [
        case.runs.len().to_string(),
        figure(Some(case.achieved_per_s)),
        figure(interval.map(|interval| interval.lo)),
        figure(interval.map(|interval| interval.hi)),
        (counts.error + counts.timeout + counts.censored).to_string(),
        counts.wrong.to_string(),
        figure(compared.map(|one| one.baseline)),
        figure(compared.map(|one| 100.0 * (one.current / one.baseline - 1.0))),
        verdict.map_or_else(String::new, |word| word.text().to_owned()),
    ]
    .join(",")
}

fn row(case: &Case) -> String {
    let figure = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let line = line(case);
    let times = [
        line.avg_latency_ms,
        line.p50_ms,
        line.p95_ms,
        line.p99_ms,
        line.min,
        line.max,
    ];
    let times: Vec<String> = times.into_iter().map(figure).collect();
    let (name, rate) = (field(&line.name), figure(line.ops_per_sec));
    format!("{name},{},{rate},{}", line.iterations, times.join(","))
}

fn metadata(document: &Document) -> Metadata {
    let environment = &document.environment;
    let first = document.cases.first();
    let load = first.map(|case| &case.load);
    let target = first.map_or("", |case| case.target.as_str());
    let label = environment
        .targets
        .get(target)
        .and_then(|facts| facts.get("label"));
    let (os, version) = environment
        .os
        .split_once(' ')
        .unwrap_or((&environment.os, ""));
    Metadata {
        timestamp: document.run.started.clone(),
        token_label: label.map_or_else(|| target.to_owned(), Clone::clone),
        // Of all runs, as `iterations` of a result.
        iterations_per_test: first.map(|case| case.counts.sent),
        warmup_iterations: load.and_then(|load| match load.warmup_operations {
            // A warm-up by time has no count.
            None => (load.warmup_ns == 0).then_some(0),
            count => count,
        }),
        system_info: System {
            os: os.to_owned(),
            os_version: version.to_owned(),
            cpu_count: environment.cores,
            total_memory_mb: environment.memory_bytes >> 20,
        },
    }
}

/// What that benchmark calls the cases of the suites that have its rows.
const TITLES: &[(&str, &str)] = &[
    ("sign/rsa-2048/pkcs1-sha256", "RSA-2048 Sign"),
    ("sign/rsa-4096/pkcs1-sha256", "RSA-4096 Sign"),
    ("sign/p-256/ecdsa-sha256", "ECDSA-P-256 Sign"),
    ("sign/p-384/ecdsa-sha384", "ECDSA-P-384 Sign"),
    ("verify/rsa-2048/pkcs1-sha256", "RSA-2048 Verify"),
    ("verify/p-256/ecdsa-sha256", "ECDSA-P256 Verify"),
    ("encrypt/rsa-2048/pkcs1", "RSA-2048 Encrypt"),
    ("encrypt/aes-256/gcm", "AES-256-GCM Encrypt (1KB)"),
    ("hash/sha-256", "SHA-256 Hash (1KB)"),
    ("hash/sha-384", "SHA-384 Hash (1KB)"),
    ("hash/sha-512", "SHA-512 Hash (1KB)"),
    ("mac/hmac-sha256", "HMAC-SHA256"),
    ("mac/aes-cmac", "AES-CMAC"),
    ("random/32", "Random (32 bytes)"),
    ("sizes/aes-256/gcm/10k", "AES-256-GCM Encrypt (10KB)"),
    ("sizes/aes-256/gcm/100k", "AES-256-GCM Encrypt (100KB)"),
    ("sizes/aes-256/gcm/1m", "AES-256-GCM Encrypt (1MB)"),
    ("sizes/sha-256/10k", "SHA-256 Hash (10KB)"),
    ("sizes/sha-256/100k", "SHA-256 Hash (100KB)"),
    ("sizes/sha-256/1m", "SHA-256 Hash (1MB)"),
];

/// What that benchmark calls a case; its own id where that benchmark does not have it.
#[must_use]
pub fn title(id: &str) -> &str {
    let known = TITLES.iter().find(|(known, _)| *known == id);
    known.map_or(id, |(_, title)| title)
}

/// Whether a document has figures alone, as what [`read()`] gives: it names neither the program nor the runs
/// behind any figure, so that it can be looked at beside another one, and decide nothing.
#[must_use]
pub fn is_figures_alone(document: &Document) -> bool {
    document.tool.name.is_empty() && document.cases.iter().all(|case| case.runs.is_empty())
}

/// A name in that CSV, which quotes only what would end the field or start a formula.
fn field(name: &str) -> String {
    let bare = name.replace(' ', "");
    if csv::text(&bare) == bare {
        name.to_owned()
    } else {
        csv::text(name)
    }
}

/// Operations a second as that benchmark has it: of the time spent in them, by the workers that did them side by
/// side. In an open load, and where one operation is of many units, it is what was achieved.
#[must_use]
pub fn rate(case: &Case) -> Option<f64> {
    let single = matches!(case.unit.as_str(), "" | "operations");
    let mean = case.headline().and_then(|times| times.mean_ns);
    let rate = match mean.filter(|mean| *mean > 0.0) {
        Some(mean) if single && case.load.mode == "closed" => {
            number::float(case.load.cap.max(1)) * 1e9 / mean
        }
        _ => case.achieved_per_s,
    };
    Some(rate).filter(|rate| rate.is_finite())
}

fn line(case: &Case) -> Line {
    let milliseconds = |ns: f64| Some(ns / 1e6).filter(|ms| ms.is_finite());
    let none = Latency::default();
    let times = case.headline().unwrap_or(&none);
    let figures = Figures::of(times);
    let given = |name: &str| figures.quantile(name).and_then(milliseconds);
    let done = case.counts.answered();
    let rate = rate(case);
    Line {
        name: title(&case.id).to_owned(),
        iterations: done,
        total_duration: rate
            .filter(|rate| *rate > 0.0)
            .map(|rate| number::float(done) / rate * 1e3),
        min: times.min_ns.map(number::float).and_then(milliseconds),
        max: times.max_ns.map(number::float).and_then(milliseconds),
        percentiles: ["p50", "p95", "p99"]
            .map(|name| (name.to_owned(), given(name)))
            .into(),
        ops_per_sec: rate,
        avg_latency_ms: times.mean_ns.and_then(milliseconds),
        p50_ms: given("p50"),
        p95_ms: given("p95"),
        p99_ms: given("p99"),
    }
}

/// Quantiles of a distribution, also where too few values lie beyond them: they are read off the histogram then.
struct Figures<'a> {
    times: &'a Latency,
    histogram: Option<Histogram>,
}

impl<'a> Figures<'a> {
    fn of(times: &'a Latency) -> Self {
        let withheld = times
            .quantiles
            .values()
            .any(|quantile| quantile.bound == Bound::TooFewSamples);
        let histogram = times.hdr.as_deref().filter(|_| withheld);
        Self {
            times,
            histogram: histogram.and_then(|text| hdr::decode(text).ok()),
        }
    }

    fn quantile(&self, name: &str) -> Option<f64> {
        let known = self.times.quantile(name);
        if known.is_some_and(|quantile| quantile.bound != Bound::TooFewSamples) {
            return quantile::exact(self.times, name);
        }
        let value = self.histogram.as_ref()?.quantile(quantile::level(name)?)?;
        let per_nano = match self.times.batch_k {
            Some(2..) => 1e3,
            _ => 1.0,
        };
        Some(number::float(value) / per_nano)
    }
}

/// Reads that JSON as a document that can be a baseline.
///
/// A time of zero is one that was rounded away, so it counts as unknown; a quantile is withheld where fewer
/// than ten values can lie beyond it.
///
/// # Errors
/// [`Error::TooLarge`], [`Error::Malformed`], [`Error::NotAResult`] if it is JSON of something else, and
/// [`Error::ImpossibleFigure`] for a time or rate that is negative or too large to be one.
pub fn read(bytes: &[u8]) -> Result<Document, Error> {
    let tree = json::tree(bytes)?;
    if tree.member("metadata").is_none() || !matches!(tree.member("results"), Some(Tree::List(_))) {
        return Err(Error::NotAResult);
    }
    let results = Results::deserialize(tree).map_err(Error::Malformed)?;
    let metadata = &results.metadata;
    let cases = results
        .results
        .iter()
        .zip(1..)
        .map(|(line, place)| case(metadata, line, place));
    Ok(Document {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION.to_owned(),
        run: Run {
            started: metadata.timestamp.clone(),
            ..Run::default()
        },
        environment: Environment {
            os: format!(
                "{} {}",
                metadata.system_info.os, metadata.system_info.os_version
            )
            .trim()
            .to_owned(),
            cores: metadata.system_info.cpu_count,
            machine_cores: metadata.system_info.cpu_count,
            memory_bytes: metadata.system_info.total_memory_mb.saturating_mul(1 << 20),
            ..Environment::default()
        },
        cases: cases.collect::<Result<_, _>>()?,
        verdicts: vec![Word::ClosedLoop, Word::SingleRun],
        validity: vec![Remark {
            word: Some(Word::SingleRun),
            text: "read from a form without run-level data: spread between runs is not known"
                .to_owned(),
            remedy: Some(
                "measure the baseline again with this program: --format json, or -o FILE.json"
                    .to_owned(),
            ),
            case: None,
        }],
        ..Document::default()
    })
}

fn case(metadata: &Metadata, line: &Line, place: usize) -> Result<Case, Error> {
    let impossible = |field| Error::ImpossibleFigure { place, field };
    let rate = line.ops_per_sec.unwrap_or(f64::NAN);
    if rate < 0.0 || rate.is_infinite() {
        return Err(impossible("ops_per_sec"));
    }
    let name = usual(&line.name);
    Ok(Case {
        id: name.clone(),
        op: name,
        target: metadata.token_label.clone(),
        unit: "operations".to_owned(),
        load: LoadRecord {
            mode: "closed".to_owned(),
            cap: 1,
            iterations: Some(line.iterations),
            ..LoadRecord::default()
        },
        counts: Counts {
            planned: line.iterations,
            sent: line.iterations,
            unverified: line.iterations,
            ..Counts::default()
        },
        achieved_per_s: rate,
        service: Some(times(line).map_err(impossible)?),
        verdicts: vec![Word::ClosedLoop, Word::SingleRun],
        ..Case::default()
    })
}

/// The name that a row of that benchmark has in its newer results: its pages and older files call the same row
/// differently, with `Signing` for `Sign`, with and without a hyphen in a curve's name, or without the size.
fn usual(name: &str) -> String {
    let name = match name.strip_suffix(" Signing") {
        Some(key) => format!("{key} Sign"),
        None => name.to_owned(),
    };
    let known = match name.as_str() {
        "ECDSA-P256 Sign" => "ECDSA-P-256 Sign",
        "ECDSA-P384 Sign" => "ECDSA-P-384 Sign",
        "ECDSA-P-256 Verify" => "ECDSA-P256 Verify",
        "AES-GCM Encrypt" | "AES-256-GCM Encrypt" => "AES-256-GCM Encrypt (1KB)",
        "SHA-256" | "SHA-256 Hash" => "SHA-256 Hash (1KB)",
        "SHA-384" | "SHA-384 Hash" => "SHA-384 Hash (1KB)",
        "SHA-512" | "SHA-512 Hash" => "SHA-512 Hash (1KB)",
        _ => return name,
    };
    known.to_owned()
}

fn times(line: &Line) -> Result<Latency, &'static str> {
    let mut latency = Latency {
        n: line.iterations,
        min_ns: nanoseconds(line.min).ok_or("min")?,
        max_ns: nanoseconds(line.max).ok_or("max")?,
        mean_ns: nanoseconds(line.avg_latency_ms)
            .ok_or("avg_latency_ms")?
            .map(number::float),
        ..Latency::default()
    };
    let named = [
        ("p50", line.p50_ms),
        ("p95", line.p95_ms),
        ("p99", line.p99_ms),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value));
    let listed = line
        .percentiles
        .iter()
        .map(|(name, value)| (name.clone(), *value));
    for (name, ms) in listed.chain(named.into_iter().filter(|(_, value)| value.is_some())) {
        let key = format!("{name}_ns");
        let Some(level) = quantile::level(&key) else {
            continue;
        };
        let value = nanoseconds(ms).ok_or("percentile")?;
        let beyond = number::float(line.iterations) * (1.0 - level);
        let carried = value.is_some() && beyond > 9.999;
        latency.quantiles.insert(
            key,
            Quantile {
                value: value.filter(|_| carried),
                n: line.iterations,
                bound: if carried {
                    Bound::Exact
                } else {
                    Bound::TooFewSamples
                },
                ..Quantile::default()
            },
        );
    }
    Ok(latency)
}

/// Nanoseconds of milliseconds. The outer `None` is an impossible time, the inner one an unknown one.
fn nanoseconds(ms: Option<f64>) -> Option<Option<u64>> {
    /// A year.
    const LONGEST: f64 = 3.2e16;
    let ns = match ms {
        None => return Some(None),
        Some(ms) => ms * 1e6,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked just before"
    )]
    let whole = (0.0..LONGEST).contains(&ns).then(|| ns.round() as u64);
    whole.map(|ns| (ns > 0).then_some(ns))
}
