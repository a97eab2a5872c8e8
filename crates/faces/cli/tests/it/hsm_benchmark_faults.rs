//! A token that fails, or that gives wrong results, is never one that only lacks something.

use keywright_tokens::{Faults, Kind, Store, on_each};
use serde_json::Value;

use crate::hsm::{Scene, document, error};
use crate::program::Ended;

/// A scene whose module has faults; none of Kryoptic, which exports its table alone, while the module with faults looks
/// for functions by their names.
fn with_faults(store: &Store) -> Option<(Scene<'_>, Faults)> {
    if store.kind() == Kind::Kryoptic {
        return None;
    }
    let (mut scene, faults) = (Scene::new(store), Faults::before(store));
    scene.module = faults.module().to_str().unwrap().to_owned();
    Some((scene, faults))
}

/// Two rows that use the function of a fault, and one that does not.
fn measured(scene: &Scene<'_>, rows: &str, words: &[&str]) -> Ended {
    let usual =
        "benchmark --iterations 20 --runs 1 --no-history --quiet --verify all --inconclusive pass";
    let mut all: Vec<&str> = usual.split(' ').collect();
    all.extend(["--format", "json", "--ops", rows]);
    scene.user(&[&all[..], words].concat())
}

fn said(document: &Value) -> String {
    format!("{} {}", document["validity"], document["verdicts"])
}

const SIGNING: &str = "ecdsa-p256.sign,hmac-sha256.sign,random.32";
const VERIFYING: &str = "ecdsa-p256.verify,hmac-sha256.verify,random.32";
const SEALING: &str = "aes-256-gcm.seal.1k,rsa2048-pkcs1.encrypt,random.32";

#[test]
fn a_flipped_bit_or_a_device_error_in_every_result_ends_with_5() {
    on_each(|store| {
        let Some((scene, faults)) = with_faults(store) else {
            return;
        };
        for (fault, rows, word, reason) in [
            (
                "C_Sign 0 always flip",
                SIGNING,
                "WRONG-OUTPUT",
                "first result",
            ),
            (
                "C_Sign 0 always flip",
                VERIFYING,
                "TARGET-ERRORS",
                "does not fit",
            ),
            (
                "C_Encrypt 0 always flip",
                SEALING,
                "WRONG-OUTPUT",
                "first result",
            ),
            // CKR_DEVICE_ERROR, CKR_GENERAL_ERROR, CKR_KEY_HANDLE_INVALID.
            (
                "C_Sign 0 always fail 48",
                SIGNING,
                "TARGET-ERRORS",
                "CKR_DEVICE_ERROR",
            ),
            (
                "C_SignInit 0 always fail 5",
                SIGNING,
                "TARGET-ERRORS",
                "CKR_GENERAL_ERROR",
            ),
            (
                "C_EncryptInit 0 always fail 96",
                SEALING,
                "TARGET-ERRORS",
                "CKR_KEY_HANDLE_INVALID",
            ),
        ] {
            faults.plant(fault);
            let ended = measured(&scene, rows, &[]);
            assert_eq!(ended.code, 5, "{fault} {ended:?}");
            let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
            let said = said(&document);
            assert!(
                said.contains(word) && said.contains(reason),
                "{fault} {said}"
            );
            assert!(!said.contains("cannot do"), "{fault} {said}");
            // The row that has nothing to do with it is measured all the same.
            assert_eq!(document["cases"].as_array().unwrap().len(), 1, "{fault}");
            assert!(ended.stderr.contains("error: pkcs11 "), "{ended:?}");
        }
        faults.mend();
        assert_eq!(measured(&scene, SIGNING, &[]).code, 0);
    });
}

#[test]
fn faults_that_begin_while_measuring_end_with_5() {
    on_each(|store| {
        let Some((scene, faults)) = with_faults(store) else {
            return;
        };
        for (fault, word) in [
            ("C_Sign 9 always flip", "WRONG-OUTPUT"),
            ("C_Sign 9 always fail 48", "TARGET-ERRORS"),
        ] {
            faults.plant(fault);
            let ended = measured(&scene, "hmac-sha256.sign", &[]);
            assert_eq!(ended.code, 5, "{fault} {ended:?}");
            let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
            assert!(said(&document).contains(word), "{fault} {document}");
        }
    });
}

#[test]
fn a_verification_that_fails_is_no_answer_to_verify() {
    on_each(|store| {
        let Some((scene, faults)) = with_faults(store) else {
            return;
        };
        faults.plant("C_Sign 0 always flip");
        for rows in [
            "ecdsa-p256.verify",
            "hmac-sha256.verify",
            "hmac-sha256.sign",
        ] {
            let told = error(&measured(&scene, rows, &[]), 5, None);
            let message = told["message"].as_str().unwrap();
            assert!(message.contains(rows), "{message}");
            assert_eq!(told["kind"], "token");
        }
    });
}

#[test]
fn only_codes_that_say_so_mean_not_supported() {
    on_each(|store| {
        let Some((scene, faults)) = with_faults(store) else {
            return;
        };
        for (code, name) in [
            (0x54, "CKR_FUNCTION_NOT_SUPPORTED"),
            (0x63, "CKR_KEY_TYPE_INCONSISTENT"),
            (0x70, "CKR_MECHANISM_INVALID"),
            (0x140, "CKR_CURVE_NOT_SUPPORTED"),
        ] {
            faults.plant(&format!("C_SignInit 0 always fail {code}"));
            let ended = measured(&scene, SIGNING, &[]);
            assert_eq!(ended.code, 0, "{name} {ended:?}");
            let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
            let said = said(&document);
            assert!(said.contains("cannot do") && said.contains(name), "{said}");
            assert_eq!(measured(&scene, "ecdsa-p256.sign", &[]).code, 12, "{name}");
        }
    });
}

#[test]
fn capabilities_tell_a_failure_from_a_lack() {
    on_each(|store| {
        let Some((scene, faults)) = with_faults(store) else {
            return;
        };
        let tried = |exit: i32| {
            let ended = scene.user(&["capabilities", "--json"]);
            assert_eq!(ended.code, exit, "{ended:?}");
            document(&ended)["data"]["capabilities"].clone()
        };
        let of = |all: &Value, name: &str| {
            let all = all.as_array().unwrap();
            let one = all.iter().find(|one| one["name"] == name).unwrap();
            (one["able"] == true, one["failed"] == true)
        };
        let sound = tried(0);
        assert_eq!(of(&sound, "HMAC-SHA-256"), (true, false));
        assert_eq!(of(&sound, "AES-256-CCM"), (false, false));
        assert_eq!(of(&sound, "RSA-OAEP with SHA-256"), (false, false));
        for (fault, name) in [
            ("C_Sign 0 always flip", "HMAC-SHA-256"),
            ("C_Encrypt 0 always flip", "AES-256-GCM"),
            ("C_Digest 0 always flip", "SHA-256, SHA-384, SHA-512"),
            ("C_Sign 0 always fail 48", "ECDSA P-256 over a hash"),
        ] {
            faults.plant(fault);
            let found = tried(5);
            assert_eq!(of(&found, name), (false, true), "{fault}");
            assert_eq!(of(&found, "AES-256-CCM"), (false, false));
            // A failed call leaves its operation active, which is not told of what is tried next.
            assert!(
                !found.to_string().contains("CKR_OPERATION_ACTIVE"),
                "{found}"
            );
        }
        faults.plant("C_Verify 0 always fail 0");
        let found = tried(5);
        for (name, reason) in [
            ("HMAC-SHA-256", "accepts a wrong MAC"),
            ("ECDSA P-256 over a hash", "accepts a wrong signature"),
            ("RSA-2048 PSS signature", "accepts a wrong signature"),
        ] {
            assert_eq!(of(&found, name), (false, true), "{name}");
            let all = found.as_array().unwrap();
            let one = all.iter().find(|one| one["name"] == name).unwrap();
            assert_eq!(one["reason"], reason);
        }
    });
}
