//! Other people's applications through the recorder: OpenSSL with its engine for PKCS#11, and Java's own provider.
//! What they say and make is the same with and without it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use keywright_tokens::{Kind, Store, USER_PIN};

use crate::caller;

/// With the recorder in front of the token's module, or without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Recorded,
}

impl Way {
    const BOTH: [Self; 2] = [Self::Plain, Self::Recorded];

    fn module(self, store: &Store) -> PathBuf {
        match self {
            Self::Plain => store.kind().module().unwrap(),
            Self::Recorded => caller::recorder(),
        }
    }
}

fn log(store: &Store) -> PathBuf {
    store.folder().join("calls.jsonl")
}

fn skipped(what: &str) {
    drop(std::io::stderr().write_all(format!("skipped: {what}\n").as_bytes()));
}

fn on_each(work: impl Fn(&Store)) {
    for kind in Kind::ALL {
        match Store::new(kind, &["keywright"]) {
            Ok(store) => work(&store),
            Err(missing) => skipped(&format!("{missing}: applications on {}", kind.name())),
        }
    }
}

fn command(store: &Store, program: &str) -> Command {
    let mut command = store.command(program);
    command
        .env("KEYWRIGHT_P11_TARGET", Way::Plain.module(store))
        .env("KEYWRIGHT_P11_LOG", log(store));
    command
}

#[track_caller]
fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        caller::said(&output)
    );
    output
}

/// A key that others made, by OpenSC's tool and without the recorder.
fn make(store: &Store, kind: &str, label: &str) {
    let mut tool = store.pkcs11_tool("keywright").unwrap();
    let id = "07";
    tool.args([
        "--login",
        "--pin",
        USER_PIN,
        "--keypairgen",
        "--key-type",
        kind,
    ]);
    succeed(tool.args(["--label", label, "--id", id]));
}

/// The functions that the log of a store names.
fn functions(store: &Store) -> Vec<String> {
    let records = caller::records(&log(store));
    records.iter().map(|one| one.func.to_string()).collect()
}

fn never_in(path: &Path, secret: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(!text.contains(secret));
}

#[test]
fn openssl_signs_through_the_recorder_as_without_it() {
    let engine = Command::new("openssl")
        .args(["engine", "-t", "pkcs11"])
        .output();
    let there = |output: Output| String::from_utf8_lossy(&output.stdout).contains("[ available ]");
    if !engine.is_ok_and(there) {
        return skipped("no engine for PKCS#11 of the package libengine-pkcs11-openssl");
    }
    on_each(|store| {
        make(store, "rsa:2048", "signer");
        let folder = store.folder();
        let message = folder.join("message");
        std::fs::write(&message, b"a message").unwrap();
        let key = format!("pkcs11:token=keywright;object=signer;type=private;pin-value={USER_PIN}");
        let sign = |way: Way, name: &str| {
            let out = folder.join(name);
            let mut openssl = command(store, "openssl");
            openssl.env("PKCS11_MODULE_PATH", way.module(store));
            openssl.args(["dgst", "-sha256", "-engine", "pkcs11", "-keyform", "engine"]);
            openssl
                .args(["-sign", &key, "-out"])
                .arg(&out)
                .arg(&message);
            let ended = openssl.output().unwrap();
            (ended.status.code(), std::fs::read(out).ok())
        };
        let [plain, recorded] = [sign(Way::Plain, "plain"), sign(Way::Recorded, "recorded")];
        assert_eq!(
            plain, recorded,
            "PKCS#1 v1.5 signs a message in one way only"
        );
        // Kryoptic's own OpenSSL takes the engine for its own, and fails with and without the recorder.
        if store.kind() == Kind::Kryoptic {
            return;
        }
        assert_eq!(plain.0, Some(0));
        let functions = functions(store);
        for function in ["C_Initialize", "C_Login", "C_FindObjects"] {
            assert!(functions.iter().any(|one| one == function), "{function}");
        }
        assert!(
            functions
                .iter()
                .any(|one| one == "C_Sign" || one == "C_SignFinal")
        );
        never_in(&log(store), USER_PIN);
        // A wrong PIN is refused alike.
        let wrong = key.replace(USER_PIN, "not-the-pin");
        let refused = Way::BOTH.map(|way| {
            let mut openssl = command(store, "openssl");
            openssl.env("PKCS11_MODULE_PATH", way.module(store));
            openssl.args(["dgst", "-sha256", "-engine", "pkcs11", "-keyform", "engine"]);
            openssl.args(["-sign", &wrong]).arg(&message);
            openssl.output().unwrap().status.code()
        });
        assert_ne!(refused[0], Some(0));
        assert_eq!(refused[0], refused[1]);
    });
}

/// `keytool` of Java on the token.
fn keytool(store: &Store, way: Way, words: &[&str]) -> Output {
    let configuration = store
        .folder()
        .join(format!("java-{}.cfg", way == Way::Plain));
    let module = way.module(store);
    let text = format!(
        "name = Token\nlibrary = {}\nslotListIndex = 0\n",
        module.display()
    );
    std::fs::write(&configuration, text).unwrap();
    let mut keytool = command(store, "keytool");
    keytool
        .args(["-J-Duser.language=en", "-J-XX:TieredStopAtLevel=1"])
        .args(words);
    keytool.args(["-storetype", "PKCS11", "-storepass", USER_PIN]);
    keytool
        .args(["-addprovider", "SunPKCS11", "-providerArg"])
        .arg(configuration);
    keytool.output().unwrap()
}

#[test]
fn java_keeps_and_uses_keys_through_the_recorder_as_without_it() {
    if Command::new("keytool").arg("-help").output().is_err() {
        return skipped("no keytool of a Java run-time");
    }
    on_each(|store| {
        let generated = Way::BOTH.map(|way| {
            let alias = if way == Way::Plain {
                "plain"
            } else {
                "recorded"
            };
            let words = [
                "-genkeypair",
                "-keyalg",
                "RSA",
                "-keysize",
                "2048",
                "-sigalg",
                "SHA256withRSA",
                "-dname",
                "CN=test",
                "-alias",
                alias,
            ];
            let output = keytool(store, way, &words);
            (output.status.success(), steady(&output))
        });
        assert_eq!(generated[0], generated[1]);
        if store.kind() == Kind::SoftHsm {
            assert!(generated[0].0, "{}", generated[0].1);
        }
        for words in [
            &["-list"][..],
            &["-list", "-alias", "plain"],
            &["-certreq", "-alias", "recorded", "-sigalg", "SHA256withRSA"],
            &["-certreq", "-alias", "plain", "-sigalg", "SHA384withRSA"],
            &["-list", "-alias", "none"],
        ] {
            let [plain, recorded] = Way::BOTH.map(|way| keytool(store, way, words));
            assert_eq!(plain.status.code(), recorded.status.code(), "{words:?}");
            assert_eq!(steady(&plain), steady(&recorded), "{words:?}");
        }
        never_in(&log(store), USER_PIN);
        if store.kind() == Kind::SoftHsm {
            let functions = functions(store);
            // Some versions of Java make the pair themselves and bring it into the token.
            let made = ["C_GenerateKeyPair", "C_CreateObject"];
            assert!(
                functions.iter().any(|one| made.contains(&one.as_str())),
                "{functions:?}"
            );
        }
    });
}

/// What was said, without the names of aliases and in the order of its lines: a token may list objects in another
/// order each time.
fn steady(output: &Output) -> String {
    let text = caller::said(output);
    let text = text
        .replace("recorded", "plain")
        .replace("java-false", "java-true");
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}
