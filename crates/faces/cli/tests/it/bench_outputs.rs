//! What comes out of a measurement: forms of results, files, events, what other tools read, what lint says.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, CLOSED, QUICK};

const CSV: &str =
    "run_id,case,target,op,size_bytes,threads,rate_per_s,metric,value,unit,lo,hi,n,bound,verdict";

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A page that needs nothing from elsewhere.
#[track_caller]
fn page(html: &str) {
    assert!(
        html.starts_with("<!DOCTYPE html>") || html.starts_with("<!doctype html>"),
        "{html}"
    );
    assert!(html.trim_end().ends_with("</html>"));
    assert!(html.len() < 500_000);
    for outside in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "@import",
        "<link rel=\"stylesheet\"",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[track_caller]
fn table(csv: &str) {
    assert_eq!(csv.lines().next(), Some(CSV));
    let columns = CSV.split(',').count();
    assert!(csv.lines().count() > 10, "{csv}");
    for line in csv.lines() {
        assert_eq!(line.split(',').count(), columns, "{line}");
    }
    assert!(!csv.contains(",0.00,") && !csv.contains("NaN"), "{csv}");
}

#[test]
fn one_run_is_written_in_every_form_and_they_agree() {
    let bench = Bench::new();
    let files = ["a.json", "a.csv", "a.html", "a.md", "a.txt"];
    let outputs: Vec<&str> = files.iter().flat_map(|file| ["-o", file]).collect();
    let ended = bench.run(&[&QUICK[..], &outputs, &["--events", "events"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let document: Value = serde_json::from_slice(&bench.folder.read("a.json")).unwrap();
    let id = document["run"]["id"].as_str().unwrap();
    for file in files {
        let written = bench.folder.read(file);
        assert!(
            text(&written).contains(id) && text(&written).contains("hash.sha256.1k"),
            "{file}"
        );
        assert!(
            !cfg!(debug_assertions) || text(&written).contains("DEBUG-BUILD") || file == "a.csv"
        );
    }
    assert_eq!(bench.folder.read("a.txt"), ended.stdout);
    table(text(&bench.folder.read("a.csv")));
    page(text(&bench.folder.read("a.html")));
    assert!(
        document["schema_version"]
            .as_str()
            .unwrap()
            .starts_with("1.")
    );
    assert_eq!(document["run"]["seed"], 1);
    for (group, field) in [
        ("tool", "version"),
        ("environment", "cpu"),
        ("environment", "kernel"),
    ] {
        assert!(
            !document[group][field].as_str().unwrap().is_empty(),
            "{group}.{field}"
        );
    }

    let events = bench.folder.read("events");
    let kinds: Vec<String> = text(&events)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds.first().unwrap(), "started");
    assert_eq!(kinds.last().unwrap(), "finished");
    assert_eq!(
        kinds.iter().filter(|kind| *kind == "case_finished").count(),
        1
    );
}

#[test]
fn each_format_prints_one_document_and_nothing_else() {
    let bench = Bench::new();
    let printed = |format: &str| {
        let ended = bench.run(&[&QUICK[..], &["--format", format, "-q"]].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let json = printed("json");
    assert!(json.starts_with('{') && json.ends_with("}\n"));
    serde_json::from_str::<Value>(&json).unwrap();
    table(&printed("csv"));
    page(&printed("html"));
    assert!(printed("text").contains("hash.sha256.1k"));
}

#[test]
fn a_result_is_rendered_again_in_every_form_as_it_was_the_first_time() {
    let bench = Bench::new();
    let words = [
        "-o", "a.json", "-o", "a.csv", "-o", "a.txt", "-o", "a.html", "-q",
    ];
    assert_eq!(bench.run(&[&QUICK[..], &words].concat()).code, 0);
    for (format, file) in [
        ("json", "a.json"),
        ("csv", "a.csv"),
        ("text", "a.txt"),
        ("html", "a.html"),
    ] {
        let again = bench.run(&["report", "a.json", "--format", format]).bytes();
        assert!(again == bench.folder.read(file), "{file}: {}", text(&again));
    }
    // By its id from the history, too.
    let document: Value = serde_json::from_slice(&bench.folder.read("a.json")).unwrap();
    let id = document["run"]["id"].as_str().unwrap();
    let again = bench.document(0, &["report", id]);
    assert_eq!(again["cases"][0]["counts"], document["cases"][0]["counts"]);
    assert_eq!(again["run"], document["run"]);
}

#[test]
fn a_report_shows_the_cases_that_were_asked_for() {
    let bench = Bench::new();
    let suite = bench.script("slow.toml", "service = \"10ms\"", CLOSED);
    let file = bench.kept("slow.json", &["run", &suite]);
    for (filter, cases) in [
        ("ops_per_s < 101", 1),
        ("ops_per_s < 99", 0),
        ("p50_ms > 9 and op ~ \"script.*\"", 1),
    ] {
        let document = bench.document(0, &["report", &file, "--where", filter]);
        assert_eq!(
            document["cases"].as_array().unwrap().len(),
            cases,
            "{filter}"
        );
    }
    bench
        .run(&["report", "none.json"])
        .refused(2, "16 lower-case hex digits", "bench history");
    bench
        .run(&["report", "00000000000000aa"])
        .refused(9, "no run", "bench history");
}

#[test]
fn forms_of_other_tools_are_what_those_tools_read() {
    let bench = Bench::new();
    let suite = bench.script("slow.toml", "service = \"10ms\"", CLOSED);
    let form = |name: &str| bench.run(&["run", &suite, "--as", name, "-q"]).text();

    // The program with which a published benchmark page makes a table of such lines.
    let mut awk = Command::new("awk");
    awk.arg("/bench:/ {print $2\",\"$5}")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = awk.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(form("bencher").as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let [line] = lines[..] else {
        panic!("{lines:?}")
    };
    let (name, figure) = line.split_once(',').unwrap();
    assert_eq!(name, "a");
    let figure: f64 = figure.replace(',', "").parse().unwrap();
    assert!((figure / 1e7 - 1.0).abs() < 0.001, "{figure}");

    let github: Value = serde_json::from_str(&form("github")).unwrap();
    for entry in github.as_array().unwrap() {
        assert!(
            entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_number()
        );
    }
    let bmf: Value = serde_json::from_str(&form("bmf")).unwrap();
    assert!(bmf["a"]["latency"]["value"].is_number(), "{bmf}");
    let seed: Value = serde_json::from_str(&form("seed-json")).unwrap();
    assert!(seed["metadata"]["timestamp"].is_string() && seed["results"].is_array());
    assert!(form("seed-csv").starts_with("operation,iterations,ops_per_sec,avg_ms,p50_ms"));
    assert!(form("openmetrics").trim_end().ends_with("# EOF"));
    assert!(form("markdown").contains("| a |"));
    assert!(form("hgrm").contains("Percentile"));
}

#[test]
fn our_own_results_hold_together_and_doctored_ones_do_not() {
    let bench = Bench::new();
    let suite = bench.script("slow.toml", "service = \"10ms\"", CLOSED);
    let file = bench.kept("a.json", &["run", &suite, "-o", "a.csv", "-o", "a.md"]);
    for file in ["a.json", "a.csv", "a.md"] {
        let ended = bench.run(&["lint", file]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(
            text(&ended.stdout).ends_with("0 contradictions\n"),
            "{ended:?}"
        );
        assert!(!text(&ended.stdout).contains(": 0 figures"), "{ended:?}");
    }
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let pointers = [
        ("/cases/0/service/p50_ns/value", "quantile-order"),
        ("/cases/0/counts/verified", "accounting"),
        ("/cases/0/counts/planned", "accounting"),
    ];
    for (pointer, check) in pointers {
        let mut doctored = document.clone();
        *doctored.pointer_mut(pointer).expect(pointer) = 1_000_000_000_u64.into();
        let file = bench.folder.write("doctored.json", doctored.to_string());
        let ended = bench.run(&["lint", "--format", "json", &file]);
        assert_eq!(ended.code, 3, "{pointer}: {ended:?}");
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let findings = report["files"][0]["findings"].as_array().unwrap();
        assert!(
            findings.iter().any(|finding| finding["check"] == check),
            "{pointer}: {report}"
        );
    }
    bench.run(&["lint", "none.json"]).refused(
        1,
        "none.json cannot be read",
        "check that the path exists",
    );
    let odd = bench.folder.write("odd.json", "{");
    bench
        .run(&["lint", &odd])
        .refused(2, "odd.json", "TOML file of claims");
}
