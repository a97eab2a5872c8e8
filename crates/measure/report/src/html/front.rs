//! What stands before the plots, and what closes the page.

use keywright_measure::document::{Case, Document, Remark};
use maud::{Markup, html};

use super::figure::table;
use crate::style::{Tone, tone};
use crate::{describe, number, outcome, quantile, text};

pub(super) fn header(document: &Document, title: &str) -> Markup {
    let (run, tool) = (&document.run, &document.tool);
    let profile = if tool.profile.is_empty() {
        String::new()
    } else {
        format!("{} build", tool.profile)
    };
    let length = if run.duration_ns > 0 {
        number::length(run.duration_ns)
    } else {
        String::new()
    };
    let parts = [
        run.started.clone(),
        length,
        format!("{} {}", tool.name, tool.version).trim().to_owned(),
        profile,
        document.environment.cpu.clone(),
    ];
    html! {
        header {
            h1 { (title) }
            p.meta { @for part in parts.iter().filter(|part| !part.is_empty()) { span { (part) } } }
            @if let Some(note) = &run.note { p.note { (note) } }
            @if !run.tags.is_empty() { p.meta { @for tag in &run.tags { span { (tag) } } } }
        }
    }
}

/// How it ended, and which words decide how many cases.
pub(super) fn verdicts(document: &Document, cases: &[&Case]) -> Markup {
    let exit = &document.exit;
    html! {
        section.verdict {
            @for (word, n) in outcome::decided(cases) {
                span.word.(class(tone(word))) { (word.text()) }
                span.n { (n) @if n == 1 { " case" } @else { " cases" } }
            }
            @if !exit.name.is_empty() { span.exit { "exit " (exit.code) " " (exit.name) } }
        }
    }
}

/// The class of a tone.
pub(super) const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "bad",
        Tone::Doubt => "doubt",
        Tone::Faint => "fact",
        Tone::Good => "good",
        Tone::Strong => "strong",
    }
}

/// Words as they stand beside a case.
pub(super) fn words(case: &Case) -> Markup {
    html! {
        @for word in outcome::words(case) { span.word.(class(tone(word))) { (word.text()) } " " }
    }
}

pub(super) fn summary(cases: &[&Case], most: usize) -> Markup {
    let head = [
        "Case",
        "Achieved",
        "Of target",
        "Mean",
        "p50",
        "p95",
        "p99",
        "Verdict",
    ];
    html! {
        @if !cases.is_empty() {
            section {
                h2 { "Summary" }
                div.scroll {
                    table.summary {
                        thead { tr { @for cell in head { th { (cell) } } } }
                        tbody {
                            @for (place, case) in cases.iter().enumerate().take(most) { (row(case, place)) }
                        }
                    }
                }
                @if cases.len() > most {
                    p.note { (number::count(super::count(cases.len() - most))) " more cases are in the JSON form." }
                }
            }
        }
    }
}

fn row(case: &Case, place: usize) -> Markup {
    let times = case.headline();
    let share = describe::of_target(case).map_or_else(|| "-".to_owned(), number::share);
    let mean = times
        .and_then(|times| times.mean_ns)
        .map_or_else(|| number::NONE.to_owned(), number::time);
    html! {
        tr {
            td { a href={ "#c" (place) } { (name(case)) } }
            @if describe::is_model_only(case) {
                @for _ in 0..6 { td { "-" } }
            } @else {
                td { (describe::achieved_rate(case)) }
                td { (share) }
                td { (mean) }
                @for name in ["p50", "p95", "p99"] { td { (quantile::cell(times, name)) } }
            }
            td { (words(case)) }
        }
    }
}

/// What a case is called on the page; names of any length are cut in the middle.
pub(super) fn name(case: &Case) -> String {
    crate::plain::fitted(
        if case.id.is_empty() {
            &case.op
        } else {
            &case.id
        },
        120,
    )
}

pub(super) fn remarks(document: &Document, most: usize) -> Markup {
    let all = describe::remarks(document);
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Remarks" }
                ul.remarks { @for (remark, cases) in all.iter().take(most) { (one(remark, cases)) } }
                @if all.len() > most {
                    p.note { (number::count(super::count(all.len() - most))) " more remarks are in the JSON form." }
                }
            }
        }
    }
}

fn one(remark: &Remark, cases: &[&str]) -> Markup {
    html! {
        li {
            @if let Some(word) = remark.word { span.word.(class(tone(word))) { (word.text()) } " " }
            @if !cases.is_empty() { b { (crate::plain::fitted(&describe::listed(cases), 200)) } ": " }
            (remark.text)
            @if let Some(remedy) = &remark.remedy { " " i { (remedy) } }
        }
    }
}

pub(super) fn gates(document: &Document, most: usize) -> Markup {
    html! {
        @if !document.gates.is_empty() {
            section {
                h2 { "Gates" }
                ul.remarks {
                    @for gate in document.gates.iter().take(most) {
                        li.(if gate.holds { "good" } else { "bad" }) { (describe::gate(gate)) }
                    }
                }
            }
        }
    }
}

pub(super) fn environment(document: &Document, most: usize) -> Markup {
    html! {
        section {
            h2 { "Environment and instrument" }
            details {
                summary { "Machine, calibration, targets" }
                (table(&["Fact".to_owned(), "Value".to_owned()], &facts(document, most)))
            }
        }
    }
}

fn facts(document: &Document, most: usize) -> Vec<Vec<String>> {
    let (machine, instrument) = (&document.environment, &document.calibration);
    let known = |value: &Option<String>| value.clone().unwrap_or_default();
    let percent = |value: Option<f64>| value.map(number::percent).unwrap_or_default();
    let cores = format!("{} of {}", machine.cores, machine.machine_cores);
    let smt = machine
        .smt
        .map(|on| if on { "on" } else { "off" })
        .unwrap_or_default();
    let cost = number::short_time(number::float(instrument.timer_cost_ps) / 1e3);
    let mut facts = vec![
        ("operating system", machine.os.clone()),
        ("kernel", machine.kernel.clone()),
        ("processor", machine.cpu.clone()),
        ("processor features", machine.cpu_features.join(" ")),
        ("cores", cores),
        ("memory", number::bytes(machine.memory_bytes)),
        ("governor", known(&machine.governor)),
        ("threads share cores", smt.to_owned()),
        ("virtualisation", known(&machine.virtualisation)),
        ("clock source", known(&machine.clock_source)),
        (
            "load average",
            machine.load_average.map(number::plain).unwrap_or_default(),
        ),
        (
            "timer resolution",
            number::nanoseconds(instrument.timer_resolution_ns),
        ),
        ("timer cost", cost),
        ("noise floor", percent(instrument.noise_percent)),
        ("commit", known(&document.tool.commit)),
        ("features", document.tool.features.join(" ")),
    ];
    facts.extend(
        document
            .run
            .suite
            .iter()
            .map(|suite| ("suite", format!("{} {}", suite.name, suite.sha256))),
    );
    let own = facts
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value]);
    let ceilings = instrument.ceilings_per_s.iter();
    let ceilings =
        ceilings.map(|(kind, rate)| vec![format!("ceiling, {kind}"), number::rate(*rate)]);
    let targets = machine.targets.iter().flat_map(|(target, facts)| {
        facts
            .iter()
            .map(move |(fact, value)| vec![format!("{target}, {fact}"), value.clone()])
    });
    let all = own.chain(ceilings).chain(targets.take(most));
    all.filter(|fact| fact.last().is_some_and(|value| !value.is_empty()))
        .collect()
}

pub(super) fn footer(document: &Document) -> Markup {
    html! {
        footer {
            p { "Run " code { (document.run.id) } ", seed " code { (document.run.seed) } "." }
            @if let Some(command) = text::closing::repeat(document) { p { "Repeat: " code { (command) } } }
            p {
                "Response time runs from when an operation was meant to start, service time from when it was "
                "sent. Intervals are 95 %. A quantile is withheld where fewer than ten values lie beyond it; "
                "a lower bound is marked with " code { ">=" } "."
            }
        }
    }
}
