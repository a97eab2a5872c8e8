//! Data through the keys of a token: files whole or not at all, and every damage refused.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use std::io::Write as _;
use std::process::Stdio;

use keywright_tokens::{Kind, on_each};

use crate::hsm::{Scene, error, openssl, refused};
use crate::program::program;

fn aes(scene: &Scene<'_>, label: &str) {
    scene.data(&["gen-symmetric-key", "--key-label", label]);
}

/// No file but these is in the folder.
#[track_caller]
fn nothing_new(scene: &Scene<'_>, before: &[String]) {
    assert_eq!(scene.folder.names(), before);
}

#[test]
fn files_of_any_size_come_back_as_they_were() {
    on_each(|store| {
        let scene = Scene::new(store);
        aes(&scene, "key");
        for size in [0, 1, 65_535, 65_536, 65_537, 131_072, 300_001] {
            let bytes: Vec<u8> = (0..=252).cycle().take(size).collect();
            let plain = scene.file("plain", &bytes);
            let (sealed, opened) = (scene.name("sealed"), scene.name("opened"));
            let words = ["--key-label", "key", "--aad", "context", "--force"];
            let told = scene.data(
                &[
                    &["encrypt-symmetric", "--input", &plain, "--output", &sealed],
                    &words[..],
                ]
                .concat(),
            );
            assert_eq!(told["input_bytes"], size);
            assert_eq!(told["output_bytes"], scene.folder.read("sealed").len());
            let told = scene.data(
                &[
                    &["decrypt-symmetric", "--input", &sealed, "--output", &opened],
                    &words[..],
                ]
                .concat(),
            );
            assert_eq!(told["output_bytes"], size);
            assert_eq!(scene.folder.read("opened"), bytes);
            assert_eq!(scene.folder.mode("opened"), 0o600);
        }
    });
}

#[test]
fn a_damaged_file_leaves_nothing_behind() {
    on_each(|store| {
        let scene = Scene::new(store);
        aes(&scene, "key");
        aes(&scene, "other");
        let plain = scene.file("plain", vec![7; 150_000]);
        let sealed = scene.name("sealed");
        scene.data(&[
            "encrypt-symmetric",
            "--key-label",
            "key",
            "--aad",
            "a",
            "--input",
            &plain,
            "--output",
            &sealed,
        ]);
        let good = scene.folder.read("sealed");
        let header = 27 + 16;
        let piece = 12 + 65_536 + 16;
        let mut swapped = good.clone();
        swapped[header..header + 2 * piece].rotate_left(piece);
        let damage = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            bytes
        };
        let cases = [
            damage(0),
            damage(4),
            damage(12),
            damage(header + 3),
            damage(header + 100),
            damage(header + piece + 5),
            damage(good.len() - 1),
            good[..header + 2 * piece].to_vec(),
            good[..good.len() - 1].to_vec(),
            good[..header].to_vec(),
            good[..10].to_vec(),
            Vec::new(),
            [&good[..], &[0]].concat(),
            swapped,
        ];
        let out = scene.name("out");
        let damaged = scene.file("damaged", "");
        let before = scene.folder.names();
        let open = |words: &[&str]| {
            scene.user(&[&["decrypt-symmetric", "--output", &out], words].concat())
        };
        for (number, case) in cases.iter().enumerate() {
            scene.file("damaged", case);
            let ended = open(&["--key-label", "key", "--aad", "a", "--input", &damaged]);
            assert_eq!(ended.code, 8, "case {number}: {ended:?}");
            refused(&ended, 8, "does not open");
            nothing_new(&scene, &before);
        }
        for words in [
            ["--key-label", "key", "--aad", "b", "--input", &sealed],
            ["--key-label", "other", "--aad", "a", "--input", &sealed],
        ] {
            refused(&open(&words), 8, "does not open");
            nothing_new(&scene, &before);
        }
        refused(
            &open(&["--key-label", "key", "--input", &sealed]),
            8,
            "does not open",
        );
        assert_eq!(
            open(&["--key-label", "key", "--aad", "a", "--input", &sealed]).code,
            0
        );
    });
}

#[test]
fn standard_input_and_output_carry_data_and_nothing_else() {
    on_each(|store| {
        let scene = Scene::new(store);
        aes(&scene, "key");
        let sealed = scene
            .user_reading(
                &["encrypt-symmetric", "--key-label", "key"],
                b"through a pipe",
            )
            .bytes();
        let opened = scene
            .user_reading(&["decrypt-symmetric", "--key-label", "key"], &sealed)
            .bytes();
        assert_eq!(opened, b"through a pipe");
        let mut bad = sealed;
        *bad.last_mut().unwrap() ^= 1;
        refused(
            &scene.user_reading(&["decrypt-symmetric", "--key-label", "key"], &bad),
            8,
            "does not open",
        );
    });
}

#[test]
fn the_older_form_is_aes_gcm_as_others_know_it() {
    on_each(|store| {
        let scene = Scene::new(store);
        let key = scene.file("raw-key", [9; 32]);
        scene.judge(&[
            "--write-object",
            &key,
            "--type",
            "secrkey",
            "--key-type",
            "AES:32",
            "--label",
            "known",
            "--usage-decrypt",
        ]);
        let plain = scene.file("plain", "as others know it");
        let sealed = scene.name("sealed");
        let words = ["--key-label", "known", "--container", "iv-ct-tag"];
        scene.data(
            &[
                &["encrypt-symmetric", "--input", &plain, "--output", &sealed],
                &words[..],
            ]
            .concat(),
        );
        // AES-GCM of another implementation, with the key that both have.
        let bytes = scene.folder.read("sealed");
        let (nonce, rest) = bytes.split_first_chunk::<12>().unwrap();
        let (text, tag) = rest.split_last_chunk::<16>().unwrap();
        let other = keywright_primitives::aead::Aes256Gcm::new(&[9; 32]).unwrap();
        let mut opened = text.to_vec();
        other.open(nonce, b"", &mut opened, tag).unwrap();
        assert_eq!(opened, b"as others know it");
        let mut theirs = b"made by another".to_vec();
        let tag = other.seal(&[3; 12], b"", &mut theirs).unwrap();
        let theirs = scene.file("theirs", [&[3; 12][..], &theirs, &tag[..]].concat());
        let back = scene.user(&[&["decrypt-symmetric", "--input", &theirs], &words[..]].concat());
        assert_eq!(back.bytes(), b"made by another");
        refused(
            &scene.user(
                &[
                    &["encrypt-symmetric", "--aad", "a", "--input", &plain],
                    &words[..],
                ]
                .concat(),
            ),
            2,
            "no additional data",
        );
        let short = scene.file("short", [1; 27]);
        refused(
            &scene.user(&[&["decrypt-symmetric", "--input", &short], &words[..]].concat()),
            8,
            "does not open",
        );
    });
}

#[test]
fn oaep_takes_what_fits_the_modulus_and_openssl_makes_the_same() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-keypair", "--key-label", "rsa", "--usage", "encrypt"]);
        let secret = scene.file("secret", "for the token's eyes");
        let sealed = scene.name("sealed");
        let told = crate::hsm::data(&scene.public(&[
            "encrypt",
            "--key-label",
            "rsa",
            "--input",
            &secret,
            "--output",
            &sealed,
            "--json",
        ]));
        let hash = match store.kind() {
            Kind::SoftHsm => "sha1",
            Kind::Kryoptic => "sha256",
        };
        assert_eq!(told["hash"], hash);
        assert_eq!(
            scene
                .user(&["decrypt", "--key-label", "rsa", "--input", &sealed])
                .bytes(),
            b"for the token's eyes"
        );
        let (pem, theirs) = (scene.name("rsa.pem"), scene.name("theirs"));
        assert_eq!(
            scene
                .public(&["export-pubkey", "--key-label", "rsa", "--output", &pem])
                .code,
            0
        );
        let (oaep, mgf) = (format!("rsa_oaep_md:{hash}"), format!("rsa_mgf1_md:{hash}"));
        openssl(&[
            "pkeyutl",
            "-encrypt",
            "-pubin",
            "-inkey",
            &pem,
            "-pkeyopt",
            "rsa_padding_mode:oaep",
            "-pkeyopt",
            &oaep,
            "-pkeyopt",
            &mgf,
            "-in",
            &secret,
            "-out",
            &theirs,
        ]);
        assert_eq!(
            scene
                .user(&["decrypt", "--key-label", "rsa", "--input", &theirs])
                .bytes(),
            b"for the token's eyes"
        );
        let limit = 256 - 2 * (if hash == "sha1" { 20 } else { 32 }) - 2;
        let most = scene.file("most", vec![1; limit]);
        let more = scene.file("more", vec![1; limit + 1]);
        assert_eq!(
            scene
                .public(&["encrypt", "--key-label", "rsa", "--input", &most])
                .code,
            0
        );
        let before = scene.folder.names();
        let out = scene.name("out");
        let large = scene.public(&[
            "encrypt",
            "--key-label",
            "rsa",
            "--input",
            &more,
            "--output",
            &out,
        ]);
        refused(&large, 2, &format!("at most {limit}"));
        let mut bytes = scene.folder.read("sealed");
        bytes[100] ^= 1;
        let damaged = scene.file("sealed", bytes);
        refused(
            &scene.user(&[
                "decrypt",
                "--key-label",
                "rsa",
                "--input",
                &damaged,
                "--output",
                &out,
            ]),
            8,
            "does not open",
        );
        nothing_new(&scene, &before);
    });
}

#[test]
fn a_key_leaves_wrapped_and_comes_back_the_same() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&[
            "gen-symmetric-key",
            "--key-label",
            "wrapping",
            "--usage",
            "wrap",
        ]);
        scene.data(&[
            "gen-symmetric-key",
            "--key-label",
            "leaving",
            "--extractable",
        ]);
        aes(&scene, "staying");
        let plain = scene.file("plain", "under the key that leaves");
        let sealed = scene.name("sealed");
        scene.data(&[
            "encrypt-symmetric",
            "--key-label",
            "leaving",
            "--input",
            &plain,
            "--output",
            &sealed,
        ]);
        for method in ["aes-kw", "aes-kwp"] {
            let wrapped = scene.name(method);
            let under = ["--wrapping-key-label", "wrapping", "--method", method];
            let told = scene.data(
                &[
                    &["wrap-key", "--key-label", "leaving", "--output", &wrapped],
                    &under[..],
                ]
                .concat(),
            );
            assert_eq!(told["wrapped_bytes"], 40);
            let back = ["unwrap-key", "--key-label", method, "--input", &wrapped];
            let made = scene.data(&[&back[..], &under].concat());
            assert_eq!(
                (&made["local"], &made["extractable"]),
                (&false.into(), &false.into())
            );
            let opened = scene.user(&[
                "decrypt-symmetric",
                "--key-label",
                method,
                "--input",
                &sealed,
            ]);
            assert_eq!(opened.bytes(), b"under the key that leaves");
            let mut bytes = scene.folder.read(method);
            bytes[8] ^= 1;
            scene.file(method, bytes);
            let broken = ["unwrap-key", "--key-label", "broken", "--input", &wrapped];
            let ended = scene.user(&[&broken[..], &under].concat());
            assert_eq!(ended.code, 8, "{method}: {ended:?}");
            assert_eq!(
                scene.data(&["list-objects", "--key-label", "broken"])["object_count"],
                0
            );
        }
        let wrap = |key: &str, under: &str| {
            scene.user(&[
                "wrap-key",
                "--key-label",
                key,
                "--wrapping-key-label",
                under,
            ])
        };
        refused(&wrap("staying", "wrapping"), 13, "made to stay");
        refused(&wrap("leaving", "staying"), 13, "may not wrap");
        refused(&wrap("nothing", "wrapping"), 9, "no secret key");
    });
}

#[test]
fn hmac_is_that_of_pkcs11_tool_and_any_other_code_is_refused() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", vec![5; 70_000]);
        let (code, theirs) = (scene.name("code"), scene.name("theirs"));
        scene.data(&[
            "gen-hmac-key",
            "--key-label",
            "own",
            "--id",
            "77",
            "--bits",
            "512",
        ]);
        for algorithm in ["sha256", "sha512"] {
            let mechanism = format!("{}-HMAC", algorithm.to_uppercase());
            scene.data(&[
                "hmac-sign",
                "--key-label",
                "own",
                "--algorithm",
                algorithm,
                "--input",
                &message,
                "--output",
                &code,
                "--force",
            ]);
            scene.judge(&[
                "--sign",
                "-m",
                &mechanism,
                "--id",
                "77",
                "--input-file",
                &message,
                "--output-file",
                &theirs,
            ]);
            assert_eq!(
                scene.folder.read("code"),
                scene.folder.read("theirs"),
                "{algorithm}"
            );
        }
        for length in [8, 20, 32] {
            let length = length.to_string();
            let words = ["--key-label", "own", "--input", &message];
            scene.data(
                &[
                    &[
                        "hmac-sign",
                        "--mac-len",
                        &length,
                        "--output",
                        &code,
                        "--force",
                    ],
                    &words[..],
                ]
                .concat(),
            );
            let cut = ["hmac-verify", "--hmac", &code, "--mac-len", &length];
            let verify = || scene.user(&[&cut, &words[..]].concat());
            assert_eq!(verify().code, 0, "{length}");
            let mut bytes = scene.folder.read("code");
            bytes[3] ^= 1;
            scene.file("code", bytes);
            refused(&verify(), 8, "does not fit");
        }
        refused(
            &scene.user(&[
                "hmac-sign",
                "--key-label",
                "own",
                "--mac-len",
                "0",
                "--input",
                &message,
            ]),
            2,
            "0 bytes",
        );
        refused(
            &scene.user(&[
                "hmac-sign",
                "--key-label",
                "own",
                "--mac-len",
                "33",
                "--input",
                &message,
            ]),
            2,
            "33 bytes",
        );
        refused(
            &scene.user(&["gen-hmac-key", "--key-label", "bad", "--bits", "129"]),
            2,
            "multiple of 8",
        );
        refused(
            &scene.user(&["gen-hmac-key", "--key-label", "bad", "--bits", "64"]),
            2,
            "112",
        );
    });
}

#[test]
fn a_verifier_alone_says_how_long_a_code_is() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-hmac-key", "--key-label", "hmac"]);
        scene.data(&["gen-cmac-key", "--key-label", "cmac"]);
        let message = scene.file("message", "pay 100");
        for (kind, whole) in [("hmac", 32), ("cmac", 16)] {
            let code = scene.name(kind);
            let (sign, check) = (format!("{kind}-sign"), format!("{kind}-verify"));
            let flag = format!("--{kind}");
            let key = ["--key-label", kind, "--input", &message];
            scene.data(&[&[sign.as_str(), "--output", &code], &key[..]].concat());
            let bytes = scene.folder.read(kind);
            assert_eq!(bytes.len(), whole);
            let verify = |file: &str, more: &[&str]| {
                scene.user(&[&[check.as_str(), &flag, file], &key[..], more].concat())
            };
            assert_eq!(verify(&code, &[]).code, 0);
            let longer = [bytes.as_slice(), &[0]].concat();
            let wrong = (0..whole)
                .map(|length| &bytes[..length])
                .chain([&longer[..]]);
            for part in wrong {
                let part = scene.file("part", part);
                refused(&verify(&part, &[]), 8, "are expected");
            }
            // Cut as both sides agree; every other length is refused then, the whole code too.
            let cut = scene.file("cut", &bytes[..8]);
            assert_eq!(verify(&cut, &["--mac-len", "8"]).code, 0);
            refused(
                &verify(&cut, &["--mac-len", "9"]),
                8,
                "8 bytes, and 9 are expected",
            );
            refused(&verify(&code, &["--mac-len", "8"]), 8, "8 are expected");
            let most = (whole + 1).to_string();
            for length in ["0", "4", "7", &most] {
                refused(&verify(&cut, &["--mac-len", length]), 2, "bytes");
            }
        }
        // Four bytes are taken by name alone, and only where the verifier says four.
        let four = scene.file("four", &scene.folder.read("cmac")[..4]);
        let words = [
            "cmac-verify",
            "--key-label",
            "cmac",
            "--input",
            &message,
            "--cmac",
            &four,
        ];
        let verify = |more: &[&str]| scene.user(&[&words[..], more].concat());
        refused(
            &verify(&["--allow-short"]),
            8,
            "4 bytes, and 16 are expected",
        );
        assert_eq!(verify(&["--allow-short", "--mac-len", "4"]).code, 0);
    });
}

#[test]
fn cmac_is_that_of_openssl_and_any_other_code_is_refused() {
    on_each(|store| {
        let scene = Scene::new(store);
        let key = scene.file("raw-key", [0x42; 32]);
        scene.judge(&[
            "--write-object",
            &key,
            "--type",
            "secrkey",
            "--key-type",
            "AES:32",
            "--label",
            "known",
            "--usage-sign",
        ]);
        let message = scene.file("message", vec![5; 70_001]);
        let code = scene.name("code");
        scene.data(&[
            "cmac-sign",
            "--key-label",
            "known",
            "--input",
            &message,
            "--output",
            &code,
        ]);
        let judged = openssl(&[
            "mac",
            "-cipher",
            "AES-256-CBC",
            "-macopt",
            &format!("hexkey:{}", "42".repeat(32)),
            "-in",
            &message,
            "CMAC",
        ]);
        let own = keywright_encoding::hex::encode(&scene.folder.read("code"));
        assert!(judged.to_ascii_lowercase().contains(&own), "{judged}");
        scene.data(&["gen-cmac-key", "--key-label", "own", "--bits", "128"]);
        for (length, allow) in [("16", &[][..]), ("8", &[]), ("4", &["--allow-short"])] {
            let words = [&["--key-label", "own", "--input", &message][..], allow].concat();
            scene.data(
                &[
                    &[
                        "cmac-sign",
                        "--mac-len",
                        length,
                        "--output",
                        &code,
                        "--force",
                    ],
                    &words[..],
                ]
                .concat(),
            );
            let cut = ["cmac-verify", "--cmac", &code, "--mac-len", length];
            let verify = || scene.user(&[&cut, &words[..]].concat());
            assert_eq!(verify().code, 0, "{length}");
            let mut bytes = scene.folder.read("code");
            bytes[0] ^= 0x80;
            scene.file("code", bytes);
            refused(&verify(), 8, "does not fit");
        }
        for length in ["0", "4", "17"] {
            refused(
                &scene.user(&[
                    "cmac-sign",
                    "--key-label",
                    "own",
                    "--mac-len",
                    length,
                    "--input",
                    &message,
                ]),
                2,
                "bytes",
            );
        }
    });
}

#[test]
fn a_key_does_only_what_it_was_made_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&[
            "gen-symmetric-key",
            "--key-label",
            "wrap",
            "--usage",
            "wrap",
        ]);
        let message = scene.file("message", "m");
        let out = scene.name("out");
        let before = scene.folder.names();
        let words = [
            "encrypt-symmetric",
            "--key-label",
            "wrap",
            "--input",
            &message,
            "--output",
            &out,
        ];
        let told = error(
            &scene.user(&[&words[..], &["--json"]].concat()),
            5,
            Some("CKR_KEY_FUNCTION_NOT_PERMITTED"),
        );
        assert!(
            told["explain"]
                .as_str()
                .unwrap()
                .ends_with("--context encrypt"),
            "{told}"
        );
        refused(&scene.user(&words), 5, "CKR_KEY_FUNCTION_NOT_PERMITTED");
        nothing_new(&scene, &before);
        refused(
            &scene.public(&["sign", "--key-label", "wrap", "--input", &message]),
            2,
            "terminal",
        );
    });
}

#[test]
fn a_file_of_any_size_is_encrypted_in_memory_that_does_not_grow_with_it() {
    on_each(|store| {
        let scene = Scene::new(store);
        aes(&scene, "aes");
        let output = scene.name("sealed");
        // The most memory that it had, in KiB, when all but the end of so many MiB was read.
        let peak = |mib: usize| {
            let mut command = program();
            command.args(["hsm", "encrypt-symmetric", "--key-label", "aes", "--force"]);
            command.args(["--module", &scene.module, "--label", "keywright"]);
            command.args(["--pin-file", scene.pin_file(), "--output", &output]);
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            let piece = vec![7; 1 << 20];
            (0..mib).for_each(|_| pipe.write_all(&piece).unwrap());
            let status = format!("/proc/{}/status", child.id());
            let status = std::fs::read_to_string(status).unwrap();
            drop(pipe);
            assert!(child.wait().unwrap().success());
            let line = status.lines().find(|line| line.starts_with("VmHWM:"));
            let number = line.unwrap().split_whitespace().nth(1).unwrap();
            number.parse::<u64>().unwrap()
        };
        let (small, large) = (peak(1), peak(64));
        assert!(large < small + (16 << 10), "{small} KiB, then {large} KiB");
        assert!(scene.folder.read("sealed").len() > 64 << 20);
    });
}
