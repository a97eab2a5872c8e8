//! A run comes back as it was recorded, or it was not recorded.

use keywright_measure::document::Document;
use keywright_measure::verdict::Word;
use keywright_report::history::{History, HistoryError, RunFilter, RunId};
use rusqlite::Connection;

use crate::history_samples::{full, small};

fn memory() -> History {
    History::open_in_memory().unwrap()
}

fn id(number: u64) -> RunId {
    RunId::parse(&format!("{number:016x}")).unwrap()
}

fn listed(history: &History, filter: &RunFilter) -> Vec<String> {
    let runs = history.runs(filter, 100).unwrap();
    runs.into_iter().map(|run| run.id.to_string()).collect()
}

#[test]
fn a_document_comes_back_equal_in_every_field() {
    let mut history = memory();
    for document in [small(1), full(2)] {
        let run = history.record(&document).unwrap();
        assert_eq!(history.run(&run).unwrap(), document);
    }
}

#[test]
fn a_run_that_is_recorded_is_there_after_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    History::open(&path).unwrap().record(&full(1)).unwrap();
    assert_eq!(History::open(&path).unwrap().run(&id(1)).unwrap(), full(1));
}

#[test]
fn the_figures_stand_in_tables_that_any_program_can_ask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    History::open(&path).unwrap().record(&full(1)).unwrap();
    let connection = Connection::open(&path).unwrap();
    let count = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    for (table, rows) in [
        ("run", 1),
        ("environment", 1),
        ("case_result", 2),
        ("series", 2),
        ("quantile", 10),
        ("histogram", 5),
        ("block", 5),
        ("error", 2),
        ("comparison", 1),
        ("baseline", 0),
        ("note", 0),
        ("changepoint", 0),
    ] {
        assert_eq!(count(table), rows, "{table}");
    }
    assert_eq!(count("error WHERE code = '503' AND n = 7"), 2);
    assert_eq!(count("environment WHERE cpu = 'Model 7' AND cores = 4"), 1);
    assert_eq!(
        count("case_result WHERE verdict = 'SATURATED' AND NOT sound"),
        1
    );
    assert_eq!(count("case_result WHERE headline = 'response'"), 1);
    assert_eq!(count("histogram WHERE hdr = kind"), 5);
    // What is in a table is not stored a second time.
    assert_eq!(count("run WHERE document LIKE '%\"hdr\":\"service\"%'"), 0);
}

#[test]
fn the_same_run_twice_is_refused_and_the_first_stays() {
    let mut history = memory();
    history.record(&small(1)).unwrap();
    let mut other = full(1);
    other.run.command = "another".to_owned();
    let run = id(1);
    assert_eq!(
        history.record(&other),
        Err(HistoryError::RecordedTwice { run })
    );
    assert_eq!(history.run(&id(1)).unwrap(), small(1));
}

#[test]
fn of_several_runs_all_are_recorded_or_none() {
    let mut history = memory();
    let refused = history.record_all(&[small(1), small(2), small(1)]);
    assert_eq!(refused, Err(HistoryError::RecordedTwice { run: id(1) }));
    assert!(listed(&history, &RunFilter::default()).is_empty());
    history.record_all(&[small(1), small(2)]).unwrap();
    assert_eq!(listed(&history, &RunFilter::default()).len(), 2);
}

#[test]
fn documents_that_could_not_be_found_or_read_again_are_refused_and_leave_nothing() {
    type Spoil = fn(&mut Document);
    let spoilt: [(Spoil, HistoryError); 10] = [
        (|one| one.run.id.clear(), HistoryError::MalformedRunId),
        (
            |one| one.run.id = "ABCDEF0123456789".to_owned(),
            HistoryError::MalformedRunId,
        ),
        (|one| one.run.started.clear(), HistoryError::MalformedStart),
        (
            |one| one.run.started = "2026-01-01T00:00:00+02:00".to_owned(),
            HistoryError::MalformedStart,
        ),
        (
            |one| one.cases[0].achieved_per_s = f64::NAN,
            HistoryError::NotFinite,
        ),
        (
            |one| one.cases[0].achieved_per_s = f64::INFINITY,
            HistoryError::NotFinite,
        ),
        (
            |one| one.cases[0].bytes_per_s = Some(f64::NEG_INFINITY),
            HistoryError::NotFinite,
        ),
        (
            |one| one.cases[1].blocks[3].canary = Some(f64::NAN),
            HistoryError::NotFinite,
        ),
        (
            |one| one.comparison[0].threshold = f64::NAN,
            HistoryError::NotFinite,
        ),
        (
            |one| one.cases[1].id = "seal".to_owned(),
            HistoryError::CaseTwice {
                case: "seal".to_owned(),
            },
        ),
    ];
    let mut history = memory();
    for (spoil, error) in spoilt {
        let mut document = full(1);
        spoil(&mut document);
        assert_eq!(history.record(&document), Err(error));
    }
    assert!(listed(&history, &RunFilter::default()).is_empty());
    history.record(&full(1)).unwrap();
}

#[test]
fn runs_are_listed_by_their_start_and_not_by_when_they_were_recorded() {
    let mut history = memory();
    for number in [3, 1, 2] {
        history.record(&small(number)).unwrap();
    }
    let newest: Vec<String> = [3, 2, 1].map(|number| id(number).to_string()).into();
    assert_eq!(listed(&history, &RunFilter::default()), newest);
    let two = history.runs(&RunFilter::default(), 2).unwrap();
    assert_eq!(
        two.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(),
        newest[..2]
    );
    assert!(history.runs(&RunFilter::default(), 0).unwrap().is_empty());
}

/// A filter with one condition.
fn only(field: &str, value: &str) -> RunFilter {
    let mut filter = RunFilter::default();
    let place = match field {
        "case" => &mut filter.case,
        "target" => &mut filter.target,
        "tag" => &mut filter.tag,
        "suite" => &mut filter.suite,
        "since" => &mut filter.since,
        _ => return filter,
    };
    *place = Some(value.to_owned());
    filter
}

#[test]
fn each_condition_of_a_list_selects_by_itself() {
    let mut history = memory();
    history.record_all(&[small(1), full(2)]).unwrap();
    for (field, value, numbers) in [
        ("none", "", &[2, 1][..]),
        ("case", "op*", &[2]),
        ("case", "se?l", &[2, 1]),
        ("case", "se", &[]),
        ("case", "' OR 1 --", &[]),
        ("target", "local", &[2, 1]),
        ("target", "remote", &[]),
        ("tag", "it's \"quoted\"", &[2]),
        ("tag", "c", &[]),
        ("suite", "sessions", &[2]),
        ("suite", "session", &[]),
        ("since", "2026-01-01T00:00:00.000000002Z", &[2]),
        ("since", "2026-01-01T00:00:01Z", &[]),
    ] {
        let wanted: Vec<String> = numbers.iter().map(|one| id(*one).to_string()).collect();
        assert_eq!(
            listed(&history, &only(field, value)),
            wanted,
            "{field} {value}"
        );
    }
    let refused = history.runs(&only("since", "yesterday"), 1);
    assert_eq!(refused, Err(HistoryError::MalformedStart));
}

#[test]
fn of_two_conditions_both_have_to_hold() {
    let mut history = memory();
    history.record_all(&[small(1), full(2)]).unwrap();
    let mut filter = only("suite", "sessions");
    filter.tag = Some("nightly".to_owned());
    assert!(listed(&history, &filter).is_empty());
    filter.tag = Some("ci".to_owned());
    assert_eq!(listed(&history, &filter), [id(2).to_string()]);
}

#[test]
fn a_line_of_the_list_says_what_the_document_says() {
    let mut history = memory();
    history.record(&full(2)).unwrap();
    history.note(&id(2), "second").unwrap();
    history.baseline_save("main", &id(2)).unwrap();
    let line = history.runs(&RunFilter::default(), 1).unwrap().remove(0);
    assert_eq!(line.cpu, "Model 7");
    assert_eq!(line.tags, full(2).run.tags);
    assert_eq!(line.verdicts, [Word::Saturated, Word::CoLocated]);
    assert_eq!(line.notes, ["first", "second"]);
    assert_eq!(line.baselines, ["main"]);
    assert_eq!((line.cases, line.suite.as_deref()), (2, Some("sessions")));
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let mut history = memory();
    history.record(&small(1)).unwrap();
    let missing = HistoryError::NoSuchRun { run: id(2) };
    assert_eq!(history.run(&id(2)).unwrap_err(), missing);
    assert_eq!(history.note(&id(2), "x").unwrap_err(), missing);
    assert_eq!(history.notes(&id(2)).unwrap_err(), missing);
    assert_eq!(history.baseline_save("main", &id(2)).unwrap_err(), missing);
    assert_eq!(missing.to_string(), "there is no run 0000000000000002");
}

#[test]
fn a_baseline_is_the_run_that_was_named_last() {
    let mut history = memory();
    history.record_all(&[small(1), full(2)]).unwrap();
    assert_eq!(history.baseline_save("main", &id(1)), Ok(None));
    assert_eq!(history.baseline_save("main", &id(2)), Ok(Some(id(1))));
    assert_eq!(history.baseline_save("after release 1.0", &id(1)), Ok(None));
    assert_eq!(history.baseline_show("main").unwrap(), full(2));
    let all = history.baseline_list().unwrap();
    let names: Vec<(&str, &RunId)> = all
        .iter()
        .map(|one| (one.name.as_str(), &one.run))
        .collect();
    assert_eq!(names, [("after release 1.0", &id(1)), ("main", &id(2))]);
    history.baseline_remove("main").unwrap();
    let missing = HistoryError::NoSuchBaseline {
        name: "main".to_owned(),
    };
    assert_eq!(history.baseline_remove("main").unwrap_err(), missing);
    assert_eq!(history.baseline_show("main").unwrap_err(), missing);
    assert_eq!(history.run(&id(2)).unwrap(), full(2));
}

#[test]
fn a_debug_build_is_no_baseline_whoever_says_that_it_is_one() {
    type Mark = fn(&mut Document);
    let marks: [Mark; 3] = [
        |one| one.tool.profile = "debug".to_owned(),
        |one| one.verdicts.push(Word::DebugBuild),
        |one| one.cases[0].verdicts.push(Word::DebugBuild),
    ];
    for mark in marks {
        let mut history = memory();
        let mut document = small(1);
        mark(&mut document);
        history.record(&document).unwrap();
        let refused = history.baseline_save("main", &id(1));
        assert_eq!(refused, Err(HistoryError::DebugBaseline { run: id(1) }));
        assert!(history.baseline_list().unwrap().is_empty());
    }
}

#[test]
fn names_that_could_not_be_shown_or_typed_are_refused() {
    let mut history = memory();
    history.record(&small(1)).unwrap();
    for name in ["", "a\nb", "\u{1b}[31m", "\0", &"x".repeat(65)] {
        assert_eq!(
            history.baseline_save(name, &id(1)),
            Err(HistoryError::BaselineName)
        );
    }
    history.baseline_save(&"\u{e9}".repeat(64), &id(1)).unwrap();
}

#[test]
fn notes_are_kept_in_their_order_and_apart_from_the_document() {
    let mut history = memory();
    history.record(&small(1)).unwrap();
    for text in ["kernel updated", "fan broken", "kernel updated"] {
        history.note(&id(1), text).unwrap();
    }
    assert_eq!(
        history.notes(&id(1)).unwrap(),
        ["kernel updated", "fan broken", "kernel updated"]
    );
    assert_eq!(history.run(&id(1)).unwrap(), small(1));
}

#[test]
fn pruning_keeps_the_newest_and_every_baseline_and_nothing_of_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    history
        .record_all(&(1..=9).map(full).collect::<Vec<_>>())
        .unwrap();
    history.note(&id(1), "gone").unwrap();
    history.baseline_save("main", &id(2)).unwrap();
    assert_eq!(history.prune(3), Ok(5));
    let left: Vec<String> = [9, 8, 7, 2].map(|number| id(number).to_string()).into();
    assert_eq!(listed(&history, &RunFilter::default()), left);
    assert_eq!(history.run(&id(2)).unwrap(), full(2));
    assert_eq!(history.prune(100), Ok(0));
    history.baseline_remove("main").unwrap();
    assert_eq!(history.prune(0), Ok(4));
    let connection = Connection::open(&path).unwrap();
    for table in [
        "run",
        "environment",
        "series",
        "case_result",
        "quantile",
        "histogram",
        "block",
        "error",
        "comparison",
        "note",
    ] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}
