//! The block of one case.

use keywright_measure::Exit;
use keywright_measure::document::{Case, Counts, Document};

use super::latency::{self, GAP};
use super::{Detail, Settings, histogram};
use crate::plain::shown;
use crate::style::{Tone, tone};
use crate::{describe, number, outcome};

/// The blocks of all cases; cases that are only a model stand in the block they belong to.
pub(super) fn blocks(document: &Document, settings: Settings) -> Vec<String> {
    document
        .cases
        .iter()
        .filter(|case| !describe::is_attached(document, case))
        .map(|case| block(document, case, settings))
        .collect()
}

fn block(document: &Document, case: &Case, settings: Settings) -> String {
    let mut out = settings.style.paint(Tone::Strong, &shown(&head(case))) + "\n";
    for (label, text) in lines(document, case, settings.detail) {
        out += &format!("  {label:<8}  {}\n", shown(&text));
    }
    if settings.detail == Detail::Verbose {
        for line in case.headline().map(histogram::lines).unwrap_or_default() {
            out += &format!("  {line}\n");
        }
    }
    out + &verdict(document, case, settings)
}

/// `sign.ecdsa-p256   soft   32 B   open, Poisson, target 2,000/s   30 s x 5 runs   cap 64`.
fn head(case: &Case) -> String {
    let name = if case.op.is_empty() {
        &case.id
    } else {
        &case.op
    };
    let mut parts = vec![name.clone(), case.target.clone()];
    parts.extend(describe::parameters(case));
    parts.push(describe::load(&case.load));
    parts.extend(describe::length(case));
    parts.retain(|part| !part.is_empty());
    parts.join(GAP)
}

fn lines(document: &Document, case: &Case, detail: Detail) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if !describe::is_model_only(case) {
        let mut achieved = format!("{}{GAP}{}", describe::achieved(case), counts(&case.counts));
        if let Some(bytes) = case.bytes_per_s {
            achieved += &format!("{GAP}{}", number::byte_rate(bytes));
        }
        if let Some(cpu) = case.cpu_ns_per_unit {
            achieved += &format!("{GAP}{} processor time each", number::time(cpu));
        }
        let label = if case.figure.is_some() {
            "measured"
        } else {
            "achieved"
        };
        out.push((label, achieved));
    }
    out.extend(times(case, detail));
    out.extend(faults(case));
    out.extend(
        describe::outages(case)
            .into_iter()
            .map(|outage| ("outage", outage)),
    );
    out.extend(
        case.parts
            .iter()
            .map(|part| ("part", part_line(part, detail))),
    );
    if !case.objectives.is_empty() {
        let met: Vec<String> = case.objectives.iter().map(describe::objective).collect();
        out.push(("slo", met.join(GAP)));
    }
    let checks = describe::checks(document, case);
    if !checks.is_empty() && !describe::is_model_only(case) {
        out.push(("checks", checks.join(GAP)));
    }
    out.extend(models(document, case));
    if detail == Detail::Verbose {
        out.extend(runs(case));
    }
    out
}

/// Response first; then service with lateness beside it, or why service says nothing.
fn times(case: &Case, detail: Detail) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    let by_cap = latency::set_by_cap(case);
    let beside = |text: String, other: Option<String>| match other {
        Some(other) if text.is_empty() => other,
        Some(other) => format!("{text}{GAP}{other}"),
        None => text,
    };
    match (&case.response, &case.service) {
        (Some(response), _) if by_cap.is_some() => {
            out.push(("response", beside(latency::full(response), by_cap)));
        }
        (Some(response), service) => {
            out.push(("response", latency::full(response)));
            let service = service
                .as_ref()
                .map(|s| latency::short(s, detail))
                .unwrap_or_default();
            out.push(("service", beside(service, latency::lateness(case))));
        }
        (None, Some(service)) => out.push(("service", beside(latency::full(service), by_cap))),
        (None, None) => {}
    }
    out.retain(|(_, text)| !text.is_empty());
    out
}

/// Where operations ended. What never started comes right after what was sent, with its share.
fn counts(counts: &Counts) -> String {
    let verified = match (counts.verified, counts.unverified) {
        (0, unverified) if unverified > 0 => "verified 0 (outputs not checked)".to_owned(),
        (verified, _) => format!("verified {}", number::count(verified)),
    };
    let count = |name: &str, n: u64| format!("{name} {}", number::count(n));
    let mut parts = Vec::new();
    if counts.never_sent > 0 {
        let share = number::part(counts.never_sent, counts.planned).map(number::share);
        parts.push(count("planned", counts.planned));
        parts.push(count("sent", counts.sent));
        parts.push(format!(
            "never sent {} ({})",
            number::count(counts.never_sent),
            share.unwrap_or_else(|| number::NONE.to_owned())
        ));
        parts.push(verified);
    } else {
        parts.extend([count("sent", counts.sent), verified]);
    }
    let always = counts.never_sent == 0;
    let failures = [("wrong", counts.wrong), ("errors", counts.error)];
    parts.extend(
        failures
            .into_iter()
            .filter(|f| always || f.1 > 0)
            .map(|(name, n)| count(name, n)),
    );
    let rest = [
        ("timed out", counts.timeout),
        ("unanswered", counts.censored),
    ];
    parts.extend(
        rest.into_iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| count(name, n)),
    );
    if always {
        parts.push("never sent 0".to_owned());
    }
    parts.join(GAP)
}

fn faults(case: &Case) -> Option<(&'static str, String)> {
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
    (!faults.is_empty()).then(|| ("errors", faults.join(GAP)))
}

fn part_line(part: &keywright_measure::document::Part, detail: Detail) -> String {
    let weight = number::weight(part.weight);
    let mut out = format!(
        "{} (weight {weight}){GAP}{}",
        part.name,
        number::rate(part.achieved_per_s)
    );
    if let Some(times) = part.response.as_ref().or(part.service.as_ref()) {
        let kind = if part.response.is_some() {
            "response"
        } else {
            "service"
        };
        out += &format!("{GAP}{kind} {}", latency::short(times, detail));
    }
    format!("{out}{GAP}{}", counts(&part.counts))
}

/// Saturation and scaling share the line about capacity; other models have lines of their own.
fn models(document: &Document, case: &Case) -> Vec<(&'static str, String)> {
    let mut out: Vec<(&'static str, String)> = Vec::new();
    for (model, scaled) in describe::attached(document, case) {
        let Some((label, text)) = describe::model(model, scaled) else {
            continue;
        };
        match out.iter_mut().find(|(other, _)| *other == label) {
            Some((_, line)) => *line += &format!("; {text}"),
            None => out.push((label, text)),
        }
    }
    out
}

fn runs(case: &Case) -> Vec<(&'static str, String)> {
    let time = |ns: Option<u64>| ns.map_or_else(|| number::NONE.to_owned(), number::nanoseconds);
    case.runs
        .iter()
        .map(|run| {
            let (p50, p99) = (time(run.p50_ns), time(run.p99_ns));
            let rate = number::rate(run.achieved_per_s);
            let before = match run.unsettled_blocks {
                None | Some(0) => String::new(),
                Some(n) => format!("{GAP}at rest after {n} blocks"),
            };
            let noise = run.noise_percent.filter(|percent| percent.is_finite());
            let noise = noise.map_or_else(String::new, |percent| {
                format!("{GAP}noise {}", number::percent(percent))
            });
            (
                "run",
                format!(
                    "{}{GAP}{rate}{GAP}service p50 {p50}{GAP}p99 {p99}{noise}{before}",
                    run.run
                ),
            )
        })
        .collect()
}

/// Comparisons and, last, the words. One comparison stands right behind its word.
fn verdict(document: &Document, case: &Case, settings: Settings) -> String {
    let compared: Vec<_> = document
        .comparison
        .iter()
        .filter(|c| c.case == case.id)
        .collect();
    let mut out = String::new();
    let mut words: Vec<String> = outcome::words(case)
        .into_iter()
        .map(|word| settings.style.paint(tone(word), word.text()))
        .collect();
    for comparison in &compared {
        let sentence = shown(&describe::comparison(comparison));
        let place = comparison.verdict.and_then(|verdict| {
            outcome::words(case)
                .iter()
                .position(|word| *word == verdict)
        });
        match (place.and_then(|place| words.get_mut(place)), compared.len()) {
            (Some(word), 1) => *word += &format!(" {sentence}"),
            _ => {
                let verdict = comparison
                    .verdict
                    .map(|word| format!("{GAP}{}", settings.style.paint(tone(word), word.text())));
                out += &format!("  compare   {sentence}{}\n", verdict.unwrap_or_default());
            }
        }
    }
    out += &format!("  {}", words.join("  "));
    let decides = case.verdict().exit();
    if decides != Exit::Ok && decides.code() == document.exit.code {
        out += &format!(
            "        exit {} {}",
            document.exit.code,
            shown(&document.exit.name)
        );
    }
    out + "\n"
}
