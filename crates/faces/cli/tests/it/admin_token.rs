//! `keywright admin` and `keywright client` with a token: the flags that place keys and root keys there, and what they
//! refuse.

use keywright_tokens::{Kind, Store, USER_PIN, on_each};

use crate::admin_seed_service::{files, import};
use crate::program::{Ended, Folder, Home, eventually, keywright, keywright_reading, signal};

const MESSAGE: &[u8] = b"order 4711\n";

/// A folder with a PIN file, and the words that name the token of a store.
struct Place {
    folder: Folder,
    module: String,
    pin: String,
}

impl Place {
    fn new(store: &Store) -> Self {
        let folder = Folder::new();
        let pin = folder.write("pin", format!("{USER_PIN}\n"));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&pin, private).unwrap();
        Self {
            folder,
            module: store.tokens()[0].module().to_str().unwrap().to_owned(),
            pin,
        }
    }

    fn init(&self, home: &str, words: &[&str]) -> Ended {
        let place = [
            "--token-module",
            &self.module,
            "--token-pin-file",
            &self.pin,
        ];
        let usual = ["admin", "init", "--profile", "fast", "--home", home];
        keywright(&[&usual, &place[..], &["--token-label", "keywright"], words].concat())
    }

    fn home(self, words: &[&str]) -> Home {
        let home = self.folder.name("home");
        self.init(&home, words).bytes();
        let folder = self.folder;
        Home { folder, home }
    }
}

fn create(home: &Home, words: &[&str]) -> Ended {
    home.admin(&[&["context", "create"], words].concat())
}

fn custody(home: &Home, context: &str) -> (String, String) {
    let words = ["context", "describe", context, "--format", "json"];
    let described = home.admin(&words).document();
    let spec = &described["context"]["spec"];
    let text = |field: &str| spec[field].as_str().unwrap().to_owned();
    (text("custody"), text("algorithm"))
}

#[test]
fn a_demonstration_in_a_token_serves_with_its_root_key_there_too() {
    on_each(|store| {
        let home = Place::new(store).home(&["--demo", "--custody", "token", "--root-key", "token"]);
        let in_token = ("token".to_owned(), "token-gcm-12".to_owned());
        assert_eq!(custody(&home, "exchange-key"), in_token);
        assert!(home.path("root.token").exists() && !home.path("root.password").exists());
        let server = home.serve();
        let client = |words: &[&str], input: &[u8]| {
            let connection = home.of("trading-1", &server.url);
            keywright_reading(&[&["client"], words, &connection].concat(), input)
        };
        let sealed = client(&["encrypt", "exchange-key"], MESSAGE).bytes();
        assert_eq!(
            client(&["decrypt", "exchange-key"], &sealed).bytes(),
            MESSAGE
        );
        home.admin(&["key", "rotate", "exchange-key"]).bytes();
        assert_eq!(
            client(&["decrypt", "exchange-key"], &sealed).bytes(),
            MESSAGE
        );
        server.stop();
    });
}

/// Has the module loaded in a child of the service from now on.
fn into_child(home: &Home) {
    let path = home.path("keywright.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("process = \"service\"", "process = \"child\"");
    assert_ne!(text, changed);
    std::fs::write(path, changed).unwrap();
}

/// The children of a process.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let about = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut words = about.rsplit(')').next()?.split_whitespace();
        let (state, above) = (words.next()?, words.next()?);
        (state != "Z" && above == parent.to_string()).then_some(id)
    });
    processes.collect()
}

#[test]
fn a_server_with_its_token_in_a_child_loses_it_gets_it_back_and_ends_it_at_sigterm() {
    on_each(|store| {
        let home = Place::new(store).home(&["--demo", "--custody", "token", "--root-key", "token"]);
        into_child(&home);
        let checked = keywright(&["serve", "--check", "--home", &home.home]);
        assert!(checked.stderr.is_empty(), "{checked:?}");
        let said = String::from_utf8(checked.stdout).unwrap();
        assert!(said.contains("ok       token: "), "{said}");
        let server = home.serve();
        let client = |words: &[&str], input: &[u8]| {
            let connection = home.of("trading-1", &server.url);
            keywright_reading(&[&["client"], words, &connection].concat(), input)
        };
        let sealed = client(&["encrypt", "exchange-key"], MESSAGE).bytes();
        let child = children(server.id());
        assert_eq!(child.len(), 1, "{child:?}");
        // What a terminal or a service manager sends to all processes is the service's to answer.
        signal("TERM", child[0]);
        signal("INT", child[0]);
        let opened = client(&["decrypt", "exchange-key"], &sealed).bytes();
        assert_eq!(opened, MESSAGE);
        signal("KILL", child[0]);
        let opens = || {
            let ended = client(&["decrypt", "exchange-key"], &sealed);
            ended.code == 0 && ended.stdout == MESSAGE
        };
        assert!(eventually(opens));
        let child = children(server.id());
        server.stop();
        let gone = |id: &u32| !std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(child.len() == 1 && eventually(|| child.iter().all(gone)));
    });
}

#[test]
fn the_command_of_a_tokens_process_is_for_the_service_alone() {
    keywright(&["token-process"]).refused(2, "run by the service alone", "keywright serve");
    let help = keywright(&["--help"]).text();
    assert!(!help.contains("token-process"), "{help}");
}

fn grant(home: &Home) {
    let policy = home.admin(&["policy", "show"]).text();
    let grants = "[[grant]]\nprincipals = [\"trading-1\"]\n\
         contexts = [\"signer\", \"rsa\", \"lattice\", \"codes\", \"partner\"]\n\
         operations = [\"sign\", \"verify\", \"agree\", \"public-key\", \"mac\", \"mac-verify\"]\n";
    let file = home.folder.write("policy.toml", policy + grants);
    home.admin(&["policy", "apply", &file]).bytes();
}

#[test]
fn contexts_of_each_purpose_are_made_in_the_token_and_used() {
    on_each(|store| {
        let home = Place::new(store).home(&["--demo"]);
        let in_token = ["--custody", "token"];
        for (words, algorithm) in [
            (&["vault"][..], "token-gcm-12"),
            (&["signer", "--sign", "ecdsa-p384"], "ecdsa-p384"),
            (
                &["rsa", "--sign", "rsa-2048-pkcs1-sha-256"],
                "rsa-2048-pkcs1-sha-256",
            ),
            (&["codes", "--mac", "hmac-sha-512"], "hmac-sha-512"),
            (&["partner", "--agree", "ecdh-p256"], "ecdh-p256"),
        ] {
            create(&home, &[words, &in_token].concat()).bytes();
            let expected = ("token".to_owned(), algorithm.to_owned());
            assert_eq!(custody(&home, words[0]), expected);
        }
        // Suite 4 is for a token that makes nonces itself.
        let fourth = create(
            &home,
            &[&["own-nonce", "--suite", "token-gcm-16"][..], &in_token].concat(),
        );
        match store.kind() {
            Kind::Kryoptic => drop(fourth.bytes()),
            Kind::SoftHsm => fourth.refused(12, "keeps no keys of token-gcm-16", "list-mechanisms"),
        }
        let lattice = over_lattices(&home, store);
        grant(&home);
        let server = home.serve();
        let client = |words: &[&str], input: &[u8]| {
            let connection = home.of("trading-1", &server.url);
            keywright_reading(&[&["client"], words, &connection].concat(), input)
        };
        for context in ["signer", "rsa"].into_iter().chain(lattice) {
            let signature = client(&["sign", context], MESSAGE).text();
            let words = [
                "verify",
                context,
                "--key-version",
                "1",
                "--signature",
                signature.trim(),
            ];
            assert_eq!(client(&words, MESSAGE).text(), "the signature fits\n");
            client(&words, b"another").refused(8, "does not fit", "same input");
        }
        client(&["sign", "signer", "--digest"], &[7; 48]).bytes();
        client(&["sign", "signer", "--digest"], &[7; 32]).refused(2, "48 for P-384", "");
        let mac = client(&["mac", "codes"], MESSAGE).text();
        let words = [
            "mac-verify",
            "codes",
            "--key-version",
            "1",
            "--mac",
            mac.trim(),
        ];
        client(&words, MESSAGE).bytes();
        server.stop();
    });
}

/// A context that signs with ML-DSA, where the token does.
fn over_lattices(home: &Home, store: &Store) -> Option<&'static str> {
    let words = ["lattice", "--sign", "ml-dsa-65", "--custody", "token"];
    let made = create(home, &words);
    match store.kind() {
        Kind::Kryoptic => {
            made.bytes();
            Some("lattice")
        }
        Kind::SoftHsm => {
            made.refused(12, "keeps no keys of ml-dsa-65", "list-mechanisms");
            None
        }
    }
}

#[test]
fn what_no_token_keeps_is_refused_with_what_to_do() {
    on_each(|store| {
        let home = Place::new(store).home(&["--demo"]);
        for (words, happened) in [
            (&["--value-format", "card"][..], "purpose tokenise"),
            (&["--tree", "bip32-secp256k1"], "purpose tree"),
            (&["--suite", "xaes-256-gcm"], "streams need the key"),
            (&["--suite", "xchacha20-poly1305"], "streams need the key"),
            (
                &["--sign", "ecdsa-secp256k1"],
                "keeps no keys of ecdsa-secp256k1",
            ),
            (&["--sign", "rsa-4096-pss-sha-256"], "not signed in a token"),
            (
                &["--deterministic", "equal-texts-show"],
                "purpose deterministic",
            ),
        ] {
            let words = [&["none", "--custody", "token"][..], words].concat();
            create(&home, &words).refused(12, happened, "");
        }
        for (words, happened) in [
            (&["--suite", "token-gcm-12"][..], "in a token only"),
            (&["--sign", "ecdsa-p521"], "in a token only"),
        ] {
            let words = [&["none", "--custody", "wrapped"][..], words].concat();
            create(&home, &words).refused(12, happened, "custody token");
        }
        let listed = home.admin(&["context", "list"]).text();
        assert!(!listed.contains("none "), "{listed}");
    });
}

#[test]
fn flags_of_a_token_that_do_not_fit_together_or_name_none_make_no_home() {
    let alone = Home::demo();
    create(&alone, &["vault", "--custody", "token"]).refused(12, "no token", "[token]");
    on_each(|store| {
        let place = Place::new(store);
        let home = place.folder.name("home");
        let bare = ["admin", "init", "--home", &home, "--profile", "fast"];
        for words in [
            &["--custody", "token"][..],
            &["--token-label", "keywright"],
            &["--token-module", &place.module],
        ] {
            let ended = keywright(&[&bare[..], words].concat());
            assert_eq!(ended.code, 2, "{words:?}: {ended:?}");
        }
        let rooted = keywright(&[&bare[..], &["--root-key", "token"]].concat());
        assert_ne!(rooted.code, 0, "{rooted:?}");
        let other = place.folder.write("wrong", "not-the-pin\n");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&other, private).unwrap();
        let words = [
            "--token-module",
            &place.module,
            "--token-pin-file",
            &other,
            "--token-label",
            "keywright",
            "--root-key",
            "token",
        ];
        let wrong = keywright(&[&bare[..], &words].concat());
        wrong.refused(11, "CKR_PIN_INCORRECT", "");
        let missing = [
            &words[..4],
            &["--token-label", "nobody", "--root-key", "token"],
        ]
        .concat();
        let missing = keywright(&[&bare[..], &missing].concat());
        assert_ne!(missing.code, 0, "{missing:?}");
        assert!(!std::path::Path::new(&home).exists(), "nothing was made");
    });
}

#[test]
fn a_token_that_refuses_the_pin_ends_a_server_wherever_its_module_is() {
    on_each(|store| {
        let home = Place::new(store).home(&["--root-key", "token"]);
        home.folder.write("pin", "not-the-pin\n");
        let serve = ["serve", "--home", &home.home, "--listen", "127.0.0.1:0"];
        keywright(&serve).refused(11, "CKR_PIN_INCORRECT", "");
        into_child(&home);
        keywright(&serve).refused(11, "CKR_PIN_INCORRECT", "");
    });
}

#[test]
fn the_keys_of_the_seed_service_are_bound_where_they_are_or_nothing_gets_a_right() {
    on_each(|store| {
        let place = Place::new(store);
        let (module, pin) = (place.module.clone(), place.pin.clone());
        let make = |label: &str, id: &str| {
            let token = [
                "--module",
                &module,
                "--label",
                "keywright",
                "--pin-file",
                &pin,
            ];
            let key = ["--key-label", label, "--bits", "256", "--id", id];
            let words = [&["hsm", "gen-symmetric-key"], &token[..], &key].concat();
            keywright(&[&words[..], &["--allow-duplicate"]].concat()).bytes();
        };
        make("kek-trade-v1", "01");
        make("kek-trade-v2", "02");
        let home = place.home(&["--demo"]);
        files(&home);
        let policy = || home.admin(&["policy", "show"]).text();
        let before = policy();
        // One key is not in the token: the policy, which comes last, is as it was.
        let missing = "no secret key labelled \"kek-codes-v1\"";
        import(&home, "token", &[]).refused(9, missing, "list-objects");
        assert_eq!(policy(), before);
        make("kek-codes-v1", "03");
        let told = import(&home, "token", &["--format", "json"]).document();
        assert!(told["epoch"].is_u64(), "{told}");
        for (context, count) in [(0, 2), (1, 1)] {
            let keys = told["contexts"][context]["keys"].as_array().unwrap();
            assert_eq!(keys.len(), count);
            assert!(
                keys.iter()
                    .all(|key| key["state"] == "there" && key["key_version"].is_u64())
            );
        }
        assert_eq!(custody(&home, "trade").0, "token");
        let shown = home
            .admin(&["context", "describe", "codes", "--format", "json"])
            .document();
        assert_eq!(shown["context"]["versions"][1]["reader"]["object"], "03");
        let again = import(&home, "token", &["--format", "json"]).document();
        assert!(again.get("epoch").is_none(), "{again}");
    });
}

#[test]
fn a_key_of_the_seed_service_that_is_missing_or_there_twice_is_not_brought_in() {
    on_each(|store| {
        let place = Place::new(store);
        let (module, pin) = (place.module.clone(), place.pin.clone());
        let token = ["--module", &module, "--label", "keywright"];
        for (label, id) in [("kek-one", "01"), ("kek-twin", "02"), ("kek-twin", "03")] {
            let key = ["--key-label", label, "--id", id, "--pin-file", &pin];
            let more = ["--bits", "256", "--allow-duplicate"];
            let words = [&["hsm", "gen-symmetric-key"], &token[..], &key, &more].concat();
            keywright(&words).bytes();
        }
        let home = place.home(&["--demo"]);
        create(&home, &["trade", "--custody", "token"]).bytes();
        let reader = |label: &str, more: &[&str]| {
            let words = ["import", "reader", "trade", "--mode", "private", "--label"];
            home.admin(&[&words[..], &[label], more].concat())
        };
        let refuse = || {
            let missing = "the token has no secret key labelled \"kek-none\"";
            reader("kek-none", &[]).refused(9, missing, "list-objects");
            let other = "labelled \"kek-one\" with id 00";
            reader("kek-one", &["--object", "00"]).refused(9, other, "nothing was changed");
            let several = "more than one secret key labelled \"kek-twin\"";
            reader("kek-twin", &[]).refused(13, several, "leave one");
            reader("kek-twin", &["--object", "02"]).refused(13, several, "leave one");
        };
        refuse();
        // A node that runs says the same.
        let server = home.serve();
        refuse();
        reader("kek-one", &["--object", "01"]).bytes();
        server.stop();
    });
}
