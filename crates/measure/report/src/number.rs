//! Figures for people: three significant digits with a unit that fits, and never `0.00`.
//!
//! Counts and rates from a thousand on are whole numbers with commas, everything else keeps three digits.
//! What is not finite prints as `n/a`. Machine-readable forms do not use this module.

/// What stands where there is no figure.
pub const NONE: &str = "n/a";

const TIMES: [(f64, &str); 5] = [
    (1e9, "s"),
    (1e6, "ms"),
    (1e3, "us"),
    (1.0, "ns"),
    (1e-3, "ps"),
];
const BINARY: [(f64, &str); 4] = [
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "B"),
];
const DECIMAL: [(f64, &str); 4] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")];

/// A unit and how much of the base unit it is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scale {
    /// Base units in one of this.
    pub factor: f64,
    /// How it is written.
    pub unit: &'static str,
}

/// The unit in which `ns` nanoseconds have one to three digits before the point.
#[must_use]
pub fn time_scale(ns: f64) -> Scale {
    fitting(&TIMES, ns)
}

/// The binary unit that fits `bytes`.
#[must_use]
pub fn byte_scale(bytes: f64) -> Scale {
    fitting(&BINARY, bytes)
}

/// The first unit of which there is at least one after rounding to three digits, else the last.
fn fitting(units: &[(f64, &'static str)], value: f64) -> Scale {
    let size = value.abs() * 1.000_5;
    let found = units.iter().find(|(factor, _)| size >= *factor);
    let (factor, unit) = match (found, units.last()) {
        (Some(unit), _) if size > 0.0 => *unit,
        (_, Some(last)) if size > 0.0 => *last,
        _ => units
            .iter()
            .copied()
            .find(|(factor, _)| *factor == 1.0)
            .unwrap_or((1.0, "")),
    };
    Scale { factor, unit }
}

/// A time in nanoseconds, such as `412 us` or `1.83 ms`.
#[must_use]
pub fn time(ns: f64) -> String {
    let scale = time_scale(ns);
    with_unit(significant(ns / scale.factor, 3), scale.unit)
}

/// A whole number of nanoseconds; below a microsecond it has no decimals, since there are none.
#[must_use]
pub fn nanoseconds(ns: u64) -> String {
    if ns < 1_000 {
        format!("{ns} ns")
    } else {
        time(float(ns))
    }
}

/// A time that is a property rather than a result, such as a timer's cost: without trailing zeros.
#[must_use]
pub fn short_time(ns: f64) -> String {
    let scale = time_scale(ns);
    with_unit(trimmed(&significant(ns / scale.factor, 3)), scale.unit)
}

/// A length that was chosen, not measured: `30 s`, `1.5 s`, without trailing zeros.
#[must_use]
pub fn length(ns: u64) -> String {
    short_time(float(ns))
}

/// A rate, such as `21,470/s` or `89.2/s`.
#[must_use]
pub fn rate(per_s: f64) -> String {
    if per_s.is_finite() {
        format!("{}/s", plain(per_s))
    } else {
        NONE.to_owned()
    }
}

/// A rate that was chosen, without trailing zeros.
#[must_use]
pub fn chosen_rate(per_s: f64) -> String {
    if per_s.is_finite() {
        format!("{}/s", trimmed(&plain(per_s)))
    } else {
        NONE.to_owned()
    }
}

/// A size that was chosen, such as `32 B` or `64 KiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let scale = byte_scale(float(bytes));
    with_unit(
        trimmed(&significant(float(bytes) / scale.factor, 3)),
        scale.unit,
    )
}

/// A size that was measured, such as `12.3 MiB`.
#[must_use]
pub fn byte_size(bytes: f64) -> String {
    let scale = byte_scale(bytes);
    with_unit(significant(bytes / scale.factor, 3), scale.unit)
}

/// Bytes a second in decimal units, such as `690 MB/s`.
#[must_use]
pub fn byte_rate(per_s: f64) -> String {
    let scale = fitting(&DECIMAL, per_s);
    with_unit(significant(per_s / scale.factor, 3), scale.unit)
}

/// A share of one as a percentage with one decimal, or as many as it takes not to say `0.0`.
#[must_use]
pub fn share(part: f64) -> String {
    percent(part * 100.0)
}

/// A number of percent.
#[must_use]
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = if value == 0.0 || value.abs() >= 0.05 {
        format!("{value:.1}")
    } else {
        significant(value, 2)
    };
    format!("{text} %")
}

/// A number of percent that was chosen, without trailing zeros.
#[must_use]
pub fn chosen_percent(value: f64) -> String {
    if value.is_finite() {
        format!("{} %", trimmed(&significant(value, 3)))
    } else {
        NONE.to_owned()
    }
}

/// A ratio with three decimals; what rounds to one is written with enough digits to be read.
#[must_use]
pub fn ratio(value: f64) -> String {
    match value {
        _ if !value.is_finite() => NONE.to_owned(),
        _ if value == 0.0 || value.abs() >= 0.01 => format!("{value:.3}"),
        _ => significant(value, 2),
    }
}

/// A weight, without trailing zeros.
#[must_use]
pub fn weight(value: f64) -> String {
    trimmed(&significant(value, 3))
}

/// A count with commas.
#[must_use]
pub fn count(n: u64) -> String {
    commas(&n.to_string())
}

/// Any number: whole and with commas from a thousand on, else three significant digits.
#[must_use]
pub fn plain(value: f64) -> String {
    match value {
        _ if !value.is_finite() => NONE.to_owned(),
        _ if value.abs() >= 999.5 => commas(&format!("{value:.0}")),
        _ => significant(value, 3),
    }
}

/// Three or so significant digits, without exponent; zero is `0`.
#[must_use]
pub fn significant(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // The rounding decides how many digits stand before the point: 9.996 is 10.0, not 10.00.
    let scientific = format!("{value:.*e}", usize::from(digits.saturating_sub(1)));
    let exponent: i32 = scientific
        .rsplit('e')
        .next()
        .and_then(|e| e.parse().ok())
        .unwrap_or(0);
    let decimals = (i32::from(digits) - 1 - exponent).clamp(0, 24);
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    commas(&text)
}

/// A float of a count; beyond 2^53 the last digits go, which no printed figure shows.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "figures are printed with few digits"
)]
pub const fn float(n: u64) -> f64 {
    n as f64
}

/// A share of counts, if there is a whole.
#[must_use]
pub fn part(n: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| float(n) / float(of))
}

fn with_unit(number: impl AsRef<str>, unit: &str) -> String {
    match number.as_ref() {
        NONE => NONE.to_owned(),
        number => format!("{number} {unit}"),
    }
}

fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

/// Puts commas between groups of three digits before the point.
fn commas(text: &str) -> String {
    let (sign, rest) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot));
    let mut out = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(fraction);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_three_digits_and_take_the_unit_that_fits() {
        let wanted = [
            (0.0, "0 ns"),
            (0.35, "350 ps"),
            (41.3, "41.3 ns"),
            (412_000.0, "412 us"),
            (1_830_000.0, "1.83 ms"),
            (999_960.0, "1.00 ms"),
            (11.8e9, "11.8 s"),
            (1.234e12, "1,234 s"),
            (-1_500.0, "-1.50 us"),
        ];
        for (ns, text) in wanted {
            assert_eq!(time(ns), text, "{ns}");
        }
        assert_eq!(
            (nanoseconds(41), length(30_000_000_000)),
            ("41 ns".into(), "30 s".into())
        );
    }

    #[test]
    fn no_positive_figure_prints_as_zero() {
        for exponent in -18..18 {
            let value = 1.234 * 10_f64.powi(exponent);
            for text in [
                time(value),
                rate(value),
                percent(value),
                ratio(value),
                byte_rate(value),
            ] {
                assert!(
                    text.chars().any(|c| ('1'..='9').contains(&c)),
                    "{value} is {text}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_a_number_prints_as_none() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for text in [
                time(value),
                rate(value),
                percent(value),
                share(value),
                ratio(value),
            ] {
                assert_eq!(text, NONE);
            }
            assert_eq!(byte_rate(value), NONE);
            assert_eq!(plain(value), NONE);
            assert_eq!(chosen_rate(value), NONE);
            assert_eq!(chosen_percent(value), NONE);
        }
    }

    #[test]
    fn rates_counts_and_sizes_read_as_people_write_them() {
        assert_eq!(
            (rate(21_470.4), rate(89.23)),
            ("21,470/s".into(), "89.2/s".into())
        );
        assert_eq!((rate(999.7), rate(0.0)), ("1,000/s".into(), "0/s".into()));
        assert_eq!(
            (count(2_355_900), count(7)),
            ("2,355,900".into(), "7".into())
        );
        assert_eq!(
            (bytes(32), bytes(65_536), bytes(1_536)),
            ("32 B".into(), "64 KiB".into(), "1.5 KiB".into())
        );
        assert_eq!(
            (bytes(0), byte_rate(6.9e8)),
            ("0 B".into(), "690 MB/s".into())
        );
        assert_eq!(
            (share(0.2147), percent(0.0021)),
            ("21.5 %".into(), "0.0021 %".into())
        );
        assert_eq!(
            (chosen_percent(10.0), chosen_rate(100.0)),
            ("10 %".into(), "100/s".into())
        );
        assert_eq!(
            (length(1_500_000_000), significant(93.15, 2)),
            ("1.5 s".into(), "93".into())
        );
    }
}
