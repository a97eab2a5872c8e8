//! A start as a document says it, on the clock that other tools count on.

/// Seconds since 1970 of an RFC 3339 time in UTC; nothing of what is none, or lies before.
pub(super) fn unix_seconds(text: &str) -> Option<f64> {
    let local = ["Z", "z", "+00:00"]
        .into_iter()
        .find_map(|utc| text.strip_suffix(utc))?;
    let (day, time) = local.split_once(['T', 't', ' '])?;
    let [year, month, day] = parts(day, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = parts(time, ':')?;
    let fits = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !fits || !digits {
        return None;
    }
    let fraction: f64 = format!("0.{}", fraction.get(..9).unwrap_or(fraction))
        .parse()
        .ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(f64::from(u32::try_from(seconds / 1000).ok()?) * 1000.0 + rest(seconds) + fraction)
}

fn rest(seconds: u64) -> f64 {
    u16::try_from(seconds % 1000).map_or(0.0, f64::from)
}

/// Three numbers of digits alone.
fn parts(text: &str, between: char) -> Option<[u64; 3]> {
    let mut parts = text.split(between).map(|part| {
        let plain = (2..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.parse().ok()).flatten()
    });
    let found = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(found)
}

/// Days from 1970 on, by the rule that years begin in March and a cycle of leap years is 400 years long.
const fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let cycle = year / 400;
    let within = year % 400;
    let since_march = (153 * month + 2) / 5 + day - 1;
    cycle * 146_097 + within * 365 + within / 4 - within / 100 + since_march - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_clock::WallTime;

    #[test]
    fn a_time_is_the_one_that_was_written() {
        for seconds in [0, 951_782_400, 951_868_799, 1_795_179_600, 4_107_542_399] {
            let text = WallTime::from_unix_seconds(seconds).rfc3339();
            assert_eq!(unix_seconds(&text), Some(seconds as f64), "{text}");
        }
        assert_eq!(unix_seconds("1970-01-01T00:00:01.25Z"), Some(1.25));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "Z",
            "2026-11-20",
            "2026-11-20T13:00:00",
            "2026-11-20T13:00:00+01:00",
            "2026-13-20T13:00:00Z",
            "2026-11-20T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-11-20T13:00:00.Z",
            "2026-11-20T13:00:00.xZ",
            "2026-11-20T13:00:00:00Z",
            "+026-11-20T13:00:00Z",
            "99999999999999999999-11-20T13:00:00Z",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }
}
