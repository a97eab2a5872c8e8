//! Documents to record, and a folder to record them in.

use keywright_measure::document::{
    BlockRecord, Case, Comparison, Counts, Document, FaultCount, Interval, Latency, LoadRecord,
    Model, Part, Quantile, RunRecord, SizeModel, SizePoint, Suite,
};
use keywright_measure::stats::random::Generator;
use keywright_measure::verdict::Word;
use keywright_report::history::{History, RunId};

/// A small run: one case, comparable with every other small one.
pub(crate) fn small(number: u64) -> Document {
    let mut document = Document::default();
    document.run.id = format!("{number:016x}");
    document.run.started = format!("2026-01-01T00:00:00.{number:09}Z");
    document.environment.cpu = "Model 7".to_owned();
    document.environment.cores = 4;
    document.tool.profile = "release".to_owned();
    document.cases = vec![Case {
        id: "seal".to_owned(),
        op: "aead.seal".to_owned(),
        target: "local".to_owned(),
        achieved_per_s: 1000.0,
        verdicts: vec![Word::Valid],
        ..Case::default()
    }];
    document
}

/// The same with a figure.
pub(crate) fn achieved(number: u64, per_s: f64) -> Document {
    let mut document = small(number);
    document.cases[0].achieved_per_s = per_s;
    document
}

/// Every part that is stored apart, filled, with figures that need all 64 bits.
pub(crate) fn full(number: u64) -> Document {
    let mut document = small(number);
    document.run.seed = u64::MAX;
    document.run.tags = vec!["ci".to_owned(), "it's \"quoted\"".to_owned()];
    document.run.note = Some("first".to_owned());
    document.run.suite = Some(Suite {
        name: "sessions".to_owned(),
        sha256: "00".repeat(32),
    });
    document.environment.load_average = Some(0.1 + 0.2);
    document.verdicts = vec![Word::Saturated, Word::CoLocated];
    document.comparison = vec![Comparison {
        case: "seal".to_owned(),
        ratio: 1.000_000_000_000_000_2,
        verdict: Some(Word::Pass),
        ..Comparison::default()
    }];
    let case = document.cases[0].clone();
    document.cases.push(filled(case));
    document
}

fn filled(case: Case) -> Case {
    Case {
        id: "open".to_owned(),
        response: Some(latency("response")),
        service: Some(latency("service")),
        lateness: Some(latency("lateness")),
        pacer: Some(latency("pacer")),
        error_latency: Some(latency("error")),
        counts: Counts {
            planned: u64::MAX,
            ..Counts::default()
        },
        errors: vec![
            FaultCount {
                phase: "status".to_owned(),
                code: "503".to_owned(),
                n: 7,
            };
            2
        ],
        runs: vec![RunRecord::default(); 3],
        blocks: (0..5).map(block).collect(),
        achieved_interval: Some(Interval {
            lo: 0.1,
            hi: 1.0 / 3.0,
        }),
        load: LoadRecord {
            mode: "open".to_owned(),
            rate_per_s: Some(2000.0),
            ..LoadRecord::default()
        },
        parts: vec![Part {
            service: Some(latency("part")),
            ..Part::default()
        }],
        model: Some(Model::Size(SizeModel {
            points: vec![SizePoint {
                size_bytes: 16,
                time_ns: 2.0 / 3.0,
            }],
            ..SizeModel::default()
        })),
        verdicts: vec![Word::Saturated, Word::CoLocated],
        ..case
    }
}

fn latency(hdr: &str) -> Latency {
    let quantile = |value| Quantile {
        value,
        n: 1000,
        ..Quantile::default()
    };
    Latency {
        quantiles: [
            ("p50_ns".to_owned(), quantile(Some(u64::MAX))),
            ("p99_ns".to_owned(), quantile(None)),
        ]
        .into(),
        n: 1000,
        mean_ns: Some(1e300),
        hdr: Some(hdr.to_owned()),
        ..Latency::default()
    }
}

fn block(number: u32) -> BlockRecord {
    BlockRecord {
        run: number % 2,
        start_ns: u64::from(number) * 1_000_000_000,
        done: u64::MAX - u64::from(number),
        p99_ns: (number > 1).then_some(5),
        canary: Some(1.0 / f64::from(number + 1)),
        ..BlockRecord::default()
    }
}

/// Runs from `first` on, with one figure each.
pub(crate) fn record_figures(history: &mut History, first: u64, figures: &[f64]) -> Vec<RunId> {
    let documents: Vec<Document> = (first..)
        .zip(figures)
        .map(|(number, figure)| achieved(number, *figure))
        .collect();
    history.record_all(&documents).unwrap()
}

/// Independent values of one distribution: a level and two percent of noise.
pub(crate) fn noise(seed: u64, level: f64, count: usize) -> Vec<f64> {
    let mut generator = Generator::new(seed);
    (0..count)
        .map(|_| level * (1.0 + 0.02 * generator.normal()))
        .collect()
}
