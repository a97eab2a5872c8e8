//! Rate, time, count and bytes: each follows from the others.

use super::{place, says};
use crate::finding::{Check, Finding};
use crate::header::Role;
use crate::print;
use crate::span::Span;
use crate::table::{Cell, Context, Loop, Row};
use crate::unit::Dimension;

/// What a loop spends between operations may separate the average from the inverse of the rate by this.
const LOOP_SHARE: f64 = 0.03;
/// For figures that are the same division, done elsewhere with other digits.
const SAME_DIVISION: f64 = 0.01;
/// From this share of the target on, it was reached.
pub(super) const REACHED: f64 = 0.99;

/// Count ÷ total time is the rate; on one thread, one ÷ average is it too.
pub(super) fn rate_times_time(row: &Row, context: &Context) -> Option<Finding> {
    let total = row
        .with(Role::TotalTime)
        .filter(|cell| cell.is(Dimension::Time));
    let counted = total.zip(row.count(context));
    let over_total = counted.and_then(|(total, count)| {
        let rate = row.rate()?;
        count_over_total(row, (total, count), rate)
    });
    over_total
        .or_else(|| {
            let (total, count) = counted?;
            mean_of_total(row, (total, count), context)
        })
        .or_else(|| inverse_of_average(row, context))
}

fn count_over_total(row: &Row, (total, count): (&Cell, Span), rate: &Cell) -> Option<Finding> {
    let recomputed = count.over(total.span()?);
    if rate.span()?.widened(SAME_DIVISION).meets(recomputed) {
        return None;
    }
    let text = format!(
        "{} in {} are {}",
        print::number(count.middle()),
        total.text,
        print::rate(count.middle() / total.value()?)
    );
    Some(Finding::new(
        Check::RateTimesTime,
        place(row, &[rate, total]),
        says(rate),
        text,
    ))
}

fn mean_of_total(row: &Row, (total, count): (&Cell, Span), context: &Context) -> Option<Finding> {
    let average = row.average()?;
    let recomputed = total.span()?.over(count);
    let claimed = average.span()?.widened(LOOP_SHARE);
    // Several at a time make an average longer than its share of the total, never shorter.
    let contradicts = claimed.is_below(recomputed) && row.with(Role::Target).is_none()
        || recomputed.is_below(claimed) && context.started == Loop::OneByOne;
    let text = format!(
        "{} divided by {} is {}",
        total.text,
        print::number(count.middle()),
        print::time(total.value()? / count.middle())
    );
    let at = place(row, &[average, total]);
    contradicts.then(|| Finding::new(Check::RateTimesTime, at, says(average), text))
}

fn inverse_of_average(row: &Row, context: &Context) -> Option<Finding> {
    if context.started != Loop::OneByOne || row.with(Role::Threads).is_some() {
        return None;
    }
    let (rate, average) = (row.rate()?, row.average()?);
    let recomputed = Span::exactly(1.0).over(average.span()?);
    if rate.span()?.widened(LOOP_SHARE).meets(recomputed) {
        return None;
    }
    let text = format!(
        "one after {} is {}",
        average.text,
        print::rate(1.0 / average.value()?)
    );
    Some(Finding::new(
        Check::RateTimesTime,
        place(row, &[rate, average]),
        says(rate),
        text,
    ))
}

/// Bytes ÷ time is the throughput, by at least one of the times of the row.
pub(super) fn bytes_over_time(row: &Row) -> Option<Finding> {
    let claimed = row
        .with(Role::Rate)
        .filter(|cell| cell.is(Dimension::BytesPerSecond))?;
    let size = row
        .with(Role::Size)
        .filter(|cell| cell.is(Dimension::Bytes))?;
    let bytes = size.figure.as_ref()?.exact;
    let is_time =
        |cell: &&Cell| matches!(cell.role, Role::Time | Role::Average) && cell.is(Dimension::Time);
    let times: Vec<&Cell> = row.cells.iter().filter(is_time).collect();
    let limit = claimed.span()?.widened(SAME_DIVISION);
    let fits = |time: &&Cell| {
        time.span()
            .is_some_and(|time| bytes.over(time).meets(limit))
    };
    let first = times.first()?;
    if times.iter().any(fits) {
        return None;
    }
    let recomputed = bytes.middle() / first.value()?;
    let text = format!(
        "{} in {} {} are {}",
        size.text,
        first.column,
        first.text,
        print::megabytes(recomputed)
    );
    let at = place(row, &[claimed, size, first]);
    Some(Finding::new(Check::BytesOverTime, at, says(claimed), text))
}

/// A rate under the one that was asked for is a result; the one that was asked for is not.
pub(super) fn achieved_below_target(row: &Row, context: &Context) -> Option<Finding> {
    let rate = row.rate()?;
    let own = row
        .with(Role::Target)
        .filter(|cell| cell.is(Dimension::PerSecond));
    let asked = own
        .and_then(Cell::span)
        .map(|span| (span.low, own.map(says)));
    let around = context.target.map(|target| (target, None));
    let (target, named) = match (asked, around) {
        (Some(own), Some(around)) if around.0 > own.0 => around,
        (own, around) => own.or(around)?,
    };
    let reached = rate.span()?.high;
    if reached >= target * REACHED || row.cells.iter().any(|cell| admits(&cell.text)) {
        return None;
    }
    let claimed = named.unwrap_or_else(|| format!("a load of {}", print::rate(target)));
    let share = print::number(100.0 * rate.span()?.middle() / target);
    let text = format!("{} is {share} % of it", says(rate));
    let columns: Vec<&Cell> = own.into_iter().chain([rate]).collect();
    Some(Finding::new(
        Check::AchievedBelowTarget,
        place(row, &columns),
        claimed,
        text,
    ))
}

/// Words by which a row says itself that its target was missed.
pub(super) fn admits(text: &str) -> bool {
    let upper = text.to_uppercase();
    ["SATURATED", "LIMITED", "FAIL", "MISSED", "INVALID"]
        .iter()
        .any(|word| upper.contains(word))
}

/// No more operations are in flight than there are threads: rate × mean ≤ concurrency.
pub(super) fn littles_law(row: &Row) -> Option<Finding> {
    let limit = row.with(Role::Cap).or_else(|| row.with(Role::Threads))?;
    let (rate, average) = (row.rate()?, row.average()?);
    let in_flight = rate.span()?.times(average.span()?);
    let most = limit.figure.as_ref()?.exact;
    if !most.widened(LOOP_SHARE).is_below(in_flight) {
        return pinned_to_cap(row, limit);
    }
    let text = format!(
        "{} times {} are {} in flight",
        says(rate),
        says(average),
        print::number(in_flight.middle())
    );
    let at = place(row, &[limit, rate, average]);
    Some(Finding::new(Check::LittlesLaw, at, says(limit), text))
}

/// At 95 % of the cap and more, under a target that was missed, the mean is the cap divided by the rate.
fn pinned_to_cap(row: &Row, cap: &Cell) -> Option<Finding> {
    let target = row.with(Role::Target)?;
    let (rate, average) = (row.rate()?, row.average()?);
    let most = cap.figure.as_ref()?.exact.low;
    let in_flight = rate.span()?.middle() * average.span()?.middle();
    let missed = rate.span()?.high < target.span()?.low * REACHED;
    if cap.role != Role::Cap || !missed || in_flight < 0.95 * most {
        return None;
    }
    let mean = print::time(most / rate.span()?.middle());
    let text = format!("cap divided by rate is {mean}: the mean says nothing about the server");
    let at = place(row, &[cap, rate, average]);
    Some(Finding::new(Check::LittlesLaw, at, says(average), text))
}

/// A progress bar with elapsed time shows what count ÷ rate takes, to the second.
pub(super) fn elapsed(row: &Row) -> Option<Finding> {
    let progress = row.progress?;
    let rate = row.rate()?;
    let expected = Span::exactly(progress.done).over(rate.span()?);
    // Elapsed seconds are cut or rounded, and a bar is drawn a moment late.
    let shown = Span::new((progress.seconds - 1.0).max(0.0), progress.seconds + 1.0);
    if shown.meets(expected.widened(0.05)) {
        return None;
    }
    let claimed = format!("{} s elapsed", print::number(progress.seconds));
    let text = format!(
        "{} at {} take {}",
        print::number(progress.done),
        rate.text,
        print::time(expected.middle())
    );
    Some(Finding::new(
        Check::ElapsedDoesNotFit,
        place(row, &[rate]),
        claimed,
        text,
    ))
}
