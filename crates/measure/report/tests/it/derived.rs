//! Every figure that follows from others, recomputed from them, in every form of a comparison: of a quantity of which
//! more is better, and of two of which less is.

use keywright_clock::{Clock, WallTime};
use keywright_measure::compare::{self, Metric};
use keywright_measure::document::{Case, Comparison, Document, RunRecord};
use keywright_measure::event::Nobody;
use keywright_measure::gate::{self, Rules};
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::{Load, Stop, Window};
use keywright_report::exports::{self, seed};
use keywright_report::history::History;
use keywright_report::json::{self, Layout};
use keywright_report::text::{Settings, comparison_table, render_against};
use keywright_report::{csv, html};
use serde_json::Value;
use std::num::NonZeroU32;
use std::time::Duration;

const RUNS: u32 = 8;
const BYTES: u64 = 1024;

/// A closed load on a simulated server, measured by the engine.
fn measured(service_us: u64, operations: u64) -> Case {
    let mut server = Server {
        places: 2,
        service: Service::Exponential(Duration::from_micros(service_us)),
        ..Server::default()
    };
    let mut plan = CasePlan::new("seal", "simulated");
    plan.load = Load::Closed {
        workers: NonZeroU32::new(2).unwrap(),
    };
    plan.warmup = Duration::ZERO;
    plan.window = Window::Operations(operations);
    plan.bytes = BYTES;
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let session = Session {
        clock: &clock,
        seed: service_us,
        runs: RUNS,
        cooldown: Duration::ZERO,
        block: Duration::from_secs(1),
        facts: Vec::new(),
        stop: &Stop::new(),
        rest: |_| {},
    };
    let carrier = &mut server;
    let outcomes = session.measure(&mut [Entry { plan, carrier }], &Nobody);
    match outcomes.into_iter().next().unwrap() {
        Outcome::Measured(case) => *case,
        other => panic!("{other:?}"),
    }
}

/// A quantity that is no rate, of which less is better.
fn memory(kib: f64) -> Case {
    let runs = (0..RUNS).map(|run| RunRecord {
        run,
        figure: Some(kib * 1024.0 * (1.0 + f64::from(run) / 1000.0)),
        ..RunRecord::default()
    });
    Case {
        id: "memory".to_owned(),
        op: "memory".to_owned(),
        target: "simulated".to_owned(),
        unit: "bytes".to_owned(),
        figure: Some(kib * 1024.0 * 1.0035),
        runs: runs.collect(),
        ..Case::default()
    }
}

/// A result that was compared with a baseline, and the baseline.
fn pair((now, then): (u64, u64), (kib_now, kib_then): (f64, f64)) -> (Document, Document) {
    let document = |id: &str, cases: Vec<Case>| {
        let mut document = Document {
            cases,
            ..Document::default()
        };
        document.run.id = id.to_owned();
        document.run.started = "2026-01-02T03:04:05Z".to_owned();
        "keywright".clone_into(&mut document.tool.name);
        document
    };
    let baseline = document(
        "00000000000000bb",
        vec![measured(then, 1000), memory(kib_then)],
    );
    let mut current = document(
        "00000000000000aa",
        vec![measured(now, 500), memory(kib_now)],
    );
    let metrics = [Metric::Throughput, Metric::P50, Metric::Figure];
    let compared = compare::suite(&current.cases, ("main", &baseline.cases), &metrics);
    current.comparison = gate::decide(&compared.differences, &Rules::default());
    (current, baseline)
}

fn pairs() -> [(Document, Document); 3] {
    [
        pair((1200, 1000), (100.0, 200.0)),
        pair((1000, 1300), (300.0, 100.0)),
        pair((1000, 1000), (100.0, 100.0)),
    ]
}

#[track_caller]
fn same(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-9,
        "{found} is not {expected}"
    );
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Demands that a comparison follows from its two figures.
#[track_caller]
fn follows(one: &Comparison) {
    same(one.ratio, one.current / one.baseline);
    let ends = one.interval.as_ref().unwrap();
    assert!(ends.lo <= one.ratio && one.ratio <= ends.hi, "{one:?}");
    if let Some(delta) = one.delta.filter(|delta| delta.abs() == 1.0) {
        assert_eq!(delta > 0.0, one.current > one.baseline, "{one:?}");
    }
}

#[test]
fn json_ratios_rates_and_totals_follow_from_their_neighbours() {
    for (current, baseline) in pairs() {
        assert_eq!(current.comparison.len(), 3, "{:?}", current.comparison);
        let text = json::render(&current, Layout::Line).unwrap();
        let read = json::read(text.as_bytes()).unwrap();
        for one in &read.comparison {
            follows(one);
            let of = |document: &Document| {
                let case = document
                    .cases
                    .iter()
                    .find(|case| case.id == one.case)
                    .unwrap();
                match one.metric.as_str() {
                    "throughput" => Some(case.achieved_per_s),
                    "figure" => case.figure,
                    _ => None,
                }
            };
            if let (Some(now), Some(then)) = (of(&current), of(&baseline)) {
                same(one.current, now);
                same(one.baseline, then);
            }
        }
        let case = &read.cases[0];
        same(
            case.bytes_per_s.unwrap(),
            case.achieved_per_s * BYTES as f64,
        );
        let zero = RunRecord::default().counts;
        let total = case
            .runs
            .iter()
            .fold(zero, |sum, run| sum.plus(&run.counts));
        assert!(total == case.counts && total.balance());
        for run in &case.runs {
            let blocks = case.blocks.iter().filter(|block| block.run == run.run);
            let (done, ns) = blocks.fold((0, 0), |(done, ns), block| {
                (done + block.done, ns + block.duration_ns)
            });
            assert_eq!(done, run.counts.answered());
            // The last block ends with the run; operations at its very end belong to it.
            let rate = done as f64 * 1e9 / ns as f64;
            assert!((run.achieved_per_s / rate - 1.0).abs() < 0.02, "{rate}");
        }
    }
}

#[test]
fn csv_differences_and_ratios_follow_from_their_neighbours() {
    for (current, _) in pairs() {
        let text = csv::long(&current);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let column = |name: &str| head.iter().position(|one| one == name).unwrap();
        let (case, metric, value) = (column("case"), column("metric"), column("value"));
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        for one in &current.comparison {
            let of = |suffix: &str| -> f64 {
                let name = format!("{}_{suffix}", one.metric);
                let row = rows
                    .iter()
                    .find(|row| row[case] == *one.case && row[metric] == *name);
                row.unwrap()[value].parse().unwrap()
            };
            let ratio = of("ratio");
            same(ratio, one.current / of("baseline"));
            assert!((of("diff") - 100.0 * (ratio - 1.0)).abs() < 1e-9);
        }
    }
}

#[test]
fn published_forms_follow_from_their_neighbours() {
    for (current, _) in pairs() {
        let both: Value = serde_json::from_str(&seed::json_beside(&current).unwrap()).unwrap();
        let alone: Value = serde_json::from_str(&seed::json(&current).unwrap()).unwrap();
        assert_eq!(both["results"], alone["results"]);
        assert_eq!(both["metadata"], alone["metadata"]);
        let read = json::read(both.to_string().as_bytes()).unwrap();
        assert_eq!(read.cases, current.cases);
        let one = &both["results"][0];
        assert_eq!(one["iterations"], both["metadata"]["iterations_per_test"]);
        assert_eq!(number(&one["iterations"]), 500.0 * f64::from(RUNS));
        // Two workers side by side.
        let [iterations, total, rate, mean] = [
            "iterations",
            "total_duration",
            "ops_per_sec",
            "avg_latency_ms",
        ]
        .map(|name| number(&one[name]));
        same(rate, iterations / total * 1e3);
        same(mean, 2.0 * total / iterations);
        for name in ["p50", "p95", "p99"] {
            assert_eq!(one["percentiles"][name], one[format!("{name}_ms")]);
            assert!(number(&one["min"]) <= number(&one["percentiles"][name]));
        }
        let text = seed::csv_beside(&current);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let of = |place: usize, name: &str| -> f64 {
            let column = head.iter().position(|one| one == name).unwrap();
            rows[place][column].parse().unwrap()
        };
        same(of(0, "ops_per_sec"), 2e3 / of(0, "avg_ms"));
        let ratio = of(0, "achieved_per_s") / of(0, "baseline_per_s");
        assert!((of(0, "diff_percent") - 100.0 * (ratio - 1.0)).abs() < 1e-9);
    }
}

/// The first number behind `mark`.
fn behind(text: &str, mark: &str) -> f64 {
    let (_, rest) = text
        .split_once(mark)
        .unwrap_or_else(|| panic!("{mark}: {text}"));
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.');
    rest[..end.unwrap_or(rest.len())].parse().unwrap()
}

#[test]
fn text_markdown_and_html_have_the_ratio_of_the_figures() {
    for (current, baseline) in pairs() {
        let mut marked = current.clone();
        gate::mark(&mut marked.cases, &current.comparison, &[]);
        let text = render_against(&marked, Some(&baseline), Settings::default());
        let table = comparison_table(&current, &baseline);
        for one in &current.comparison {
            let ratio = one.current / one.baseline;
            let sentence = format!("{} vs main: ratio ", one.metric);
            for form in [text.as_str(), &exports::markdown(&current)] {
                assert!((behind(form, &sentence) - ratio).abs() <= 0.0005, "{form}");
            }
            let page = html::render(&current);
            assert!(page.contains(&format!("{ratio:.3} ")), "{ratio}");
            if one.metric == "p50" {
                continue;
            }
            let line = table
                .lines()
                .find(|line| line.starts_with(&one.case))
                .unwrap();
            let percent = format!(" {:+.1}%", 100.0 * (ratio - 1.0));
            assert!(line.contains(&percent), "{percent}: {line}");
        }
        // The sentence of a verdict has the same ratio.
        let remarks = marked.cases.iter().flat_map(|case| &case.validity);
        for remark in remarks {
            let one = current.comparison.iter().find(|one| {
                Some(&one.case) == remark.case.as_ref() && remark.text.starts_with(&one.metric)
            });
            if let Some(one) = one {
                let found = behind(&remark.text, " is ");
                assert!(
                    (found - one.current / one.baseline).abs() <= 0.0005,
                    "{remark:?}"
                );
            }
        }
    }
}

#[test]
fn history_keeps_the_ratio_of_the_figures() {
    let (current, _) = pair((1200, 1000), (100.0, 200.0));
    let mut history = History::open_in_memory().unwrap();
    history.record(&current).unwrap();
    let id = keywright_report::history::RunId::parse(&current.run.id).unwrap();
    let read = history.run(&id).unwrap();
    assert_eq!(read.comparison.len(), 3);
    read.comparison.iter().for_each(follows);
}
