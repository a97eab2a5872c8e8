//! Relations that somebody declared between claims.

use crate::finding::{Check, Finding, Place};
use crate::print;
use crate::read::claims::{Claim, Figures, Kind, Relation, Sheet};
use crate::span::Span;

/// The finding of one relation, if its claims break it.
pub(crate) fn check(sheet: &Sheet, relation: &Relation) -> Option<Finding> {
    let claim = sheet.claims.get(relation.claim)?;
    let of: Vec<&Claim> = relation
        .of
        .iter()
        .filter_map(|index| sheet.claims.get(*index))
        .collect();
    let text = match relation.kind {
        Kind::Sum => sum(sheet, relation, (claim, &of)),
        Kind::Product => calculated(relation, claim, (&of, " times ", Span::times)),
        Kind::Quotient => calculated(relation, claim, (&of, " divided by ", Span::over)),
        Kind::Ratio => ratio(relation, claim, &of),
        Kind::Differ => same(relation, claim, &of),
        Kind::AtLeast | Kind::AtMost | Kind::Equal | Kind::Within => bounded(relation, claim, &of),
    }?;
    let columns = std::iter::once(claim).chain(of.iter().copied());
    let place = Place {
        line: Some(relation.line),
        row: relation.name.clone(),
        columns: columns.map(|claim| claim.name.clone()).collect(),
    };
    let check = relation.check.unwrap_or(match relation.kind {
        Kind::Sum => Check::TotalDoesNotAddUp,
        Kind::Product | Kind::Quotient => Check::RateTimesTime,
        Kind::Ratio => Check::DifferenceOfOthers,
        Kind::AtLeast | Kind::AtMost | Kind::Within => Check::LimitExceeded,
        Kind::Differ => Check::QuantileEqualsNext,
        Kind::Equal => Check::ProseContradictsTable,
    });
    Some(Finding::new(check, place, says(claim), text))
}

fn says(claim: &Claim) -> String {
    let figures = match &claim.figures {
        Figures::One(value) => print::number(*value),
        Figures::Range(span) => range(*span),
        Figures::Series(values) => print::list(values, |value| print::number(*value)),
    };
    format!("{} {figures} {}", claim.name, claim.unit)
        .trim_end()
        .to_owned()
}

fn range(span: Span) -> String {
    let (low, high) = (print::number(span.low), print::number(span.high));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

fn names(of: &[&Claim], between: &str) -> String {
    of.iter()
        .map(|claim| claim.name.as_str())
        .collect::<Vec<_>>()
        .join(between)
}

fn sum(sheet: &Sheet, relation: &Relation, (claim, of): (&Claim, &[&Claim])) -> Option<String> {
    let times = relation.times.and_then(|index| sheet.claims.get(index));
    let factor = times
        .and_then(|claim| claim.figures.span())
        .unwrap_or(Span::exactly(1.0));
    let parts = of
        .iter()
        .map(|claim| claim.figures.sum())
        .fold(Span::exactly(0.0), Span::plus);
    // Without a factor parts may be negative; with one they are not.
    let total = if times.is_some() {
        parts.times(factor)
    } else {
        parts
    };
    let behind = times
        .map(|claim| format!(" times {}", claim.name))
        .unwrap_or_default();
    let text = format!(
        "the sum of {}{behind} is {}",
        names(of, " and "),
        range(total)
    );
    apart(relation, claim.figures.span()?, total).then_some(text)
}

type Step = fn(Span, Span) -> Span;

fn calculated(
    relation: &Relation,
    claim: &Claim,
    (of, word, step): (&[&Claim], &str, Step),
) -> Option<String> {
    let spans: Option<Vec<Span>> = of.iter().map(|claim| claim.figures.span()).collect();
    let result = spans?.into_iter().reduce(step)?;
    let text = format!("{} is {}", names(of, word), range(result));
    apart(relation, claim.figures.span()?, result).then_some(text)
}

/// A claim in percent is a change, any other a factor.
fn ratio(relation: &Relation, claim: &Claim, of: &[&Claim]) -> Option<String> {
    let (after, before) = (of.first()?.figures.span()?, of.get(1)?.figures.span()?);
    let factor = after.over(before);
    let result = if claim.unit == "%" {
        Span::new(100.0 * (factor.low - 1.0), 100.0 * (factor.high - 1.0))
    } else {
        factor
    };
    let text = format!(
        "{} is {} {}",
        names(of, " against "),
        range(result),
        claim.unit
    );
    apart(relation, claim.figures.span()?, result).then(|| text.trim_end().to_owned())
}

/// The figure with the highest lower end and the one with the lowest upper end: what keeps these keeps all.
fn tightest(bounds: &[Span]) -> Vec<Span> {
    let highest = bounds
        .iter()
        .copied()
        .max_by(|a, b| a.low.total_cmp(&b.low));
    let lowest = bounds
        .iter()
        .copied()
        .min_by(|a, b| a.high.total_cmp(&b.high));
    highest.into_iter().chain(lowest).collect()
}

/// Two series of what differs by nature are the same, figure by figure.
fn same(relation: &Relation, claim: &Claim, of: &[&Claim]) -> Option<String> {
    let other = of.first()?;
    let (own, others) = (claim.figures.each(), other.figures.each());
    let meets = |(one, other): (&Span, &Span)| one.widened(relation.tolerance).meets(*other);
    let equal = own.len() == others.len() && own.iter().zip(&others).all(meets);
    equal.then(|| format!("{} is the same", says(other)))
}

/// Every figure of the claim against the one on the other side.
fn bounded(relation: &Relation, claim: &Claim, of: &[&Claim]) -> Option<String> {
    let other = of.first()?;
    let own = claim.figures.each();
    let bounds = tightest(&other.figures.each());
    let breaks = |one: &Span| bounds.iter().any(|bound| outside(relation, *one, *bound));
    let wrong: Vec<Span> = own.into_iter().filter(breaks).collect();
    let relation_word = match relation.kind {
        Kind::AtLeast => "less than",
        Kind::AtMost => "more than",
        Kind::Within => "outside",
        _ => "not",
    };
    let text = format!(
        "{} is {relation_word} {}",
        print::list(&wrong, |one| range(*one)),
        says(other)
    );
    (!wrong.is_empty()).then_some(text)
}

fn outside(relation: &Relation, one: Span, bound: Span) -> bool {
    let share = relation.tolerance;
    match relation.kind {
        Kind::AtLeast => one.widened(share).is_below(bound),
        Kind::AtMost => bound.is_below(one.widened(share)),
        Kind::Within => {
            let wide = bound.widened(share);
            one.low < wide.low || one.high > wide.high
        }
        _ => !one.widened(share).meets(bound),
    }
}

fn apart(relation: &Relation, claimed: Span, result: Span) -> bool {
    !claimed.widened(relation.tolerance).meets(result)
}
