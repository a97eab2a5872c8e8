//! `SECURITY.md` names tests that exist, and what `deploy` has keeps to what it says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use keywright_architecture::tree;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The names of all functions that carry `#[test]`, whatever other attributes stand between.
fn tests_of_the_tree() -> BTreeSet<String> {
    let files = tree::files(&root()).unwrap();
    let sources = files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let mut names = BTreeSet::new();
    for file in sources {
        names.extend(tests_in(
            &fs::read_to_string(root().join(file)).unwrap_or_default(),
        ));
    }
    names
}

fn tests_in(source: &str) -> Vec<String> {
    let marked = source.split("#[test]").skip(1);
    let function = |rest: &str| {
        let (_, rest) = rest.split_once("fn ")?;
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        Some(rest[..end].to_owned())
    };
    marked.filter_map(function).collect()
}

/// The rows of the tables: the id in front, and the words in backticks.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = lines.filter_map(|line| {
        let id = line.split(' ').next()?;
        let (kind, number) = id.split_at_checked(1)?;
        let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let named = line.split('`').skip(1).step_by(2).map(str::to_owned);
        (["W", "D"].contains(&kind) && numbered).then(|| (id.to_owned(), named.collect()))
    });
    rows.collect()
}

#[test]
fn every_test_that_security_names_exists() {
    let (page, tests) = (page("SECURITY.md"), tests_of_the_tree());
    let rows = rows(&page);
    let ids: BTreeSet<_> = rows.iter().map(|(id, _)| id.clone()).collect();
    let wanted = (1..=21).map(|n| format!("W{n}"));
    let wanted: BTreeSet<_> = wanted.chain((1..=27).map(|n| format!("D{n}"))).collect();
    assert_eq!(ids, wanted);
    for (id, named) in rows {
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {id} ")));
        let admits = line.unwrap().contains("no test");
        assert!(admits || !named.is_empty(), "{id} names nothing");
        for name in named.iter().filter(|name| !name.contains('/')) {
            assert!(tests.contains(name), "{id}: there is no test {name}");
        }
    }
}

#[test]
fn a_name_that_is_no_test_is_found() {
    let source = "#[test]\nfn one() {}\nfn two() {}\n#[test]\n#[expect(x)]\nfn three() {}";
    assert_eq!(tests_in(source), ["one", "three"]);
    let rows = rows("| W1 | x | `one`, `two` |\n| Wx | y | `z` |\n| D27 | no test |\ntext `x`");
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rows,
        [
            ("W1".to_owned(), named(&["one", "two"])),
            ("D27".to_owned(), named(&[]))
        ]
    );
}

#[test]
fn nothing_that_is_deployed_runs_as_root_or_with_a_secret_in_it() {
    let image = page("deploy/Containerfile");
    let stages = image
        .split("\nFROM ")
        .skip(1)
        .filter(|stage| stage.contains("ENTRYPOINT"));
    let stages: Vec<_> = stages.collect();
    assert_eq!(stages.len(), 2);
    for stage in stages {
        let (before, _) = stage.split_once("ENTRYPOINT").unwrap();
        assert!(before.contains("\nUSER keywright\n"), "{stage}");
    }
    let unit = page("deploy/systemd/keywright.service");
    for line in [
        "User=keywright",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "LimitCORE=0",
        "LimitMEMLOCK=infinity",
        "ProtectSystem=strict",
        "LoadCredential=root.password:/etc/keywright/root.password",
    ] {
        assert!(unit.lines().any(|one| one == line), "{line}");
    }
    let files = tree::files(&root()).unwrap();
    for file in files.iter().filter(|file| file.starts_with("deploy")) {
        let text = page(file.to_str().unwrap());
        let settings = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        for line in settings.map(str::to_lowercase) {
            for word in [
                "pin=",
                "password=",
                "environment=",
                "begin private",
                "so-pin ",
            ] {
                assert!(!line.contains(word), "{}: {line}", file.display());
            }
        }
    }
}
