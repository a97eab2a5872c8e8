//! The dashboard on a terminal, drawn into a buffer.

use std::sync::Arc;

use keywright_measure::event::Event;
use keywright_report::Style;
use keywright_report::live::state::Snapshot;
use keywright_report::live::terminal::{Asked, Panel, View, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::live_canned::{events, under_way};
use crate::live_state::folded;

const SIZES: [(u16, u16); 9] = [
    (80, 24),
    (40, 12),
    (200, 60),
    (20, 5),
    (1, 1),
    (36, 10),
    (100, 30),
    (300, 9),
    (9, 300),
];

fn screen(size: (u16, u16), view: &View, snapshot: &Snapshot) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| draw(frame, view, snapshot, snapshot.at_ns))
        .unwrap();
    let buffer = terminal.backend().buffer();
    (0..size.1)
        .map(|y| {
            (0..size.0)
                .map(|x| buffer[(x, y)].symbol())
                .collect::<String>()
        })
        .collect()
}

fn pressed(view: &mut View, code: KeyCode, snapshot: &Snapshot) -> Asked {
    view.key(
        KeyEvent::new(code, KeyModifiers::NONE),
        &Arc::new(snapshot.clone()),
    )
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

#[test]
fn every_panel_draws_at_every_size_whatever_there_is_to_draw() {
    let nothing = Snapshot::default();
    let begun = folded(&under_way(30)[..3]);
    let running = folded(&under_way(400));
    let finished = folded(&events(3));
    for snapshot in [&nothing, &begun, &running, &finished] {
        for size in SIZES {
            for style in [Style::Ansi, Style::Plain] {
                let mut view = View::new(style);
                for _ in Panel::ALL {
                    assert_eq!(screen(size, &view, snapshot).len(), usize::from(size.1));
                    pressed(&mut view, KeyCode::Char('?'), snapshot);
                    screen(size, &view, snapshot);
                    pressed(&mut view, KeyCode::Char('?'), snapshot);
                    pressed(&mut view, KeyCode::Char('f'), snapshot);
                    screen(size, &view, snapshot);
                    pressed(&mut view, KeyCode::Tab, snapshot);
                }
            }
        }
    }
}

#[test]
fn the_overview_shows_case_rates_quantiles_and_time_left() {
    let lines = screen((80, 24), &View::new(Style::Plain), &folded(&under_way(30)));
    assert!(
        lines[0].starts_with("[3/3] service.encrypt 4 KiB  run 9f2c41d07be8a365"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("83 %   1 min 15 s   15 s left"),
        "{}",
        lines[1]
    );
    assert!(
        lines[3].contains("of target 20,000/s (61.7 %)") && lines[3].contains("in flight"),
        "{}",
        lines[3]
    );
    for text in [
        "p50 1.90 ms",
        "p99 8.36 ms",
        "p99.9 18.4 ms",
        "last verdict VALID",
        "noise quiet",
    ] {
        assert!(has(&lines, text), "{text}\n{}", lines.join("\n"));
    }
    for title in [
        "response time by second",
        "achieved",
        "histogram of this run",
        "in flight",
    ] {
        assert!(has(&lines, title), "{title}");
    }
}

#[test]
fn a_large_screen_shows_errors_and_health_as_well() {
    let lines = screen((200, 60), &View::new(Style::Plain), &folded(&under_way(30)));
    for text in [
        "status: 503 overloaded",
        "stream: timeout",
        "of it, pacer",
        "rate kept, 10 s",
        "verify.ed25519",
    ] {
        assert!(has(&lines, text), "{text}\n{}", lines.join("\n"));
    }
}

#[test]
fn a_small_screen_keeps_what_matters() {
    let snapshot = folded(&under_way(30));
    let lines = screen((40, 12), &View::new(Style::Plain), &snapshot);
    for text in [
        "service.encrypt 4 KiB",
        "of target 20,000/s",
        "p99 8.36 ms",
        "15 s left",
        "errors",
        "q stop",
    ] {
        assert!(has(&lines, text), "{text}\n{}", lines.join("\n"));
    }
    let lines = screen((20, 5), &View::new(Style::Plain), &snapshot);
    assert!(
        has(&lines, "[3/3]") && has(&lines, "p99 8.36 ms") && has(&lines, "15 s left"),
        "{lines:?}"
    );
}

#[test]
fn nothing_is_claimed_before_the_first_second() {
    let lines = screen((80, 24), &View::new(Style::Plain), &Snapshot::default());
    assert!(
        has(&lines, "waiting") && has(&lines, "The first case has not begun."),
        "{lines:?}"
    );
    assert!(!has(&lines, "%") && !has(&lines, "left"), "{lines:?}");
}

#[test]
fn tab_goes_round_the_panels_both_ways_and_digits_jump() {
    let snapshot = folded(&events(3));
    let mut view = View::new(Style::Plain);
    for panel in Panel::ALL {
        assert_eq!(view.panel(), panel);
        pressed(&mut view, KeyCode::Tab, &snapshot);
    }
    assert_eq!(view.panel(), Panel::Overview);
    pressed(&mut view, KeyCode::BackTab, &snapshot);
    assert_eq!(view.panel(), Panel::Health);
    pressed(&mut view, KeyCode::Char('3'), &snapshot);
    assert_eq!(view.panel(), Panel::Cases);
    for nothing in ['0', '6', '9', 'x'] {
        pressed(&mut view, KeyCode::Char(nothing), &snapshot);
        assert_eq!(view.panel(), Panel::Cases);
    }
    let lines = screen((80, 24), &view, &snapshot);
    for text in ["3 cases done", "SATURATED", "12,400/s", "VALID"] {
        assert!(has(&lines, text), "{text}\n{}", lines.join("\n"));
    }
    pressed(&mut view, KeyCode::Down, &snapshot);
    assert!(
        !has(&screen((80, 24), &view, &snapshot), "SATURATED"),
        "scrolled past the latest"
    );
}

#[test]
fn only_q_and_control_c_ask_for_the_end() {
    let snapshot = Arc::new(folded(&under_way(3)));
    let key =
        |code, modifiers| View::new(Style::Plain).key(KeyEvent::new(code, modifiers), &snapshot);
    assert_eq!(key(KeyCode::Char('q'), KeyModifiers::NONE), Asked::Stop);
    assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Asked::Stop);
    for other in ["c", "Q", "p", "f", "?", "x", " "] {
        let code = KeyCode::Char(other.chars().next().unwrap());
        assert_eq!(key(code, KeyModifiers::NONE), Asked::Nothing, "{other}");
    }
    assert_eq!(
        key(KeyCode::Char('q'), KeyModifiers::CONTROL),
        Asked::Nothing
    );
    assert_eq!(key(KeyCode::Esc, KeyModifiers::NONE), Asked::Nothing);
    let mut released = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    released.kind = KeyEventKind::Release;
    assert_eq!(
        View::new(Style::Plain).key(released, &snapshot),
        Asked::Nothing
    );
    let mut view = View::new(Style::Plain);
    pressed(&mut view, KeyCode::Char('q'), &snapshot);
    assert!(screen((80, 24), &view, &snapshot)[0].contains("STOPPING"));
}

#[test]
fn a_paused_display_keeps_its_snapshot_and_says_so() {
    let (old, new) = (folded(&under_way(30)), folded(&events(30)));
    let mut view = View::new(Style::Plain);
    pressed(&mut view, KeyCode::Char('p'), &old);
    let shown = view.shown(Arc::new(new.clone()));
    assert_eq!(*shown, old);
    assert!(screen((80, 24), &view, &shown)[0].contains("PAUSED"));
    pressed(&mut view, KeyCode::Char('p'), &old);
    assert_eq!(*view.shown(Arc::new(new.clone())), new);
}

#[test]
fn frozen_scales_stay_while_the_figures_go_on() {
    let mut view = View::new(Style::Plain);
    pressed(&mut view, KeyCode::Char('f'), &folded(&under_way(30)));
    let axis = |lines: &[String]| lines.iter().find(|l| l.contains("22,000/s")).is_some();
    let other = folded(&events(30)[..20]);
    let frozen = screen((100, 30), &view, &other);
    assert!(
        frozen[0].contains("SCALES FROZEN") && axis(&frozen),
        "{}",
        frozen.join("\n")
    );
    assert!(
        has(&frozen, "of target 2,000/s"),
        "the figures are the new ones"
    );
    pressed(&mut view, KeyCode::Char('f'), &other);
    assert!(!axis(&screen((100, 30), &view, &other)));
}

#[test]
fn help_names_every_key() {
    let mut view = View::new(Style::Plain);
    let snapshot = folded(&under_way(30));
    pressed(&mut view, KeyCode::Char('?'), &snapshot);
    let lines = screen((80, 24), &view, &snapshot);
    for text in ["q, Ctrl-C", "Tab", "pause the display", "freeze the scales"] {
        assert!(has(&lines, text), "{text}");
    }
    pressed(&mut view, KeyCode::Esc, &snapshot);
    assert!(!has(&screen((80, 24), &view, &snapshot), "q, Ctrl-C"));
}

#[test]
fn hostile_names_reach_the_screen_without_their_power() {
    let id = "\u{1b}[2J\u{202e}evil\r\n".to_owned();
    let started = Event::CaseStarted {
        id,
        place: usize::MAX,
        expected_ns: u64::MAX,
        target_per_s: Some(f64::NAN),
    };
    let snapshot = folded(&[(u64::MAX, started)]);
    for size in SIZES {
        let text = screen(size, &View::new(Style::Ansi), &snapshot).concat();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}
