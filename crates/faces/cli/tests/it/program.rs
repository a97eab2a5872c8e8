//! Running the binary: once, or as a server that always ends; homes and files for it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::schema::fits;
use keywright_client::{Error, Settings, blocking};
use keywright_clock::Clock;
use keywright_home::{Contents, Profile};
use keywright_tls::{ClientIdentity, Protocol, client_config};
use serde_json::Value;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        documents(&output.stdout);
        Self::read(output)
    }

    pub(crate) fn read(output: Output) -> Self {
        let ended = Self {
            code: output.status.code().expect("ended by itself"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        let said = [&ended.stdout[..], ended.stderr.as_bytes()].concat();
        let own = concat!(
            "keywright-bench is not installed beside ",
            env!("CARGO_BIN_EXE_keywright")
        );
        assert!(
            !String::from_utf8_lossy(&said).contains(own),
            "these tests start keywright-bench: cargo build --locked -p keywright-bench"
        );
        ended
    }

    /// Demands success and gives what was printed.
    #[track_caller]
    pub(crate) fn bytes(self) -> Vec<u8> {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn text(self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// Demands success and a document with a schema version.
    #[track_caller]
    pub(crate) fn document(self) -> Value {
        let text = self.text();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema_version"], 1, "{text}");
        document
    }

    /// Demands a failure in two lines on standard error, and nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, happened: &str, advice: &str) {
        let lines: Vec<_> = self.stderr.lines().collect();
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(lines.len(), 2, "{self:?}");
        assert!(
            lines[0].starts_with("error: ") && lines[0].contains(happened),
            "{self:?}"
        );
        assert!(
            lines[1].starts_with("help: ") && lines[1].contains(advice),
            "{self:?}"
        );
        assert!(self.stdout.is_empty(), "{self:?}");
    }

    /// Demands a failure as one document, and gives its error.
    #[track_caller]
    pub(crate) fn error(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        let mut document: Value = serde_json::from_slice(&self.stdout).unwrap();
        assert_eq!(document["schema_version"], 1, "{self:?}");
        let error = document["error"].take();
        assert_eq!(error["exit"], code, "{self:?}");
        assert!(
            error["message"].is_string() && error["advice"].is_string(),
            "{self:?}"
        );
        error
    }
}

/// The file that describes a command's documents; words that name no command have those that all have in common.
pub(crate) fn schema_file(command: &str) -> PathBuf {
    let name = if command == "hsm" {
        "envelope"
    } else {
        command
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/hsm/schemas");
    folder.join(format!("{name}.json"))
}

/// The schema of a command's documents.
pub(crate) fn schema(command: &str) -> Value {
    let path = schema_file(command);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// Demands that what the program printed fits its schema, if it is a document of an `hsm` command.
#[track_caller]
pub(crate) fn documents(stdout: &[u8]) {
    // Only what can be one is read: outputs may be large.
    if !stdout.starts_with(b"{") || stdout.len() > 16 << 20 {
        return;
    }
    let Ok(document) = serde_json::from_slice::<Value>(stdout) else {
        return;
    };
    let name = document["schema"].as_str().unwrap_or_default();
    if let Some(command) = name.strip_prefix("keywright.hsm.") {
        let fitting = fits(&schema(command), &document);
        assert_eq!(fitting, Ok(()), "{document}");
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keywright"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary with nothing to read.
pub(crate) fn keywright(words: &[&str]) -> Ended {
    Ended::of(program().args(words).spawn().unwrap())
}

/// Runs the binary with `input` to read.
pub(crate) fn keywright_reading(words: &[&str], input: &[u8]) -> Ended {
    let mut child = program().args(words).stdin(Stdio::piped()).spawn().unwrap();
    let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_vec());
    // On a thread of its own: the program may write before it has read everything, or not read at all.
    let writing = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let ended = Ended::of(child);
    writing.join().unwrap();
    ended
}

/// Runs the binary, reads `count` bytes of its output and closes the pipe.
pub(crate) fn keywright_read_partly(words: &[&str], count: usize) -> Ended {
    let mut child = program().args(words).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut stdout, &mut vec![0; count]).unwrap();
    drop(stdout);
    Ended::of(child)
}

/// A folder for homes and files, removed at the end.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path in it, as a word of a command.
    pub(crate) fn name(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path().join(name), bytes).unwrap();
        self.name(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        self.path()
            .join(name)
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    }

    /// The names of the files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.path().read_dir().unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A home with two contexts and two clients, and room for files beside it.
pub(crate) struct Home {
    pub(crate) folder: Folder,
    pub(crate) home: String,
}

/// Made once, copied for each test: making keys takes longer than most tests.
static DEMO: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    keywright_home::create(&home, Contents::Demo, Profile::Fast, &Clock::system()).unwrap();
    folder
});

impl Home {
    pub(crate) fn demo() -> Self {
        let folder = Folder::new();
        copy(&DEMO.path().join("home"), &folder.path().join("home"));
        let home = folder.name("home");
        Self { folder, home }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.home).join(name)
    }

    pub(crate) fn word(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// `keywright admin --home HOME ...`
    pub(crate) fn admin(&self, words: &[&str]) -> Ended {
        keywright(&[&["admin", "--home", &self.home], words].concat())
    }

    pub(crate) fn audit(&self, words: &[&str]) -> Ended {
        keywright(&[&["audit"], words, &["--home", &self.home]].concat())
    }

    pub(crate) fn serve(&self) -> Server {
        Server::start(&self.home)
    }

    /// Words by which a client of this home calls a server of it.
    pub(crate) fn of<'a>(&'a self, client: &'a str, url: &'a str) -> Vec<&'a str> {
        vec!["--home", &self.home, "--client", client, "--url", url]
    }
}

impl Home {
    /// A client in this process, for what one call of the binary cannot show.
    pub(crate) fn connected(&self, name: &str, url: &str) -> Result<blocking::Client, Error> {
        let read = |file: &str| std::fs::read(self.path(file)).unwrap();
        let certificate = read(&format!("clients/{name}.pem"));
        let key = read(&format!("clients/{name}.key"));
        let identity = ClientIdentity::from_pem(&certificate, &key).unwrap();
        let clock = Clock::system();
        let tls =
            client_config(&read("ca.pem"), Some(identity), &[Protocol::Http2], &clock).unwrap();
        blocking::Client::connect(Settings::new(url, tls).unwrap())
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, from.metadata().unwrap().permissions()).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            // Keeps the mode, which the password file needs.
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A running server; told to end and waited for when it is dropped, also by a failed test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    fn start(home: &str) -> Self {
        let words = ["serve", "--home", home, "--listen", "127.0.0.1:0"];
        let mut child = program().args(words).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let server = Self {
            child,
            url: line.trim().replace("listening on ", ""),
        };
        assert!(server.url.starts_with("https://127.0.0.1:"), "{line:?}");
        server
    }

    /// Ends it in order and demands that it says so.
    pub(crate) fn stop(self) {
        self.terminate();
        self.ended_well();
    }

    /// Waits for the end of one that was told to end, and demands that it says so.
    pub(crate) fn ended_well(mut self) {
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn terminate(&self) {
        signal("TERM", self.child.id());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.terminate();
        if !eventually(|| self.child.try_wait().is_ok_and(|ended| ended.is_some())) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// Sends a signal to a process that a test has started.
pub(crate) fn signal(name: &str, id: u32) {
    let order = format!("kill -{name} {id} 2>/dev/null");
    drop(
        Command::new("sh")
            .args([OsStr::new("-c"), OsStr::new(&order)])
            .status(),
    );
}

/// Whether something comes true within a while.
#[expect(
    clippy::disallowed_methods,
    reason = "waits for other processes, which live in real time"
)]
pub(crate) fn eventually(mut is_true: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(120) {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
