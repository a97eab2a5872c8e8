//! `keywright demo`: nine steps on a real file, what they leave behind, and what they do not.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::program::{Ended, Folder, Home, keywright, program, signal};

/// Quotes with separators, quotes and line ends in them, Unicode, an empty cell, CRLF and no line end
/// at the end.
const PEOPLE: &str = "id,name,email,city\r\n\
    1,\"García, Lucía\",hill.1@example.com,Málaga\r\n\
    2,\"Ana \"\"Nana\"\" 山田\",yama_2@example.org,東京\r\n\
    3,\"two\nlines\",,Πάτρα\r\n\
    4,Émile,gold.3@example.com,\"a, b\"";

/// What a demonstration leaves in its working folder.
const WORK: [&str; 3] = [
    "people.protected.csv",
    "people.tokens.csv",
    "people.tokens.csv.protection.json",
];

fn words<'a>(home: &'a str, input: &'a str) -> Vec<&'a str> {
    [
        &["demo", "--home", home, "--input", input][..],
        &["--password-cost", "fast"],
        &["--large-file", "2", "--seconds", "1"],
    ]
    .concat()
}

fn demo(home: &str, input: &str, more: &[&str]) -> Ended {
    keywright(&[&words(home, input), more].concat())
}

/// The names of the files in a home's working folder.
fn work(home: &Path) -> Vec<String> {
    let entries = home.join("demo").read_dir().unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[track_caller]
fn holds_nine_steps(text: &str) {
    let steps: Vec<_> = text.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(steps.len(), 9, "{text}");
    for (index, step) in steps.iter().enumerate() {
        assert!(step.starts_with(&format!("[{}/9] ", index + 1)), "{text}");
    }
    assert!(text.ends_with("all steps held\n"), "{text}");
}

#[test]
fn nine_steps_make_a_home_that_the_next_run_uses_again() {
    let folder = Folder::new();
    let input = folder.write("people.csv", PEOPLE);
    let home = folder.name("home");
    let text = demo(&home, &input, &[]).text();
    holds_nine_steps(&text);
    assert!(text.contains("[1/9] making the home"), "{text}");
    assert!(text.contains("8 cells of 4 rows sealed"), "{text}");
    assert!(text.contains("3 cells of 4 rows in"), "{text}");
    let tokens = String::from_utf8(folder.read("home/demo/people.tokens.csv")).unwrap();
    assert!(
        tokens.contains("@example.com,Málaga") && !tokens.contains("hill.1"),
        "{tokens}"
    );
    assert_eq!(tokens.len(), PEOPLE.len());
    assert!(
        text.contains("two cells exchanged in a copy: both refused"),
        "{text}"
    );
    for file in [
        "keywright.toml",
        "ca.pem",
        "server.pem",
        "server.key",
        "clients/trading-1.pem",
        "clients/trading-1.key",
        "clients/web-2fa-1.pem",
        "clients/web-2fa-1.key",
    ] {
        assert!(Path::new(&home).join(file).is_file(), "{file}");
    }
    assert!(Path::new(&home).join("audit").is_dir());
    assert_eq!(folder.mode("home/root.password"), 0o600);
    assert_eq!(work(Path::new(&home)), WORK);
    keywright(&["audit", "verify", "--home", &home]).bytes();

    let (authority, password) = (
        folder.read("home/ca.pem"),
        folder.read("home/root.password"),
    );
    let again = demo(&home, &input, &[]).text();
    holds_nine_steps(&again);
    assert!(again.contains("[1/9] using the home"), "{again}");
    assert_eq!(folder.read("home/ca.pem"), authority);
    assert_eq!(folder.read("home/root.password"), password);
    assert_eq!(work(Path::new(&home)), WORK);
    assert_eq!(folder.read("people.csv"), PEOPLE.as_bytes());
}

#[test]
fn only_the_chosen_columns_are_changed() {
    let home = Home::demo();
    let input = home.folder.write("people.csv", PEOPLE);
    let text = demo(&home.home, &input, &["--columns", "city"]).text();
    assert!(text.contains("4 cells of 4 rows sealed"), "{text}");
    let protected = home.folder.read("home/demo/people.protected.csv");
    let protected = String::from_utf8(protected).unwrap();
    for kept in [
        "id,name,email,city\r\n",
        "1,\"García, Lucía\",hill.1@example.com,",
        "2,\"Ana \"\"Nana\"\" 山田\",yama_2@example.org,",
        "3,\"two\nlines\",,",
        "4,Émile,gold.3@example.com,",
    ] {
        assert!(protected.contains(kept), "{kept:?} is not in {protected}");
    }
    for sealed in ["Málaga", "東京", "Πάτρα", "a, b"] {
        assert!(!protected.contains(sealed), "{sealed:?} is in {protected}");
    }
}

#[test]
fn an_exchange_is_claimed_only_where_there_are_two_cells() {
    let home = Home::demo();
    for (table, columns, said) in [
        ("id,email\n1,a@example.com\n", "email", "only one cell"),
        ("id,email\n", "email", "no cell"),
        (
            "name,email\nAna,a@example.com\n",
            "name,email",
            "two cells exchanged",
        ),
    ] {
        let input = home.folder.write("small.csv", table);
        let text = demo(&home.home, &input, &["--columns", columns]).text();
        holds_nine_steps(&text);
        assert!(text.contains(said), "{text}");
        assert_eq!(
            text.contains("both refused"),
            said.starts_with("two"),
            "{text}"
        );
    }
}

#[test]
fn wrong_input_is_told_before_a_home_is_made() {
    let folder = Folder::new();
    let plain = folder.write("plain.csv", "a,b\n1,2\n");
    let people = folder.write("people.csv", PEOPLE);
    let (home, missing) = (folder.name("home"), folder.name("missing.csv"));
    let happened = "no column of";
    demo(&home, &plain, &[]).refused(2, happened, "--columns");
    demo(&home, &people, &["--columns", "salary"]).refused(2, "salary", "columns that it has");
    demo(&home, &missing, &[]).refused(2, "cannot be read", "--input");
    let error = demo(&home, &plain, &["--format", "json"]).error(2);
    assert!(error["message"].as_str().unwrap().contains(happened));
    assert_eq!(folder.names(), ["people.csv", "plain.csv"]);
}

#[test]
fn measuring_takes_at_least_a_second() {
    for seconds in ["0", "-1", "86401"] {
        let word = format!("--seconds={seconds}");
        keywright(&["demo", &word]).refused(2, seconds, "--help");
    }
}

#[test]
fn an_interrupt_takes_half_made_files_along() {
    let home = Home::demo();
    let input = home.folder.write("people.csv", PEOPLE);
    let mut child = program()
        .args(["demo", "--home", &home.home, "--input", &input])
        .args(["--large-file", "1", "--seconds", "60"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let measuring = lines.any(|line| line.unwrap().starts_with("[8/9]"));
    // As earlier steps would have left them, had they been cut short.
    std::fs::create_dir(home.path("demo/audit-copy")).unwrap();
    for name in [
        "people.revealed.csv",
        "people.values.csv",
        "large.bin",
        "audit-copy/1.log",
    ] {
        std::fs::write(home.path("demo").join(name), b"left").unwrap();
    }
    signal("INT", child.id());
    // The pipe is read to its end, so that no line of the program meets a closed one.
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(measuring);
    assert_eq!(work(Path::new(&home.home)), WORK);
}

#[test]
fn a_full_standard_output_ends_a_demonstration_before_it_makes_anything() {
    let folder = Folder::new();
    let input = folder.write("people.csv", PEOPLE);
    let home = folder.name("home");
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = program()
        .args(words(&home, &input))
        .stdout(full.unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(
        lines[0].contains("standard output cannot be written"),
        "{stderr}"
    );
    assert_eq!(folder.names(), ["people.csv"]);
}
