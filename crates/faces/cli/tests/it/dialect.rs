//! How CSV files are quoted: what is refused, what `--quote` says, and that no cell is ever in a message.

use crate::program::{Ended, Folder, keywright};

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n";

/// Two stray quotes that read as one quoted cell, with a card in it.
const STRAY: &str =
    "id,note,card\n1,\"six,4111111111111111\n2,plain,5500000000000004\n3,\",340000000000009\n";

const CARDS: [&str; 3] = ["4111111111111111", "5500000000000004", "340000000000009"];

/// A folder with a file, its rules and a key.
struct Work {
    folder: Folder,
    rules: String,
    key: String,
}

impl Work {
    fn new(text: &str) -> Self {
        let folder = Folder::new();
        folder.write("in", text);
        Self {
            rules: folder.write("rules.toml", RULES),
            key: folder.write("key", "ab".repeat(32)),
            folder,
        }
    }

    fn run(&self, command: &str, (from, to): (&str, &str), more: &[&str]) -> Ended {
        let (from, to) = (self.folder.name(from), self.folder.name(to));
        let words = [command, &from, "--key-file", &self.key, "--out", &to];
        keywright(&[&words[..], more].concat())
    }

    fn protect(&self, more: &[&str]) -> Ended {
        let rules = ["--rules", &self.rules];
        self.run("protect", ("in", "out"), &[&rules, more].concat())
    }

    fn check(&self, more: &[&str]) -> Ended {
        let input = self.folder.name("in");
        let words = ["format", "check", &input, "--rules", &self.rules];
        keywright(&[&words[..], more].concat())
    }

    #[track_caller]
    fn has_no_card(&self, name: &str) {
        let bytes = String::from_utf8_lossy(&self.folder.read(name)).into_owned();
        assert!(!CARDS.iter().any(|card| bytes.contains(card)), "{bytes}");
    }
}

/// Neither line has a cell.
#[track_caller]
fn tells_no_cell(ended: &Ended, cells: &[&str]) {
    let told = format!("{}{}", String::from_utf8_lossy(&ended.stdout), ended.stderr);
    for cell in cells {
        assert!(!told.contains(cell), "{told}");
    }
}

#[test]
fn stray_quotes_are_refused_with_line_and_column_by_every_command() {
    let text = "id\tnote\tcard\n1\tabc\t4111111111111111\n2\t\"efg\t5500000000000004\n\
                3\t\"klm\"\t340000000000009\n";
    let work = Work::new(text);
    let told =
        "line 4, column number 2: text behind the closing quote; the quote was opened at line 3";
    work.protect(&[]).refused(2, told, "--quote none");
    work.check(&[]).refused(2, told, "--quote none");
    let migrate = ["--rules", &work.rules, "--from-key-file", &work.key];
    let foreign = ["--from-mode", "ff1", "--from-rules", &work.rules];
    work.run("migrate", ("in", "out"), &[&migrate[..], &foreign].concat())
        .refused(2, told, "--quote none");
    assert_eq!(work.folder.names(), ["in", "key", "rules.toml"]);
    let error = work.protect(&["--format", "json"]).error(2);
    assert_eq!(error["code"], "table_malformed");
    work.protect(&["--quote", "none"]).bytes();
    work.has_no_card("out");
    work.run("reveal", ("out", "back"), &[]).bytes();
    assert_eq!(work.folder.read("back"), text.as_bytes());
    let work = Work::new("id\tnote\tcard\n1\tabc\t4111111111111111\n");
    work.protect(&[]).bytes();
    let out = String::from_utf8(work.folder.read("out")).unwrap();
    work.folder.write("out", out.replace("abc", "12\" pipe"));
    let told = "line 2, column number 2: a quote inside a field that is not quoted";
    work.run("reveal", ("out", "back"), &[])
        .refused(2, told, "--quote none");
}

#[test]
fn a_quoted_cell_of_rows_is_refused_until_an_option_accepts_it() {
    let work = Work::new(STRAY);
    let told = "row 1 (line 2), column number 2: without quotes the lines of this cell are rows";
    for more in [&[][..], &["--quote", "double"]] {
        work.protect(more).refused(13, told, "--quote none");
        work.check(more).refused(13, told, "--accept-quoted-values");
    }
    let error = work.protect(&["--format", "json"]).error(13);
    assert_eq!(error["code"], "quoted_value");
    tells_no_cell(&work.protect(&["--format", "json"]), &CARDS);
    assert_eq!(work.folder.names(), ["in", "key", "rules.toml"]);
    let told = work
        .protect(&["--quote", "none", "--format", "json"])
        .document();
    assert_eq!((&told["rows"], &told["lines"]), (&3.into(), &3.into()));
    work.has_no_card("out");
    work.run("reveal", ("out", "back"), &["--quote", "double"])
        .refused(2, "without quotes", "--quote");
    work.protect(&["--accept-quoted-values", "--yes"]).bytes();
    work.run("reveal", ("out", "back"), &[]).bytes();
    assert_eq!(work.folder.read("back"), STRAY.as_bytes());
    work.protect(&["--accept-quoted-values", "--quote", "none", "--yes"])
        .refused(2, "--accept-quoted-values", "--quote double");
}

#[test]
fn a_quoted_value_is_refused_and_a_tab_waits_for_the_option() {
    let work = Work::new("id,note,card\n1,\"was 4111111111111111, is\",5500000000000004\n");
    work.protect(&[]).refused(
        13,
        "row 1 (line 2), column number 2: a cell with a separator or a line end in it, and a value for column \"card\"",
        "--accept-quoted-values",
    );
    let work = Work::new("id\tnote\tcard\n1\t\"a\tb\"\t5500000000000004\n");
    let told = "row 1 (line 2), column number 2: a quoted cell with a tab or a line end";
    work.protect(&[]).refused(13, told, "--quote double");
    work.check(&[]).refused(13, told, "--quote double");
    work.check(&["--quote", "double"]).bytes();
    work.protect(&["--quote", "double"]).bytes();
    work.run("reveal", ("out", "back"), &[]).bytes();
    assert_eq!(work.folder.read("back"), work.folder.read("in"));
}

#[test]
fn the_summary_says_how_many_lines_the_rows_took() {
    let work = Work::new("id,card,\"no\nte\"\n1,4111111111111111,\"a\nb\"\n\n2,,x");
    let told = work.protect(&["--format", "json"]).document();
    assert_eq!((&told["rows"], &told["lines"]), (&3.into(), &4.into()));
    let text = work.protect(&["--yes"]).text();
    assert!(text.contains("3 rows on 4 lines in "), "{text}");
    let text = work.run("reveal", ("out", "back"), &[]).text();
    assert!(text.contains("3 rows on 4 lines in "), "{text}");
    let text = work.check(&[]).text();
    assert!(text.starts_with("3 rows on 4 lines\n"), "{text}");
    let told = work.check(&["--format", "json"]).document();
    assert_eq!((&told["rows"], &told["lines"]), (&3.into(), &4.into()));
}

#[test]
fn no_message_has_a_cell_of_a_file_without_a_header() {
    let rows = "4000000000000135,Ada Lovelace\n4111111111111111,Grace Hopper\n";
    let cells = ["4000000000000135", "4111111111111111", "Ada", "Grace"];
    let numbered: String = rows.lines().map(|row| format!("7,{row}\n")).collect();
    let twice: String = rows.lines().map(|row| format!("{row},{row}\n")).collect();
    for text in [
        rows.to_owned(),
        numbered,
        rows.replace(',', "\t"),
        rows.replace('\n', "\r"),
        rows.replace('\n', "\u{2028}"),
        twice,
        "Ada,Grace\nBob,Eve\n".to_owned(),
        // A word that names of columns are made of, among values.
        "Ada,Grace,pin\nBob,Eve,note\n".to_owned(),
    ] {
        let work = Work::new(&text);
        for format in ["text", "json"] {
            let more = ["--format", format];
            let (protect, check) = (work.protect(&more), work.check(&more));
            let input = work.folder.name("in");
            let look = keywright(&[&["format", "check", &input][..], &more].concat());
            assert_eq!((protect.code, check.code), (2, 2), "{protect:?} {check:?}");
            for ended in [&protect, &check, &look] {
                tells_no_cell(ended, &cells);
            }
        }
        assert_eq!(work.folder.names(), ["in", "key", "rules.toml"]);
    }
    let work = Work::new(rows);
    work.protect(&[]).refused(2, "no header?", "header");
    let look = keywright(&["format", "check", &work.folder.name("in")]).text();
    assert!(
        look.contains("number 1") && look.contains("may be data"),
        "{look}"
    );
    let work = Work::new(&rows.replace('\n', "\r"));
    work.protect(&[])
        .refused(2, "CR line ends are not supported", "LF");
}

#[test]
fn names_are_shown_only_if_asked_for_or_of_known_words() {
    let work = Work::new("id,name,Card\n1,Ada,4111111111111111\n");
    work.protect(&[])
        .refused(2, "another spelling in number 3", "header");
    let look = keywright(&[
        "format",
        "check",
        &work.folder.name("in"),
        "--format",
        "json",
    ]);
    let look = look.document();
    assert_eq!(look["columns"][2]["name"], "Card");
    assert_eq!(look["columns"][2]["column"], 3);
}

#[test]
fn files_that_are_no_csv_are_named() {
    for (first, kind, advice) in [
        (
            &b"\x1f\x8b\x08\0\0\0\0\0"[..],
            "a gzip file",
            "unpack it first",
        ),
        (
            b"PK\x03\x04\x14\0[Content_Types].xml",
            "a workbook",
            "as CSV",
        ),
        (b"\xff\xfei\0d\0", "a text in UTF-16", "iconv"),
        (b"{\"card\": 1}\n", "a JSON file", "Parquet"),
        (b"ORC\x0a\x03\0\0", "an ORC file", "Parquet"),
        (b"Obj\x01\x04", "an Avro file", "Parquet"),
    ] {
        let work = Work::new("");
        work.folder.write("in", first);
        work.protect(&[]).refused(2, kind, advice);
        work.check(&[]).refused(2, kind, advice);
    }
}

#[test]
fn inputs_and_outputs_that_are_no_regular_files_are_refused() {
    let work = Work::new("card\n4111111111111111\n");
    std::fs::remove_file(work.folder.name("in")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(work.folder.name("in"))
        .status();
    assert!(made.unwrap().success());
    for ended in [
        work.protect(&[]),
        work.protect(&["--separator", "comma"]),
        work.check(&[]),
    ] {
        ended.refused(2, "no regular file", "regular files");
    }
    let missing = work.run("protect", ("missing", "out"), &["--rules", &work.rules]);
    missing.refused(1, "cannot be read", "check that the file exists");
    let rules = ["--rules", &work.rules, "--key-file", &work.key];
    let stdin = keywright(
        &[
            &["protect", "-", "--out", &work.folder.name("out")][..],
            &rules,
        ]
        .concat(),
    );
    stdin.refused(2, "standard input", "write it to a file");
    work.folder.write("table", "card\n4111111111111111\n");
    let table = work.folder.name("table");
    let stdout = keywright(&[&["protect", &table, "--out", "-"][..], &rules].concat());
    stdout.refused(2, "standard output", "name a file");
    std::os::unix::fs::symlink(work.folder.name("aim"), work.folder.name("link")).unwrap();
    let link = work.run(
        "protect",
        ("table", "link"),
        &["--rules", &work.rules, "--yes"],
    );
    link.refused(2, "is a symbolic link", "leads to");
    assert_eq!(
        work.folder.names(),
        ["in", "key", "link", "rules.toml", "table"]
    );
}

#[test]
fn a_limit_on_the_size_of_files_is_named() {
    let work = Work::new("");
    let rows = "4111111111111111\n".repeat(200_000);
    work.folder.write("in", format!("card\n{rows}"));
    let command = format!(
        "ulimit -f 100; exec {} protect {} --rules {} --key-file {} --out {}",
        env!("CARGO_BIN_EXE_keywright"),
        work.folder.name("in"),
        work.rules,
        work.key,
        work.folder.name("out"),
    );
    let ended = std::process::Command::new("sh")
        .args(["-c", &command])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{text}");
    assert!(
        text.contains("cannot be written") && text.contains("ulimit -f"),
        "{text}"
    );
}

#[test]
fn one_row_is_said_in_the_singular() {
    let work = Work::new("card\n4111111111111111\n");
    let text = work.check(&[]).text();
    assert!(text.starts_with("1 row on 1 line\n"), "{text}");
    let text = work.protect(&[]).text();
    assert!(text.contains("1 row on 1 line in "), "{text}");
}
