//! Random edits of a log that ended in order, before a head that is known from elsewhere: every single one is found.
//!
//! The dose `audit-edits` says how many. Each edit is made to files, and those are read as
//! the offline verifier reads them. What `tamper` does in order, with the place that is named, this does at random.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use keywright_audit::head::HeadId;
use keywright_audit::verify::Failure;
use keywright_clock::Clock;
use keywright_mutate::{SplitMix, dose};
use tempfile::TempDir;

use crate::support::*;

/// Edits of one thread between two looks at the common count.
const SHARE: usize = 500;

/// A log's files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Three boots with several writers and heads each.
fn make() -> (TempDir, HeadId) {
    let folder = tempfile::tempdir().unwrap();
    let mut newest = HeadId::NONE;
    for boot in 0..3 {
        let log = open(folder.path());
        let mut writers = [log.writer().unwrap(), log.writer().unwrap()];
        for round in 0..3 {
            for (which, writer) in (0..).zip(&mut writers) {
                let from = 100 * boot + 10 * round + 5 * which;
                append_all(writer, from..from + 3);
            }
            log.sign_head().unwrap();
        }
        drop(writers);
        newest = log.shutdown().unwrap().id();
    }
    (folder, newest)
}

fn read(folder: &Path) -> Files {
    let paths = record_files(folder).into_iter().chain(head_files(folder));
    paths
        .map(|path| (name(&path).to_owned(), fs::read(&path).unwrap()))
        .collect()
}

/// A folder that is brought into the state of some files, by writing what differs from what lies there.
struct Place {
    folder: TempDir,
    lies: Files,
}

impl Place {
    fn hold(&mut self, files: &Files) {
        let path = |name: &str| -> PathBuf { self.folder.path().join(name) };
        for name in self.lies.keys().filter(|name| !files.contains_key(*name)) {
            fs::remove_file(path(name)).unwrap();
        }
        for (name, bytes) in files {
            if self.lies.get(name) != Some(bytes) {
                fs::write(path(name), bytes).unwrap();
            }
        }
        self.lies.clone_from(files);
    }
}

/// One edit; what it was, for the message. It may leave everything as it was.
fn edit(dice: &mut SplitMix, files: &mut Files) -> &'static str {
    let names: Vec<String> = files.keys().cloned().collect();
    let name = names[dice.below(names.len())].clone();
    let other = names[dice.below(names.len())].clone();
    match dice.below(20) {
        0 => {
            files.remove(&name);
            return "a file deleted";
        }
        1 => {
            let (one, two) = (files[&name].clone(), files[&other].clone());
            files.insert(name, two);
            files.insert(other, one);
            return "two files exchanged";
        }
        2 => {
            let copy = files[&other].clone();
            files.insert(name, copy);
            return "a file over another";
        }
        3 => {
            let copy = files[&name].clone();
            // Under the name of a writer that a known boot might have had.
            let boot = names.iter().find(|name| name.ends_with(".log")).unwrap();
            let number = dice.below(1 << 16);
            files.insert(format!("{}-{number:08x}.log", &boot[..32]), copy);
            return "a file added";
        }
        _ => {}
    }
    let foreign = files[&other].clone();
    let bytes = files.get_mut(&name).unwrap();
    let frames = if name.ends_with(".log") {
        boundaries(bytes)
    } else {
        head_boundaries(bytes)
    };
    edit_bytes(dice, bytes, (&frames, &foreign))
}

/// Of one file: bits, bytes, spans, and whole records or heads between `frames`.
fn edit_bytes(
    dice: &mut SplitMix,
    bytes: &mut Vec<u8>,
    (frames, foreign): (&[usize], &[u8]),
) -> &'static str {
    let length = bytes.len();
    let (at, count) = (dice.below(length), frames.len() - 1);
    let (first, second) = (dice.below(count), dice.below(count));
    match dice.below(12) {
        0 => {
            bytes[at] ^= 1 << dice.below(8);
            "a bit flipped"
        }
        1 => {
            bytes[at] = dice.byte();
            "a byte set"
        }
        2 => {
            bytes.truncate(at);
            "cut off"
        }
        3 => {
            bytes.truncate(frames[first]);
            "cut off between records"
        }
        4 => {
            bytes.drain(at..(at + 1 + dice.below(64)).min(length));
            "a span deleted"
        }
        5 => {
            let span = bytes[at..(at + 1 + dice.below(64)).min(length)].to_vec();
            let to = dice.below(length + 1);
            bytes.splice(to..to, span);
            "a span doubled"
        }
        6 => {
            let from = dice.below(foreign.len());
            let end = (from + 1 + dice.below(64)).min(foreign.len());
            bytes.splice(at..at, foreign[from..end].iter().copied());
            "a span of another file"
        }
        7 => {
            let end = (at + 1 + dice.below(32)).min(length);
            bytes[at..end].fill(0);
            "zeros"
        }
        8 => {
            bytes.extend((0..=dice.below(80)).map(|_| dice.byte()));
            "bytes behind the end"
        }
        which => edit_records(which, bytes, (frames, first, second)),
    }
}

/// Of whole records or heads.
fn edit_records(
    which: usize,
    bytes: &mut Vec<u8>,
    (frames, first, second): (&[usize], usize, usize),
) -> &'static str {
    let whole = |index: usize| frames[index]..frames[index + 1];
    match which {
        9 => {
            bytes.drain(whole(first));
            "a record deleted"
        }
        10 => {
            let one = bytes[whole(first)].to_vec();
            bytes.splice(frames[second]..frames[second], one);
            "a record repeated"
        }
        _ => {
            let (low, high) = (first.min(second), first.max(second));
            let (one, two) = (bytes[whole(low)].to_vec(), bytes[whole(high)].to_vec());
            bytes.splice(whole(high), one);
            bytes.splice(whole(low), two);
            "two records exchanged"
        }
    }
}

/// What was tried of each kind.
type Tally = BTreeMap<&'static str, usize>;

/// Makes edits from `seed` on until as many differed from the log as were asked for.
fn try_some(log: &Files, newest: HeadId, (seed, count): (usize, usize)) -> Tally {
    let mut dice = SplitMix::new(seed as u64);
    let mut place = Place {
        folder: tempfile::tempdir().unwrap(),
        lies: Files::new(),
    };
    let (mut tally, mut tried) = (Tally::new(), 0);
    while tried < count {
        let mut files = log.clone();
        let what = edit(&mut dice, &mut files);
        if files == *log {
            continue;
        }
        place.hold(&files);
        let verified = verifier().known_head(newest).verify(place.folder.path());
        match verified {
            Err(Failure::Finding(_)) => {}
            other => panic!("not found: {what}, edit {tried} from {seed}: {other:?}"),
        }
        *tally.entry(what).or_default() += 1;
        tried += 1;
    }
    place.hold(log);
    assert!(
        verifier()
            .known_head(newest)
            .verify(place.folder.path())
            .is_ok()
    );
    tally
}

#[test]
fn random_edits_deletions_swaps_and_truncations_before_a_known_head_are_all_found() {
    let (folder, newest) = make();
    let (log, total, taken) = (
        read(folder.path()),
        dose("audit-edits"),
        AtomicUsize::new(0),
    );
    let clock = Clock::system();
    let (started, tally) = (clock.monotonic(), std::sync::Mutex::new(Tally::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let from = taken.fetch_add(SHARE, Ordering::Relaxed);
                    let count = total.saturating_sub(from).min(SHARE);
                    if count == 0 {
                        return;
                    }
                    for (what, count) in try_some(&log, newest, (from, count)) {
                        *tally.lock().unwrap().entry(what).or_default() += count;
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    assert_eq!(tally.values().sum::<usize>(), total);
    assert!(total < 1000 || tally.len() == 16, "{tally:?}");
    println!(
        "{total} edits in {:.0?}, all found: {tally:?}",
        clock.monotonic().since(started)
    );
}
