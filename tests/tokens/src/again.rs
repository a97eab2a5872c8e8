//! A test in a process of its own, with the environment of its store.
//!
//! The call in the first process makes the store and runs the binary again with the name of the test; the same
//! call in the second process runs the body. The second process says that the body ended by leaving a file: a
//! process that ran no test at all succeeds as well.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "fixtures: a failure here fails the test that asked for it"
)]

use std::any::type_name;
use std::fs;
use std::io::Write as _;
use std::panic::Location;
use std::path::Path;
use std::process::{Command, Stdio};

use super::kind::Kind;
use super::store::Store;

/// Runs `body` once for each kind of token, each time in another process, on a store with one token that
/// is labelled `keywright`. A kind that is not installed is counted as a skipped test.
///
/// To be called from a test function of the libtest harness, with a closure written there: the name of the
/// test is taken from it.
///
/// # Panics
/// If the body panics, or its process ends in another way.
#[track_caller]
pub fn on_each<F: Fn(&Store)>(body: F) {
    on_each_with(&["keywright"], body);
}

/// [`on_each`], on stores with one token for each label.
#[track_caller]
pub fn on_each_with<F: Fn(&Store)>(labels: &[&str], body: F) {
    let call = Call::of::<F>(Location::caller());
    if let Some(stores) = call.stores() {
        for store in &stores {
            body(store);
        }
        return call.ended(&stores);
    }
    if second_process() {
        return;
    }
    for kind in Kind::ALL {
        match Store::new(kind, labels) {
            Ok(store) => call.again(&[store]),
            Err(missing) => call.skip(kind.name(), &missing.to_string()),
        }
    }
}

/// Runs `body` in one process that has a store of each kind, in the order of [`Kind::ALL`], with one token that
/// is labelled `keywright`. Counted as skipped if one kind is not installed.
///
/// # Panics
/// As [`on_each`].
#[track_caller]
pub fn together<F: Fn(&[Store])>(body: F) {
    let call = Call::of::<F>(Location::caller());
    if let Some(stores) = call.stores() {
        body(&stores);
        return call.ended(&stores);
    }
    if second_process() {
        return;
    }
    let stores: Result<Vec<_>, _> = Kind::ALL
        .into_iter()
        .map(|kind| Store::new(kind, &["keywright"]))
        .collect();
    match stores {
        Ok(stores) => call.again(&stores),
        Err(missing) => call.skip("together", &missing.to_string()),
    }
}

/// Whose call the second process is to answer: file, line, column.
const CALL: &str = "KEYWRIGHT_TESTKIT_TOKEN_CALL";
/// The stores it has: a line each with the kind, a space, the folder.
const STORES: &str = "KEYWRIGHT_TESTKIT_TOKEN_STORES";
/// A module that every test is to load instead of the token's own, which is told the own one in
/// `KEYWRIGHT_P11_TARGET`: the recorder, so that all that is tested on a token is tested through it.
const RECORDER: &str = "KEYWRIGHT_TESTKIT_RECORDER";
/// The same, for a second process in which it is so.
const INSTEAD: &str = "KEYWRIGHT_TESTKIT_TOKEN_INSTEAD";
/// Where the counts of skipped tests go.
const COUNTS: &str = "KEYWRIGHT_TEST_COUNTS";
const ENDED: &str = "body-ended";
/// Seconds that a body may take; then, as many more until its process is killed.
const LONGEST: u32 = 900;
const AFTER: u32 = 10;
/// The status by which `timeout` tells that it was so.
const OVERTIME: i32 = 124;

#[expect(
    clippy::disallowed_methods,
    reason = "what the first process tells the second, and where the counts go, is in the environment"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn second_process() -> bool {
    environment(CALL).is_some()
}

/// A call of this module's functions, by a test.
struct Call {
    place: String,
    test: String,
}

impl Call {
    fn of<F>(place: &Location<'_>) -> Self {
        Self {
            place: place.to_string(),
            test: test_name(type_name::<F>()),
        }
    }

    /// In the process that is to answer this very call: its stores.
    fn stores(&self) -> Option<Vec<Store>> {
        let asked = environment(CALL).is_some_and(|place| place == self.place);
        let lines = environment(STORES).filter(|_| asked)?;
        let store = |line: &str| {
            let (kind, folder) = line.split_once(' ')?;
            let store = Store::attached(Kind::named(kind)?, Path::new(folder));
            Some(match environment(INSTEAD) {
                Some(module) => store.through(Path::new(&module)),
                None => store,
            })
        };
        let stores: Option<Vec<_>> = lines.lines().map(store).collect();
        Some(stores.expect("stores as the first process writes them"))
    }

    fn ended(&self, stores: &[Store]) {
        for store in stores {
            fs::write(store.folder().join(ENDED), &self.test).expect("the end is told");
        }
    }

    /// Answers the call in a second process.
    fn again(&self, stores: &[Store]) {
        let program = std::env::current_exe().expect("the test's own program");
        // A body that waits for ever fails its test, and not the patience of whoever runs all of them.
        let mut command = Command::new("timeout");
        command
            .arg(format!("--kill-after={AFTER}"))
            .arg(LONGEST.to_string())
            .arg(program)
            .args(["--exact", &self.test, "--include-ignored", "--nocapture"])
            .env(CALL, &self.place)
            .env(STORES, lines(stores))
            .envs(stores.iter().map(Store::environment))
            .stdin(Stdio::null());
        // With two modules in one process there is no telling which one is meant.
        if let ([store], Some(recorder)) = (stores, environment(RECORDER)) {
            let module = store.tokens()[0].module().to_path_buf();
            command.env("KEYWRIGHT_P11_TARGET", module);
            command.env(INSTEAD, recorder);
        }
        let output = command
            .output()
            .expect("the test's own program runs again, under timeout of coreutils");
        let ended = stores
            .iter()
            .all(|store| store.folder().join(ENDED).exists());
        if output.status.success() && ended {
            return;
        }
        let kinds: Vec<_> = stores.iter().map(|store| store.kind().name()).collect();
        let reason = if output.status.code() == Some(OVERTIME) {
            format!("it took more than {LONGEST} s")
        } else if ended || !output.status.success() {
            output.status.to_string()
        } else {
            format!(
                "no test named {}: give a closure written in the test",
                self.test
            )
        };
        panic!(
            "{} on {}: {reason}\n{}{}",
            self.test,
            kinds.join(" and "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
    }

    /// Says that this test was skipped, past the capture of the test runner, and has it counted.
    fn skip(&self, on: &str, reason: &str) {
        let line = format!("skipped: {reason}: {} on {on}\n", self.test);
        std::io::stderr()
            .write_all(line.as_bytes())
            .expect("a line is said");
        if let Some(folder) = environment(COUNTS) {
            let program = std::env::current_exe().expect("the test's own program");
            let program = program.file_stem().unwrap_or_default().to_string_lossy();
            let test = self.test.replace("::", "-");
            let file = Path::new(&folder).join(format!("{program}-{test}-{on}"));
            fs::write(file, "0 0 1\n").expect("the skipped test is counted");
        }
    }
}

fn lines(stores: &[Store]) -> String {
    let line = |store: &Store| format!("{} {}", store.kind().name(), store.folder().display());
    stores.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The name by which libtest knows the test in which a closure of this type stands:
/// `it::promise::name::{{closure}}` without the name of the program and the closures.
fn test_name(closure: &str) -> String {
    let path = closure.split_once("::").map_or(closure, |(_, path)| path);
    path.trim_end_matches("::{{closure}}").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SO_PIN, USER_PIN};

    /// What `pkcs11-tool` says, and whether it succeeded.
    fn judged(store: &Store, label: &str, arguments: &[&str]) -> (String, bool) {
        let output = store
            .pkcs11_tool(label)
            .unwrap()
            .args(arguments)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            String::from_utf8_lossy(&text).into_owned(),
            output.status.success(),
        )
    }

    #[test]
    fn a_test_has_a_token_of_its_own_that_the_user_and_the_officer_can_enter() {
        on_each(|store| {
            let token = &store.tokens()[0];
            assert_eq!(token.label(), "keywright");
            let user = ["--login", "--pin", USER_PIN, "-O"].as_slice();
            // Opening a writable session and setting the user's PIN is what an officer may.
            let officer = [
                "--init-pin",
                "--login",
                "--login-type",
                "so",
                "--so-pin",
                SO_PIN,
                "--new-pin",
                USER_PIN,
            ];
            for arguments in [user, &officer, user] {
                let (text, good) = judged(store, "keywright", arguments);
                assert!(good, "{arguments:?}: {text}");
            }
            let (text, good) = judged(
                store,
                "keywright",
                &["--login", "--pin", "not-the-pin", "-O"],
            );
            assert!(!good && text.contains("CKR_PIN_INCORRECT"), "{text}");
        });
    }

    #[test]
    fn tokens_of_one_store_are_told_apart_by_label_and_one_slot_is_free() {
        on_each_with(&["first", "second"], |store| {
            assert_eq!(store.tokens().len(), 2);
            for label in ["first", "second"] {
                let key = [
                    "--login",
                    "--pin",
                    USER_PIN,
                    "--keygen",
                    "--key-type",
                    "AES:32",
                ];
                let (text, good) = judged(store, label, &[&key[..], &["--label", label]].concat());
                assert!(good, "{text}");
            }
            let (text, _) = judged(store, "first", &["--login", "--pin", USER_PIN, "-O"]);
            assert!(text.contains("first") && !text.contains("second"), "{text}");
            let (slots, _) = judged(store, "first", &["-L"]);
            assert_eq!(slots.matches("uninitialized").count(), 1, "{slots}");
        });
    }

    #[test]
    fn a_token_that_is_taken_away_is_gone_and_comes_back_unchanged() {
        on_each(|store| {
            let list = ["--login", "--pin", USER_PIN, "-O"];
            let key = [
                "--login",
                "--pin",
                USER_PIN,
                "--keygen",
                "--key-type",
                "AES:32",
                "--label",
                "kept",
            ];
            assert!(judged(store, "keywright", &key).1);
            store.take_away();
            let (text, good) = judged(store, "keywright", &list);
            assert!(!good && !text.contains("kept"), "{text}");
            store.put_back();
            let (text, good) = judged(store, "keywright", &list);
            assert!(good && text.contains("kept"), "{text}");
        });
    }

    #[test]
    fn one_process_can_have_a_store_of_each_kind() {
        together(|stores| {
            let kinds: Vec<_> = stores.iter().map(Store::kind).collect();
            assert_eq!(kinds, Kind::ALL);
            for store in stores {
                let (variable, value) = store.environment();
                assert_eq!(environment(variable).as_deref(), value.to_str());
            }
        });
    }

    #[test]
    fn only_the_call_that_was_asked_for_runs_in_the_second_process() {
        let first = Call::of::<()>(Location::caller());
        let second = Call::of::<()>(Location::caller());
        assert_ne!(first.place, second.place);
        for _ in 0..2 {
            // Twice in a test: the second process answers both, and the store is a fresh one each time.
            on_each(|store| assert!(!store.folder().join(ENDED).exists() || second_process()));
        }
    }

    #[test]
    fn a_body_that_fails_fails_the_test() {
        let fails = || on_each(|store| assert_eq!(store.kind().name(), "", "planted"));
        if second_process() || Kind::ALL.iter().all(|kind| kind.module().is_err()) {
            return fails();
        }
        let panic = std::panic::catch_unwind(fails).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("planted"), "{text}");
    }

    #[test]
    fn a_body_that_is_no_closure_of_a_test_is_a_failure_and_not_a_pass() {
        fn elsewhere(_: &Store) {}
        if Kind::ALL.iter().all(|kind| kind.module().is_err()) {
            return;
        }
        let panic = std::panic::catch_unwind(|| on_each(elsewhere)).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("no test named"), "{text}");
    }

    #[test]
    fn the_name_of_a_test_is_its_path_without_program_and_closures() {
        assert_eq!(test_name("it::promise::name::{{closure}}"), "promise::name");
        assert_eq!(
            test_name("it::promise::name::{{closure}}::{{closure}}"),
            "promise::name"
        );
    }
}
