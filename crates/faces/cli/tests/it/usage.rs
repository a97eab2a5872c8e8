//! Words that are no command, and the forms of results.

use crate::program::{Folder, Home, keywright, keywright_read_partly};

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn words_that_are_no_command_are_named_in_two_lines() {
    for (words, happened, advice) in [
        (&["clinet"][..], "'clinet'", "'client'"),
        (
            &["client", "encrypt"],
            "<CONTEXT>",
            "usage: keywright client encrypt",
        ),
        (
            &["client", "encrypt", "c", "--colour"],
            "'--colour'",
            "usage:",
        ),
        (
            &["client", "encrypt", "a b"],
            "1 to 63 characters",
            "--help",
        ),
        (
            &["client", "encrypt", "c", "--cert", "c.pem"],
            "--key <FILE>",
            "usage:",
        ),
        (
            &["client", "encrypt", "c", "--client", "trading-1"],
            "--home <DIR>",
            "usage:",
        ),
        (
            &["client", "encrypt", "c", "--aad", "x", "--aad-file", "y"],
            "cannot be used with",
            "usage:",
        ),
        (&["client", "random"], "--bytes <N>", "usage:"),
        (&["client", "random", "--bytes", "0"], "1..=65536", "--help"),
        (
            &["client", "random", "--bytes", "65537"],
            "1..=65536",
            "--help",
        ),
        (&["client", "random", "--bytes", "many"], "'many'", "--help"),
        (
            &["admin", "context", "create", "c", "--suite", "rot13"],
            "'rot13'",
            "",
        ),
        (
            &["admin", "context", "create", "c", "--bind", "anyone"],
            "'anyone'",
            "'none'",
        ),
        (&["admin", "context", "create", "-c"], "'-c'", "usage:"),
        (
            &["admin", "pki", "revoke", "c.pem", "--reason", "boredom"],
            "not a reason",
            "--help",
        ),
        (&["audit", "show", "--outcome", "fine"], "'fine'", "--help"),
        (&["audit", "show", "--request", "12"], "'12'", "--help"),
        (&["audit", "show", "--from", "file:x"], "'file:x'", "--help"),
        (&["--format", "pdf", "audit", "show"], "'pdf'", "--help"),
    ] {
        keywright(words).refused(2, happened, advice);
    }
}

#[test]
fn wrong_words_are_a_document_where_json_was_asked_for() {
    for words in [
        &["--format", "json", "clinet"][..],
        &["--format=json", "client", "random"],
        &["client", "random", "--format", "json"],
    ] {
        let ended = keywright(words);
        let error = ended.error(2);
        assert!(!error["message"].as_str().unwrap().contains('\n'));
        assert!(ended.stderr.is_empty());
    }
}

#[test]
fn a_command_without_its_subcommand_explains_itself_and_is_no_success() {
    for words in [
        &[][..],
        &["client"],
        &["admin"],
        &["admin", "pki"],
        &["audit"],
    ] {
        let ended = keywright(words);
        assert_eq!(ended.code, 2, "{words:?}");
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains("Usage:"),
            "{words:?}"
        );
    }
}

/// The words are right: what is missing is the service.
#[test]
fn orders_about_versions_take_the_flag_that_their_page_has() {
    for words in [
        &["approve", "schedule-destroy", "2fa"][..],
        &["cancel-destroy", "2fa"],
        &["destroy", "2fa", "--yes"],
        &["resume", "2fa"],
        &["retire", "2fa"],
        &["schedule-destroy", "2fa"],
        &["suspend", "2fa"],
    ] {
        let words = [&["client", "key"], words, &["--key-version", "1"]].concat();
        keywright(&words).refused(2, "no roots are named", "--ca FILE");
    }
}

#[test]
fn what_the_list_of_commands_says_of_keys_are_commands() {
    let list = keywright(&["client", "--help"]).text();
    let keys = keywright(&["client", "key", "--help"]).text();
    let line = list.lines().find(|line| line.contains("context's key:"));
    let (_, names) = line.unwrap().split_once("key: ").unwrap();
    for name in names.trim_end_matches('.').split(", ") {
        let is_command = |line: &str| line.split_whitespace().next() == Some(name);
        assert!(keys.lines().any(is_command), "{name}");
    }
}

#[test]
fn help_and_version_are_data() {
    for words in [
        &["--help"][..],
        &["client", "encrypt", "--help"],
        &["--version"],
    ] {
        let ended = keywright(words);
        assert!(ended.stderr.is_empty());
        assert!(ended.text().contains("eywright"), "{words:?}");
    }
}

#[test]
fn a_home_that_is_not_there_is_said_so_by_every_command_that_needs_one() {
    let folder = Folder::new();
    let home = folder.name("nowhere");
    for words in [
        &["admin", "context", "list"][..],
        &["admin", "context", "create", "c"],
        &["admin", "key", "rotate", "c"],
        &["admin", "policy", "show"],
        &["audit", "verify"],
        &["audit", "show"],
        &["client", "health", "--client", "trading-1"],
    ] {
        let ended = keywright(&[words, &["--home", &home]].concat());
        ended.refused(2, "there is no home at", "admin init --home");
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_service_that_cannot_start_fails_in_the_form_asked_for() {
    let folder = Folder::new();
    let home = folder.name("nowhere");
    for words in [
        &["serve", "--home", &home][..],
        &["serve", "--null", "--home", &home],
    ] {
        keywright(words).refused(2, "nowhere", "mend the configuration");
        let ended = keywright(&[&["--format", "json"], words].concat());
        let error = ended.error(2);
        assert!(error["message"].as_str().unwrap().contains("nowhere"));
        assert!(ended.stderr.is_empty());
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let home = Home::demo();
    let server = home.serve();
    let client = home.of("trading-1", &server.url);
    for (words, count) in [
        (&["client", "random", "--bytes", "65536"][..], 1),
        (&["client", "random", "--bytes", "65536", "--raw"], 0),
        (
            &["--format", "json", "client", "random", "--bytes", "65536"],
            1,
        ),
        (&["client", "contexts"], 0),
    ] {
        let ended = keywright_read_partly(&[words, &client].concat(), count);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{words:?}");
    }
    let ended = keywright_read_partly(&["audit", "show", "--home", &home.home], 1);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let home = Home::demo();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let words = ["audit", "verify", "--home", &home.home];
    let output = crate::program::program()
        .args(words)
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("error: standard output cannot be written")
    );
}
