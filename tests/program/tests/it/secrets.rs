//! Canaries: unique secrets are planted wherever a caller can put one, and then looked for in
//! everything the program writes, backups too. They may stand where they belong and nowhere else.

mod further;

use std::fs;
use std::path::{Path, PathBuf};

use http::{Method, header};
use http_body_util::Full;
use keywright_encoding::{base64, hex};
use keywright_network::collector::{Collector, TAKES};
use keywright_primitives::random::RandomStream;
use keywright_tls::Protocol;

use crate::fixture::*;
use crate::traces::telling;

/// A secret and every form in which it could give itself away.
struct Canary {
    what: &'static str,
    forms: Vec<Vec<u8>>,
}

impl Canary {
    fn new(what: &'static str, secret: &[u8]) -> Self {
        let hexadecimal = hex::encode(secret);
        let mut forms = vec![
            secret.to_vec(),
            hexadecimal.to_uppercase().into_bytes(),
            hexadecimal.into_bytes(),
        ];
        // Base64 inside a longer text begins at one of three places; the ends depend on what is beside.
        for skipped in 0..3 {
            let whole = &secret[skipped..];
            let whole = &whole[..whole.len() / 3 * 3];
            forms.push(base64::encode(whole).into_bytes());
        }
        Self { what, forms }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.forms
            .iter()
            .any(|form| bytes.windows(form.len()).any(|window| window == form))
    }
}

/// Looks for canaries, and remembers how much it has looked at.
struct Search {
    canaries: Vec<Canary>,
    looked_at: usize,
}

impl Search {
    fn look(&mut self, place: &str, bytes: &[u8]) {
        self.look_except(place, bytes, "");
    }

    /// As [`Search::look`], where one of them belongs.
    fn look_except(&mut self, place: &str, bytes: &[u8], belongs: &str) {
        self.looked_at += bytes.len();
        for canary in self.canaries.iter().filter(|canary| canary.what != belongs) {
            assert!(!canary.is_in(bytes), "{} is in {place}", canary.what);
        }
    }

    fn look_at_answer(&mut self, place: &str, got: &Got) {
        self.look(place, &got.body);
        for (name, value) in &got.headers {
            self.look(&format!("{place}, header {name}"), value.as_bytes());
        }
    }
}

fn random_text() -> String {
    hex::encode(&RandomStream::new().unwrap().array::<24>().unwrap()).replace(['0', '1'], "Zq")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(files(&entry.path())),
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// Every body a caller can send with a secret in it, good and bad. `TEXT` and `BYTES` are the secret.
const BODIES: [&str; 24] = [
    r#"{"plaintext":"BYTES","aad":"BYTES"}"#,
    r#"{"plaintext":"TEXT"}"#,
    r#"{"plaintext":"TEXT!","aad":"BYTES"}"#,
    r#"{"plaintext":"","aad":"TEXT!"}"#,
    r#"{"plaintext":["BYTES"]}"#,
    r#"{"TEXT":1}"#,
    r#"{"plaintext":"BYTES","TEXT":"BYTES"}"#,
    r#"{"plaintext":"BYTES","plaintext":"BYTES"}"#,
    r#"{"ciphertext":"BYTES","aad":"BYTES"}"#,
    r#"{"ciphertext":"TEXT!"}"#,
    r#"{"ciphertext":"ENVELOPE","aad":"BYTES"}"#,
    r#"{"items":[{"plaintext":"BYTES"},{"ciphertext":"BYTES"}]}"#,
    r#"{"items":[{"plaintext":"BYTES"},{"plaintext":"TEXT!"}],"TEXT":1}"#,
    r#"{"items":"TEXT"}"#,
    r#"{"bytes":"TEXT"}"#,
    r#"{"bytes":8,"TEXT":8}"#,
    r#"{"aad":"BYTES","plain":"TEXT"}"#,
    r#"{"plaintext":"BYTES"#,
    r#"{"plaintext":TEXT}"#,
    r#""TEXT""#,
    r#"["TEXT"]"#,
    "TEXT",
    r#"{"plaintext":"BYTES"} TEXT"#,
    "",
];

#[test]
fn no_secret_is_anywhere_it_does_not_belong() {
    let collector = Collector::start(TAKES);
    let home = telling(Home::demo(), &collector, "ratio = 1.0\nqueue = 65536");
    let password = fs::read_to_string(home.path().join("root.password")).unwrap();
    let secrets: Vec<String> = (0..4).map(|_| random_text()).collect();
    let [plaintext, aad, in_path, malformed] = [0, 1, 2, 3].map(|n| secrets[n].as_str());
    let mut search = Search {
        canaries: vec![
            Canary::new("the plaintext", plaintext.as_bytes()),
            Canary::new("the aad", aad.as_bytes()),
            Canary::new("the path", in_path.as_bytes()),
            Canary::new("the malformed text", malformed.as_bytes()),
            Canary::new("the password", password.trim().as_bytes()),
        ],
        looked_at: 0,
    };
    let home = further::prepare(home, &mut search);
    let served = Served::start(&home.path());
    for protocol in BOTH {
        let connect = || {
            let tls = home.tls(Some(home.identity(TRADING)), protocol);
            Wire::connect(served.address, tls).unwrap()
        };
        let mut wire = connect();
        use_secrets_well(&mut wire, &mut search, plaintext.as_bytes(), aad.as_bytes());
        use_secrets_badly(&mut wire, &mut search, malformed, in_path);
        further::use_secrets(connect, &mut search, [plaintext, aad, malformed]);
        for path in ["/metrics", "/v1/health", "/v1/contexts", "/v1/openapi.json"] {
            search.look_at_answer(path, &wire.get(path));
        }
    }
    look_at_files(&home, &mut search);
    let backup = home.beside("backup.kwb");
    let [sealed, text] = crate::backup::Keeper::new().back_up_served(&home, &backup);
    let section = b"[keystore]";
    assert!(text.windows(section.len()).any(|window| window == section));
    search.look("a backup", &sealed);
    search.look("what is sealed in a backup", &text);
    search.look("the process's outputs", served.stop().as_bytes());
    let traces = collector.received();
    assert!(traces.len() > 1, "nothing was traced");
    for trace in traces {
        search.look("a trace", trace.head.as_bytes());
        search.look("a trace", &trace.body);
        let words = String::from_utf8_lossy(&trace.body);
        for name in [EXCHANGE, TWO_FACTOR, TRADING] {
            let told = [format!("\"{name}\""), format!("/{name}/")];
            let told = told.iter().any(|told| words.contains(told));
            assert!(!told, "{name} is in a trace");
        }
    }
    look_at_files(&home, &mut search);
    let shown = serde_json::to_vec(&home.records()).unwrap();
    search.look("the records as they are shown", &shown);
    assert!(
        search.looked_at > 1 << 20,
        "{} bytes looked at",
        search.looked_at
    );
    home.verify();
}

/// Good requests: the secret is in the one answer that was asked for it, and in no other.
fn use_secrets_well(wire: &mut Wire, search: &mut Search, plaintext: &[u8], aad: &[u8]) {
    let sealed = wire.post(
        &path(EXCHANGE, "encrypt"),
        item(&[("plaintext", plaintext), ("aad", aad)]),
    );
    search.look_at_answer("the answer of encrypt", &sealed);
    let sealed = sealed.binary("ciphertext");
    let open = item(&[("ciphertext", &sealed), ("aad", aad)]);
    let opened = wire.post(&path(EXCHANGE, "decrypt"), open.clone());
    assert_eq!(opened.binary("plaintext"), plaintext);
    search.look_except("the answer of decrypt", &opened.body, "the plaintext");
    search.look_at_answer(
        "the answer of rewrap",
        &wire.post(&path(EXCHANGE, "rewrap"), open.clone()),
    );
    let denied = wire.post(&path(TWO_FACTOR, "decrypt"), open);
    search.look_at_answer("a refusal", &denied);
    let wrong = item(&[("ciphertext", &sealed), ("aad", plaintext)]);
    search.look_at_answer("a failure", &wire.post(&path(EXCHANGE, "decrypt"), wrong));
    let made = wire.post(&path(EXCHANGE, "datakey"), item(&[("aad", aad)]));
    search.look_at_answer("the answer of datakey", &made);
    let (key, wrapped) = (made.binary("plaintext"), made.binary("ciphertext"));
    search.canaries.push(Canary::new("a data key", &key));
    let open = item(&[("ciphertext", &wrapped), ("aad", aad)]);
    let opened = wire.post(&path(EXCHANGE, "datakey/open"), open.clone());
    assert_eq!(opened.binary("plaintext"), key);
    search.look_except("the answer of datakey/open", &opened.body, "a data key");
    search.look_at_answer(
        "a data key as a message",
        &wire.post(&path(EXCHANGE, "decrypt"), open),
    );
    let random = wire.post("/v1/random", "{\"bytes\":32}").binary("random");
    search.canaries.push(Canary::new("random bytes", &random));
}

/// Everything a caller can get wrong with a secret in hand.
fn use_secrets_badly(wire: &mut Wire, search: &mut Search, text: &str, in_path: &str) {
    let envelope = seal(wire, EXCHANGE, text.as_bytes(), b"");
    for body in BODIES {
        let body = body
            .replace("BYTES", &base64::encode(text.as_bytes()))
            .replace("ENVELOPE", &base64::encode(&envelope))
            .replace("TEXT", text);
        for action in ["encrypt", "decrypt", "rewrap", "datakey", "datakey/open"] {
            for context in [EXCHANGE, TWO_FACTOR, in_path] {
                let got = wire.post(&path(context, action), body.clone());
                search.look_at_answer(&format!("the answer of {action} to {body}"), &got);
            }
        }
        search.look_at_answer("the answer of random", &wire.post("/v1/random", body));
    }
    for path in [
        format!("/{in_path}"),
        format!("/v1/contexts/{in_path}/{in_path}"),
        format!("/v1/health?{in_path}"),
        format!("/metrics?token={in_path}"),
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let got = wire.send(method, &path, text.to_owned()).unwrap();
            search.look_at_answer("the answer of a path", &got);
        }
    }
    let request = wire
        .request(Method::GET, "/v1/health")
        .header(header::AUTHORIZATION, format!("Bearer {text}"))
        .header(header::USER_AGENT, text)
        .header(header::COOKIE, text)
        .header("x-forwarded-for", text)
        .header("traceparent", text)
        .header("tracestate", format!("{}={text}", in_path.to_lowercase()))
        .header("baggage", format!("name={text}"))
        .header(format!("x-{}", in_path.to_lowercase()), text)
        .body(Full::default())
        .unwrap();
    search.look_at_answer("an answer to headers", &wire.send_request(request).unwrap());
}

/// Every file of the home, but the one that holds the password.
fn look_at_files(home: &Home, search: &mut Search) {
    let files = files(&home.path());
    assert!(files.len() > 10);
    for file in files {
        let place = file
            .strip_prefix(home.path())
            .unwrap()
            .display()
            .to_string();
        // Laid out for a full disk and never used: zeros.
        if place.contains("reserve") {
            continue;
        }
        let belongs = if place == "root.password" {
            "the password"
        } else {
            ""
        };
        search.look_except(&place, &fs::read(&file).unwrap(), belongs);
    }
}

/// Its memory is full of what no file may hold; an abort is what a failed assertion of a library comes to.
#[test]
fn a_node_that_is_aborted_leaves_no_core_file() {
    let home = Home::demo();
    let folder = home.beside("cores");
    fs::create_dir(&folder).unwrap();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "ulimit -c unlimited && exec \"$0\" \"$1\""])
        .arg(env!("CARGO_BIN_EXE_keywright-served-home"))
        .arg(home.path())
        .current_dir(&folder);
    let served = Served::run(&mut command);
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    seal(&mut wire, EXCHANGE, b"x", b"");
    let limits = fs::read_to_string(format!("/proc/{}/limits", served.id())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let values: Vec<_> = core.unwrap().split_whitespace().skip(4).take(2).collect();
    assert_eq!(values, ["0", "0"], "soft and hard");
    let process = served.id().to_string();
    let signalled = std::process::Command::new("kill")
        .args(["-ABRT", &process])
        .status();
    assert!(signalled.unwrap().success());
    assert!(wire.ends_within(std::time::Duration::from_secs(10)));
    served.kill();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(Result::unwrap).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(
        files(&home.path())
            .iter()
            .all(|file| !file.ends_with("core"))
    );
}

#[test]
fn a_refused_start_does_not_tell_the_password() {
    let home = Home::demo();
    let path = home.path().join("root.password");
    let password = fs::read_to_string(&path).unwrap();
    let canary = Canary::new("the password", password.trim().as_bytes());
    let wrong = random_text();
    let canaries = [canary, Canary::new("the wrong password", wrong.as_bytes())];
    fs::write(&path, &wrong).unwrap();
    let output = Served::command(&home.path()).output().unwrap();
    assert!(!output.status.success() && !output.stderr.is_empty());
    for canary in &canaries {
        assert!(!canary.is_in(&output.stderr) && !canary.is_in(&output.stdout));
    }
}

#[test]
fn files_with_secrets_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::start();
    seal(
        &mut site.wire(TRADING, Protocol::Http2),
        EXCHANGE,
        b"x",
        b"",
    );
    let check = |home: &Home| {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for folder in [
            home.path(),
            home.path().join("audit"),
            home.path().join("clients"),
        ] {
            assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        }
        for file in files(&home.path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let public =
                name.ends_with(".pem") || name.ends_with(".toml") || name.ends_with(".txt");
            let others = mode(&file) & 0o077;
            assert!(
                others == 0 || (public && others & 0o022 == 0),
                "{name}: {:o}",
                mode(&file)
            );
        }
    };
    check(&site.home);
    check(&site.stop());
}
