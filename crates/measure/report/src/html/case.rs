//! The section of a case: words, books, times, then plots.

use keywright_measure::document::{Case, Document, Latency};
use maud::{Markup, html};

use super::figure::{Figure, table};
use super::{Depth, Words, front, models, pairs, plots};
use crate::svg::{Axis, Row, Rows, Segment, Tone, Unit};
use crate::{describe, number, outcome, quantile};

pub(super) fn section(document: &Document, case: &Case, place: usize, depth: Depth) -> Markup {
    let mut figures: Vec<Figure> = models::figures(document, case);
    figures.extend(pairs::figures(document, case));
    figures.extend(plots::figures(case, depth.points));
    let mut about = vec![describe::load(&case.load)];
    about.extend(describe::length(case));
    html! {
        section.case id={ "c" (place) } {
            h2 {
                (crate::plain::fitted(if case.op.is_empty() { &case.id } else { &case.op }, 120)) " "
                small { (case.target) @for parameter in describe::parameters(case) { " · " (parameter) } }
            }
            p.words { (front::words(case)) }
            p.meta { @for part in about.iter().filter(|part| !part.is_empty()) { span { (part) } } }
            @if depth.words == Words::All { (tiles(case)) }
            (books(case, depth.words))
            (times(case, depth.words))
            (details(document, case, depth.words))
            @if depth.plots > 0 && !figures.is_empty() {
                div.figures { @for figure in figures.iter().take(depth.plots) { (figure.markup()) } }
            }
        }
    }
}

/// The figures one looks for first, each with what it is of.
fn tiles(case: &Case) -> Markup {
    let kind = if case.response.is_some() {
        "response"
    } else {
        "service"
    };
    let times = case.headline();
    let interval = |name: &str| {
        let found = times.and_then(|times| times.quantile(name));
        let ends = found
            .filter(|q| quantile::nanoseconds(q).is_some())
            .and_then(|q| q.lo.zip(q.hi));
        ends.map(|(lo, hi)| format!("{} to {}", number::nanoseconds(lo), number::nanoseconds(hi)))
    };
    let share =
        describe::of_target(case).map(|share| format!("{} of target", number::share(share)));
    let quotable = if outcome::quotable(case) {
        ""
    } else {
        "do not quote"
    };
    html! {
        @if !describe::is_model_only(case) {
            div.tiles {
                div { span { @if case.figure.is_some() { "measured" } @else { "achieved" } } b { (describe::achieved_rate(case)) } i { (share.unwrap_or_default()) } }
                @for name in ["p50", "p99"] {
                    div {
                        span { (kind) " " (name) }
                        b { (quantile::cell(times, name)) }
                        i { (interval(name).unwrap_or_default()) }
                    }
                }
                @if let Some(bytes) = case.bytes_per_s { div { span { "payload" } b { (number::byte_rate(bytes)) } i {} } }
                @if let Some(cpu) = case.cpu_ns_per_unit { div { span { "processor time each" } b { (number::time(cpu)) } i {} } }
                @if !quotable.is_empty() { div.bad { span { "these figures" } b { (quotable) } i { "see the verdict" } } }
            }
        }
    }
}

/// Where every operation ended: what was planned, what was sent of it, and how that ended.
fn books(case: &Case, words: Words) -> Markup {
    let counts = &case.counts;
    let row = |name: &str, segments: &[(&str, u64, Tone)]| {
        let sum: u64 = segments
            .iter()
            .map(|segment| segment.1)
            .fold(0, u64::saturating_add);
        let segments = segments
            .iter()
            .map(|(name, n, tone)| Segment::new(name, number::float(*n), *tone));
        Row::bar(name, &number::count(sum), segments.collect())
    };
    let mut rows = Rows::new(
        "Every operation, in exactly one place",
        Axis::linear("", Unit::Count),
    );
    rows.rows = vec![
        row("planned", &[("planned", counts.planned, Tone::Muted)]),
        row(
            "sent",
            &[
                ("sent", counts.sent, Tone::First),
                ("never sent", counts.never_sent, Tone::Bad),
            ],
        ),
        row(
            "ended",
            &[
                ("verified", counts.verified, Tone::Good),
                ("not checked", counts.unverified, Tone::First),
                ("wrong", counts.wrong, Tone::Bad),
                ("errors", counts.error, Tone::Bad),
                ("timed out", counts.timeout, Tone::Second),
                ("unanswered", counts.censored, Tone::Second),
            ],
        ),
    ];
    let sent = number::count(counts.sent);
    if let Some(bar) = rows.rows.get_mut(1) {
        bar.text = sent;
    }
    let drawn = (counts.planned > 0 && words == Words::All)
        .then(|| rows.svg())
        .flatten();
    html! {
        @if !describe::is_model_only(case) {
            (ends(case))
            @if let Some(svg) = drawn { div.books { (maud::PreEscaped(svg)) } }
        }
    }
}

fn ends(case: &Case) -> Markup {
    let counts = &case.counts;
    let cells = [
        ("planned", counts.planned),
        ("sent", counts.sent),
        ("never sent", counts.never_sent),
        ("verified", counts.verified),
        ("not checked", counts.unverified),
        ("wrong", counts.wrong),
        ("errors", counts.error),
        ("timed out", counts.timeout),
        ("unanswered", counts.censored),
    ];
    html! {
        div.scroll {
            table.books {
                thead { tr { @for (name, _) in cells { th { (name) } } } }
                tbody { tr { @for (_, n) in cells { td { (number::count(n)) } } } }
            }
        }
    }
}

/// All distributions with all their quantiles.
fn times(case: &Case, words: Words) -> Markup {
    let all = [
        ("response", &case.response),
        ("service", &case.service),
        ("lateness", &case.lateness),
        ("of which pacer", &case.pacer),
        ("failed operations", &case.error_latency),
    ];
    let there: Vec<(&str, &Latency)> = all
        .into_iter()
        .filter_map(|(name, times)| Some((name, times.as_ref()?)))
        .collect();
    let most = if words == Words::All { there.len() } else { 2 };
    let there: Vec<(&str, &Latency)> = there.into_iter().take(most).collect();
    let mut names: Vec<(f64, &str)> = there
        .iter()
        .flat_map(|(_, times)| quantile::sorted(times))
        .map(|(name, level, _)| (level, name))
        .collect();
    names.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(other.1)));
    names.dedup();
    let mut head = vec!["Time".to_owned(), "n".to_owned(), "mean".to_owned()];
    head.extend(names.iter().map(|(_, name)| (*name).to_owned()));
    head.push("max".to_owned());
    let rows: Vec<Vec<String>> = there
        .iter()
        .map(|(kind, times)| {
            let mean = times
                .mean_ns
                .map_or_else(|| number::NONE.to_owned(), number::time);
            let mut row = vec![(*kind).to_owned(), number::count(times.n), mean];
            row.extend(
                names
                    .iter()
                    .map(|(_, name)| quantile::cell(Some(times), name)),
            );
            row.push(
                times
                    .max_ns
                    .map_or_else(|| number::NONE.to_owned(), number::nanoseconds),
            );
            row
        })
        .collect();
    html! { @if !rows.is_empty() { (table(&head, &rows)) } }
}

/// Checks, objectives, failures, parts of a mix and comparisons as lines.
fn details(document: &Document, case: &Case, words: Words) -> Markup {
    let checks = describe::checks(document, case);
    let objectives: Vec<String> = case.objectives.iter().map(describe::objective).collect();
    let faults: Vec<String> = case
        .errors
        .iter()
        .map(|fault| {
            format!(
                "{} x {} {}",
                number::count(fault.n),
                fault.phase,
                fault.code
            )
        })
        .collect();
    let parts: Vec<String> = case.parts.iter().map(part).collect();
    let compared = document
        .comparison
        .iter()
        .filter(|comparison| comparison.case == case.id);
    let compared: Vec<String> = compared.map(describe::comparison).collect();
    let models: Vec<String> = describe::attached(document, case)
        .into_iter()
        .filter_map(|(model, scaled)| describe::model(model, scaled))
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    let lists = [
        ("Checks", checks),
        ("Failures", faults),
        ("Outages", describe::outages(case)),
        ("Models", models),
        ("Objectives", objectives),
        ("Parts", parts),
        ("Compared", compared),
    ];
    let most = if words == Words::All { lists.len() } else { 3 };
    let lists: Vec<_> = lists
        .into_iter()
        .take(most)
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    html! {
        @if !lists.is_empty() {
            dl {
                @for (name, lines) in &lists {
                    dt { (name) }
                    dd { @for line in lines.iter().take(60) { span { (line) } } }
                }
            }
        }
    }
}

fn part(part: &keywright_measure::document::Part) -> String {
    let times = part.response.as_ref().or(part.service.as_ref());
    format!(
        "{} (weight {}): {}, p50 {}, p99 {}, errors {}, wrong {}",
        part.name,
        number::weight(part.weight),
        number::rate(part.achieved_per_s),
        quantile::cell(times, "p50"),
        quantile::cell(times, "p99"),
        number::count(part.counts.error),
        number::count(part.counts.wrong),
    )
}
