//! Streams under a version: begun by the holder, open wherever the same key is, refused for every other.

use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_custody::{
    HolderError, Identity, KeyHolder, KeyMaterial, NewKey, Particulars, StreamStart,
};
use keywright_envelope::stream::{Prefix, StreamOpener};
use keywright_envelope::{Aad, Binding, derive};
use keywright_keystore::Keystore;
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{
    Algorithm, Custody, KeyId, KeySpec, KeyVersion, Kind, Operation, PrincipalId, Purpose, Suite,
    TenantId,
};

use crate::scene::{keystore, new_root};

const SECRET: [u8; 32] = [0x5E; 32];

fn spec(algorithm: Algorithm) -> KeySpec {
    KeySpec {
        algorithm,
        ..KeySpec::seal()
    }
}

fn make(
    store: &Keystore,
    key: u8,
    spec: KeySpec,
    secret: Option<&SecretBytes>,
) -> Arc<KeyMaterial> {
    let identity = Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::FIRST,
        spec,
        created: WallTime::from_unix_millis(1),
    };
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let new = NewKey {
        identity,
        parent: None,
    };
    let particulars = Particulars {
        detail: None,
        secret,
    };
    Arc::new(store.generate_with(&permit, new, particulars).unwrap())
}

fn start<'a>(material: &'a Arc<KeyMaterial>, aad: &'a [u8]) -> StreamStart<'a> {
    StreamStart {
        material,
        binding: Binding::Principal(PrincipalId::from_bytes([7; 16])),
        aad,
    }
}

fn sealed(store: &Keystore, material: &Arc<KeyMaterial>, text: &[u8]) -> Vec<u8> {
    let permit = Policy::owner().permit(material.key(), Operation::Encrypt);
    let (mut random, mut out) = (RandomStream::new().unwrap(), Vec::new());
    let start = start(material, b"aad");
    let sealer = store.seal_stream(&permit, start, &mut random, &mut out);
    let mut sealer = sealer.unwrap();
    sealer.update(text, &mut out).unwrap();
    sealer.finish(&mut out).unwrap();
    out
}

fn opener(
    store: &Keystore,
    material: &Arc<KeyMaterial>,
    (aad, stream): (&[u8], &[u8]),
) -> Result<Option<StreamOpener>, HolderError> {
    let permit = Policy::owner().permit(material.key(), Operation::Decrypt);
    let prefix = Prefix::parse(&stream[..Prefix::MAX_LEN]).unwrap();
    store.open_stream(&permit, start(material, aad), &prefix)
}

fn rest(mut opener: StreamOpener, stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    opener.update(&stream[Prefix::MAX_LEN..], &mut out).unwrap();
    opener.finish(&mut out).unwrap();
    out
}

#[test]
fn a_stream_opens_here_and_wherever_the_key_is() {
    let root = new_root();
    for algorithm in [Algorithm::Xaes256Gcm, Algorithm::XChaCha20Poly1305] {
        // With room for the key and, in an arena that another key fills, without.
        for slots in [4, 1] {
            let store = keystore(&root, slots);
            let secret = SecretBytes::from_vec(SECRET.to_vec());
            let material = make(&store, 2, spec(algorithm), Some(&secret));
            let text = vec![9; 50_000];
            let stream = sealed(&store, &material, &text);
            let here = opener(&store, &material, (b"aad", &stream)).unwrap();
            assert!(rest(here.unwrap(), &stream) == text);

            let identity = keywright_envelope::Identity {
                suite: Suite::Chunked,
                kind: Kind::Message,
                key: material.key(),
                version: material.version(),
            };
            let (_, opening) = derive(&SECRET, identity).unwrap();
            let prefix = Prefix::parse(&stream[..Prefix::MAX_LEN]).unwrap();
            let aad = Aad::EMPTY.caller(b"aad").unwrap();
            let there = StreamOpener::new(&opening, &prefix, &aad).unwrap();
            assert!(rest(there, &stream) == text);
        }
    }
}

#[test]
fn another_key_version_algorithm_or_aad_opens_nothing() {
    let root = new_root();
    let store = keystore(&root, 16);
    let secret = SecretBytes::from_vec(SECRET.to_vec());
    let material = make(&store, 2, spec(Algorithm::Xaes256Gcm), Some(&secret));
    let stream = sealed(&store, &material, b"text");
    for aad in [&b""[..], b"aae", b"aad\0"] {
        assert!(opener(&store, &material, (aad, &stream)).unwrap().is_none());
    }
    let same_secret = make(&store, 3, spec(Algorithm::Xaes256Gcm), Some(&secret));
    let other_secret = make(&store, 2, spec(Algorithm::Xaes256Gcm), None);
    for other in [same_secret, other_secret] {
        assert!(opener(&store, &other, (b"aad", &stream)).unwrap().is_none());
    }
    // Both suites of messages have the same suite of streams, under the same key.
    let other_suite = make(&store, 2, spec(Algorithm::XChaCha20Poly1305), Some(&secret));
    assert!(
        opener(&store, &other_suite, (b"aad", &stream))
            .unwrap()
            .is_some()
    );
    for place in [6, 22, 26, 42, 66] {
        let mut flipped = stream.clone();
        flipped[place] ^= 1;
        let opened = opener(&store, &material, (b"aad", &flipped)).unwrap();
        assert!(opened.is_none(), "{place}");
    }
}

#[test]
fn a_permit_for_something_else_begins_no_stream() {
    let root = new_root();
    let store = keystore(&root, 16);
    let material = make(&store, 2, KeySpec::seal(), None);
    let stream = sealed(&store, &material, b"text");
    let prefix = Prefix::parse(&stream[..Prefix::MAX_LEN]).unwrap();
    let mut random = RandomStream::new().unwrap();
    let other = KeyId::from_bytes([3; 16]);
    for (key, operation) in [
        (material.key(), Operation::Rewrap),
        (material.key(), Operation::DatakeyOpen),
        (other, Operation::Encrypt),
        (other, Operation::Decrypt),
    ] {
        let permit = Policy::owner().permit(key, operation);
        let start = start(&material, b"aad");
        let mut out = Vec::new();
        let sealing = store.seal_stream(&permit, start, &mut random, &mut out);
        assert_eq!(sealing.err(), Some(HolderError::PermitMismatch));
        assert!(out.is_empty());
        let opening = store.open_stream(&permit, start, &prefix);
        assert_eq!(opening.err(), Some(HolderError::PermitMismatch));
    }
    let swapped = Policy::owner().permit(material.key(), Operation::Decrypt);
    let sealing = store.seal_stream(
        &swapped,
        start(&material, b""),
        &mut random,
        &mut Vec::new(),
    );
    assert_eq!(sealing.err(), Some(HolderError::PermitMismatch));
}

#[test]
fn keys_that_are_not_for_messages_begin_no_stream() {
    let root = new_root();
    let store = keystore(&root, 16);
    let mut random = RandomStream::new().unwrap();
    for (purpose, algorithm) in [
        (Purpose::Wrap, Algorithm::Xaes256Gcm),
        (Purpose::Mac, Algorithm::HmacSha256),
    ] {
        let other = KeySpec {
            purpose,
            algorithm,
            ..KeySpec::seal()
        };
        let material = make(&store, 2, other, None);
        let permit = Policy::owner().permit(material.key(), Operation::Encrypt);
        let start = start(&material, b"");
        let sealing = store.seal_stream(&permit, start, &mut random, &mut Vec::new());
        let unsupported = HolderError::Unsupported(Custody::Wrapped);
        assert_eq!(sealing.err(), Some(unsupported));
    }
}
