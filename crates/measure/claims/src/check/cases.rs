//! Rules for our own result documents.

use super::quantiles::{name, needed};
use super::rates::{REACHED, admits};
use crate::finding::{Check, Finding, Place};
use crate::print;
use crate::read::cases::{Case, Latency};

/// How far concurrency may exceed its limit by the digits and edges of a run.
const LITTLE: f64 = 1.02;

/// Every rule for one case.
pub(crate) fn check(case: &Case) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(planned(case));
    findings.extend(sent(case));
    findings.extend(below_target(case));
    findings.extend(littles_law(case));
    findings.extend(response_before_service(case));
    for latency in &case.latencies {
        findings.extend(order(case, latency));
        findings.extend(too_few(case, latency));
        findings.extend(more_samples_than_operations(case, latency));
    }
    findings
}

fn place(case: &Case, columns: &[&str]) -> Place {
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    Place {
        line: None,
        row: case.label.clone(),
        columns,
    }
}

/// planned = sent + never sent.
fn planned(case: &Case) -> Option<Finding> {
    let planned = case.count("planned")?;
    let parts = ["sent", "never_sent"];
    balance(case, ("planned", planned), &parts)
}

/// sent = verified + unverified + wrong + error + timeout + censored.
fn sent(case: &Case) -> Option<Finding> {
    let sent = case.count("sent")?;
    let parts = [
        "verified",
        "unverified",
        "wrong",
        "error",
        "timeout",
        "censored",
    ];
    balance(case, ("sent", sent), &parts)
}

fn balance(case: &Case, (whole, count): (&str, f64), parts: &[&str]) -> Option<Finding> {
    let known: Vec<f64> = parts.iter().filter_map(|part| case.count(part)).collect();
    let sum: f64 = known.iter().sum();
    // Counts are whole: half an operation is more than any error of adding them.
    if known.is_empty() || (sum - count).abs() < 0.5 {
        return None;
    }
    let mut columns = vec![whole];
    columns.extend(parts);
    let claimed = format!("{whole} {}", print::number(count));
    let text = format!("{} are {}", parts.join(" + "), print::number(sum));
    Some(Finding::new(
        Check::Accounting,
        place(case, &columns),
        claimed,
        text,
    ))
}

fn more_samples_than_operations(case: &Case, latency: &Latency) -> Option<Finding> {
    let planned = case.count("planned")?;
    let most = latency
        .quantiles
        .iter()
        .filter_map(|one| one.samples)
        .fold(0.0, f64::max);
    if most < planned + 0.5 {
        return None;
    }
    let claimed = format!("{} samples of {}", print::number(most), latency.name);
    let text = format!("{} operations were planned", print::number(planned));
    let at = place(case, &[latency.name, "planned"]);
    Some(Finding::new(Check::Accounting, at, claimed, text))
}

fn admitted(case: &Case) -> bool {
    case.words.iter().any(|word| admits(word))
}

fn below_target(case: &Case) -> Option<Finding> {
    let (target, achieved) = (case.target?, case.achieved?);
    if achieved >= target * REACHED || admitted(case) {
        return None;
    }
    let claimed = format!("a load of {}", print::rate(target));
    let share = print::number(100.0 * achieved / target);
    let text = format!(
        "{} is {share} % of it, and no verdict says so",
        print::rate(achieved)
    );
    let at = place(case, &["rate_per_s", "achieved_per_s"]);
    Some(Finding::new(Check::AchievedBelowTarget, at, claimed, text))
}

/// Mean in flight = rate × mean service: never above the cap, and near it only with the word for it.
fn littles_law(case: &Case) -> Option<Finding> {
    let (cap, achieved) = (case.cap?, case.achieved?);
    let mean = case.latency("service")?.mean?;
    let in_flight = achieved * mean / 1e9;
    let claimed = format!(
        "a mean service time of {} at cap {}",
        print::time(mean / 1e9),
        print::number(cap)
    );
    let at = place(case, &["cap", "achieved_per_s", "service.mean_ns"]);
    if cap > 0.0 && in_flight > cap * LITTLE {
        let text = format!("rate times mean are {} in flight", print::number(in_flight));
        return Some(Finding::new(Check::LittlesLaw, at, claimed, text));
    }
    let missed = case
        .target
        .is_some_and(|target| achieved < target * REACHED);
    let pinned = cap > 0.0 && in_flight >= 0.95 * cap && missed;
    let silent = !case
        .words
        .iter()
        .any(|word| word.contains("CONCURRENCY-LIMITED"));
    (pinned && silent).then(|| {
        let text = format!(
            "cap divided by rate is {}: the mean says nothing about the server",
            print::time(cap / achieved)
        );
        Finding::new(Check::LittlesLaw, at, claimed, text)
    })
}

/// A response starts when it was intended, a service when it was sent: the first is never the shorter.
fn response_before_service(case: &Case) -> Option<Finding> {
    let response = case.latency("response")?.mean?;
    let service = case.latency("service")?.mean?;
    let claimed = format!("a mean response of {}", print::time(response / 1e9));
    let text = format!("the service alone takes {}", print::time(service / 1e9));
    let at = place(case, &["response.mean_ns", "service.mean_ns"]);
    // Both means are rounded to the three digits of a histogram.
    let shorter = response < service * 0.995;
    shorter.then(|| Finding::new(Check::QuantileOrder, at, claimed, text))
}

fn order(case: &Case, latency: &Latency) -> Option<Finding> {
    let mut rising: Vec<(String, f64)> = Vec::new();
    rising.extend(latency.min.map(|min| ("min".to_owned(), min)));
    rising.extend(
        latency
            .quantiles
            .iter()
            .map(|one| (name(one.share), one.value)),
    );
    rising.extend(latency.max.map(|max| ("max".to_owned(), max)));
    let pair = rising.windows(2).find_map(|pair| match pair {
        [low, high] if low.1 > high.1 => Some((low, high)),
        _ => None,
    });
    let (low, high) = pair?;
    let claimed = format!("{} {} {}", latency.name, high.0, print::time(high.1 / 1e9));
    let text = format!("{} is {}", low.0, print::time(low.1 / 1e9));
    let at = place(case, &[latency.name, &low.0, &high.0]);
    Some(Finding::new(Check::QuantileOrder, at, claimed, text))
}

fn too_few(case: &Case, latency: &Latency) -> Vec<Finding> {
    let wrong = latency.quantiles.iter().filter_map(|one| {
        let samples = one.samples.filter(|samples| *samples < needed(one.share))?;
        let claimed = format!(
            "{} {} from {} samples",
            latency.name,
            name(one.share),
            print::number(samples)
        );
        let text = format!("{} are needed", print::number(needed(one.share)));
        let at = place(case, &[latency.name, &name(one.share)]);
        Some(Finding::new(
            Check::QuantileFromTooFewSamples,
            at,
            claimed,
            text,
        ))
    });
    wrong.collect()
}
