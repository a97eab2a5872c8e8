//! What tokens and users do wrong: locked PINs, tokens that are pulled, words that are none. Each ends with two
//! lines or one document, and leaves nothing half-written.

use std::io::Write as _;
use std::process::Stdio;

use keywright_tokens::{Kind, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, document, error, refused};
use crate::program::{Ended, keywright, program};

fn secret(scene: &Scene<'_>, name: &str, pin: &str) -> String {
    let path = scene.file(name, format!("{pin}\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}

#[test]
fn wrong_pins_are_counted_as_far_as_the_token_tells_and_a_locked_pin_is_said_to_be() {
    on_each(|store| {
        let scene = Scene::new(store);
        let wrong = secret(&scene, "wrong", "not-the-pin");
        let attempt = |more: &[&str]| {
            let words = ["list-objects", "--pin-file", &wrong, "--json"];
            scene.public(&[&words[..], more].concat())
        };
        let first = error(&attempt(&[]), 11, Some("CKR_PIN_INCORRECT"));
        let told = first["message"].as_str().unwrap();
        let tells = ["does not tell", "counts wrong tries", "next wrong try"];
        assert!(tells.iter().any(|words| told.contains(words)), "{told}");
        let locked = (0..14).find_map(|_| {
            let ended = attempt(&["--final-try"]);
            let error = document(&ended)["error"].take();
            assert_eq!(ended.code, 11, "{error}");
            (error["code"] == "CKR_PIN_LOCKED").then_some(error)
        });
        let right = scene.user(&["list-objects", "--json"]);
        match store.kind() {
            Kind::Kryoptic => {
                let locked = locked.expect("locks after ten wrong PINs");
                assert!(
                    locked["message"].as_str().unwrap().contains("locked"),
                    "{locked}"
                );
                assert!(
                    locked["explain"]
                        .as_str()
                        .unwrap()
                        .contains("--context login")
                );
                // The right one does not open it any more.
                error(&right, 11, Some("CKR_PIN_LOCKED"));
            }
            Kind::SoftHsm => {
                assert!(locked.is_none(), "it never locks");
                assert_eq!(right.code, 0, "{right:?}");
            }
        }
    });
}

#[test]
fn a_pin_comes_through_an_open_descriptor() {
    on_each(|store| {
        let scene = Scene::new(store);
        let run = |descriptor: &str, file: &str| {
            let line = format!(
                "exec {} hsm list-objects --json --module {} --label keywright --pin-fd {descriptor} 3<{file}",
                env!("CARGO_BIN_EXE_keywright"),
                scene.module,
            );
            let output = std::process::Command::new("sh")
                .args(["-c", &line])
                .output();
            let output = output.unwrap();
            Ended {
                code: output.status.code().unwrap(),
                stdout: output.stdout,
                stderr: String::from_utf8(output.stderr).unwrap(),
            }
        };
        assert_eq!(run("3", scene.pin_file()).code, 0);
        let wrong = secret(&scene, "wrong", "not-the-pin");
        error(&run("3", &wrong), 11, Some("CKR_PIN_INCORRECT"));
        // A descriptor that is not open, and one with more than a PIN.
        let closed = run("777", scene.pin_file());
        assert_eq!(closed.code, 2, "{closed:?}");
        let long = secret(&scene, "long", &"1".repeat(4000));
        assert_eq!(run("3", &long).code, 2);
    });
}

#[test]
fn a_token_that_is_not_there_any_more_writes_nothing() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "aes"]);
        let input = scene.file("input", [7; 100]);
        let (output, before) = (scene.name("output"), scene.folder.names());
        store.take_away();
        for command in ["encrypt-symmetric", "sign", "hmac-sign"] {
            let words = [command, "--key-label", "aes", "--input", &input];
            let ended = scene.user(&[&words[..], &["--output", &output, "--json"]].concat());
            assert!([5, 9, 11, 12].contains(&ended.code), "{command}: {ended:?}");
            assert_eq!(document(&ended)["error"]["exit"], ended.code);
            assert_eq!(scene.folder.names(), before, "{command}");
        }
        store.put_back();
        let words = ["encrypt-symmetric", "--key-label", "aes", "--input", &input];
        scene.data(&[&words[..], &["--output", &output]].concat());
    });
}

#[test]
fn a_token_pulled_in_the_middle_leaves_the_whole_result_or_none() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "aes"]);
        let (output, before) = (scene.name("output"), scene.folder.names());
        let mut command = program();
        command.args([
            "hsm",
            "encrypt-symmetric",
            "--module",
            &scene.module,
            "--json",
        ]);
        command.args(["--label", "keywright", "--pin-file", scene.pin_file()]);
        command.args(["--key-label", "aes", "--output", &output]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let piece = vec![7; 1 << 20];
        pipe.write_all(&piece).unwrap();
        pipe.flush().unwrap();
        store.take_away();
        // It may have ended already; then nobody reads.
        drop(pipe.write_all(&piece));
        drop(pipe);
        let ended = child.wait_with_output().unwrap();
        store.put_back();
        let ended = Ended {
            code: ended.status.code().unwrap(),
            stdout: ended.stdout,
            stderr: String::from_utf8(ended.stderr).unwrap(),
        };
        if ended.code != 0 {
            let error = document(&ended)["error"].take();
            assert_eq!(error["exit"], 5, "{error}");
            assert_eq!(scene.folder.names(), before);
            return;
        }
        // The key had been loaded before: then the result is whole.
        let back = scene.name("back");
        let words = [
            "decrypt-symmetric",
            "--key-label",
            "aes",
            "--input",
            &output,
        ];
        scene.data(&[&words[..], &["--output", &back]].concat());
        assert_eq!(std::fs::read(back).unwrap(), vec![7; 2 << 20]);
    });
}

#[test]
fn what_a_key_may_not_be_is_refused_with_the_code_of_the_token() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "stays"]);
        let wraps = [
            "gen-symmetric-key",
            "--key-label",
            "wraps",
            "--usage",
            "wrap",
        ];
        scene.data(&wraps);
        let (output, before) = (scene.name("output"), scene.folder.names());
        let words = [
            "wrap-key",
            "--key-label",
            "stays",
            "--wrapping-key-label",
            "wraps",
        ];
        let ended = scene.user(&[&words[..], &["--output", &output, "--json"]].concat());
        let told = document(&ended)["error"].take();
        assert_ne!(ended.code, 0);
        assert!(
            told.to_string().to_lowercase().contains("extractable"),
            "it says which attribute keeps the key in: {told}"
        );
        assert_eq!(scene.folder.names(), before);
    });
}

#[test]
fn words_that_are_no_command_end_in_the_form_that_was_asked_for() {
    for (words, name) in [
        (
            &["hsm", "sign", "--no-such-flag", "--format", "json"][..],
            "sign",
        ),
        (
            &["hsm", "--json", "gen-random", "--bytes", "many"],
            "gen-random",
        ),
        (&["hsm", "no-such-command", "--json"], "hsm"),
        (&["benchmark", "--iterations", "few", "--json"], "benchmark"),
        (
            &["hsm", "benchmark", "--duration", "x", "--format=json"],
            "benchmark",
        ),
    ] {
        let ended = keywright(words);
        let told = error(&ended, 2, None);
        assert_eq!(document(&ended)["command"], name, "{words:?}");
        assert_eq!(told["kind"], "usage");
        assert!(
            ended.stderr.is_empty() && told["hint"].is_string(),
            "{ended:?}"
        );
    }
    // Other commands have the form that they always have.
    let other = keywright(&["admin", "--no-such-flag", "--format", "json"]);
    let other: Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(other["schema_version"], 1);
    let text = keywright(&["hsm", "sign", "--no-such-flag"]);
    assert_eq!(text.code, 2);
    assert!(
        text.stdout.is_empty() && text.stderr.starts_with("error: "),
        "{text:?}"
    );
    refused(
        &keywright(&["hsm", "sign", "--no-such-flag"]),
        2,
        "--no-such-flag",
    );
    let pin = keywright(&[
        "hsm",
        "sign",
        "--user-pin",
        USER_PIN,
        "--no-such-flag",
        "--json",
    ]);
    assert!(!String::from_utf8_lossy(&pin.stdout).contains(USER_PIN));
}
