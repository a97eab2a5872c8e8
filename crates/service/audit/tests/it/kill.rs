//! A killed process has logged what it acknowledged.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use keywright_audit::RecordType;
use keywright_audit::log::Log;
use keywright_mutate::SplitMix;

use crate::support::*;

/// The child: appends to the folder that stands on its input, and acknowledges each number on its
/// output after the flush. Run by hand, with no input, it writes a few records into a folder of its own.
#[test]
#[ignore = "the child process of the test below"]
fn child_appends_until_it_is_killed() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let alone = tempfile::tempdir().unwrap();
    let (dir, count) = match line.trim() {
        "" => (alone.path().to_owned(), 10),
        dir => (PathBuf::from(dir), u64::MAX),
    };
    let log = open(&dir);
    let mut writer = log.writer().unwrap();
    let mut out = std::io::stdout();
    for number in 0..count {
        let tickets: Vec<_> = (0..3)
            .map(|_| writer.append(&request(number).into()).unwrap())
            .collect();
        let written = writer.flush().unwrap();
        assert!(tickets.into_iter().all(|ticket| written.covers(ticket)));
        // A line of its own kind, because the test harness writes to this output as well.
        writeln!(out, "acknowledged {number}").unwrap();
        out.flush().unwrap();
    }
    drop(writer);
    log.shutdown().unwrap();
    assert_eq!(
        verify(&dir).unwrap().records_of(RecordType::Request),
        count * 3
    );
}

#[test]
fn what_was_acknowledged_before_kill_9_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = SplitMix::new(42);
    let mut acknowledged = 0;
    for round in 1..=20 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "kill::child_appends_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        writeln!(child.stdin.take().unwrap(), "{}", folder.path().display()).unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .filter(|line| line.contains("acknowledged "))
                .count()
        });
        let pause = 30 + dice.below(300) as u64;
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged += reader.join().unwrap() as u64 * 3;
        if acknowledged == 0 {
            continue;
        }
        let report = verify(folder.path()).unwrap();
        let logged = report.records_of(RecordType::Request);
        assert!(
            logged >= acknowledged,
            "round {round}: {logged} of {acknowledged}"
        );
        // Three records and one line at a time: a kill loses at most what was not acknowledged yet.
        assert!(logged <= acknowledged + 3 * round);
    }
    assert!(acknowledged > 100, "the children did work");
    Log::open(settings(folder.path()))
        .unwrap()
        .shutdown()
        .unwrap();
    assert_eq!(verify(folder.path()).unwrap().unsigned, 0);
}
