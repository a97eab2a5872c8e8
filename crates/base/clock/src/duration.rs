//! Lengths of time as people write them.

use std::time::Duration;

/// A time with its unit: `500ms`, `2s`, `1.5us`, `1m`, `1h`. None if it is not one.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * seconds).ok()
}
