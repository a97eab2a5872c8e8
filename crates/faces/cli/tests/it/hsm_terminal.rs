//! PINs that are typed: through a terminal that `script` of util-linux makes, which shows what it is given back.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use keywright_tokens::{USER_PIN, on_each};

use crate::hsm::{Scene, data};
use crate::program::Ended;

/// `keywright hsm list-objects` at a terminal, asking for a PIN, and then what `stty` says.
struct Terminal {
    child: Child,
    out: ChildStdout,
    seen: String,
}

impl Terminal {
    fn open(scene: &Scene<'_>, words: &str) -> Option<Self> {
        let program = env!("CARGO_BIN_EXE_keywright");
        let module = &scene.module;
        let line = format!(
            "{program} hsm {words} --module {module} --label keywright; echo ended=$?; stty -a"
        );
        Self::running(&line)
    }

    fn running(line: &str) -> Option<Self> {
        let mut child = Command::new("script")
            .args(["-qfc", line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let out = child.stdout.take().unwrap();
        Some(Self {
            child,
            out,
            seen: String::new(),
        })
    }

    /// Waits until this is shown.
    #[track_caller]
    fn until(&mut self, text: &str) {
        let mut bytes = [0; 256];
        while !self.seen.contains(text) {
            let count = self.out.read(&mut bytes).unwrap();
            assert!(count > 0, "ended without {text:?}: {}", self.seen);
            self.seen += &String::from_utf8_lossy(&bytes[..count]);
        }
    }

    fn type_in(&mut self, keys: &[u8]) {
        let mut terminal = self.child.stdin.as_ref().unwrap();
        terminal.write_all(keys).unwrap();
        terminal.flush().unwrap();
    }

    /// All that was shown.
    fn end(mut self) -> String {
        self.until("ended=");
        let mut rest = Vec::new();
        self.out.read_to_end(&mut rest).unwrap();
        self.child.wait().unwrap();
        self.seen + &String::from_utf8_lossy(&rest)
    }
}

/// Whether what is typed is shown and interpreted again.
#[track_caller]
fn restored(seen: &str) {
    let modes: Vec<&str> = seen
        .split(|c: char| c.is_whitespace() || c == ';')
        .collect();
    for mode in ["echo", "icanon", "isig", "iexten"] {
        assert!(modes.contains(&mode), "{mode}: {seen}");
    }
}

#[test]
fn a_typed_pin_is_not_shown_and_the_terminal_is_as_before() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut terminal) = Terminal::open(&scene, "list-objects --pin-prompt") else {
            return;
        };
        terminal.until("PIN: ");
        terminal.type_in(format!("typo\x15{USER_PIN}x\x7f\n").as_bytes());
        let seen = terminal.end();
        assert!(seen.contains("ended=0"), "{seen}");
        assert!(!seen.contains(USER_PIN) && !seen.contains("typo"), "{seen}");
        restored(&seen);
    });
}

#[test]
fn a_key_is_destroyed_when_its_id_is_typed_and_by_no_other_word() {
    on_each(|store| {
        let scene = Scene::new(store);
        let make = ["gen-symmetric-key", "--key-label", "goes", "--id", "0a1b"];
        scene.data(&make);
        let words = format!(
            "delete-key --key-label goes --pin-file {}",
            scene.pin_file()
        );
        for (typed, ended) in [("yes\n", 13), ("\n", 13), ("0a1c\n", 13), ("0a1b\n", 0)] {
            let Some(mut terminal) = Terminal::open(&scene, &words) else {
                return;
            };
            terminal.until("id 0a1b? Type its id: ");
            terminal.type_in(typed.as_bytes());
            let seen = terminal.end();
            assert!(
                seen.contains(&format!("ended={ended}")),
                "{typed:?}: {seen}"
            );
            let left = scene.data(&["list-objects", "--key-label", "goes"])["object_count"].clone();
            assert_eq!(left, i32::from(ended != 0), "{typed:?}");
        }
    });
}

#[test]
fn ctrl_c_at_the_prompt_ends_the_command_and_gives_the_terminal_back() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut terminal) = Terminal::open(&scene, "list-objects --pin-prompt") else {
            return;
        };
        terminal.until("PIN: ");
        terminal.type_in(b"12\x03");
        let seen = terminal.end();
        assert!(seen.contains("ended=130"), "{seen}");
        assert!(
            seen.contains("interrupted before the PIN was typed"),
            "{seen}"
        );
        restored(&seen);
        // No try was made with what had been typed.
        let after = data(&scene.bare(&["list-slots", "--json"]));
        assert!(
            !after.to_string().contains("CKF_USER_PIN_COUNT_LOW"),
            "{after}"
        );
    });
}

/// `keywright hsm` where there is no terminal at all; nothing where `setsid` of util-linux is missing.
fn without_terminal(scene: &Scene<'_>, words: &[&str]) -> Option<Ended> {
    let mut command = Command::new("setsid");
    command
        .args(["--wait", env!("CARGO_BIN_EXE_keywright"), "hsm"])
        .args(words)
        .args(["--module", &scene.module]);
    let output = command.stdin(Stdio::null()).output().ok()?;
    Some(Ended {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    })
}

#[test]
fn without_a_terminal_the_flags_of_the_pin_that_is_missing_are_named() {
    on_each(|store| {
        let scene = Scene::new(store);
        let (pin, officer) = (scene.pin_file().to_owned(), scene.name("so-pin"));
        for (words, wanted, flag) in [
            (
                &["sign", "--key-label", "none"][..],
                "the PIN",
                "--pin-file",
            ),
            (&["change-pin"], "the PIN", "--pin-file"),
            (
                &["change-pin", "--pin-file", &pin],
                "the new PIN",
                "--new-pin-file",
            ),
            (&["change-pin", "--so"], "the SO PIN", "--so-pin-file"),
            (
                &["change-pin", "--so", "--so-pin-file", &officer],
                "the new PIN",
                "--new-pin-file",
            ),
            (
                &["init-pin", "--pin-file", &pin],
                "the SO PIN",
                "--so-pin-file",
            ),
            (
                &["init-pin", "--so-pin-file", &officer],
                "the new PIN",
                "--pin-file",
            ),
        ] {
            let words = [words, &["--label", "keywright"]].concat();
            let Some(ended) = without_terminal(&scene, &words) else {
                return;
            };
            let happened = format!("no terminal to ask for {wanted}");
            ended.refused(2, &happened, &format!("source: {flag}, "));
        }
        let first = without_terminal(&scene, &["init-token", "--label", "third"]);
        if let Some(ended) = first {
            ended.refused(2, "ask for the new SO PIN", "source: --so-pin-file, ");
        }
    });
}

#[test]
fn nothing_typed_is_no_pin() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut terminal) = Terminal::open(&scene, "sign --key-label none") else {
            return;
        };
        terminal.until("PIN: ");
        terminal.type_in(b"\n");
        let seen = terminal.end();
        assert!(
            seen.contains("ended=2") && seen.contains("no PIN was typed"),
            "{seen}"
        );
        restored(&seen);
    });
}

#[test]
fn a_signal_at_the_prompt_ends_the_command_and_gives_the_terminal_back() {
    on_each(|store| {
        let scene = Scene::new(store);
        for signal in ["TERM", "HUP"] {
            let program = env!("CARGO_BIN_EXE_keywright");
            let module = &scene.module;
            let line = format!(
                "sh -c 'echo process=$$.; exec {program} hsm list-objects --pin-prompt --module {module} --label keywright'; echo ended=$?; stty -a"
            );
            let Some(mut terminal) = Terminal::running(&line) else {
                return;
            };
            terminal.until("PIN: ");
            terminal.type_in(b"12");
            let process = terminal.seen.split("process=").nth(1).unwrap();
            let process = process.split('.').next().unwrap().to_owned();
            let told = Command::new("kill").args(["-s", signal, &process]).status();
            assert!(told.unwrap().success());
            let seen = terminal.end();
            assert!(seen.contains("ended=130"), "{seen}");
            assert!(
                seen.contains("interrupted before the PIN was typed"),
                "{seen}"
            );
            restored(&seen);
        }
    });
}
