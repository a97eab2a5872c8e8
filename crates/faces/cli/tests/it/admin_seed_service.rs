//! `keywright admin import reader` and `seed-service`: how users of the seed service come here.

use std::fs;

use keywright_clock::Clock;
use keywright_encoding::{base64, hex};
use keywright_primitives::key_wrap;
use keywright_primitives::mac::Aes256Cmac;
use keywright_primitives::rsa_encryption::RsaEncryptionKey;
use keywright_secret::Secret;
use keywright_tls::issue::{Authority, Reason};
use serde_json::Value;

use crate::program::{Ended, Home};

pub(crate) const CONFIG: &str = "hsm:\n  keys:\n    trade: {type: aes, mode: shared}\n    codes: {mode: private}\n\
                      acl:\n  mappings:\n    Desk: [trade]\n    Web: [codes]\n";
pub(crate) const METADATA: &str = "rotation:\n  trade: {current: kek-trade-v2, versions: [{label: kek-trade-v1}, {label: kek-trade-v2}]}\n\
                        \x20 codes: {versions: [{label: kek-codes-v1, checksum: 00}]}\n";
const REVOKED: &str = "revoked: [{cn: gone, serial: '0A:1B', reason: compromised}]\n";
const CLIENTS: &str = "version = 1\n\
    [[client]]\nname = \"desk-1\"\ncommon_name = \"d1\"\norganizational_unit = \"Desk\"\nformer_common_names = [\"d0\"]\n\
    [[client]]\nname = \"web-1\"\ncommon_name = \"w1\"\norganizational_unit = \"Web\"\n\
    [[client]]\nname = \"gone\"\ncommon_name = \"gone\"\norganizational_unit = \"Web\"\n";

/// The files of that service beside a home.
pub(crate) fn files(home: &Home) {
    for (name, text) in [
        ("config.yaml", CONFIG),
        ("metadata.yaml", METADATA),
        ("revoked.yaml", REVOKED),
        ("clients.toml", CLIENTS),
    ] {
        home.folder.write(name, text);
    }
}

/// Moves everything, with more words.
pub(crate) fn import(home: &Home, custody: &str, more: &[&str]) -> Ended {
    let file = |name: &str| home.folder.name(name);
    let (config, metadata) = (file("config.yaml"), file("metadata.yaml"));
    let (revoked, clients) = (file("revoked.yaml"), file("clients.toml"));
    let authority = home.word("ca.pem");
    let words = [
        "import",
        "seed-service",
        "--config",
        &config,
        "--metadata",
        &metadata,
        "--revoked",
        &revoked,
        "--clients",
        &clients,
        "--authority",
        &authority,
        "--custody",
        custody,
    ];
    home.admin(&[&words[..], more].concat())
}

fn document(ended: &Ended) -> Value {
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn contexts(home: &Home) -> String {
    home.admin(&["context", "list"]).text()
}

fn policy(home: &Home) -> String {
    home.admin(&["policy", "show"]).text()
}

const JSON: [&str; 2] = ["--format", "json"];

#[test]
fn a_dry_run_says_everything_and_does_nothing() {
    let home = Home::demo();
    files(&home);
    let before = (contexts(&home), policy(&home));
    let ended = import(&home, "wrapped", &["--dry-run", "--format", "json"]);
    let told = document(&ended);
    assert_eq!(told["dry_run"], true);
    assert_eq!(told["contexts"].as_array().unwrap().len(), 2);
    assert_eq!(told["contexts"][0]["bound_to"], "group");
    assert_eq!(told["contexts"][1]["bound_to"], "principal");
    assert_eq!(told["contexts"][0]["keys"][1]["state"], "to be brought in");
    assert_eq!(told["principals"], serde_json::json!(["desk-1", "web-1"]));
    assert_eq!(told["revoked"], serde_json::json!(["gone"]));
    // Checksums, the revoked client, and that no list is made.
    assert_eq!(told["warnings"].as_array().unwrap().len(), 3, "{told}");
    assert_eq!(ended.stderr.matches("warning: ").count(), 3, "{ended:?}");
    assert_eq!((contexts(&home), policy(&home)), before);
    let text = import(&home, "wrapped", &["--dry-run"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("kek-trade-v1") && text.contains("dry run"),
        "{text}"
    );
}

#[test]
fn once_it_is_done_it_is_done_and_a_second_time_changes_nothing() {
    let home = Home::demo();
    files(&home);
    let list = home.folder.name("crl.pem");
    let key = home.word("ca.key");
    let more = ["--authority-key", &key, "--revocation-list", &list];
    let first = document(&import(&home, "wrapped", &[&more[..], &JSON].concat()));
    assert!(
        first["epoch"].is_u64() && first["contexts"][0]["is_new"] == true,
        "{first}"
    );
    let authority = Authority::from_pem(
        &fs::read(home.path("ca.pem")).unwrap(),
        &fs::read(home.path("ca.key")).unwrap(),
    )
    .unwrap();
    let signed = fs::read(&list).unwrap();
    let signed = authority.read_revocation_list(&signed).unwrap();
    assert_eq!(signed.revoked.len(), 1);
    assert_eq!(signed.revoked[0].serial, [0x0a, 0x1b]);
    assert_eq!(signed.revoked[0].reason, Reason::KeyCompromise);
    assert!(signed.next_update > Clock::system().wall());
    let policy = policy(&home);
    assert!(
        policy.contains("legacy_cn = \"d0\"") && !policy.contains("\"gone\""),
        "{policy}"
    );
    let again = document(&import(&home, "wrapped", &JSON));
    assert!(
        again.get("epoch").is_none() && again["contexts"][0]["is_new"] == false,
        "{again}"
    );
    assert_eq!(self::policy(&home), policy);
    // The list is never written over, and nothing is done then.
    let refused = import(&home, "wrapped", &more);
    assert_eq!(refused.code, 13, "{refused:?}");
}

#[test]
fn what_does_not_fit_the_home_or_is_not_whole_is_refused_before_anything_is_done() {
    let home = Home::demo();
    files(&home);
    let before = (contexts(&home), policy(&home));
    for (file, from, to, says) in [
        (
            "config.yaml",
            "trade: {type: aes, mode: shared}",
            "exchange-key: {mode: private}",
            "exchange-key is there already",
        ),
        (
            "config.yaml",
            "mode: private",
            "mode: open",
            "private or shared",
        ),
        ("config.yaml", "hsm:", "hsm: &x", "anchor"),
        ("metadata.yaml", "kek-codes-v1", "kek-trade-v1", "twice"),
        ("metadata.yaml", "  codes:", "  other:", "hsm.keys"),
        (
            "revoked.yaml",
            "revoked: [",
            "revokt: [",
            "also if it is empty",
        ),
        ("clients.toml", "\"Desk\"", "\"Dusk\"", "Dusk"),
        ("clients.toml", "version = 1", "version = 2", "version 1"),
        (
            "clients.toml",
            "name = \"desk-1\"",
            "name = \"trading-1\"",
            "trading-1",
        ),
    ] {
        files(&home);
        let text = String::from_utf8(home.folder.read(file)).unwrap();
        assert!(text.contains(from), "{text}");
        let mut changed = text.replacen(from, to, 1);
        if to.contains("exchange-key") {
            changed = changed.replace("[trade]", "[exchange-key]");
            let metadata = METADATA.replace("  trade:", "  exchange-key:");
            home.folder.write("metadata.yaml", metadata);
        }
        home.folder.write(file, changed);
        import(&home, "wrapped", &[]).refused(2, says, "nothing was changed");
    }
    files(&home);
    fs::remove_file(home.folder.name("revoked.yaml")).unwrap();
    assert_ne!(import(&home, "wrapped", &[]).code, 0);
    assert_eq!((contexts(&home), policy(&home)), before);
}

/// The key wrapped to an import key, and its check value.
fn wrapped(home: &Home, secret: &[u8; 32]) -> [String; 3] {
    let pem = home.folder.name("import.pem");
    drop(fs::remove_file(&pem));
    let begun = home
        .admin(&["import", "begin", "--out", &pem, "--format", "json"])
        .document();
    let text = fs::read_to_string(&pem).unwrap();
    let der: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    let key = RsaEncryptionKey::from_der(&base64::decode(&der).unwrap()).unwrap();
    let kek = Secret::from_fill(|kek: &mut [u8; 32]| kek.fill(9));
    let front = key.encrypt_oaep(kek.expose(), b"").unwrap();
    let file = [front, key_wrap::wrap(&kek, secret).unwrap()].concat();
    let check = Aes256Cmac::new(secret).unwrap().mac(&[0; 16]).unwrap();
    [
        home.folder.write("wrapped", file),
        begun["id"].as_str().unwrap().to_owned(),
        hex::encode(&check[..5]),
    ]
}

#[test]
fn keys_are_brought_in_one_by_one_and_shown_with_what_they_read() {
    let home = Home::demo();
    files(&home);
    let server = home.serve();
    import(&home, "wrapped", &[]).bytes();
    let secret = [7; 32];
    let reader = |label: &str, more: &[&str]| {
        let [file, id, check] = wrapped(&home, &secret);
        let words = [
            "import",
            "reader",
            "trade",
            "--label",
            label,
            "--mode",
            "shared",
            "--wrapped-key",
            &file,
            "--import-key",
            &id,
            "--check-value",
            &check,
        ];
        home.admin(&[&words[..], more].concat())
    };
    let made = reader("kek-trade-v1", &JSON).document();
    assert_eq!(made["key_version"], 2);
    reader("kek-trade-v2", &["--nonce", "12"]).bytes();
    let shown = home.admin(&["context", "describe", "trade"]).text();
    assert!(
        shown.contains("kek-trade-v1 of the seed service's trade, by version 2, nonces of 16"),
        "{shown}"
    );
    assert!(shown.contains("by version 3, nonces of 12"), "{shown}");
    reader("kek-trade-v1", &[]).refused(2, "has this label already", "");
    reader("kw1.own", &[]).refused(2, "kw1.", "");
    for (words, says) in [
        (&["--nonce", "13"][..], "12 or 16"),
        (&["--nonce", "x"], "12 or 16"),
        (&["--object", "00"], "cannot be used with"),
    ] {
        let refused = reader("other", words);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(says), "{refused:?}");
    }
    // One that is there in another way than the files say is found out.
    import(&home, "wrapped", &["--dry-run"]).refused(2, "in another way", "nothing was changed");
    server.stop();
}
