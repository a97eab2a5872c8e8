//! A token of each kind, the binary, and OpenSC's `pkcs11-tool` and OpenSSL as judges.

use std::process::Command;

use keywright_tokens::{SO_PIN, Store, USER_PIN};
use serde_json::Value;

use crate::program::{Ended, Folder, keywright, keywright_reading};

/// A store with a token, and a folder for what goes in and comes out.
pub(crate) struct Scene<'s> {
    pub(crate) store: &'s Store,
    pub(crate) folder: Folder,
    pub(crate) module: String,
    pin: String,
    so_pin: String,
}

impl<'s> Scene<'s> {
    pub(crate) fn new(store: &'s Store) -> Self {
        let folder = Folder::new();
        let secret = |name: &str, pin: &str| {
            let path = folder.write(name, format!("{pin}\n"));
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, mode).unwrap();
            path
        };
        Self {
            module: store.tokens()[0].module().to_str().unwrap().to_owned(),
            pin: secret("pin", USER_PIN),
            so_pin: secret("so-pin", SO_PIN),
            store,
            folder,
        }
    }

    /// `keywright hsm ...` on this module, with no token and no PIN named.
    pub(crate) fn bare(&self, words: &[&str]) -> Ended {
        keywright(&[&["hsm"], words, &["--module", &self.module]].concat())
    }

    /// The same on the token, as nobody.
    pub(crate) fn public(&self, words: &[&str]) -> Ended {
        self.bare(&[words, &["--label", "keywright"]].concat())
    }

    /// The same as the user.
    pub(crate) fn user(&self, words: &[&str]) -> Ended {
        self.public(&[words, &["--pin-file", &self.pin]].concat())
    }

    /// The same with something to read.
    pub(crate) fn user_reading(&self, words: &[&str], input: &[u8]) -> Ended {
        let more = [
            "--module",
            &self.module,
            "--label",
            "keywright",
            "--pin-file",
            &self.pin,
        ];
        keywright_reading(&[&["hsm"], words, &more].concat(), input)
    }

    /// With the files of both PINs.
    pub(crate) fn officer(&self, words: &[&str]) -> Ended {
        self.bare(&[words, &["--so-pin-file", &self.so_pin]].concat())
    }

    pub(crate) fn pin_file(&self) -> &str {
        &self.pin
    }

    /// Demands success, and gives what stands in `data`.
    #[track_caller]
    pub(crate) fn data(&self, words: &[&str]) -> Value {
        data(&self.user(&[words, &["--json"]].concat()))
    }

    /// Whether the token has a mechanism.
    pub(crate) fn has(&self, name: &str) -> bool {
        let listed = data(&self.public(&["list-mechanisms", "--json"]));
        let all = listed["mechanisms"].as_array().unwrap();
        all.iter().any(|one| one["name"] == name)
    }

    /// `pkcs11-tool` as the user; demands success.
    #[track_caller]
    pub(crate) fn judge(&self, words: &[&str]) -> String {
        let mut tool = self.store.pkcs11_tool("keywright").unwrap();
        tool.args(["--login", "--pin", USER_PIN]).args(words);
        succeed(&mut tool)
    }

    /// A file in the folder as a word, with these bytes.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        self.folder.write(name, bytes)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.folder.name(name)
    }
}

/// OpenSSL; demands success.
#[track_caller]
pub(crate) fn openssl(words: &[&str]) -> String {
    succeed(Command::new("openssl").args(words))
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// The one document that a command printed, with what each must have.
#[track_caller]
pub(crate) fn document(ended: &Ended) -> Value {
    crate::program::documents(&ended.stdout);
    let document: Value =
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let command = document["command"].as_str().unwrap();
    assert_eq!(document["schema"], format!("keywright.hsm.{command}"));
    assert_eq!(document["schema_version"], "1.0");
    assert_eq!(
        document["status"],
        if ended.code == 0 { "ok" } else { "error" },
        "{document}"
    );
    assert!(document["warnings"].is_array());
    document
}

#[track_caller]
pub(crate) fn data(ended: &Ended) -> Value {
    assert_eq!(ended.code, 0, "{}", String::from_utf8_lossy(&ended.stdout));
    document(ended)["data"].take()
}

/// Demands a failure as one document with this exit code and return code, and gives its error.
#[track_caller]
pub(crate) fn error(ended: &Ended, exit: i32, code: Option<&str>) -> Value {
    assert_eq!(ended.code, exit, "{ended:?}");
    let mut document = document(ended);
    let error = document["error"].take();
    assert_eq!(error["exit"], exit, "{error}");
    assert_eq!(error["code"].as_str(), code, "{error}");
    assert_eq!(error["explain"].is_string(), code.is_some(), "{error}");
    error
}

/// Demands a failure in two lines that says this, and nothing on standard output.
#[track_caller]
pub(crate) fn refused(ended: &Ended, exit: i32, happened: &str) {
    assert_eq!(ended.code, exit, "{ended:?}");
    let lines: Vec<_> = ended
        .stderr
        .lines()
        .filter(|line| !line.starts_with("warning: "))
        .collect();
    assert_eq!(lines.len(), 2, "{ended:?}");
    assert!(
        lines[0].starts_with("error: ") && lines[0].contains(happened),
        "{ended:?}"
    );
    assert!(lines[1].starts_with("help: "), "{ended:?}");
    assert!(ended.stdout.is_empty(), "{ended:?}");
    if lines[0].contains("failed with CKR_") {
        assert!(
            lines[1].contains("keywright hsm explain-error 0x"),
            "{ended:?}"
        );
    }
}
