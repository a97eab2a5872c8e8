//! Units as people print them, brought to seconds, bytes and operations per second.
//!
//! A megabyte is 10^6 bytes to one author and 2^20 to the next. Such a unit gets both readings as the ends
//! of a span, and a figure in it contradicts another only if neither reading fits.

use crate::span::Span;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    Bytes,
    BytesPerSecond,
    /// A plain factor, printed as `7x`.
    Factor,
    PerSecond,
    Percent,
    Time,
}

/// A dimension and what one of the unit is in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) dimension: Dimension,
    pub(crate) scale: Span,
}

impl Unit {
    pub(crate) const fn seconds(scale: f64) -> Self {
        Self {
            dimension: Dimension::Time,
            scale: Span::exactly(scale),
        }
    }

    const fn one(dimension: Dimension) -> Self {
        Self {
            dimension,
            scale: Span::exactly(1.0),
        }
    }

    /// The unit that this word names.
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word {
            "%" | "percent" => return Some(Self::one(Dimension::Percent)),
            "x" | "×" | "X" => return Some(Self::one(Dimension::Factor)),
            _ => {}
        }
        let (amount, per) = match word.split_once('/') {
            Some((amount, per)) => (amount, Some(per)),
            None => (word, None),
        };
        match per {
            None => time(amount)
                .or_else(|| bytes(amount))
                .or_else(|| rate_word(amount)),
            Some(per) if is_second(per) => Some(rate(amount)),
            // Microseconds per message are microseconds.
            Some(_) => time(amount),
        }
    }
}

fn time(word: &str) -> Option<Unit> {
    let scale = match word {
        "ns" | "nanoseconds" => 1e-9,
        // Micro sign and Greek mu are two characters.
        "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1e-6,
        "ms" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "minute" | "minutes" => 60.0,
        _ => return None,
    };
    Some(Unit::seconds(scale))
}

fn bytes(word: &str) -> Option<Unit> {
    let (decimal, binary) = match word {
        "B" | "byte" | "bytes" => (1.0, 1.0),
        "KB" | "kB" => (1e3, 1024.0),
        "KiB" => (1024.0, 1024.0),
        "MB" => (1e6, 1_048_576.0),
        "MiB" => (1_048_576.0, 1_048_576.0),
        "GB" => (1e9, 1_073_741_824.0),
        "GiB" => (1_073_741_824.0, 1_073_741_824.0),
        _ => return None,
    };
    Some(Unit {
        dimension: Dimension::Bytes,
        scale: Span::new(decimal, binary),
    })
}

fn rate_word(word: &str) -> Option<Unit> {
    let known = ["TPS", "tps", "QPS", "qps", "RPS", "rps"].contains(&word);
    known.then_some(Unit::one(Dimension::PerSecond))
}

fn is_second(word: &str) -> bool {
    ["s", "sec", "second"].contains(&word)
}

fn rate(amount: &str) -> Unit {
    bytes(amount).map_or(Unit::one(Dimension::PerSecond), |unit| Unit {
        dimension: Dimension::BytesPerSecond,
        scale: unit.scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(word: &str) -> Option<Dimension> {
        Unit::named(word).map(|unit| unit.dimension)
    }

    #[test]
    fn a_unit_is_known_by_its_exact_word() {
        assert_eq!(dimension("ms"), Some(Dimension::Time));
        assert_eq!(dimension("\u{3bc}s/msg"), Some(Dimension::Time));
        assert_eq!(dimension("MB/s"), Some(Dimension::BytesPerSecond));
        assert_eq!(dimension("round-trips/sec"), Some(Dimension::PerSecond));
        for other in ["", "Ms", "m", "success", "and", "GHz", "bits"] {
            assert_eq!(dimension(other), None, "{other}");
        }
    }

    #[test]
    fn a_megabyte_has_two_readings_and_a_mebibyte_one() {
        let of = |word| Unit::named(word).unwrap().scale;
        assert!(of("MB").low < of("MB").high);
        assert_eq!(of("MiB").low.to_bits(), of("MiB").high.to_bits());
    }
}
