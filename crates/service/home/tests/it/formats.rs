//! The worked examples of `docs/formats.md`, read from the page and held against the code.

use std::time::Duration;

use keywright_audit::RecordType;
use keywright_audit::chain::{FileId, Origin};
use keywright_audit::field::Field;
use keywright_audit::head::{Fingerprint, SignedHead};
use keywright_audit::record::{Facts, Record};
use keywright_clock::{Clock, WallTime};
use keywright_container::FileHeader;
use keywright_custody::{Identity as KeyIdentity, KeyMaterial};
use keywright_encoding::hex;
use keywright_envelope::{Aad, Envelope, Identity, OpeningKey, derive};
use keywright_password::{Container, Limits};
use keywright_primitives::hash::sha256;
use keywright_primitives::mac::MacKey;
use keywright_secret::SecretBytes;
use keywright_store::{Store, Table, Transaction, testing::MemoryEngine};
use keywright_types::{
    BootId, Code, InstallationId, KeyId, KeySpec, KeyVersion, Kind, NodeId, Operation, PrincipalId,
    RequestId, Suite, TenantId,
};

const PAGE: &str = include_str!("../../../../../docs/formats.md");

/// The worked value of this name.
fn worked(name: &str) -> Vec<u8> {
    let found = PAGE.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim())
    });
    hex::decode(found.unwrap_or_else(|| panic!("{name} is not on the page"))).unwrap()
}

/// K, as its opening key for one suite and kind.
fn k(suite: Suite, kind: Kind) -> OpeningKey {
    let mut k = [0; 32];
    k.iter_mut()
        .zip(0..)
        .for_each(|(byte, value)| *byte = value);
    let identity = Identity {
        suite,
        kind,
        key: KeyId::from_bytes([0x11; 16]),
        version: KeyVersion::FIRST,
    };
    derive(&k, identity).unwrap().1
}

fn id(last: u8) -> [u8; 16] {
    let mut id = [0; 16];
    id[15] = last;
    id
}

fn opened(bytes: &[u8], key: &OpeningKey, aad: &Aad<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    key.open_into(&Envelope::parse(bytes).unwrap(), aad, &mut text)
        .unwrap();
    text
}

#[test]
fn worked_envelopes_open_and_show_the_commitment() {
    let aad = Aad::EMPTY.caller(b"row 7").unwrap();
    for (name, suite) in [
        ("envelope-1", Suite::Xaes256Gcm),
        ("envelope-2", Suite::XChaCha20Poly1305),
        ("envelope-3", Suite::TokenGcm12),
        ("envelope-5", Suite::Siv),
        ("envelope-6", Suite::Chunked),
    ] {
        let bytes = worked(name);
        assert_eq!(
            opened(&bytes, &k(suite, Kind::Message), &aad),
            b"hello",
            "{name}"
        );
        let other = Aad::EMPTY.caller(b"row 8").unwrap();
        let refused = k(suite, Kind::Message).open_into(
            &Envelope::parse(&bytes).unwrap(),
            &other,
            &mut Vec::new(),
        );
        assert!(refused.is_err(), "{name}");
    }
    assert_eq!(worked("envelope-1")[50..82], worked("commitment-1"));
    assert!(worked("aad-1").starts_with(&worked("envelope-1")[..26]));
}

#[test]
fn the_worked_envelope_of_suite_4_has_the_stated_form_and_its_key_is_refused() {
    let bytes = worked("envelope-4");
    let envelope = Envelope::parse(&bytes).unwrap();
    assert_eq!(
        (envelope.header().suite, envelope.plaintext_len()),
        (Suite::TokenGcm16, 5)
    );
    assert!(derive(&[0; 32], envelope.header().identity()).is_err());
}

#[test]
fn worked_attributes_are_those_of_a_key_and_seal_it() {
    let identity = KeyIdentity {
        tenant: TenantId::from_bytes([0x33; 16]),
        key: KeyId::from_bytes([0x77; 16]),
        version: KeyVersion::FIRST,
        spec: KeySpec::seal(),
        created: WallTime::from_unix_millis(1_800_000_000_000),
    };
    let attributes = KeyMaterial::new(identity, Vec::new(), None).attributes();
    assert_eq!(attributes, worked("attributes"));
    let aad = Aad::EMPTY.attributes(&attributes);
    let text = opened(
        &worked("stored-key"),
        &k(Suite::Xaes256Gcm, Kind::Key),
        &aad,
    );
    assert_eq!(text, [&[0x77; 16][..], &[0x55; 32]].concat());
}

#[test]
fn the_worked_file_opens_through_its_slot() {
    let file = worked("file");
    let mut rest = &file[..];
    let header = FileHeader::read_from(&mut rest).unwrap();
    let key = header
        .open_with_key(&k(Suite::Xaes256Gcm, Kind::Key), &Aad::EMPTY)
        .unwrap();
    let mut text = Vec::new();
    keywright_container::open(
        &mut rest,
        &mut text,
        &header,
        &key,
        &Aad::EMPTY,
        &mut |_| (),
    )
    .unwrap();
    assert_eq!(text, b"hello");
    assert_eq!(key.id().as_bytes(), &[0x44; 16]);
}

#[test]
fn the_worked_password_container_opens() {
    let container = worked("password-container");
    let password = |text: &str| SecretBytes::from_vec(text.as_bytes().to_vec());
    let opened = Container::open(&container, &password("x"), &Limits::standard()).unwrap();
    assert_eq!(opened.secret.expose()[..], worked("password-plain"));
    assert!(Container::open(&container, &password("y"), &Limits::standard()).is_err());
}

#[test]
fn the_worked_row_has_the_mac_that_the_store_gives_it() {
    let key = MacKey::new(&[1; 32]);
    assert_eq!(key.mac(&worked("row-text"))[..], worked("row-mac"));
    let store = Store::start(Box::new(MemoryEngine::new()), key, &Clock::system()).unwrap();
    let insert = Transaction::new().insert(Table::Keys, [1], TenantId::NONE, [1, 1, 1]);
    let committed = store.commit(insert).unwrap();
    let (_, row) = committed.rows.first().unwrap();
    assert_eq!((row.revision, row.epoch), (1, 1));
    assert_eq!(row.mac[..], worked("row-mac"));
}

#[test]
fn the_worked_record_is_what_a_writer_puts_down() {
    let facts = Facts {
        epoch: 3,
        request: RequestId::from_bytes(id(0x11)),
        tenant: TenantId::from_bytes(id(0x22)),
        principal: PrincipalId::from_bytes(id(0x33)),
        connection: 0x44,
        outcome: Code::DecryptionFailed,
        key: KeyId::from_bytes(id(0x55)),
        version: KeyVersion::from_number(6),
        items: 7,
        failed: 2,
        bytes_in: 256,
        bytes_out: 512,
        duration: Duration::from_micros(1),
        ..Facts::new(
            RecordType::Request,
            Operation::Decrypt,
            WallTime::from_unix_seconds(1_700_000_000),
        )
    };
    let message = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let fields = [
        Field::MessageId(message),
        Field::Reason(keywright_audit::Reason::TagMismatch),
    ];
    let mut body = Vec::new();
    Record {
        facts,
        fields: &fields,
    }
    .put(9, &mut body);
    assert_eq!(body, worked("record-body"));
}

#[test]
fn the_worked_links_are_the_hashes_that_the_page_says() {
    let origin = Origin {
        installation: InstallationId::from_bytes(id(1)),
        node: NodeId::from_bytes(id(2)),
        file: FileId {
            boot: BootId::from_bytes(id(3)),
            writer: 4,
        },
        newest_head: [5; 32],
    };
    assert_eq!(origin.link()[..], worked("link-0"));
    let framed = keywright_encoding::lp(&[&worked("record-body")]).unwrap();
    let link = sha256(&[&[7; 32], &framed[..]].concat());
    assert_eq!(link[..], worked("link-9"));
    assert_eq!([&framed[..], &link[..8]].concat(), worked("frame-9"));
}

#[test]
fn worked_check_frame_is_the_mac_that_the_page_says() {
    let check = MacKey::new(&[1; 32]).mac(b"keywright/audit/check/v1");
    assert_eq!(check[..], worked("check-key"));
    let link = worked("link-9");
    let frame = [&[0; 4][..], &MacKey::new(&check).mac(&link)].concat();
    let cut = sha256(&[&link[..], &frame].concat());
    assert_eq!([&frame[..], &cut[..8]].concat(), worked("check-9"));
}

#[test]
fn the_worked_head_is_signed_and_says_what_the_page_says() {
    let signed = SignedHead::from_bytes(&worked("head")).unwrap();
    assert!(signed.check().is_ok());
    assert_eq!(signed.id().hash[..], worked("head-hash"));
    assert_eq!(
        Fingerprint::of(&signed.signer().key).as_bytes()[..],
        worked("head-signer")
    );
    let state = signed.head().files.first().unwrap();
    assert_eq!((state.sequence, state.length), (2, 460));
    assert_eq!(state.link[..], worked("link-9"));
    let mut damaged = worked("head");
    damaged[45] ^= 1;
    assert!(SignedHead::from_bytes(&damaged).unwrap().check().is_err());
}
