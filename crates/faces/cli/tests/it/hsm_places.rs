//! Where module, token and PIN come from: the configuration with its variables and provider, what `config show` says
//! of it, and credentials of systemd.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use keywright_tokens::{Kind, SO_PIN, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, data, document, error, refused};
use crate::program::{Ended, program};

/// The program with no word of module, token and configuration in its environment.
fn bare(words: &[&str]) -> Command {
    let mut command = program();
    command.arg("hsm").args(words);
    for name in [
        "KEYWRIGHT_PKCS11_MODULE",
        "PKCS11_MODULE",
        "KEYWRIGHT_HSM_CONFIG",
        "CREDENTIALS_DIRECTORY",
    ] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    crate::program::documents(&output.stdout);
    Ended {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A configuration whose profile `own` leads to this store by itself.
fn with_profile(scene: &Scene<'_>, more: &str) -> String {
    let (variable, value) = scene.store.environment();
    let text = format!(
        "module = \"/nonexistent/module.so\"\n[profile.own]\nmodule = {:?}\ntoken = \"keywright\"\npin_source = {:?}\n{more}\n[profile.own.env]\n{variable} = {:?}\n",
        scene.module,
        scene.pin_file(),
        value,
    );
    scene.file("hsm.toml", text)
}

#[test]
fn a_profile_sets_the_variables_of_its_module() {
    on_each(|store| {
        let scene = Scene::new(store);
        let (variable, _) = store.environment();
        let config = with_profile(&scene, "");
        let listed = |name: &str, value: Option<&str>| {
            let mut command = bare(&[
                "list-objects",
                "--config",
                &config,
                "--profile",
                name,
                "--json",
            ]);
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
            ended(&mut command)
        };
        // Without the variable, and with one that leads elsewhere, the profile's own value counts.
        for value in [None, Some("/nonexistent/token.conf")] {
            let told = document(&listed("own", value));
            assert_eq!(told["token"]["label"], "keywright", "{told}");
            assert_eq!(told["warnings"], serde_json::json!([]));
        }
        refused_by(&listed("other", None), "no profile");
        // What is read from standard input is there when the program begins anew.
        let words = [
            "list-objects",
            "--config",
            &config,
            "--profile",
            "own",
            "--pin-stdin",
            "--json",
        ];
        let mut command = bare(&words);
        command
            .env_remove(variable)
            .stdin(std::fs::File::open(scene.pin_file()).unwrap());
        assert_eq!(document(&ended(&mut command))["status"], "ok");
    });
}

#[track_caller]
fn refused_by(ended: &Ended, happened: &str) {
    let told = error(ended, 2, None);
    assert!(
        told["message"].as_str().unwrap().contains(happened),
        "{told}"
    );
}

#[test]
fn variables_that_decide_about_more_than_the_module_are_refused() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (line, happened) in [
            ("LD_PRELOAD = \"/tmp/x.so\"", "LD_PRELOAD"),
            ("LD_LIBRARY_PATH = \"/tmp\"", "LD_LIBRARY_PATH"),
            ("PATH = \"/tmp\"", "PATH"),
            (
                "KEYWRIGHT_HSM_CONFIG = \"/tmp/other.toml\"",
                "KEYWRIGHT_HSM_CONFIG",
            ),
            ("\"A=B\" = \"c\"", "A=B"),
            ("A = 7", "line 3"),
        ] {
            let text = format!("module = {:?}\n[env]\n{line}\n", scene.module);
            let config = scene.file("bad.toml", text);
            let words = ["info", "--config", &config, "--json"];
            refused_by(&ended(&mut bare(&words)), happened);
            // Nor are they shown as if they were in force.
            let words = ["config", "show", "--config", &config, "--json"];
            refused_by(&ended(&mut bare(&words)), happened);
        }
    });
}

#[test]
fn the_module_of_another_provider_is_refused_before_a_pin_is_sent() {
    on_each(|store| {
        let scene = Scene::new(store);
        let (own, other) = match store.kind() {
            Kind::SoftHsm => ("SoftHSM", "Kryoptic"),
            Kind::Kryoptic => ("kryoptic", "SoftHSM"),
        };
        let listed = |provider: &str, more: &[&str]| {
            let config = with_profile(&scene, &format!("provider = {provider:?}"));
            let words = [
                "list-objects",
                "--config",
                &config,
                "--profile",
                "own",
                "--json",
            ];
            ended(&mut bare(&[&words[..], more].concat()))
        };
        assert_eq!(document(&listed(own, &[]))["status"], "ok");
        refused_by(&listed(other, &[]), "is made by");
        refused_by(&listed("Luna", &[]), "no provider is known as \"Luna\"");
        // A module that is named elsewhere is not the configuration's.
        let named = listed(other, &["--module", &scene.module]);
        assert_eq!(document(&named)["status"], "ok");
    });
}

/// The values that are shown, by name: value and origin.
fn shown(ended: &Ended, name: &str) -> Option<(String, String)> {
    let told = data(ended);
    let all = told["values"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = all.iter().find(|one| one["name"] == name)?;
    Some((text(&found["value"]), text(&found["origin"])))
}

fn pairs(value: &str, origin: &str) -> Option<(String, String)> {
    Some((value.to_owned(), origin.to_owned()))
}

#[test]
fn every_value_is_shown_with_its_origin() {
    on_each(|store| {
        let scene = Scene::new(store);
        let (variable, value) = store.environment();
        let provider = match store.kind() {
            Kind::SoftHsm => "SoftHSM",
            Kind::Kryoptic => "Kryoptic",
        };
        let config = with_profile(&scene, &format!("provider = {provider:?}"));
        let at = [
            "config",
            "show",
            "--config",
            &config,
            "--profile",
            "own",
            "--json",
        ];
        let show = |more: &[&str]| ended(&mut bare(&[&at[..], more].concat()));
        let file = format!("{config}, profile own");
        let plain = show(&[]);
        for (name, value, origin) in [
            ("config", config.as_str(), "--config"),
            ("profile", "own", "--profile"),
            ("module", &scene.module, &file),
            ("provider", provider, &file),
            ("label", "keywright", &file),
            ("pin", &format!("file {}", scene.pin_file()), &file),
            (&format!("env.{variable}"), value.to_str().unwrap(), &file),
        ] {
            assert_eq!(shown(&plain, name), pairs(value, origin), "{name}");
        }
        let flags = show(&["--module", "/m.so", "--serial", "7", "--pin-env", "P"]);
        assert_eq!(shown(&flags, "module"), pairs("/m.so", "--module"));
        assert_eq!(shown(&flags, "serial"), pairs("7", "--serial"));
        assert_eq!(shown(&flags, "label"), None);
        assert_eq!(shown(&flags, "provider"), None);
        assert_eq!(shown(&flags, "pin"), pairs("variable P", "--pin-env"));
        let uri = show(&[
            "--uri",
            "pkcs11:token=t?module-path=/u.so&pin-source=/run/p",
        ]);
        assert_eq!(shown(&uri, "module"), pairs("/u.so", "--uri"));
        assert_eq!(shown(&uri, "pin"), pairs("file /run/p", "--uri"));
        assert_eq!(shown(&uri, "label"), None);
        let mut command = bare(&at);
        command.env("PKCS11_MODULE", "/p.so");
        assert_eq!(
            shown(&ended(&mut command), "module"),
            pairs("/p.so", "PKCS11_MODULE")
        );
        command.env("KEYWRIGHT_PKCS11_MODULE", "/k.so");
        let both = ended(&mut command);
        assert_eq!(
            shown(&both, "module"),
            pairs("/k.so", "KEYWRIGHT_PKCS11_MODULE")
        );
        let mut command = bare(&["config", "show", "--json"]);
        assert_eq!(data(&ended(&mut command))["values"], serde_json::json!([]));
        command.env("KEYWRIGHT_HSM_CONFIG", &config);
        let named = ended(&mut command);
        assert_eq!(
            shown(&named, "config"),
            pairs(&config, "KEYWRIGHT_HSM_CONFIG")
        );
        assert_eq!(
            shown(&named, "module"),
            pairs("/nonexistent/module.so", &config)
        );
    });
}

#[test]
fn origin_listing_has_no_secret() {
    on_each(|store| {
        let scene = Scene::new(store);
        let uri = format!("pkcs11:token=keywright?pin-value={USER_PIN}");
        for words in [
            &["--uri", &uri][..],
            &["--user-pin", USER_PIN],
            &["--pin-env", "PLANTED"],
            &["--pin-file", scene.pin_file()],
            &["--pin-stdin"],
        ] {
            for form in [&["--origin"][..], &["--json"]] {
                let mut command = bare(&[&["config", "show"][..], words, form].concat());
                command.env("PLANTED", USER_PIN);
                command.stdin(std::fs::File::open(scene.pin_file()).unwrap());
                let ended = ended(&mut command);
                let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &ended.stderr;
                assert_eq!(ended.code, 0, "{text}");
                assert!(text.contains("pin"), "{text}");
                assert!(!text.contains(USER_PIN), "{text}");
            }
        }
    });
}

#[test]
fn what_is_wrong_with_the_words_is_said_where_they_are_shown() {
    let show = |words: &[&str]| ended(&mut bare(&[&["config", "show"][..], words].concat()));
    refused(
        &show(&["--config", "/nonexistent/c.toml"]),
        2,
        "/nonexistent/c.toml",
    );
    refused(&show(&["--profile", "p"]), 2, "no configuration file");
    refused(&show(&["--uri", "token=t"]), 2, "not a PKCS#11 URI");
    refused(
        &show(&["--pin-stdin", "--pin-env", "P"]),
        2,
        "more than one source",
    );
    refused(&ended(&mut bare(&["config"])), 2, "<ACTION>");
    refused(&ended(&mut bare(&["config", "set"])), 2, "set");
    // Without --origin there are two columns.
    let plain = show(&["--module", "/m.so"]);
    assert_eq!(plain.text(), "module  /m.so\n");
    let origin = show(&["--module", "/m.so", "--origin"]);
    assert_eq!(origin.text(), "module  /m.so  --module\n");
}

/// A folder of credentials as systemd makes one.
fn credentials(scene: &Scene<'_>, of: &[(&str, &str)]) -> String {
    let folder = scene.folder.path().join("credentials");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in of {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

fn at<'a>(scene: &'a Scene<'_>, words: &[&'a str]) -> Command {
    let place = ["--module", &scene.module, "--label", "keywright"];
    bare(&[words, &place].concat())
}

#[test]
fn a_pin_comes_from_a_credential() {
    on_each(|store| {
        let scene = Scene::new(store);
        let next = "other-pin-2";
        let folder = credentials(
            &scene,
            &[
                ("pin", USER_PIN),
                ("wrong", "not-the-pin"),
                ("officer", SO_PIN),
                ("next", next),
                ("empty", ""),
            ],
        );
        let run = |words: &[&str]| ended(at(&scene, words).env("CREDENTIALS_DIRECTORY", &folder));
        let listed = run(&["list-objects", "--pin-cred", "pin", "--json"]);
        assert_eq!(document(&listed)["warnings"], serde_json::json!([]));
        refused(
            &run(&["list-objects", "--pin-cred", "wrong"]),
            11,
            "CKR_PIN_INCORRECT",
        );
        refused(
            &run(&["list-objects", "--pin-cred", "missing"]),
            2,
            "credentials/missing",
        );
        for name in ["../credentials/pin", "/etc/hostname", "a/b", "", ".", ".."] {
            refused(
                &run(&["list-objects", "--pin-cred", name]),
                2,
                "no name of a credential",
            );
        }
        assert_ne!(run(&["list-objects", "--pin-cred", "empty"]).code, 0);
        let two = run(&[
            "list-objects",
            "--pin-cred",
            "pin",
            "--pin-file",
            scene.pin_file(),
        ]);
        refused(&two, 2, "more than one source");
        let without = ended(&mut at(&scene, &["list-objects", "--pin-cred", "pin"]));
        refused(&without, 2, "CREDENTIALS_DIRECTORY");
        let changed = run(&[
            "change-pin",
            "--pin-cred",
            "pin",
            "--new-pin-cred",
            "next",
            "--json",
        ]);
        assert_eq!(document(&changed)["status"], "ok");
        assert_eq!(run(&["list-objects", "--pin-cred", "next"]).code, 0);
        let set = run(&[
            "init-pin",
            "--so-pin-cred",
            "officer",
            "--pin-cred",
            "pin",
            "--yes",
            "--json",
        ]);
        assert_eq!(document(&set)["status"], "ok");
        assert_eq!(run(&["list-objects", "--pin-cred", "pin"]).code, 0);
        let shown = run(&["config", "show", "--pin-cred", "pin", "--origin"]);
        assert!(shown.text().contains("credential pin"));
    });
}

#[test]
fn a_credential_that_others_may_read_is_refused() {
    on_each(|store| {
        let scene = Scene::new(store);
        let folder = credentials(&scene, &[("pin", USER_PIN)]);
        let path = format!("{folder}/pin");
        let words = ["list-objects", "--pin-cred", "pin"];
        for mode in [0o404, 0o444, 0o402, 0o440, 0o600] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let ended = ended(at(&scene, &words).env("CREDENTIALS_DIRECTORY", &folder));
            match mode & 0o007 {
                0 => assert_eq!(ended.code, 0, "{mode:o}: {ended:?}"),
                _ => refused(&ended, 2, "may be read by others"),
            }
        }
    });
}
