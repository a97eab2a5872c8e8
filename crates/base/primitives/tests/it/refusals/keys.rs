//! Documents that hold no key, or one of another kind.

use keywright_primitives::Error;
use keywright_primitives::rsa_encryption::{RsaDecryptionKey, RsaEncryptionKey};
use keywright_primitives::signature::ecdsa::{
    P256SigningKey, P256VerifyingKey, P384SigningKey, P384VerifyingKey,
};
use keywright_primitives::signature::ml_dsa::MlDsa65SigningKey;
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_secret::SecretBytes;

use crate::{der, keys};

fn private_readers() -> [fn(&SecretBytes) -> Option<Error>; 5] {
    [
        |der| P256SigningKey::from_pkcs8(der).err(),
        |der| P384SigningKey::from_pkcs8(der).err(),
        |der| MlDsa65SigningKey::from_pkcs8(der).err(),
        |der| RsaSigningKey::from_pkcs8(der).err(),
        |der| RsaDecryptionKey::from_pkcs8(der).err(),
    ]
}

fn documents() -> [Vec<u8>; 5] {
    let rsa = keys::rsa_pkcs8();
    [
        &P256SigningKey::generate().unwrap().to_pkcs8().unwrap(),
        &P384SigningKey::generate().unwrap().to_pkcs8().unwrap(),
        &MlDsa65SigningKey::generate().unwrap().to_pkcs8().unwrap(),
        rsa,
        rsa,
    ]
    .map(|document| document.expose().to_vec())
}

#[test]
fn a_private_key_is_read_by_its_own_kind_alone() {
    for (kind, document) in documents().into_iter().enumerate() {
        for (reader, read) in private_readers().into_iter().enumerate() {
            let own = reader == kind || (reader >= 3 && kind >= 3);
            let refused = (!own).then_some(Error::KeyRejected);
            let given = SecretBytes::from_vec(document.clone());
            assert_eq!(read(&given), refused, "{kind} by {reader}");
        }
    }
}

#[test]
fn a_cut_lengthened_or_foreign_document_is_refused() {
    for (document, read) in documents().into_iter().zip(private_readers()) {
        let last = document.len() - 1;
        let longer = [&document[..], &[0]].concat();
        let cut = [0, 1, last / 2, last].map(|length| document[..length].to_vec());
        let mut version = document.clone();
        // SEQUENCE, length, INTEGER, 1, version: the length has one byte or three.
        let place = if document[1] < 0x80 {
            4
        } else {
            4 + usize::from(document[1] & 0x7F)
        };
        version[place] = 9;
        let foreign = [longer, version, vec![0xFF; 100], vec![0x30, 0x80]];
        for wrong in cut.into_iter().chain(foreign) {
            let given = SecretBytes::from_vec(wrong.clone());
            assert_eq!(read(&given), Some(Error::KeyRejected), "{wrong:02x?}");
        }
    }
}

#[test]
fn a_point_is_read_by_its_own_curve_alone_and_in_its_own_form() {
    let small = P256SigningKey::generate().unwrap().verifying_key().unwrap();
    let large = P384SigningKey::generate().unwrap().verifying_key().unwrap();
    assert!(P256VerifyingKey::from_sec1(small.as_sec1()).is_ok());
    assert!(P384VerifyingKey::from_sec1(large.as_sec1()).is_ok());
    for (point, info) in [
        (large.as_sec1(), large.as_spki_der()),
        (&small.as_sec1()[1..], &small.as_spki_der()[1..]),
        (small.as_spki_der(), small.as_sec1()),
        (&[4; 65], &[0x30; 91]),
        (b"", b""),
    ] {
        assert!(P256VerifyingKey::from_sec1(point).is_err());
        assert!(P256VerifyingKey::from_spki_der(info).is_err());
    }
    let info = small.as_spki_der();
    let longer = [info, &[0]].concat();
    assert!(P256VerifyingKey::from_spki_der(&longer).is_err());
    assert!(P384VerifyingKey::from_sec1(small.as_sec1()).is_err());
    assert!(P384VerifyingKey::from_spki_der(info).is_err());
    let compressed = [&[2 | small.as_sec1()[64] & 1], &small.as_sec1()[1..33]].concat();
    let same = P256VerifyingKey::from_sec1(&compressed).unwrap();
    assert_eq!(same.as_sec1(), small.as_sec1());
}

#[test]
fn an_rsa_modulus_of_another_length_is_refused() {
    for bits in [
        512,
        1024,
        2040,
        2048,
        2056,
        3072,
        4096,
        4104,
        8192,
        16384_usize,
    ] {
        let document = der::rsa_public(&vec![0xC5; bits / 8], &[1, 0, 1]);
        let expected = (![2048, 3072, 4096].contains(&bits)).then_some(Error::KeyRejected);
        assert_eq!(
            RsaVerifyingKey::from_der(&document).err(),
            expected,
            "{bits}"
        );
        assert_eq!(
            RsaEncryptionKey::from_der(&document).err(),
            expected,
            "{bits}"
        );
    }
}

#[test]
fn an_rsa_key_that_nobody_should_use_is_refused() {
    let modulus = [0xC5; 256];
    let even = [&modulus[..255], &[0xC4]].concat();
    let huge = [0xFF; 16];
    for (modulus, exponent) in [
        (&even[..], &[1, 0, 1][..]),
        (&modulus, &[1]),
        (&modulus, &[]),
        (&modulus, &[1, 0, 0]),
        (&modulus, &huge),
    ] {
        let document = der::rsa_public(modulus, exponent);
        let refused = RsaVerifyingKey::from_der(&document).err();
        assert_eq!(refused, Some(Error::KeyRejected), "{exponent:?}");
        let refused = RsaEncryptionKey::from_der(&document).err();
        assert_eq!(refused, Some(Error::KeyRejected), "{exponent:?}");
    }
    let document = der::rsa_public(&modulus, &[1, 0, 1]);
    for wrong in [
        &document[..100],
        &document[1..],
        b"",
        &[&document[..], &[0]].concat(),
    ] {
        assert!(RsaVerifyingKey::from_der(wrong).is_err());
        assert!(RsaEncryptionKey::from_der(wrong).is_err());
    }
}
