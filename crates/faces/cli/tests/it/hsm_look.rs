//! What `keywright hsm` says of modules, tokens and codes, and how a token and its PIN are chosen.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use keywright_tokens::{Kind, USER_PIN, on_each, on_each_with};

use crate::hsm::{Scene, data, document, error, refused};
use crate::program::{keywright, program};

#[test]
fn info_tells_of_the_module_itself() {
    on_each(|store| {
        let scene = Scene::new(store);
        let info = data(&scene.bare(&["info", "--json"]));
        let real = std::fs::canonicalize(&scene.module).unwrap();
        assert_eq!(
            info["module_path"].as_str().unwrap(),
            real.to_str().unwrap()
        );
        let file = std::fs::read(&scene.module).unwrap();
        let path = scene.file("copy", file);
        let judged = crate::hsm::openssl(&["dgst", "-sha256", &path]);
        assert!(
            judged.contains(info["module_sha256"].as_str().unwrap()),
            "{judged}"
        );
        let provider = match store.kind() {
            Kind::SoftHsm => "SoftHSM",
            Kind::Kryoptic => "Kryoptic",
        };
        assert_eq!(info["provider"], provider);
        let text = scene.bare(&["info"]).text();
        assert!(text.contains(provider), "{text}");
    });
}

#[test]
fn every_slot_is_listed_and_the_initialised_ones_apart() {
    on_each_with(&["first", "second"], |store| {
        let scene = Scene::new(store);
        let slots = data(&scene.bare(&["list-slots", "--json"]));
        assert_eq!(slots["initialized_slot_count"], 2);
        assert_eq!(slots["total_slot_count"], 3);
        let labels: Vec<_> = slots["initialized_slots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slot| slot["token"]["label"].as_str().unwrap().to_owned())
            .collect();
        assert!(labels.contains(&"first".to_owned()) && labels.contains(&"second".to_owned()));
        for slot in slots["initialized_slots"].as_array().unwrap() {
            // Each URI leads back to its token.
            let uri = slot["token"]["uri"].as_str().unwrap();
            let found = document(&scene.bare(&["list-objects", "--uri", uri, "--json"]));
            assert_eq!(found["token"]["serial"], slot["token"]["serial_number"]);
        }
        let text = scene.bare(&["list-tokens"]).text();
        assert!(text.contains("first") && text.contains("second"), "{text}");
    });
}

#[test]
fn a_token_must_be_the_only_one_that_fits() {
    on_each_with(&["first", "second"], |store| {
        let scene = Scene::new(store);
        let many = error(&scene.bare(&["list-objects", "--json"]), 10, None);
        let message = many["message"].as_str().unwrap();
        assert!(
            message.contains("\"first\"") && message.contains("\"second\""),
            "{message}"
        );
        let none = error(
            &scene.bare(&["list-objects", "--label", "third", "--json"]),
            9,
            None,
        );
        assert!(
            none["message"].as_str().unwrap().contains("\"second\""),
            "{none}"
        );
        refused(
            &scene.bare(&["list-objects", "--label", "First"]),
            9,
            "no token is labelled",
        );
        refused(
            &scene.bare(&["list-objects", "--slot-id", "77777"]),
            9,
            "in slot 77777",
        );
        let vendor = ["list-objects", "--uri", "pkcs11:token=first;x-slot=1"];
        refused(&scene.bare(&vendor), 9, "x-slot");
        let contradiction = [
            "list-objects",
            "--label",
            "first",
            "--uri",
            "pkcs11:token=second",
        ];
        refused(&scene.bare(&contradiction), 9, "no token is");
        let serial = document(&scene.bare(&["list-objects", "--label", "second", "--json"]));
        let serial = serial["token"]["serial"].as_str().unwrap().to_owned();
        let by_serial = document(&scene.bare(&["list-objects", "--serial", &serial, "--json"]));
        assert_eq!(by_serial["token"]["label"], "second");
    });
}

#[test]
fn mechanisms_have_the_names_of_the_header_and_their_abilities() {
    on_each(|store| {
        let scene = Scene::new(store);
        let listed = data(&scene.public(&["list-mechanisms", "--detailed", "--json"]));
        let mechanisms = listed["mechanisms"].as_array().unwrap();
        assert_eq!(listed["mechanism_count"], mechanisms.len());
        let of = |value: u64| mechanisms.iter().find(|one| one["value"] == value).unwrap();
        for (value, name) in [
            (0x9, "CKM_RSA_PKCS_OAEP"),
            (0xd, "CKM_RSA_PKCS_PSS"),
            (0x40, "CKM_SHA256_RSA_PKCS"),
            (0x251, "CKM_SHA256_HMAC"),
            (0x260, "CKM_SHA384"),
            (0x270, "CKM_SHA512"),
            (0x108a, "CKM_AES_CMAC"),
        ] {
            assert_eq!(of(value)["name"], name);
        }
        assert_eq!(of(0x1087)["capabilities"]["encrypt"], true);
        assert_eq!(of(0x1087)["capabilities"]["sign"], false);
        let judged = scene
            .store
            .pkcs11_tool("keywright")
            .unwrap()
            .arg("-M")
            .output()
            .unwrap();
        let judged = String::from_utf8_lossy(&judged.stdout).into_owned();
        assert!(judged.contains("SHA256-RSA-PKCS"), "{judged}");
        let text = scene.public(&["list-mechanisms"]).text();
        assert_eq!(text.lines().count(), mechanisms.len());
    });
}

#[test]
fn objects_are_seen_as_far_as_the_login_goes() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.judge(&[
            "--keypairgen",
            "--key-type",
            "EC:prime256v1",
            "--label",
            "theirs",
            "--id",
            "aa01",
        ]);
        let nobody = document(&scene.public(&["list-objects", "--key-label", "theirs", "--json"]));
        assert_eq!(nobody["data"]["object_count"], 1);
        assert!(
            nobody["warnings"][0]
                .as_str()
                .unwrap()
                .contains("nobody is logged in")
        );
        let user = scene.data(&["list-objects", "--key-label", "theirs", "--detailed"]);
        assert_eq!(user["object_count"], 2);
        let private = &user["objects"][0];
        assert_eq!(private["class"], "CKO_PRIVATE_KEY");
        assert_eq!(private["key_type"], "CKK_EC");
        assert_eq!(
            (&private["curve"], &private["key_size_bits"]),
            (&"p256".into(), &256.into())
        );
        assert_eq!(private["id"], "aa01");
        assert_eq!(private["flags"]["sensitive"], true);
        let by_uri = scene.data(&[
            "list-objects",
            "--key-label",
            private["uri"].as_str().unwrap(),
        ]);
        assert_eq!(by_uri["object_count"], 1);
        let by_class = scene.data(&["list-objects", "--class", "public", "--key-label", "theirs"]);
        assert_eq!(by_class["objects"][0]["class"], "CKO_PUBLIC_KEY");
    });
}

#[test]
fn a_key_is_inspected_attribute_by_attribute() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.judge(&[
            "--keypairgen",
            "--key-type",
            "EC:secp384r1",
            "--label",
            "theirs",
            "--id",
            "aa02",
        ]);
        let seen = scene.data(&["inspect-key", "--key-label", "theirs"]);
        assert_eq!(seen["object_count"], 2);
        assert_eq!(seen["key_label"], "theirs");
        let half = ["inspect-key", "--key-label", "theirs", "--class", "private"];
        let half = scene.data(&half);
        assert_eq!(half["object_count"], 1);
        assert_eq!(half["objects"][0]["class"], "CKO_PRIVATE_KEY");
        let objects = seen["objects"].as_array().unwrap();
        let public = objects
            .iter()
            .find(|one| one["class"] == "CKO_PUBLIC_KEY")
            .unwrap();
        let private = objects
            .iter()
            .find(|one| one["class"] == "CKO_PRIVATE_KEY")
            .unwrap();
        let value = |object: &serde_json::Value, name: &str| {
            let one = object["attributes"].as_object().unwrap().get(name)?;
            // What was read has its length beside it; what was not is the word for why.
            let read = one["value"].as_str().filter(|_| one["bytes"].is_u64());
            Some(read.or(one.as_str()).unwrap().to_owned())
        };
        assert_eq!(value(public, "CKA_EC_PARAMS").as_deref(), Some("p384"));
        assert_eq!(value(public, "CKA_ID").as_deref(), Some("aa02"));
        assert_eq!(value(private, "CKA_SENSITIVE").as_deref(), Some("true"));
        assert_eq!(value(private, "CKA_VALUE").as_deref(), Some("sensitive"));
        assert_eq!(value(public, "CKA_MODULUS"), None);
        // OpenSSL's own hash of the public key that pkcs11-tool reads.
        scene.judge(&[
            "--keypairgen",
            "--key-type",
            "rsa:2048",
            "--label",
            "rsa",
            "--id",
            "aa03",
        ]);
        let der = scene.name("rsa.der");
        scene.judge(&[
            "--read-object",
            "--type",
            "pubkey",
            "--id",
            "aa03",
            "--output-file",
            &der,
        ]);
        let judged = crate::hsm::openssl(&["dgst", "-sha256", &der]);
        let rsa = scene.data(&["inspect-key", "--id", "aa03"]);
        for object in rsa["objects"].as_array().unwrap() {
            assert!(
                judged.contains(object["fingerprint"].as_str().unwrap()),
                "{judged}"
            );
        }
        refused(
            &scene.user(&["inspect-key", "--key-label", "their"]),
            9,
            "nearest: theirs",
        );
        refused(&scene.user(&["inspect-key"]), 2, "no key is named");
    });
}

#[test]
fn keys_are_found_and_near_misses_are_named() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.judge(&[
            "--keygen",
            "--key-type",
            "AES:32",
            "--label",
            "root-key",
            "--id",
            "01",
        ]);
        let found = scene.data(&["find-key", "--key-label", "root-key"]);
        assert_eq!(found["exact_match"], true);
        assert_eq!(found["keys"][0]["match_number"], 1);
        assert_eq!(found["keys"][0]["key_size_bits"], 256);
        assert_eq!(found["search_key"], "root-key");
        let flags = found["keys"][0]["flags"].as_array().unwrap();
        assert!(flags.contains(&"tok".into()), "{found}");
        let ended = scene.user(&[
            "find-key",
            "--key-label",
            "root_key",
            "--show-similar",
            "--json",
        ]);
        assert_eq!(ended.code, 9);
        let missed = document(&ended);
        assert_eq!(missed["data"]["keys_found"], 0);
        assert_eq!(missed["error"]["kind"], "not-found");
        let told = scene.user(&["find-key", "--key-label", "root_key"]);
        refused(&told, 9, "no key is labelled \"root_key\"");
        assert_eq!(missed["data"]["similar"][0]["label"], "root-key");
        assert_eq!(
            missed["data"]["similar"][0]["reason"],
            "differs in separators"
        );
        let silent = document(&scene.user(&["find-key", "--key-label", "root_key", "--json"]));
        assert_eq!(silent["data"]["similar"], serde_json::json!([]));
    });
}

#[test]
fn two_keys_are_compared_with_the_weight_of_each_difference() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.judge(&[
            "--keygen",
            "--key-type",
            "AES:32",
            "--label",
            "one",
            "--id",
            "01",
        ]);
        scene.judge(&[
            "--keygen",
            "--key-type",
            "AES:32",
            "--label",
            "two",
            "--id",
            "02",
        ]);
        scene.judge(&[
            "--keygen",
            "--key-type",
            "AES:16",
            "--label",
            "small",
            "--id",
            "03",
            "--extractable",
        ]);
        let same = scene.data(&["diff-keys", "--key1-label", "one", "--key2-label", "two"]);
        // Two keys with equal attributes are not one key, and where the token gives no check value that is said.
        assert_eq!(
            (&same["identical"], &same["class"]),
            (&false.into(), &"CKO_SECRET_KEY".into())
        );
        let material = same["key_material"].as_str().unwrap();
        let softhsm = store.kind() == Kind::SoftHsm;
        match softhsm {
            true => assert_eq!(material, "different", "{same}"),
            false => assert!(["different", "unknown"].contains(&material), "{same}"),
        }
        let words = ["diff-keys", "--key1-label", "one", "--key2-label", "two"];
        let gate = scene.user(&[&words[..], &["--fail-on-difference"]].concat());
        assert_eq!(gate.code, 3, "{gate:?}");
        let own = scene.data(&["diff-keys", "--key1-label", "one", "--key2-label", "one"]);
        assert_eq!(own["identical"], true);
        let words = [&words[..], &["--reveal"]].concat();
        assert_eq!(
            scene.user(&words).code,
            2,
            "--reveal has no effect without --against"
        );
        let words = ["diff-keys", "--key1-label", "one", "--key2-label", "small"];
        let differ = scene.data(&words);
        let all = differ["differences"].as_array().unwrap();
        let severity = |name: &str| {
            all.iter()
                .find(|one| one["attribute"] == name)
                .map(|one| one["severity"].clone())
        };
        assert_eq!(
            (&differ["key1_label"], &differ["key2_label"]),
            (&"one".into(), &"small".into())
        );
        assert_eq!(severity("CKA_VALUE_LEN"), Some("LOW".into()));
        assert_eq!(severity("CKA_EXTRACTABLE"), Some("HIGH".into()));
        assert_eq!(severity("CKA_KEY_TYPE"), None);
        let failing = scene.user(&[&words[..], &["--fail-on-difference"]].concat());
        assert_eq!(failing.code, 3, "{failing:?}");
        refused(
            &scene.user(&["diff-keys", "--key1-label", "one", "--key2-label", "three"]),
            9,
            "no secret key",
        );
    });
}

#[test]
fn random_bytes_come_once_and_in_the_form_asked_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        let first = scene.public(&["gen-random", "--bytes", "100"]).bytes();
        let second = scene.public(&["gen-random", "--bytes", "100"]).bytes();
        assert_eq!(first.len(), 100);
        assert_ne!(first, second);
        let hex = scene.public(&["random", "--length", "9", "--hex"]).text();
        assert_eq!(hex.trim_end().len(), 18);
        let large = scene.public(&["gen-random", "--bytes", "100000"]).bytes();
        assert_eq!(large.len(), 100_000);
        let path = scene.name("bytes");
        let told = scene.public(&["gen-random", "--output", &path, "--json"]);
        let told = data(&told);
        assert_eq!(scene.folder.read("bytes").len(), 32);
        assert!(told["data_hex"].is_null() && told["data"].is_null());
        assert_eq!(scene.folder.mode("bytes"), 0o600);
        refused(
            &scene.public(&["gen-random", "--output", &path]),
            13,
            "exists",
        );
        refused(&scene.public(&["gen-random", "--bytes", "0"]), 2, "0");
        refused(
            &scene.public(&["gen-random", "--bytes", "16777217"]),
            2,
            "16777217",
        );
    });
}

#[test]
fn hashes_are_those_of_openssl_for_inputs_of_any_size() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (size, name) in [
            (0, "empty"),
            (1, "one"),
            (65_536, "piece"),
            (200_001, "several"),
        ] {
            let input = scene.file(name, vec![0x5a; size]);
            for algorithm in ["sha256", "sha384", "sha512"] {
                let flag = format!("-{algorithm}");
                let judged = crate::hsm::openssl(&["dgst", &flag, "-r", &input]);
                let words = ["hash", "--algorithm", algorithm, "--input", &input];
                let told = scene.public(&words).text();
                assert_eq!(
                    told.trim_end(),
                    judged.split(' ').next().unwrap(),
                    "{name} {algorithm}"
                );
            }
        }
        let words = [
            "hash",
            "--algorithm",
            "sha3-256",
            "--input",
            &scene.name("one"),
            "--json",
        ];
        match store.kind() {
            Kind::SoftHsm => {
                let missing = error(&scene.public(&words), 12, Some("CKR_MECHANISM_INVALID"));
                let hint = missing["hint"].as_str().unwrap();
                assert!(hint.contains("CKM_SHA256"), "what would do: {hint}");
                assert!(
                    missing["message"]
                        .as_str()
                        .unwrap()
                        .contains("CKM_SHA3_256")
                );
            }
            Kind::Kryoptic => assert_eq!(data(&scene.public(&words))["input_bytes"], 1),
        }
        refused(
            &scene.public(&["hash", "--input", &scene.name("nothing")]),
            1,
            "nothing",
        );
    });
}

#[test]
fn a_wrong_pin_is_tried_once_and_explained() {
    on_each(|store| {
        let scene = Scene::new(store);
        let wrong = scene.file("wrong", "not-the-pin\n");
        std::fs::set_permissions(&wrong, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        let words = ["list-objects", "--pin-file", &wrong];
        let ended = scene.public(&words);
        refused(&ended, 11, "C_Login failed with CKR_PIN_INCORRECT");
        assert!(
            ended.stderr.contains("explain-error 0xa0 --context login"),
            "{ended:?}"
        );
        let told = error(
            &scene.public(&[&words[..], &["--json"]].concat()),
            11,
            Some("CKR_PIN_INCORRECT"),
        );
        assert_eq!(told["kind"], "auth");
        assert_eq!(
            (&told["rv"], &told["rv_hex"]),
            (&160.into(), &"0x000000a0".into())
        );
        assert_eq!(told["function"], "C_Login");
        let line = told["explain"].as_str().unwrap().to_owned();
        let explained = keywright(&line.split(' ').skip(1).collect::<Vec<_>>()).text();
        assert!(
            explained.starts_with("CKR_PIN_INCORRECT (0x000000a0, 160)"),
            "{explained}"
        );
        // The right one still opens.
        scene.data(&["list-objects"]);
    });
}

#[test]
fn the_pin_comes_from_one_place_and_never_from_the_words() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = [
            "hsm",
            "list-objects",
            "--module",
            &scene.module,
            "--label",
            "keywright",
        ];
        let refuse = scene.public(&["list-objects", "--user-pin", USER_PIN]);
        refused(&refuse, 2, "words of the command");
        assert!(!refuse.stderr.contains(USER_PIN), "{refuse:?}");
        let uri = format!("pkcs11:token=keywright?pin-value={USER_PIN}");
        let refuse = scene.bare(&["list-objects", "--uri", &uri]);
        refused(&refuse, 2, "words of the command");
        assert!(!refuse.stderr.contains(USER_PIN), "{refuse:?}");
        let warned = scene.public(&[
            "list-objects",
            "--user-pin",
            USER_PIN,
            "--insecure-pin-argv",
            "--json",
        ]);
        let warned = document(&warned);
        assert!(
            warned["warnings"][0]
                .as_str()
                .unwrap()
                .contains("others may have read it")
        );
        assert!(!warned.to_string().contains(USER_PIN));
        let two = scene.user(&["list-objects", "--pin-stdin"]);
        refused(&two, 2, "more than one source");
        let from_stdin = crate::program::keywright_reading(
            &[&words[..], &["--pin-stdin", "--json"]].concat(),
            format!("{USER_PIN}\r\nmore").as_bytes(),
        );
        assert_eq!(document(&from_stdin)["warnings"], serde_json::json!([]));
        let blank = crate::program::keywright_reading(
            &[&words[..], &["--pin-stdin"]].concat(),
            format!("{USER_PIN} \n").as_bytes(),
        );
        refused(&blank, 11, "CKR_PIN_INCORRECT");
        let empty =
            crate::program::keywright_reading(&[&words[..], &["--pin-stdin"]].concat(), b"");
        refused(&empty, 2, "holds no PIN");
        let variable = |value: &str| {
            let mut command = program();
            command
                .args(words)
                .args(["--pin-env", "PLANTED"])
                .env("PLANTED", value);
            command.output().unwrap().status.code()
        };
        assert_eq!(variable(USER_PIN), Some(0));
        assert_eq!(variable("not-the-pin"), Some(11));
        assert_eq!(variable(""), Some(2));
        let source = format!("pkcs11:token=keywright?pin-source={}", scene.pin_file());
        let by_uri = document(&scene.bare(&["list-objects", "--uri", &source, "--json"]));
        assert_eq!(by_uri["warnings"], serde_json::json!([]));
    });
}

#[test]
fn a_pin_file_that_others_may_read_is_refused() {
    on_each(|store| {
        let scene = Scene::new(store);
        let open = scene.file("open", format!("{USER_PIN}\n"));
        std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o640))
            .unwrap();
        refused(
            &scene.public(&["list-objects", "--pin-file", &open]),
            2,
            "may be read by others",
        );
        let missing = scene.name("missing");
        refused(
            &scene.public(&["list-objects", "--pin-file", &missing]),
            2,
            "missing",
        );
    });
}

#[test]
fn a_module_that_cannot_be_loaded_is_named_with_the_reason() {
    let folder = crate::program::Folder::new();
    let info = |module: &str| keywright(&["hsm", "info", "--module", module]);
    let missing = folder.name("missing.so");
    refused(&info(&missing), 9, &missing);
    let text = folder.write("text.so", "no library");
    refused(&info(&text), 2, &text);
    let library = "/lib/x86_64-linux-gnu/libc.so.6";
    if std::path::Path::new(library).exists() {
        refused(&info(library), 2, "no PKCS#11 module");
    }
    let open = folder.write("open.so", "");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    refused(&info(&open), 2, "changed by every user");
    refused(&info("-bad"), 2, "");
}

/// The commands with an environment and nothing else.
fn with(environment: &[(&str, &str)], words: &[&str]) -> crate::program::Ended {
    let output = program()
        .args(["hsm"])
        .args(words)
        .env_remove("KEYWRIGHT_PKCS11_MODULE")
        .env_remove("PKCS11_MODULE")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    crate::program::Ended {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_module_is_looked_for_in_one_order_and_a_bad_place_is_an_error() {
    on_each(|store| {
        let scene = Scene::new(store);
        let module = scene.module.as_str();
        let bad = "/nonexistent/module.so";
        refused(&with(&[], &["info"]), 2, "no PKCS#11 module is named");
        let both = [("KEYWRIGHT_PKCS11_MODULE", module), ("PKCS11_MODULE", bad)];
        assert_eq!(with(&both, &["info"]).code, 0);
        assert_eq!(with(&[("PKCS11_MODULE", module)], &["info"]).code, 0);
        refused(&with(&both, &["info", "--module", bad]), 9, bad);
        let uri = format!("pkcs11:?module-path={bad}");
        refused(&with(&both, &["info", "--uri", &uri]), 9, bad);
        let good = scene.file(
            "good.toml",
            format!("module = {module:?}\ntoken = \"keywright\"\n"),
        );
        let listed = with(&[], &["list-objects", "--config", &good, "--json"]);
        assert_eq!(document(&listed)["token"]["label"], "keywright");
        let by_variable = with(&[("KEYWRIGHT_HSM_CONFIG", &good)], &["info"]);
        assert_eq!(by_variable.code, 0, "{by_variable:?}");
        let home = scene.folder.path().join("keywright");
        std::fs::create_dir(&home).unwrap();
        std::fs::copy(&good, home.join("hsm.toml")).unwrap();
        let folder = scene.folder.path().to_str().unwrap();
        assert_eq!(with(&[("XDG_CONFIG_HOME", folder)], &["info"]).code, 0);
        for (name, text, happened) in [
            ("unknown.toml", "modul = \"/a.so\"\n", "line 1, column 1"),
            ("broken.toml", "module = \n", "line 1"),
            ("relative.toml", "module = \"a.so\"\n", "not absolute"),
        ] {
            let path = scene.file(name, text);
            let words = ["info", "--module", module, "--config", &path];
            refused(&with(&[], &words), 2, happened);
        }
        refused(
            &with(
                &[],
                &[
                    "info",
                    "--module",
                    module,
                    "--config",
                    "/nonexistent/c.toml",
                ],
            ),
            2,
            "cannot be read",
        );
        refused(
            &with(
                &[],
                &[
                    "info",
                    "--module",
                    module,
                    "--config",
                    &good,
                    "--profile",
                    "p",
                ],
            ),
            2,
            "no profile",
        );
    });
}

#[test]
fn codes_are_explained_in_any_spelling() {
    for spelling in [
        "0xA0",
        "160",
        "CKR_PIN_INCORRECT",
        "pin incorrect",
        "A0h",
        "PinIncorrect",
        "rv = CKR_PIN_INCORRECT (0xa0)",
    ] {
        let words = ["hsm", "explain-error", spelling, "--json"];
        let told = data(&keywright(&words));
        assert_eq!(
            (&told["code"], &told["rv"]),
            (&"CKR_PIN_INCORRECT".into(), &160.into()),
            "{spelling}"
        );
        assert!(!told["causes"].as_array().unwrap().is_empty());
    }
    let negative = data(&keywright(&[
        "hsm",
        "explain-error",
        "-2147483647",
        "--json",
    ]));
    assert_eq!(negative["rv"], 0x8000_0001_u64);
    let apart = data(&keywright(&[
        "hsm",
        "explain-error",
        "pin",
        "incorrect",
        "--json",
    ]));
    assert_eq!(apart["rv"], 160);
    let two = data(&keywright(&["hsm", "explain-error", "101", "--json"]));
    assert_eq!(two["code"], "CKR_KEY_CHANGED");
    assert!(
        two["other_reading"]
            .as_str()
            .unwrap()
            .starts_with("CKR_USER_NOT_LOGGED_IN")
    );
    let vendor = data(&keywright(&[
        "hsm",
        "explain-error",
        "0x80000011",
        "--json",
    ]));
    assert_eq!(
        (&vendor["vendor"], &vendor["code"]),
        (&true.into(), &"0x80000011".into())
    );
    let all = data(&keywright(&["hsm", "explain-error", "--list", "--json"]));
    assert_eq!(all["code_count"], 105);
    let steps = data(&keywright(&[
        "hsm",
        "explain-error",
        "0xa0",
        "--context",
        "sign",
        "--label",
        "my token",
        "--json",
    ]));
    assert!(steps["steps"].to_string().contains("'my token'"), "{steps}");
    refused(
        &keywright(&["hsm", "explain-error", "CKR_PIN_INCORECT"]),
        9,
        "CKR_PIN_INCORRECT",
    );
    refused(
        &keywright(&["hsm", "explain-error", "0xa0", "--context", "nothing"]),
        2,
        "--context",
    );
    refused(
        &keywright(&["hsm", "explain-error", ""]),
        2,
        "no return code",
    );
}

#[test]
fn names_from_outside_are_written_out_in_steps() {
    let hostile = "a\u{1b}[2Jb\u{ad}\nc";
    let words = [
        "hsm",
        "explain-error",
        "5",
        "--context",
        "sign",
        "--label",
        hostile,
    ];
    let text = keywright(&words).text();
    assert!(text.contains("a\\u{1b}[2Jb\\u{ad}\\nc"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{ad}']), "{text}");
}
