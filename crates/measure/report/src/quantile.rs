//! Quantiles by their names: `p50_ns`, `p99.9_ns`.

use keywright_measure::document::{Bound, Latency, Quantile};

use crate::number;

/// The share below a quantile of this key, if the key is one.
pub(crate) fn level(key: &str) -> Option<f64> {
    let digits = key.strip_prefix('p')?.trim_end_matches("_ns");
    let percent: f64 = digits.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

/// The key without its unit.
pub(crate) fn name(key: &str) -> &str {
    key.strip_suffix("_ns").unwrap_or(key)
}

/// All quantiles of a distribution from the lowest to the highest: name, level, quantile.
pub(crate) fn sorted(latency: &Latency) -> Vec<(&str, f64, &Quantile)> {
    let mut all: Vec<_> = latency
        .quantiles
        .iter()
        .filter_map(|(key, quantile)| Some((name(key), level(key)?, quantile)))
        .collect();
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all
}

/// The quantile in nanoseconds with fractions where it is known in picoseconds.
pub(crate) fn nanoseconds(quantile: &Quantile) -> Option<f64> {
    match (quantile.bound, quantile.value_ps, quantile.value) {
        (Bound::TooFewSamples, ..) => None,
        (_, Some(ps), _) => Some(number::float(ps) / 1e3),
        (_, None, value) => value.map(number::float),
    }
}

/// The quantile where it is the figure itself: neither a bound nor withheld.
pub(crate) fn exact(latency: &Latency, name: &str) -> Option<f64> {
    let quantile = latency.quantile(name)?;
    if quantile.bound == Bound::Exact {
        nanoseconds(quantile)
    } else {
        None
    }
}

/// The quantile for people: `412 us`, `>= 11.8 s`, `n/a (n=100)`.
pub(crate) fn text(quantile: &Quantile) -> String {
    let figure = match (quantile.value_ps, nanoseconds(quantile)) {
        (_, None) => return format!("{} (n={})", number::NONE, number::count(quantile.n)),
        (Some(_), Some(ns)) => number::time(ns),
        (None, Some(_)) => number::nanoseconds(quantile.value.unwrap_or_default()),
    };
    match quantile.bound {
        Bound::AtLeast => format!(">= {figure}"),
        _ => figure,
    }
}

/// The quantile of this name for a table cell; nothing known is `n/a`.
pub(crate) fn cell(latency: Option<&Latency>, name: &str) -> String {
    match latency.and_then(|latency| latency.quantile(name)) {
        Some(quantile) if nanoseconds(quantile).is_some() => text(quantile),
        _ => number::NONE.to_owned(),
    }
}

/// What `bound` is called in machine-readable forms.
pub(crate) const fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::AtLeast => "at-least",
        Bound::TooFewSamples => "too-few-samples",
        _ => "exact",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_numbers_and_foreign_keys_are_no_quantiles() {
        let mut latency = Latency::default();
        for key in [
            "p99.9_ns", "p50_ns", "p9_ns", "p99_ns", "px_ns", "other", "p0_ns", "p100_ns",
            "pNaN_ns",
        ] {
            latency
                .quantiles
                .insert(key.to_owned(), Quantile::default());
        }
        let names: Vec<&str> = sorted(&latency)
            .into_iter()
            .map(|(name, ..)| name)
            .collect();
        assert_eq!(names, ["p9", "p50", "p99", "p99.9"]);
    }

    #[test]
    fn bounds_are_said_and_withheld_values_are_not() {
        let mut quantile = Quantile {
            value: Some(11_800_000_000),
            n: 7,
            ..Quantile::default()
        };
        assert_eq!(text(&quantile), "11.8 s");
        quantile.bound = Bound::AtLeast;
        assert_eq!(text(&quantile), ">= 11.8 s");
        quantile.bound = Bound::TooFewSamples;
        assert_eq!(text(&quantile), "n/a (n=7)");
        let batch = Quantile {
            value: Some(0),
            value_ps: Some(350),
            ..Quantile::default()
        };
        assert_eq!(text(&batch), "350 ps");
    }
}
