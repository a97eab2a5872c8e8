//! Counted refusals: bounded records, complete counts (design 7.36); and what cannot be in a record.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use keywright_audit::RecordType;
use keywright_audit::refusals::{RECORDS_PER_DRAIN, Refusals, Whom};
use keywright_clock::WallTime;
use keywright_mutate::SplitMix;
use keywright_types::{Code, PrincipalId, TenantId};

use crate::support::*;

const REASONS: [Code; 4] = [
    Code::HandshakeFailed,
    Code::CertificateMissing,
    Code::PrincipalUnknown,
    Code::Overloaded,
];

fn second(number: u64) -> WallTime {
    WallTime::from_unix_seconds(1_800_000_000 + number)
}

#[test]
fn counts_add_up_to_all_refusals_however_many_networks_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    let mut dice = SplitMix::new(7);
    let mut refusals = Refusals::new();
    let mut noted = BTreeMap::<Code, u64>::new();
    for round in 0..10 {
        for _ in 0..10_000 {
            let reason = REASONS[dice.below(REASONS.len())];
            let whom = if reason == Code::Overloaded {
                Whom::Principal(
                    TenantId::from_bytes([1; 16]),
                    PrincipalId::from_bytes([dice.byte(); 16]),
                )
            } else {
                let [a, b, c, d, ..] = dice.next_u64().to_be_bytes();
                IpAddr::from(Ipv4Addr::new(a, b, c, d)).into()
            };
            refusals.note(reason, whom);
            *noted.entry(reason).or_default() += 1;
        }
        let drained = refusals.drain(second(round));
        assert!(drained.len() <= RECORDS_PER_DRAIN);
        for counted in &drained {
            let _ticket = writer.append(&counted.record()).unwrap();
        }
        writer.flush().unwrap();
        // A second has one drain.
        refusals.note(Code::HandshakeFailed, IpAddr::from([192, 0, 2, 1]).into());
        *noted.entry(Code::HandshakeFailed).or_default() += 1;
        assert!(refusals.drain(second(round)).is_empty());
    }
    for counted in refusals.drain_all(second(9)) {
        let _ticket = writer.append(&counted.record()).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    log.shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(noted.values().sum::<u64>(), 100_010);
    for (reason, count) in noted {
        assert_eq!(report.by_outcome[&reason], count, "{reason}");
    }
    assert!(report.records_of(RecordType::Refused) <= 1_001);
}

#[test]
fn neighbours_share_a_record_and_others_do_not() {
    let mut refusals = Refusals::new();
    for address in ["192.0.2.1", "192.0.2.99", "::ffff:192.0.2.3", "192.0.3.1"] {
        refusals.note(
            Code::HandshakeFailed,
            address.parse::<IpAddr>().unwrap().into(),
        );
    }
    refusals.note(
        Code::CertificateMissing,
        "192.0.2.1".parse::<IpAddr>().unwrap().into(),
    );
    let counts: Vec<_> = refusals
        .drain(second(0))
        .iter()
        .map(|counted| counted.record().facts.items)
        .collect();
    assert_eq!(counts.len(), 3);
    assert_eq!(counts.iter().sum::<u32>(), 5);
    assert!(refusals.drain(second(1)).is_empty());
}

/// What a caller sends. A record has no field that takes it, so this test can only plant it where the
/// log's interface takes bytes at all: it does so nowhere but as a keyed hash.
#[test]
fn a_callers_bytes_are_in_no_file() {
    use keywright_audit::field::{Field, searchable};
    use keywright_audit::record::Record;
    use keywright_primitives::hash::sha256;
    use keywright_primitives::mac::MacKey;
    let canary = b"CANARY-4111111111111111";
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    let found = searchable(&MacKey::new(&[9; 32]), canary);
    let fields = [Field::Searchable(found), Field::MessageId([1; 16])];
    let _ticket = writer
        .append(&Record {
            facts: request(1),
            fields: &fields,
        })
        .unwrap();
    writer.flush().unwrap();
    drop(writer);
    log.shutdown().unwrap();
    for path in record_files(folder.path())
        .into_iter()
        .chain(head_files(folder.path()))
    {
        let bytes = fs::read(path).unwrap();
        for needle in [&canary[..], &canary[7..], &sha256(canary)[..16]] {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle));
        }
    }
}
