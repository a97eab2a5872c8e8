//! The page in a real browser: headless Chromium, where it is installed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use keywright_measure::event::Observer;
use keywright_report::live::web::Limits;

use crate::live_canned::{events, under_way};
use crate::live_client::dashboard;

const NAMES: [&str; 2] = ["chromium", "chromium-browser"];

/// The browser, or a skip that is counted where `scripts/run-tests` runs it.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
fn browser(test: &str) -> Option<&'static str> {
    let there = |name: &&&str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|out| out.status.success())
    };
    let found = NAMES.iter().find(there).copied();
    if found.is_none() {
        // Past the capture of the test runner, which hides what a passing test prints.
        drop(writeln!(std::io::stderr(), "skipped: no chromium: {test}"));
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            std::fs::write(
                Path::new(&folder).join(format!("report-chromium-{test}")),
                "0 0 1\n",
            )
            .unwrap();
        }
    }
    found
}

/// What a page looks like after its script ran, and what the browser's console said.
struct Visit {
    dom: String,
    console: String,
}

fn visit(name: &str, url: &str, more: &[&str]) -> Visit {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(name)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(url)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    // [1:2:0101/000000.000000:INFO:CONSOLE(1)] "text", source: http://127.0.0.1/app.js (1)
    let console = log
        .lines()
        .filter(|line| line.contains(":CONSOLE"))
        .collect::<Vec<_>>()
        .join("\n");
    Visit {
        dom: String::from_utf8_lossy(&output.stdout).into_owned(),
        console,
    }
}

fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("live");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_page_draws_the_run_without_a_word_on_the_console() {
    let Some(name) = browser("live-page") else {
        return;
    };
    let (running, _live) = dashboard(Limits::default(), &under_way(60));
    // While a stream of events is open the browser's simulated time stands still.
    let url = format!("{}#still", running.url());
    let Visit { dom, console } = visit(name, &url, &["--dump-dom"]);
    assert_eq!(console, "");
    for text in [
        "service.encrypt 4 KiB",
        "case 3 of 3",
        "of target 20,000/s",
        "1.90 ms",
        "8.36 ms",
        "status: 503 overloaded",
        "sign.ecdsa-p256",
        "CLOSED-LOOP",
        "2 of 3",
        "rate kept, 10 s",
        "load average 1.2",
    ] {
        assert!(dom.contains(text), "{text}\n{dom}");
    }
    assert_eq!(
        dom.matches("<svg").count(),
        5 + 3,
        "five drawings and a bar for each kind of error"
    );
    running.stop().unwrap();
}

#[test]
fn a_finished_run_and_a_report_open_without_a_word_on_the_console() {
    let Some(name) = browser("finished") else {
        return;
    };
    let (running, _live) = dashboard(Limits::default(), &events(10));
    let Visit { dom, console } = visit(name, running.url(), &["--dump-dom"]);
    assert_eq!(console, "");
    assert!(dom.contains("Done: measurement_invalid") && dom.contains("SATURATED"));
    for path in ["runs", "runs/9f2c41d07be8a365"] {
        let Visit { dom, console } =
            visit(name, &format!("{}{path}", running.url()), &["--dump-dom"]);
        assert_eq!(console, "", "{path}");
        assert!(dom.contains("<h1"), "{path}");
    }
    running.stop().unwrap();
}

#[test]
fn an_open_page_follows_the_run_to_its_end() {
    let Some(name) = browser("following") else {
        return;
    };
    let (running, live) = dashboard(Limits::default(), &under_way(5));
    let url = running.url().to_owned();
    let visiting = std::thread::spawn(move || visit(name, &url, &["--dump-dom"]));
    // The browser's simulated time stands still while its stream is open, so it leaves only after the end.
    while running.followers() == 0 && !visiting.is_finished() {
        std::thread::yield_now();
    }
    for (_, event) in events(5) {
        live.event(&event);
    }
    let Visit { dom, console } = visiting.join().unwrap();
    assert_eq!(console, "");
    assert!(
        dom.contains("Done: measurement_invalid") && dom.contains("3 of 3"),
        "{dom}"
    );
}

#[test]
fn pictures_are_taken_in_light_and_dark_and_on_a_narrow_screen() {
    let Some(name) = browser("pictures") else {
        return;
    };
    let (running, _live) = dashboard(Limits::default(), &under_way(60));
    for (file, size, scheme) in [
        ("light", "1280,1560", "1"),
        ("dark", "1280,1560", "0"),
        ("narrow", "500,2300", "1"),
    ] {
        let path = pictures().join(format!("{file}.png"));
        drop(std::fs::remove_file(&path));
        let more = [
            format!("--window-size={size}"),
            format!("--blink-settings=preferredColorScheme={scheme}"),
            format!("--screenshot={}", path.display()),
        ];
        visit(
            name,
            &format!("{}#still", running.url()),
            &more.each_ref().map(String::as_str),
        );
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "{file}: {}",
            bytes.len()
        );
    }
    running.stop().unwrap();
}
