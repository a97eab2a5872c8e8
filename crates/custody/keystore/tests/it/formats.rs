//! Keys that make tokens: the same tokens as the format layer alone, in batches of any mixture, and nothing of a
//! value in what fails.

use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_custody::{
    Detail, FormatDetail, HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial,
    NO_DEADLINE, NewKey, Particulars, Request,
};
use keywright_encoding::lp;
use keywright_envelope::Binding;
use keywright_format::{Cipher, Column, Format, FormatKey, Scope, Settings, TweakPolicy};
use keywright_keystore::Keystore;
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{
    Algorithm, Code, Custody, KeyId, KeySpec, KeyVersion, Operation, Origin, Purpose, TenantId,
};

use crate::scene::{keystore, new_root};

const CARDS: &str = r#"card@1(length=13..19, keep=last4, luhn=keep, delims=" -")"#;

fn detail() -> FormatDetail {
    FormatDetail {
        format: CARDS.into(),
        tweak: "column kept".into(),
        column: "card_number".into(),
        small_domain: false,
        mask: Some("last(4)".into()),
    }
}

const fn spec(algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose: Purpose::Tokenise,
        algorithm,
        origin: Origin::Imported,
        ..KeySpec::seal()
    }
}

fn identity(version: u32, spec: KeySpec) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([9; 16]),
        version: KeyVersion::from_number(version),
        spec,
        created: WallTime::from_unix_millis(1),
    }
}

fn bring(
    store: &Keystore,
    identity: Identity,
    detail: Option<FormatDetail>,
    secret: Option<&SecretBytes>,
) -> Result<Arc<KeyMaterial>, HolderError> {
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let detail = detail.map(|detail| Arc::new(Detail::Format(detail)));
    let new = NewKey {
        identity,
        parent: None,
    };
    let made = store.generate_with(&permit, new, Particulars { detail, secret });
    made.map(Arc::new)
}

fn secret(byte: u8) -> SecretBytes {
    SecretBytes::from_vec(vec![byte; 32])
}

/// A version whose secret is this byte over and over.
fn version(store: &Keystore, number: u32, byte: u8, detail: FormatDetail) -> Arc<KeyMaterial> {
    let identity = identity(number, spec(Algorithm::Ff1Aes256));
    bring(store, identity, Some(detail), Some(&secret(byte))).unwrap()
}

/// Version, text, tweak of one item.
type Asked<'a> = (u16, &'a str, &'a [(&'a str, &'a str)]);

fn perform(
    store: &Keystore,
    operation: HolderOperation,
    versions: &[Arc<KeyMaterial>],
    asked: &[Asked<'_>],
) -> Result<Vec<Result<String, Code>>, HolderError> {
    let mut items = Items::default();
    for (version, text, tweak) in asked {
        let parts: Vec<&[u8]> = tweak
            .iter()
            .flat_map(|(name, cell)| [name.as_bytes(), cell.as_bytes()])
            .collect();
        let tweak = lp(&parts).unwrap();
        items
            .push_slices(*version, text.as_bytes(), &tweak)
            .unwrap();
    }
    let request = Request {
        operation,
        versions: versions.iter().cloned().collect(),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    };
    let permit = Policy::owner().permit(versions[0].key(), operation.permitted_by());
    let reply = store.perform(&permit, &request, items, &mut RandomStream::unseeded())?;
    let results = reply.iter().map(|item| match item.code {
        Code::Ok => Ok(String::from_utf8(item.payload.to_vec()).unwrap()),
        code => {
            assert!(item.payload.is_empty());
            Err(code)
        }
    });
    Ok(results.collect())
}

const TOKENIZE: HolderOperation = HolderOperation::Tokenize;
const DETOKENIZE: HolderOperation = HolderOperation::Detokenize;
const MASK: HolderOperation = HolderOperation::Mask;

/// What the format layer makes of a value under the same secret, without any keystore.
fn alone(byte: u8, cipher: Cipher, detail: &FormatDetail, value: &str, rows: &[&[u8]]) -> String {
    let secret = Secret::from_fill(|bytes: &mut [u8; 32]| bytes.fill(byte));
    let format = Format::parse(&detail.format).unwrap();
    let policy = TweakPolicy::parse(&detail.tweak).unwrap();
    let settings = Settings::new(policy).with_cipher(cipher);
    let key = FormatKey::derive(&secret, &format, settings).unwrap();
    let mut column = Column::new(&key, Scope::column(&detail.column));
    String::from_utf8(column.protect_one(value.as_bytes(), rows).unwrap()).unwrap()
}

#[test]
fn a_secret_gives_the_tokens_that_it_gives_in_a_file_with_every_cipher() {
    let store = keystore(&new_root(), 8);
    for (algorithm, cipher) in [
        (Algorithm::Ff1Aes128, Cipher::Aes128),
        (Algorithm::Ff1Aes192, Cipher::Aes192),
        (Algorithm::Ff1Aes256, Cipher::Aes256),
        (Algorithm::Ff1Sm4, Cipher::Sm4),
    ] {
        let identity = identity(1, spec(algorithm));
        let key = bring(&store, identity, Some(detail()), Some(&secret(7))).unwrap();
        for value in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5500-0000-0000-0004",
        ] {
            let made = perform(&store, TOKENIZE, &[Arc::clone(&key)], &[(0, value, &[])]);
            let token = made.unwrap().remove(0).unwrap();
            assert_eq!(
                token,
                alone(7, cipher, &detail(), value, &[]),
                "{algorithm}"
            );
            assert_ne!(token, value);
            let back = perform(&store, DETOKENIZE, &[Arc::clone(&key)], &[(0, &token, &[])]);
            assert_eq!(back.unwrap(), [Ok(value.to_owned())]);
        }
    }
}

#[test]
fn tokens_of_several_versions_come_back_in_one_batch_each_under_its_own() {
    let store = keystore(&new_root(), 8);
    let versions = [
        version(&store, 1, 1, detail()),
        version(&store, 2, 2, detail()),
        version(&store, 3, 3, detail()),
    ];
    let values: Vec<String> = (0..60).map(|n| card(1000 + n)).collect();
    let tokens: Vec<(u16, String)> = values
        .iter()
        .enumerate()
        .map(|(row, value)| {
            let place = row % 3;
            let only = [Arc::clone(&versions[place])];
            let made = perform(&store, TOKENIZE, &only, &[(0, value, &[])]).unwrap();
            (u16::try_from(place).unwrap(), made[0].clone().unwrap())
        })
        .collect();
    let mut asked: Vec<Asked<'_>> = tokens
        .iter()
        .map(|(place, token)| (*place, token.as_str(), &[][..]))
        .collect();
    asked.push((3, &tokens[0].1, &[]));
    asked.push((u16::MAX, &tokens[0].1, &[]));
    asked.push((0, "no card", &[]));
    let back = perform(&store, DETOKENIZE, &versions, &asked).unwrap();
    for (value, back) in values.iter().zip(&back) {
        assert_eq!(back.as_ref().unwrap(), value);
    }
    let failed = [
        Code::VersionNotFound,
        Code::VersionNotFound,
        Code::ValueUnfit,
    ];
    assert_eq!(back[60..], failed.map(Err));
    // Another version gives another value and no error, which is why it has to be named.
    let wrong = perform(&store, DETOKENIZE, &versions, &[(1, &tokens[0].1, &[])]);
    let wrong = wrong.unwrap().remove(0).unwrap();
    assert_ne!(wrong, values[0]);
}

/// A card number that passes the check, with this number in the middle.
fn card(number: u32) -> String {
    let body = format!("41111111{number:07}");
    let sum: u32 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0') << (1 - place % 2);
            digit / 10 + digit % 10
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

#[test]
fn a_value_that_does_not_fit_fails_alone_and_an_empty_one_is_none() {
    let store = keystore(&new_root(), 8);
    let key = [version(&store, 1, 1, detail())];
    let asked: [Asked<'_>; 6] = [
        (0, "4111111111111111", &[]),
        (0, "4111111111111112", &[]),
        (0, "", &[]),
        (0, "\u{1F600}", &[]),
        (0, "41111111111111111111", &[]),
        (0, "5500000000000004", &[]),
    ];
    for operation in [TOKENIZE, DETOKENIZE, MASK] {
        let results = perform(&store, operation, &key, &asked).unwrap();
        let codes: Vec<_> = results.iter().map(|one| one.as_ref().err()).collect();
        let unfit = Some(&Code::ValueUnfit);
        assert_eq!(codes, [None, unfit, unfit, unfit, unfit, None]);
    }
}

#[test]
fn the_cells_of_a_tweak_are_those_that_the_format_needs_no_more_and_no_fewer() {
    let store = keystore(&new_root(), 8);
    let of_rows = FormatDetail {
        tweak: "column other(country) row(id) kept".into(),
        ..detail()
    };
    let key = [version(&store, 1, 1, of_rows.clone())];
    let value = "4111111111111111";
    let good: &[(&str, &str)] = &[("id", "17"), ("country", "CH")];
    let turned: &[(&str, &str)] = &[("country", "CH"), ("id", "17")];
    let other: &[(&str, &str)] = &[("id", "18"), ("country", "CH")];
    let made = perform(
        &store,
        TOKENIZE,
        &key,
        &[(0, value, good), (0, value, turned), (0, value, other)],
    )
    .unwrap();
    let expected = alone(1, Cipher::Aes256, &of_rows, value, &[b"CH", b"17"]);
    assert_eq!(made[..2], [Ok(expected.clone()), Ok(expected.clone())]);
    assert_ne!(made[2], Ok(expected));
    let bad: [&[(&str, &str)]; 5] = [
        &[],
        &[("id", "17")],
        &[("id", "17"), ("land", "CH")],
        &[("id", "17"), ("id", "17")],
        &[("id", "17"), ("country", "CH"), ("more", "")],
    ];
    for tweak in bad {
        let refused = perform(
            &store,
            TOKENIZE,
            &key,
            &[(0, value, tweak), (0, value, good)],
        );
        let refused = refused.unwrap();
        assert_eq!(refused[0], Err(Code::TweakInvalid), "{tweak:?}");
        assert!(refused[1].is_ok());
    }
    let plain = [version(&store, 1, 1, detail())];
    let unwanted = perform(&store, TOKENIZE, &plain, &[(0, value, good)]).unwrap();
    assert_eq!(unwanted, [Err(Code::TweakInvalid)]);
}

#[test]
fn a_mask_shows_what_it_leaves_and_a_key_without_one_shows_nothing() {
    let store = keystore(&new_root(), 8);
    let value = "4111111111111111";
    for (mask, left) in [
        (Some("last(4)"), Ok("************1111".to_owned())),
        (Some("fixed(hidden)"), Ok("hidden".to_owned())),
        (Some("null"), Ok(String::new())),
        (None, Err(Code::Unsupported)),
    ] {
        let detail = FormatDetail {
            mask: mask.map(str::to_owned),
            ..detail()
        };
        let key = [version(&store, 1, 1, detail)];
        let token = perform(&store, TOKENIZE, &key, &[(0, value, &[])]).unwrap();
        let token = token[0].clone().unwrap();
        let seen = perform(&store, MASK, &key, &[(0, &token, &[])]).unwrap();
        assert_eq!(seen, [left]);
    }
}

#[test]
fn a_row_with_another_format_tweak_column_or_mask_does_not_open() {
    let store = keystore(&new_root(), 8);
    let good = version(&store, 1, 1, detail());
    let edits = [
        None,
        Some(FormatDetail {
            format: r#"card@1(length=13..19, keep=none, luhn=keep, delims=" -")"#.into(),
            ..detail()
        }),
        Some(FormatDetail {
            tweak: "kept".into(),
            ..detail()
        }),
        Some(FormatDetail {
            column: "card".into(),
            ..detail()
        }),
        Some(FormatDetail {
            small_domain: true,
            ..detail()
        }),
        Some(FormatDetail {
            mask: Some("first(16)".into()),
            ..detail()
        }),
        Some(FormatDetail {
            mask: None,
            ..detail()
        }),
    ];
    for edit in edits {
        let row = KeyMaterial::new(
            identity(1, spec(Algorithm::Ff1Aes256)),
            good.sealed().to_vec(),
            None,
        );
        let edit = edit.map(|detail| Arc::new(Detail::Format(detail)));
        let row = [Arc::new(row.with_detail(edit.clone()))];
        let refused = perform(&store, TOKENIZE, &row, &[(0, "4111111111111111", &[])]);
        assert_eq!(refused, Err(HolderError::KeyRejected), "{edit:?}");
    }
}

#[test]
fn what_is_no_key_of_a_format_is_not_made() {
    let store = keystore(&new_root(), 8);
    let unsupported = HolderError::Unsupported(Custody::Wrapped);
    let tokens = identity(1, spec(Algorithm::Ff1Aes256));
    let good = secret(1);
    for length in [0, 16, 31, 33, 64] {
        let wrong = SecretBytes::from_vec(vec![1; length]);
        let made = bring(&store, tokens, Some(detail()), Some(&wrong));
        assert_eq!(made.err(), Some(HolderError::SecretLength), "{length}");
    }
    assert_eq!(
        bring(&store, tokens, None, Some(&good)).err(),
        Some(unsupported)
    );
    let seals = identity(1, KeySpec::seal());
    assert_eq!(
        bring(&store, seals, Some(detail()), None).err(),
        Some(unsupported)
    );
    for (format, tweak) in [
        ("no format", "column"),
        ("card@1(keep=bin6, keep=last4)", "column"),
        ("digits@1(length=3)", "column"),
        (CARDS, "colum"),
        ("digits@1(length=16)", "none"),
    ] {
        let bad = FormatDetail {
            format: format.into(),
            tweak: tweak.into(),
            ..detail()
        };
        let made = bring(&store, tokens, Some(bad), Some(&good));
        assert_eq!(made.err(), Some(unsupported), "{format} {tweak}");
    }
}

#[test]
fn keys_of_messages_and_of_formats_do_not_do_each_others_work() {
    let store = keystore(&new_root(), 8);
    let tokens = spec(Algorithm::Ff1Aes256);
    for operation in [TOKENIZE, DETOKENIZE, MASK] {
        assert!(store.supports(&tokens, operation));
        assert!(!store.supports(&KeySpec::seal(), operation));
    }
    assert!(!store.supports(&tokens, HolderOperation::Seal));
    let key = [version(&store, 1, 1, detail())];
    let sealed = perform(&store, HolderOperation::Seal, &key, &[(0, "x", &[])]);
    assert_eq!(sealed, Err(HolderError::Unsupported(Custody::Wrapped)));
    let message = bring(&store, identity(1, KeySpec::seal()), None, None).unwrap();
    let made = perform(
        &store,
        TOKENIZE,
        &[message],
        &[(0, "4111111111111111", &[])],
    );
    assert_eq!(made, Err(HolderError::Unsupported(Custody::Wrapped)));
}

#[test]
fn an_arena_of_one_slot_serves_many_formats() {
    let store = keystore(&new_root(), 1);
    let keys: Vec<_> = (1..20)
        .map(|byte| version(&store, u32::from(byte), byte, detail()))
        .collect();
    for round in 0..3 {
        for (byte, key) in (1..20).zip(&keys) {
            let value = card(round * 100 + u32::from(byte));
            let made = perform(&store, TOKENIZE, &[Arc::clone(key)], &[(0, &value, &[])]);
            let expected = alone(byte, Cipher::Aes256, &detail(), &value, &[]);
            assert_eq!(made.unwrap(), [Ok(expected)]);
        }
    }
    assert!(keys.iter().filter(|key| key.cell().is_loaded()).count() <= 1);
}
