//! `keywright client tokenize`, `detokenize` and `mask`, and the contexts for them.

use crate::program::{Ended, Home, Server, keywright, keywright_reading};

const CARDS: &[u8] = b"4111111111111111\n5500 0000 0000 0004\n";

struct Scene {
    // Before the home, so that it has ended when its folder goes.
    server: Server,
    home: Home,
}

impl Scene {
    fn over(home: Home) -> Self {
        let server = home.serve();
        Self { server, home }
    }

    /// A context of cards that trading-1 may use in every way and web-2fa-1 only masked.
    fn new(words: &[&str]) -> Self {
        let home = Home::demo();
        let create = [&["context", "create", "cards"], words].concat();
        home.admin(&create).bytes();
        let policy = home.admin(&["policy", "show"]).text();
        let grants = "[[grant]]\nprincipals = [\"trading-1\"]\ncontexts = [\"cards\"]\n\
             operations = [\"tokenize\", \"detokenize\", \"mask\"]\n\
             [[grant]]\nprincipals = [\"web-2fa-1\"]\ncontexts = [\"cards\"]\noperations = [\"mask\"]\n";
        let file = home.folder.write("policy.toml", policy + grants);
        home.admin(&["policy", "apply", &file]).bytes();
        Self::over(home)
    }

    fn client(&self, words: &[&str], input: &[u8]) -> Ended {
        self.client_named("trading-1", words, input)
    }

    fn client_named(&self, name: &str, words: &[&str], input: &[u8]) -> Ended {
        let connection = self.home.of(name, &self.server.url);
        keywright_reading(&[&["client"], words, &connection].concat(), input)
    }
}

const FORMAT: [&str; 4] = ["--value-format", "card(keep=last4)", "--mask", "last4"];

#[test]
fn lines_of_values_become_lines_of_tokens_and_back() {
    let scene = Scene::new(&FORMAT);
    let made = scene.client(&["tokenize", "cards"], CARDS);
    assert!(made.stderr.contains("key version 1"), "{made:?}");
    let tokens = made.bytes();
    let text = String::from_utf8(tokens.clone()).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].ends_with("1111") && lines[0] != "4111111111111111");
    assert!(
        lines[1].ends_with(" 0004") && lines[1].len() == 19,
        "{lines:?}"
    );
    let version = ["--key-version", "1"];
    let back = scene.client(&[&["detokenize", "cards"][..], &version].concat(), &tokens);
    assert_eq!(back.bytes(), CARDS);
    let words = [&["mask", "cards"][..], &version].concat();
    let masked = scene.client_named("web-2fa-1", &words, &tokens).text();
    assert_eq!(masked, "************1111\n**** **** **** 0004\n");
    let file = scene.home.folder.name("tokens");
    let words = ["tokenise", "cards", "--output", &file];
    assert!(scene.client(&words, CARDS).bytes().is_empty());
    assert_eq!(scene.home.folder.read("tokens"), tokens);
}

#[test]
fn documents_have_a_result_for_each_line() {
    let scene = Scene::new(&FORMAT);
    let words = ["tokenize", "cards", "--format", "json"];
    let made = scene.client(&words, CARDS).document();
    assert_eq!(
        (&made["key_version"], &made["failed"]),
        (&1.into(), &0.into())
    );
    let token = made["items"][0]["token"].as_str().unwrap().to_owned();
    let mixed = format!("{token}\nno card\n");
    let words = [
        "detokenize",
        "cards",
        "--key-version",
        "1",
        "--format",
        "json",
    ];
    let back = scene.client(&words, mixed.as_bytes());
    assert_eq!(back.code, 2);
    let back: serde_json::Value = serde_json::from_slice(&back.stdout).unwrap();
    assert_eq!(back["items"][0]["value"], "4111111111111111");
    assert_eq!(back["items"][1]["error"]["code"], "value_unfit");
    assert_eq!(back["failed"], 1);
}

#[test]
fn what_is_wrong_is_named_by_its_line_and_nothing_is_written() {
    let scene = Scene::new(&FORMAT);
    let file = scene.home.folder.name("tokens");
    let words = ["tokenize", "cards", "--output", &file];
    let bad = b"4111111111111111\n4111111111111112\nx\n";
    let refused = scene.client(&words, bad);
    refused.refused(
        2,
        "2 of 3 lines failed, the first of them line 2",
        "nothing was written",
    );
    assert!(!refused.stderr.contains("4111111111111112"));
    assert!(!scene.home.folder.names().contains(&"tokens".to_owned()));
    scene
        .client(&["detokenize", "cards"], CARDS)
        .refused(2, "--key-version", "usage");
    scene
        .client(&["detokenize", "cards", "--key-version", "0"], CARDS)
        .refused(2, "0", "--help");
    scene
        .client(&["detokenize", "cards", "--key-version", "7"], CARDS)
        .refused(9, "no version of this number", "--format json");
    scene
        .client(&["tokenize", "cards", "--tweak", "id=1"], CARDS)
        .refused(2, "the tweak has other columns", "--format json");
    scene
        .client(&["tokenize", "cards", "--tweak", "id"], CARDS)
        .refused(2, "COLUMN=TEXT", "--help");
    scene
        .client(&["tokenize", "cards"], b"")
        .refused(2, "no line", "one on each line");
    scene
        .client(&["tokenize", "cards"], b"\xFF")
        .refused(2, "not UTF-8", "one on each line");
    let token = ["detokenize", "cards", "--key-version", "1"];
    scene
        .client_named("web-2fa-1", &token, CARDS)
        .refused(13, "does not allow you", "right");
    scene
        .client(&["tokenize", "exchange-key"], CARDS)
        .refused(13, "does not allow you", "right");
}

#[test]
fn a_rule_of_a_rules_file_and_a_key_file_give_the_tokens_of_the_file() {
    let rules = "version = 1\n[[column]]\nname = \"pan\"\nformat = \"card\"\nkeep = \"last4\"\nmask = \"last4\"\n";
    let home = Home::demo();
    let folder = &home.folder;
    let (rules, key) = (folder.write("rules.toml", rules), folder.name("key"));
    let (input, output) = (
        folder.write("cards.csv", "pan\n4111111111111111\n5500 0000 0000 0004\n"),
        folder.name("tokens.csv"),
    );
    keywright(&[
        "protect",
        &input,
        "--rules",
        &rules,
        "--out",
        &output,
        "--key-file",
        &key,
        "--new-key",
    ])
    .bytes();
    let protected = String::from_utf8(folder.read("tokens.csv")).unwrap();
    let words = [
        "context",
        "create",
        "cards",
        "--rules",
        &rules,
        "--column",
        "pan",
        "--key-file",
        &key,
    ];
    home.admin(&words).bytes();
    let described = home.admin(&["context", "describe", "cards"]).text();
    for row in [
        "tokenise",
        "ff1-aes-256",
        "imported",
        "card@1(",
        "column kept",
        "last@2(4)",
        "pan",
    ] {
        assert!(described.contains(row), "{row}: {described}");
    }
    let policy = home.admin(&["policy", "show"]).text();
    let grant = "[[grant]]\nprincipals = [\"trading-1\"]\ncontexts = [\"cards\"]\noperations = [\"tokenize\"]\n";
    let file = folder.write("policy.toml", policy + grant);
    home.admin(&["policy", "apply", &file]).bytes();
    let scene = Scene::over(home);
    let made = scene.client(&["tokenize", "cards"], CARDS).text();
    assert_eq!(format!("pan\n{made}"), protected);
}

#[test]
fn contexts_that_could_not_be_kept_are_not_made() {
    let home = Home::demo();
    let folder = &home.folder;
    let rules = folder.write(
        "rules.toml",
        "version = 1\n[[column]]\nname = \"note\"\nmask = \"null\"\n",
    );
    let short = folder.write("short", [1; 16]);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--value-format", "cart"], 2, "unknown name"),
        (
            &["--value-format", "date(from=1900-01-01, to=2099-12-31)"],
            2,
            "below the floor",
        ),
        (
            &["--value-format", "card", "--tweak", "caller"],
            2,
            "the service does not",
        ),
        (&["--value-format", "card", "--mask", "lost"], 2, "--mask"),
        (
            &["--value-format", "card", "--custody", "token"],
            12,
            "cannot stay in a token",
        ),
        (
            &["--value-format", "card", "--suite", "xaes-256-gcm"],
            2,
            "cannot be used with",
        ),
        (
            &["--value-format", "card", "--bind", "group"],
            12,
            "bound to no principal or group",
        ),
        (
            &["--value-format", "card", "--key-file", &short],
            2,
            "another length",
        ),
        (&["--column", "pan"], 2, "belongs to a format"),
        (&["--rules", &rules], 2, "--column"),
        (
            &["--rules", &rules, "--column", "note"],
            9,
            "no format for a column",
        ),
        (
            &["--rules", &rules, "--column", "pan"],
            9,
            "no format for a column",
        ),
    ];
    for (words, code, says) in cases {
        let ended = home.admin(&[&["context", "create", "cards"], *words].concat());
        ended.refused(*code, says, "");
    }
    let listed = home.admin(&["context", "list"]).text();
    assert!(!listed.contains("cards"), "{listed}");
}
