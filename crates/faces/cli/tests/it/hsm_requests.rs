//! Certificate requests with usages and with PSS, read and verified by OpenSSL.

use keywright_tokens::on_each;

use crate::hsm::{Scene, openssl, refused};
use crate::program::Ended;

fn request(scene: &Scene<'_>, label: &str, more: &[&str]) -> Ended {
    let words = [
        "gen-csr",
        "--key-label",
        label,
        "--subject",
        "CN=host.example",
    ];
    scene.user(&[&words[..], more].concat())
}

/// What OpenSSL reads in a request that it verified.
#[track_caller]
fn judged(scene: &Scene<'_>, label: &str, more: &[&str]) -> String {
    let path = scene.name("request");
    let more = [more, &["--output", &path, "--force"]].concat();
    let ended = request(scene, label, &more);
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = openssl(&["req", "-in", &path, "-verify", "-noout", "-text"]);
    assert!(text.contains("self-signature verify OK"), "{text}");
    text
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn a_request_asks_for_the_usages_that_are_named() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (label, kind) in [("rsa", "rsa"), ("p256", "p256"), ("ed", "ed25519")] {
            scene.data(&["gen-keypair", "--key-label", label, "--key-type", kind]);
            let text = judged(
                &scene,
                label,
                &[
                    "--key-usage",
                    "digitalSignature,keyEncipherment, CRLSIGN",
                    "--extended-key-usage",
                    "serverAuth,clientAuth,1.3.6.1.5.5.7.3.17",
                    "--san",
                    "dns:host.example",
                ],
            );
            for expected in [
                "X509v3 Key Usage: critical",
                "Digital Signature, Key Encipherment, CRL Sign",
                "TLS Web Server Authentication, TLS Web Client Authentication, ipsec Internet Key Exchange",
                "DNS:host.example",
            ] {
                assert!(text.contains(expected), "{expected}: {text}");
            }
            let text = judged(&scene, label, &[]);
            assert!(!text.contains("Usage"), "{text}");
        }
        let text = judged(
            &scene,
            "p256",
            &["--key-usage", "keyAgreement,decipherOnly"],
        );
        assert!(text.contains("Key Agreement, Decipher Only"), "{text}");
        assert!(!text.contains("Extended"), "{text}");
        let words = ["--extended-key-usage", "anyExtendedKeyUsage,OCSPSigning"];
        let text = judged(&scene, "p256", &words);
        assert!(
            text.contains("Any Extended Key Usage, OCSP Signing"),
            "{text}"
        );
        let data = scene.data(&[
            "gen-csr",
            "--key-label",
            "rsa",
            "--subject",
            "CN=a",
            "--key-usage",
            "keyCertSign, cRLSign",
        ]);
        assert_eq!(
            data["key_usage"].to_string(),
            r#"["keyCertSign","cRLSign"]"#
        );
        for (more, happened) in [
            (["--key-usage", "serverAuth"], "no key usage"),
            (["--key-usage", ""], "no key usage"),
            (["--key-usage", "cRLSign,"], "no key usage"),
            (["--key-usage", "cRLSign,cRLSign"], "twice"),
            (["--extended-key-usage", "cRLSign"], "no extended key usage"),
            (["--extended-key-usage", ""], "no extended key usage"),
            (["--extended-key-usage", "3.1.2"], "no extended key usage"),
            (["--extended-key-usage", "codeSigning,codesigning"], "twice"),
        ] {
            refused(&request(&scene, "rsa", &more), 2, happened);
        }
    });
}

#[test]
fn a_request_is_signed_with_pss_where_that_is_asked_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-keypair", "--key-label", "rsa"]);
        scene.data(&["gen-keypair", "--key-label", "ec", "--key-type", "p256"]);
        scene.data(&["gen-keypair", "--key-label", "ed", "--key-type", "ed25519"]);
        for (hash, salt) in [("sha256", "0x20"), ("sha384", "0x30"), ("sha512", "0x40")] {
            let text = judged(&scene, "rsa", &["--mechanism", "pss", "--hash", hash]);
            for expected in [
                "Signature Algorithm: rsassaPss",
                &format!("Hash Algorithm: {hash}"),
                &format!("Mask Algorithm: mgf1 with {hash}"),
                &format!("Salt Length: {salt}"),
                "Public Key Algorithm: rsaEncryption",
            ] {
                assert!(text.contains(expected), "{expected}: {text}");
            }
        }
        let text = judged(&scene, "rsa", &["--mechanism", "pkcs1v15"]);
        assert!(text.contains("sha256WithRSAEncryption"), "{text}");
        let told = scene.data(&[
            "gen-csr",
            "--key-label",
            "rsa",
            "--subject",
            "CN=a",
            "--mechanism",
            "pss",
        ]);
        assert_eq!(
            (&told["scheme"], &told["hash"], &told["self_verified"]),
            (&"pss".into(), &"sha256".into(), &true.into())
        );
        for (label, mechanism, happened) in [
            ("ec", "pss", "do not make pss"),
            ("ed", "pss", "do not make pss"),
            ("rsa", "ecdsa", "do not make ecdsa"),
            ("ed", "eddsa-ph", "not signed with the pre-hashed"),
        ] {
            let ended = request(&scene, label, &["--mechanism", mechanism]);
            refused(&ended, 2, happened);
        }
        let words = ["--mechanism", "pss", "--hash", "sha1"];
        refused(&request(&scene, "rsa", &words), 2, "sha256, sha384 or");
    });
}
