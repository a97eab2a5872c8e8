//! Published values: the worked envelopes, C2SP, Wycheproof.

use keywright_encoding::hex;
use keywright_envelope::{Aad, Binding, Identity, derive, hazmat};
use keywright_primitives::aead::{XChaCha20Poly1305, Xaes256Gcm};
use keywright_types::{KeyId, KeyVersion, Kind, Suite};
use keywright_vectors::{Verdict, inflate, wycheproof};

use crate::scene;

/// K = 000102..1f, key id 11 x 16, version 1, nonce 22 x 24, `hello`, caller's aad `row 7`.
#[test]
fn the_worked_envelopes_come_out_byte_for_byte() {
    let cases = [
        (
            Suite::Xaes256Gcm,
            "296475010100111111111111111111111111111111110000000122222222222222222222222222222222\
             222222222222222223cff50120b8909706df0a058bbbc51aa7d93af96c1f48ea7d4a70cb81d9fd608fe8\
             615d824b85ed83f2296c231baed7722d84b1a2",
        ),
        (
            Suite::XChaCha20Poly1305,
            "296475020100111111111111111111111111111111110000000122222222222222222222222222222222\
             22222222222222220be74a29613b6ad2e91a778904b334a6a079c77773ee88e09849313dc3af60188eef\
             c8b9d3bcb1a9d686616ea4ddbfc4f5f83b32b0",
        ),
        (
            Suite::Chunked,
            "296475060100111111111111111111111111111111110000000122222222222222222222222222222222\
             222222222222222235514139583e279049b8ccc5a2418672b27317b621bd9a50630d0260f59ddd24d9b8\
             b9f2feedcde39203cc9a17b4b7572151aceb97",
        ),
    ];
    let k = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let aad = Aad::EMPTY.caller(b"row 7").unwrap();
    for (suite, expected) in cases {
        let (sealing, opening) = derive(&k, scene::identity(suite)).unwrap();
        let made =
            hazmat::seal_with_nonce(&sealing, Binding::None, &aad, b"hello", &[0x22; 24]).unwrap();
        assert_eq!(hex::encode(&made), expected, "{suite}");
        assert_eq!(scene::open(&opening, &made, &aad).unwrap(), b"hello");
    }
}

#[test]
fn base64_of_suite_1_begins_with_the_promised_letters() {
    let made = scene::sealed(Suite::Xaes256Gcm, Binding::None, &Aad::EMPTY, b"");
    let text = keywright_encoding::base64::encode(&made);
    assert!(text.starts_with("KWR1"), "{text}");
}

#[test]
fn xaes_gives_the_values_of_c2sp() {
    let cases: [(u8, &[u8], &str); 2] = [
        (
            1,
            b"",
            "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271",
        ),
        (
            3,
            b"c2sp.org/XAES-256-GCM",
            "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
        ),
    ];
    for (byte, aad, expected) in cases {
        let mut text = *b"XAES-256-GCM";
        let key = Xaes256Gcm::new(&[byte; 32]).unwrap();
        let tag = key
            .seal(b"ABCDEFGHIJKLMNOPQRSTUVWX", aad, &mut text)
            .unwrap();
        assert_eq!(hex::encode(&[&text[..], &tag].concat()), expected);
    }
}

#[test]
fn wycheproof_xchacha20_poly1305() {
    wycheproof::run("xchacha20_poly1305_test.json", 315, |case| {
        let key = XChaCha20Poly1305::new(&case.fields.array("key")?);
        let nonce = case.fields.hex("iv")?;
        // Another length of nonce does not fit the type: refused before anything is computed.
        let Ok(nonce) = <[u8; 24]>::try_from(nonce) else {
            return Ok(Verdict::Refused);
        };
        let (aad, message) = (case.fields.hex("aad")?, case.fields.hex("msg")?);
        let (ciphertext, tag) = (case.fields.hex("ct")?, case.fields.array("tag")?);
        let mut opened = ciphertext.clone();
        if key.open(&nonce, &aad, &mut opened, &tag).is_err() {
            return Ok(Verdict::Refused);
        }
        let mut again = message.clone();
        let same = opened == message
            && key.seal(&nonce, &aad, &mut again) == Ok(tag)
            && again == ciphertext;
        Ok(if same {
            Verdict::Accepted
        } else {
            Verdict::Wrong
        })
    })
    .unwrap();
}

/// The file gives the SHA-512 of the text. We have no SHA-512, so the text is judged by sealing it again,
/// which gives the same bytes only if text, salt and every chunk are right, and by its length.
#[test]
fn wycheproof_c2sp_chunked_encryption() {
    wycheproof::run(
        "c2sp_chunked_encryption_aes_256_gcm_test.json",
        35,
        |case| {
            let context = case.fields.hex("ctx")?;
            let Ok(sealed) = inflate(&case.fields.hex("ct")?) else {
                return Ok(Verdict::Wrong);
            };
            // Another length of key does not fit the type.
            let Ok(key) = <[u8; 32]>::try_from(case.fields.hex("key")?) else {
                return Ok(Verdict::Refused);
            };
            let Ok(opened) = hazmat::open_chunked(&key, &context, &sealed) else {
                return Ok(Verdict::Refused);
            };
            let salt = sealed.first_chunk().copied().unwrap_or_default();
            let again = hazmat::seal_chunked(&key, &salt, &context, &opened);
            let length: usize = case.fields.number("msgLength")?;
            let same = again == Ok(sealed) && opened.len() == length;
            Ok(if same {
                Verdict::Accepted
            } else {
                Verdict::Wrong
            })
        },
    )
    .unwrap();
}

#[test]
fn one_key_has_unrelated_subkeys_for_each_part_of_its_identity() {
    let base = scene::identity(Suite::Xaes256Gcm);
    let others = [
        Identity {
            suite: Suite::XChaCha20Poly1305,
            ..base
        },
        Identity {
            kind: Kind::Key,
            ..base
        },
        Identity {
            key: KeyId::from_bytes([0x12; 16]),
            ..base
        },
        Identity {
            version: KeyVersion::from_number(2),
            ..base
        },
    ];
    let commitment = |identity| {
        let (sealing, _) = derive(&scene::K, identity).unwrap();
        let bytes =
            hazmat::seal_with_nonce(&sealing, Binding::None, &Aad::EMPTY, b"", &[0; 24]).unwrap();
        bytes[26 + 24..26 + 24 + 32].to_vec()
    };
    let mut all: Vec<_> = others.into_iter().chain([base]).map(commitment).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5);
}
