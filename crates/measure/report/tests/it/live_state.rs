//! The fold: bounded, pure, and honest about what is not known.

use keywright_clock::{Clock, WallTime};
use keywright_measure::Word;
use keywright_measure::document::{BlockRecord, Case};
use keywright_measure::event::{Event, Observer};
use keywright_report::live::Live;
use keywright_report::live::state::{
    BINS, Board, ERRORS, FINISHED, NAME, REMARKS, SECONDS, Snapshot, Stage,
};

use crate::live_canned::{PLAN, events, under_way};

pub(crate) fn folded(events: &[(u64, Event)]) -> Snapshot {
    let mut board = Board::new(1);
    for (at, event) in events {
        board.fold(*at, event);
    }
    board.snapshot().clone()
}

fn block(id: &str) -> Event {
    Event::Block {
        id: id.into(),
        block: BlockRecord {
            done: 10,
            in_flight: 3,
            ..BlockRecord::default()
        },
        rate_per_s: 10.0,
        quantiles: Vec::new(),
        histogram: Vec::new(),
        errors: Vec::new(),
    }
}

#[test]
fn a_board_that_saw_nothing_claims_nothing() {
    let snapshot = Board::new(3).snapshot().clone();
    assert_eq!((snapshot.stage, snapshot.revision), (Stage::Waiting, 0));
    assert!(snapshot.current.is_none() && snapshot.finished.is_empty() && snapshot.exit.is_none());
}

#[test]
fn the_same_events_at_the_same_times_make_the_same_snapshot() {
    let events = events(30);
    assert_eq!(folded(&events), folded(&events));
    assert_eq!(
        folded(&events).revision,
        u64::try_from(events.len()).unwrap()
    );
}

#[test]
fn a_run_under_way_shows_its_case_and_the_results_so_far() {
    let snapshot = folded(&under_way(30));
    let current = snapshot.current.unwrap();
    assert_eq!(
        (current.id.as_str(), current.place),
        ("service.encrypt 4 KiB", 2)
    );
    assert_eq!(current.seconds.len(), 15);
    let done: u64 = current.seconds.iter().map(|second| second.failed).sum();
    assert_eq!(current.failed, done);
    assert!(
        current.kept_share.unwrap() < 0.7,
        "{:?}",
        current.kept_share
    );
    assert_eq!(current.noise.as_deref(), Some("quiet"));
    assert_eq!(current.errors[0].code, "status: 503 overloaded");
    let ids: Vec<&str> = snapshot.finished.iter().map(|f| f.id.as_str()).collect();
    assert_eq!(ids, ["sign.ecdsa-p256", "verify.ed25519"]);
    assert_eq!(snapshot.stage, Stage::Running);
}

#[test]
fn a_finished_run_keeps_every_verdict_and_the_exit() {
    let snapshot = folded(&events(5));
    assert_eq!(snapshot.stage, Stage::Finished);
    assert_eq!(snapshot.exit.as_deref(), Some("measurement_invalid"));
    let verdicts: Vec<Word> = snapshot.finished.iter().map(|f| f.verdict).collect();
    assert_eq!(verdicts, [Word::Valid, Word::Valid, Word::Saturated]);
    assert_eq!(snapshot.finished[1].target_per_s, None);
    assert_eq!(
        (snapshot.finished[0].times, snapshot.finished[1].times),
        ("response", "service")
    );
    assert_eq!(snapshot.finished[0].generator.pacer_p99_ns, Some(8_800));
}

#[test]
fn a_new_turn_forgets_the_seconds_of_the_last_and_a_second_result_replaces_the_first() {
    let mut board = Board::new(2);
    let events = events(3);
    for (at, event) in events.iter().chain(&events) {
        board.fold(*at, event);
    }
    let snapshot = board.snapshot();
    assert_eq!(snapshot.current.as_ref().unwrap().seconds.len(), 3);
    assert_eq!((snapshot.finished.len(), snapshot.finished_in_all), (3, 3));
}

#[test]
fn nothing_grows_without_bound_however_long_the_run() {
    let mut board = Board::new(1);
    let many: Vec<(String, u64)> = (0..500)
        .map(|n| (format!("{n} {}", "e".repeat(5_000)), n))
        .collect();
    for second in 0..350_u64 {
        let bins = (0..4_000).map(|n| (n + 1, second)).collect();
        let Event::Block { id, block, .. } = block("long") else {
            unreachable!()
        };
        let event = Event::Block {
            id,
            block,
            rate_per_s: 1.0,
            quantiles: (0..100).map(|n| (format!("p{n}"), n)).collect(),
            histogram: bins,
            errors: many.clone(),
        };
        board.fold(second, &event);
        board.fold(
            second,
            &Event::Remark {
                text: "r".repeat(100_000),
            },
        );
        let case = Box::new(Case {
            id: format!("{second}"),
            ..Case::default()
        });
        board.fold(second, &Event::CaseFinished { case });
    }
    let snapshot = board.snapshot();
    let current = snapshot.current.as_ref().unwrap();
    assert_eq!(
        (current.seconds.len(), snapshot.finished.len()),
        (SECONDS, FINISHED)
    );
    assert_eq!(
        (snapshot.remarks.len(), snapshot.finished_in_all),
        (REMARKS, 350)
    );
    assert!(current.histogram.len() <= BINS && current.quantiles.len() <= 12);
    assert_eq!(current.errors.len(), ERRORS + 1);
    assert!(
        current
            .errors
            .iter()
            .all(|error| error.code.chars().count() <= NAME)
    );
    assert!(
        snapshot
            .remarks
            .iter()
            .all(|text| text.chars().count() <= 4 * NAME)
    );
}

#[test]
fn joined_bins_and_errors_lose_no_count() {
    let histogram: Vec<(u64, u64)> = (0..301).map(|n| (n * 10 + 10, n)).collect();
    let errors: Vec<(String, u64)> = (0..40).map(|n| (format!("code {n}"), n)).collect();
    let Event::Block { id, block, .. } = block("x") else {
        unreachable!()
    };
    let event = Event::Block {
        id,
        block,
        rate_per_s: 1.0,
        quantiles: Vec::new(),
        histogram,
        errors,
    };
    let current = folded(&[(1, event)]).current.unwrap();
    assert_eq!(
        current.histogram.iter().map(|bin| bin.n).sum::<u64>(),
        45_150
    );
    assert_eq!(current.histogram.last().unwrap().to_ns, 3_010);
    assert_eq!(current.errors.iter().map(|error| error.n).sum::<u64>(), 780);
    assert!(
        current
            .errors
            .windows(2)
            .take(ERRORS - 1)
            .all(|pair| pair[0].n >= pair[1].n)
    );
}

#[test]
fn what_is_not_a_number_is_absent() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let Event::Block { id, mut block, .. } = block("x") else {
            unreachable!()
        };
        block.canary = Some(bad);
        let event = Event::Block {
            id,
            block,
            rate_per_s: bad,
            quantiles: Vec::new(),
            histogram: Vec::new(),
            errors: Vec::new(),
        };
        let mut case = Case {
            achieved_per_s: bad,
            ..Case::default()
        };
        case.checks.noise_percent = Some(bad);
        let started = Event::CaseStarted {
            id: "x".into(),
            place: 0,
            expected_ns: 0,
            target_per_s: Some(bad),
        };
        let case = Box::new(case);
        let snapshot = folded(&[(0, started), (1, event), (2, Event::CaseFinished { case })]);
        let current = snapshot.current.unwrap();
        assert_eq!(
            (current.rate_per_s, current.mean_per_s, current.target_per_s),
            (None, None, None)
        );
        assert_eq!((current.kept_share, current.noise_percent), (None, None));
        assert_eq!(
            (
                snapshot.finished[0].achieved_per_s,
                snapshot.finished[0].noise_percent
            ),
            (None, None)
        );
    }
}

#[test]
fn a_block_of_a_case_that_never_started_starts_it_and_forgets_the_offered_rate_of_another() {
    let started = Event::CaseStarted {
        id: "a".into(),
        place: 4,
        expected_ns: 1,
        target_per_s: Some(5.0),
    };
    let current = folded(&[(0, started), (1, block("b"))]).current.unwrap();
    assert_eq!(
        (current.id.as_str(), current.target_per_s, current.done),
        ("b", None, 10)
    );
}

#[test]
fn names_cannot_act_on_a_terminal() {
    let id = "\u{1b}[31mred\r\n\u{202e}".to_owned();
    let started = Event::CaseStarted {
        id: id.clone(),
        place: 0,
        expected_ns: 1,
        target_per_s: None,
    };
    let snapshot = folded(&[
        (0, started),
        (1, Event::Remark { text: id.clone() }),
        (2, block(&id)),
    ]);
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(
        !text.contains('\u{1b}') && !text.contains("\\u001b") && !text.contains('\u{202e}'),
        "{text}"
    );
    assert_eq!(
        snapshot.current.unwrap().done,
        10,
        "a block finds the case of the same name"
    );
}

#[test]
fn the_observer_stamps_with_its_clock_and_displays_see_the_latest() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let live = Live::new(clock, 1);
    let before = live.snapshot();
    hand.advance(std::time::Duration::from_secs(7));
    live.event(&Event::Started {
        run: "r".into(),
        cases: PLAN.len(),
    });
    assert_eq!((before.revision, live.snapshot().revision), (0, 1));
    assert_eq!(
        (live.snapshot().at_ns, live.now_ns()),
        (7_000_000_000, 7_000_000_000)
    );
}
