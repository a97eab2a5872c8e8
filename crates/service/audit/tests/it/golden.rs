//! Bytes laid out by hand from design 7.30, 7.33 and 7.34, never taken from the encoder.
//!
//! SHA-256 and Ed25519 come from the primitives, which have foreign vectors of their own; what is
//! checked here is which bytes go into them, in which order.

use std::fs;

use keywright_audit::chain::{FileId, Origin};
use keywright_audit::check::CheckKey;
use keywright_audit::field::Field;
use keywright_audit::head::SignedHead;
use keywright_audit::record::{Facts, Record};
use keywright_audit::show::{Filter, show};
use keywright_audit::{Reason, RecordType};
use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_primitives::mac::{HmacSha256, MacKey};
use keywright_types::{
    BootId, Code, InstallationId, KeyId, KeyVersion, NodeId, Operation, PrincipalId, RequestId,
    TenantId,
};

use serde_json::{Map, Value};

use crate::support::*;

/// The columns of 7.30 in their order; the comment names each.
const BODY: &str = concat!(
    "0001",                             // type: request
    "0000000000000009",                 // sequence
    "17979cfe362a0000",                 // time: 1,700,000,000 s
    "0000000000000003",                 // epoch
    "00000000000000000000000000000011", // request id
    "00000000000000000000000000000022", // tenant
    "00000000000000000000000000000033", // principal
    "0000000000000044",                 // connection
    "0002",                             // operation: decrypt
    "000a",                             // outcome: decryption_failed
    "00000000000000000000000000000055", // key id
    "00000006",                         // version
    "00000007",                         // items
    "00000002",                         // failed
    "0000000000000100",                 // bytes in
    "0000000000000200",                 // bytes out
    "00000000000003e8",                 // duration: 1 us
    "0001",
    "00000010",
    "000102030405060708090a0b0c0d0e0f", // field 1: message id
    "0005",
    "00000002",
    "000c", // field 5: reason 12, tag-mismatch
);

fn id(last: u8) -> [u8; 16] {
    let mut id = [0; 16];
    id[15] = last;
    id
}

#[test]
fn a_body_is_the_columns_of_7_30() {
    let facts = Facts {
        kind: RecordType::Request,
        time: WallTime::from_unix_seconds(1_700_000_000),
        epoch: 3,
        request: RequestId::from_bytes(id(0x11)),
        tenant: TenantId::from_bytes(id(0x22)),
        principal: PrincipalId::from_bytes(id(0x33)),
        connection: 0x44,
        operation: Operation::Decrypt,
        outcome: Code::DecryptionFailed,
        key: KeyId::from_bytes(id(0x55)),
        version: KeyVersion::from_number(6),
        items: 7,
        failed: 2,
        bytes_in: 256,
        bytes_out: 512,
        duration: std::time::Duration::from_micros(1),
    };
    let message = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let fields = [
        Field::MessageId(message),
        Field::Reason(Reason::TagMismatch),
    ];
    let mut body = Vec::new();
    Record {
        facts,
        fields: &fields,
    }
    .put(9, &mut body);
    assert_eq!(hex::encode(&body), BODY);
}

#[test]
fn link_0_is_the_hash_of_7_33() {
    let origin = Origin {
        installation: InstallationId::from_bytes(id(1)),
        node: NodeId::from_bytes(id(2)),
        file: FileId {
            boot: BootId::from_bytes(id(3)),
            writer: 4,
        },
        newest_head: [5; 32],
    };
    let mut bytes = b"keywright/audit/v1".to_vec();
    for part in [&id(1)[..], &id(2), &id(3), &[0, 0, 0, 4], &[5; 32]] {
        bytes.extend_from_slice(part);
    }
    assert_eq!(origin.link(), sha256(&bytes));
    assert_eq!(
        origin.file.file_name(),
        format!("{}-00000004.log", hex::encode(&id(3)))
    );
}

#[test]
fn a_file_is_bodies_with_8_bytes_of_each_link() {
    let folder = small_log(3);
    for path in record_files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        let boot = &name(&path)[..32];
        let writer = &name(&path)[33..41];
        // The first record is 138 bytes and five fields: installation, node, boot, writer, head.
        let first = concat!("000f00000010", "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
        let body = &bytes[4..4 + 138 + 22 + 22 + 22 + 10 + 38];
        let fields = hex::encode(&body[138..]);
        assert_eq!(&hex::encode(&body[..10]), "00090000000000000001");
        assert!(fields.starts_with(first));
        assert!(fields.contains(&format!(
            "001100000010{boot}001200000004{writer}001300000020"
        )));
        let newest_head = &body[body.len() - 32..];
        let mut link = [
            &b"keywright/audit/v1"[..],
            &[0xA1; 16],
            &[0xA2; 16],
            &hex::decode(boot).unwrap(),
            &hex::decode(writer).unwrap(),
            newest_head,
        ]
        .concat();
        link = sha256(&link).to_vec();
        let key = HmacSha256::new(&keywright_audit::fuzzing::CHECK_KEY).unwrap();
        let mut checked = true;
        for (_, frame) in record_frames(&bytes) {
            let (framed, cut_link) = frame.split_at(frame.len() - 8);
            let hashed = sha256(&[&link, framed].concat());
            assert_eq!(cut_link, &hashed[..8]);
            let is_check = frame.starts_with(&[0; 4]);
            if is_check {
                // 7.33: HMAC over the newest link; the chain goes on as if it were not there.
                assert_eq!(framed[4..], key.mac(&link));
                assert!(!checked, "nothing is checked twice");
            } else {
                link = hashed.to_vec();
            }
            checked = is_check;
        }
        assert!(checked, "each write ends with a check frame");
    }
}

#[test]
fn a_head_is_the_columns_of_7_34() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, _hand) = still();
    let mut settings = settings(folder.path());
    settings.clock = clock;
    let log = keywright_audit::log::Log::open(settings).unwrap();
    let boot = log.boot().to_string();
    let start = SignedHead::from_bytes(&unframed(folder.path())).unwrap();
    let records = fs::read(&record_files(folder.path())[0]).unwrap();
    let state = start.head().files[0];
    assert_eq!(state.length, records.len() as u64);
    let signed = [
        "0006".to_owned(),                              // algorithm: Ed25519
        "00000001".to_owned(),                          // key version
        hex::encode(key(1).verifying_key().as_bytes()), // public key
        "0000000000000001".to_owned(),                  // number
        "18fae27693b40000".to_owned(),                  // time: 1,800,000,000 s
        "0000000000000000".to_owned(),                  // epoch
        "00".repeat(32),                                // hash of the previous head
        "01".to_owned(),                                // kind: start
        "a1".repeat(16),                                // installation
        "a2".repeat(16),                                // node
        boot.clone(),                                   // boot id
        "00000000".to_owned(),                          // open orders
        "00000001".to_owned(),                          // one file
        boot,                                           // its boot id
        "00000000".to_owned(),                          // its writer
        "0000000000000002".to_owned(),                  // sequence: file-start, node-start
        hex::encode(&state.link),                       // link
        format!("{:016x}", records.len()),              // length
    ]
    .concat();
    let bytes = start.to_bytes();
    assert_eq!(hex::encode(&bytes[..bytes.len() - 64]), signed);
    let message = [
        b"keywright/audit-head/v1",
        &hex::decode(&signed).unwrap()[..],
    ]
    .concat();
    let signature = bytes.last_chunk().unwrap();
    assert_eq!(key(1).verifying_key().verify(&message, signature), Ok(()));
    assert_eq!(start.id().hash, sha256(&message));
    // The stated link is the whole of the one whose first 8 bytes end the last record, before its check frame.
    assert!(records[..records.len() - CHECK_LEN].ends_with(&state.link[..8]));
    drop(log);
}

/// The first head of the only file of heads.
fn unframed(dir: &std::path::Path) -> Vec<u8> {
    let bytes = fs::read(&head_files(dir)[0]).unwrap();
    let ends = head_boundaries(&bytes);
    bytes[4..ends[1]].to_vec()
}

/// A log that the second implementation wrote.
struct Golden {
    name: String,
    folder: tempfile::TempDir,
    /// What proves each record, by file.
    evidence: Map<String, Value>,
}

fn golden() -> (CheckKey, Vec<Golden>) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../vectors/golden/audit/logs.json"
    );
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let text = |value: &Value| hex::decode(value.as_str().unwrap()).unwrap();
    let row_key = text(&document["row_key"]).try_into().unwrap();
    let check = CheckKey::derive(&MacKey::new(&row_key));
    let stated = text(&document["fingerprint"]);
    assert_eq!(stated, fingerprint(1).as_bytes());
    let logs = document["logs"].as_array().unwrap().iter().map(|log| {
        let folder = tempfile::tempdir().unwrap();
        for (file, bytes) in log["files"].as_object().unwrap() {
            fs::write(folder.path().join(file), text(bytes)).unwrap();
        }
        Golden {
            name: log["name"].as_str().unwrap().to_owned(),
            folder,
            evidence: log["evidence"].as_object().unwrap().clone(),
        }
    });
    (check, logs.collect())
}

#[test]
fn logs_of_the_second_implementation_are_read_and_judged_alike() {
    let (check, logs) = golden();
    assert_eq!(logs.len(), 9);
    for Golden {
        name,
        folder,
        evidence,
    } in logs
    {
        let dir = folder.path();
        let report = verify(dir).unwrap_or_else(|finding| panic!("{name}: {finding}"));
        let mut found: Map<String, Value> = Map::new();
        for record in show(dir, Filter::default())
            .unwrap()
            .judged_by(&check)
            .unwrap()
        {
            let record = record.unwrap();
            let file = record["file"].as_str().unwrap().to_owned();
            let list = found
                .entry(file)
                .or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut()
                .unwrap()
                .push(record["evidence"].clone());
        }
        assert_eq!(found, evidence, "{name}");
        let all = evidence.values().flat_map(|list| list.as_array().unwrap());
        let unproven = all.filter(|one| *one == "unproven").count() as u64;
        let adopted = name == "adopted-tail";
        assert_eq!(report.unproven, if adopted { 1 } else { 0 }, "{name}");
        // A start goes on with each of them, and marks what nothing proves.
        let mut next = settings(dir);
        next.keys.check = check.clone();
        let mut log = keywright_audit::log::Log::open(next).unwrap();
        assert_eq!(log.unproven(), if adopted { 0 } else { unproven }, "{name}");
        let orders = log.take_unfinished().len();
        let begun = [
            "proven-tail",
            "forged-tail",
            "foreign-check",
            "torn-check",
            "torn-record",
        ];
        // The order without an end is proven in these, and unproven in the older log.
        assert_eq!(
            orders,
            usize::from(begun.contains(&name.as_str())),
            "{name}"
        );
        log.shutdown().unwrap();
        let report = verify(dir).unwrap_or_else(|finding| panic!("{name}: {finding}"));
        assert_eq!(report.unproven, unproven, "{name}");
    }
}
