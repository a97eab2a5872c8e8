//! Every figure of a case with its name and unit.

use keywright_measure::document::{Bound, Case, Comparison, Counts, Interval, Latency, Model};

use super::float;
use crate::quantile;

/// A figure. Numbers are kept as the text they are written as.
pub(super) struct Figure {
    metric: String,
    value: String,
    unit: String,
    lo: String,
    hi: String,
    n: String,
    bound: &'static str,
}

impl Figure {
    fn new(metric: impl Into<String>, value: String, unit: &'static str) -> Self {
        let none = String::new;
        Self {
            metric: metric.into(),
            value,
            unit: unit.to_owned(),
            lo: none(),
            hi: none(),
            n: none(),
            bound: "exact",
        }
    }

    fn between(mut self, interval: Option<&Interval>) -> Self {
        self.lo = float(interval.map(|interval| interval.lo));
        self.hi = float(interval.map(|interval| interval.hi));
        self
    }

    fn of(mut self, n: u64) -> Self {
        self.n = n.to_string();
        self
    }

    /// `metric,value,unit,lo,hi,n,bound`.
    pub(super) fn fields(self) -> [String; 7] {
        let bound = self.bound.to_owned();
        [
            super::text(&self.metric),
            self.value,
            self.unit,
            self.lo,
            self.hi,
            self.n,
            bound,
        ]
    }
}

/// In the order of the document.
pub(super) fn of(case: &Case) -> Vec<Figure> {
    let mut out = vec![
        Figure::new("achieved", float(Some(case.achieved_per_s)), "per_s")
            .between(case.achieved_interval.as_ref())
            .of(u64::try_from(case.runs.len()).unwrap_or(0)),
    ];
    if let Some(value) = case.figure {
        let mut figure = Figure::new("figure", float(Some(value)), "");
        figure.unit = super::text(&case.unit);
        out.push(figure);
    }
    let floats = [
        ("bytes", case.bytes_per_s, "bytes_per_s"),
        ("cpu", case.cpu_ns_per_unit, "ns"),
        ("little", case.checks.little_percent, "percent"),
        ("ceiling", case.checks.ceiling_percent, "percent"),
        ("noise", case.checks.noise_percent, "percent"),
        ("drift_p", case.checks.drift_p, "probability"),
        (
            "autocorrelation",
            case.checks.autocorrelation,
            "coefficient",
        ),
    ];
    out.extend(counts(&case.counts));
    for (metric, value, unit) in floats {
        out.extend(value.map(|value| Figure::new(metric, float(Some(value)), unit)));
    }
    for (kind, latency) in latencies(case) {
        out.extend(times(kind, latency));
    }
    out.extend(case.model.as_ref().map(model).unwrap_or_default());
    out
}

/// What a case was compared with: the other side's value, the difference in percent of it, and the ratio,
/// current over baseline, with its ends where there was more than one figure to take them from.
pub(super) fn compared(case: &Case, comparison: &Comparison) -> Vec<Figure> {
    let metric = &comparison.metric;
    let unit = match metric.as_str() {
        "throughput" => "per_s",
        "figure" => "",
        _ => "ns",
    };
    let Comparison {
        current, baseline, ..
    } = *comparison;
    let mut other = Figure::new(format!("{metric}_baseline"), float(Some(baseline)), unit);
    if unit.is_empty() {
        other.unit = super::text(&case.unit);
    }
    let percent = 100.0 * (current / baseline - 1.0);
    let ratio = float(Some(comparison.ratio));
    vec![
        other,
        Figure::new(format!("{metric}_diff"), float(Some(percent)), "percent"),
        Figure::new(format!("{metric}_ratio"), ratio, "ratio")
            .between(comparison.interval.as_ref()),
    ]
}

/// The distributions of a case by name.
fn latencies(case: &Case) -> Vec<(&'static str, &Latency)> {
    let all = [
        ("response", &case.response),
        ("service", &case.service),
        ("lateness", &case.lateness),
        ("pacer", &case.pacer),
        ("error_latency", &case.error_latency),
    ];
    all.into_iter()
        .filter_map(|(name, latency)| Some((name, latency.as_ref()?)))
        .collect()
}

fn counts(counts: &Counts) -> impl Iterator<Item = Figure> {
    [
        ("planned", counts.planned),
        ("sent", counts.sent),
        ("never_sent", counts.never_sent),
        ("verified", counts.verified),
        ("unverified", counts.unverified),
        ("wrong", counts.wrong),
        ("error", counts.error),
        ("timeout", counts.timeout),
        ("censored", counts.censored),
    ]
    .into_iter()
    .map(|(metric, n)| Figure::new(metric, n.to_string(), "count"))
}

fn times(kind: &str, latency: &Latency) -> Vec<Figure> {
    let whole = |ns: Option<u64>| ns.map_or_else(String::new, |ns| ns.to_string());
    let mut out = Vec::new();
    for (name, _, quantile) in quantile::sorted(latency) {
        let mut figure = Figure::new(
            format!("{kind}_{name}"),
            float(quantile::nanoseconds(quantile)),
            "ns",
        )
        .of(quantile.n);
        if quantile.bound != Bound::TooFewSamples {
            (figure.lo, figure.hi) = (whole(quantile.lo), whole(quantile.hi));
        }
        figure.bound = quantile::bound(quantile.bound);
        out.push(figure);
    }
    let others = [
        ("min", whole(latency.min_ns)),
        ("max", whole(latency.max_ns)),
        ("mean", float(latency.mean_ns)),
        ("mad", whole(latency.mad_ns)),
    ];
    let others = others.into_iter().filter(|(_, value)| !value.is_empty());
    out.extend(
        others
            .map(|(name, value)| Figure::new(format!("{kind}_{name}"), value, "ns").of(latency.n)),
    );
    if let Some(found) = &latency.outliers {
        let counts = [
            ("low_severe", found.low_severe),
            ("low_mild", found.low_mild),
            ("high_mild", found.high_mild),
            ("high_severe", found.high_severe),
        ];
        out.extend(counts.map(|(name, n)| {
            let metric = format!("{kind}_outliers_{name}");
            Figure::new(metric, n.to_string(), "count").of(latency.n)
        }));
    }
    out
}

/// The figures a model comes down to; its points stay in the JSON form.
fn model(model: &Model) -> Vec<Figure> {
    let some = |name: &str, value: Option<f64>, unit| {
        value.map(|value| Figure::new(name, float(Some(value)), unit))
    };
    let found: Vec<Option<Figure>> = match model {
        Model::Saturation(model) => vec![
            some("capacity_passing", model.highest_passing_per_s, "per_s"),
            some("capacity_failing", model.lowest_failing_per_s, "per_s"),
            some("knee", model.knee_per_s, "per_s"),
        ],
        Model::Scaling(model) => vec![
            some("usl_lambda", Some(model.lambda), "per_s"),
            some("usl_sigma", Some(model.sigma), "coefficient"),
            some("usl_kappa", Some(model.kappa), "coefficient"),
            some("best_threads", model.best_threads, "threads"),
        ],
        Model::Size(model) => vec![
            some("per_call", Some(model.call_ns), "ns")
                .map(|f| f.between(model.call_interval.as_ref())),
            some("per_byte", Some(model.byte_ns), "ns")
                .map(|f| f.between(model.byte_interval.as_ref())),
        ],
        Model::Recovery(model) => vec![
            some(
                "recovery",
                model.recovery_ns.map(crate::number::float),
                "ns",
            ),
            some("latency_debt", Some(model.latency_debt_s), "s"),
        ],
        Model::Breakdown(model) => model
            .phases
            .iter()
            .map(|phase| some(&format!("phase_{}", phase.name), Some(phase.mean_ns), "ns"))
            .collect(),
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}
