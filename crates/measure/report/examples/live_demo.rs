//! Shows the dashboards over a run that never was.
//!
//! `live_demo terminal [SECONDS]` takes the terminal, `live_demo web [SECONDS] [PORT]` prints an address for
//! a browser. SECONDS is how long each of the three cases takes, 30 unless told; `q` ends either.

#![expect(clippy::unwrap_used, reason = "invented figures that are known to fit")]

#[path = "../tests/it/live_canned.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod canned;

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::Stop;
use keywright_measure::Word;
use keywright_measure::event::Observer;
use keywright_report::Style;
use keywright_report::live::Live;
use keywright_report::live::terminal::{Dashboard, FrameRate};
use keywright_report::live::web::{Exposure, Library, Limits, RunEntry, start};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| {
        arguments
            .get(place)
            .map(|text| text.parse::<u64>())
            .transpose()
    };
    let seconds = number(1)?.unwrap_or(30);
    let live = Arc::new(Live::new(Clock::system(), 1));
    match arguments.first().map(String::as_str) {
        Some("web") => web(&live, seconds, u16::try_from(number(2)?.unwrap_or(0))?),
        _ => terminal(&live, seconds),
    }
}

fn terminal(live: &Arc<Live>, seconds: u64) -> Outcome {
    let stop = Stop::new();
    let dashboard = Dashboard::open(
        Arc::clone(live),
        stop.clone(),
        Style::Ansi,
        FrameRate::default(),
    )?;
    play(live, &stop, seconds);
    while !stop.is_asked() {
        std::thread::sleep(Duration::from_millis(50));
    }
    dashboard.close()?;
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "an example says where it is to be looked at"
)]
fn web(live: &Arc<Live>, seconds: u64, port: u16) -> Outcome {
    let exposure = Exposure::Loopback { port };
    let server = start(
        exposure,
        Limits::default(),
        Arc::clone(live),
        Arc::new(Shelf),
    )?;
    println!("{}", server.url());
    play(live, &Stop::new(), seconds);
    std::io::stdin().read_line(&mut String::new())?;
    server.stop()?;
    Ok(())
}

/// Tells the events when they are due.
fn play(live: &Live, stop: &Stop, seconds: u64) {
    for (at, event) in canned::events(seconds) {
        while live.now_ns() < at && !stop.is_asked() {
            std::thread::sleep(Duration::from_millis(10));
        }
        live.event(&event);
    }
}

struct Shelf;

impl Library for Shelf {
    fn runs(&self) -> Vec<RunEntry> {
        let entry = |id: &str, verdict, exit: &str| RunEntry {
            id: id.into(),
            started: "2026-01-31T23:59:59Z".into(),
            cases: 3,
            verdict: Some(verdict),
            exit: exit.into(),
            note: "a run that never was".into(),
        };
        vec![
            entry("9f2c41d07be8a365", Word::Saturated, "measurement_invalid"),
            entry("1b5a6eee90cc4d12", Word::Valid, "ok"),
        ]
    }

    fn report(&self, id: &str) -> Option<String> {
        let cases = canned::PLAN
            .iter()
            .map(|planned| canned::case(planned, 30))
            .collect();
        let document = keywright_measure::document::Document {
            cases,
            ..Default::default()
        };
        self.runs()
            .iter()
            .any(|run| run.id == id)
            .then(|| keywright_report::html::render(&document))
    }
}
