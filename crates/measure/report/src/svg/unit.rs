//! How values are written beside axes and in tables.

use crate::number;

/// What values are, which decides how they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Sizes.
    Bytes,
    /// Things that are counted.
    Count,
    /// Numbers without unit.
    #[default]
    Number,
    /// One over the share above a quantile: 100 is written as 99 %.
    Quantile,
    /// Ratios around one.
    Ratio,
    /// Units a second.
    Rate,
    /// Nanoseconds.
    Time,
}

impl Unit {
    /// A value in this unit for people.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Bytes if value.is_finite() => {
                let scale = number::byte_scale(value);
                format!("{} {}", short(value / scale.factor), scale.unit)
            }
            Self::Count => number::plain(value.round()),
            Self::Quantile if value >= 1.0 => quantile(value),
            Self::Ratio => number::ratio(value),
            Self::Rate => number::rate(value),
            Self::Time => number::time(value),
            _ => number::plain(value),
        }
    }

    /// A round value, without the zeros that only a measured one needs.
    pub(super) fn tick(self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".to_owned(),
            Self::Time => {
                let scale = number::time_scale(value);
                format!("{} {}", short(value / scale.factor), scale.unit)
            }
            Self::Bytes | Self::Quantile => self.text(value),
            Self::Rate | Self::Count if value >= 10_000.0 => {
                let (factor, unit) = if value >= 1e6 { (1e6, "M") } else { (1e3, "k") };
                format!("{}{unit}", short(value / factor))
            }
            _ => short(value),
        }
    }

    /// What a script calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Number => "number",
            Self::Quantile => "quantile",
            Self::Ratio => "ratio",
            Self::Rate => "rate",
            Self::Time => "time",
        }
    }
}

/// Up to three digits without trailing zeros.
fn short(value: f64) -> String {
    let text = number::significant(value, 3);
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// `99.9 %` of 1,000.
fn quantile(inverse: f64) -> String {
    let percent = 100.0 * (1.0 - 1.0 / inverse);
    let decimals = if inverse > 100_000.0 { 4 } else { 3 };
    let text = format!("{percent:.decimals$}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_say_what_people_say() {
        assert_eq!(Unit::Quantile.text(1_000.0), "99.9 %");
        assert_eq!(Unit::Quantile.text(2.0), "50 %");
        assert_eq!(Unit::Bytes.tick(65_536.0), "64 KiB");
        assert_eq!(Unit::Time.tick(2_000_000.0), "2 ms");
        assert_eq!(Unit::Rate.tick(25_000.0), "25k");
    }
}
