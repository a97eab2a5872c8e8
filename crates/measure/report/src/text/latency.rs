//! Distributions of times on one line.

use keywright_measure::Word;
use keywright_measure::document::{Bound, Case, Latency, Quantile};

use super::Detail;
use crate::{number, quantile};

/// Between figures on a line.
pub(super) const GAP: &str = "   ";

/// `p50 412 us [405-420]   p99 1.83 ms [1.75-1.94]   max 9.02 ms   (95 % CI, n=300,112)`.
pub(super) fn full(latency: &Latency) -> String {
    let quantiles = quantile::sorted(latency);
    let mut parts: Vec<String> = quantiles
        .iter()
        .map(|(name, _, quantile)| one(name, quantile))
        .collect();
    parts.extend(ends(latency));
    if quantiles
        .iter()
        .any(|(.., quantile)| quantile.lo.is_some() && quantile.hi.is_some())
    {
        parts.push(format!("(95 % CI, n={})", number::count(latency.n)));
    } else if quantiles
        .iter()
        .any(|(.., quantile)| quantile.bound != Bound::AtLeast)
        || quantiles.is_empty()
    {
        parts.push(format!("(n={})", number::count(latency.n)));
    }
    if let Some(k) = latency.batch_k.filter(|k| *k > 1) {
        parts.push(format!(
            "percentiles of batch means, k = {}",
            number::count(k)
        ));
    }
    parts.join(GAP)
}

/// The mean where nothing else is known, and the largest.
fn ends(latency: &Latency) -> Vec<String> {
    let mut parts = Vec::new();
    if let (true, Some(mean)) = (latency.quantiles.is_empty(), latency.mean_ns) {
        parts.push(format!("mean {}", number::time(mean)));
    }
    parts.extend(
        latency
            .max_ns
            .map(|max| format!("max {}", number::nanoseconds(max))),
    );
    parts
}

/// The same without intervals, and only the quantiles asked for.
pub(super) fn short(latency: &Latency, detail: Detail) -> String {
    let shown = |name: &str| detail == Detail::Verbose || matches!(name, "p50" | "p99");
    let mut parts: Vec<String> = quantile::sorted(latency)
        .into_iter()
        .filter(|(name, ..)| shown(name))
        .map(|(name, _, quantile)| format!("{name} {}", quantile::text(quantile)))
        .collect();
    if parts.is_empty() {
        parts = ends(latency);
    }
    parts.join(GAP)
}

fn one(name: &str, quantile: &Quantile) -> String {
    let mut out = format!("{name} {}", quantile::text(quantile));
    if let (Some(value), Some(lo), Some(hi)) =
        (quantile::nanoseconds(quantile), quantile.lo, quantile.hi)
    {
        let scale = number::time_scale(value);
        let end = |ns: u64, ps: Option<u64>| match (scale.unit, ps) {
            ("ns", None) => number::count(ns),
            (_, None) => number::significant(number::float(ns) / scale.factor, 3),
            (_, Some(ps)) => number::significant(number::float(ps) / 1e3 / scale.factor, 3),
        };
        out += &format!(" [{}-{}]", end(lo, quantile.lo_ps), end(hi, quantile.hi_ps));
    }
    out
}

/// The service line. Where the cap on operations in flight decided it, there is nothing else to say than
/// that: the mean is then the cap over the rate, whatever the target does.
pub(super) fn set_by_cap(case: &Case) -> Option<String> {
    let pinned = case.verdicts.contains(&Word::ConcurrencyLimited)
        && case.load.cap > 0
        && case.achieved_per_s > 0.0;
    pinned.then(|| {
        let mean = number::float(case.load.cap) / case.achieved_per_s * 1e9;
        let scale = number::time_scale(mean);
        format!(
            "service mean about {} {} = {} / {}: set by the cap, do not quote",
            number::significant(mean / scale.factor, 2),
            scale.unit,
            number::count(case.load.cap),
            number::plain(case.achieved_per_s),
        )
    })
}

/// `lateness p99 22 us (pacer p99 9 us)`, and of the means what is not the pacer: means can be subtracted,
/// quantiles cannot.
pub(super) fn lateness(case: &Case) -> Option<String> {
    let lateness = case.lateness.as_ref()?;
    let mut out = format!("lateness p99 {}", quantile::cell(Some(lateness), "p99"));
    let Some(pacer) = &case.pacer else {
        return Some(out);
    };
    out += &format!(" (pacer p99 {}", quantile::cell(Some(pacer), "p99"));
    if let (Some(all), Some(own)) = (lateness.mean_ns, pacer.mean_ns) {
        let wait = (all - own).max(0.0);
        out += &format!(
            "; mean {} = pacer {} + slot wait {}",
            number::time(all),
            number::time(own),
            number::time(wait)
        );
    }
    Some(out + ")")
}
