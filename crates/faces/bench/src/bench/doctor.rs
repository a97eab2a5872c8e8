//! `bench doctor` and `bench calibrate`: what this machine and this instrument are good for.

use std::num::NonZeroU32;
use std::path::Path;

use keywright_clock::Clock;
use keywright_measure::canary::{Canary, Noise, variation_percent};
use keywright_measure::doctor::{Severity, examine};
use keywright_measure::machine::Machine;
use keywright_measure::timer::Timer;
use keywright_measure::{Load, Open};
use keywright_report::number;
use serde::Serialize;

use super::flags::TargetFlags;
use super::op::find;
use super::ready::workshop;
use super::sitting::unmeasurable;
use super::work::Work;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Serialize)]
struct Report {
    findings: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    severity: &'static str,
    what: String,
    why: String,
    remedy: String,
}

/// Says what speaks against measuring here, and changes nothing.
pub(super) fn doctor(format: Format) -> Result<Exit, Failure> {
    let machine = Machine::read(Path::new("/"));
    let findings = examine(&machine, super::build());
    let report = Report {
        findings: findings
            .iter()
            .map(|finding| Line {
                severity: finding.severity.name(),
                what: finding.what.clone(),
                why: finding.why.to_string(),
                remedy: finding.remedy.to_string(),
            })
            .collect(),
    };
    output::document(format, &report, || text(&report))?;
    let problem = findings
        .iter()
        .any(|finding| finding.severity == Severity::Problem);
    Ok(if problem {
        Exit::MeasurementInvalid
    } else {
        Exit::Ok
    })
}

fn text(report: &Report) -> String {
    if report.findings.is_empty() {
        return "nothing speaks against measuring on this machine\n".to_owned();
    }
    let lines = report.findings.iter();
    lines
        .map(|line| {
            format!(
                "{}: {}\n  why: {}\n  remedy: {}\n",
                line.severity, line.what, line.why, line.remedy
            )
        })
        .collect()
}

#[derive(Serialize)]
struct Calibrated {
    timer_resolution_ns: u64,
    timer_cost_ps: u64,
    empty_loop_ps: u64,
    shortest_sample_ns: u64,
    noise_percent: Option<f64>,
    noise: Option<&'static str>,
    /// Requests a second that the generator makes of the null mode: the least that it can do.
    generator_http2_per_s: f64,
}

/// What the generator makes of requests that do nothing.
fn ceiling(clock: &Clock) -> Result<f64, Failure> {
    let work = Work::prepare(None)?;
    let workshop = workshop(clock, 1, &TargetFlags::default(), &work)?;
    let second = std::time::Duration::from_secs(1);
    let load = Open::constant(1.0, second, NonZeroU32::MIN)
        .map_err(|error| Failure::broken(error.to_string()))?;
    let ceiling = workshop.ceiling(find("service.null")?, &Load::Open(load));
    let ceiling = ceiling.map_err(|error| unmeasurable(&error))?;
    ceiling.ok_or_else(|| Failure::broken("the null mode is no request"))
}

/// Measures the clock, the noise of the machine and what the generator can make.
pub(super) fn calibrate(format: Format) -> Result<Exit, Failure> {
    let clock = Clock::system();
    let timer = Timer::calibrate(&clock);
    let canary = Canary::new(&clock);
    let samples: Vec<u64> = (0..50).flat_map(|_| canary.sample(&clock)).collect();
    let percent = variation_percent(&samples);
    let http2 = ceiling(&clock)?;
    let calibrated = Calibrated {
        generator_http2_per_s: http2,
        timer_resolution_ns: timer.resolution_ns(),
        timer_cost_ps: timer.cost_picos(),
        empty_loop_ps: timer.loop_picos(),
        shortest_sample_ns: timer.shortest_sample_ns(),
        noise_percent: percent,
        noise: percent.map(|percent| Noise::of(percent).name()),
    };
    output::document(format, &calibrated, || {
        let noise = percent.map_or_else(
            || "unknown".to_owned(),
            |percent| format!("{} {}", number::percent(percent), Noise::of(percent).name()),
        );
        output::fields(&[
            (
                "timer resolution",
                number::nanoseconds(timer.resolution_ns()),
            ),
            (
                "timer cost",
                number::time(timer.cost_picos() as f64 / 1000.0),
            ),
            (
                "empty loop",
                number::time(timer.loop_picos() as f64 / 1000.0),
            ),
            (
                "shortest sample",
                number::nanoseconds(timer.shortest_sample_ns()),
            ),
            ("noise of fixed work", noise),
            (
                "generator, HTTP/2",
                format!("at least {}", number::rate(http2)),
            ),
        ])
    })?;
    Ok(Exit::Ok)
}
