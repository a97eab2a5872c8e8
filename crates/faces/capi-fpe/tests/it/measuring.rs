//! The programs that measure, and the examples: they build, end well, and print what they promise.

use std::fs;
use std::process::Command;

use crate::workshop::{Linkage, Workshop, home, run};

/// The programs, and how many lines with a rate each prints.
const PROGRAMS: [(&str, usize); 8] = [
    ("peer", 8),
    ("test_ff1_performance", 33),
    ("test_ff3_performance", 33),
    ("test_ff3-1_performance", 33),
    ("test_ff1_mt", 20),
    ("test_ff3_mt", 20),
    ("test_ff3-1_mt", 20),
    ("test_thread_safety", 12),
];

/// The examples, and something each prints.
const EXAMPLES: [(&str, &str); 5] = [
    ("basic", "decrypted   4111111111111111"),
    ("strings", "KW2026XYZ again"),
    (
        "batch",
        "record 3: the symbol at position 5 is not in the alphabet",
    ),
    ("threads", "4 threads, 10000 values each, 0 failed"),
    ("migration", "0535455316 becomes "),
];

/// The rate of a line such as `FF1 AES-128 ... TPS:  1234567 ops/sec ...`.
fn rate(line: &str) -> Option<f64> {
    line.split_once("TPS:")?
        .1
        .split_once("ops/sec")?
        .0
        .trim()
        .parse()
        .ok()
}

#[test]
fn every_measuring_program_ends_well_and_prints_its_rates() {
    let Some(workshop) = Workshop::open("programs") else {
        return;
    };
    for (name, lines) in PROGRAMS {
        let source = format!("programs/{name}.c");
        let program = workshop.build(&source, Linkage::Shared, &["-O2"]);
        let printed = run(Command::new(&program).arg("40"));
        let rates: Vec<f64> = printed.lines().filter_map(rate).collect();
        assert_eq!(rates.len(), lines, "{name}: {printed}");
        assert!(rates.iter().all(|rate| *rate > 0.0), "{name}: {printed}");
    }
}

#[test]
fn the_thread_programs_run_with_1_to_16_threads() {
    let Some(workshop) = Workshop::open("thread-rows") else {
        return;
    };
    let program = workshop.build("programs/test_ff1_mt.c", Linkage::Shared, &[]);
    let printed = run(Command::new(&program).env("FPE_ITERATIONS", "2"));
    for threads in [" 1", " 2", " 4", " 8", "16"] {
        let rows = printed
            .matches(&format!(" {threads} threads  TPS:"))
            .count();
        assert_eq!(rows, 4, "{threads}: {printed}");
    }
}

#[test]
fn no_program_divides_by_the_time_of_processors() {
    let mut files = 0;
    for folder in ["programs", "examples", "tests/c"] {
        for file in fs::read_dir(home().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_none_or(|ending| ending != "c" && ending != "h")
            {
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            let words = [
                "CLOCKS_PER_SEC",
                "clock_t",
                "= clock()",
                "CLOCK_PROCESS",
                "CLOCK_THREAD",
            ];
            for word in words {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
        }
    }
    assert!(files > 20, "only {files} files were looked at");
}

#[test]
fn every_example_runs_and_says_what_it_shows() {
    let Some(workshop) = Workshop::open("examples") else {
        return;
    };
    for (name, words) in EXAMPLES {
        let program = workshop.build(&format!("examples/{name}.c"), Linkage::Shared, &[]);
        let printed = run(&mut Command::new(&program));
        assert!(printed.contains(words), "{name}: {printed}");
    }
}

#[test]
fn every_source_that_is_shipped_is_tried() {
    let names = |folder: &str| -> Vec<String> {
        let files = fs::read_dir(home().join(folder)).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let sources = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c"));
        let mut names: Vec<String> = sources
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let mut programs: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    let mut examples: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    programs.sort_unstable();
    examples.sort_unstable();
    assert_eq!(names("programs"), programs);
    assert_eq!(names("examples"), examples);
}
