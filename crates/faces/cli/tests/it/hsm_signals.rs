//! Signals while a command works: what runs is ended in order, and what was called last shows it.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keywright_tokens::{Faults, Kind, Store, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, error};
use crate::hsm_calls::through_recorder;
use crate::program::{Ended, eventually, signal};

/// Signals as a program finds them that nobody prepared: the tests themselves may run where some are ignored.
const PLAIN: [&str; 2] = ["env", "--default-signal"];

/// The functions that a log of the recorder tells of, in order.
fn functions(log: &str) -> Vec<String> {
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter_map(|line| line["func"].as_str().map(str::to_owned))
        .collect()
}

/// Demands that these were called, in this order.
#[track_caller]
fn called(functions: &[String], order: &[&str]) {
    let mut rest = functions.iter();
    for name in order {
        assert!(
            rest.any(|function| function == name),
            "{name}: {functions:?}"
        );
    }
}

/// A command that waits for its input, and its log.
struct Running {
    child: Child,
    log: std::path::PathBuf,
}

impl Running {
    fn start(store: &Store, program: &[&str], words: &[&str]) -> Self {
        let (mut command, log) = through_recorder(store, program, words);
        let child = command
            .env("THE_PIN", USER_PIN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn reaches(&self, function: &str) {
        assert!(
            eventually(|| self.log().contains(function)),
            "{}",
            self.log()
        );
    }

    /// The end of it, while its input stays open.
    fn end(mut self) -> (Ended, Vec<String>) {
        let _open = self.child.stdin.take();
        let (mut stdout, mut stderr) = (Vec::new(), String::new());
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut stdout)
            .unwrap();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let code = self.child.wait().unwrap().code().expect("ended by itself");
        let ended = Ended {
            code,
            stdout,
            stderr,
        };
        let functions = functions(&self.log());
        (ended, functions)
    }
}

#[test]
fn signals_logout_and_finalize() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-keypair", "--key-type", "p256", "--key-label", "signer"]);
        let output = scene.name("signature");
        for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let words = [
                "sign",
                "--key-label",
                "signer",
                "--output",
                &output,
                "--pin-env",
                "THE_PIN",
                "--json",
            ];
            drop(std::fs::remove_file(store.folder().join("recorded.jsonl")));
            let running = Running::start(store, &PLAIN, &words);
            running.reaches("C_Login");
            signal(name, running.child.id());
            let (ended, functions) = running.end();
            let told = error(&ended, code, None);
            assert_eq!(told["kind"], "interrupted", "{told}");
            called(
                &functions,
                &["C_Login", "C_Logout", "C_CloseSession", "C_Finalize"],
            );
            assert!(!std::path::Path::new(&output).exists(), "{name}");
        }
    });
}

#[test]
fn a_pin_that_is_waited_for_is_not_waited_for_any_longer() {
    on_each(|store| {
        let words = ["list-objects", "--pin-stdin"];
        let running = Running::start(store, &PLAIN, &words);
        running.reaches("C_GetTokenInfo");
        signal("TERM", running.child.id());
        let (ended, functions) = running.end();
        crate::hsm::refused(&ended, 143, "interrupted");
        called(&functions, &["C_Initialize", "C_Finalize"]);
        assert!(
            !functions.iter().any(|function| function == "C_Login"),
            "{functions:?}"
        );
    });
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-hmac-key", "--key-label", "mac"]);
        let words = [
            "hmac-sign",
            "--key-label",
            "mac",
            "--pin-env",
            "THE_PIN",
            "--json",
        ];
        let running = Running::start(store, &["env", "--ignore-signal=HUP"], &words);
        running.reaches("C_Login");
        signal("HUP", running.child.id());
        std::thread::sleep(Duration::from_millis(300));
        let mut running = running;
        drop(running.child.stdin.take());
        let (ended, functions) = running.end();
        assert_eq!(ended.code, 0, "{ended:?}");
        called(
            &functions,
            &["C_Login", "C_Logout", "C_CloseSession", "C_Finalize"],
        );
    });
}

/// The program on a module that fails when it is told to, as the user.
fn with_faults(scene: &Scene<'_>, faults: &Faults, words: &[&str]) -> Command {
    let mut command = scene.store.command("env");
    command
        .args(["--default-signal", env!("CARGO_BIN_EXE_keywright"), "hsm"])
        .args(words)
        .arg("--module")
        .arg(faults.module())
        .args(["--label", "keywright", "--pin-file", scene.pin_file()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn what_cannot_be_stopped_is_told_when_it_is_done() {
    on_each(|store| {
        if store.kind() == Kind::Kryoptic {
            // The module with faults looks for functions by their names, and this one exports its table alone.
            return;
        }
        let (scene, faults) = (Scene::new(store), Faults::before(store));
        faults.plant("C_GenerateKey 0 once stall 1500");
        let words = ["gen-symmetric-key", "--key-label", "late", "--json"];
        let child = with_faults(&scene, &faults, &words).spawn().unwrap();
        assert!(eventually(|| !faults.waits()));
        signal("TERM", child.id());
        let output = child.wait_with_output().unwrap();
        let ended = Ended {
            code: output.status.code().expect("ended by itself"),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        let told = error(&ended, 143, None);
        assert!(
            told["message"].as_str().unwrap().contains("done already"),
            "{told}"
        );
        let document = crate::hsm::document(&ended);
        assert_eq!(document["data"]["key_label"], "late", "{document}");
        scene.data(&["find-key", "--key-label", "late"]);
    });
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    on_each(|store| {
        if store.kind() == Kind::Kryoptic {
            // The module with faults looks for functions by their names, and this one exports its table alone.
            return;
        }
        let (scene, faults) = (Scene::new(store), Faults::before(store));
        faults.plant("C_GenerateKey 0 once hang");
        let words = ["gen-symmetric-key", "--key-label", "never"];
        let mut child = with_faults(&scene, &faults, &words).spawn().unwrap();
        assert!(eventually(|| !faults.waits()));
        signal("INT", child.id());
        std::thread::sleep(Duration::from_millis(500));
        assert!(
            child.try_wait().unwrap().is_none(),
            "the call that hangs is waited for"
        );
        signal("TERM", child.id());
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(15), "{status:?}");
        let output = child.wait_with_output().unwrap();
        assert!(output.stdout.is_empty(), "{output:?}");
    });
}
