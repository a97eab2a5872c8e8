//! The body of the fuzz target over messages that open, keys, numbers, and ten thousand mutations of them.

use keywright_hpke::{Aad, Aead, Info, Kdf, Kem, PrivateKey, SenderMode, Suite, fuzzing};
use keywright_mutate::mutations;
use keywright_secret::SecretBytes;

use crate::scene::admitted;

fn position<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let place = all.iter().position(|other| other == one);
    u8::try_from(place.unwrap()).unwrap()
}

/// What is said in one family of KEMs.
fn corpus(family: impl Fn(Kem) -> bool) -> Vec<Vec<u8>> {
    let mut corpus = vec![Vec::new(), vec![0; 3], vec![3, 0, 2, 0, 0x20, 0, 1, 0, 3]];
    for suite in Suite::all().filter(|suite| family(suite.kem)) {
        let front = [
            position(Kem::ALL, &suite.kem),
            position(Kdf::ALL, &suite.kdf),
            position(Aead::ALL, &suite.aead),
        ];
        let ikm = SecretBytes::from_vec(fuzzing::IKM.to_vec());
        let key = PrivateKey::derive(suite.kem, &ikm).unwrap();
        let to = admitted(suite);
        let to = to
            .initiator(key.public_key(), SenderMode::Base, Info(b""))
            .unwrap();
        if suite.aead != Aead::ExportOnly {
            let (enc, sealed) = to.seal(Aad(b""), b"opens").unwrap();
            corpus.push([&front[..], enc.as_bytes(), &sealed].concat());
        }
        if suite.kdf == Kdf::HkdfSha256 {
            corpus.push([&front[..], key.public_key().as_bytes()].concat());
            corpus.push([&front[..], key.to_bytes().unwrap().expose()].concat());
        }
    }
    corpus
}

#[test]
fn corpus_and_mutations_keep_the_promises_with_curves() {
    check(&corpus(Kem::authenticates), 8_000);
}

#[test]
fn corpus_and_mutations_keep_the_promises_with_lattices() {
    check(&corpus(|kem| !kem.authenticates()), 2_000);
}

fn check(corpus: &[Vec<u8>], count: usize) {
    assert!(corpus.len() > 50, "{}", corpus.len());
    corpus.iter().for_each(|bytes| fuzzing::hpke(bytes));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    mutations(&seeds, count, 1).for_each(|bytes| fuzzing::hpke(&bytes));
}
