//! Keys that come and go: `admin import begin`, `context create --wrapped-key`, `admin key export`, and
//! `context create --sealed-key`, which reads back what was exported.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::program::{Ended, Home, keywright, keywright_reading};

/// A home with the key pair of somebody who receives keys.
struct Scene {
    home: Home,
    private: String,
    public: String,
}

impl Scene {
    fn new() -> Self {
        let home = Home::demo();
        let (private, public) = (home.folder.name("owner.key"), home.folder.name("owner.pub"));
        keywright(&["seal", "keygen", "--out", &private, "--public-out", &public]).bytes();
        Self {
            home,
            private,
            public,
        }
    }

    fn create(&self, home: &Home, name: &str, more: &[&str]) -> Ended {
        home.admin(&[&["context", "create", name], more].concat())
    }

    fn export(&self, name: &str, out: &str) -> Ended {
        let words = [
            "key",
            "export",
            name,
            "--recipient",
            &self.public,
            "--out",
            out,
        ];
        self.home.admin(&words)
    }

    /// Lets the trader use a context of a home.
    fn allow(home: &Home, context: &str) {
        let policy = home.admin(&["policy", "show"]).text();
        let grant = format!(
            "{policy}\n[[grant]]\nprincipals = [\"trading-1\"]\ncontexts = [\"{context}\"]\noperations = [\"mac\"]\n"
        );
        let file = home.folder.write("policy.toml", grant);
        home.admin(&["policy", "apply", &file]).bytes();
    }

    /// The MAC of a message under a context, as the service makes it.
    fn mac(home: &Home, context: &str) -> Vec<u8> {
        let server = home.serve();
        let words = ["client", "mac", context];
        let ended = keywright_reading(
            &[&words[..], &home.of("trading-1", &server.url)].concat(),
            b"order 4711",
        );
        let made = ended.bytes();
        server.stop();
        made
    }
}

#[test]
fn a_key_that_was_exported_works_in_another_home_as_it_did_in_its_own() {
    let scene = Scene::new();
    let kind = ["--mac", "hmac-sha-256", "--export", "sealed"];
    scene.create(&scene.home, "codes", &kind).bytes();
    let file = scene.home.folder.name("codes.sealed");
    scene.export("codes", &file).bytes();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    scene.export("codes", &file).refused(
        13,
        "exists and is not written over",
        "choose another name",
    );
    let other = Home::demo();
    let sealed = [
        "--mac",
        "hmac-sha-256",
        "--sealed-key",
        &file,
        "--sealed-key-file",
        &scene.private,
    ];
    scene.create(&other, "copied", &sealed).bytes();
    let shown = other
        .admin(&["context", "describe", "copied", "--format", "json"])
        .document();
    assert_eq!(shown["context"]["spec"]["origin"], "imported");
    assert_eq!(shown["context"]["spec"]["export"], "never");
    Scene::allow(&scene.home, "codes");
    Scene::allow(&other, "copied");
    assert_eq!(
        Scene::mac(&scene.home, "codes"),
        Scene::mac(&other, "copied")
    );
}

#[test]
fn a_file_that_is_no_key_of_this_kind_makes_no_context() {
    let scene = Scene::new();
    let kind = ["--mac", "hmac-sha-256", "--export", "sealed"];
    scene.create(&scene.home, "codes", &kind).bytes();
    let file = scene.home.folder.name("codes.sealed");
    scene.export("codes", &file).bytes();
    let with = |more: &[&str], file: &str, key: &str| {
        let words = [more, &["--sealed-key", file, "--sealed-key-file", key]].concat();
        scene.create(&scene.home, "copied", &words)
    };
    let mac = ["--mac", "hmac-sha-256"];
    with(&["--mac", "hmac-sha-512"], &file, &scene.private).refused(
        2,
        "the key is for mac",
        "same kind",
    );
    with(&[], &file, &scene.private).refused(2, "the context for seal", "same kind");
    let stranger = scene.home.folder.name("stranger.key");
    keywright(&["seal", "keygen", "--out", &stranger]).bytes();
    with(&mac, &file, &stranger).refused(8, "file_rejected", "");
    let bytes = std::fs::read(&file).unwrap();
    let cut = scene.home.folder.write("cut", &bytes[..bytes.len() - 1]);
    with(&mac, &cut, &scene.private).refused(8, "", "");
    let text = scene
        .home
        .folder
        .write("text", "keywright key 1\npurpose mac\n");
    let out = scene.home.folder.name("text.sealed");
    keywright(&[
        "seal",
        "--recipient",
        &scene.public,
        "--input",
        &text,
        "--output",
        &out,
    ])
    .bytes();
    with(&mac, &out, &scene.private).refused(2, "holds no key", "key export");
    let nothing = scene.home.folder.name("nothing");
    with(&mac, &nothing, &scene.private).refused(1, "cannot be read", "");
    let alone = [&mac[..], &["--sealed-key", &file]].concat();
    scene
        .create(&scene.home, "copied", &alone)
        .refused(2, "--sealed-key-file", "");
    let listed = scene.home.admin(&["context", "list"]).text();
    assert!(!listed.contains("copied"), "{listed}");
}

#[test]
fn keys_that_stay_unknown_versions_and_nobody_are_exported_to_nothing() {
    let scene = Scene::new();
    scene
        .create(&scene.home, "stays", &["--mac", "hmac-sha-256"])
        .bytes();
    let kind = ["--mac", "hmac-sha-256", "--export", "sealed"];
    scene.create(&scene.home, "leaves", &kind).bytes();
    let out = scene.home.folder.name("out.sealed");
    scene.export("stays", &out).refused(13, "made to stay", "");
    scene
        .export("unheard-of", &out)
        .refused(9, "no such context", "");
    scene
        .export("exchange-key", &out)
        .refused(13, "made to stay", "");
    let version = |number: &str| {
        let words = [
            "key",
            "export",
            "leaves",
            "--recipient",
            &scene.public,
            "--out",
            &out,
        ];
        scene
            .home
            .admin(&[&words[..], &["--key-version", number]].concat())
    };
    version("7").refused(9, "no such version", "");
    version("0").refused(2, "not in 1..", "--help");
    scene
        .home
        .admin(&["key", "export", "leaves", "--out", &out])
        .refused(2, "--recipient", "usage");
    let words = [
        "key",
        "export",
        "leaves",
        "--recipient",
        &scene.private,
        "--out",
        &out,
    ];
    assert_eq!(scene.home.admin(&words).code, 2);
    assert!(!Path::new(&out).exists(), "nothing is left behind");
}

#[test]
fn an_import_key_needs_a_node_and_takes_one_key_that_is_the_right_one() {
    let home = Home::demo();
    let pem = home.folder.name("import.pem");
    let begin = || home.admin(&["import", "begin", "--out", &pem, "--format", "json"]);
    home.admin(&["import", "begin", "--out", &pem])
        .refused(13, "no node runs", "keywright serve");
    assert!(!Path::new(&pem).exists(), "nothing is left behind");
    let server = home.serve();
    let begun = begin().document();
    let id = begun["id"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(&pem).unwrap();
    assert!(text.starts_with("-----BEGIN PUBLIC KEY-----"));
    home.admin(&["import", "begin", "--out", &pem]).refused(
        13,
        "exists and is not written over",
        "choose another name",
    );
    assert_eq!(std::fs::read_to_string(&pem).unwrap(), text);
    let garbage = home.folder.write("wrapped", vec![7; 400]);
    let import = |id: &str, check: &str, file: &str| {
        let words = [
            "context",
            "create",
            "brought",
            "--wrapped-key",
            file,
            "--import-key",
            id,
        ];
        home.admin(&[&words[..], &["--check-value", check]].concat())
    };
    assert_eq!(import("00", "0102030405", &garbage).code, 13);
    let refused = import(&id, "0102030405", &garbage);
    assert_eq!(
        (refused.code, refused.stderr.lines().count()),
        (2, 2),
        "{refused:?}"
    );
    // It is spent, whatever came of it.
    assert_eq!(import(&id, "0102030405", &garbage).code, 13);
    let long = home.folder.write("long", vec![7; (1 << 16) + 1]);
    import(&id, "0102030405", &long).refused(2, "more than 65536 bytes", "384");
    for missing in [
        &["--wrapped-key", &garbage][..],
        &["--import-key", &id],
        &["--check-value", "01"],
    ] {
        let words = [&["context", "create", "brought"], missing].concat();
        assert_eq!(home.admin(&words).code, 2, "{missing:?}");
    }
    let listed = home.admin(&["context", "list"]).text();
    assert!(!listed.contains("brought"), "{listed}");
    server.stop();
}
