//! Quantiles: their order, their number of samples, and values that no measurement gives.

use std::collections::BTreeMap;

use super::{place, says};
use crate::finding::{Check, Finding};
use crate::header::Role;
use crate::print;
use crate::table::{Cell, Row, Table};

/// Samples that must lie beyond a quantile before it is worth printing.
const BEYOND: f64 = 10.0;
/// Rows that must agree before agreement is no accident.
const ENOUGH_ROWS: usize = 3;

/// How many samples the quantile of this share needs: 200 for p95, 1,000 for p99.
pub(super) fn needed(share: f64) -> f64 {
    (BEYOND / (1.0 - share)).round()
}

pub(super) fn name(share: f64) -> String {
    let percent = (share * 1e7).round() / 1e5;
    format!("p{percent}")
}

/// Minimum ≤ p50 ≤ … ≤ maximum, and the average between the outer two.
pub(super) fn order(row: &Row) -> Option<Finding> {
    let mut rising: Vec<(f64, &Cell)> = row.quantiles().collect();
    rising.extend(row.with(Role::Minimum).map(|cell| (0.0, cell)));
    rising.extend(row.with(Role::Maximum).map(|cell| (1.0, cell)));
    rising.sort_by(|a, b| a.0.total_cmp(&b.0));
    let steps = rising.windows(2).filter_map(|pair| match pair {
        [(_, low), (_, high)] => Some((*low, *high)),
        _ => None,
    });
    let average = row.with(Role::Average);
    let over_minimum = row.with(Role::Minimum).zip(average);
    let under_maximum = average.zip(row.with(Role::Maximum));
    let wrong = |(low, high): &(&Cell, &Cell)| match (low.span(), high.span()) {
        (Some(low), Some(high)) => high.is_below(low),
        _ => false,
    };
    let (low, high) = steps.chain(over_minimum).chain(under_maximum).find(wrong)?;
    let text = format!("{} is above it", says(low));
    Some(Finding::new(
        Check::QuantileOrder,
        place(row, &[low, high]),
        says(high),
        text,
    ))
}

/// Times of 0.00: something was shorter than the digits.
pub(super) fn printed_as_zero(row: &Row) -> Option<Finding> {
    let is_time = |cell: &&Cell| {
        let time = [
            Role::Average,
            Role::Time,
            Role::TotalTime,
            Role::Side,
            Role::Maximum,
        ];
        let quantile = matches!(cell.role, Role::Quantile(_) | Role::Minimum);
        time.contains(&cell.role) || quantile
    };
    let is_zero = |cell: &&Cell| {
        cell.figure
            .as_ref()
            .is_some_and(|figure| figure.value == 0.0)
    };
    let zeros: Vec<&Cell> = row.cells.iter().filter(is_time).filter(is_zero).collect();
    let first = zeros.first()?;
    let shown = first.figure.as_ref()?;
    let under = match shown.unit {
        Some(_) => print::time(shown.step / 2.0),
        None => format!("{} of its unit", shown.step / 2.0),
    };
    let text = format!("nothing takes no time: it is anything under {under}");
    Some(Finding::new(
        Check::PrintedAsZero,
        place(row, &zeros),
        says(first),
        text,
    ))
}

/// Quantiles from fewer samples than ten beyond them, once for all rows of one count.
pub(super) fn too_few(table: &Table) -> Vec<Finding> {
    let mut by_count: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in &table.rows {
        let Some(count) = row.count(&table.context) else {
            continue;
        };
        if row.quantiles().any(|(share, _)| count.high < needed(share)) {
            by_count.entry(whole(count.high)).or_default().push(row);
        }
    }
    by_count
        .iter()
        .filter_map(|(count, rows)| from_too_few(*count, rows))
        .collect()
}

fn from_too_few(count: u64, rows: &[&Row]) -> Option<Finding> {
    let first = rows.first()?;
    let few = |share: f64| count < whole(needed(share));
    let mut cells: Vec<(f64, &Cell)> = first.quantiles().filter(|(share, _)| few(*share)).collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    cells.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    let names: Vec<String> = cells.iter().map(|(share, _)| name(*share)).collect();
    let wanted: Vec<String> = cells
        .iter()
        .map(|(share, _)| print::number(needed(*share)))
        .collect();
    let places: Vec<&Cell> = cells.iter().map(|(_, cell)| *cell).collect();
    let places_word = if rows.len() == 1 { "row" } else { "rows" };
    let claimed = format!(
        "{} from {count} samples in {} {places_word}",
        names.join(", "),
        rows.len()
    );
    let text = format!("{} are needed", wanted.join(", "));
    let at = place(first, &places);
    Some(Finding::new(
        Check::QuantileFromTooFewSamples,
        at,
        claimed,
        text,
    ))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that is too large or negative becomes the nearest number, which orders it right"
)]
fn whole(count: f64) -> u64 {
    count as u64
}

/// Two neighbouring quantiles with the same value in every row come from one sample.
pub(super) fn equal_to_next(table: &Table) -> Option<Finding> {
    let first = table.rows.first()?;
    let mut shares: Vec<f64> = first.quantiles().map(|(share, _)| share).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    shares.windows(2).find_map(|pair| match pair {
        [low, high] => equal_pair(table, *low, *high),
        _ => None,
    })
}

fn equal_pair(table: &Table, low: f64, high: f64) -> Option<Finding> {
    let pairs: Vec<(&Row, &Cell, &Cell)> = table
        .rows
        .iter()
        .filter_map(|row| {
            Some((
                row,
                row.with(Role::Quantile(low))?,
                row.with(Role::Quantile(high))?,
            ))
        })
        .collect();
    let same = |(_, low, high): &(&Row, &Cell, &Cell)| low.span() == high.span();
    // Rows of one digit agree by rounding; one row of two digits does not.
    let telling = |(_, low, _): &(&Row, &Cell, &Cell)| significant_digits(&low.text) >= 2;
    if pairs.len() < ENOUGH_ROWS || !pairs.iter().all(same) || !pairs.iter().any(telling) {
        return None;
    }
    let (row, low_cell, high_cell) = pairs.iter().find(|pair| telling(pair))?;
    let names = (name(low), name(high));
    let claimed = format!("{} = {} in all {} rows", names.0, names.1, pairs.len());
    let text = format!(
        "different quantiles differ: {} is taken from the sample of {}",
        names.0, names.1
    );
    let at = place(row, &[low_cell, high_cell]);
    Some(Finding::new(Check::QuantileEqualsNext, at, claimed, text))
}

fn significant_digits(text: &str) -> usize {
    let from_first = text.trim_start_matches(|c: char| !('1'..='9').contains(&c));
    from_first
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .filter(|c| *c != '.')
        .count()
}

/// One quantile with the same value while the load at least doubles.
pub(super) fn never_moves(table: &Table) -> Option<Finding> {
    let loads: Vec<f64> = table
        .rows
        .iter()
        .filter_map(|row| row.with(Role::Target).or_else(|| row.with(Role::Threads)))
        .filter_map(|cell| cell.figure.as_ref().map(|figure| figure.value))
        .collect();
    let most = loads.iter().copied().fold(0.0, f64::max);
    let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
    if loads.len() <= ENOUGH_ROWS || loads.len() < table.rows.len() || most < 2.0 * least {
        return None;
    }
    let (first, others) = table.rows.split_first()?;
    first.quantiles().find_map(|(share, cell)| {
        let same = |row: &Row| {
            row.with(Role::Quantile(share))
                .is_some_and(|other| other.span() == cell.span())
        };
        if !others.iter().all(same) {
            return None;
        }
        let claimed = format!("{} in all {} rows", says(cell), table.rows.len());
        let times = print::number(most / least);
        let text =
            format!("the load grows by a factor of {times}, and no measured quantile stands still");
        Some(Finding::new(
            Check::QuantileNeverMoves,
            place(first, &[cell]),
            claimed,
            text,
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_beyond_each_quantile_are_needed() {
        for (share, samples) in [(0.5, 20.0), (0.9, 100.0), (0.95, 200.0), (0.99, 1_000.0)] {
            assert!((needed(share) - samples).abs() < 0.5, "{share}");
        }
        assert!((needed(0.999) - 10_000.0).abs() < 0.5);
        assert_eq!(name(0.999), "p99.9");
    }

    #[test]
    fn leading_zeros_are_not_significant() {
        assert_eq!(significant_digits("0.42ms"), 2);
        assert_eq!(significant_digits("0.03"), 1);
        assert_eq!(significant_digits("0.00"), 0);
        assert_eq!(significant_digits("11.21ms"), 4);
    }
}
