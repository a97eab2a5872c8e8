//! Keys, tweaks and embeddings are made as the documents say, recomputed here from primitives and from the
//! engine alone.

use keywright_format::{Cipher, Column, FormatKey, Scope, Settings, TweakPolicy};
use keywright_fpe::{Algorithm, Key, Mode, Options, Radix};
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::MacKey;
use keywright_secret::SecretBytes;

use crate::scene::{format, master, strict};

fn lp(bytes: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
    out.extend_from_slice(bytes);
    out
}

fn engine(canonical: &str, radix: u32) -> Key {
    let mut secret = [0; 32];
    let info = [
        b"keywright/fpe/v1".to_vec(),
        lp(b"aes-256"),
        lp(canonical.as_bytes()),
    ];
    let info: Vec<&[u8]> = info.iter().map(Vec::as_slice).collect();
    expand_sha256(master().expose(), &info, &mut secret).unwrap();
    let options = Options::new(Mode::Ff1, Algorithm::Aes, Radix::new(radix).unwrap());
    Key::new(options, &secret).unwrap()
}

fn tweak(policy: &str, parts: &[&[u8]]) -> [u8; 8] {
    let mut key = [0; 32];
    expand_sha256(master().expose(), &[b"keywright/tweak/v1"], &mut key).unwrap();
    let mut message = lp(policy.as_bytes());
    parts.iter().for_each(|part| message.extend(lp(part)));
    MacKey::new(&key).mac(&message)[..8].try_into().unwrap()
}

fn one(key: &FormatKey, scope: Scope<'_>, value: &str, rows: &[&[u8]]) -> String {
    let mut column = Column::new(key, scope);
    String::from_utf8(column.protect_one(value.as_bytes(), rows).unwrap()).unwrap()
}

#[test]
fn a_card_is_fifteen_digits_under_ff1_and_a_check_digit() {
    let key = strict("card");
    let engine = engine(key.format().canonical(), 10);
    let mut digits = [4_u8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    engine
        .encrypt_in_place(&tweak("column", &[b"pan"]), &mut digits)
        .unwrap();
    let expected: String = digits
        .iter()
        .map(|digit| char::from(digit + b'0'))
        .collect();
    let token = one(&key, Scope::column("pan"), "4111111111111111", &[]);
    assert_eq!(token[..15], expected);
}

#[test]
fn a_date_is_its_number_in_two_digits_of_radix_1912() {
    let key = strict("date");
    let engine = engine(key.format().canonical(), 1_912);
    // 2000-03-01 is day 730,179 of 3,652,059, counted from 0 at 0001-01-01.
    let rank = 730_179_u32;
    let mut digits = [rank / 1_912, rank % 1_912];
    let tweak = tweak("column", &[b"born"]);
    loop {
        engine.encrypt_in_place(&tweak, &mut digits).unwrap();
        if digits[0] * 1_912 + digits[1] < 3_652_059 {
            break;
        }
    }
    let token = one(&key, Scope::column("born"), "2000-03-01", &[]);
    let (year, rest) = token.split_once('-').unwrap();
    let (month, day) = rest.split_once('-').unwrap();
    let (year, month, day): (u32, u32, u32) = (
        year.parse().unwrap(),
        month.parse().unwrap(),
        day.parse().unwrap(),
    );
    let leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let days: u32 = (1..year).map(|year| 365 + u32::from(leap(year))).sum();
    let lengths = [
        31,
        28 + u32::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let months: u32 = lengths.iter().take(month as usize - 1).sum();
    assert_eq!(days + months + day - 1, digits[0] * 1_912 + digits[1]);
}

#[test]
fn the_first_part_is_the_least_significant_of_the_rank() {
    let key = strict("ssn");
    let engine = engine(key.format().canonical(), 29_815);
    let (area, group, serial) = (122_u32, 44, 6_788);
    let rank = area + 898 * (group + 99 * serial);
    let mut digits = [rank / 29_815, rank % 29_815];
    engine
        .encrypt_in_place(&tweak("column", &[b"n"]), &mut digits)
        .unwrap();
    let rank = digits[0] * 29_815 + digits[1];
    assert!(rank < 888_931_098, "choose another number: this one walks");
    let area = rank % 898 + 1;
    let area = if area >= 666 { area + 1 } else { area };
    let expected = format!(
        "{area:03}-{:02}-{:04}",
        rank / 898 % 99 + 1,
        rank / 898 / 99 + 1
    );
    assert_eq!(one(&key, Scope::column("n"), "123-45-6789", &[]), expected);
}

#[test]
fn an_account_of_digits_and_letters_is_one_rank_alone_and_in_a_column() {
    let key = strict("iban(country=FR)");
    // 10 digits, 11 of either, 2 digits: r is the 8th root of their number, rounded up.
    let (size, radix) = (10_u128.pow(12) * 36_u128.pow(11), 4_365_u128);
    assert!((radix - 1).pow(8) < size && size <= radix.pow(8));
    let engine = engine(key.format().canonical(), 4_365);
    let parts = [
        2_004_101_005,
        u128::from_str_radix("0500013M026", 36).unwrap(),
        6,
    ];
    let rank = parts[0] + 10_u128.pow(10) * (parts[1] + 36_u128.pow(11) * parts[2]);
    let mut digits: Vec<u32> = (0..8)
        .rev()
        .map(|place| u32::try_from(rank / radix.pow(place) % radix).unwrap())
        .collect();
    engine
        .encrypt_in_place(&tweak("column", &[b"n"]), &mut digits)
        .unwrap();
    let rank = digits
        .iter()
        .fold(0, |rank, digit| rank * radix + u128::from(*digit));
    assert!(rank < size, "choose another account: this one walks");
    let mut letters = rank / 10_u128.pow(10) % 36_u128.pow(11);
    let mut middle = Vec::new();
    for _ in 0..11 {
        let digit = u32::try_from(letters % 36).unwrap();
        let symbol = char::from_digit(digit, 36).unwrap();
        middle.insert(0, symbol.to_ascii_uppercase());
        letters /= 36;
    }
    let expected = format!(
        "{:010}{}{:02}",
        rank % 10_u128.pow(10),
        middle.iter().collect::<String>(),
        rank / 10_u128.pow(10) / 36_u128.pow(11)
    );
    let value = "FR1420041010050500013M02606";
    assert_eq!(one(&key, Scope::column("n"), value, &[])[4..], expected);
    let mut out = keywright_format::Output::new();
    let many = value.repeat(40);
    let cells = keywright_format::Cells::fixed(many.as_bytes(), 27).unwrap();
    let mut column = Column::new(&key, Scope::column("n"));
    column.protect(cells, &[], &mut out).unwrap();
    for token in out.bytes().chunks(27) {
        assert_eq!(&token[4..], expected.as_bytes());
    }
}

#[test]
fn parts_of_a_tweak_are_named_by_the_policy_and_prefixed_by_their_lengths() {
    let policy = TweakPolicy::parse("column other(country) row(id) constant(eu)").unwrap();
    let card = format("card(keep=last4)");
    let key = FormatKey::derive(&master(), &card, Settings::new(policy)).unwrap();
    let canonical = "column other(country) row(id) constant(eu) kept";
    assert_eq!(key.settings().tweak().to_string(), canonical);
    let kept = lp(b"1111");
    let tweak = tweak(canonical, &[b"pan", b"DE", b"17", b"eu", &kept]);
    let mut digits = [4_u8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    engine(card.canonical(), 10)
        .encrypt_in_place(&tweak, &mut digits)
        .unwrap();
    let expected: String = digits
        .iter()
        .map(|digit| char::from(digit + b'0'))
        .collect();
    let token = one(
        &key,
        Scope::column("pan"),
        "4111111111111111",
        &[b"DE", b"17"],
    );
    assert_eq!((&token[..11], &token[12..]), (expected.as_str(), "1111"));
}

#[test]
fn a_changed_parameter_column_or_cipher_changes_every_token() {
    let value = "4111111111111111";
    let base = one(&strict("card"), Scope::column("a"), value, &[]);
    let others = [
        one(&strict("card"), Scope::column("b"), value, &[]),
        one(&strict("card(length=16)"), Scope::column("a"), value, &[]),
        one(
            &strict("card(delims=\" \")"),
            Scope::column("a"),
            value,
            &[],
        ),
        one(
            &strict("digit(15) check(luhn)"),
            Scope::column("a"),
            value,
            &[],
        ),
    ];
    let ciphers = [Cipher::Aes128, Cipher::Aes192, Cipher::Sm4].map(|cipher| {
        let settings = Settings::new(TweakPolicy::default()).with_cipher(cipher);
        let key = FormatKey::derive(&master(), &format("card"), settings).unwrap();
        one(&key, Scope::column("a"), value, &[])
    });
    let all: std::collections::BTreeSet<&String> =
        others.iter().chain(&ciphers).chain([&base]).collect();
    assert_eq!(all.len(), 8);
}

#[test]
fn a_raw_key_and_the_callers_tweak_give_what_the_engine_gives() {
    // FF1 over AES-128, the example of the standard's key with a tweak of seven characters.
    let secret = b"\x2B\x7E\x15\x16\x28\xAE\xD2\xA6\xAB\xF7\x15\x88\x09\xCF\x4F\x3C";
    let settings = Settings::new(TweakPolicy::Caller).with_cipher(Cipher::Aes128);
    let key = SecretBytes::from_vec(secret.to_vec());
    let key = FormatKey::raw(&key, &format("digit(16)"), settings).unwrap();
    let scope = Scope::caller(b"9876543");
    assert_eq!(
        one(&key, scope, "4111111111111111", &[]),
        "0049466176981546"
    );
    let mut column = Column::new(&key, scope);
    assert_eq!(
        column.reveal_one(b"0049466176981546", &[]).unwrap(),
        b"4111111111111111"
    );
}

#[test]
fn old_modes_reveal_and_do_not_protect_unless_they_are_allowed_to() {
    let settings = || Settings::new(TweakPolicy::default()).with_mode(Mode::Ff31);
    let key = FormatKey::derive(&master(), &format("digit(16)"), settings()).unwrap();
    let mut column = Column::new(&key, Scope::column("c"));
    assert!(column.protect_one(b"4111111111111111", &[]).is_err());
    assert!(column.reveal_one(b"4111111111111111", &[]).is_ok());
    let open = settings().allow_legacy_encrypt();
    let key = FormatKey::derive(&master(), &format("digit(16)"), open).unwrap();
    let mut column = Column::new(&key, Scope::column("c"));
    let token = column.protect_one(b"4111111111111111", &[]).unwrap();
    assert_eq!(column.reveal_one(&token, &[]).unwrap(), b"4111111111111111");
}
