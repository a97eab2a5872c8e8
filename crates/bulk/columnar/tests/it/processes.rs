//! Runs in processes of their own: killed anywhere, they go on to the same bytes; and what memory they take.
//!
//! Such a process is this test program with the name of the test that starts it. It knows what it is by a file in
//! its working folder.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use keywright_clock::Clock;
use keywright_columnar::{Kind, Table, run};
use keywright_format::Rules;
use keywright_mutate::SplitMix;
use keywright_protect::{Files, Plan};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::scene::{CARDS, KINDS, Work, batch, keys};

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n";
/// What makes a folder that of a process which was started here.
const MARK: &str = "child";
/// Longer than any run takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with the test.
struct Running(Child);

impl Running {
    fn start(test: &str, folder: &Path) -> Self {
        std::fs::write(folder.join(MARK), []).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test]).current_dir(folder);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// Whether it succeeded.
    fn wait(&mut self) -> bool {
        let clock = Clock::system();
        let start = clock.monotonic();
        while clock.monotonic().since(start) < PATIENCE {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("a run does not end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// In a process that a test has started: does its work, and says so.
fn is_child() -> bool {
    if !Path::new(MARK).exists() {
        return false;
    }
    let table = Table::open(Path::new("in")).unwrap();
    let plan = Plan::protect(table.layout(), &Rules::parse(RULES).unwrap(), &keys()).unwrap();
    let files = Files::new(Path::new("out"));
    let two = NonZeroUsize::new(2).unwrap();
    let ran = run(&table, &plan, &files, two, &mut |_| {
        ControlFlow::Continue(())
    });
    if let Err(error) = &ran {
        std::fs::write("told", error.to_string()).unwrap();
    }
    ran.unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.unwrap().split_whitespace().next().unwrap();
    std::fs::write("peak", kib).unwrap();
    true
}

fn input(work: &Work, kind: Kind) {
    let batches: Vec<_> = (0..12).map(|number| batch(100 + 40 * number)).collect();
    work.write(kind, &batches);
}

#[test]
fn runs_that_are_killed_go_on_and_give_the_same_bytes() {
    if is_child() {
        return;
    }
    let test = "processes::runs_that_are_killed_go_on_and_give_the_same_bytes";
    let clock = Clock::system();
    let mut dice = SplitMix::new(51);
    for kind in KINDS {
        let whole = Work::new().alone();
        input(&whole, kind);
        whole.protect(RULES).unwrap();
        let expected = whole.read("out");
        let work = Work::new();
        input(&work, kind);
        let folder = work.path("in").parent().unwrap().to_owned();
        let start = clock.monotonic();
        assert!(Running::start(test, &folder).wait(), "{kind:?}");
        let took = u64::try_from(clock.monotonic().since(start).as_nanos()).unwrap();
        let (mut killed, mut resumed) = (0, 0);
        while killed < 17 {
            let mut child = Running::start(test, &folder);
            let nanos = took / 1_000 * dice.below(1_000) as u64;
            std::thread::sleep(Duration::from_nanos(nanos));
            child.0.kill().unwrap();
            if !child.wait() {
                killed += 1;
                // Every other one is killed again on its way.
                if killed % 2 == 1 {
                    continue;
                }
            }
            resumed += u32::from(work.path("out.journal").exists());
            if !work.path("out").exists() || work.path("out.journal").exists() {
                assert!(Running::start(test, &folder).wait(), "{kind:?}");
            }
            assert!(
                work.read("out") == expected,
                "{kind:?} after {killed} kills"
            );
            for name in work.names() {
                // A run that finds the whole output of the one before is refused, and says so.
                let old = ["in", MARK, "peak", "told", "out", "out.protection.json"];
                assert!(old.contains(&name.as_str()), "{name} is left");
            }
            for name in ["out", "out.protection.json"] {
                std::fs::remove_file(work.path(name)).unwrap();
            }
        }
        assert!(resumed > 0, "{kind:?}: nothing was gone on with");
    }
}

/// A limit on the size of files ends writing as a full disk does.
#[test]
fn a_full_disk_is_told_and_the_run_goes_on_once_there_is_room() {
    if is_child() {
        return;
    }
    let test = "processes::a_full_disk_is_told_and_the_run_goes_on_once_there_is_room";
    for kind in KINDS {
        let (work, whole) = (Work::new(), Work::new().alone());
        input(&work, kind);
        input(&whole, kind);
        whole.protect(RULES).unwrap();
        let folder = work.path("in").parent().unwrap().to_owned();
        std::fs::write(folder.join(MARK), []).unwrap();
        let program = std::env::current_exe().unwrap();
        let order = format!(
            "trap '' XFSZ; ulimit -f 8; exec '{}' --exact {test}",
            program.display()
        );
        let mut command = Command::new("bash");
        command.args(["-c", &order]).current_dir(&folder);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut running = Running(command.stderr(Stdio::null()).spawn().unwrap());
        assert!(!running.wait(), "{kind:?}");
        let told = String::from_utf8(work.read("told")).unwrap();
        assert!(told.contains("out") && told.contains("written"), "{told}");
        assert!(!work.path("out").exists() && work.path("out.journal").exists());
        assert!(Running::start(test, &folder).wait(), "{kind:?}");
        assert!(work.read("out") == whole.read("out"), "{kind:?}");
    }
}

/// Rows of a card and of a text of so many bytes that stays.
fn broad(rows: usize, bytes: usize, dice: &mut SplitMix) -> RecordBatch {
    let text: String = (0..bytes)
        .map(|_| char::from(b' ' + dice.byte() % 95))
        .collect();
    let texts = (0..rows).map(|row| {
        let from = row * 37 % bytes;
        format!("{}{}", &text[from..], &text[..from])
    });
    let columns: [(&str, ArrayRef); 2] = [
        (
            "card",
            Arc::new(StringArray::from_iter_values(
                (0..rows).map(|row| CARDS[row % 4]),
            )),
        ),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// 96 MiB in pieces of 8.
fn write_large(work: &Work, kind: Kind) {
    let mut dice = SplitMix::new(52);
    let piece = broad(2_048, 4_096, &mut dice);
    let (file, schema) = (
        std::fs::File::create(work.path("in")).unwrap(),
        piece.schema(),
    );
    if kind == Kind::Parquet {
        let plain = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .build();
        let mut writer = ArrowWriter::try_new(file, schema, Some(plain)).unwrap();
        for _ in 0..12 {
            writer.write(&piece).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
    } else if kind == Kind::ArrowStream {
        let mut writer = StreamWriter::try_new(file, &schema).unwrap();
        (0..12).for_each(|_| writer.write(&piece).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(file, &schema).unwrap();
        (0..12).for_each(|_| writer.write(&piece).unwrap());
        writer.finish().unwrap();
    }
}

/// 64 MiB and a piece of the file: a column of a row group, or a batch.
#[test]
fn memory_does_not_grow_with_the_file() {
    if is_child() {
        return;
    }
    let test = "processes::memory_does_not_grow_with_the_file";
    for kind in KINDS {
        let work = Work::new();
        write_large(&work, kind);
        let size = work.path("in").metadata().unwrap().len();
        assert!(size > 96 << 20, "{kind:?}: {size}");
        let folder = work.path("in").parent().unwrap().to_owned();
        assert!(Running::start(test, &folder).wait(), "{kind:?}");
        let peak = String::from_utf8(work.read("peak")).unwrap();
        let mib = peak.parse::<u64>().unwrap() >> 10;
        assert!((1..=64 + 8).contains(&mib), "{kind:?}: {mib} MiB");
        assert!(work.path("out").exists());
    }
}
