//! What was acknowledged survives `kill -9`, and numbers that were handed out never come again.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use keywright_store::{Store, Table};
use keywright_types::KeyVersion;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::child::{Role, body, key};
use crate::{KEY, open};

/// What one life of a writer acknowledged: rows, and blocks of numbers.
#[derive(Default)]
struct Acknowledged {
    rows: Vec<u64>,
    numbers: Vec<u64>,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let fields: Vec<u64> = line
            .split(' ')
            .map(|field| field.parse().unwrap())
            .collect();
        self.rows.push(fields[0]);
        self.numbers.extend(fields[1]..fields[2]);
    }
}

/// Lets a writer live for `acks` acknowledgements and `delay` more.
fn live(path: &Path, acks: u64, delay: Duration, noted: &mut Acknowledged) {
    let mut writer = Role::spawn("write", path);
    if acks > 0 {
        assert_eq!(writer.next().as_deref(), Some("open"));
        for _ in 0..acks {
            noted.note(&writer.next().unwrap());
        }
    }
    sleep(delay);
    writer.kill();
    while let Some(line) = writer.next() {
        if line != "open" {
            noted.note(&line);
        }
    }
}

/// Every MAC holds (the start says so), every acknowledged row is there, and none that was never
/// written.
fn check(path: &Path, noted: &Acknowledged) -> Store {
    let store = open(path).unwrap();
    let rows = store.range(Table::Keys, b"").unwrap();
    for (number, row) in (0..).zip(&rows) {
        assert_eq!(
            (row.key.as_slice(), &row.body),
            (&key(number)[..], &body(number))
        );
    }
    assert!(noted.rows.iter().all(|number| *number < rows.len() as u64));
    assert_eq!(store.epoch(), rows.len() as u64);
    let distinct: BTreeSet<_> = noted.numbers.iter().collect();
    assert_eq!(distinct.len(), noted.numbers.len());
    let reserved = store.reserved(KEY, KeyVersion::FIRST).unwrap();
    assert!(noted.numbers.iter().all(|number| *number < reserved));
    store
}

fn integrity(path: &Path) -> String {
    let connection = Connection::open(path).unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get(0);
    connection
        .pragma_query_value(None, "integrity_check", read)
        .unwrap()
}

#[test]
fn every_acknowledged_row_and_number_survives_twenty_kills() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let mut noted = Acknowledged::default();
    for round in 0..20_u64 {
        // Somewhere between two acknowledgements, at another place in each round.
        let delay = Duration::from_micros(round * round * 37 % 5000);
        live(&path, 1 + round * 7 % 23, delay, &mut noted);
        check(&path, &noted).shutdown();
        assert_eq!(integrity(&path), "ok");
    }
    assert!(noted.rows.len() >= 200, "{} rows", noted.rows.len());
    assert!(noted.rows.is_sorted());
}

#[test]
fn a_kill_while_the_database_is_being_made_leaves_one_that_opens() {
    let folder = TempDir::new().unwrap();
    for round in 0..20_u64 {
        let path = folder.path().join(round.to_string());
        let mut noted = Acknowledged::default();
        live(&path, 0, Duration::from_micros(round * 800), &mut noted);
        check(&path, &noted).shutdown();
        assert_eq!(integrity(&path), "ok");
    }
}
