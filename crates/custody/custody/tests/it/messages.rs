//! Requests and replies travel to a holder in another process and back.

use std::sync::Arc;

use keywright_clock::{Clock, WallTime};
use keywright_custody::{HolderOperation, Identity, Items, KeyMaterial, Reply, Request, Versions};
use keywright_envelope::Binding;
use keywright_types::{Code, GroupId, KeyId, KeySpec, KeyVersion, PrincipalId, TenantId};

fn request(binding: Binding) -> Request {
    let identity = Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([2; 16]),
        version: KeyVersion::FIRST,
        spec: KeySpec::seal(),
        created: WallTime::from_unix_millis(5),
    };
    let parent = Arc::new(KeyMaterial::new(identity, vec![7; 9], None));
    let material = Arc::new(KeyMaterial::new(identity, vec![8; 9], Some(parent)));
    let operation = HolderOperation::Seal;
    Request {
        operation,
        versions: Versions::from_iter([material]),
        binding,
        deadline_ns: 77,
    }
}

#[test]
fn a_request_arrives_as_it_was_sent() {
    let bindings = [
        Binding::None,
        Binding::Principal(PrincipalId::from_bytes([3; 16])),
        Binding::Group(GroupId::from_bytes([4; 16])),
    ];
    for binding in bindings {
        let sent = request(binding);
        let arrived: Request = serde_json::from_slice(&serde_json::to_vec(&sent).unwrap()).unwrap();
        assert_eq!(arrived.binding, binding);
        assert_eq!(
            (arrived.operation, arrived.deadline_ns),
            (sent.operation, 77)
        );
        let (a, b) = (&arrived.versions[0], &sent.versions[0]);
        assert_eq!((a.attributes(), a.sealed()), (b.attributes(), b.sealed()));
        assert_eq!(a.parent().unwrap().sealed(), b.parent().unwrap().sealed());
    }
}

#[test]
fn an_unknown_binding_or_key_of_a_message_is_refused() {
    let text = serde_json::to_string(&request(Binding::None)).unwrap();
    let zero = serde_json::to_string(&(0_u8, [0_u8; 16])).unwrap();
    assert!(text.contains(&zero));
    for wrong in [(0_u8, [1_u8; 16]), (3, [0; 16]), (255, [9; 16])] {
        let wrong = text.replace(&zero, &serde_json::to_string(&wrong).unwrap());
        assert!(serde_json::from_str::<Request>(&wrong).is_err(), "{wrong}");
    }
    assert!(serde_json::from_str::<Request>(&text.replacen('{', "{\"more\":1,", 1)).is_err());
    assert!(serde_json::from_str::<Items>(r#"{"bytes":[],"spans":[],"x":0}"#).is_err());
}

#[test]
fn a_deadline_is_over_only_after_it() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let request = request(Binding::None);
    hand.advance(std::time::Duration::from_nanos(77));
    assert!(!request.expired(&clock));
    hand.advance(std::time::Duration::from_nanos(1));
    assert!(request.expired(&clock));
}

#[test]
fn a_reply_from_elsewhere_cannot_reach_outside_its_buffer() {
    let mut reply = Reply::with_capacity(2, 8);
    reply.push(KeyVersion::FIRST, |out| {
        out.extend_from_slice(b"abcd");
        Ok([1; 16])
    });
    reply.push_unopened(KeyVersion::NONE, Code::DecryptionFailed, b"no envelope");
    let text = serde_json::to_string(&reply).unwrap();
    for end in ["99", "4294967295"] {
        let reply: Reply =
            serde_json::from_str(&text.replacen("\"end\":4", &format!("\"end\":{end}"), 1))
                .unwrap();
        assert!(reply.iter().all(|item| item.payload.is_empty()));
    }
    assert!(serde_json::from_str::<Reply>(&text.replace("\"end\":4", "\"end\":-1")).is_err());
}

#[test]
fn neither_items_nor_replies_show_what_they_hold() {
    let mut items = Items::default();
    items
        .push_slices(0, b"plaintext-canary", b"aad-canary")
        .unwrap();
    let shown = format!("{items:?} {:?}", items.item(0).unwrap());
    assert!(!shown.contains("canary"), "{shown}");
    let mut reply = Reply::default();
    reply.push(KeyVersion::FIRST, |out| {
        out.extend_from_slice(b"plaintext-canary");
        Ok([0; 16])
    });
    let shown = format!("{reply:?} {:?}", reply.iter().next().unwrap());
    assert!(!shown.contains("canary"), "{shown}");
}
