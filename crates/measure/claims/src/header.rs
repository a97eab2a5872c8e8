//! What the head of a column says about the figures below it.

use crate::unit::Unit;

/// What the figures of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// The rate at this many threads or cores.
    AtThreads(u32),
    Average,
    Baseline,
    /// Most operations allowed in flight at once.
    Cap,
    Count,
    Current,
    Difference,
    Efficiency,
    /// The bound that a measured value is judged by.
    Limit,
    Maximum,
    Minimum,
    /// Nothing this crate computes with.
    Other,
    /// A share between 0 and 1: 0.95 for p95.
    Quantile(f64),
    Rate,
    /// A quantile of one side of a comparison.
    Side,
    Size,
    Speedup,
    Status,
    /// The sum of the columns before it.
    Sum,
    /// The rate that was asked for.
    Target,
    Threads,
    /// The time of one operation, not said to be an average.
    Time,
    /// The time of all operations together.
    TotalTime,
}

/// A column's role and the unit its head names.
pub(crate) fn read(head: &str) -> (Role, Option<Unit>) {
    let plain = head.replace(['*', '`'], "");
    let lower = plain.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '\u{394}'))
        // The point of `p99.9` is part of a word, the one of `percentiles.p50` is not.
        .flat_map(|word| {
            if quantile(word).is_some() {
                word.split("..")
            } else {
                word.split(".")
            }
        })
        .filter(|word| !word.is_empty())
        .collect();
    (role(&lower, &words), unit(&plain))
}

/// `(ms)` behind a name, `_ms` at its end, or `MB/s` anywhere.
fn unit(head: &str) -> Option<Unit> {
    let bracketed = head
        .split_once('(')
        .and_then(|(_, tail)| tail.split_once(')'));
    let named = bracketed.and_then(|(inside, _)| Unit::named(inside.trim()));
    named.or_else(|| {
        if head.ends_with("per_sec") || head.ends_with("_per_s") {
            return Unit::named("/s");
        }
        let last = head
            .rsplit(['_', ' ', '.'])
            .next()
            .filter(|last| *last != head)?;
        Unit::named(last)
    })
}

fn role(lower: &str, words: &[&str]) -> Role {
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    if let Some(share) = words.iter().find_map(|word| quantile(word)) {
        let compared = has(&["cur", "current", "base", "baseline"]);
        return if compared {
            Role::Side
        } else {
            Role::Quantile(share)
        };
    }
    if let Some(threads) = at_threads(words) {
        return Role::AtThreads(threads);
    }
    if has(&["success", "error", "errors", "relative", "warmup"]) {
        return Role::Other;
    }
    judged(&has)
        .or_else(|| amount(lower, &has))
        .or_else(|| timed(&has))
        .unwrap_or(Role::Other)
}

/// Heads of judgements and of comparisons.
fn judged(has: &impl Fn(&[&str]) -> bool) -> Option<Role> {
    Some(match () {
        () if has(&["status", "statut", "verdict", "grade"]) => Role::Status,
        () if has(&["objective", "objectif", "goal", "slo", "limit", "limite"]) => Role::Limit,
        () if has(&["efficiency"]) => Role::Efficiency,
        () if has(&["speedup"]) => Role::Speedup,
        () if has(&["diff", "difference", "change", "improvement", "scaling"]) => Role::Difference,
        () if has(&["current"]) => Role::Current,
        () if has(&["baseline"]) => Role::Baseline,
        () => return None,
    })
}

/// Heads of rates, counts and sizes.
fn amount(lower: &str, has: &impl Fn(&[&str]) -> bool) -> Option<Role> {
    let is_rate = has(&[
        "rate",
        "throughput",
        "achieved",
        "tps",
        "qps",
        "rps",
        "d\u{e9}bit",
    ]) || [
        "ops/s",
        "req/s",
        "op/s",
        "mb/s",
        "gb/s",
        "_per_s",
        "per second",
    ]
    .iter()
    .any(|mark| lower.contains(mark));
    let is_wanted = has(&["attack", "target", "offered", "requested", "planned"]);
    Some(match () {
        () if is_rate && is_wanted => Role::Target,
        () if is_rate => Role::Rate,
        () if has(&[
            "threads",
            "parallelism",
            "concurrency",
            "workers",
            "clients",
        ]) =>
        {
            Role::Threads
        }
        () if has(&["cap", "inflight"]) => Role::Cap,
        () if has(&["iterations", "requests", "samples", "count"]) => Role::Count,
        () if has(&["size", "taille", "payload", "bytes", "length"]) => Role::Size,
        () => return None,
    })
}

fn timed(has: &impl Fn(&[&str]) -> bool) -> Option<Role> {
    let is_time = has(&[
        "time", "temps", "duration", "latency", "elapsed", "seal", "open",
    ]);
    Some(match () {
        () if has(&["total"]) && is_time => Role::TotalTime,
        () if has(&["total"]) => Role::Sum,
        () if has(&["avg", "average", "mean", "moyenne"]) => Role::Average,
        () if has(&["min", "minimum"]) => Role::Minimum,
        () if has(&["max", "maximum"]) => Role::Maximum,
        () if has(&["elapsed"]) => Role::TotalTime,
        () if has(&["\u{3b4}", "\u{394}"]) && has(&["message", "op", "msg"]) => Role::Average,
        () if is_time => Role::Time,
        () => return None,
    })
}

/// `p95` and `p99.9`; `p999` is `p99.9`; the median.
pub(crate) fn quantile(word: &str) -> Option<f64> {
    if word == "median" {
        return Some(0.5);
    }
    let digits = word.strip_prefix('p')?;
    let percent: f64 = match digits.split_once('.') {
        None if digits.len() > 2 => digits.get(..2).and_then(|whole| {
            let tail = digits.get(2..)?;
            format!("{whole}.{tail}").parse().ok()
        })?,
        _ => digits.parse().ok()?,
    };
    let is_plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_plain && digits.len() >= 2 && percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

/// `4 Threads`, `1 CPU Core`.
fn at_threads(words: &[&str]) -> Option<u32> {
    let counted = ["thread", "threads", "core", "cores", "worker", "workers"];
    let (first, rest) = words.split_first()?;
    let last = rest.last()?;
    let threads = first.parse().ok()?;
    (rest.len() <= 2 && counted.contains(last) && threads > 0).then_some(threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str) -> Role {
        read(head).0
    }

    #[test]
    fn heads_in_use_are_understood() {
        for (head, role) in [
            ("Avg (ms)", Role::Average),
            ("p99_ms", Role::Quantile(0.99)),
            ("percentiles.p50", Role::Quantile(0.5)),
            ("P95 Cur", Role::Side),
            ("ops_per_sec", Role::Rate),
            ("Ops/sec", Role::Rate),
            ("Actual Throughput", Role::Rate),
            ("Attack Rate", Role::Target),
            ("Target/s", Role::Other),
            ("D\u{e9}bit (MB/s)", Role::Rate),
            ("16 Threads", Role::AtThreads(16)),
            ("1 CPU Core", Role::AtThreads(1)),
            ("Parallelism", Role::Threads),
            ("Temps total", Role::TotalTime),
            ("\u{394} par message", Role::Average),
            ("Total", Role::Sum),
            ("total_duration", Role::TotalTime),
            ("Taille entr\u{e9}e", Role::Size),
            ("Success Rate", Role::Other),
            ("Diff %", Role::Difference),
            ("Objectif", Role::Limit),
        ] {
            assert_eq!(of(head), role, "{head}");
        }
    }

    #[test]
    fn other_heads_mean_nothing() {
        for head in ["", "Notes", "Platform", "Provider", "Key", "p", "pp99"] {
            assert_eq!(of(head), Role::Other, "{head}");
        }
    }

    #[test]
    fn p999_is_a_thousandth() {
        assert_eq!(of("p999"), of("p99.9"));
    }
}
