//! What the program does when its streams take nothing and the system gives little: messages are lost, work is not.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Folder, Home, eventually, keywright, program, signal};

/// A file that takes nothing, as a full disk does.
fn full() -> Stdio {
    let file: File = OpenOptions::new().write(true).open("/dev/full").unwrap();
    file.into()
}

/// The end of a pipe whose other end is closed.
fn broken_pipe() -> Stdio {
    let (here, there) = UnixStream::pair().unwrap();
    drop(there);
    OwnedFd::from(here).into()
}

/// The program with its standard error closed.
fn closed() -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" \"$@\" 2>&-"])
        .arg(env!("CARGO_BIN_EXE_keywright"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The names of the commands below `path`, from its help.
fn commands_below(path: &[String]) -> Vec<String> {
    let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
    words.push("--help");
    let help = keywright(&words).text();
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    // A long description goes on in a line that is indented further.
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn commands_end_with_their_status_when_standard_error_takes_nothing() {
    let mut waiting = vec![Vec::new()];
    let mut tried = 0;
    while let Some(path) = waiting.pop() {
        let below = commands_below(&path);
        waiting.extend(below.into_iter().map(|name| {
            let mut deeper = path.clone();
            deeper.push(name);
            deeper
        }));
        let mut words = path.clone();
        words.push("--no-such-flag".to_owned());
        let ended = program().args(&words).stderr(full()).status().unwrap();
        assert_eq!(ended.code(), Some(2), "{words:?}");
        tried += 1;
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn a_failure_keeps_its_status_whatever_standard_error_is() {
    let words = ["audit", "verify", "--home", "/no/such/home"];
    let expected = Some(keywright(&words).code);
    for stderr in [full(), broken_pipe()] {
        let ended = program().args(words).stderr(stderr).status().unwrap();
        assert_eq!(ended.code(), expected);
    }
    let ended = closed().args(words).status().unwrap();
    assert_eq!(ended.code(), expected);
}

/// Serves a home, reloads it and ends it, with standard error as it is in `command`.
fn serves_and_ends(home: &Home, mut command: Command) {
    command.args(["serve", "--home", &home.home, "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let url = line.trim().replace("listening on ", "");
    assert!(url.starts_with("https://"), "{line:?}");
    let health = || {
        let words = home.of("trading-1", &url);
        keywright(&[&["client", "health"], &words[..]].concat())
    };
    assert_eq!(health().code, 0);
    // Each reload is an event that cannot be written.
    for _ in 0..3 {
        signal("HUP", child.id());
    }
    assert_eq!(health().code, 0);
    signal("TERM", child.id());
    assert!(eventually(|| child.try_wait().unwrap().is_some()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_service_goes_on_when_its_log_takes_nothing() {
    let home = Home::demo();
    let with = |stderr: Stdio| {
        let mut command = program();
        command.stderr(stderr);
        command
    };
    serves_and_ends(&home, with(full()));
    serves_and_ends(&home, with(broken_pipe()));
    serves_and_ends(&home, closed());
}

/// A user that has no other process, so that a limit on processes is a limit on the threads of one.
const LONE_USER: &str = "61357";

/// Whether this is root, who can become that user; else the test is counted as skipped.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
fn may_become_another_user(test: &str) -> bool {
    let user = Command::new("id").arg("-u").output().unwrap();
    let is_root = user.stdout == b"0\n";
    if !is_root {
        eprintln!("skipped: a limit on threads needs a user without other processes, and so root");
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let name = format!("cli-threads-{test}");
            std::fs::write(Path::new(&folder).join(name), "0 0 1\n").unwrap();
        }
    }
    is_root
}

/// Makes a file with many rows, and what protects it, in a folder that every user may use.
fn many_rows() -> (Folder, Vec<String>) {
    let folder = Folder::new();
    let mut rows = String::from("card,note\n");
    for row in 0..60_000 {
        rows.push_str(&format!("4{row:015},a note of some length for row {row}\n"));
    }
    let rules = "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\n";
    let words = [
        "protect".to_owned(),
        folder.write("in.csv", rows),
        "--rules".to_owned(),
        folder.write("rules.toml", rules),
        "--key-file".to_owned(),
        folder.write("key", "11".repeat(32)),
        "--threads".to_owned(),
        "4".to_owned(),
        "--out".to_owned(),
    ];
    std::fs::copy(env!("CARGO_BIN_EXE_keywright"), folder.name("program")).unwrap();
    for (name, mode) in [("", 0o777), ("key", 0o600), ("program", 0o755)] {
        let mode = PermissionsExt::from_mode(mode);
        std::fs::set_permissions(folder.name(name), mode).unwrap();
    }
    std::os::unix::fs::chown(folder.name("key"), LONE_USER.parse().ok(), None).unwrap();
    (folder, words.to_vec())
}

#[test]
fn files_are_protected_when_the_system_gives_no_thread() {
    if !may_become_another_user("files") {
        return;
    }
    let (folder, words) = many_rows();
    let protect = |out: &str, limits: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", LONE_USER, "--clear-groups", "prlimit"]);
        command.args(limits).arg(folder.name("program"));
        let ended = command.args(&words).arg(folder.name(out)).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{limits:?} {said}");
        folder.read(out)
    };
    let expected = protect("free.csv", &["--core=0"]);
    for (out, limits) in [
        ("threads.csv", "--nproc=1"),
        ("descriptors.csv", "--nofile=24"),
        ("memory.csv", "--as=1073741824"),
    ] {
        assert_eq!(protect(out, &[limits]), expected, "{limits}");
    }
    let left = folder.names();
    let debris = |name: &&String| name.ends_with(".part") || name.ends_with(".journal");
    assert_eq!(left.iter().find(debris), None);
}

#[test]
fn a_service_that_gets_no_thread_says_so() {
    if !may_become_another_user("service") {
        return;
    }
    let home = Home::demo();
    let program = home.folder.name("program");
    std::fs::copy(env!("CARGO_BIN_EXE_keywright"), &program).unwrap();
    let owner = format!("{LONE_USER}:{LONE_USER}");
    let owned = Command::new("chown")
        .args(["-R", &owner, home.folder.path().to_str().unwrap()])
        .status();
    assert!(owned.unwrap().success());
    let ended = Command::new("setpriv")
        .args([
            "--reuid",
            LONE_USER,
            "--clear-groups",
            "prlimit",
            "--nproc=1",
        ])
        .args([&program, "serve", "--home", &home.home])
        .args(["--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.lines().any(|line| line.starts_with("error: ")),
        "{said}"
    );
    assert!(
        said.lines().any(|line| line.starts_with("help: ")),
        "{said}"
    );
    assert!(!said.contains("panicked"), "{said}");
    // Nothing is wrong with the store, so nobody is told to replace it.
    assert!(!said.contains("backup"), "{said}");
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let folder = Folder::new();
    let password = folder.write("password", "correct horse battery staple");
    std::fs::set_permissions(&password, PermissionsExt::from_mode(0o600)).unwrap();
    let (seed, pair) = (folder.name("seed"), folder.name("pair"));
    let new = [
        "hd",
        "seed",
        "new",
        "--password-file",
        &password,
        "--profile",
        "fast",
    ];
    let new = [&new[..], &["--export", "plain", "--out", &seed]].concat();
    let commands: [&[&str]; 9] = [
        &new,
        &["seal", "keygen", "--kem", "x25519", "--out", &pair],
        &["format", "list"],
        &["bench", "list", "ops"],
        &["hsm", "explain-error", "5"],
        &["session", "demo"],
        &["completions", "bash"],
        &[
            "lock",
            "--input",
            &password,
            "--password-file",
            &password,
            "--profile",
            "fast",
        ],
        &["fpe", "--help"],
    ];
    for words in commands {
        let closed: &[&str] = if words == new {
            // Its result cannot be had again.
            &["exec \"$0\" \"$@\" >&-", "exec \"$0\" \"$@\" >/dev/null"]
        } else {
            &[]
        };
        for how in [closed, &["exec \"$0\" \"$@\" >/dev/full"]].concat() {
            for made in [&seed, &pair] {
                drop(std::fs::remove_file(made));
            }
            let ended = Command::new("sh")
                .args(["-c", how])
                .arg(env!("CARGO_BIN_EXE_keywright"))
                .args(words)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            let code = if how.ends_with("full") { 1 } else { 2 };
            assert_eq!(ended.status.code(), Some(code), "{how} {words:?}: {said}");
            assert!(
                said.contains("error: standard output "),
                "{words:?}: {said}"
            );
        }
    }
}
