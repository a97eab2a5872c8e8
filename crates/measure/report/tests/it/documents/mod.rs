//! Documents that the other modules write and read.

mod models;
mod rich;

use std::collections::BTreeMap;

use keywright_measure::document::{
    Bound, Case, Counts, Document, Ending, Interval, Latency, LoadRecord, Model, Quantile, Remark,
    SaturationModel, ScalingModel, ScalingPoint,
};
use keywright_measure::{Exit, Word};

pub(crate) use rich::rich;

/// Every document that every form has to take.
pub(crate) fn every() -> Vec<(&'static str, Document)> {
    vec![
        ("empty", Document::default()),
        ("without samples", without_samples()),
        ("rich", rich()),
        ("claimed", claimed()),
        ("not numbers", not_numbers()),
        ("hostile", hostile(HOSTILE)),
        ("very long names", hostile(&"n".repeat(20_000))),
    ]
}

/// One case of which nothing is known but its name.
pub(crate) fn without_samples() -> Document {
    let case = Case {
        id: "sign".into(),
        op: "sign".into(),
        target: "soft".into(),
        ..Case::default()
    };
    Document {
        cases: vec![case],
        ..Document::default()
    }
}

/// A name that tries to be markup, a formula, an escape sequence and a table cell at once.
pub(crate) const HOSTILE: &str =
    "=1+1</td></script><script>alert('x')</script>\"|`[l](http://h)\u{1b}[31m\r\n\u{202e}\t,\\";

/// The rich document with `name` wherever a name from outside stands.
pub(crate) fn hostile(name: &str) -> Document {
    let mut document = rich();
    let text = || name.to_owned();
    document.run.note = Some(text());
    document.run.command = text();
    document.run.tags = vec![text()];
    document.environment.cpu = text();
    document.environment.targets = BTreeMap::from([(text(), BTreeMap::from([(text(), text())]))]);
    document.validity.push(Remark {
        text: text(),
        remedy: Some(text()),
        case: Some(text()),
        word: None,
    });
    for gate in &mut document.gates {
        gate.condition = text();
    }
    for comparison in &mut document.comparison {
        (comparison.case, comparison.against, comparison.metric) = (text(), text(), text());
    }
    for (place, case) in document.cases.iter_mut().enumerate() {
        case.id = format!("{name}{place}");
        (case.op, case.target, case.unit) = (text(), text(), text());
        (case.load.mode, case.load.arrival) = (text(), Some(text()));
        case.parameters.insert(text(), text());
        for fault in &mut case.errors {
            (fault.phase, fault.code) = (text(), text());
        }
        for objective in &mut case.objectives {
            (objective.condition, objective.outcome) = (text(), text());
        }
        for part in &mut case.parts {
            part.name = text();
        }
        match &mut case.model {
            Some(Model::Breakdown(model)) => {
                for phase in &mut model.phases {
                    (phase.name, phase.source) = (text(), text());
                }
            }
            Some(Model::Saturation(model)) => model.criterion = Some(text()),
            _ => {}
        }
    }
    document
}

/// The rich document with no float that is a number.
pub(crate) fn not_numbers() -> Document {
    let mut document = rich();
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for (case, bad) in document.cases.iter_mut().zip(bad.iter().cycle().copied()) {
        case.achieved_per_s = bad;
        case.bytes_per_s = Some(bad);
        case.cpu_ns_per_unit = Some(bad);
        case.load.rate_per_s = Some(bad);
        case.checks.little_percent = Some(bad);
        case.checks.noise_percent = Some(bad);
        case.achieved_interval = Some(Interval { lo: bad, hi: bad });
        for latency in case.response.iter_mut().chain(&mut case.service) {
            latency.mean_ns = Some(bad);
        }
        for objective in &mut case.objectives {
            objective.value = Some(bad);
        }
        match &mut case.model {
            Some(Model::Scaling(model)) => {
                (model.lambda, model.sigma, model.kappa) = (bad, bad, bad)
            }
            Some(Model::Size(model)) => (model.call_ns, model.byte_ns) = (bad, bad),
            Some(Model::Breakdown(model)) => model.total_ns = bad,
            Some(Model::Recovery(model)) => model.latency_debt_s = bad,
            _ => {}
        }
    }
    for comparison in &mut document.comparison {
        (comparison.ratio, comparison.current, comparison.threshold) = (bad[0], bad[1], bad[2]);
    }
    for gate in &mut document.gates {
        gate.value = f64::NAN;
    }
    document
        .calibration
        .ceilings_per_s
        .insert("threads".into(), f64::INFINITY);
    document
}

/// The service report of the fourth ladder row and up: 100,000 requests a second offered, 2,000 in flight at
/// most, and what it should have said about that.
#[expect(clippy::too_many_lines, reason = "one record, member by member")]
pub(crate) fn claimed() -> Document {
    let bound = |ns: u64| Quantile {
        value: Some(ns),
        n: 3_000_000,
        bound: Bound::AtLeast,
        ..Quantile::default()
    };
    let quantiles = [
        ("p50_ns", 11_800_000_000),
        ("p95_ns", 22_400_000_000),
        ("p99_ns", 23_300_000_000),
    ];
    let quantiles = quantiles.map(|(name, ns)| (name.to_owned(), bound(ns)));
    let ladder = SaturationModel {
        highest_passing_per_s: Some(20_000.0),
        lowest_failing_per_s: Some(25_000.0),
        criterion: Some("backlog grows".into()),
        ..SaturationModel::default()
    };
    let case = Case {
        id: "encrypt".into(),
        op: "encrypt".into(),
        target: "service".into(),
        unit: "operations".into(),
        parameters: BTreeMap::from([
            ("size_bytes".to_owned(), "12".to_owned()),
            ("transport".to_owned(), "HTTP/2 mTLS".to_owned()),
        ]),
        load: LoadRecord {
            mode: "open".into(),
            arrival: Some("constant".into()),
            rate_per_s: Some(100_000.0),
            cap: 2_000,
            duration_ns: 30_000_000_000,
            ..LoadRecord::default()
        },
        counts: Counts {
            planned: 3_000_000,
            sent: 644_100,
            never_sent: 2_355_900,
            unverified: 644_100,
            ..Counts::default()
        },
        achieved_per_s: 21_470.0,
        response: Some(Latency {
            quantiles: quantiles.into(),
            n: 3_000_000,
            ..Latency::default()
        }),
        service: Some(Latency {
            mean_ns: Some(93_150_000.0),
            n: 644_100,
            ..Latency::default()
        }),
        model: Some(Model::Saturation(ladder)),
        verdicts: vec![Word::Saturated, Word::ConcurrencyLimited, Word::CoLocated],
        ..Case::default()
    };
    Document {
        cases: vec![case, cores()],
        exit: Ending::from(Exit::MeasurementInvalid),
        ..Document::default()
    }
}

/// One core against four.
fn cores() -> Case {
    let point = |threads, rate_per_s, speed_up, efficiency, serial_fraction| ScalingPoint {
        threads,
        rate_per_s,
        speed_up,
        efficiency,
        serial_fraction,
        fairness: None,
    };
    Case {
        id: "encrypt/cores".into(),
        op: "encrypt".into(),
        target: "service".into(),
        parameters: BTreeMap::from([("scaled".to_owned(), "cores".to_owned())]),
        model: Some(Model::Scaling(ScalingModel {
            points: vec![
                point(1, 20_000.0, 1.0, 1.0, None),
                point(4, 20_800.0, 1.04, 0.26, Some(0.948_7)),
            ],
            ..ScalingModel::default()
        })),
        ..Case::default()
    }
}

/// So many rich cases with so many blocks each.
pub(crate) fn many(cases: usize, blocks: usize) -> Document {
    let mut document = rich();
    let one = document.cases[0].clone();
    let block = one.blocks[0].clone();
    document.cases = (0..cases)
        .map(|place| {
            let blocks = (0_u64..).take(blocks).map(|k| {
                let mut block = block.clone();
                block.start_ns = k * 1_000_000_000;
                block.done += k * 37 % 101;
                block.p99_ns = Some(1_700_000 + k * 7_919 % 90_000);
                block
            });
            Case {
                id: format!("case-{place}"),
                blocks: blocks.collect(),
                ..one.clone()
            }
        })
        .collect();
    document
}
