//! Argon2 against the published values.

use argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder, Version};
use keywright_password::{Cost, hazmat};
use keywright_vectors::{Family, Record, Tally};

/// Base64 without padding, as the PHC strings have it.
fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).unwrap());
        }
    }
    out
}

/// The whole of RFC 9106 section 5: with a secret and associated data, which containers do not have, so
/// the core is judged here and our own use of it below.
fn rfc_9106(record: &Record) -> bool {
    let algorithm = match record.text("alg").unwrap() {
        "argon2d" => Algorithm::Argon2d,
        "argon2i" => Algorithm::Argon2i,
        _ => Algorithm::Argon2id,
    };
    let tag = record.hex("tag").unwrap();
    let params = ParamsBuilder::new()
        .m_cost(record.number("m_kib").unwrap())
        .t_cost(record.number("t").unwrap())
        .p_cost(record.number("p").unwrap())
        .output_len(tag.len())
        .data(AssociatedData::new(&record.hex("ad").unwrap()).unwrap())
        .build()
        .unwrap();
    let secret = record.hex("secret").unwrap();
    let argon2 = Argon2::new_with_secret(&secret, algorithm, Version::V0x13, params).unwrap();
    let (password, salt) = (record.hex("password").unwrap(), record.hex("salt").unwrap());
    let mut made = vec![0; tag.len()];
    argon2
        .hash_password_into(&password, &salt, &mut made)
        .unwrap();
    made == tag
}

/// `$argon2id$v=19$m=..,t=..,p=..$salt$hash` of the password `password`, unless the case names another.
fn phc(text: &str) -> bool {
    let parts: Vec<&str> = text.split('$').collect();
    let numbers: Vec<u32> = parts[3]
        .split(',')
        .map(|part| part[2..].parse().unwrap())
        .collect();
    let cost = Cost {
        memory_kib: numbers[0],
        passes: numbers[1],
        lanes: numbers[2],
    };
    let (salt, expected) = (base64(parts[4]), base64(parts[5]));
    // Upstream's own test uses the first of these, and the second in its last cases.
    [&b"password"[..], b"differentpassword"]
        .iter()
        .any(|password| {
            hazmat::stretch(password, &salt, cost).unwrap().expose()[..] == expected[..]
        })
}

#[test]
fn rfc_9106_and_upstream() {
    let mut tally = Tally::new("argon2");
    match Family::locate("argon2")
        .json("rfc9106_and_phc.json")
        .unwrap()
    {
        None => tally.skip("the folder of vectors is absent", 9),
        Some(value) => {
            let file = Record::new("argon2", &value).unwrap();
            for record in file.list("rfc9106").unwrap() {
                tally.check(record.name(), rfc_9106(&record));
            }
            let strings = file.field("phc_argon2id_v19").unwrap().as_array().unwrap();
            for text in strings.iter().map(|text| text.as_str().unwrap()) {
                tally.check(text, phc(text));
            }
        }
    }
    tally.finish().unwrap();
}
