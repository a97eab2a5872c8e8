//! A store of tokens for one test.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "fixtures: a failure here fails the test that asked for it"
)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::kind::{Kind, Missing, PKCS11_TOOL, SOFTHSM2_UTIL};

/// The PIN of the security officer of every token made here.
pub const SO_PIN: &str = "officer-8765";
/// The PIN of the user. Kryoptic announces a minimum of 8.
pub const USER_PIN: &str = "user-1234";

/// A token in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    kind: Kind,
    module: PathBuf,
    label: String,
}

impl Token {
    /// Of which kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The module to load.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// By which it is found: slot numbers are not stable.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The PIN of the security officer.
    #[must_use]
    pub fn so_pin(&self) -> &'static str {
        SO_PIN
    }

    /// The PIN of the user.
    #[must_use]
    pub fn user_pin(&self) -> &'static str {
        USER_PIN
    }
}

/// A folder with initialised tokens of one kind and the configuration that leads there; gone when the store
/// is. Beside the initialised tokens there is always one slot with a token that is not.
#[derive(Debug)]
pub struct Store {
    kind: Kind,
    module: PathBuf,
    labels: Vec<String>,
    folder: PathBuf,
    /// Only in the process that made it.
    _owned: Option<TempDir>,
}

impl Store {
    /// A store with one initialised token for each label.
    ///
    /// # Errors
    /// [`Missing`] if such tokens are not installed.
    ///
    /// # Panics
    /// If the token's own program cannot initialise one.
    pub fn new(kind: Kind, labels: &[&str]) -> Result<Self, Missing> {
        let module = kind.module()?;
        let owned = tempfile::Builder::new()
            .prefix("keywright-token-")
            .tempdir()
            .expect("a temporary folder");
        let store = Self {
            kind,
            module,
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            folder: owned.path().to_path_buf(),
            _owned: Some(owned),
        };
        store.configure();
        for (label, slot) in labels.iter().zip(1_u32..) {
            store.initialise(label, slot);
        }
        fs::write(store.folder.join(LABELS), labels.join("\n")).expect("the labels are kept");
        Ok(store)
    }

    /// The store that another process has made and keeps.
    pub(super) fn attached(kind: Kind, folder: &Path) -> Self {
        let labels = fs::read_to_string(folder.join(LABELS)).expect("the labels of the store");
        Self {
            kind,
            module: kind.module().expect("the token that the store is for"),
            labels: labels.lines().map(str::to_owned).collect(),
            folder: folder.to_path_buf(),
            _owned: None,
        }
    }

    /// The same with another module in front of its own.
    pub(super) fn through(self, module: &Path) -> Self {
        Self {
            module: module.to_path_buf(),
            ..self
        }
    }

    /// Of which kind its tokens are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The initialised tokens, in the order of the labels they were made with.
    #[must_use]
    pub fn tokens(&self) -> Vec<Token> {
        let token = |label: &String| Token {
            kind: self.kind,
            module: self.module.clone(),
            label: label.clone(),
        };
        self.labels.iter().map(token).collect()
    }

    /// The configuration file. A test may write to it before it loads the module.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("token.conf")
    }

    /// A folder that lives as long as the store, for what a test writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The variable that leads a process to this store, and its value.
    #[must_use]
    pub fn environment(&self) -> (&'static str, PathBuf) {
        (self.kind.variable(), self.configuration())
    }

    /// A program that will find this store when it loads the module.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let (variable, value) = self.environment();
        let mut command = Command::new(program);
        command.env(variable, value).stdin(Stdio::null());
        command
    }

    /// `pkcs11-tool` of OpenSC on the token with this label, the judge that is not ours; without a login.
    ///
    /// # Errors
    /// [`Missing`] without that program.
    pub fn pkcs11_tool(&self, label: &str) -> Result<Command, Missing> {
        if !super::kind::runs(PKCS11_TOOL) {
            return Err(Missing::new("no pkcs11-tool of the package opensc"));
        }
        let mut command = self.command(PKCS11_TOOL);
        command
            .arg("--module")
            .arg(&self.module)
            .args(["--token-label", label]);
        Ok(command)
    }

    /// Takes the tokens' data away, as if the device were pulled: SoftHSM's folder gets another name,
    /// Kryoptic's files are emptied in place, so that connections which are open lose it as well. What an
    /// application sees is for the token to say. [`put_back`](Self::put_back) undoes it.
    pub fn take_away(&self) {
        match self.kind {
            Kind::SoftHsm => fs::rename(self.folder.join(TOKENS), self.folder.join(AWAY)),
            Kind::Kryoptic => fs::create_dir(self.folder.join(AWAY)).and_then(|()| {
                self.databases().iter().try_for_each(|file| {
                    fs::copy(file, self.away(file))?;
                    fs::OpenOptions::new().write(true).open(file)?.set_len(0)
                })
            }),
        }
        .expect("the tokens are taken away");
    }

    /// Puts back what [`take_away`](Self::take_away) took, with nothing changed.
    pub fn put_back(&self) {
        match self.kind {
            Kind::SoftHsm => fs::rename(self.folder.join(AWAY), self.folder.join(TOKENS)),
            Kind::Kryoptic => self
                .databases()
                .iter()
                .try_for_each(|file| fs::write(file, fs::read(self.away(file))?))
                .and_then(|()| fs::remove_dir_all(self.folder.join(AWAY))),
        }
        .expect("the tokens are put back");
    }

    fn databases(&self) -> Vec<PathBuf> {
        let slots = (1_u32..).take(self.labels.len());
        slots.map(|slot| self.database(slot)).collect()
    }

    fn database(&self, slot: u32) -> PathBuf {
        self.folder.join(TOKENS).join(format!("{slot}.sql"))
    }

    fn away(&self, file: &Path) -> PathBuf {
        self.folder
            .join(AWAY)
            .join(file.file_name().expect("a file in a folder"))
    }

    fn configure(&self) {
        let tokens = self.folder.join(TOKENS);
        fs::create_dir(&tokens).expect("a folder for the tokens");
        let mut text = String::new();
        match self.kind {
            Kind::SoftHsm => {
                text.push_str("objectstore.backend = file\nlog.level = ERROR\n");
                writeln!(text, "directories.tokendir = {}", tokens.display()).expect("text");
            }
            Kind::Kryoptic => {
                for slot in (1_u32..).take(self.labels.len() + 1) {
                    let file = self.database(slot);
                    let file = file.display();
                    writeln!(text, "[[slots]]\nslot = {slot}").expect("text");
                    writeln!(text, "dbtype = \"sqlite\"\ndbargs = \"{file}\"").expect("text");
                }
            }
        }
        fs::write(self.configuration(), text).expect("the configuration is written");
    }

    fn initialise(&self, label: &str, slot: u32) {
        match self.kind {
            Kind::SoftHsm => {
                let mut command = self.command(SOFTHSM2_UTIL);
                command.arg("--module").arg(&self.module);
                command.args(["--init-token", "--free", "--label", label]);
                done(command.args(["--so-pin", SO_PIN, "--pin", USER_PIN]));
            }
            Kind::Kryoptic => {
                let slot = slot.to_string();
                for what in [
                    ["--init-token", "--label", label].as_slice(),
                    &[
                        "--init-pin",
                        "--login",
                        "--login-type",
                        "so",
                        "--new-pin",
                        USER_PIN,
                    ],
                ] {
                    let mut command = self.command(PKCS11_TOOL);
                    command.arg("--module").arg(&self.module).args(what);
                    done(command.args(["--slot", &slot, "--so-pin", SO_PIN]));
                }
            }
        }
    }
}

const LABELS: &str = "labels";
const TOKENS: &str = "tokens";
const AWAY: &str = "tokens-away";

/// Runs a program that must succeed.
fn done(command: &mut Command) {
    let output = command.output().expect("the program runs");
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        panic!("{:?} failed: {text}", command.get_program());
    }
}
