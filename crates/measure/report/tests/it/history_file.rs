//! Whatever happens to the file, a history answers with what was recorded or with an error.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;

use keywright_measure::stats::random::Generator;
use keywright_report::history::{History, HistoryError, Metric, RunFilter, RunId};
use rusqlite::Connection;

use crate::history_samples::{full, small};

fn count(history: &History) -> usize {
    history
        .runs(&RunFilter::default(), usize::MAX)
        .unwrap()
        .len()
}

fn open_error(path: &Path) -> HistoryError {
    History::open(path).unwrap_err()
}

/// A copy of a database that is in use, log included, as it would be found after the power failed.
fn crash(path: &Path, into: &Path) -> PathBuf {
    let copy = into.join("copy");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if name(path).exists() {
            fs::copy(name(path), name(&copy)).unwrap();
        }
    }
    copy
}

#[test]
fn two_writers_on_one_file_lose_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                // The file does not exist yet: they also race for making it.
                let mut history = History::open(path).unwrap();
                for number in 0..25 {
                    history.record(&small(writer * 1000 + number)).unwrap();
                    if number % 10 == 0 {
                        history.trend("seal", Metric::Throughput).unwrap().unwrap();
                    }
                }
            });
        }
    });
    let history = History::open(&path).unwrap();
    assert_eq!(count(&history), 100);
    for writer in 0..4 {
        for number in 0..25 {
            let document = small(writer * 1000 + number);
            let run = RunId::parse(&document.run.id).unwrap();
            assert_eq!(history.run(&run).unwrap(), document);
        }
    }
}

#[test]
fn of_two_writers_with_the_same_run_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let outcomes = thread::scope(|scope| {
        let record = || History::open(&path).unwrap().record(&small(1));
        let threads = [scope.spawn(record), scope.spawn(record)];
        threads.map(|thread| thread.join().unwrap())
    });
    let run = RunId::parse(&small(1).run.id).unwrap();
    assert!(outcomes.contains(&Ok(run.clone())));
    assert!(outcomes.contains(&Err(HistoryError::RecordedTwice { run })));
}

#[test]
fn a_reader_sees_the_old_state_while_a_writer_is_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    let run = history.record(&full(1)).unwrap();
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM block; DELETE FROM case_result;")
        .unwrap();
    assert_eq!(History::open(&path).unwrap().run(&run).unwrap(), full(1));
    drop(writer);
    assert_eq!(history.run(&run).unwrap(), full(1));
    history.record(&full(2)).unwrap();
}

#[test]
fn a_transaction_that_was_cut_off_leaves_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    let run = history.record(&full(1)).unwrap();
    let log = folder.path().join("history-wal");
    let writer = Connection::open(&path).unwrap();
    // A small cache, so that pages of the open transaction are in the log already.
    writer
        .execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 2;")
        .unwrap();
    let before = fs::metadata(&log).unwrap().len();
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM note; UPDATE run SET command = 'half';")
        .unwrap();
    for number in 0..200 {
        let text = "x".repeat(5000);
        writer
            .execute(
                "INSERT INTO note (run, text) VALUES (1, ?1)",
                [format!("{number}{text}")],
            )
            .unwrap();
    }
    assert!(fs::metadata(&log).unwrap().len() > before + 100_000);
    let copy = crash(&path, elsewhere.path());
    drop(writer);
    let mut survivor = History::open(&copy).unwrap();
    assert_eq!(survivor.run(&run).unwrap(), full(1));
    assert!(survivor.notes(&run).unwrap().is_empty());
    survivor.record(&full(2)).unwrap();
    assert_eq!(count(&survivor), 2);
}

#[test]
fn a_log_that_is_cut_anywhere_leaves_whole_runs_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    for number in 0..4 {
        history.record(&full(number)).unwrap();
    }
    let mut seen = [false; 5];
    let log = fs::read(folder.path().join("history-wal")).unwrap();
    for part in 0..=40 {
        let elsewhere = tempfile::tempdir().unwrap();
        let copy = crash(&path, elsewhere.path());
        fs::write(
            elsewhere.path().join("copy-wal"),
            &log[..log.len() * part / 40],
        )
        .unwrap();
        let survivor = History::open(&copy).unwrap();
        let runs = survivor.runs(&RunFilter::default(), 9).unwrap();
        for (number, run) in (0..).zip(runs.iter().rev()) {
            assert_eq!(survivor.run(&run.id).unwrap(), full(number));
        }
        seen[runs.len()] = true;
    }
    assert!(
        seen[4] && seen.iter().filter(|seen| **seen).count() > 2,
        "{seen:?}"
    );
}

#[test]
fn a_newer_layout_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    History::open(&path).unwrap().record(&small(1)).unwrap();
    let set = |version: i64| {
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
    };
    set(4);
    let (found, supported) = (4, 3);
    assert_eq!(
        open_error(&path),
        HistoryError::NewerVersion { found, supported }
    );
    assert_eq!(
        open_error(&path),
        HistoryError::NewerVersion { found, supported }
    );
    set(3);
    assert_eq!(count(&History::open(&path).unwrap()), 1);
}

#[test]
fn what_is_not_a_history_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for bytes in [
        &b"x"[..],
        b"{\"schema\": 1}",
        &[0; 5000],
        &[0xFF; 200],
        b"SQLite format 3\0",
    ] {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(
            open_error(&path),
            HistoryError::NotAHistory | HistoryError::Damaged
        ));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::remove_file(&path).unwrap();
    let foreign = Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE run (a); PRAGMA user_version = 1;")
        .unwrap();
    drop(foreign);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(open_error(&path), HistoryError::NotAHistory);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_place_where_no_file_can_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let directory = open_error(folder.path());
    assert_eq!(directory, HistoryError::Unreadable(ErrorKind::IsADirectory));
    let nowhere = open_error(&folder.path().join("no/history"));
    assert_eq!(nowhere, HistoryError::Unreadable(ErrorKind::NotFound));
    fs::write(folder.path().join("file"), b"").unwrap();
    let below = open_error(&folder.path().join("file/history"));
    assert_eq!(below, HistoryError::Unreadable(ErrorKind::NotADirectory));
    // An empty file is a place like any other.
    History::open(&folder.path().join("file"))
        .unwrap()
        .record(&small(1))
        .unwrap();
}

#[test]
fn a_history_without_its_tables_is_damaged() {
    for table in [
        "histogram",
        "environment",
        "case_result",
        "run",
        "series",
        "baseline",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        History::open(&path).unwrap().record(&full(1)).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!("PRAGMA foreign_keys = OFF; DROP TABLE {table};"))
            .unwrap();
        drop(connection);
        let mut history = History::open(&path).unwrap();
        assert_eq!(
            history.record(&full(2)).is_err(),
            table != "baseline",
            "{table}"
        );
        let touched: Result<(), HistoryError> = touch(&mut history);
        assert_eq!(touched, Err(HistoryError::Damaged), "{table}");
    }
}

#[test]
fn values_that_do_not_fit_each_other_are_damage() {
    for sql in [
        "UPDATE run SET document = '{'",
        "UPDATE run SET document = '[1]'",
        "UPDATE run SET tags = 'ci'",
        "UPDATE run SET verdicts = '[\"SPLENDID\"]'",
        "UPDATE run SET id = 'not an id'",
        "UPDATE run SET exit_code = 1000",
        "UPDATE histogram SET kind = 'x' || kind",
        "UPDATE case_result SET place = place + 7",
        "UPDATE case_result SET place = -place - 1",
        "UPDATE block SET execution = -1",
        "DELETE FROM environment",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        History::open(&path).unwrap().record(&full(1)).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let mut history = History::open(&path).unwrap();
        assert_eq!(touch(&mut history), Err(HistoryError::Damaged), "{sql}");
    }
}

/// Uses every table.
fn touch(history: &mut History) -> Result<(), HistoryError> {
    let run = RunId::parse(&full(1).run.id)?;
    history.runs(&RunFilter::default(), 100)?;
    history.run(&run)?;
    for metric in [Metric::Throughput, Metric::P50] {
        history.trend("open", metric)?;
    }
    history.baseline_list()?;
    history.baseline_save("main", &run)?;
    history.note(&run, "x")?;
    history.prune(1).map(drop)
}

#[test]
fn flipped_and_cut_bytes_give_answers_or_errors_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    for number in 1..=3 {
        history.record(&full(number)).unwrap();
    }
    drop(history);
    let bytes = fs::read(&path).unwrap();
    let mut generator = Generator::new(3);
    let (mut refused, mut answered) = (0, 0);
    for round in 0..300 {
        let mut spoilt = bytes.clone();
        for _ in 0..1 + generator.index(40) {
            let place = generator.index(spoilt.len());
            spoilt[place] = u8::try_from(generator.index(256)).unwrap();
        }
        if round % 5 == 0 {
            spoilt.truncate(generator.index(spoilt.len()));
        }
        let target = tempfile::tempdir().unwrap();
        let path = target.path().join("history");
        fs::write(&path, &spoilt).unwrap();
        match History::open(&path).and_then(|mut history| touch(&mut history)) {
            Ok(()) => answered += 1,
            Err(_) => refused += 1,
        }
    }
    assert_eq!(refused + answered, 300);
    assert!(refused > 50, "{refused}");
}
