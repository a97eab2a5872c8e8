//! Hashes, MACs and AES-CBC.

use keywright_encoding::hex;
use keywright_primitives::hash::{sha256, sha384, sha512};
use keywright_primitives::hazmat::cbc::{Aes128Cbc, Aes256Cbc};
use keywright_primitives::mac::{Aes128Cmac, Aes256Cmac, HmacSha256, HmacSha384, HmacSha512};

use super::Judge;

/// Around the ends of blocks, and of the room for the length in the last one.
const LENGTHS: [usize; 9] = [0, 1, 55, 56, 64, 111, 112, 128, 1000];

fn text(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

#[test]
fn hashes_are_those_of_the_judge() {
    let Some(judge) = Judge::called("hashes") else {
        return;
    };
    for length in LENGTHS {
        let text = text(length);
        judge.write("text", &text);
        let hash = |name| judge.says(&format!("dgst -{name} -binary text"));
        assert_eq!(hash("sha256"), sha256(&text));
        assert_eq!(hash("sha384"), sha384(&text));
        assert_eq!(hash("sha512"), sha512(&text));
    }
}

#[test]
fn macs_are_those_of_the_judge() {
    let Some(judge) = Judge::called("macs") else {
        return;
    };
    judge.write("text", &text(100));
    // Short, of a block, and long enough to be hashed first.
    for length in [1, 64, 128, 129, 300] {
        let key = text(length);
        let mac = |digest| {
            let key = hex::encode(&key);
            judge.says(&format!(
                "mac -digest {digest} -macopt hexkey:{key} -in text -binary HMAC"
            ))
        };
        let text = text(100);
        assert_eq!(mac("SHA256"), HmacSha256::new(&key).unwrap().mac(&text));
        assert_eq!(mac("SHA384"), HmacSha384::new(&key).unwrap().mac(&text));
        assert_eq!(mac("SHA512"), HmacSha512::new(&key).unwrap().mac(&text));
    }
    let cmac = |cipher: &str, key: &[u8]| {
        let key = hex::encode(key);
        judge.says(&format!(
            "mac -cipher {cipher} -macopt hexkey:{key} -in text -binary CMAC"
        ))
    };
    for length in [0, 1, 15, 16, 17, 32, 100] {
        let text = text(length);
        judge.write("text", &text);
        let ours = Aes128Cmac::new(&[3; 16]).unwrap().mac(&text).unwrap();
        assert_eq!(cmac("AES-128-CBC", &[3; 16]), ours);
        let ours = Aes256Cmac::new(&[3; 32]).unwrap().mac(&text).unwrap();
        assert_eq!(cmac("AES-256-CBC", &[3; 32]), ours);
    }
}

#[test]
fn cbc_is_that_of_the_judge_in_both_directions() {
    let Some(judge) = Judge::called("cbc") else {
        return;
    };
    let iv = [9; 16];
    for length in [0, 1, 15, 16, 17, 100] {
        let text = text(length);
        judge.write("text", &text);
        let sealed = |name: &str, key: &[u8]| {
            let (key, iv) = (hex::encode(key), hex::encode(&iv));
            judge.says(&format!(
                "enc -{name} -K {key} -iv {iv} -in text -out sealed"
            ));
            judge.says(&format!(
                "enc -d -{name} -K {key} -iv {iv} -in sealed -out opened"
            ));
            assert_eq!(judge.read("opened"), judge.read("text"));
            judge.read("sealed")
        };
        let theirs = sealed("aes-128-cbc", &[3; 16]);
        let key = Aes128Cbc::new(&[3; 16]).unwrap();
        let mut buffer = text.clone();
        key.encrypt(&iv, &mut buffer).unwrap();
        assert_eq!(buffer, theirs);
        key.decrypt(&iv, &mut buffer).unwrap();
        assert_eq!(buffer, text);
        let theirs = sealed("aes-256-cbc", &[3; 32]);
        let key = Aes256Cbc::new(&[3; 32]).unwrap();
        let mut buffer = text.clone();
        key.encrypt(&iv, &mut buffer).unwrap();
        assert_eq!(buffer, theirs);
        key.decrypt(&iv, &mut buffer).unwrap();
        assert_eq!(buffer, text);
    }
}
