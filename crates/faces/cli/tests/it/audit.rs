//! `keywright audit` on logs that are whole, running, changed and cut.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use keywright_forgery::{ForgedFile, frames};
use serde_json::Value;

use crate::program::{Home, keywright, keywright_reading, signal};

/// Files of a log whose name begins or ends like this, the largest first.
fn files(home: &Home, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = home
        .path("audit")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| fits(path.file_name().unwrap().to_str().unwrap()))
        .collect();
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().len()));
    files
}

fn name(path: &std::path::Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn records(home: &Home) -> Vec<PathBuf> {
    files(home, |name| name.ends_with(".log"))
}

/// A home after some work and a shutdown.
fn used() -> Home {
    let home = Home::demo();
    let server = home.serve();
    let client = home.of("trading-1", &server.url);
    let encrypt = [&["client", "encrypt", "exchange-key"][..], &client].concat();
    let sealed = keywright_reading(&encrypt, b"x").bytes();
    let decrypt = [&["client", "decrypt", "exchange-key"][..], &client].concat();
    keywright_reading(&decrypt, &sealed).bytes();
    keywright_reading(&[&decrypt[..], &["--aad", "wrong"]].concat(), &sealed).refused(8, "", "");
    server.stop();
    home
}

#[test]
fn a_log_that_ended_in_order_is_whole() {
    let home = used();
    let report = home.audit(&["verify", "--format", "json"]).document();
    assert_eq!(report["whole"], true);
    assert_eq!(
        (
            &report["boots_without_shutdown"],
            &report["unsigned"],
            &report["cut"]
        ),
        (&0.into(), &0.into(), &0.into())
    );
    assert_eq!(report["by_outcome"]["decryption_failed"], 1);
    let text = home.audit(&["verify"]).text();
    assert!(
        text.starts_with("verdict       whole\n") && text.contains("0 after the newest head"),
        "{text}"
    );
}

#[test]
fn the_log_of_a_node_at_work_verifies_and_says_that_it_has_not_ended() {
    let home = Home::demo();
    let server = home.serve();
    let client = home.connected("trading-1", &server.url).unwrap();
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        // Records come while the verifier reads, which must not look like a change.
        let work = scope.spawn(|| {
            while busy.load(Ordering::Relaxed) {
                client.random(16).unwrap();
            }
        });
        let reports: Vec<_> = (0..30)
            .map(|_| home.audit(&["verify", "--format", "json"]))
            .collect();
        busy.store(false, Ordering::Relaxed);
        work.join().unwrap();
        for report in reports {
            let report = report.document();
            assert_eq!(
                (&report["whole"], &report["boots_without_shutdown"]),
                (&true.into(), &1.into())
            );
        }
    });
}

#[test]
fn without_a_fingerprint_from_outside_nothing_is_verified() {
    let home = used();
    let folder = home.word("audit");
    keywright(&["audit", "verify", &folder]).refused(2, "not verified", "--fingerprint");
    assert_eq!(
        keywright(&["audit", "verify", &folder, "--format", "json"]).error(2)["exit"],
        2
    );
    std::fs::rename(
        home.path("audit-signer.txt"),
        home.folder.path().join("signer"),
    )
    .unwrap();
    home.audit(&["verify"])
        .refused(2, "not verified", "--fingerprint");
    let signer = home.folder.name("signer");
    home.audit(&["verify", "--fingerprint-file", &signer])
        .bytes();
    let fingerprint = String::from_utf8(home.folder.read("signer")).unwrap();
    keywright(&[
        "audit",
        "verify",
        &folder,
        "--fingerprint",
        fingerprint.trim(),
    ])
    .bytes();
}

#[test]
fn a_fingerprint_of_another_key_or_of_nothing_is_refused() {
    let home = used();
    let (zeros, missing) = ("0".repeat(64), home.folder.name("missing"));
    let empty = home.folder.write("empty", "");
    for (words, code, happened, advice) in [
        (["--fingerprint", &zeros], 8, "not appointed", "copies"),
        (
            ["--fingerprint", "12"],
            2,
            "no fingerprint",
            "64 lower-case",
        ),
        (
            ["--fingerprint-file", &missing],
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            ["--fingerprint-file", &empty],
            2,
            "no fingerprint",
            "64 lower-case",
        ),
        (
            ["--newest-head", &missing],
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            ["--newest-head", &empty],
            2,
            "names no head",
            "number and hash",
        ),
    ] {
        home.audit(&[&["verify"][..], &words].concat())
            .refused(code, happened, advice);
    }
    keywright(&["audit", "verify", &missing, "--fingerprint", &zeros]).refused(
        1,
        "cannot be read",
        "",
    );
}

#[test]
fn a_flipped_byte_is_found_and_its_place_named() {
    let home = used();
    let largest = records(&home).swap_remove(0);
    let heads = files(&home, |name| name.starts_with("heads-")).swap_remove(0);
    for path in [largest, heads] {
        let bytes = std::fs::read(&path).unwrap();
        for at in [0, 5, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            std::fs::write(&path, changed).unwrap();
            let error = home.audit(&["verify", "--format", "json"]).error(8);
            assert_eq!(error["place"]["file"], name(&path), "{at}: {error}");
            assert!(
                error["place"]["offset"].as_u64().unwrap() <= at as u64,
                "{at}: {error}"
            );
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    home.audit(&["verify"]).bytes();
}

#[test]
fn a_cut_or_missing_file_of_records_is_found() {
    let home = used();
    let path = records(&home).swap_remove(0);
    let bytes = std::fs::read(&path).unwrap();
    for length in [bytes.len() - 1, bytes.len() / 2, 0] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        home.audit(&["verify"]).refused(8, name(&path), "copies");
    }
    std::fs::remove_file(&path).unwrap();
    home.audit(&["verify"])
        .refused(8, "the file is missing", "copies");
    std::fs::write(&path, &bytes).unwrap();
    home.audit(&["verify"]).bytes();
}

#[test]
fn cut_heads_look_like_a_crash_and_show_against_a_head_kept_elsewhere() {
    let home = used();
    let known = home.folder.write(
        "report.json",
        home.audit(&["verify", "--format", "json"]).text(),
    );
    // The newest boot's heads: it served, the older one made the home.
    let path = files(&home, |name| name.starts_with("heads-")).swap_remove(0);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let report = home.audit(&["verify", "--format", "json"]).document();
    assert_eq!(
        (&report["boots_without_shutdown"], &report["cut"]),
        (&1.into(), &1.into())
    );
    assert!(report["unsigned"].as_u64() > Some(0));
    home.audit(&["verify", "--newest-head", &known])
        .refused(8, "cut back", "copies");
}

#[test]
fn a_log_put_back_to_an_older_state_shows_against_a_head_kept_elsewhere() {
    let home = used();
    let kept: Vec<_> = files(&home, |_| true)
        .into_iter()
        .map(|path| (std::fs::read(&path).unwrap(), path))
        .collect();
    home.admin(&["key", "rotate", "2fa"]).bytes();
    let report = home.audit(&["verify", "--format", "json"]).text();
    let head = serde_json::from_str::<Value>(&report).unwrap()["newest_head"].clone();
    let (report, line) = (
        home.folder.write("report.json", report),
        home.folder.write(
            "head",
            format!("{} {}\n", head["number"], head["hash"].as_str().unwrap()),
        ),
    );
    for known in [&report, &line] {
        home.audit(&["verify", "--newest-head", known]).bytes();
    }
    for path in files(&home, |_| true) {
        std::fs::remove_file(path).unwrap();
    }
    for (bytes, path) in kept {
        std::fs::write(path, bytes).unwrap();
    }
    // Alone, the older log is whole.
    home.audit(&["verify"]).bytes();
    for known in [&report, &line] {
        home.audit(&["verify", "--newest-head", known])
            .refused(8, "cut back", "copies");
    }
}

#[test]
fn records_are_shown_one_document_a_line_and_chosen_by_what_they_say() {
    let home = used();
    let show = |words: &[&str]| -> Vec<Value> {
        let text = home.audit(&[&["show"], words].concat()).text();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let all = show(&[]);
    assert!(all.len() > 10 && all.iter().all(|record| record["schema_version"] == 1));
    let failed = show(&["--outcome", "decryption_failed"]);
    assert_eq!(failed.len(), 1);
    assert_eq!(
        (&failed[0]["operation"], &failed[0]["failed"]),
        (&"decrypt".into(), &1.into())
    );
    let text = |record: &Value, field: &str| record[field].as_str().unwrap().to_owned();
    assert_eq!(show(&["--request", &text(&failed[0], "request")]), failed);
    let of_key = show(&[
        "--context",
        &text(&failed[0], "key"),
        "--principal",
        &text(&failed[0], "principal"),
    ]);
    assert_eq!(of_key.len(), 3);
    assert_eq!(show(&["--operation", "encrypt"]).len(), 1);
    assert_eq!(show(&["--limit", "2"]), all[..2]);
    assert!(show(&["--limit", "0"]).is_empty());
    let place = |record: &Value| {
        format!(
            "{}:{}",
            record["file"].as_str().unwrap(),
            record["sequence"]
        )
    };
    assert_eq!(show(&["--from", &place(&all[7])]), all[7..]);
    assert!(
        show(&["--from", "2"])
            .iter()
            .all(|record| record["sequence"].as_u64() >= Some(2))
    );
    home.audit(&["show", "--from", "x.log:1"])
        .refused(9, "no record 1", "sequence");
}

#[test]
fn the_log_of_a_foreign_key_is_not_shown_as_the_own() {
    let home = used();
    let folder = home.word("audit");
    let text = std::fs::read_to_string(home.path("audit-signer.txt")).unwrap();
    // Homes of tests are copies of one, so the own fingerprint is one that no key has.
    let (own, foreign) = ("ab".repeat(32), text.trim().to_owned());
    let unknown = keywright(&["audit", "show", &folder]);
    assert_eq!(unknown.code, 0, "{unknown:?}");
    let says = format!("signed by {foreign}, not compared");
    assert!(unknown.stderr.contains(&says), "{unknown:?}");
    let refused = keywright(&["audit", "show", &folder, "--fingerprint", &own]);
    refused.refused(8, &foreign, "compare with the fingerprint");
    let known = keywright(&["audit", "show", &folder, "--fingerprint", &foreign]);
    assert!(known.stderr.is_empty(), "{known:?}");
    let text = known.text();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["evidence"], &first["signer"]),
        (&"signed".into(), &foreign.into())
    );
}

#[test]
fn a_broken_file_is_shown_up_to_its_break_and_the_rest_of_the_log_after_it() {
    let home = used();
    let path = records(&home).swap_remove(0);
    let shown = home.audit(&["show"]).text().lines().count();
    let mut bytes = std::fs::read(&path).unwrap();
    // The last byte of the last record: a check frame of 44 bytes follows it.
    let last = bytes.len() - 44 - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ended = home.audit(&["show"]);
    assert_eq!(ended.code, 8);
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert!(
        lines[0].contains("not compared, since the log is not whole"),
        "{lines:?}"
    );
    assert!(
        lines[1].contains(name(&path)) && lines.len() == 3,
        "{lines:?}"
    );
    assert_eq!(ended.stdout.split(|byte| *byte == b'\n').count(), shown);
}

#[test]
fn nothing_secret_is_in_the_log() {
    let home = Home::demo();
    let server = home.serve();
    let client = home.of("trading-1", &server.url);
    let words = [
        &[
            "client",
            "encrypt",
            "exchange-key",
            "--aad",
            "a-telling-label",
        ][..],
        &client,
    ]
    .concat();
    keywright_reading(&words, b"a-telling-message").bytes();
    server.stop();
    for path in files(&home, |_| true) {
        let bytes = std::fs::read(&path).unwrap();
        for secret in [&b"a-telling-message"[..], b"a-telling-label"] {
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret),
                "{path:?}"
            );
        }
    }
}

#[test]
fn command_that_opens_a_home_first_says_what_nothing_in_its_log_proves() {
    let home = Home::demo();
    let before = records(&home);
    let server = home.serve();
    let client = home.of("trading-1", &server.url);
    let encrypt = [&["client", "encrypt", "exchange-key"][..], &client].concat();
    keywright_reading(&encrypt, b"x").bytes();
    signal("KILL", server.id());
    drop(server);
    let mut new = records(&home).into_iter();
    let file = new.find(|file| !before.contains(file)).unwrap();
    let mut forged = ForgedFile::read(&file);
    let last = frames(&forged.bytes)
        .into_iter()
        .rfind(|frame| frame[..4] != [0; 4])
        .unwrap()
        .to_vec();
    forged.append(&last[4..last.len() - 8]);
    forged.write();
    let rotate = || home.admin(&["key", "rotate", "2fa"]);
    let told = "warning: the audit log ended in 1 records";
    let first = rotate();
    assert!(first.code == 0 && first.stderr.contains(told), "{first:?}");
    let second = rotate();
    assert!(
        second.code == 0 && !second.stderr.contains(told),
        "{second:?}"
    );
    let report = home.audit(&["verify", "--format", "json"]).document();
    assert_eq!(report["whole"], true);
}
