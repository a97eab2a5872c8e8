//! What a signature depends on beside its key and hash: the salt and mask of PSS, contexts, pre-hashed variants, and
//! whether it was verified before it was written.

use keywright_tokens::{Kind, on_each};

use crate::hsm::{Scene, data, error, openssl, refused};
use crate::program::{Ended, keywright};

fn pair(scene: &Scene<'_>, label: &str, more: &[&str]) {
    scene.data(&[&["gen-keypair", "--key-label", label], more].concat());
}

/// The public key in a file.
fn exported(scene: &Scene<'_>, label: &str, form: &str) -> String {
    let path = scene.name(&format!("{label}.{form}"));
    let words = ["export-pubkey", "--key-label", label, "--container", form];
    let ended = scene.public(&[&words[..], &["--output", &path]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    path
}

/// A message, and where its signature goes.
struct Paper<'s, 'p> {
    scene: &'s Scene<'s>,
    message: &'p str,
    signature: &'p str,
}

impl Paper<'_, '_> {
    fn sign(&self, label: &str, how: &[&str]) -> Ended {
        let words = ["sign", "--key-label", label, "--input", self.message];
        let output = ["--output", self.signature, "--force", "--json"];
        self.scene.user(&[&words[..], &output, how].concat())
    }

    fn verify(&self, label: &str, how: &[&str]) -> i32 {
        let words = ["verify", "--key-label", label, "--input", self.message];
        let signature = ["--signature", self.signature];
        let ended = self.scene.public(&[&words[..], &signature, how].concat());
        ended.code
    }
}

#[test]
fn a_signature_is_verified_before_it_is_written() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", vec![0x33; 200_001]);
        let signature = scene.name("signature");
        let paper = Paper {
            scene: &scene,
            message: &message,
            signature: &signature,
        };
        for (label, make, how) in [
            ("rsa", &[][..], &[][..]),
            ("pss", &[], &["--mechanism", "pss"]),
            (
                "p256",
                &["--key-type", "p256"],
                &["--signature-format", "der"],
            ),
            ("ed", &["--key-type", "ed25519"], &[]),
        ] {
            pair(&scene, label, make);
            let made = data(&paper.sign(label, &[how, &["--self-verify"]].concat()));
            assert_eq!(made["self_verified"], "token", "{label}");
            assert_eq!(made["input_bytes"], 200_001, "{label}");
            assert_eq!(paper.verify(label, how), 0, "{label}");
            let plain = data(&paper.sign(label, how));
            assert!(plain.get("self_verified").is_none(), "{plain}");
        }
        // Without a public half in the token, the private key's own numbers are what is verified with.
        let delete = ["delete-key", "--key-label", "rsa", "--class", "public"];
        scene.data(&[&delete[..], &["--yes"]].concat());
        let made = data(&paper.sign("rsa", &["--self-verify"]));
        assert_eq!(made["self_verified"], "process");
        std::fs::remove_file(&signature).unwrap();
        let before = scene.folder.names();
        let other = paper.sign("rsa", &["--self-verify", "--hash", "sha512"]);
        let told = error(&other, 2, None);
        let happened = told["message"].as_str().unwrap();
        assert!(happened.contains("only data under sha256"), "{told}");
        assert_eq!(scene.folder.names(), before);
        assert_eq!(paper.sign("rsa", &["--hash", "sha512"]).code, 0);
    });
}

#[test]
fn a_signature_that_does_not_verify_is_the_tokens_error_and_is_not_written() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        let signature = scene.name("signature");
        let paper = Paper {
            scene: &scene,
            message: &message,
            signature: &signature,
        };
        for (label, id) in [("ours", "0a"), ("other", "0b")] {
            pair(&scene, label, &["--id", id]);
        }
        // The public half of another pair in the place of ours.
        let other = exported(&scene, "other", "der");
        let delete = ["delete-key", "--key-label", "ours", "--class", "public"];
        scene.data(&[&delete[..], &["--yes"]].concat());
        scene.judge(&[
            "--write-object",
            &other,
            "--type",
            "pubkey",
            "--id",
            "0a",
            "--label",
            "ours",
            "--usage-sign",
        ]);
        let before = scene.folder.names();
        for how in [
            &["--self-verify"][..],
            &["--self-verify", "--mechanism", "pss"],
        ] {
            let told = error(&paper.sign("ours", how), 5, None);
            let happened = told["message"].as_str().unwrap();
            assert!(happened.contains("does not verify"), "{told}");
            assert_eq!(told["kind"], "token");
            assert_eq!(scene.folder.names(), before);
        }
        let words = ["sign", "--key-label", "ours", "--input", &message];
        let to_stdout = scene.user(&[&words[..], &["--self-verify"]].concat());
        refused(&to_stdout, 5, "does not verify");
        // A request is verified without being asked to.
        let words = ["gen-csr", "--key-label", "ours", "--subject", "CN=a"];
        refused(&scene.user(&words), 5, "does not verify");
        assert_eq!(paper.sign("ours", &[]).code, 0);
        assert_eq!(paper.verify("ours", &[]), 8);
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn pss_has_the_salt_and_the_mask_that_are_asked_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        let signature = scene.name("signature");
        let paper = Paper {
            scene: &scene,
            message: &message,
            signature: &signature,
        };
        pair(&scene, "rsa", &[]);
        let public = exported(&scene, "rsa", "pem");
        let judged = |hash: &str, salt: &str, mask: &str| {
            let (salt, mask) = (
                format!("rsa_pss_saltlen:{salt}"),
                format!("rsa_mgf1_md:{mask}"),
            );
            let words = ["dgst", hash, "-sigopt", "rsa_padding_mode:pss"];
            let options = ["-sigopt", &salt, "-sigopt", &mask];
            let files = ["-verify", &public, "-signature", &signature, &message];
            let told = openssl(&[&words[..], &options, &files].concat());
            assert!(told.contains("Verified OK"), "{told}");
        };
        let pss = ["--mechanism", "pss"];
        for (hash, salt) in [
            ("sha256", "0"),
            ("sha256", "20"),
            ("sha256", "222"),
            ("sha512", "190"),
        ] {
            let how = [&pss[..], &["--hash", hash, "--salt-length", salt]].concat();
            data(&paper.sign("rsa", &[&how[..], &["--self-verify"]].concat()));
            judged(&format!("-{hash}"), salt, hash);
            assert_eq!(paper.verify("rsa", &how), 0, "{hash} {salt}");
            let other = [&pss[..], &["--hash", hash, "--salt-length", "33"]].concat();
            assert_eq!(paper.verify("rsa", &other), 8, "{hash} {salt}");
        }
        std::fs::remove_file(&signature).unwrap();
        let before = scene.folder.names();
        for (how, happened) in [
            (
                &["--mechanism", "pss", "--salt-length", "223"][..],
                "at most 222",
            ),
            (
                &[
                    "--mechanism",
                    "pss",
                    "--hash",
                    "sha512",
                    "--salt-length",
                    "191",
                ],
                "at most 190",
            ),
            (
                &[
                    "--mechanism",
                    "pss",
                    "--salt-length",
                    "18446744073709551615",
                ],
                "at most 222",
            ),
            (&["--salt-length", "32"], "no salt and no mask"),
            (&["--mgf", "sha256"], "no salt and no mask"),
            (&["--mechanism", "pss", "--context", "c"], "no context"),
        ] {
            let told = error(&paper.sign("rsa", how), 2, None);
            let message = told["message"].as_str().unwrap();
            assert!(message.contains(happened), "{told}");
            assert_eq!(scene.folder.names(), before);
        }
        let masked = [&pss[..], &["--mgf", "sha512"]].concat();
        let ended = paper.sign("rsa", &masked);
        match store.kind() {
            Kind::Kryoptic => {
                data(&ended);
                judged("-sha256", "32", "sha512");
                assert_eq!(paper.verify("rsa", &masked), 0);
                assert_eq!(paper.verify("rsa", &pss), 8);
            }
            Kind::SoftHsm => {
                let told = error(&ended, 12, Some("CKR_ARGUMENTS_BAD"));
                let hint = told["hint"].as_str().unwrap();
                assert!(hint.contains("--mgf"), "{told}");
                assert_eq!(scene.folder.names(), before);
                data(&paper.sign("rsa", &pss));
                assert_eq!(paper.verify("rsa", &masked), 12);
            }
        }
        data(&paper.sign("rsa", &[&pss[..], &["--salt-length", "32"]].concat()));
        let here = |more: &[&str]| {
            let words = ["hsm", "verify", "--pubkey", &public, "--input", &message];
            let signature = ["--signature", &signature];
            keywright(&[&words[..], &signature, &pss, more].concat())
        };
        assert_eq!(here(&["--salt-length", "32", "--mgf", "sha256"]).code, 0);
        for more in [&["--salt-length", "20"][..], &["--mgf", "sha512"]] {
            refused(&here(more), 2, "a salt of 32 bytes");
        }
        refused(&here(&["--context", "c"]), 2, "no context");
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn a_context_is_a_part_of_what_is_signed() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        let (signature, long) = (scene.name("signature"), "c".repeat(256));
        let paper = Paper {
            scene: &scene,
            message: &message,
            signature: &signature,
        };
        pair(&scene, "ed", &["--key-type", "ed25519"]);
        let bytes = scene.file("context", [0, 0xFF, 0x80]);
        let empty = scene.file("empty", "");
        let ways = [
            &["--context", "row 7"][..],
            &["--context", &long[1..]],
            &["--context-file", &bytes],
            &["--mechanism", "eddsa-ph"],
            &["--mechanism", "eddsa-ph", "--context", "row 7"],
        ];
        let before = scene.folder.names();
        for (how, happened) in [
            (&["--context", &long][..], "at most 255 bytes"),
            (&["--context", ""], "is empty"),
            (&["--context-file", &empty], "is empty"),
            (&["--context", "a", "--context-file", &bytes], "cannot be"),
            (&["--mechanism", "eddsa-ph", "--prehashed"], "own hash"),
        ] {
            let ended = paper.sign("ed", how);
            assert_eq!(ended.code, 2, "{ended:?}");
            let told = String::from_utf8_lossy(&ended.stdout).into_owned() + &ended.stderr;
            assert!(told.contains(happened), "{told}");
            assert_eq!(scene.folder.names(), before);
        }
        if store.kind() == Kind::SoftHsm {
            // It would pass over the parameter and sign without it.
            for how in ways {
                let code = Some("CKR_MECHANISM_PARAM_INVALID");
                error(&paper.sign("ed", how), 12, code);
                assert_eq!(scene.folder.names(), before);
            }
            data(&paper.sign("ed", &[]));
            assert!(ways.iter().all(|how| paper.verify("ed", how) == 12));
            return;
        }
        pair(&scene, "lattice", &["--key-type", "ml-dsa-65"]);
        for label in ["ed", "lattice"] {
            let own = |how: &&&[&str]| label == "ed" || how[0] != "--mechanism";
            for (at, how) in ways.iter().enumerate().filter(|(_, how)| own(how)) {
                data(&paper.sign(label, &[*how, &["--self-verify"]].concat()));
                for (other, way) in ways.iter().enumerate().filter(|(_, how)| own(how)) {
                    let fits = paper.verify(label, way);
                    assert_eq!(fits, if at == other { 0 } else { 8 }, "{how:?} {way:?}");
                }
                assert_eq!(paper.verify(label, &[]), 8, "{how:?}");
            }
            data(&paper.sign(label, &[]));
            assert_eq!(paper.verify(label, ways[0]), 8);
            let public = exported(&scene, label, "pem");
            let words = ["hsm", "verify", "--pubkey", &public, "--input", &message];
            let more = ["--signature", &signature, "--context", "row 7"];
            let ended = keywright(&[&words[..], &more].concat());
            refused(&ended, 2, "no context");
        }
        error(&paper.sign("lattice", ways[3]), 2, None);
    });
}

#[test]
fn openssl_verifies_ed448() {
    on_each(|store| {
        let scene = Scene::new(store);
        let message = scene.file("message", "a message");
        let signature = scene.name("signature");
        let paper = Paper {
            scene: &scene,
            message: &message,
            signature: &signature,
        };
        pair(&scene, "ed", &["--key-type", "ed448"]);
        let public = exported(&scene, "ed", "pem");
        data(&paper.sign("ed", &["--self-verify"]));
        let words = ["pkeyutl", "-verify", "-pubin", "-inkey", &public, "-rawin"];
        let files = ["-in", &message, "-sigfile", &signature];
        let judged = openssl(&[&words[..], &files].concat());
        assert!(judged.contains("Verified Successfully"), "{judged}");
        assert_eq!(paper.verify("ed", &[]), 0);
        let mut bytes = scene.folder.read("signature");
        bytes[7] ^= 1;
        scene.file("signature", bytes);
        assert_eq!(paper.verify("ed", &[]), 8);
    });
}
