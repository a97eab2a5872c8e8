//! `keywright admin`, with and without a server in the home.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::program::{Ended, Folder, Home, Server, keywright, keywright_reading, program};

fn client(home: &Home, server: &Server, words: &[&str], input: &[u8]) -> Ended {
    keywright_reading(
        &[&["client"], words, &home.of("trading-1", &server.url)].concat(),
        input,
    )
}

// === homes ===

#[test]
fn a_home_is_made_once_and_serves() {
    let folder = Folder::new();
    let home = folder.name("mine");
    let words = [
        "admin",
        "init",
        "--home",
        &home,
        "--profile",
        "fast",
        "--demo",
        "--format",
        "json",
    ];
    let made = keywright(&words).document();
    assert_eq!(made["audit_signer"].as_str().unwrap().len(), 64);
    assert_eq!(folder.names(), ["mine"]);
    keywright(&words[..7]).refused(2, "exists and is not empty", "another --home");
    let home = Home { folder, home };
    let server = home.serve();
    let health = client(&home, &server, &["health"], b"").text();
    let first: Vec<_> = health.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first, ["status", "ready"]);
}

#[test]
fn an_empty_home_has_no_contexts_and_no_policy() {
    let folder = Folder::new();
    let home = folder.name("empty");
    keywright(&["admin", "init", "--home", &home, "--profile", "fast"]).bytes();
    let home = Home { folder, home };
    let listed = home
        .admin(&["context", "list", "--format", "json"])
        .document();
    assert_eq!(listed["contexts"].as_array().unwrap().len(), 0);
    let shown = home.admin(&["policy", "show"]);
    assert!(shown.stdout.is_empty() && shown.stderr.contains("no policy"));
    assert_eq!(
        home.admin(&["policy", "show", "--format", "json"])
            .document()["policy"],
        Value::Null
    );
}

// === contexts and keys ===

#[test]
fn contexts_are_made_listed_and_described() {
    let home = Home::demo();
    let words = [
        "context",
        "create",
        "new",
        "--bind",
        "principal",
        "--suite",
        "xchacha20-poly1305",
        "--format",
        "json",
    ];
    let made = home.admin(&words).document();
    assert_eq!(
        (&made["name"], &made["key_version"]),
        (&"new".into(), &1.into())
    );
    let described = home
        .admin(&["context", "describe", "new", "--format", "json"])
        .document();
    let context = &described["context"];
    assert_eq!(context["id"], made["id"]);
    assert_eq!(context["binding"], "principal");
    assert_eq!(context["spec"]["algorithm"], "xchacha20-poly1305");
    assert_eq!(context["versions"][0]["state"], "active");
    let text = home.admin(&["context", "list"]).text();
    let names: Vec<_> = text
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names, ["name", "2fa", "exchange-key", "new"]);
    let text = home.admin(&["context", "describe", "new"]).text();
    assert!(
        text.contains("suite     xchacha20-poly1305\n") && text.contains("export    never\n"),
        "{text}"
    );
}

#[test]
fn orders_that_cannot_be_carried_out_are_refused_alike_with_and_without_a_server() {
    let home = Home::demo();
    let refuse = || {
        for (words, code, happened) in [
            (&["context", "create", "exchange-key"][..], 2, "taken"),
            (&["context", "create", "Exchange-Key"], 2, "taken"),
            (
                &["context", "create", "x", "--tenant", "other"],
                9,
                "no such tenant",
            ),
            (&["context", "describe", "x"], 9, "no such context"),
            (
                &["context", "describe", "Exchange-Key"],
                9,
                "no such context",
            ),
            (&["key", "rotate", "x"], 9, "no such context"),
            (&["key", "list", "x"], 9, "no such context"),
            (
                &["key", "rotate", "2fa", "--tenant", "other"],
                9,
                "no such tenant",
            ),
        ] {
            home.admin(words)
                .refused(code, happened, "nothing was changed");
        }
        let ended = home.admin(&["context", "create", "EXCHANGE-KEY", "--format", "json"]);
        assert_eq!(ended.error(2)["code"], "name_taken");
    };
    refuse();
    let server = home.serve();
    refuse();
    server.stop();
    let listed = home
        .admin(&["context", "list", "--format", "json"])
        .document();
    assert_eq!(listed["contexts"].as_array().unwrap().len(), 2);
}

#[test]
fn a_rotation_while_the_server_runs_is_in_force_at_once_and_old_data_opens() {
    let home = Home::demo();
    let server = home.serve();
    let old = client(&home, &server, &["encrypt", "exchange-key"], b"old").bytes();
    let rotated = home
        .admin(&["key", "rotate", "exchange-key", "--format", "json"])
        .document();
    assert_eq!(rotated["key_version"], 2);
    let new = client(
        &home,
        &server,
        &["encrypt", "exchange-key", "--format", "json"],
        b"new",
    )
    .document();
    assert_eq!(new["key_version"], 2);
    assert_eq!(
        client(&home, &server, &["decrypt", "exchange-key"], &old).bytes(),
        b"old"
    );
    let moved = client(&home, &server, &["rewrap", "exchange-key"], &old).bytes();
    let opened = client(
        &home,
        &server,
        &["decrypt", "exchange-key", "--format", "json"],
        &moved,
    )
    .document();
    assert_eq!(opened["key_version"], 2);
    let text = home.admin(&["key", "list", "exchange-key"]).text();
    let states: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(states, ["retired", "active"]);
}

/// The rows of a printed table by the names of its columns, which stand at least two blanks apart.
fn rows(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let heading = text.lines().next().unwrap();
    let begins = |at: &usize| {
        !heading[*at..].starts_with(' ') && (*at == 0 || heading[..*at].ends_with("  "))
    };
    let mut edges: Vec<_> = (0..heading.len()).filter(begins).collect();
    edges.push(usize::MAX);
    let lines = text.lines().skip(1);
    let row = |line| {
        let columns = edges.windows(2);
        let cells = columns.map(|edge| (cell(heading, edge), cell(line, edge)));
        cells.collect()
    };
    lines.map(row).collect()
}

fn cell<'a>(line: &'a str, edge: &[usize]) -> &'a str {
    let [from, to] = [edge[0], edge[1]].map(|at| at.min(line.len()));
    line[from..to].trim()
}

#[test]
fn a_table_of_versions_says_what_was_done_with_each() {
    let home = Home::demo();
    let server = home.serve();
    let sealed = |text| client(&home, &server, &["encrypt", "exchange-key"], text).bytes();
    let (one, two) = (sealed(b"one"), sealed(b"two"));
    home.admin(&["key", "rotate", "exchange-key"]).bytes();
    client(&home, &server, &["decrypt", "exchange-key"], &one).bytes();
    client(&home, &server, &["rewrap", "exchange-key"], &two).bytes();
    // Counts are kept in the store every few seconds, and when the node ends.
    server.stop();
    home.admin(&["key", "schedule-destroy", "exchange-key", "1"])
        .bytes();
    let text = home.admin(&["key", "list", "exchange-key"]).text();
    let listed = home
        .admin(&["key", "list", "exchange-key", "--format", "json"])
        .document();
    let rows = rows(&text);
    let versions = listed["context"]["versions"].as_array().unwrap();
    assert_eq!((rows.len(), versions.len()), (2, 2), "{text}");
    for (row, version) in rows.iter().zip(versions) {
        for (column, field) in [
            ("version", "/version"),
            ("seals", "/uses/seals"),
            ("opens", "/uses/opens"),
            ("moved", "/uses/rewrapped"),
            ("refused", "/uses/refused"),
        ] {
            let value = version.pointer(field).unwrap();
            assert_eq!(row[column], value.to_string(), "{column}: {text}");
        }
        for (column, field) in [("state", "/state"), ("created", "/created")] {
            assert_eq!(Some(row[column]), version.pointer(field).unwrap().as_str());
        }
    }
    let (first, second) = (&rows[0], &rows[1]);
    let counts = |row: &BTreeMap<&str, &str>| {
        ["seals", "opens", "moved", "refused"].map(|column| row[column].to_owned())
    };
    assert_eq!(counts(first), ["2", "1", "1", "0"], "{text}");
    assert_eq!(counts(second), ["1", "0", "0", "0"], "{text}");
    let is_moment = |text: &str| text.starts_with("20") && text.ends_with('Z');
    assert!(
        is_moment(first["due"]) && is_moment(first["retired"]),
        "{text}"
    );
    assert!(is_moment(first["last open"]) && is_moment(second["last use"]));
    assert_eq!(
        ["due", "retired", "last open"].map(|column| second[column]),
        ["-", "-", "-"],
        "{text}"
    );
}

/// Version and state of each version, as `key list` shows them.
fn states(home: &Home, context: &str) -> Vec<String> {
    let listed = home
        .admin(&["key", "list", context, "--format", "json"])
        .document();
    let versions = listed["context"]["versions"].as_array().unwrap();
    let state = |version: &Value| {
        let state = version["state"].as_str().unwrap();
        format!("{} {state}", version["version"])
    };
    versions.iter().map(state).collect()
}

#[test]
fn a_version_is_suspended_resumed_scheduled_and_taken_back_with_and_without_a_server() {
    let home = Home::demo();
    let server = home.serve();
    let old = client(&home, &server, &["encrypt", "exchange-key"], b"old").bytes();
    home.admin(&["key", "rotate", "exchange-key"]).bytes();
    let changed = home
        .admin(&["key", "suspend", "exchange-key", "1", "--format", "json"])
        .document();
    assert_eq!(changed["versions"][0]["state"], "suspended");
    client(&home, &server, &["decrypt", "exchange-key"], &old).refused(13, "may not open", "");
    home.admin(&["key", "resume", "exchange-key", "--all"])
        .bytes();
    let opened = client(&home, &server, &["decrypt", "exchange-key"], &old).bytes();
    assert_eq!(opened, b"old");
    drop(server);
    home.admin(&["key", "schedule-destroy", "exchange-key", "1"])
        .bytes();
    assert_eq!(
        states(&home, "exchange-key"),
        ["1 destroy-scheduled", "2 active"]
    );
    home.admin(&["key", "destroy", "exchange-key", "1", "--yes"])
        .refused(13, "the day of the destruction has not come", "");
    home.admin(&["key", "destroy", "exchange-key", "1"])
        .refused(2, "--yes", "");
    home.admin(&["key", "suspend", "exchange-key"])
        .refused(2, "VERSION", "");
    home.admin(&["key", "cancel-destroy", "exchange-key", "1"])
        .bytes();
    assert_eq!(states(&home, "exchange-key"), ["1 retired", "2 active"]);
    home.admin(&["key", "suspend", "exchange-key", "7"])
        .refused(9, "no such version", "");
}

#[test]
fn rules_of_a_context_are_set_shown_and_kept_within_their_limits() {
    let home = Home::demo();
    let words = [
        "context",
        "set",
        "2fa",
        "--rotate-every",
        "90",
        "--quiet",
        "14",
        "--destroy-after",
        "60",
        "--campaign",
        "1000",
        "--two-approvals",
    ];
    home.admin(&words).bytes();
    let shown = home
        .admin(&["context", "describe", "2fa", "--format", "json"])
        .document();
    let rules = &shown["context"]["rules"];
    assert_eq!(rules["rotate_after_days"], 90);
    assert_eq!(rules["two_approvals"], true);
    assert_eq!(rules["campaign"]["total"], 1000);
    assert_eq!(shown["context"]["moved"], 0);
    let text = home.admin(&["context", "describe", "2fa"]).text();
    assert!(text.contains("rotated   every 90 days\n"), "{text}");
    assert!(text.contains("campaign  0 of 1000 moved\n"), "{text}");
    home.admin(&["context", "set", "2fa", "--destroy-after", "6"])
        .refused(2, "7 to 365 days", "");
    home.admin(&["context", "set", "2fa", "--min-open", "2"])
        .refused(2, "cannot be above the active one", "");
    home.admin(&["key", "rotate", "2fa"]).bytes();
    home.admin(&["key", "schedule-destroy", "2fa", "1"])
        .refused(13, "approval of two other principals", "");
    home.admin(&["clock", "confirm"]).bytes();
}

#[test]
fn a_wallet_leaves_sealed_and_comes_back_under_another_name() {
    let home = Home::demo();
    let (key, sealed) = (
        home.folder.name("owner.key"),
        home.folder.name("seed.sealed"),
    );
    let public = keywright(&["seal", "keygen", "--out", &key]).text();
    let public = home.folder.write("owner.pub", public);
    let create = |name: &str, export: &str| {
        let words = ["context", "create", name, "--tree", "slip10-ed25519"];
        home.admin(&[&words[..], &["--export", export]].concat())
            .bytes();
    };
    create("leaves", "sealed");
    create("stays", "never");
    let export = |name: &str| {
        home.admin(&[
            "seed",
            "export",
            name,
            "--recipient",
            &public,
            "--out",
            &sealed,
        ])
    };
    export("stays").refused(13, "made to stay", "");
    assert!(!Path::new(&sealed).exists(), "nothing is left behind");
    export("leaves").bytes();
    export("leaves").refused(13, "exists and is not written over", "choose another name");
    let restore = ["--sealed-seed", &sealed, "--seed-key-file", &key];
    let words = ["context", "create", "restored", "--tree", "slip10-ed25519"];
    home.admin(&[&words[..], &restore, &["--export", "plain"]].concat())
        .refused(13, "made to stay", "");
    home.admin(&[&words[..], &restore].concat()).bytes();
    let shown = home
        .admin(&["context", "describe", "restored", "--format", "json"])
        .document();
    assert_eq!(shown["context"]["spec"]["origin"], "imported");
    assert_eq!(shown["context"]["detail"]["tree"]["seed"], "raw");
}

#[test]
fn the_policy_is_asked_who_may_and_why() {
    let home = Home::demo();
    let may = home
        .admin(&[
            "policy",
            "explain",
            "trading-1",
            "encrypt",
            "exchange-key",
            "--format",
            "json",
        ])
        .document();
    assert_eq!(may["allowed"], true);
    assert_eq!(may["reasons"][0]["effect"], "allow");
    let text = home
        .admin(&["policy", "explain", "web-2fa-1", "encrypt", "exchange-key"])
        .text();
    assert!(
        text.starts_with("decision  refused\ncode      context_not_found\n"),
        "{text}"
    );
    let who = home
        .admin(&["policy", "who-can", "encrypt", "2fa", "--format", "json"])
        .document();
    assert_eq!(who["principals"][0]["principal"], "web-2fa-1");
    home.admin(&["policy", "explain", "nobody", "encrypt", "2fa"])
        .refused(9, "no principal nobody", "");
}

#[test]
fn a_context_made_while_the_server_runs_can_be_used_when_the_policy_grants_it() {
    let home = Home::demo();
    let server = home.serve();
    home.admin(&["context", "create", "fresh"]).bytes();
    client(&home, &server, &["encrypt", "fresh"], b"x").refused(9, "no context of this name", "");
    let policy = home
        .admin(&["policy", "show"])
        .text()
        .replace("\"exchange-key\"", "\"exchange-key\", \"fresh\"");
    let file = home.folder.write("policy.toml", policy);
    assert!(
        home.admin(&["policy", "apply", &file])
            .text()
            .starts_with("epoch  ")
    );
    let sealed = client(&home, &server, &["encrypt", "fresh"], b"x").bytes();
    assert_eq!(
        client(&home, &server, &["decrypt", "fresh"], &sealed).bytes(),
        b"x"
    );
}

#[test]
fn admins_at_the_same_time_each_get_their_turn() {
    let home = Home::demo();
    let rotate = |_| {
        let words = [
            "admin", "--home", &home.home, "key", "rotate", "2fa", "--format", "json",
        ];
        program().args(words).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(rotate).collect();
    let version = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["key_version"]
            .as_u64()
            .unwrap()
    };
    let versions: BTreeSet<_> = children.into_iter().map(version).collect();
    assert_eq!(versions, BTreeSet::from([2, 3, 4]));
    home.audit(&["verify"]).bytes();
}

#[test]
fn a_server_that_was_killed_leaves_a_home_that_takes_orders() {
    let home = Home::demo();
    // A socket without anyone behind it, as a crash leaves it.
    drop(std::os::unix::net::UnixListener::bind(home.path("control.sock")).unwrap());
    assert!(home.path("control.sock").exists());
    assert!(
        home.admin(&["key", "rotate", "2fa"])
            .text()
            .contains("key version  2")
    );
}

#[test]
fn a_server_whose_socket_was_removed_still_ends_in_order() {
    let home = Home::demo();
    let server = home.serve();
    std::fs::remove_file(home.path("control.sock")).unwrap();
    server.stop();
    let report = home.audit(&["verify", "--format", "json"]).document();
    assert_eq!(report["boots_without_shutdown"], 0);
}

// === the policy ===

#[test]
fn a_policy_that_does_not_fit_together_changes_nothing() {
    let home = Home::demo();
    let before = home.admin(&["policy", "show"]).text();
    let unknown = "version = 1\n[[grant]]\nprincipals = [\"nobody\"]\noperations = [\"random\"]\n";
    for (text, happened) in [
        ("version = 2\n", ""),
        ("surprise = 1\n", ""),
        ("version", ""),
        (unknown, "nobody"),
    ] {
        let file = home.folder.write("policy.toml", text);
        home.admin(&["policy", "apply", &file])
            .refused(2, happened, "nothing was changed");
    }
    home.admin(&["policy", "apply", &home.folder.name("missing")])
        .refused(1, "cannot be read", "path exists");
    assert_eq!(home.admin(&["policy", "show"]).text(), before);
}

#[test]
fn the_policy_that_is_shown_can_be_applied() {
    let home = Home::demo();
    let shown = home.admin(&["policy", "show"]).text();
    let words = ["admin", "--home", &home.home, "policy", "apply", "-"];
    keywright_reading(&words, shown.as_bytes()).bytes();
    assert_eq!(home.admin(&["policy", "show"]).text(), shown);
}

// === certificates ===

#[test]
fn an_issued_certificate_is_its_principals() {
    let home = Home::demo();
    let words = [
        "pki",
        "issue",
        "trading-2",
        "--unit",
        "Trading",
        "--principal",
        "trading-1",
        "--format",
        "json",
    ];
    let issued = home.admin(&words).document();
    assert_eq!(issued["subject"], "OU=Trading,CN=trading-2");
    assert_eq!(issued["principal"].as_str().unwrap().len(), 32);
    let server = home.serve();
    let url = server.url.as_str();
    let contexts =
        keywright(&[&["client", "contexts"][..], &home.of("trading-2", url)].concat()).text();
    assert!(contexts.contains("exchange-key"));
    // While the server runs, the policy is asked for there.
    home.admin(&["pki", "issue", "trading-3", "--principal", "trading-1"])
        .bytes();
    keywright(&[&["client", "contexts"][..], &home.of("trading-3", url)].concat()).bytes();
    home.admin(&["pki", "issue", "stranger"]).bytes();
    let stranger = keywright(&[&["client", "contexts"][..], &home.of("stranger", url)].concat());
    stranger.refused(
        5,
        "connection ended",
        "knows no principal with this certificate",
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn mistakes_with_certificates_are_named() {
    let home = Home::demo();
    let other = home.folder.name("other");
    keywright(&["admin", "pki", "init", &other]).bytes();
    keywright(&["admin", "pki", "init", &other]).refused(
        13,
        "ca.pem exists and is not written over",
        "choose another",
    );
    keywright(&[
        "admin",
        "pki",
        "issue",
        "x",
        "--authority",
        &other,
        "--out",
        &other,
    ])
    .bytes();
    let (foreign, key) = (
        home.folder.name("other/x.pem"),
        home.word("clients/trading-1.key"),
    );
    let (missing, taken) = (
        home.folder.name("missing"),
        home.word("clients/trading-1.pem"),
    );
    let before = std::fs::read(home.path("crl.pem")).unwrap();
    for (words, code, happened, advice) in [
        (
            &["pki", "issue", "trading-1"][..],
            13,
            "trading-1.pem exists",
            "another NAME",
        ),
        (
            &["pki", "issue", "y", "--principal", "nobody"],
            9,
            "no principal nobody",
            "policy apply",
        ),
        (
            &["pki", "issue", "y", "--out", &missing],
            1,
            "cannot be written",
            "path exists",
        ),
        (
            &["pki", "issue", "y", "--authority", &missing],
            1,
            "ca.pem cannot be read",
            "path exists",
        ),
        (
            &["pki", "issue", "y", "--unit", "a\nb"],
            2,
            "control characters",
            "",
        ),
        (
            &["pki", "revoke", &foreign, "--yes"],
            2,
            "not issued by this authority",
            "this home's authority",
        ),
        (&["pki", "revoke", &key, "--yes"], 2, "trading-1.key", "PEM"),
        (
            &["pki", "revoke", &missing, "--yes"],
            1,
            "cannot be read",
            "path exists",
        ),
        (
            &["pki", "revoke", &taken],
            13,
            "revoke OU=Trading,CN=trading-1 for ever: not confirmed",
            "--yes",
        ),
    ] {
        home.admin(words).refused(code, happened, advice);
    }
    assert_eq!(std::fs::read(home.path("crl.pem")).unwrap(), before);
    assert!(!home.path("clients/y.pem").exists() && !home.path("clients/y.key").exists());
}

/// Passes bytes on, and tells when the server has ended a connection.
struct Tap {
    url: String,
    ended_by_server: Receiver<()>,
}

impl Tap {
    /// For one connection.
    fn before(server: &Server) -> Self {
        let target: SocketAddr = server.url.trim_start_matches("https://").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let (tell, ended_by_server) = channel();
        std::thread::spawn(move || {
            let (mut near, _) = listener.accept().unwrap();
            let mut far = TcpStream::connect(target).unwrap();
            let (mut near_in, mut far_out) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || drop(std::io::copy(&mut near_in, &mut far_out)));
            // Ends when the server closes, in order or not.
            drop(std::io::copy(&mut far, &mut near));
            let _nobody_may_be_listening = tell.send(());
            drop(near.shutdown(Shutdown::Both));
        });
        Self {
            url,
            ended_by_server,
        }
    }
}

#[test]
fn a_revoked_client_is_cut_off_and_not_let_in_again_while_others_go_on() {
    let home = Home::demo();
    let server = home.serve();
    let (tap, other_tap) = (Tap::before(&server), Tap::before(&server));
    let (old, other) = (
        home.connected("trading-1", &tap.url),
        home.connected("web-2fa-1", &other_tap.url),
    );
    let (old, other) = (old.unwrap(), other.unwrap());
    old.health().unwrap();
    other.health().unwrap();
    let certificate = home.word("clients/trading-1.pem");
    let words = [
        "pki",
        "revoke",
        &certificate,
        "--reason",
        "key-compromise",
        "--yes",
        "--format",
        "json",
    ];
    let revoked = home.admin(&words).document();
    assert_eq!(
        (&revoked["reason"], &revoked["subject"]),
        (&"key-compromise".into(), &"OU=Trading,CN=trading-1".into())
    );
    // The promise is one second; a busy machine gets some more.
    tap.ended_by_server
        .recv_timeout(Duration::from_secs(5))
        .expect("the old connection ends");
    client(&home, &server, &["health"], b"").refused(11, "revoked", "--cert");
    other.health().unwrap();
    assert!(other_tap.ended_by_server.try_recv().is_err());
    drop((old, other));
}

#[test]
fn a_certificate_that_was_revoked_before_the_start_is_refused() {
    let home = Home::demo();
    let certificate = home.word("clients/trading-1.pem");
    home.admin(&["pki", "revoke", &certificate, "--yes"])
        .bytes();
    // Again, which changes nothing for the worse.
    home.admin(&["pki", "revoke", &certificate, "--yes"])
        .bytes();
    let server = home.serve();
    client(&home, &server, &["health"], b"").refused(11, "revoked", "");
    keywright(
        &[
            &["client", "health"][..],
            &home.of("web-2fa-1", &server.url),
        ]
        .concat(),
    )
    .bytes();
}

#[test]
fn revocations_at_the_same_time_do_not_undo_each_other() {
    let home = Home::demo();
    let server = home.serve();
    let revoke = |name: &str| {
        let certificate = home.word(&format!("clients/{name}.pem"));
        program()
            .args([
                "admin",
                "--home",
                &home.home,
                "pki",
                "revoke",
                &certificate,
                "--yes",
            ])
            .spawn()
            .unwrap()
    };
    let children = ["trading-1", "web-2fa-1"].map(revoke);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    for name in ["trading-1", "web-2fa-1"] {
        keywright(&[&["client", "health"][..], &home.of(name, &server.url)].concat())
            .refused(11, "revoked", "");
    }
    assert!(!Path::new(&home.home).join("crl.new").exists());
}
