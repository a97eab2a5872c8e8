//! For a live view: a line for each call, no wider than a small screen.

use super::time;
use crate::analysis::RecentCall;

/// Above the lines of [`call`].
#[must_use]
pub fn call_heading() -> String {
    row(["time", "function", "mechanism", "code", "took"])
}

/// A call in a line of 78 characters at most: the time of day in UTC, function, mechanism, code, duration.
#[must_use]
pub fn call(call: &RecentCall) -> String {
    let day = call.time.as_deref().unwrap_or_default();
    let clock = day.get(11..23).unwrap_or_default();
    let mechanism = call.mechanism.as_deref().unwrap_or_default();
    let code = match &call.code {
        None => "no answer",
        Some(_) if call.size_query => "length only",
        Some(_) if call.succeeded => "ok",
        Some(code) => code.trim_start_matches("CKR_"),
    };
    let took = call
        .nanos
        .map_or_else(String::new, |nanos| time(nanos as f64));
    let mechanism = mechanism.trim_start_matches("CKM_");
    row([clock, &call.function, mechanism, code, &took])
}

fn row([clock, function, mechanism, code, took]: [&str; 5]) -> String {
    let line = format!("{clock:12} {function:20.20} {mechanism:17.17} {code:17.17} {took:>8}");
    line.trim_end().to_owned()
}
