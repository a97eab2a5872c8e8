//! Words that `keywright-bench` carries out: which program is started, with what, and what is said where there is none.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Ended, Folder};

/// Says what it was started with.
const ECHO: &str = "#!/bin/sh\necho \"$KEYWRIGHT_DISPATCH: $*\"\nexit 7\n";

/// The program in a folder of its own, without the other one beside it.
struct Alone {
    folder: Folder,
}

impl Alone {
    fn new() -> Self {
        let folder = Folder::new();
        std::fs::create_dir(folder.name("bin")).unwrap();
        let (from, to) = (
            env!("CARGO_BIN_EXE_keywright"),
            folder.name("bin/keywright"),
        );
        // A link where both are on one file system.
        if std::fs::hard_link(from, &to).is_err() {
            std::fs::copy(from, &to).unwrap();
        }
        Self { folder }
    }

    fn plant(&self, name: &str, mode: u32) {
        let path = self.folder.name(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, ECHO).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.folder.name("bin/keywright"));
        command.args(words).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Ended::read(self.command(words).output().unwrap())
    }
}

#[test]
fn each_word_starts_the_program_beside_this_one_with_its_version() {
    let alone = Alone::new();
    alone.plant("bin/keywright-bench", 0o755);
    let version = env!("CARGO_PKG_VERSION");
    for (words, handed_on) in [
        (&["bench", "op", "x y", "--help"][..], "op x y --help"),
        (&["benchmark", "--pin-fd", "3"], "token --pin-fd 3"),
        (&["hsm", "benchmark"], "token"),
        (&["hsm", "--json", "analyze", "-"], "--format json calls -"),
        (
            &["--format", "json", "vectors", "run", "a"],
            "--format json vectors a",
        ),
        (&["session", "demo", "--seed", "2"], "session-demo --seed 2"),
        (&["help", "bench"], "--help"),
    ] {
        let ended = alone.run(words);
        let shown = String::from_utf8(ended.stdout.clone()).unwrap();
        assert_eq!(shown, format!("{version}: {handed_on}\n"), "{words:?}");
        // It took the place of this one, so that its status is the status.
        assert_eq!(ended.code, 7, "{ended:?}");
    }
    std::fs::remove_file(alone.folder.name("bin/keywright-bench")).unwrap();
    alone.plant("libexec/keywright/keywright-bench", 0o755);
    assert_eq!(alone.run(&["bench"]).code, 7);
}

#[test]
fn a_program_of_the_path_is_never_started() {
    let alone = Alone::new();
    alone.plant("path/keywright-bench", 0o755);
    let path = format!("{}:/usr/bin:/bin", alone.folder.name("path"));
    let own = alone
        .folder
        .path()
        .canonicalize()
        .unwrap()
        .join("bin/keywright");
    let happened = format!("keywright-bench is not installed beside {}", own.display());
    let advice = "install the keywright-bench package";
    for words in [
        &["bench", "list"][..],
        &["bench", "--help"],
        &["benchmark"],
        &["hsm", "benchmark"],
        &["hsm", "analyze", "log"],
        &["vectors", "run", "."],
        &["session", "demo"],
    ] {
        let ended = Ended::read(alone.command(words).env("PATH", &path).output().unwrap());
        ended.refused(12, &happened, advice);
        let json = [&["--format", "json"], words].concat();
        let ended = Ended::read(alone.command(&json).env("PATH", &path).output().unwrap());
        assert_eq!(ended.code, 12, "{ended:?}");
        let document: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(document["error"]["message"], happened, "{words:?}");
        assert_eq!(document["error"]["exit"], 12);
    }
    // What this program does itself needs no other.
    assert!(alone.run(&["--help"]).text().contains("Measure operations"));
    assert_eq!(alone.run(&["vectors", "--help"]).code, 0);
}

#[test]
fn a_program_that_others_could_have_written_is_refused() {
    let alone = Alone::new();
    for mode in [0o775, 0o757] {
        alone.plant("bin/keywright-bench", mode);
        let ended = alone.run(&["bench", "list"]);
        ended.refused(13, &format!("(mode {mode:04o})"), "run chmod go-w ");
    }
    std::fs::remove_file(alone.folder.name("bin/keywright-bench")).unwrap();
    alone.plant("elsewhere", 0o755);
    let (elsewhere, link) = (
        alone.folder.name("elsewhere"),
        alone.folder.name("bin/keywright-bench"),
    );
    std::os::unix::fs::symlink(elsewhere, link).unwrap();
    alone
        .run(&["benchmark"])
        .refused(13, "is not a regular file", "reinstall");
}

#[test]
fn a_demonstration_without_the_other_program_shows_no_figure_and_holds() {
    let alone = Alone::new();
    let input = alone
        .folder
        .write("people.csv", "id,email\n1,a@example.com\n2,b@example.com\n");
    let words = [
        "demo",
        "--home",
        "home",
        "--input",
        &input,
        "--password-cost",
        "fast",
        "--large-file",
        "1",
        "--seconds",
        "1",
    ];
    let text = alone.run(&words).text();
    assert!(
        text.contains("      skipped: keywright-bench is not installed\n"),
        "{text}"
    );
    assert!(!text.contains("p99"), "{text}");
    assert!(text.ends_with("all steps held\n"), "{text}");
}
