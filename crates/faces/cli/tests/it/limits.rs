//! What commands say when the system gives no descriptor: one failure that names the limit, and no panic.

use std::process::{Command, Stdio};

use crate::program::{Folder, Home, documents};

/// How a command ended under a limit.
struct Limited {
    code: Option<i32>,
    stderr: String,
}

/// Runs the program with this many descriptors. A command that does not end by itself is ended, which fails the test.
fn limited(descriptors: u32, words: &[&str]) -> Limited {
    let output = Command::new("prlimit")
        .arg(format!("--nofile={descriptors}"))
        .args(["timeout", "--kill-after=5", "60"])
        .arg(env!("CARGO_BIN_EXE_keywright"))
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    documents(&output.stdout);
    Limited {
        code: output.status.code(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What no failure of these may say.
const NEVER: [&str; 2] = ["panicked", "report this"];

/// Advice that does not help where the limit is reached.
const NOT_THE_LIMIT: [&str; 3] = [
    "name the module's file",
    "choose another port",
    "check that the path exists",
];

#[track_caller]
fn ends_in_order(descriptors: u32, words: &[&str]) -> Option<i32> {
    let ended = limited(descriptors, words);
    let told = format!("{descriptors} {words:?} {:?}: {}", ended.code, ended.stderr);
    assert!(
        ended.code.is_some_and(|code| code < 100),
        "not in order: {told}"
    );
    let is_limit = ended.stderr.contains("Too many open files");
    for part in NEVER {
        assert!(!ended.stderr.contains(part), "{told}");
    }
    for part in NOT_THE_LIMIT {
        assert!(!is_limit || !ended.stderr.contains(part), "{told}");
    }
    let failures = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "));
    let expected = usize::from(ended.code != Some(0));
    assert_eq!(failures.count(), expected, "{told}");
    ended.code
}

#[test]
fn commands_end_in_order_without_descriptors() {
    let home = Home::demo();
    let folder = &home.folder;
    let name = |name: &str| folder.name(name);
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";
    let rules = folder.write("rules.toml", rules);
    let table = folder.write("in.csv", "card\n4111111111111111\n");
    let key = folder.write("key", "11".repeat(32));
    let log = home.word("audit");
    let mut failed = 0;
    for descriptors in [4, 5, 6, 7, 8, 10, 12] {
        let numbered = |base: &str| name(&format!("{base}-{descriptors}"));
        let (sealed, protected) = (numbered("sealed"), numbered("protected"));
        let commands: [&[&str]; 9] = [
            &[
                "bench",
                "op",
                "hash.blake3.1m",
                "--duration",
                "10ms",
                "--no-history",
            ],
            &["seal", "keygen", "--kem", "x25519", "--out", &sealed],
            &[
                "protect",
                &table,
                "--rules",
                &rules,
                "--key-file",
                &key,
                "--out",
                &protected,
            ],
            &["session", "demo"],
            &["audit", "verify", &log],
            &["admin", "--home", &home.home, "context", "list"],
            &["hsm", "list-slots", "--module", &table],
            &["hsm", "analyze", &table],
            &["hsm", "benchmark", "--module", &table],
        ];
        for words in commands {
            failed += u32::from(ends_in_order(descriptors, words) != Some(0));
        }
        assert!(
            folder.names().iter().all(|name| !name.starts_with('.')),
            "{:?}",
            folder.names()
        );
    }
    assert!(failed > 9, "{failed}");
}

#[test]
fn a_service_without_descriptors_names_the_limit() {
    let home = Home::demo();
    for descriptors in [4, 5, 6, 7, 8] {
        for more in [&[][..], &["--null"]] {
            let words = ["serve", "--home", &home.home, "--listen", "127.0.0.1:0"];
            let words = [&words[..], more].concat();
            assert_eq!(ends_in_order(descriptors, &words), Some(1));
            let ended = limited(descriptors, &words);
            assert!(ended.stderr.contains("ulimit -n"), "{}", ended.stderr);
        }
    }
}

#[test]
fn a_run_that_a_limit_ended_goes_on_where_it_was() {
    let folder = Folder::new();
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";
    let rules = folder.write("rules.toml", rules);
    let table = folder.write("in.csv", "card\n4111111111111111\n");
    let key = folder.write("key", "11".repeat(32));
    let out = folder.name("out.csv");
    let words = [
        "protect",
        &table,
        "--rules",
        &rules,
        "--key-file",
        &key,
        "--out",
        &out,
    ];
    let mut failed = 0;
    for descriptors in 4..=7 {
        if ends_in_order(descriptors, &words) != Some(0) {
            failed += 1;
            assert!(limited(descriptors, &words).stderr.contains("ulimit -n"));
        }
    }
    assert!(failed > 0);
    if !folder.names().contains(&"out.csv".to_owned()) {
        assert_eq!(limited(64, &words).code, Some(0));
    }
    let names = folder.names();
    let debris = |name: &&String| name.ends_with(".part") || name.ends_with(".journal");
    assert_eq!(names.iter().find(debris), None);
}
