//! `keywright client` against a real server.

use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Placement, Reply, Request,
};
use keywright_home::Node;
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_types::KeySpec;

use crate::program::{Ended, Folder, Home, Server, keywright, keywright_reading};

const MESSAGE: &[u8] = b"order 4711: 250 at 17.35\n\xFF\x00";

struct Scene {
    // Before the home, so that it has ended when its folder goes.
    server: Server,
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let home = Home::demo();
        let server = home.serve();
        Self { server, home }
    }

    /// `keywright client WORDS` as trading-1, with something to read.
    fn client(&self, words: &[&str], input: &[u8]) -> Ended {
        self.client_named("trading-1", words, input)
    }

    fn client_named(&self, name: &str, words: &[&str], input: &[u8]) -> Ended {
        let connection = self.home.of(name, &self.server.url);
        keywright_reading(&[&["client"], words, &connection].concat(), input)
    }

    fn folder(&self) -> &Folder {
        &self.home.folder
    }

    fn sealed(&self, words: &[&str]) -> Vec<u8> {
        self.client(&[&["encrypt", "exchange-key"], words].concat(), MESSAGE)
            .bytes()
    }
}

#[test]
fn streams_pass_through_files_and_pipes_and_leave_nothing_half() {
    let scene = Scene::new();
    let folder = scene.folder();
    let long: Vec<u8> = (0..300_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    let seal = ["encrypt", "exchange-key", "--stream", "--aad", "row 7"];
    let open = ["decrypt", "exchange-key", "--stream", "--aad", "row 7"];
    for protocol in [&[][..], &["--http1"]] {
        let sealed = scene.client(&[&seal, protocol].concat(), &long).bytes();
        assert!(sealed.starts_with(&[0x29, 0x64, 0x75, 6]) && sealed.len() > long.len());
        let opened = scene.client(&[&open, protocol].concat(), &sealed).bytes();
        assert!(opened == long);
    }
    let plain = folder.write("plain", &long);
    let (stream, back) = (folder.name("stream"), folder.name("back"));
    let files = |from, to| ["--input", from, "--output", to];
    let sealed = scene.client(&[&seal[..], &files(&plain, &stream)].concat(), b"");
    assert!(sealed.bytes().is_empty());
    let words = [&open[..], &files(&stream, &back), &["--format", "json"]].concat();
    let told = scene.client(&words, b"").document();
    assert_eq!(told["key_version"], 1);
    assert_eq!(told["bytes_out"], 300_000);
    assert!(folder.read("back") == long);
    assert_eq!(folder.mode("back"), 0o600);

    // What does not open to its end is not there at all, and nothing lies beside it.
    std::fs::remove_file(&back).unwrap();
    let whole = folder.read("stream");
    folder.write("stream", &whole[..200_000]);
    let before = folder.names();
    let ended = scene.client(&[&open[..], &files(&stream, &back)].concat(), b"");
    ended.refused(8, "does not open to its end", "throw away");
    assert_eq!(folder.names(), before);
    // Without the additional data it does not begin.
    let ended = scene.client(&["decrypt", "exchange-key", "--stream"], &whole);
    ended.refused(8, "does not open here", "--aad");
    let words = [&seal[..], &["--format", "json"]].concat();
    scene.client(&words, b"x").error(2);
}

#[test]
fn what_is_encrypted_decrypts_in_every_form() {
    let scene = Scene::new();
    for seal in [&[][..], &["--raw"], &["--http1"], &["--cbor"]] {
        for open in [&[][..], &["--http1"], &["--cbor", "--http1"]] {
            let sealed = scene.sealed(seal);
            let opened = scene.client(&[&["decrypt", "exchange-key"], open].concat(), &sealed);
            assert_eq!(opened.bytes(), MESSAGE);
        }
    }
    let text = String::from_utf8(scene.sealed(&[])).unwrap();
    assert!(text.starts_with("KWR1") && text.ends_with('\n') && text.lines().count() == 1);
    let raw = scene.sealed(&["--raw"]);
    assert!(raw.starts_with(&[0x29, 0x64, 0x75]));
    // As `base64` without options writes it.
    let folded = text
        .trim()
        .as_bytes()
        .chunks(20)
        .collect::<Vec<_>>()
        .join(&b"\r\n"[..]);
    assert_eq!(
        scene.client(&["decrypt", "exchange-key"], &folded).bytes(),
        MESSAGE
    );
    let empty = scene.client(&["encrypt", "exchange-key"], b"").bytes();
    assert!(
        scene
            .client(&["decrypt", "exchange-key"], &empty)
            .bytes()
            .is_empty()
    );
}

#[test]
fn what_is_asked_in_cbor_is_told_as_in_json() {
    let scene = Scene::new();
    let sealed = scene.sealed(&["--cbor"]);
    for words in [
        &["decrypt", "exchange-key", "--format", "json"][..],
        &["rewrap", "exchange-key", "--format", "json"],
    ] {
        let told = |more: &[&str]| scene.client(&[words, more].concat(), &sealed).document();
        let (json, cbor) = (told(&[]), told(&["--cbor"]));
        assert_eq!(json["key_version"], cbor["key_version"]);
        assert_eq!(json.get("plaintext"), cbor.get("plaintext"));
    }
    let random = scene.client(&["random", "--bytes", "33", "--raw", "--cbor"], b"");
    assert_eq!(random.bytes().len(), 33);
    let key = [
        "datakey",
        "exchange-key",
        "--plain",
        "--cbor",
        "--format",
        "json",
    ];
    assert_eq!(scene.client(&key, b"").document()["key_version"], 1);
    let other = ["decrypt", "exchange-key", "--cbor"];
    let other = scene.client_named("web-2fa-1", &other, &sealed);
    other.refused(9, "no context of this name", "client contexts");
    let another = ["decrypt", "exchange-key", "--cbor", "--aad", "another"];
    let ended = scene.client(&another, &sealed);
    ended.refused(8, "does not open here", "--aad");
}

#[test]
fn a_member_of_the_group_opens_and_others_see_no_context() {
    let scene = Scene::new();
    let sealed = scene.sealed(&[]);
    let other = scene.client_named("web-2fa-1", &["decrypt", "exchange-key"], &sealed);
    other.refused(9, "no context of this name", "client contexts");
    let elsewhere = scene.client_named("web-2fa-1", &["decrypt", "2fa"], &sealed);
    elsewhere.refused(8, "does not open here", "--aad");
}

#[test]
fn files_appear_whole_and_readable_only_by_whom_they_concern() {
    let scene = Scene::new();
    let folder = scene.folder();
    let (message, sealed, opened) = (
        folder.write("message", MESSAGE),
        folder.name("sealed"),
        folder.name("opened"),
    );
    let encrypt = [
        "encrypt",
        "exchange-key",
        "--input",
        &message,
        "--output",
        &sealed,
    ];
    assert!(scene.client(&encrypt, b"").bytes().is_empty());
    let decrypt = [
        "decrypt",
        "exchange-key",
        "--input",
        &sealed,
        "--output",
        &opened,
    ];
    assert!(scene.client(&decrypt, b"").bytes().is_empty());
    assert_eq!(folder.read("opened"), MESSAGE);
    assert_eq!(folder.mode("opened"), 0o600);
    assert_eq!(folder.names(), ["home", "message", "opened", "sealed"]);
}

#[test]
fn an_existing_output_is_kept_unless_yes_is_said() {
    let scene = Scene::new();
    let folder = scene.folder();
    let output = folder.write("taken", "mine");
    let words = ["encrypt", "exchange-key", "--output", &output];
    scene
        .client(&words, MESSAGE)
        .refused(13, "not confirmed", "--yes");
    assert_eq!(folder.read("taken"), b"mine");
    scene
        .client(&[&words[..], &["--yes"]].concat(), MESSAGE)
        .bytes();
    assert!(folder.read("taken").starts_with(b"KWR1"));
    // A link stays one, and a plaintext takes the place of a file that everyone could read.
    std::os::unix::fs::symlink("taken", folder.path().join("link")).unwrap();
    let sealed = scene.sealed(&[]);
    let words = [
        "decrypt",
        "exchange-key",
        "--output",
        &folder.name("link"),
        "--yes",
    ];
    scene.client(&words, &sealed).bytes();
    assert_eq!(folder.read("taken"), MESSAGE);
    assert_eq!(folder.mode("taken"), 0o600);
    assert!(
        folder
            .path()
            .join("link")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_failed_call_leaves_the_output_as_it_was() {
    let scene = Scene::new();
    let folder = scene.folder();
    let output = folder.write("kept", "mine");
    let words = [
        "decrypt",
        "exchange-key",
        "--aad",
        "other",
        "--output",
        &output,
        "--yes",
    ];
    scene
        .client(&words, &scene.sealed(&["--aad", "this"]))
        .refused(8, "", "");
    let words = [
        "decrypt",
        "exchange-key",
        "--aad",
        "other",
        "--output",
        &folder.name("new"),
    ];
    scene
        .client(&words, &scene.sealed(&["--aad", "this"]))
        .refused(8, "", "");
    assert_eq!(folder.read("kept"), b"mine");
    assert_eq!(folder.names(), ["home", "kept"]);
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let scene = Scene::new();
    scene
        .client(
            &["encrypt", "exchange-key", "--output", "/dev/null"],
            MESSAGE,
        )
        .bytes();
    let link = scene.folder().path().join("null");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    scene
        .client(
            &[
                "encrypt",
                "exchange-key",
                "--output",
                link.to_str().unwrap(),
                "--yes",
            ],
            MESSAGE,
        )
        .bytes();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn additional_data_must_be_given_again() {
    let scene = Scene::new();
    let aad = scene.folder().write("aad", "order 4711");
    let sealed = scene.sealed(&["--aad", "order 4711"]);
    for good in [&["--aad", "order 4711"][..], &["--aad-file", &aad]] {
        let opened = scene.client(&[&["decrypt", "exchange-key"], good].concat(), &sealed);
        assert_eq!(opened.bytes(), MESSAGE);
    }
    for wrong in [
        &[][..],
        &["--aad", ""],
        &["--aad", "order 4712"],
        &["--aad-file", "/dev/null"],
    ] {
        let ended = scene.client(&[&["decrypt", "exchange-key"], wrong].concat(), &sealed);
        ended.refused(8, "does not open here", "--aad");
    }
    // No additional data and empty additional data are the same.
    assert_eq!(
        scene
            .client(
                &["decrypt", "exchange-key", "--aad", ""],
                &scene.sealed(&[])
            )
            .bytes(),
        MESSAGE
    );
}

#[test]
fn every_cut_and_every_changed_byte_of_a_ciphertext_is_refused() {
    let scene = Scene::new();
    let raw = scene.sealed(&["--raw"]);
    let cut = |length: usize| raw[..length].to_vec();
    let flipped = |place: usize| {
        let mut changed = raw.clone();
        changed[place] ^= 1;
        changed
    };
    let last = raw.len() - 1;
    for bad in [
        cut(0),
        cut(2),
        cut(3),
        cut(20),
        cut(last),
        flipped(0),
        flipped(3),
        flipped(30),
        flipped(last),
    ] {
        for words in [
            &["decrypt", "exchange-key"][..],
            &["rewrap", "exchange-key"],
        ] {
            scene.client(words, &bad).refused(8, "ciphertext", "");
        }
    }
    for text in ["", "hello", "KWR1", "KWR1!", "KWF1AAAA", "\u{e9}"] {
        scene
            .client(&["decrypt", "exchange-key"], text.as_bytes())
            .refused(8, "ciphertext", "");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn mistakes_in_files_and_names_are_found_and_named() {
    let scene = Scene::new();
    let folder = scene.folder();
    let (cert, key) = (
        scene.home.word("clients/trading-1.pem"),
        scene.home.word("clients/trading-1.key"),
    );
    let (other_key, ca) = (
        scene.home.word("clients/web-2fa-1.key"),
        scene.home.word("ca.pem"),
    );
    let (empty, missing) = (folder.write("empty", ""), folder.name("missing"));
    let url = scene.server.url.as_str();
    let base = |ca, cert, key| {
        vec![
            "client", "health", "--url", url, "--ca", ca, "--cert", cert, "--key", key,
        ]
    };
    assert!(keywright(&base(&ca, &cert, &key)).text().contains("ready"));
    for (words, code, happened, advice) in [
        (
            base(&ca, &missing, &key),
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            base(&ca, &cert, &missing),
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            base(&missing, &cert, &key),
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            base(&ca, &cert, &other_key),
            2,
            "does not belong to the certificate",
            "made together",
        ),
        (base(&ca, &empty, &key), 2, "empty: certificate", "PEM"),
        (base(&ca, &cert, &empty), 2, "private key", "PEM"),
        (
            base(&key, &cert, &key),
            2,
            "trading-1.key: server roots",
            "PEM",
        ),
        (
            base(&cert, &cert, &key),
            11,
            "certificate is not trusted",
            "--ca",
        ),
        (
            vec!["client", "health", "--url", url, "--ca", &ca],
            2,
            "no client certificate is named",
            "--cert",
        ),
        (
            vec![
                "client", "health", "--url", url, "--cert", &cert, "--key", &key,
            ],
            2,
            "no roots",
            "--ca",
        ),
        (
            vec![
                "client",
                "health",
                "--home",
                &scene.home.home,
                "--client",
                "nobody",
            ],
            1,
            "nobody.pem",
            "path exists",
        ),
    ] {
        keywright(&words).refused(code, happened, advice);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn mistakes_in_calls_have_their_code_and_their_advice() {
    let scene = Scene::new();
    let folder = scene.folder();
    let (missing, home) = (folder.name("missing"), scene.home.home.as_str());
    let beyond = folder.name("no/such/folder");
    let (large, long_aad) = (
        folder.write("large", vec![0; 13 << 20]),
        folder.write("long", vec![0; 16_385]),
    );
    for (words, code, happened, advice) in [
        (
            &["encrypt", "no-such"][..],
            9,
            "no context of this name",
            "client contexts",
        ),
        (
            &["encrypt", "Exchange-Key"],
            9,
            "no context of this name",
            "client contexts",
        ),
        (
            &["encrypt", "2fa"],
            9,
            "no context of this name",
            "client contexts",
        ),
        (
            &["encrypt", "exchange-key", "--input", &missing],
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            &["encrypt", "exchange-key", "--input", home],
            1,
            "cannot be read",
            "path exists",
        ),
        (
            &["encrypt", "exchange-key", "--aad-file", &missing],
            1,
            "missing cannot be read",
            "path exists",
        ),
        (
            &["encrypt", "exchange-key", "--output", &beyond],
            1,
            "cannot be written",
            "path exists",
        ),
        (
            &["encrypt", "exchange-key", "--output", home],
            1,
            "cannot be written",
            "path exists",
        ),
        (
            &["encrypt", "exchange-key", "--input", &large],
            2,
            "more than 16777216 bytes",
            "limits",
        ),
        (
            &["encrypt", "exchange-key", "--aad-file", &long_aad],
            2,
            "more than 16384 bytes",
            "limits",
        ),
        (
            &["encrypt", "exchange-key", "--input", "/dev/zero"],
            2,
            "more than 67108864 bytes",
            "data key",
        ),
        (
            &["datakey-open", "exchange-key"],
            2,
            "where the plain key goes",
            "--key-out",
        ),
        (
            &["datakey-open", "exchange-key", "--plain"],
            8,
            "not a ciphertext",
            "KWR1",
        ),
    ] {
        scene.client(words, b"").refused(code, happened, advice);
    }
}

#[test]
fn a_service_that_is_not_there_is_said_so() {
    let home = Home::demo();
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("https://{free}");
    keywright(&[&["client", "health"][..], &home.of("trading-1", &url)].concat()).refused(
        5,
        &url,
        "keywright client health, with the same address, roots and certificate",
    );
    for url in [
        "http://127.0.0.1:1",
        "https://127.0.0.1:1/v1",
        "127.0.0.1:1",
        "https://",
    ] {
        let ended = keywright(&[&["client", "health"][..], &home.of("trading-1", url)].concat());
        ended.refused(2, "https://host", "https://HOST:PORT");
    }
}

#[test]
fn errors_are_documents_with_the_services_code() {
    let scene = Scene::new();
    for (words, exit, code) in [
        (
            &["encrypt", "no-such", "--format", "json"][..],
            9,
            "context_not_found",
        ),
        (
            &["decrypt", "exchange-key", "--format", "json"],
            8,
            "ciphertext_malformed",
        ),
    ] {
        let ended = scene.client(words, b"x");
        assert_eq!(ended.error(exit)["code"], code);
        assert!(ended.stderr.is_empty());
    }
    let sealed = scene.sealed(&["--aad", "a"]);
    let ended = scene.client(&["decrypt", "exchange-key", "--format", "json"], &sealed);
    assert_eq!(ended.error(8)["code"], "decryption_failed");
    let ended = scene.client(
        &[
            "encrypt",
            "exchange-key",
            "--input",
            "/nowhere",
            "--format",
            "json",
        ],
        b"",
    );
    assert!(ended.error(1).get("code").is_none());
}

#[test]
fn results_are_documents_with_base64() {
    let scene = Scene::new();
    let sealed = scene
        .client(&["encrypt", "exchange-key", "--format", "json"], b"abc")
        .document();
    assert_eq!(sealed["key_version"], 1);
    let ciphertext = sealed["ciphertext"].as_str().unwrap();
    let opened = scene
        .client(
            &["decrypt", "exchange-key", "--format", "json"],
            ciphertext.as_bytes(),
        )
        .document();
    assert_eq!(
        (opened["plaintext"].as_str(), opened["key_version"].as_u64()),
        (Some("YWJj"), Some(1))
    );
    // With a file the document says the rest, and the file has the bytes.
    let file = scene.folder().name("opened");
    let words = [
        "decrypt",
        "exchange-key",
        "--format",
        "json",
        "--output",
        &file,
    ];
    let document = scene.client(&words, ciphertext.as_bytes()).document();
    assert!(document.get("plaintext").is_none() && document["key_version"] == 1);
    assert_eq!(scene.folder().read("opened"), b"abc");
}

#[test]
fn a_data_key_is_plain_only_where_it_was_asked_for() {
    let scene = Scene::new();
    let made = |words: &[&str]| {
        let words = [&["datakey", "exchange-key", "--format", "json"], words].concat();
        scene.client(&words, b"").document()
    };
    let (file, folder) = (scene.folder().name("key"), scene.folder());
    let withheld = made(&[]);
    assert!(withheld.get("plain").is_none());
    assert!(withheld["not_after"].as_str().unwrap().ends_with('Z'));
    assert!(made(&["--key-out", &file]).get("plain").is_none());
    assert_eq!((folder.read("key").len(), folder.mode("key")), (32, 0o600));
    let plain = made(&["--plain"])["plain"].as_str().unwrap().to_owned();
    assert_eq!(
        keywright_encoding::base64::decode(&plain).unwrap().len(),
        32
    );
    let again = ["datakey", "exchange-key", "--key-out", &file];
    scene.client(&again, b"").refused(13, "overwrite", "--yes");
}

#[test]
fn a_wrapped_data_key_opens_to_the_same_key_and_is_no_message() {
    let scene = Scene::new();
    let (made_file, opened_file) = (scene.folder().name("made"), scene.folder().name("opened"));
    let words = [
        "datakey",
        "exchange-key",
        "--format",
        "json",
        "--aad",
        "a",
        "--key-out",
        &made_file,
    ];
    let made = scene.client(&words, b"").document();
    let wrapped = made["wrapped"].as_str().unwrap().as_bytes();
    let open = |words: &[&str]| {
        scene.client(
            &[&["datakey-open", "exchange-key"], words].concat(),
            wrapped,
        )
    };
    let text = open(&["--aad", "a", "--key-out", &opened_file]).text();
    assert!(text.contains(made["id"].as_str().unwrap()) && !text.contains("plain"));
    assert_eq!(scene.folder().read("opened"), scene.folder().read("made"));
    assert_eq!(scene.folder().mode("opened"), 0o600);
    let printed = open(&["--aad", "a", "--plain", "--format", "json"]).document();
    let plain = keywright_encoding::base64::decode(printed["plain"].as_str().unwrap());
    assert_eq!(plain.unwrap(), scene.folder().read("made"));
    open(&["--plain"]).refused(8, "does not open here", "--aad");
    let decrypt = scene.client(&["decrypt", "exchange-key", "--aad", "a"], wrapped);
    decrypt.refused(8, "does not open here", "");
}

#[test]
fn a_message_is_no_data_key() {
    let scene = Scene::new();
    let ended = scene.client(
        &["datakey-open", "exchange-key", "--plain"],
        &scene.sealed(&[]),
    );
    ended.refused(8, "does not open here", "");
}

#[test]
fn random_bytes_are_as_many_as_asked_for_and_never_the_same() {
    let scene = Scene::new();
    let raw = |count: &str| {
        scene
            .client(&["random", "--bytes", count, "--raw"], b"")
            .bytes()
    };
    assert_eq!(
        [raw("1").len(), raw("32").len(), raw("65536").len()],
        [1, 32, 65_536]
    );
    assert_ne!(raw("32"), raw("32"));
    let text = scene.client(&["random", "--bytes", "30"], b"").text();
    assert_eq!((text.len(), text.ends_with('\n')), (41, true));
}

#[test]
fn the_contexts_of_a_client_are_its_own() {
    let scene = Scene::new();
    let listed = scene
        .client(&["contexts", "--format", "json"], b"")
        .document();
    let names: Vec<_> = listed["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].clone())
        .collect();
    assert_eq!(names, ["exchange-key"]);
    let text = scene.client(&["contexts"], b"").text();
    let columns: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(columns[0], ["name", "id", "active", "versions"]);
    assert_eq!(
        (columns[1][0], columns[1][2], columns[1][3]),
        ("exchange-key", "1", "1")
    );
}

#[test]
fn a_service_that_is_well_says_so() {
    let scene = Scene::new();
    let health = scene
        .client(&["health", "--format", "json"], b"")
        .document();
    assert_eq!(
        (&health["status"], &health["holder"]),
        (&"ready".into(), &"ok".into())
    );
}

/// A holder that cannot be reached.
struct Gone(Arc<dyn KeyHolder>);

impl KeyHolder for Gone {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.0.supports(spec, operation)
    }

    fn placement(&self) -> Placement {
        self.0.placement()
    }

    fn generate(&self, _: &Permit, _: NewKey) -> Result<KeyMaterial, HolderError> {
        Err(HolderError::Unavailable)
    }

    fn perform(
        &self,
        _: &Permit,
        _: &Request,
        _: Items,
        _: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        Err(HolderError::Unavailable)
    }

    fn probe(&self) -> Result<(), HolderError> {
        Err(HolderError::Unavailable)
    }
}

#[test]
fn a_service_without_its_key_holder_is_degraded_and_exits_with_five() {
    let home = Home::demo();
    let config = home.path("keywright.toml");
    let node =
        Node::open_with_holder(&config, Clock::system(), |holder| Arc::new(Gone(holder))).unwrap();
    let serving = node.serve(Some(([127, 0, 0, 1], 0).into())).unwrap();
    let url = format!("https://{}", serving.local_addr());
    let client = home.of("trading-1", &url);
    let health = keywright(&[&["client", "health"][..], &client].concat());
    let encrypt = keywright(&[&["client", "encrypt", "exchange-key"][..], &client].concat());
    serving.stop().unwrap();
    assert_eq!(health.code, 5);
    let told = String::from_utf8(health.stdout).unwrap();
    let holder: Vec<_> = told.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(holder, ["holder", "failed"]);
    encrypt.refused(5, "key holder does not answer", "client health");
}
