//! What memory a run takes, in a process of its own: this test program with the name of the test, which knows what it
//! is by a file in its working folder.

use std::io::{BufWriter, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_protect::{Files, Options, Plan, Source, run};
use keywright_tabular::csv::Options as Dialect;

use crate::table::{Table, card, go_on, keys, rules};

const MARK: &str = "child";
/// Longer than the run takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Protects a file with two threads, and writes the most memory that it had, in KiB.
fn child() {
    let source = Source::open(Path::new("in.csv"), &Dialect::default()).unwrap();
    let rules = rules(&["name = \"card\"\nformat = \"card\""]);
    let plan = Plan::protect(source.layout(), &rules, &keys(1)).unwrap();
    let options = Options::new(NonZeroUsize::new(2).unwrap());
    let files = Files::new(Path::new("out.csv"));
    run(&source, &plan, &files, &options, &mut go_on).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    std::fs::write("peak", peak.unwrap().split_whitespace().next().unwrap()).unwrap();
}

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn memory_stays_below_64_mib_whatever_the_size_of_the_file() {
    if Path::new(MARK).exists() {
        return child();
    }
    let table = Table::new(&[]);
    let file = std::fs::File::create(table.path("in.csv")).unwrap();
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let text = "a text that stays as it is, ".repeat(40);
    file.write_all(b"id,card,text\n").unwrap();
    for row in 0..120_000_u64 {
        writeln!(file, "{row},{},\"{text}\"", card(row % 50)).unwrap();
    }
    file.into_inner().unwrap();
    let size = table.path("in.csv").metadata().unwrap().len();
    assert!(size > 128 << 20, "{size}");
    std::fs::write(table.path(MARK), []).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = "resident::memory_stays_below_64_mib_whatever_the_size_of_the_file";
    command
        .args(["--exact", test])
        .current_dir(table.path("in.csv").parent().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let clock = Clock::system();
    let start = clock.monotonic();
    let status = loop {
        if let Some(status) = running.0.try_wait().unwrap() {
            break status;
        }
        assert!(clock.monotonic().since(start) < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    let mib = table.text("peak").parse::<u64>().unwrap() >> 10;
    assert!((1..64).contains(&mib), "{mib} MiB");
    assert_eq!(table.path("out.csv").metadata().unwrap().len(), size);
}
