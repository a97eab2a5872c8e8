//! `keywright protect`, `reveal`, `migrate`: whole files through the real binary, and what ends them.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::program::{Folder, Home, keywright, program};

const RULES: &str = "version = 1\n\
    [[column]]\nname = \"card\"\nformat = \"card\"\nkeep = \"last4\"\n\
    [[column]]\nname = \"born\"\nformat = \"date(from=0001-01-01, to=9999-12-31)\"\n";

const PEOPLE: &str = "\u{feff}id,card,born,note\r\n\
    1,4111111111111111,1960-01-30,\"a, \"\"b\"\"\"\r\n\
    2,\"5500 0000 0000 0004\",,\"two\nlines\"\n\
    3,,1983-07-19,";

fn example(name: &str) -> String {
    format!("{}/../../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder with a file and its rules.
struct Work {
    folder: Folder,
    input: String,
    rules: String,
    key: String,
    out: String,
}

impl Work {
    fn new(input: &str, rules: &str) -> Self {
        let folder = Folder::new();
        Self {
            input: folder.write("in.csv", input),
            rules: folder.write("rules.toml", rules),
            key: folder.name("key"),
            out: folder.name("out.csv"),
            folder,
        }
    }

    fn protect(&self, more: &[&str]) -> crate::program::Ended {
        let words = [
            "protect",
            &self.input,
            "--rules",
            &self.rules,
            "--key-file",
            &self.key,
            "--out",
            &self.out,
        ];
        keywright(&[&words[..], more].concat())
    }

    fn reveal(&self, more: &[&str]) -> crate::program::Ended {
        let back = self.folder.name("back.csv");
        let words = ["reveal", &self.out, "--key-file", &self.key, "--out", &back];
        keywright(&[&words[..], more].concat())
    }
}

#[test]
fn a_file_is_protected_and_comes_back() {
    let work = Work::new(PEOPLE, RULES);
    let told = work.protect(&["--new-key", "--format", "json"]).document();
    assert_eq!(
        (&told["command"], &told["rows"]),
        (&"protect".into(), &3.into())
    );
    let card = &told["columns"][0];
    assert_eq!(
        (&card["name"], &card["changed"], &card["empty"]),
        (&"card".into(), &2.into(), &1.into())
    );
    let out = String::from_utf8(work.folder.read("out.csv")).unwrap();
    assert!(
        out.starts_with("\u{feff}id,card,born,note\r\n") && out.ends_with(','),
        "{out}"
    );
    assert!(
        out.contains("0004\",,\"two\nlines\"\n") && out.contains("1111,"),
        "{out}"
    );
    assert!(
        !out.contains("4111111111111111") && !out.contains("1960-01-30"),
        "{out}"
    );
    assert_eq!(work.folder.mode("key"), 0o600);
    let text = work.reveal(&["--rules", &work.rules]).text();
    assert!(text.contains("3 rows"), "{text}");
    assert_eq!(work.folder.read("back.csv"), PEOPLE.as_bytes());
    assert_eq!(work.folder.mode("back.csv"), 0o600);
    assert_eq!(
        work.folder.names(),
        [
            "back.csv",
            "in.csv",
            "key",
            "out.csv",
            "out.csv.protection.json",
            "rules.toml"
        ]
    );
}

#[test]
fn the_example_has_five_columns_that_become_tokens() {
    let folder = Folder::new();
    let (key, out, back) = (
        folder.name("key"),
        folder.name("out.csv"),
        folder.name("back.csv"),
    );
    let (input, rules) = (example("customers.csv"), example("rules.toml"));
    let words = [
        "protect",
        &input,
        "--rules",
        &rules,
        "--key-file",
        &key,
        "--new-key",
        "--out",
        &out,
    ];
    let told = keywright(&[&words[..], &["--format", "json"]].concat()).document();
    assert_eq!(told["rows"], 10_000);
    let columns = told["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 5);
    for column in columns {
        assert_eq!(
            (&column["changed"], &column["empty"]),
            (&10_000.into(), &0.into()),
            "{column}"
        );
    }
    keywright(&[
        "reveal",
        &out,
        "--rules",
        &rules,
        "--key-file",
        &key,
        "--out",
        &back,
    ])
    .bytes();
    assert!(folder.read("back.csv") == std::fs::read(&input).unwrap());
    keywright(&["format", "check", &out, "--rules", &rules]).bytes();
}

#[test]
fn wrong_keys_rules_columns_and_files_are_refused_before_anything_is_written() {
    let work = Work::new(PEOPLE, RULES);
    work.protect(&["--new-key"]).bytes();
    let names = work.folder.names();
    let other = work.folder.write("other.key", "ab".repeat(32));
    let back = work.folder.name("back.csv");
    keywright(&["reveal", &work.out, "--key-file", &other, "--out", &back]).refused(
        8,
        "not the key",
        "protection.json",
    );
    let edited = work
        .folder
        .write("edited.toml", RULES.replace("last4", "none"));
    work.reveal(&["--rules", &edited])
        .refused(13, "card", "leave --rules out");
    work.reveal(&["--new-key"])
        .refused(2, "new key", "protected with");
    let plain = work.input.clone();
    keywright(&["reveal", &plain, "--key-file", &work.key, "--out", &back]).refused(
        9,
        "protection.json",
        "beside",
    );
    let missing = work.folder.write(
        "missing.toml",
        RULES.replace("\"card\"\nformat", "\"pan\"\nformat"),
    );
    let protect = |rules: &str, out: &str, more: &[&str]| {
        let words = [
            "protect",
            &work.input,
            "--rules",
            rules,
            "--key-file",
            &work.key,
            "--out",
            out,
        ];
        keywright(&[&words[..], more].concat())
    };
    protect(&missing, &back, &[]).refused(2, "pan", "header");
    let twice = work.folder.write(
        "twice.toml",
        format!("{RULES}[[column]]\nname = \"card\"\nformat = \"card\"\n"),
    );
    protect(&twice, &back, &[]).refused(2, "given twice", "docs/format.md");
    protect(&work.rules, &work.input, &["--yes"]).refused(2, "overwritten", "--out");
    protect(&work.rules, &work.rules, &["--yes"]).refused(2, "overwritten", "--out");
    protect(&work.rules, &work.out, &[]).refused(13, "not confirmed", "--yes");
    protect(&work.rules, &back, &["--new-key"]).refused(13, "key", "--new-key");
    assert_eq!(work.folder.read("in.csv"), PEOPLE.as_bytes());
    for name in ["other.key", "edited.toml", "missing.toml", "twice.toml"] {
        std::fs::remove_file(work.folder.path().join(name)).unwrap();
    }
    assert_eq!(work.folder.names(), names);
}

#[test]
fn bad_values_end_the_run_or_go_where_the_rule_says() {
    let bad = "id,card,born\n1,4111111111111111,\n2,4111111111111112,1960-01-30\n";
    let work = Work::new(bad, RULES);
    let refused = work.protect(&["--new-key"]);
    refused.refused(
        3,
        "row 2 (line 3), column \"card\": check digit wrong",
        "on_bad",
    );
    assert!(!refused.stderr.contains("4111"), "{refused:?}");
    assert_eq!(work.folder.names(), ["in.csv", "rules.toml"]);
    let error = work.protect(&["--new-key", "--format", "json"]).error(3);
    assert_eq!(error["code"], "value_misfit");
    work.folder.write(
        "rules.toml",
        RULES.replacen("keep = ", "on_bad = \"reject\"\nkeep = ", 1),
    );
    let told = work.protect(&["--new-key", "--format", "json"]).document();
    assert_eq!(
        (&told["written"], &told["rejected"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        work.folder.read("out.csv.rejects"),
        b"id,card,born\n2,4111111111111112,1960-01-30\n"
    );
    assert_eq!(work.folder.mode("out.csv.rejects"), 0o600);
}

/// A new key is of no use without an output, and would stand in the way of the same command.
#[test]
fn a_command_that_fails_takes_back_the_keys_that_it_made_and_no_others() {
    let work = Work::new(PEOPLE, RULES);
    let there = work.folder.write("there", "ab".repeat(32));
    let missing = RULES.replace("\"card\"\nformat", "\"pan\"\nformat");
    let missing = work.folder.write("missing.toml", missing);
    let named = RULES.replace("name = \"born\"", "key = \"b\"\nname = \"born\"");
    let named = work.folder.write("named.toml", named);
    let (nowhere, both) = (work.folder.name("no/out.csv"), format!("b={there}"));
    let names = work.folder.names();
    let run = |command: &str, rules: &str, more: &[&str]| {
        let words = [command, &work.input, "--rules", rules, "--new-key"];
        keywright(&[&words[..], &["--key-file", &work.key], more].concat())
    };
    let out = ["--out", &work.out];
    run("protect", &missing, &out).refused(2, "pan", "header");
    run("protect", &work.rules, &["--out", &nowhere]).refused(1, "cannot be written", "");
    // No output can be its own key.
    run("protect", &work.rules, &["--out", &work.key, "--yes"]).refused(2, "overwritten", "--out");
    let second = [&out[..], &["--key-file", &both]].concat();
    run("protect", &named, &second).refused(13, "there exists", "--new-key");
    let migrate = [&out[..], &["--from-key-file", &there]].concat();
    run("migrate", &work.rules, &migrate).refused(9, "protection.json", "beside");
    // Of another run there is a journal already; the key does not belong to it.
    let journal = work.folder.write("out.csv.journal", vec![7; 200]);
    run("protect", &work.rules, &out).refused(13, "belongs to a run", "--restart");
    std::fs::remove_file(journal).unwrap();
    assert_eq!(work.folder.names(), names);
    assert_eq!(work.folder.read("there"), "ab".repeat(32).as_bytes());
    work.protect(&["--new-key"]).bytes();
    work.reveal(&[]).bytes();
}

/// The example, many times over.
fn large(times: usize) -> String {
    let one = std::fs::read_to_string(example("customers.csv")).unwrap();
    let (header, rows) = one.split_once('\n').unwrap();
    format!("{header}\n{}", rows.repeat(times))
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn a_run_that_is_killed_goes_on_and_gives_the_same_bytes() {
    let input = large(4);
    let rules = std::fs::read_to_string(example("rules.toml")).unwrap();
    let work = Work::new(&input, &rules);
    let clock = keywright_clock::Clock::system();
    let start = clock.monotonic();
    work.protect(&["--new-key", "--threads", "2"]).bytes();
    let whole = clock.monotonic().since(start);
    let expected = work.folder.read("out.csv");
    let (mut killed, mut resumed) = (0, 0);
    let mut dice = keywright_mutate::SplitMix::new(50);
    let words = [
        "protect",
        &work.input,
        "--rules",
        &work.rules,
        "--key-file",
        &work.key,
        "--resume",
        "--threads",
        "2",
        "--format",
        "json",
        "--out",
    ];
    let again = work.folder.name("again.csv");
    while killed < 50 {
        let mut child = program().args(words).arg(&again).spawn().unwrap();
        // Anywhere from before the first byte to about the end.
        let nanos = u64::try_from(whole.as_nanos()).unwrap() / 1_000 * dice.below(1_000) as u64;
        std::thread::sleep(Duration::from_nanos(nanos));
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            killed += 1;
            // Every other one is killed again on its way.
            if killed % 2 == 1 {
                continue;
            }
        }
        if std::path::Path::new(&again).exists()
            && !std::path::Path::new(&format!("{again}.journal")).exists()
        {
            // It was whole by then.
        } else {
            let told = keywright(&[&words[..], &[&again]].concat()).document();
            assert_eq!(told["rows"], 40_000);
            resumed += u32::from(told["resumed"] != 0);
        }
        assert!(
            work.folder.read("again.csv") == expected,
            "after {killed} kills"
        );
        for name in ["again.csv", "again.csv.protection.json"] {
            std::fs::remove_file(work.folder.path().join(name)).unwrap();
        }
    }
    assert!(
        resumed >= 5,
        "only {resumed} runs had something to go on with"
    );
    assert_eq!(
        work.folder.names(),
        [
            "in.csv",
            "key",
            "out.csv",
            "out.csv.protection.json",
            "rules.toml"
        ]
    );
}

/// A limit on the size of files ends writing as a full disk does.
#[test]
fn a_full_disk_is_told_and_the_run_goes_on_once_there_is_room() {
    let work = Work::new(
        &large(2),
        &std::fs::read_to_string(example("rules.toml")).unwrap(),
    );
    let order = format!(
        "trap '' XFSZ; ulimit -f 1000; exec '{}' protect '{}' --rules '{}' --key-file '{}' --new-key --threads 1 --out '{}'",
        env!("CARGO_BIN_EXE_keywright"),
        work.input,
        work.rules,
        work.key,
        work.out
    );
    let ended = Command::new("bash")
        .args(["-c", &order])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot be written") && stderr.contains("goes on where it was"),
        "{stderr}"
    );
    assert!(!work.folder.names().contains(&"out.csv".to_owned()));
    // The same command: the key that it made is that of the journal.
    let told = work.protect(&["--new-key", "--format", "json"]).document();
    assert_eq!(told["rows"], 20_000);
    assert!(told["resumed"].as_u64().unwrap() > 0, "{told}");
    work.reveal(&[]).bytes();
    assert!(work.folder.read("back.csv") == work.folder.read("in.csv"));
}

#[test]
fn an_interrupt_ends_with_its_code_and_the_run_can_go_on() {
    let work = Work::new(
        &large(10),
        &std::fs::read_to_string(example("rules.toml")).unwrap(),
    );
    let words = [
        "protect",
        &work.input,
        "--rules",
        &work.rules,
        "--key-file",
        &work.key,
        "--new-key",
        "--out",
        &work.out,
    ];
    let child = program()
        .args(words)
        .args(["--threads", "1"])
        .spawn()
        .unwrap();
    let journal = work.folder.path().join("out.csv.journal");
    assert!(crate::program::eventually(|| journal
        .metadata()
        .is_ok_and(|there| there.len() > 1_000)));
    crate::program::signal("INT", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert!(journal.exists());
    let key = work.folder.read("key");
    let told = work.protect(&["--new-key", "--format", "json"]).document();
    assert_eq!(work.folder.read("key"), key);
    assert!(told["resumed"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(told["rows"], 100_000);
}

#[test]
fn data_keys_of_a_home_serve_with_and_without_its_service() {
    let home = Home::demo();
    let folder = &home.folder;
    let (input, rules) = (
        folder.write("in.csv", PEOPLE),
        folder.write("rules.toml", RULES),
    );
    let (key, out) = (folder.name("key.kwr"), folder.name("out.csv"));
    let of = [
        "--wrapped-key",
        &key,
        "--context",
        "exchange-key",
        "--home",
        &home.home,
        "--client",
        "trading-1",
    ];
    let protect = [
        "protect",
        &input,
        "--rules",
        &rules,
        "--new-key",
        "--out",
        &out,
    ];
    keywright(&[&protect[..], &of].concat()).bytes();
    assert!(folder.read("key.kwr").starts_with(b"KWR1"));
    let back = folder.name("back.csv");
    let reveal = ["reveal", &out, "--out", &back, "--yes"];
    keywright(&[&reveal[..], &of].concat()).bytes();
    assert_eq!(folder.read("back.csv"), PEOPLE.as_bytes());
    let server = home.serve();
    keywright(&[&reveal[..], &of, &["--url", &server.url]].concat()).bytes();
    assert_eq!(folder.read("back.csv"), PEOPLE.as_bytes());
    server.stop();
    // Another unit's client has no right to the context.
    let stranger = [
        "--wrapped-key",
        &key,
        "--context",
        "exchange-key",
        "--home",
        &home.home,
        "--client",
        "web-2fa-1",
    ];
    let refused = keywright(&[&reveal[..], &stranger].concat());
    assert_eq!(refused.code, 9, "{refused:?}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn old_tokens_become_tokens_of_ff1_and_move_to_newer_keys() {
    let folder = Folder::new();
    let old_key = folder.write("old.key", "2de79d232df5585d68ce47880ae256d6");
    let tweak = "cbd09280979564";
    let mut old = "id,number\n".to_owned();
    let mut clear = old.clone();
    for (row, number) in ["3992520240123456", "8901801106000000", "4111111111111111"]
        .iter()
        .enumerate()
    {
        let token = keywright(&[
            "fpe",
            "encrypt",
            "--mode",
            "ff3-1",
            "--key-file",
            &old_key,
            "--tweak",
            tweak,
            "--legacy",
            number,
        ])
        .text();
        old.push_str(&format!("{row},{}\n", token.trim()));
        clear.push_str(&format!("{row},{number}\n"));
    }
    let input = folder.write("old.csv", &old);
    let rules = folder.write(
        "rules.toml",
        "version = 1\n[[column]]\nname = \"number\"\nformat = \"digit(16)\"\n",
    );
    let (new_key, newer) = (folder.name("new.key"), folder.name("newer.key"));
    let (out, moved, back) = (
        folder.name("out.csv"),
        folder.name("moved.csv"),
        folder.name("back.csv"),
    );
    let migrate = [
        "migrate",
        &input,
        "--rules",
        &rules,
        "--key-file",
        &new_key,
        "--out",
        &out,
        "--from-key-file",
        &old_key,
    ];
    keywright(
        &[
            &migrate[..],
            &[
                "--new-key",
                "--from-mode",
                "ff3-1",
                "--from-rules",
                &rules,
                "--from-tweak",
                tweak,
            ],
        ]
        .concat(),
    )
    .bytes();
    keywright(&[
        "migrate",
        &out,
        "--rules",
        &rules,
        "--key-file",
        &newer,
        "--new-key",
        "--key-version",
        "2",
        "--from-key-file",
        &new_key,
        "--out",
        &moved,
    ])
    .bytes();
    assert!(
        String::from_utf8(folder.read("moved.csv.protection.json"))
            .unwrap()
            .contains("\"version\": 2")
    );
    keywright(&[
        "reveal",
        &moved,
        "--key-file",
        &newer,
        "--key-version",
        "2",
        "--out",
        &back,
    ])
    .bytes();
    assert_eq!(String::from_utf8(folder.read("back.csv")).unwrap(), clear);
    assert_ne!(folder.read("out.csv"), folder.read("moved.csv"));
}
