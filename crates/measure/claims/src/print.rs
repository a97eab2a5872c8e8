//! Numbers for sentences.

/// Three to four digits, thousands separated.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match () {
        () if !value.is_finite() => return "no number".to_owned(),
        () if size >= 100.0 || value.fract() == 0.0 => 0,
        () if size >= 10.0 => 1,
        () if size >= 0.1 => 2,
        () => 4,
    };
    grouped(&format!("{value:.decimals$}"))
}

fn grouped(plain: &str) -> String {
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let digits = whole.trim_start_matches('-');
    let mut text = String::from(if whole.starts_with('-') { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// The first few of a list, and how many more there are.
pub(crate) fn list<T>(items: &[T], print: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = items.iter().take(SHOWN).map(print).collect();
    let shown = shown.join(", ");
    match items.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(crate) fn time(seconds: f64) -> String {
    let (scale, unit) = match seconds.abs() {
        size if size >= 1.0 || size == 0.0 => (1.0, "s"),
        size if size >= 1e-3 => (1e3, "ms"),
        size if size >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", number(seconds * scale))
}

pub(crate) fn rate(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

pub(crate) fn megabytes(per_second: f64) -> String {
    format!("{} MB/s", number(per_second / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_and_are_never_zero_by_rounding() {
        assert_eq!(number(18_053.2), "18,053");
        assert_eq!(number(-1_234_567.0), "-1,234,567");
        assert_eq!(number(0.229), "0.23");
        assert_eq!(number(6.27), "6.27");
        assert_eq!(time(0.000_002_25), "2.25 us");
        assert_eq!(number(16.0), "16");
        assert_eq!(megabytes(112_993_103.0), "113 MB/s");
        assert_eq!(number(f64::INFINITY), "no number");
    }
}
