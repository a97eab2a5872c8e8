//! The Gregorian calendar, carried on before 1582: days since 0000-03-01.

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 0000-03-01: with March as its first month, a leap day ends the year.
pub(super) const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    // Months of 31 and 30 days alternate in a pattern of five.
    year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month * 153 + 2) / 5
        + day
        - 1
}

/// The reverse of [`days`]: year, month, day.
pub(super) const fn civil(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    // Without the leap days of the era so far, every year has 365 days.
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + later, month, day)
}
