//! A finished run on the displays of a running one.

use std::sync::Arc;

use keywright_clock::{Clock, WallTime};
use keywright_measure::document::{Document, Remark};
use keywright_report::Style;
use keywright_report::live::Live;
use keywright_report::live::progress::Progress;
use keywright_report::live::state::{Board, FINISHED, SECONDS, Stage};
use keywright_report::live::terminal::{View, draw};
use keywright_report::live::web::{Empty, Exposure, Limits, start};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::documents::{HOSTILE, every, hostile, many, rich, without_samples};
use crate::hdr_logs::measured;
use crate::live_client::get;

fn clock() -> Clock {
    Clock::simulated(WallTime::from_unix_seconds(0)).0
}

#[test]
fn everything_a_display_shows_is_what_the_document_says() {
    let document = measured("a", 2);
    let snapshot = Board::of(&document).snapshot().clone();
    assert_eq!(snapshot.stage, Stage::Finished);
    assert_eq!(snapshot.exit, Some(document.exit.name.clone()));
    assert_eq!(snapshot.run, document.run.id);
    let case = &document.cases[0];
    let current = snapshot.current.unwrap();
    assert_eq!(current.seconds.len(), case.blocks.len());
    for (second, block) in current.seconds.iter().zip(&case.blocks) {
        assert_eq!(second.rate_per_s, Some(block.done as f64));
        assert_eq!(
            (second.p99_ns, second.in_flight),
            (block.p99_ns, block.in_flight)
        );
    }
    assert_eq!(
        current.done,
        case.blocks.iter().map(|block| block.done).sum::<u64>()
    );
    let times = case.response.as_ref().unwrap();
    let p50 = current.quantiles.iter().find(|q| q.name == "p50").unwrap();
    assert_eq!(Some(p50.ns), times.quantile("p50").unwrap().value);
    assert_eq!(
        current.histogram.iter().map(|bin| bin.n).sum::<u64>(),
        times.n
    );
    assert_eq!(snapshot.finished.len(), 1);
    assert_eq!(snapshot.finished[0].verdict, case.verdict());
    // Two runs of five seconds, one after the other.
    let ends: Vec<u64> = current.seconds.iter().map(|second| second.at_ns).collect();
    assert!(
        ends.windows(2)
            .all(|pair| pair[1] - pair[0] == 1_000_000_000)
    );
}

#[test]
fn any_case_can_be_the_one_that_is_shown_and_results_keep_their_order() {
    let document = rich();
    let names: Vec<&str> = document.cases.iter().map(|case| case.id.as_str()).collect();
    for place in 0..names.len() + 2 {
        let snapshot = Board::showing(&document, place).snapshot().clone();
        let shown = names[place.min(names.len() - 1)];
        assert_eq!(snapshot.current.unwrap().id, shown);
        let finished: Vec<&str> = snapshot
            .finished
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        assert_eq!(finished, names);
    }
}

#[test]
fn nothing_is_claimed_of_a_document_without_cases_or_samples() {
    let snapshot = Board::of(&Document::default()).snapshot().clone();
    assert_eq!(snapshot.stage, Stage::Finished);
    assert!(snapshot.current.is_none() && snapshot.finished.is_empty());
    let snapshot = Board::of(&without_samples()).snapshot().clone();
    let current = snapshot.current.unwrap();
    assert!(current.seconds.is_empty() && current.quantiles.is_empty());
    assert_eq!(snapshot.finished[0].p50_ns, None);
}

#[test]
fn a_quantile_that_is_withheld_is_not_shown() {
    let mut document = measured("a", 1);
    let times = document.cases[0].response.as_mut().unwrap();
    times.quantiles.get_mut("p50_ns").unwrap().value = None;
    let current = Board::of(&document).snapshot().current.clone().unwrap();
    assert!(!current.quantiles.is_empty());
    assert!(
        current
            .quantiles
            .iter()
            .all(|quantile| quantile.name != "p50")
    );
}

#[test]
fn a_run_of_any_size_makes_a_snapshot_of_bounded_size() {
    let snapshot = Board::of(&many(1_000, 500)).snapshot().clone();
    assert!(snapshot.finished.len() <= FINISHED);
    assert!(snapshot.current.unwrap().seconds.len() <= SECONDS);
}

#[test]
fn remarks_of_the_run_are_shown_and_cannot_act_on_a_terminal() {
    let mut document = hostile(HOSTILE);
    document.validity.push(Remark {
        text: "cores are shared".to_owned(),
        ..Remark::default()
    });
    let snapshot = Board::of(&document).snapshot().clone();
    assert_eq!(snapshot.remarks.last().unwrap(), "cores are shared");
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(!text.contains("\\u001b") && !text.contains('\u{202e}'));
}

#[test]
fn time_stands_where_the_run_ended() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let live = Live::finished(clock, &measured("a", 2), 0);
    let snapshot = live.snapshot();
    assert_eq!(
        (snapshot.at_ns, live.now_ns()),
        (10_000_000_000, 10_000_000_000)
    );
    hand.advance(std::time::Duration::from_secs(60));
    let progress = Progress::of(&snapshot, live.now_ns());
    assert_eq!((progress.share, progress.left_ns), (Some(1.0), Some(0)));
    assert_eq!(progress.elapsed_ns, 10_000_000_000);
}

#[test]
fn the_terminal_draws_every_finished_run() {
    for (name, document) in every() {
        let live = Live::finished(clock(), &document, 0);
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        let (view, snapshot) = (View::new(Style::Plain), live.snapshot());
        terminal
            .draw(|frame| draw(frame, &view, &snapshot, live.now_ns()))
            .unwrap();
        let buffer = terminal.backend().buffer();
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert!(
            !text.trim().is_empty() && !text.contains('\u{1b}'),
            "{name}"
        );
    }
}

#[test]
fn the_browser_is_given_a_finished_run() {
    let document = measured("a", 1);
    let live = Arc::new(Live::finished(clock(), &document, 0));
    let exposure = Exposure::Loopback { port: 0 };
    let running = start(exposure, Limits::default(), live, Arc::new(Empty)).unwrap();
    let answer = get(running.local_addr(), "/snapshot.json");
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("\"stage\":\"finished\""));
    assert!(answer.body.contains(&document.run.id));
    running.stop().unwrap();
}
