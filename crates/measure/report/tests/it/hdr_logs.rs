//! Whole histograms in the forms of HdrHistogram: read by another implementation, and never made up.

use std::num::NonZeroU32;
use std::time::Duration;

use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use keywright_clock::{Clock, WallTime};
use keywright_encoding::base64;
use keywright_measure::document::{Case, Document, Latency};
use keywright_measure::event::Nobody;
use keywright_measure::histogram::Histogram;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::{Load, Open, Stop, Window, hdr};
use keywright_report::exports::{hgrm, hlog, ndjson};
use keywright_report::history::History;
use serde_json::Value;

use crate::documents::{HOSTILE, every, hostile, rich};

/// Runs of a simulated server as a document: the engine fills what these forms write.
pub(crate) fn measured(id: &str, runs: u32) -> Document {
    let mut plan = CasePlan::new("test.op", "simulated");
    plan.id = id.to_owned();
    plan.warmup = Duration::ZERO;
    plan.window = Window::Time(Duration::from_secs(3600));
    let cap = NonZeroU32::new(64).unwrap();
    plan.load = Load::Open(Open::constant(400.0, Duration::from_secs(5), cap).unwrap());
    let mut server = Server {
        places: 2,
        service: Service::Exponential(Duration::from_millis(2)),
        ..Server::default()
    };
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let session = Session {
        clock: &clock,
        seed: 7,
        runs,
        cooldown: Duration::ZERO,
        block: Duration::from_secs(1),
        facts: Vec::new(),
        stop: &Stop::new(),
        rest: |_| {},
    };
    let carrier = &mut server;
    let outcomes = session.measure(&mut [Entry { plan, carrier }], &Nobody);
    let cases = outcomes.into_iter().filter_map(|outcome| match outcome {
        Outcome::Measured(case) => Some(*case),
        _ => None,
    });
    let mut document = rich();
    document.cases = cases.collect();
    document
}

/// Tag, start, length, largest value and what was counted.
type Interval = (String, f64, f64, f64, hdrhistogram::Histogram<u64>);

/// The log as another implementation reads it.
fn intervals(log: &str) -> Vec<Interval> {
    let entries = IntervalLogIterator::new(log.as_bytes());
    let read = entries.map(|entry| entry.unwrap());
    read.filter_map(|entry| match entry {
        LogEntry::Interval(one) => {
            let bytes = base64::decode(one.encoded_histogram()).unwrap();
            let counted = Deserializer::new().deserialize(&mut bytes.as_slice());
            Some((
                one.tag().unwrap().as_str().to_owned(),
                one.start_timestamp().as_secs_f64(),
                one.duration().as_secs_f64(),
                one.max(),
                counted.unwrap(),
            ))
        }
        _ => None,
    })
    .collect()
}

#[test]
fn another_implementation_reads_the_log_second_by_second() {
    let document = measured("enc 1,2", 2);
    let log = hlog(&document);
    let read = intervals(&log);
    let case = &document.cases[0];
    assert_eq!((read.len(), case.blocks.len()), (10, 10));
    for (place, (tag, start, length, max, counted)) in read.iter().enumerate() {
        assert_eq!(tag, "enc_1_2:response");
        let second = u32::try_from(place).unwrap();
        assert_eq!((*start, *length), (f64::from(second), 1.0));
        let block = &case.blocks[place];
        assert_eq!(counted.len(), block.done + block.failed);
        let exact = block.max_ns.unwrap() as f64 / 1e6;
        assert!((max - exact).abs() <= exact * 0.01 + 1e-6);
    }
    let all: u64 = read.iter().map(|one| one.4.len()).sum();
    assert_eq!(all, case.response.as_ref().unwrap().n);
}

#[test]
fn the_log_says_when_the_run_began_where_that_is_known() {
    let mut document = measured("a", 1);
    document.run.started = "2026-11-20T13:00:00Z".to_owned();
    let entries: Vec<LogEntry<'_>> = IntervalLogIterator::new(hlog(&document).leak().as_bytes())
        .map(Result::unwrap)
        .take(2)
        .collect();
    let began = Duration::from_secs(1_795_179_600);
    assert_eq!(
        entries,
        [LogEntry::StartTime(began), LogEntry::BaseTime(began)]
    );
    document.run.started = "yesterday]\nTag=x,0,1,2,AAAA".to_owned();
    let log = hlog(&document);
    assert!(!log.contains("StartTime:") && !log.contains("yesterday"));
    assert_eq!(intervals(&log).len(), 5);
}

#[test]
fn a_run_of_the_history_is_one_interval_over_all_of_it() {
    let document = measured("a", 3);
    let mut history = History::open_in_memory().unwrap();
    let run = history.record(&document).unwrap();
    let back = history.run(&run).unwrap();
    assert!(back.cases[0].blocks.iter().all(|block| block.hdr.is_none()));
    let read = intervals(&hlog(&back));
    let whole = document.cases[0].response.as_ref().unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(
        (read[0].1, read[0].2, read[0].4.len()),
        (0.0, 15.0, whole.n)
    );
    // The whole histogram has a table of its own, and comes back as it was.
    assert_eq!(back.cases[0].response, document.cases[0].response);
}

#[test]
fn cases_follow_each_other_in_time() {
    let mut document = measured("first", 1);
    document.cases.extend(measured("second", 1).cases);
    let read = intervals(&hlog(&document));
    let starts: Vec<f64> = read.iter().map(|one| one.1).collect();
    assert_eq!(starts, (0..10).map(f64::from).collect::<Vec<_>>());
    assert_eq!(
        (read[4].0.as_str(), read[5].0.as_str()),
        ("first:response", "second:response")
    );
}

#[test]
fn what_is_no_histogram_is_left_out_and_said() {
    let mut document = measured("a", 1);
    document.cases[0].blocks[1].hdr = Some("HISTFAAAA,\nTag=evil,0,1,2,".to_owned());
    document.cases[0].blocks[2].hdr = None;
    let log = hlog(&document);
    assert_eq!(intervals(&log).len(), 3);
    assert!(log.contains("#[2 intervals of a:response have no histogram]\n"));
    assert!(!log.contains("evil"));
    for block in &mut document.cases[0].blocks {
        block.hdr = None;
    }
    document.cases[0].response.as_mut().unwrap().hdr = Some("rubbish".to_owned());
    let log = hlog(&document);
    assert_eq!(intervals(&log).len(), 0);
    assert!(log.contains("#[a:response has no histogram]\n"));
}

#[test]
fn every_line_of_every_log_is_a_comment_the_legend_or_an_interval() {
    for (name, document) in every() {
        let log = hlog(&document);
        for line in log.lines() {
            let fields = line.split(',').count();
            assert!(
                line.starts_with("#[") && line.ends_with(']')
                    || line.starts_with("\"StartTimestamp\"") && fields == 4
                    || line.starts_with("Tag=") && fields == 5 && !line.contains(' '),
                "{name}: {line}"
            );
        }
    }
    assert_eq!(intervals(&hlog(&Document::default())).len(), 0);
}

#[test]
fn the_percentile_distribution_is_read_from_the_whole_histogram() {
    let document = measured("a", 1);
    let text = hgrm(&document);
    let response = document.cases[0].response.as_ref().unwrap();
    let whole = response.histogram().unwrap().unwrap();
    let part = text.split("#[Case").nth(1).unwrap();
    let rows: Vec<(f64, f64, u64)> = part
        .lines()
        .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| cells[at].parse().unwrap();
            (number(0), number(1), cells[2].parse().unwrap())
        })
        .collect();
    assert!(rows.len() > 20);
    for (value, share, count) in &rows {
        let exact = whole.at_rank(*count).unwrap() as f64 / 1e6;
        assert!((share - *count as f64 / response.n as f64).abs() < 1e-9);
        assert!(
            (value - exact).abs() <= exact * 0.002 + 1e-6,
            "{value} {exact}"
        );
    }
    assert_eq!(rows.last().unwrap().2, response.n);
    assert!(part.contains("StdDeviation"));
}

#[test]
fn a_histogram_that_contradicts_its_figures_is_not_used() {
    let mut document = measured("a", 1);
    document.cases[0].service = None;
    let before = hgrm(&document);
    let mut other = Histogram::new();
    other.record_n(5, 3);
    let response: &mut Latency = document.cases[0].response.as_mut().unwrap();
    response.hdr = hdr::encode(&other);
    let after = hgrm(&document);
    assert!(before.contains("StdDeviation") && !after.contains("StdDeviation"));
    let last = |text: &str| text.lines().rev().nth(1).unwrap().to_owned();
    assert_eq!(last(&before), last(&after));
}

#[test]
fn a_line_of_json_is_a_case_with_its_run_and_nothing_breaks_it() {
    for document in [rich(), hostile(HOSTILE), hostile("a\nb\r\n{\"x\":1}")] {
        let text = ndjson(&document).unwrap();
        assert_eq!(text.lines().count(), document.cases.len());
        for (line, case) in text.lines().zip(&document.cases) {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["run_id"], document.run.id.as_str());
            let read: Case = serde_json::from_value(value["case"].clone()).unwrap();
            assert_eq!(read.id, case.id);
        }
    }
    assert_eq!(ndjson(&Document::default()).unwrap(), "");
}
