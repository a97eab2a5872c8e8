//! What lies below the database misbehaves: writes that the disk had not promised yet are torn, reordered or lost, and
//! writes that it had promised are not there.
//!
//! A run of the real store is recorded: the database as it was, its write-ahead log, and how long the log was at each
//! acknowledgement. Whatever a crash could have left of these bytes is put together and opened. A log is a header of 32
//! bytes and frames, each a header of 24 bytes (page, size after a commit, salts, checksums) and a page
//! (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).
//!
//! Not here: a process that is killed (`kill`), which loses nothing that was written; an engine that fails (`faults`).
//!
//! The dose `torn-writes` says how many random states are opened for each promise.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use keywright_mutate::dose;
use keywright_store::{Error, Store, Table, Transaction};
use tempfile::TempDir;

use crate::{TENANT, open};

const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The place of the page size in the header of a log, and of the size after a commit in that of a frame.
const PAGE_SIZE_AT: Range<usize> = 8..12;
const COMMIT_AT: Range<usize> = 4..8;

/// Every row under a MAC: its revision and body.
type Rows = BTreeMap<(Table, Vec<u8>), (u64, Vec<u8>)>;

/// What the store had acknowledged when its log was so long.
struct Acknowledged {
    length: usize,
    rows: Rows,
    epoch: u64,
}

/// One run of the store.
struct Tape {
    /// The database when the run began, and when everything of the log had been moved into it.
    before: Vec<u8>,
    after: Vec<u8>,
    log: Vec<u8>,
    acknowledged: Vec<Acknowledged>,
}

/// How a frame comes out of a crash, where it does not come out whole.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The file is longer than what was written of it.
    Zeroes,
    /// Whatever was there before.
    Garbage,
    /// The front was written and the rest was not.
    Torn,
    /// Bits are not what was written.
    Flipped,
    /// Another frame of the same log stands here.
    Misplaced,
}

const DAMAGES: [Damage; 5] = [
    Damage::Zeroes,
    Damage::Garbage,
    Damage::Torn,
    Damage::Flipped,
    Damage::Misplaced,
];

#[test]
fn a_log_that_ends_anywhere_holds_what_was_acknowledged_up_to_there() {
    let tape = Tape::record(20);
    for frame in tape.frames(0..tape.log.len()) {
        let inside = [
            1,
            FRAME_HEADER - 1,
            FRAME_HEADER,
            FRAME_HEADER + 1,
            frame.len() / 2,
        ];
        let ends = inside.map(|offset| frame.start + offset);
        for end in [frame.start, frame.end - 1].into_iter().chain(ends) {
            let store = reopened(&tape.before, &tape.log[..end]).unwrap();
            assert_eq!(tape.place_of(&store), tape.promised(end), "cut at {end}");
        }
    }
    for end in [0, 1, LOG_HEADER - 1, LOG_HEADER] {
        let store = reopened(&tape.before, &tape.log[..end]).unwrap();
        assert_eq!(tape.place_of(&store), 0, "cut at {end}");
    }
    let store = reopened(&tape.before, &tape.log).unwrap();
    assert_eq!(tape.place_of(&store), tape.acknowledged.len() - 1);
}

#[test]
fn of_a_transaction_that_was_under_way_all_is_there_or_nothing() {
    let tape = Tape::record(20);
    let mut dice = Dice(1);
    let mut whole = 0;
    for case in 0..dose("torn-writes") {
        let last = dice.below(tape.acknowledged.len() - 1);
        let synced = tape.acknowledged[last].length.max(LOG_HEADER);
        let end = tape.acknowledged[last + 1].length;
        let mut log = tape.log[..end].to_vec();
        for frame in tape.frames(synced..end) {
            if dice.below(3) == 0 {
                tape.damage(&mut log, frame, &mut dice);
            }
        }
        // The length of a file is written by itself, too.
        match dice.below(4) {
            0 => log.truncate(synced + dice.below(end - synced)),
            1 => log.resize(end + dice.below(5000), 0),
            _ => {}
        }
        let is_whole = log.get(..end) == Some(&tape.log[..end]);
        whole += usize::from(is_whole);
        let expected = last + usize::from(is_whole);
        let store = reopened(&tape.before, &log).unwrap();
        assert_eq!(tape.place_of(&store), expected, "case {case}");
    }
    assert!(
        whole > 0 && whole < dose("torn-writes") / 2,
        "{whole} were whole"
    );
}

#[test]
fn a_log_written_over_an_older_one_never_shows_a_frame_of_that() {
    let older = Tape::record(20);
    let tape = Tape::record_on(older.after.clone(), 8);
    for frame in tape.frames(0..tape.log.len()) {
        for end in [
            frame.start,
            frame.start + FRAME_HEADER,
            frame.start + frame.len() / 2,
        ] {
            let log = [&tape.log[..end], &older.log[end..]].concat();
            let store = reopened(&tape.before, &log).unwrap();
            assert_eq!(
                tape.place_of(&store),
                tape.promised(end),
                "over it up to {end}"
            );
        }
    }
    // Not a byte of the new log was written: the old one says what the database has already.
    let store = reopened(&tape.before, &older.log).unwrap();
    assert_eq!(tape.place_of(&store), 0);
}

#[test]
fn pages_that_were_torn_while_the_log_was_moved_into_the_database_come_back_whole() {
    let tape = Tape::record(20);
    let mut dice = Dice(2);
    let pages = tape.pages_of_the_log();
    for case in 0..dose("torn-writes") {
        let mut database = tape.after.clone();
        for page in &pages {
            let old = tape.before.get(page.clone()).unwrap_or(&[]);
            match dice.below(5) {
                0 => database[page.start..page.start + old.len()].copy_from_slice(old),
                1 => {
                    let half = &old[..old.len() / 2];
                    database[page.start..page.start + half.len()].copy_from_slice(half);
                }
                2 => dice.fill(&mut database[page.clone()]),
                _ => {}
            }
        }
        let store = reopened(&database, &tape.log).unwrap();
        let newest = tape.acknowledged.len() - 1;
        assert_eq!(tape.place_of(&store), newest, "case {case}");
    }
}

/// A disk that loses what it had promised to keep: no store can have it, but none may make something else of it.
#[test]
fn what_a_lying_disk_lost_is_refused_or_shows_by_the_epoch() {
    let tape = Tape::record(20);
    let mut dice = Dice(3);
    let frames = tape.frames(0..tape.log.len());
    let newest = tape.acknowledged.len() - 1;
    for case in 0..dose("torn-writes") {
        let mut log = tape.log.clone();
        let hurt = frames[dice.below(frames.len())].clone();
        match dice.below(4) {
            0 => drop(log.drain(hurt.clone())),
            _ => tape.damage(&mut log, hurt.clone(), &mut dice),
        }
        if log == tape.log {
            continue;
        }
        let store = reopened(&tape.before, &log).unwrap();
        let place = tape.place_of(&store);
        assert_eq!(place, tape.promised(hurt.start), "case {case}");
        // Whoever knows of a newer epoch sees that this is not all, as the audit log does at a start.
        assert!(store.epoch() < tape.acknowledged[newest].epoch);
    }
}

/// Single pages that were promised and are not there: rows that do not belong together are never served.
#[test]
fn a_database_with_pages_of_two_moments_is_refused() {
    let tape = Tape::record(20);
    let mut dice = Dice(4);
    let pages = tape.pages_of_the_log();
    let newest = tape.acknowledged.len() - 1;
    let mut refused = 0;
    for case in 0..dose("torn-writes") {
        let mut database = tape.after.clone();
        let page = pages[dice.below(pages.len())].clone();
        match dice.below(3) {
            0 => database[page.clone()].fill(0),
            1 => dice.fill(&mut database[page.clone()]),
            _ => {
                let old = tape.before.get(page.clone()).unwrap_or(&[]);
                database[page.start..page.start + old.len()].copy_from_slice(old);
            }
        }
        match reopened(&database, &[]) {
            Err(_) => refused += 1,
            // A page that holds no row, or is the same in both.
            Ok(store) => {
                assert_eq!(tape.place_of(&store), newest, "case {case}");
            }
        }
    }
    assert!(
        refused > dose("torn-writes") / 3,
        "{refused} of {} were refused",
        dose("torn-writes")
    );
}

impl Tape {
    /// Records a run on a new database that has a few rows already.
    fn record(steps: u64) -> Self {
        let (folder, path) = place();
        let store = open(&path).unwrap();
        for number in 0..4_u64 {
            write(&store, number);
        }
        store.shutdown();
        let before = fs::read(&path).unwrap();
        drop(folder);
        Self::record_on(before, steps)
    }

    fn record_on(before: Vec<u8>, steps: u64) -> Self {
        let (_folder, path) = place();
        fs::write(&path, &before).unwrap();
        let store = open(&path).unwrap();
        let log_path = log_of(&path);
        let seen = |length| Acknowledged {
            length,
            rows: rows_of(&store),
            epoch: store.epoch(),
        };
        let mut acknowledged = vec![seen(0)];
        let first = store.epoch();
        for number in first..first + steps {
            write(&store, number);
            let length = fs::metadata(&log_path).unwrap().len();
            acknowledged.push(seen(length as usize));
        }
        let log = fs::read(&log_path).unwrap();
        assert_eq!(acknowledged.last().unwrap().length, log.len());
        store.shutdown();
        let tape = Self {
            before,
            after: fs::read(&path).unwrap(),
            log,
            acknowledged,
        };
        tape.check();
        tape
    }

    /// That the file is what this module takes it for: commits are where acknowledgements were.
    fn check(&self) {
        let ends = self.frames(0..self.log.len()).into_iter();
        let commits = ends.filter(|frame| {
            let size = &self.log[frame.start..][COMMIT_AT];
            size != [0; 4]
        });
        let commits: Vec<_> = commits.map(|frame| frame.end).collect();
        let lengths = self.acknowledged.iter().skip(1).map(|one| one.length);
        assert_eq!(commits, lengths.collect::<Vec<_>>());
    }

    fn page_size(&self) -> usize {
        number(&self.log[PAGE_SIZE_AT])
    }

    /// The frames in this part of the log, which begins and ends with whole ones.
    fn frames(&self, part: Range<usize>) -> Vec<Range<usize>> {
        let length = FRAME_HEADER + self.page_size();
        let starts = (part.start.max(LOG_HEADER)..part.end).step_by(length);
        starts.map(|start| start..start + length).collect()
    }

    /// The places in the database of the pages that the log has.
    fn pages_of_the_log(&self) -> Vec<Range<usize>> {
        let size = self.page_size();
        let frames = self.frames(0..self.log.len()).into_iter();
        let mut pages: Vec<_> = frames
            .map(|frame| number(&self.log[frame.start..frame.start + 4]) - 1)
            .collect();
        pages.sort_unstable();
        pages.dedup();
        pages
            .into_iter()
            .map(|page| page * size..(page + 1) * size)
            .collect()
    }

    /// Which acknowledgement was the last when the log was no longer than this.
    fn promised(&self, length: usize) -> usize {
        let later = self.acknowledged.iter().skip(1);
        later.take_while(|one| one.length <= length).count()
    }

    /// Which acknowledgement a store stands at: its rows are exactly those, its epoch too.
    fn place_of(&self, store: &Store) -> usize {
        let rows = rows_of(store);
        let mut all = self.acknowledged.iter();
        let place = all.position(|one| one.rows == rows && one.epoch == store.epoch());
        place.unwrap_or_else(|| panic!("rows that never stood beside each other: {rows:?}"))
    }

    fn damage(&self, log: &mut [u8], frame: Range<usize>, dice: &mut Dice) {
        let half = frame.start + 1 + dice.below(frame.len() - 1);
        match DAMAGES[dice.below(DAMAGES.len())] {
            Damage::Zeroes => log[frame].fill(0),
            Damage::Garbage => dice.fill(&mut log[frame]),
            Damage::Torn => match dice.below(2) {
                0 => log[half..frame.end].fill(0),
                _ => dice.fill(&mut log[half..frame.end]),
            },
            Damage::Flipped => log[half - 1] ^= 1 << dice.below(8),
            Damage::Misplaced => {
                let all = self.frames(0..self.log.len());
                let other = all[dice.below(all.len())].clone();
                log[frame].copy_from_slice(&self.log[other]);
            }
        }
    }
}

/// One of several transactions, each of which changes more than one page.
fn write(store: &Store, number: u64) {
    let key = number.to_be_bytes();
    let body = vec![number as u8; 40 + (number as usize * 977) % 6000];
    let transaction = Transaction::new().insert(Table::Keys, key, TENANT, body.clone());
    let transaction = match store.get(Table::Policies, b"last").unwrap() {
        Some(row) => transaction.update(Table::Policies, b"last", row.revision, key),
        None => transaction.insert(Table::Policies, b"last", TENANT, key),
    };
    let transaction = match number % 3 {
        0 => transaction.insert(Table::Approvals, key, TENANT, body),
        _ => match store.range(Table::Approvals, b"").unwrap().pop() {
            Some(row) if number % 3 == 1 => {
                transaction.delete(Table::Approvals, row.key, row.revision)
            }
            _ => transaction,
        },
    };
    store.transact(transaction).unwrap();
}

fn rows_of(store: &Store) -> Rows {
    let all = Table::PROTECTED.into_iter().flat_map(|table| {
        let rows = store.range(table, b"").unwrap();
        rows.into_iter()
            .map(move |row| ((table, row.key), (row.revision, row.body)))
    });
    all.collect()
}

/// Opens a store on these bytes, as a start after a crash does.
fn reopened(database: &[u8], log: &[u8]) -> Result<Store, Error> {
    let (folder, path) = place();
    fs::write(&path, database).unwrap();
    if !log.is_empty() {
        fs::write(log_of(&path), log).unwrap();
    }
    let store = open(&path);
    // The files are open; nothing asks for their names until the store ends, and then nobody looks.
    drop(folder);
    store
}

fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn number(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes.try_into().unwrap()) as usize
}

/// Xorshift: which bytes, the same ones on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.next() as u8);
    }
}
