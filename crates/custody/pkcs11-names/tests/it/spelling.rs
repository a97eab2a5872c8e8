//! Names and numbers are read in every way in which people write them, and nothing else is.

use keywright_mutate::{mutants, mutations};
use keywright_pkcs11_names::{
    KeyType, LONGEST_TEXT, MechanismType, Named, ObjectClass, ReturnCode, SpellingError,
    fuzz_spelling,
};

const SPELLINGS: &[&str] = &[
    "CKR_PIN_INCORRECT",
    "ckr_pin_incorrect",
    "PIN_INCORRECT",
    "pin-incorrect",
    "pin incorrect",
    "PinIncorrect",
    "CkrPinIncorrect",
    "CKR::PIN_INCORRECT",
    "  PIN_INCORRECT\n",
    "0xA0",
    "0Xa0",
    "0x000000A0",
    "0x00000000000000a0",
    "000000A0",
    "00000000000000a0",
    "A0h",
    "a0H",
    "0A0h",
    "160",
    "rv = CKR_PIN_INCORRECT (0xa0)",
    "C_Login failed: rv = CKR_PIN_INCORRECT (160)",
    "error: PKCS11 function C_Login failed: rv = CKR_PIN_INCORRECT (0xa0)\nAborting.",
    "Returned:  160 CKR_PIN_INCORRECT",
    "Pkcs11(PinIncorrect, Login)",
    "2026-11-20T12:00:01 login: returned 0xa0 after 3 tries",
    "login failed with error 160.",
    "pkcs11: 0xA0: CKR_PIN_INCORRECT",
];

#[test]
fn explain_all_spellings() {
    for text in SPELLINGS {
        let reading = ReturnCode::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(reading.value(), ReturnCode::PIN_INCORRECT, "{text}");
    }
}

#[test]
fn every_name_and_number_of_a_table_is_read_back() {
    fn check<T: Named>() {
        for &(name, number) in T::names() {
            let value = T::from_number(number);
            let camel: String = name
                .split('_')
                .map(|word| format!("{}{}", &word[..1], word[1..].to_lowercase()))
                .collect();
            for text in [
                name.to_owned(),
                name.to_lowercase(),
                name.replace('_', "-"),
                name.replace('_', " "),
                camel,
                format!("rv = {name} (0x{number:x})"),
                format!("0x{number:x}"),
                format!("0x{number:016X}"),
                format!("0{number:x}h"),
                number.to_string(),
                value.to_string(),
            ] {
                assert_eq!(
                    T::read(&text).map(|reading| reading.value()),
                    Ok(value),
                    "{text}"
                );
            }
        }
    }
    check::<ReturnCode>();
    check::<MechanismType>();
    check::<ObjectClass>();
    check::<KeyType>();
}

#[test]
fn explain_ambiguous_digits() {
    let reading = ReturnCode::read("101").unwrap();
    assert_eq!(reading.value(), ReturnCode::KEY_CHANGED);
    assert_eq!(reading.other(), Some(ReturnCode::USER_NOT_LOGGED_IN));
    // In hexadecimal these digits are no code: nothing else can have been meant.
    assert_eq!(
        ReturnCode::read("160").unwrap().other(),
        Some(ReturnCode::SAVED_STATE_INVALID)
    );
    assert_eq!(ReturnCode::read("257").unwrap().other(), None);
    for sure in ["0x101", "101h", "CKR_KEY_CHANGED", "5"] {
        assert_eq!(ReturnCode::read(sure).unwrap().other(), None, "{sure}");
    }
    // A name and a number that do not belong together.
    let reading = ReturnCode::read("CKR_PIN_INCORRECT (0xa4)").unwrap();
    assert_eq!(reading.value(), ReturnCode::PIN_INCORRECT);
    assert_eq!(reading.other(), Some(ReturnCode::PIN_LOCKED));
}

#[test]
fn vendor_codes_keep_number() {
    for (text, number) in [
        ("0x80000001", 0x8000_0001),
        ("80000001h", 0x8000_0001),
        ("-2147483647", 0x8000_0001),
        ("-2147483648", 0x8000_0000),
        ("-1", 0xffff_ffff),
        ("2147483649", 0x8000_0001),
        ("0xffffffffffffffff", u64::MAX),
        ("rv = 0x80000001", 0x8000_0001),
    ] {
        let code: ReturnCode = text.parse().unwrap();
        assert_eq!(code.value(), number, "{text}");
    }
    assert_eq!(ReturnCode::new(0x8000_0001).to_string(), "0x80000001");
    assert_eq!(ReturnCode::new(0x8000_0001).vendor_offset(), Some(1));
}

#[test]
fn what_says_nothing_is_refused() {
    for text in ["", "  ", "\n"] {
        assert_eq!(
            ReturnCode::read(text),
            Err(SpellingError::Empty {
                kind: "return code"
            })
        );
    }
    for text in [
        "18446744073709551616",
        "0x10000000000000000",
        "-2147483649",
        "-99999999999999999999",
    ] {
        assert_eq!(
            ReturnCode::read(text),
            Err(SpellingError::TooLarge),
            "{text}"
        );
    }
    for text in [
        "0x",
        "h",
        "-",
        "0xZZ",
        "CKR_",
        "each",
        "it was ok",
        "the user pressed cancel",
        "CKM_AES_GCM",
        "--160--x",
    ] {
        let answer = ReturnCode::read(text);
        assert!(
            matches!(answer, Err(SpellingError::Unknown { .. })),
            "{text}: {answer:?}"
        );
    }
    let long = "x".repeat(LONGEST_TEXT + 1);
    assert_eq!(ReturnCode::read(&long), Err(SpellingError::TooLong));
}

#[test]
fn a_message_with_several_codes_is_ambiguous_and_names_them() {
    let text = "first CKR_PIN_INCORRECT, then CKR_PIN_LOCKED";
    let Err(SpellingError::Ambiguous { found, .. }) = ReturnCode::read(text) else {
        panic!("{text}");
    };
    assert_eq!(found, ["CKR_PIN_INCORRECT", "CKR_PIN_LOCKED"]);
    for text in ["errors 0xa0 and 0xa4", "codes 160, 164"] {
        assert!(
            matches!(ReturnCode::read(text), Err(SpellingError::Ambiguous { .. })),
            "{text}"
        );
    }
    // The same one twice is one.
    assert_eq!(
        "CKR_PIN_LOCKED: PIN_LOCKED (0xa4)".parse(),
        Ok(ReturnCode::PIN_LOCKED)
    );
}

#[test]
fn a_misspelt_name_comes_with_the_nearest() {
    for (text, first) in [
        ("CKR_PIN_INCORECT", "CKR_PIN_INCORRECT"),
        ("pin icnorrect", "CKR_PIN_INCORRECT"),
        ("SESION_HANDLE_INVALID", "CKR_SESSION_HANDLE_INVALID"),
        ("CKR_KEY_UNEXTRACTIBLE", "CKR_KEY_UNEXTRACTABLE"),
        ("MECANISM_INVALID", "CKR_MECHANISM_INVALID"),
    ] {
        let Err(SpellingError::Unknown { nearest, .. }) = ReturnCode::read(text) else {
            panic!("{text}");
        };
        assert_eq!(nearest.first(), Some(&first), "{text}");
        assert!(nearest.len() <= 3);
    }
    assert_eq!(
        MechanismType::nearest("AES_GMC").first(),
        Some(&"CKM_AES_GCM")
    );
    assert!(ReturnCode::nearest("").len() <= 3);
    assert!(ReturnCode::nearest("zzzzzzzzzzzzzzzzzzzzzzzzzz").is_empty());
    let error = "CKR_PIN_INCORECT"
        .parse::<ReturnCode>()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no return code has this name; nearest: CKR_PIN_INCORRECT"),
        "{error}"
    );
}

#[test]
fn usual_names_of_mechanisms_and_types_are_understood() {
    for (text, mechanism) in [
        ("aes-gcm", MechanismType::AES_GCM),
        ("SHA-256", MechanismType::SHA256),
        ("sha1", MechanismType::SHA_1),
        ("RSA-PSS", MechanismType::RSA_PKCS_PSS),
        ("rsa_oaep", MechanismType::RSA_PKCS_OAEP),
        ("HMAC-SHA256", MechanismType::SHA256_HMAC),
        ("AES-KWP", MechanismType::AES_KEY_WRAP_KWP),
        ("CKM_ECDSA_KEY_PAIR_GEN", MechanismType::EC_KEY_PAIR_GEN),
        ("0x1087", MechanismType::AES_GCM),
    ] {
        assert_eq!(text.parse(), Ok(mechanism), "{text}");
    }
    assert_eq!("ec".parse(), Ok(KeyType::EC));
    assert_eq!("x25519".parse(), Ok(KeyType::EC_MONTGOMERY));
    assert_eq!("private key".parse(), Ok(ObjectClass::PRIVATE_KEY));
}

#[test]
fn ten_thousand_mutations_of_spellings_are_read_or_refused() {
    let seeds: Vec<&[u8]> = SPELLINGS.iter().map(|text| text.as_bytes()).collect();
    for text in SPELLINGS {
        fuzz_spelling(text.as_bytes());
    }
    for mutant in mutations(&seeds, mutants(), 5) {
        fuzz_spelling(&mutant);
    }
}
