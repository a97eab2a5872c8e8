//! What the table of differences says of tokens, asked of the tokens that are installed.

use keywright_pkcs11_names::explain::{DIFFERENCES, Provider};
use keywright_pkcs11_names::{Named, ReturnCode};
use keywright_tokens::{Kind, Store, USER_PIN};

/// What `pkcs11-tool` says to these arguments; `None` without that program.
fn said(store: &Store, arguments: &[&str]) -> Option<String> {
    let mut command = store.pkcs11_tool("keywright").ok()?;
    let output = command.args(arguments).output().unwrap();
    Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// `pkcs11-tool` with the user logged in.
fn said_to_user(store: &Store, arguments: &[&str]) -> Option<String> {
    said(
        store,
        &[&["--login", "--pin", USER_PIN], arguments].concat(),
    )
}

/// Whether this is the SoftHSM of which the rows for 2.6 speak.
fn is_softhsm_2_6(store: &Store) -> bool {
    store.kind() == Kind::SoftHsm
        && said(store, &["--show-info"]).is_some_and(|text| text.contains("(ver 2.6)"))
}

fn knows(provider: Provider, code: ReturnCode) -> bool {
    DIFFERENCES
        .iter()
        .any(|row| row.provider() == provider && row.code() == code)
}

#[test]
fn wrong_pins_lock_the_token_that_is_said_to_lock() {
    keywright_tokens::on_each(|store| {
        let mut answers = Vec::new();
        for _ in 0..12 {
            let Some(text) = said(store, &["--login", "--pin", "not-the-pin", "-O"]) else {
                return;
            };
            answers.push(ReturnCode::read(&text).unwrap().value());
        }
        let last = answers.last().copied();
        match store.kind() {
            Kind::Kryoptic => {
                assert!(knows(Provider::Kryoptic, ReturnCode::PIN_LOCKED));
                assert_eq!(answers[8], ReturnCode::PIN_INCORRECT);
                assert_eq!(last, Some(ReturnCode::PIN_LOCKED), "{answers:?}");
            }
            Kind::SoftHsm => {
                assert!(knows(Provider::SoftHsm, ReturnCode::PIN_INCORRECT));
                assert_eq!(last, Some(ReturnCode::PIN_INCORRECT), "{answers:?}");
                let text = said(store, &["--login", "--pin", USER_PIN, "-O"]).unwrap();
                assert!(!text.contains("CKR_"), "{text}");
            }
        }
    });
}

#[test]
fn padded_wrapping_has_the_number_that_is_said() {
    keywright_tokens::on_each(|store| {
        let Some(text) = said(store, &["--list-mechanisms"]) else {
            return;
        };
        let text = text.to_uppercase();
        // Tools of different versions name different ones of the two, or give the number.
        let has = |names: [&str; 2]| {
            names
                .iter()
                .any(|name| text.lines().any(|line| line.contains(name)))
        };
        let (pad, kwp) = (
            has(["AES-KEY-WRAP-PAD", "0X210A"]),
            has(["AES-KEY-WRAP-KWP", "0X210B"]),
        );
        match store.kind() {
            Kind::Kryoptic => assert!(kwp && !pad, "{text}"),
            Kind::SoftHsm => assert!(pad && !kwp, "{text}"),
        }
    });
}

#[test]
fn a_store_that_is_gone_is_the_error_that_is_said() {
    keywright_tokens::on_each(|store| {
        if store.kind() != Kind::SoftHsm {
            return;
        }
        store.take_away();
        let Some(text) = said(store, &["-L"]) else {
            return;
        };
        assert!(knows(Provider::SoftHsm, ReturnCode::GENERAL_ERROR));
        assert!(text.contains("CKR_GENERAL_ERROR"), "{text}");
    });
}

#[test]
fn modules_are_recognised_by_what_they_say_of_themselves() {
    keywright_tokens::on_each(|store| {
        let Some(text) = said(store, &["--show-info"]) else {
            return;
        };
        let manufacturer = text
            .lines()
            .find_map(|line| line.strip_prefix("Manufacturer"))
            .unwrap();
        let expected = match store.kind() {
            Kind::Kryoptic => Provider::Kryoptic,
            Kind::SoftHsm => Provider::SoftHsm,
        };
        assert_eq!(Provider::recognise(manufacturer), Some(expected), "{text}");
    });
}

#[test]
fn oaep_with_another_hash_than_sha_1_is_refused_where_that_is_said() {
    keywright_tokens::on_each(|store| {
        if !is_softhsm_2_6(store) {
            return;
        }
        let ciphertext = store.folder().join("ciphertext");
        std::fs::write(&ciphertext, [1; 256]).unwrap();
        let key = ["--keypairgen", "--key-type", "rsa:2048", "--id", "01"];
        said_to_user(store, &key).unwrap();
        let file = ciphertext.to_str().unwrap();
        let oaep = ["--decrypt", "-m", "RSA-PKCS-OAEP", "--id", "01", "-i", file];
        let hash = ["--hash-algorithm", "SHA256", "--mgf", "MGF1-SHA256"];
        let text = said_to_user(store, &[&oaep[..], &hash].concat()).unwrap();
        assert!(knows(Provider::SoftHsm, ReturnCode::ARGUMENTS_BAD));
        assert!(
            text.contains("C_DecryptInit failed: rv = CKR_ARGUMENTS_BAD"),
            "{text}"
        );
    });
}

#[test]
fn a_decryption_that_fails_is_the_error_that_is_said() {
    keywright_tokens::on_each(|store| {
        if !is_softhsm_2_6(store) {
            return;
        }
        let ciphertext = store.folder().join("ciphertext");
        let key = ["--keygen", "--key-type", "AES:32", "--id", "02"];
        said_to_user(store, &key).unwrap();
        // One in 256 ends like padding by chance; not all of eight.
        let failed = (0..8_u8).any(|fill| {
            std::fs::write(&ciphertext, [fill; 32]).unwrap();
            let file = ciphertext.to_str().unwrap();
            let iv = "00000000000000000000000000000000";
            let decrypt = [
                "--decrypt",
                "-m",
                "AES-CBC-PAD",
                "--iv",
                iv,
                "--id",
                "02",
                "-i",
                file,
            ];
            let text = said_to_user(store, &decrypt).unwrap();
            text.contains("rv = CKR_GENERAL_ERROR")
        });
        assert!(knows(Provider::SoftHsm, ReturnCode::GENERAL_ERROR));
        assert!(failed);
    });
}
