//! Every form tells the same.

use keywright_calls::{Analyzer, Options, compare, render};

use crate::made::{Log, Made};

fn log() -> Log {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession", "C_<b>bold</b>"]);
    for _ in 0..30 {
        log.sign();
    }
    log.call(Made::of("C_Login").rv(0xa0))
        .call(Made::of("C_Login").rv(0x8000_0001));
    log
}

#[test]
fn the_text_names_functions_codes_latencies_and_findings() {
    let text = render::text(&log().report());
    for part in [
        "65 calls: 63 ok, 2 failed, 0 without an answer",
        "durations measured",
        "C_SignInit",
        "CKR_PIN_INCORRECT (0xa0)",
        "a code of the vendor's",
        "CKM_ECDSA",
        "sign ",
        "Findings: 1",
        "HIGH retry-after-wrong-pin",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_table_has_as_many_cells_in_each_row_and_the_page_shows_names_as_text() {
    let report = log().report();
    let table = render::csv(&report);
    let cells: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    assert!(cells.iter().all(|count| *count == cells[0]), "{table}");
    assert!(
        table.contains("operation,sign,CKM_ECDSA,,30,0,30,2000,"),
        "{table}"
    );
    let page = render::html(&report);
    assert!(page.contains("C_&lt;b&gt;bold&lt;/b&gt;") && !page.contains("<b>bold"));
    assert!(page.contains("retry-after-wrong-pin") && page.contains("<svg"));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
}

#[test]
fn throughput_over_time_is_in_every_form() {
    let mut log = Log::default();
    for second in 0..30 {
        log.now = second * 1_000_000_000;
        for _ in 0..=second {
            log.sign();
        }
    }
    log.call(Made::of("C_Sign").rv(0x30));
    let report = log.report();
    assert_eq!(report.throughput.as_ref().unwrap().bins.len(), 30);
    let text = render::text(&report);
    let begin = text
        .find("Over time, 3 s with a call in them each")
        .unwrap();
    let rows: Vec<&str> = text[begin..].lines().skip(2).take(10).collect();
    // Two calls for each second that has passed: 2, 4 and 6 in the first three.
    assert!(
        rows[0].contains(" 4.0 ") && rows[9].contains(" 58.3 "),
        "{text}"
    );
    assert!(
        rows[9].ends_with(&"#".repeat(24)) && !rows[0].contains("###"),
        "{text}"
    );
    assert!(rows[9].contains(" 1 "), "{text}");
    let table = render::csv(&report);
    assert_eq!(table.matches("\r\nstretch,2026-").count(), 30);
    assert!(
        table.contains("stretch,2026-11-21T02:00:29.000Z,,,61,1,"),
        "{table}"
    );
    assert_eq!(render::html(&report).matches("<rect").count(), 60);
}

#[test]
fn two_logs_are_told_as_a_table_and_as_a_page() {
    let (mut before, after) = (Log::default(), log());
    for _ in 0..30 {
        before.sign();
    }
    before.calls(&["C_GetInfo"]);
    let compared = compare(&before.report(), &after.report());
    let table = render::comparison_csv(&compared);
    let cells: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    assert!(cells.iter().all(|count| *count == cells[0]), "{table}");
    for part in [
        "count,calls,,,61,,,,65,",
        "operation,sign,CKM_ECDSA,p50,2000,",
        "function gone,C_GetInfo,",
        "finding new,retry-after-wrong-pin,,HIGH,",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let page = render::comparison_html(&compared);
    assert!(page.contains("C_&lt;b&gt;bold") && !page.contains("<b>bold"));
    assert!(page.contains("retry-after-wrong-pin") && page.contains("no difference shown"));
    assert!(!page.contains("http://") && !page.contains("<script"));
}

#[test]
fn the_calls_that_came_last_are_kept_where_they_are_asked_for() {
    let mut analyzer = Analyzer::new(Options::default().keeping(3));
    analyzer.push(log().text().as_bytes());
    let recent: Vec<_> = analyzer.recent().map(render::call).collect();
    assert_eq!(recent.len(), 3);
    assert!(
        recent[0].contains("C_Sign ") && recent[0].contains("ECDSA"),
        "{recent:?}"
    );
    assert!(
        recent[1].contains("C_Login") && recent[1].contains("PIN_INCORRECT"),
        "{recent:?}"
    );
    assert!(recent.iter().all(|line| line.chars().count() <= 78));
    assert!(render::call_heading().chars().count() <= 78);
    let mut silent = Analyzer::new(Options::default());
    silent.push(log().text().as_bytes());
    assert_eq!(silent.recent().count(), 0);
}

#[test]
fn the_json_form_keeps_the_names_that_scripts_know() {
    let json = serde_json::to_value(log().report()).unwrap();
    for name in [
        "total_ops",
        "success_count",
        "error_count",
        "success_rate",
        "duration_stats",
        "by_function",
        "errors",
    ] {
        assert!(!json[name].is_null(), "{name}");
    }
    let error = &json["errors"][0];
    for name in ["func", "rv", "rv_name", "count", "timestamp"] {
        assert!(!error[name].is_null(), "{name}");
    }
    assert_eq!(json["latency"][0]["n"], 1);
    let sign = &json["by_function"]["C_Sign"];
    for name in [
        "count",
        "success_count",
        "error_count",
        "total_duration_ms",
        "avg_duration_ms",
        "min_duration_ms",
        "max_duration_ms",
    ] {
        assert!(!sign[name].is_null(), "{name}");
    }
}
