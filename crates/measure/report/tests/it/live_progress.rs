//! How far, how fast, how long still.

use keywright_measure::event::Event;
use keywright_report::live::progress::{Progress, Reporter, against, finished_line, line, span};
use keywright_report::live::state::{Board, Finished};

use crate::live_canned::{PLAN, case, events, under_way};
use crate::live_state::folded;

const SECOND: u64 = 1_000_000_000;

fn started(place: usize, expected_s: u64) -> Event {
    Event::CaseStarted {
        id: format!("case {place}"),
        place,
        expected_ns: expected_s * SECOND,
        target_per_s: None,
    }
}

#[test]
fn before_anything_is_known_nothing_is_claimed() {
    let progress = Progress::of(Board::new(1).snapshot(), 5 * SECOND);
    assert_eq!((progress.share, progress.left_ns), (None, None));
    assert_eq!((progress.percent(), progress.left()), (None, None));
    let run = Event::Started {
        run: String::new(),
        cases: 4,
    };
    let progress = Progress::of(&folded(&[(0, run)]), SECOND);
    assert_eq!((progress.share, progress.left_ns), (Some(0.0), None));
}

#[test]
fn time_left_is_what_was_expected_of_the_turns_to_come() {
    let mut board = Board::new(2);
    board.fold(
        0,
        &Event::Started {
            run: String::new(),
            cases: 2,
        },
    );
    board.fold(0, &started(0, 10));
    // Only one case is known: the other is taken to be as long.
    assert_eq!(
        Progress::of(board.snapshot(), 4 * SECOND).left_ns,
        Some(36 * SECOND)
    );
    board.fold(10 * SECOND, &started(1, 30));
    let progress = Progress::of(board.snapshot(), 10 * SECOND);
    assert_eq!(
        (progress.share, progress.left_ns),
        (Some(0.125), Some(70 * SECOND))
    );
}

#[test]
fn turns_that_take_longer_than_expected_lengthen_what_is_left() {
    let mut board = Board::new(1);
    board.fold(
        0,
        &Event::Started {
            run: String::new(),
            cases: 2,
        },
    );
    board.fold(0, &started(0, 10));
    board.fold(15 * SECOND, &started(1, 10));
    assert_eq!(
        Progress::of(board.snapshot(), 15 * SECOND).left_ns,
        Some(15 * SECOND)
    );
}

#[test]
fn no_run_is_done_before_it_says_so() {
    let events = events(5);
    let running = folded(&events[..events.len() - 1]);
    for late in [0, 60, 60_000] {
        let progress = Progress::of(&running, running.at_ns + late * SECOND);
        assert!(progress.share.unwrap() < 1.0 && progress.percent().unwrap() == "99 %");
    }
    let progress = Progress::of(&folded(&events), u64::MAX);
    assert_eq!((progress.share, progress.left_ns), (Some(1.0), Some(0)));
    assert_eq!(progress.elapsed_ns, 15 * SECOND, "time stops with the run");
}

#[test]
fn without_expectations_turns_are_counted_and_no_time_is_claimed() {
    let mut board = Board::new(2);
    board.fold(
        0,
        &Event::Started {
            run: String::new(),
            cases: 2,
        },
    );
    board.fold(0, &started(0, 0));
    board.fold(SECOND, &started(1, 0));
    let progress = Progress::of(board.snapshot(), SECOND);
    assert_eq!((progress.share, progress.left_ns), (Some(0.25), None));
}

#[test]
fn more_turns_than_announced_do_not_break_the_figures() {
    let mut board = Board::new(1);
    for place in 0..9 {
        board.fold(SECOND, &started(place, u64::MAX / SECOND));
        let progress = Progress::of(board.snapshot(), u64::MAX);
        assert!(
            (0.0..=1.0).contains(&progress.share.unwrap()),
            "{progress:?}"
        );
    }
}

#[test]
fn a_line_fits_its_width_and_the_time_left_is_the_last_to_go() {
    let snapshot = folded(&under_way(30));
    let whole = line(&snapshot, snapshot.at_ns, 200);
    assert_eq!(
        whole,
        format!(
            "[3/3] service.encrypt 4 KiB   {}   p99 8.36 ms   errors {}   83 %   15 s left",
            against(
                snapshot.current.as_ref().unwrap().rate_per_s,
                Some(20_000.0)
            ),
            snapshot.current.as_ref().unwrap().failed
        )
    );
    for width in 0..200 {
        let line = line(&snapshot, snapshot.at_ns, width);
        assert!(line.chars().count() <= width, "{width}: {line}");
        assert!(width < 32 || line.ends_with("15 s left"), "{width}: {line}");
    }
}

#[test]
fn the_offered_rate_never_stands_alone() {
    assert_eq!(
        against(Some(1_998.0), Some(2_000.0)),
        "1,998/s of target 2,000/s"
    );
    assert_eq!(against(None, Some(2_000.0)), "n/a of target 2,000/s");
    assert_eq!(against(Some(5.0), None), "5.00/s");
    let line = finished_line(&Finished::of(&case(&PLAN[2], 30)));
    assert_eq!(
        line,
        "service.encrypt 4 KiB   12,400/s of target 20,000/s   response p50 1.90 ms p99 8.36 ms   errors 600   SATURATED"
    );
}

#[test]
fn lengths_read_as_people_write_them() {
    let wanted = [
        (0, "0 s"),
        (1, "1 s"),
        (12 * SECOND, "12 s"),
        (93 * SECOND, "1 min 33 s"),
        (3_720 * SECOND, "1 h 02 min"),
    ];
    for (ns, text) in wanted {
        assert_eq!(span(ns), text);
    }
}

#[test]
fn a_log_gets_beginnings_ends_remarks_and_a_line_now_and_then() {
    let mut board = Board::new(1);
    let mut reporter = Reporter::new(10 * SECOND);
    let mut lines = Vec::new();
    for (at, event) in events(30) {
        board.fold(at, &event);
        lines.extend(reporter.tell(&event, board.snapshot()));
    }
    let count = |piece: &str| lines.iter().filter(|line| line.contains(piece)).count();
    assert_eq!(lines.len(), 3 + 9 + 3 + 1, "{lines:#?}");
    assert_eq!((count("p50"), count("share 2 cores")), (3, 1));
    assert!(
        lines[0].starts_with("[1/3] sign.ecdsa-p256   1 min 30 s left"),
        "{}",
        lines[0]
    );
}
