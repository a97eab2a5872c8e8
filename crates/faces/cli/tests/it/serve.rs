//! `keywright serve`: what it checks without starting, what it reads again, what it says while it runs.

use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use keywright_client::blocking::Client;

use crate::program::{Folder, Home, eventually, keywright, program, signal};

fn checked(home: &Home) -> (i32, Vec<(String, String)>) {
    let words = ["--format", "json", "serve", "--check", "--home", &home.home];
    let ended = keywright(&words);
    assert!(ended.stderr.is_empty(), "{ended:?}");
    let document: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(document["starts"], ended.code == 0, "{document}");
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = document["checks"].as_array().unwrap().iter();
    let rows = rows.map(|row| (text(row, "what"), text(row, "result")));
    (ended.code, rows.collect())
}

fn result_of<'a>(rows: &'a [(String, String)], what: &str) -> &'a str {
    let row = rows.iter().find(|(key, _)| key == what);
    &row.unwrap_or_else(|| panic!("{what}: {rows:?}")).1
}

/// Every file of a home with what is in it, but for what a start leaves behind on purpose.
fn contents(home: &Home) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for folder in ["", "audit"] {
        for entry in home.path(folder).read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.to_str().unwrap().to_owned();
                all.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

/// The port of a new home may be taken by whatever else runs here.
fn free_port(home: &Home) {
    edit(
        home,
        "listen = \"127.0.0.1:8443\"",
        "listen = \"127.0.0.1:0\"",
    );
}

fn edit(home: &Home, from: &str, to: &str) {
    let path = home.path("keywright.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_home_that_is_whole_is_found_whole_and_left_as_it_is() {
    let home = Home::demo();
    free_port(&home);
    let before = contents(&home);
    let (code, rows) = checked(&home);
    assert_eq!(code, 0, "{rows:?}");
    for what in [
        "configuration",
        "server.certificate",
        "clients",
        "keystore.root",
        "store.file",
    ] {
        assert_eq!(result_of(&rows, what), "ok");
    }
    assert_eq!(contents(&home), before, "a check changes nothing");
    let text = keywright(&["serve", "--check", "--home", &home.home]).text();
    assert!(text.lines().all(|line| line.contains(": ")), "{text}");
    assert!(text.contains("ok       store.file: "), "{text}");
}

#[test]
fn everything_that_is_wrong_is_found_at_once() {
    let home = Home::demo();
    free_port(&home);
    std::fs::write(home.path("server.pem"), "no certificate").unwrap();
    std::fs::write(home.path("root.password"), "wrong\n").unwrap();
    let (code, rows) = checked(&home);
    assert_eq!(code, 2, "{rows:?}");
    assert_eq!(result_of(&rows, "server.certificate"), "wrong");
    assert_eq!(result_of(&rows, "keystore.root"), "wrong");
    assert_eq!(result_of(&rows, "store.file"), "skipped");
}

#[test]
fn each_mistake_is_found_under_its_name() {
    type Mistake = fn(&Home);
    let mistakes: [(&str, Mistake); 11] = [
        ("configuration", |home| {
            edit(home, "version = 1", "version = 1\nsurprise = 2")
        }),
        ("configuration", |home| {
            edit(home, "items = 10000", "items = 0")
        }),
        ("configuration", |home| {
            edit(home, "[log]", "[probe]\nlisten = \"0.0.0.0:1\"\n[log]")
        }),
        ("files", |home| {
            std::fs::remove_file(home.path("crl.pem")).unwrap()
        }),
        ("clients", |home| {
            std::fs::write(home.path("crl.pem"), "").unwrap()
        }),
        ("clients", |home| {
            let own = "[admin]\nlisten = \"127.0.0.1:0\"\nauthorities = \"ca.pem\"\nrevocation_lists = \"crl.pem\"\n\n[log]";
            edit(home, "[log]", own);
        }),
        ("server.certificate", |home| {
            let ca = std::fs::read(home.path("ca.key")).unwrap();
            std::fs::write(home.path("server.key"), ca).unwrap();
        }),
        ("audit.directory", |home| {
            std::fs::remove_dir_all(home.path("audit")).unwrap();
            std::fs::write(home.path("audit"), "a file").unwrap();
        }),
        ("keystore.root", |home| {
            let path = home.path("root.password");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("store.file", |home| {
            let path = home.path("store.sqlite");
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes.truncate(middle);
            std::fs::write(path, bytes).unwrap();
        }),
        ("server.listen", |home| {
            edit(home, "listen = \"127.0.0.1:0\"", "listen = \"192.0.2.1:1\"");
        }),
    ];
    for (what, make) in mistakes {
        let home = Home::demo();
        free_port(&home);
        make(&home);
        let (code, rows) = checked(&home);
        assert_ne!(code, 0, "{what}: {rows:?}");
        assert_eq!(result_of(&rows, what), "wrong", "{rows:?}");
    }
}

#[test]
fn beside_a_running_node_the_files_are_looked_at_and_the_store_is_left_alone() {
    let home = Home::demo();
    let server = home.serve();
    let (code, rows) = checked(&home);
    assert_eq!(code, 0, "{rows:?}");
    assert_eq!(result_of(&rows, "store.file"), "skipped");
    assert_eq!(result_of(&rows, "clients"), "ok");
    server.stop();
}

#[test]
fn an_address_that_is_given_is_the_one_that_is_looked_at() {
    let home = Home::demo();
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let at = |addr: &str| {
        let words = ["serve", "--check", "--home", &home.home, "--listen", addr];
        let ended = keywright(&words);
        (ended.code, String::from_utf8(ended.stdout).unwrap())
    };
    let (code, said) = at("127.0.0.1:0");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("ok       server.listen: 127.0.0.1:0 is free"),
        "{said}"
    );
    let server = home.serve();
    let (code, said) = at(&taken);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains(&format!("wrong    server.listen: {taken}")),
        "a running node says nothing of another address: {said}"
    );
    drop(holder);
    server.stop();
}

#[test]
fn authorities_of_both_listeners_are_named_as_what_they_are() {
    let home = Home::demo();
    let own = "[admin]\nlisten = \"127.0.0.1:0\"\nauthorities = \"ca.pem\"\nrevocation_lists = \"crl.pem\"\n\n[log]";
    edit(&home, "[log]", own);
    keywright(&["serve", "--home", &home.home]).refused(
        2,
        "an authority of admin.authorities is one of clients.authorities as well",
        "leave admin.authorities",
    );
}

#[test]
fn a_list_of_certificates_that_is_older_is_named_with_its_number() {
    let home = Home::demo();
    free_port(&home);
    edit(
        &home,
        "follow = false",
        "follow = false\nroster = \"roster\"",
    );
    let roster = |text: &str| {
        std::fs::write(
            home.path("roster"),
            format!("keywright-clients 1\nnumber {text}"),
        )
        .unwrap();
    };
    roster("5\n");
    let server = home.serve();
    let lower = "the list of certificates has number 4, and number 5 is in force";
    roster("4\n");
    home.admin(&["reload"])
        .refused(13, lower, "a higher number");
    roster("5\ndeny serial 01\n");
    let same = "has number 5, as the one in force has, and says something else";
    home.admin(&["reload"]).refused(13, same, "a higher number");
    server.stop();
    roster("4\n");
    let serve = ["serve", "--home", &home.home];
    keywright(&serve).refused(13, lower, "put the newest list of certificates back");
    let (code, rows) = checked(&home);
    assert_eq!((code, result_of(&rows, "store.file")), (13, "wrong"));
    roster("6\n");
    assert_eq!(checked(&home).0, 0);
}

#[test]
fn what_is_refused_ends_alike_with_a_node_that_runs_and_without() {
    let home = Home::demo();
    let inside = home.word("backup");
    let key = home.folder.name("backup.pub");
    let private = home.folder.name("backup.key");
    keywright(&["seal", "keygen", "--out", &private, "--public-out", &key]).bytes();
    let backup = ["backup", "create", "--out", &inside, "--recipient", &key];
    let explain = ["policy", "explain", "nobody", "encrypt", "exchange-key"];
    let both = || {
        home.admin(&backup)
            .refused(13, "lies in the home itself", "outside of the home");
        home.admin(&explain)
            .refused(9, "no principal nobody", "policy apply");
        let document = home.admin(&[&backup[..], &["--format", "json"]].concat());
        document.error(13)
    };
    let without = both();
    let server = home.serve();
    assert_eq!(both(), without);
    let good = std::fs::read(home.path("server.key")).unwrap();
    std::fs::copy(home.path("ca.key"), home.path("server.key")).unwrap();
    home.admin(&["reload"])
        .refused(2, "does not belong to the certificate", "certificate, key");
    std::fs::remove_file(home.path("server.key")).unwrap();
    home.admin(&["reload"])
        .refused(1, "server.key cannot be read: No such file", "path exists");
    std::fs::write(home.path("server.key"), good).unwrap();
    home.admin(&["reload"]).bytes();
    server.stop();
}

#[test]
fn a_wrong_password_of_the_root_is_a_matter_of_authentication() {
    let home = Home::demo();
    std::fs::write(home.path("root.password"), "wrong\n").unwrap();
    for words in [
        &["serve", "--home", &home.home][..],
        &["admin", "--home", &home.home, "context", "list"],
    ] {
        keywright(words).refused(
            11,
            "does not open with this password",
            "keystore.password_file",
        );
    }
}

#[test]
fn a_check_and_constant_answers_do_not_go_together() {
    let ended = keywright(&["serve", "--check", "--null"]);
    assert_eq!(ended.code, 2, "{ended:?}");
}

/// The password through a descriptor: no file holds it.
#[test]
fn a_password_comes_through_an_open_descriptor() {
    let home = Home::demo();
    free_port(&home);
    let password = std::fs::read_to_string(home.path("root.password")).unwrap();
    std::fs::remove_file(home.path("root.password")).unwrap();
    edit(
        &home,
        "password_file = \"root.password\"",
        "password_file = \"/dev/fd/3\"",
    );
    let run = |password: &str| {
        let script =
            "printf '%s\\n' \"$1\" | { exec 3<&0; exec \"$0\" serve --check --home \"$2\"; }";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_keywright"), password]);
        command.arg(&home.home).output().unwrap()
    };
    let right = run(password.trim());
    let said = String::from_utf8(right.stdout).unwrap();
    assert!(said.contains("ok       keystore.root: "), "{said}");
    assert_eq!(right.status.code(), Some(0), "{said}");
    let wrong = String::from_utf8(run("wrong").stdout).unwrap();
    assert!(wrong.contains("wrong    keystore.root: "), "{wrong}");
    assert!(!said.contains(password.trim()) && !wrong.contains(password.trim()));
}

/// As systemd hands it out; only root can make such a file.
#[test]
fn a_password_comes_as_a_credential_and_nobody_elses_is_taken() {
    let home = Home::demo();
    free_port(&home);
    let path = home.path("root.password");
    for (mode, taken) in [
        (0o440, true),
        (0o444, false),
        (0o640, false),
        (0o460, false),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let about = std::os::unix::fs::MetadataExt::uid(&path.metadata().unwrap());
        let group = std::os::unix::fs::MetadataExt::gid(&path.metadata().unwrap());
        let taken = taken && about == 0 && group == 0;
        let (_, rows) = checked(&home);
        let expected = if taken { "ok" } else { "wrong" };
        assert_eq!(result_of(&rows, "keystore.root"), expected, "{mode:o}");
    }
}

#[test]
fn a_hang_up_reads_files_again_and_says_so() {
    let home = Home::demo();
    edit(&home, "[log]", "[probe]\nlisten = \"127.0.0.1:0\"\n\n[log]");
    let words = ["serve", "--home", &home.home, "--listen", "127.0.0.1:0"];
    let mut child = program().args(words).stdin(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on https://"), "{line}");
    let said = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let (writer, mut err) = (said.clone(), child.stderr.take().unwrap());
    let reading = std::thread::spawn(move || {
        let mut byte = [0];
        while err.read_exact(&mut byte).is_ok() {
            writer.lock().unwrap().push(char::from(byte[0]));
        }
    });
    let says = |words: &str| eventually(|| said.lock().unwrap().contains(words));
    assert!(says("probe on http://127.0.0.1:"));
    signal("HUP", child.id());
    assert!(says("reloaded: certificate\n"));
    std::fs::write(home.path("server.key"), "no key").unwrap();
    signal("HUP", child.id());
    assert!(says("error: reload failed, all is as before: "));
    let refused = home.admin(&["reload"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stderr.contains("help: "), "{refused:?}");
    signal("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    reading.join().unwrap();
    let said = said.lock().unwrap();
    assert!(said.ends_with("stopped\n"), "{said}");
    assert!(!said.contains("not ready"), "{said}");
}

#[test]
fn an_operator_has_files_read_again_and_is_told_what_takes_a_restart() {
    let home = Home::demo();
    home.admin(&["reload"])
        .refused(9, "no node runs", "keywright serve");
    let server = home.serve();
    let document = home.admin(&["reload", "--format", "json"]).document();
    assert_eq!(document["trust_changed"], false);
    edit(&home, "timing = false", "timing = true");
    edit(&home, "level = \"info\"", "level = \"warning\"");
    let text = home.admin(&["reload"]).text();
    assert!(
        text.contains("warning") && text.contains("server.timing"),
        "{text}"
    );
    server.stop();
    let folder = Folder::new();
    let nowhere = folder.name("nowhere");
    let ended = keywright(&["admin", "reload", "--home", &nowhere]);
    ended.refused(2, "there is no home at", "admin init --home");
}

/// Works until the server has no more answers; how many there were.
fn answers(client: &Client, total: &AtomicUsize, told: &AtomicBool) -> usize {
    let mut answered = 0;
    loop {
        match client.random(16) {
            Ok(_) => {
                answered += 1;
                total.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => {
                assert!(told.load(Ordering::SeqCst), "before its end: {error}");
                return answered;
            }
        }
    }
}

#[test]
fn told_to_end_under_load_it_answers_what_it_took_and_has_a_record_of_every_answer() {
    for name in ["TERM", "INT"] {
        let home = Home::demo();
        let server = home.serve();
        let clients = [(); 4].map(|()| home.connected("trading-1", &server.url).unwrap());
        let (total, told) = (&AtomicUsize::new(0), &AtomicBool::new(false));
        let answered: usize = std::thread::scope(|scope| {
            let work = |client| scope.spawn(move || answers(client, total, told));
            let working: Vec<_> = clients.iter().map(work).collect();
            assert!(eventually(|| total.load(Ordering::SeqCst) > 200));
            told.store(true, Ordering::SeqCst);
            signal(name, server.id());
            server.ended_well();
            working.into_iter().map(|work| work.join().unwrap()).sum()
        });
        let shown = home.audit(&["show", "--operation", "random", "--outcome", "ok"]);
        assert_eq!(shown.text().lines().count(), answered);
        let report = home.audit(&["verify", "--format", "json"]).document();
        let ends = ["boots_without_shutdown", "unsigned", "cut"].map(|end| &report[end]);
        assert_eq!(ends, [0, 0, 0]);
    }
}
