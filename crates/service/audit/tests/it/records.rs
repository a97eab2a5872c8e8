//! What is written is read back, and nothing else can be written.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use keywright_audit::batch::Batch;
use keywright_audit::field::{
    Field, MessageId, PathList, Prefix, Resumption, Row, Serial, Subject, searchable,
};
use keywright_audit::record::{Entry, FIXED_LEN, MAX_BODY, Malformed, ReadField, Record};
use keywright_audit::show::{Filter, show};
use keywright_audit::{AuditError, FieldTag, Reason, RecordType};
use keywright_primitives::hash::sha256;
use keywright_primitives::mac::MacKey;
use keywright_types::{
    ApprovalId, BootId, Code, DataKeyId, GroupId, InstallationId, KeyVersion, Name, NodeId,
    PrincipalId, RequestId, TenantId,
};

use crate::support::*;

fn name() -> Name {
    "exchange-key".parse().unwrap()
}

/// One of each field.
fn every_field<'a>(name: &'a Name, ids: &'a [MessageId]) -> Vec<Field<'a>> {
    let address: SocketAddr = "192.0.2.7:443".parse().unwrap();
    vec![
        Field::MessageId([1; 16]),
        Field::ItemIds(ids),
        Field::Reason(Reason::TagMismatch),
        Field::Address(address),
        Field::Address("[2001:db8::1]:8443".parse().unwrap()),
        Field::AddressPrefix(Prefix::of(address.ip())),
        Field::AddressPrefix(Prefix::of("2001:db8:1:2::3".parse().unwrap())),
        Field::Anchor([2; 32]),
        Field::Leaf([3; 32]),
        Field::Serial(Serial::new(&[9; 20])),
        Field::Subject(Subject::new("CN=trading-1,OU=Trading")),
        Field::Resumed(Resumption::Resumed),
        Field::name(name),
        Field::Row(Row {
            table: name.into(),
            key: b"k",
            row: b"sealed",
            mac: &[4; 32],
        }),
        Field::Installation(InstallationId::from_bytes([5; 16])),
        Field::Node(NodeId::from_bytes([6; 16])),
        Field::Boot(BootId::from_bytes([7; 16])),
        Field::Writer(8),
        Field::NewestHead([9; 32]),
        Field::Preallocated(10),
        Field::Group(GroupId::from_bytes([11; 16])),
        Field::Approval(ApprovalId::from_bytes([12; 16])),
        Field::OrderDigest([13; 32]),
        Field::Searchable(searchable(&MacKey::new(&[1; 32]), b"4111")),
        Field::DataKey(DataKeyId::from_bytes([14; 16])),
        Field::AboutPrincipal(PrincipalId::from_bytes([15; 16])),
        Field::AboutTenant(TenantId::from_bytes([16; 16])),
        Field::NotAfter(1_900_000_000),
    ]
}

#[test]
fn every_field_survives_the_round_trip() {
    let (name, ids) = (name(), [[1; 16], [2; 16]]);
    let fields = every_field(&name, &ids);
    let mut body = Vec::new();
    Record {
        facts: request(7),
        fields: &fields,
    }
    .put(42, &mut body);
    let entry = Entry::parse(&body).unwrap();
    assert_eq!(entry.sequence(), 42);
    assert_eq!(*entry.facts(), request(7));
    assert_eq!(entry.known().collect::<Vec<_>>(), fields);
    let seen: BTreeSet<_> = fields.iter().map(Field::tag).collect();
    let missing: Vec<_> = FieldTag::ALL
        .iter()
        .filter(|tag| !seen.contains(tag))
        .collect();
    // These four have tests of their own.
    assert_eq!(
        missing,
        [
            &FieldTag::ItemGroups,
            &FieldTag::ItemDigest,
            &FieldTag::CarriedFrom,
            &FieldTag::Paths
        ]
    );
}

#[test]
fn paths_are_listed_by_their_numbers_and_come_back_as_they_are_written() {
    let mut list = PathList::new();
    assert_eq!((list.field(), list.byte_len()), (None, 0));
    let hardened = 1 << 31;
    list.push([hardened | 44, hardened, 7].into_iter());
    list.push(std::iter::empty());
    list.push([u32::MAX].into_iter());
    let fields = [list.field().unwrap()];
    let mut body = Vec::new();
    Record {
        facts: request(7),
        fields: &fields,
    }
    .put(1, &mut body);
    let entry = Entry::parse(&body).unwrap();
    let read: Vec<_> = entry.known().collect();
    assert_eq!(read, fields);
    let Field::Paths(paths) = read[0] else {
        panic!("paths");
    };
    let texts: Vec<_> = paths.iter().collect();
    assert_eq!(texts, ["m/44'/0'/7", "m", "m/2147483647'"]);
    for cut in [&[1][..], &[1, 0, 0, 0], &[0, 2, 0, 0, 0, 0], &[255]] {
        assert_eq!(Field::parse(FieldTag::Paths, cut), None, "{cut:?}");
    }
}

#[test]
fn a_cut_or_longer_body_is_refused() {
    let (name, ids) = (name(), [[1; 16]]);
    let fields = every_field(&name, &ids);
    let mut body = Vec::new();
    Record {
        facts: request(7),
        fields: &fields,
    }
    .put(1, &mut body);
    let mut whole = BTreeSet::from([FIXED_LEN]);
    let mut at = FIXED_LEN;
    while at < body.len() {
        let length = u32::from_be_bytes(body[at + 2..at + 6].try_into().unwrap());
        at += 6 + usize::try_from(length).unwrap();
        whole.insert(at);
    }
    for length in 0..body.len() {
        assert_eq!(
            Entry::parse(&body[..length]).is_ok(),
            whole.contains(&length),
            "{length}"
        );
    }
    body.push(0);
    assert_eq!(Entry::parse(&body), Err(Malformed::Truncated));
    assert_eq!(Entry::parse(&vec![0; MAX_BODY + 1]), Err(Malformed::Length));
}

#[test]
fn unknown_numbers_are_refused_and_unknown_fields_are_kept_raw() {
    let mut body = Vec::new();
    Record::from(request(7)).put(1, &mut body);
    for (offset, expected) in [
        (0, Malformed::Type),
        (82, Malformed::Operation),
        (84, Malformed::Outcome),
    ] {
        let mut changed = body.clone();
        changed[offset] = 0xFF;
        assert_eq!(Entry::parse(&changed), Err(expected));
    }
    body.extend_from_slice(&[0xEE, 0xEE, 0, 0, 0, 2, 7, 8]);
    let entry = Entry::parse(&body).unwrap();
    assert_eq!(
        entry.fields().collect::<Vec<_>>(),
        [ReadField::Unknown {
            tag: 0xEEEE,
            bytes: &[7, 8]
        }]
    );
}

#[test]
fn a_known_field_of_another_shape_is_refused() {
    for tag in FieldTag::ALL {
        let refused = match tag {
            // Any bytes up to 64 are a serial number; no bytes are a subject, a list of no ids.
            FieldTag::Serial => vec![0; 65],
            FieldTag::Subject => vec![b'\n'],
            FieldTag::ItemIds => vec![0; 17],
            _ => Vec::new(),
        };
        assert_eq!(Field::parse(*tag, &refused), None, "{tag}");
    }
    assert_eq!(Field::parse(FieldTag::Resumed, &[2]), None);
    assert_eq!(Field::parse(FieldTag::Subject, &[b'x'; 257]), None);
    assert_eq!(Field::parse(FieldTag::Name, b"../etc"), None);
    assert_eq!(Field::parse(FieldTag::AddressPrefix, &[32, 1, 2, 3]), None);
    // 65 groups, and a group with an outcome that does not exist.
    let mut groups = vec![65];
    groups.extend([0; 65 * 10 + 4]);
    assert_eq!(Field::parse(FieldTag::ItemGroups, &groups), None);
    let unknown = [1, 0, 0, 0, 1, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(Field::parse(FieldTag::ItemGroups, &unknown), None);
}

#[test]
fn a_mapped_address_counts_as_ipv4_and_a_subject_cannot_break_a_line() {
    let mapped: IpAddr = "::ffff:192.0.2.200".parse().unwrap();
    assert_eq!(Prefix::of(mapped), Prefix::of("192.0.2.1".parse().unwrap()));
    assert_eq!(Prefix::of(mapped).to_string(), "192.0.2.0/24");
    let long = format!("CN=a\n\u{7f}{}", "é".repeat(300));
    let mut body = Vec::new();
    let fields = [Field::Subject(Subject::new(&long))];
    Record {
        facts: request(1),
        fields: &fields,
    }
    .put(1, &mut body);
    let read = Entry::parse(&body).unwrap().known().next();
    let Some(Field::Subject(subject)) = read else {
        panic!("{read:?}")
    };
    assert!(subject.as_str().starts_with("CN=a??éé"));
    assert_eq!(subject.as_str().len(), 256);
}

#[test]
fn a_batch_has_64_groups_then_other_and_one_hash_over_all() {
    let mut batch = Batch::new();
    let mut hashed = Vec::new();
    for number in 0..10_000_u32 {
        let outcome = if number % 2 == 0 {
            Code::Ok
        } else {
            Code::DecryptionFailed
        };
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        batch.add(KeyVersion::from_number(number % 100 / 2), outcome, &id);
        hashed.extend_from_slice(&id);
        hashed.extend_from_slice(&outcome.number().to_be_bytes());
    }
    let summary = batch.finish();
    assert_eq!((summary.items(), summary.failed()), (10_000, 5_000));
    let [Field::ItemGroups(groups), digest] = summary.fields() else {
        panic!()
    };
    assert_eq!(digest, Field::ItemDigest(sha256(&hashed)));
    assert_eq!(groups.iter().count(), 64);
    assert!(groups.iter().all(|group| group.items == 100));
    assert_eq!(groups.other(), 10_000 - 64 * 100);
    let mut body = Vec::new();
    Record {
        facts: request(1),
        fields: &summary.fields(),
    }
    .put(1, &mut body);
    let read: Vec<_> = Entry::parse(&body).unwrap().known().collect();
    assert_eq!(read, summary.fields());
    assert!(body.len() < 1_000);
}

#[test]
fn order_and_outcome_of_items_change_the_hash() {
    let digest = |items: &[(Code, MessageId)]| {
        let mut batch = Batch::new();
        items
            .iter()
            .for_each(|(outcome, id)| batch.add(KeyVersion::FIRST, *outcome, id));
        match batch.finish().fields()[1] {
            Field::ItemDigest(digest) => digest,
            other => panic!("{other:?}"),
        }
    };
    let (a, b) = ((Code::Ok, [1; 16]), (Code::Ok, [2; 16]));
    assert_ne!(digest(&[a, b]), digest(&[b, a]));
    assert_ne!(digest(&[a, b]), digest(&[a]));
    assert_ne!(digest(&[a]), digest(&[(Code::DecryptionFailed, [1; 16])]));
}

#[test]
fn a_searchable_value_depends_on_the_tenants_key() {
    let (one, other) = (MacKey::new(&[1; 32]), MacKey::new(&[2; 32]));
    assert_eq!(searchable(&one, b"a"), searchable(&one, b"a"));
    assert_ne!(searchable(&one, b"a"), searchable(&other, b"a"));
    assert_ne!(searchable(&one, b"a").as_bytes()[..], sha256(b"a")[..16]);
}

#[test]
fn thousands_of_records_are_shown_as_they_were_written() {
    let folder = small_log(5_000);
    let records: Vec<_> = show(folder.path(), Filter::default())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let requests: Vec<_> = records.iter().filter(|r| r["type"] == "request").collect();
    assert_eq!(requests.len(), 5_000);
    for (number, shown) in (0..).zip(&requests) {
        assert_eq!(shown["request"], request(number).request.to_string());
        assert_eq!(shown["outcome"], request(number).outcome.name());
    }
    assert_eq!(requests[0]["time"], "2027-01-15T08:00:00.000000000Z");
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.by_outcome[&Code::DecryptionFailed], 1_000);
    assert_eq!(report.records_of(RecordType::Request), 5_000);
    assert_eq!(report.records_of(RecordType::NodeStop), 1);
    assert_eq!((report.unsigned, report.cut, report.crashes), (0, 0, 0));
}

#[test]
fn records_are_found_by_request_principal_context_and_time() {
    let folder = small_log(20);
    let count = |filter| show(folder.path(), filter).unwrap().count();
    let wanted = request(7);
    assert_eq!(
        count(Filter {
            request: Some(wanted.request),
            ..Filter::default()
        }),
        1
    );
    assert_eq!(
        count(Filter {
            request: Some(RequestId::from_bytes([9; 16])),
            ..Filter::default()
        }),
        0
    );
    assert_eq!(
        count(Filter {
            principal: Some(wanted.principal),
            ..Filter::default()
        }),
        20
    );
    assert_eq!(
        count(Filter {
            context: Some(wanted.key),
            ..Filter::default()
        }),
        20
    );
    let (from, until) = (Some(request(5).time), Some(request(8).time));
    assert_eq!(
        count(Filter {
            from,
            until,
            context: Some(wanted.key),
            ..Filter::default()
        }),
        3
    );
}

#[test]
fn a_record_beyond_the_limit_is_refused_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    let ids = vec![[7; 16]; MAX_BODY / 16];
    let fields = [Field::ItemIds(&ids)];
    let refused = writer.append(&Record {
        facts: request(0),
        fields: &fields,
    });
    assert!(matches!(refused, Err(AuditError::RecordTooLarge)));
    append_all(&mut writer, 0..3);
    let fits = [Field::ItemIds(&ids[..10_000])];
    let ticket = writer
        .append(&Record {
            facts: request(3),
            fields: &fits,
        })
        .unwrap();
    assert!(writer.flush().unwrap().covers(ticket));
    drop(writer);
    log.shutdown().unwrap();
    assert_eq!(
        verify(folder.path())
            .unwrap()
            .records_of(RecordType::Request),
        4
    );
}
