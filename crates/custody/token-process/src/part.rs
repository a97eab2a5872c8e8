//! A part of a request: which items go over at once, how long its answer may be, and whether what came back can be one.
//!
//! The child's answers are foreign bytes. What can be told without a key is looked at: as many results as items, no
//! payload where there is an error, an envelope under the version that was asked to seal, of its text's length.

use std::ops::Range;
use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_custody::reader::{FormerName, NonceLen, ObjectId, OldCiphertext};
use keywright_custody::{
    Detail, HolderOperation, Item, Items, KeyMaterial, NO_DEADLINE, ReaderDetail, Reply, Request,
    Versions,
};
use keywright_encoding::Reader;
use keywright_envelope::{Binding, Envelope, Identity};
use keywright_types::{
    Algorithm, Code, Custody, KeyId, KeySpec, KeyVersion, Kind, Suite, TenantId,
};
use smallvec::SmallVec;

use crate::answer::{self, Answer};
use crate::order::OPERATIONS;

/// The items of a part. Items that were not pushed but read may reach outside their buffer: those are not asked for.
pub(crate) fn chosen<'a>(items: &'a Items, part: &Range<usize>) -> Option<Chosen<'a>> {
    part.clone().map(|index| items.item(index)).collect()
}

pub(crate) type Chosen<'a> = SmallVec<[Item<'a>; 1]>;

/// Ranges of items, each of which goes over at once.
pub(crate) fn parts(items: &Items) -> impl Iterator<Item = Range<usize>> {
    let count = items.len();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= count {
            return None;
        }
        let mut bytes = 0;
        let mut end = start;
        while end < count && end - start < PART_ITEMS {
            bytes += items
                .item(end)
                .map_or(0, |one| one.payload.len() + one.aad.len());
            if end > start && bytes > PART_BYTES {
                break;
            }
            end += 1;
        }
        let part = start..end;
        start = end;
        Some(part)
    })
}

/// What a part's answer may have at most.
pub(crate) fn longest_answer(operation: HolderOperation, chosen: &[Item<'_>]) -> usize {
    let growth = match operation {
        HolderOperation::PublicKey | HolderOperation::Sign => LONG_GROWTH,
        _ => GROWTH,
    };
    let one = |item: &Item<'_>| item.payload.len() + growth;
    SHORT_ANSWER + chosen.iter().map(one).sum::<usize>()
}

/// Puts the results of a part into the reply; `None` if they are not what was asked for.
pub(crate) fn settle(
    (request, items): (&Request, &Items),
    part: &Range<usize>,
    answer: &[u8],
    reply: &mut Reply,
) -> Option<()> {
    let Some(Answer::Done(done)) = answer::read(answer) else {
        return None;
    };
    let mut results = answer::items(done, part.len())?;
    for item in chosen(items, part)? {
        let (code, payload) = results.next()?;
        let used = if request.operation.seals() {
            0
        } else {
            item.version
        };
        let material = request.versions.get(used);
        let version = material.map_or(KeyVersion::NONE, |material| material.version());
        let opens = matches!(
            request.operation,
            HolderOperation::Open | HolderOperation::OpenDataKey
        );
        if code != Code::Ok {
            if opens {
                reply.push_unopened(version, code, item.payload);
            } else {
                reply.push(version, |_| Err(code));
            }
            continue;
        }
        let message = match material {
            Some(material) => message(request, material, &item, payload)?,
            None => return None,
        };
        reply.push(version, |out| {
            out.extend_from_slice(payload);
            Ok(message)
        });
    }
    results.end()
}

/// The reader with the object that the child has found, which is the one that was said, and its check value.
pub(crate) fn bound(reader: &ReaderDetail, answer: &[u8]) -> Option<(ReaderDetail, Vec<u8>)> {
    let mut parts = Reader::new(answer::bytes(answer)?);
    let object = ObjectId::new(parts.lp().ok()?.to_vec())?;
    let sealed = parts.lp().ok()?.to_vec();
    let said = reader.object.as_ref();
    let fits = said.is_none_or(|said| *said == object) && !sealed.is_empty() && parts.is_empty();
    let reader = ReaderDetail {
        object: Some(object),
        ..reader.clone()
    };
    fits.then_some((reader, sealed))
}

/// The id of the message, after a look whether the result can be one of what was asked.
fn message(
    request: &Request,
    material: &KeyMaterial,
    item: &Item<'_>,
    payload: &[u8],
) -> Option<[u8; 16]> {
    let id = |envelope: &Envelope<'_>| *envelope.message_id().as_bytes();
    let opens = request.operation == HolderOperation::Open;
    if let Some(reader) = material.reader().filter(|_| opens) {
        let old = OldCiphertext::parse(item.payload, reader.nonce)?;
        return (payload.len() == old.body.len()).then(|| old.nonce.message_id());
    }
    match request.operation {
        HolderOperation::Open | HolderOperation::OpenDataKey => {
            let envelope = Envelope::parse(item.payload).ok()?;
            (payload.len() == envelope.plaintext_len()).then(|| id(&envelope))
        }
        HolderOperation::Seal | HolderOperation::MakeDataKey | HolderOperation::Reseal => {
            let (sealed, kind, length, binding) = match request.operation {
                HolderOperation::MakeDataKey => (
                    payload.get(DATA_KEY_LEN..)?,
                    Kind::Key,
                    DATA_KEY_LEN,
                    request.binding,
                ),
                HolderOperation::Reseal => resealed(request, item, payload)?,
                _ => (payload, Kind::Message, item.payload.len(), request.binding),
            };
            let envelope = Envelope::parse(sealed).ok()?;
            let header = envelope.header();
            let own = header.identity() == own_identity(material, kind)?
                && header.binding == binding
                && envelope.plaintext_len() == length;
            own.then(|| id(&envelope))
        }
        _ => Some([0; 16]),
    }
}

/// What a new envelope of an old message must be: kind, length and binding of the old one. What the seed service sealed
/// says nothing of the last, so the request does.
fn resealed<'a>(
    request: &Request,
    item: &Item<'_>,
    payload: &'a [u8],
) -> Option<(&'a [u8], Kind, usize, Binding)> {
    if let Some(reader) = request.versions.get(item.version)?.reader() {
        let old = OldCiphertext::parse(item.payload, reader.nonce)?;
        return Some((payload, Kind::Message, old.body.len(), request.binding));
    }
    let old = Envelope::parse(item.payload).ok()?;
    let header = old.header();
    Some((payload, header.kind, old.plaintext_len(), header.binding))
}

/// Whose envelope it must be.
fn own_identity(material: &KeyMaterial, kind: Kind) -> Option<Identity> {
    let suite = match material.spec().algorithm {
        Algorithm::TokenGcm12 => Suite::TokenGcm12,
        Algorithm::TokenGcm16 => Suite::TokenGcm16,
        _ => return None,
    };
    Some(Identity {
        suite,
        kind,
        key: material.key(),
        version: material.version(),
    })
}

/// Items and bytes that go over at once: a device that takes 50 ms for each is done in two seconds.
const PART_ITEMS: usize = 32;
const PART_BYTES: usize = 1 << 20;
/// By how much a result can be longer than its item: header, nonce, tag, a data key; a signature, a public key in three
/// forms. With its code and length.
const GROWTH: usize = 512;
const LONG_GROWTH: usize = 8 << 10;
pub(crate) const SHORT_ANSWER: usize = 64;
/// id 16 + secret 32 (design 7.9).
const DATA_KEY_LEN: usize = 48;

/// Takes apart what a child answers about a part, and about a key that was there before: the body of a fuzz target.
/// The first byte says what was asked, the second how long the message was; then come message and answer.
///
/// # Panics
/// If there are not as many results as items.
pub fn fuzz_part(data: &[u8]) {
    let reader = ReaderDetail {
        label: String::new(),
        context: String::new(),
        name: FormerName::CommonName,
        nonce: NonceLen::Sixteen,
        object: None,
    };
    let _ = bound(&reader, data);
    let [asked, length, rest @ ..] = data else {
        return;
    };
    let Some((message, answer)) = rest.split_at_checked(usize::from(*length)) else {
        return;
    };
    let own = KeyMaterial::new(FUZZED, Vec::new(), None);
    let old = KeyMaterial::new(FUZZED, Vec::new(), None);
    let old = old.with_detail(Some(Arc::new(Detail::Reader(reader))));
    let request = Request {
        operation: OPERATIONS[usize::from(*asked) % OPERATIONS.len()],
        versions: Versions::from_iter([Arc::new(own), Arc::new(old)]),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    };
    for version in 0..2 {
        let mut items = Items::default();
        if items.push_slices(version, message, b"").is_err() {
            return;
        }
        let mut reply = Reply::default();
        let settled = settle((&request, &items), &(0..1), answer, &mut reply);
        assert!(settled.is_none() || reply.len() == 1, "a result is missing");
    }
}

const FUZZED: keywright_custody::Identity = keywright_custody::Identity {
    tenant: TenantId::from_bytes([0; 16]),
    key: KeyId::from_bytes([0; 16]),
    version: KeyVersion::FIRST,
    spec: KeySpec {
        algorithm: Algorithm::TokenGcm12,
        custody: Custody::Token,
        ..KeySpec::seal()
    },
    created: WallTime::from_unix_millis(0),
};

#[cfg(test)]
mod tests {
    use keywright_envelope::{Aad, DeviceKey, Error, Sealing};
    use keywright_types::GroupId;

    use super::*;
    use crate::frame::Buffer;

    const GROUP: Binding = Binding::Group(GroupId::from_bytes([7; 16]));

    fn material(version: u32, detail: Option<ReaderDetail>) -> Arc<KeyMaterial> {
        let identity = keywright_custody::Identity {
            tenant: TenantId::from_bytes([1; 16]),
            key: KeyId::from_bytes([2; 16]),
            version: KeyVersion::from_number(version),
            spec: KeySpec {
                algorithm: Algorithm::TokenGcm12,
                custody: Custody::Token,
                ..KeySpec::seal()
            },
            created: WallTime::from_unix_millis(0),
        };
        let material = KeyMaterial::new(identity, vec![1], None);
        Arc::new(material.with_detail(detail.map(|reader| Arc::new(Detail::Reader(reader)))))
    }

    fn reader(nonce: NonceLen, object: Option<&str>) -> ReaderDetail {
        ReaderDetail {
            label: "k".to_owned(),
            context: "c".to_owned(),
            name: FormerName::CommonName,
            nonce,
            object: object.map(|id| id.parse().unwrap()),
        }
    }

    /// A well-formed envelope of a key, which no token has made.
    fn envelope(version: u32, kind: Kind, binding: Binding, text: &[u8]) -> Vec<u8> {
        let identity = own_identity(&material(version, None), kind).unwrap();
        let sealing = Sealing {
            binding,
            aad: &Aad::EMPTY,
            plaintext: text,
        };
        let mut out = Vec::new();
        let made: Result<_, Error> = DeviceKey::new(identity).unwrap().seal_into(
            &sealing,
            &mut out,
            |nonce, _, text, out| {
                nonce.fill(3);
                out.extend_from_slice(text);
                out.extend_from_slice(&[0; 16]);
                Ok(())
            },
        );
        made.unwrap();
        out
    }

    fn request(operation: HolderOperation, versions: [Arc<KeyMaterial>; 2]) -> Request {
        Request {
            operation,
            versions: Versions::from_iter(versions),
            binding: GROUP,
            deadline_ns: NO_DEADLINE,
        }
    }

    /// What becomes of one item whose result is this.
    fn settled(request: &Request, item: (u16, &[u8]), result: (Code, &[u8])) -> Option<Reply> {
        let mut items = Items::default();
        items.push_slices(item.0, item.1, b"").unwrap();
        let mut answer = Buffer::new();
        answer.begin();
        answer.put_u8(0);
        answer.put_u32(1);
        answer.put_u16(result.0.number());
        answer.put_lp(result.1);
        let mut reply = Reply::with_capacity(1, 1024);
        settle((request, &items), &(0..1), answer.body(), &mut reply).map(|()| reply)
    }

    #[test]
    fn a_sealed_message_is_of_the_version_that_was_asked_of_its_length_and_its_binding() {
        let request = request(
            HolderOperation::Seal,
            [material(2, None), material(1, None)],
        );
        let settled = |result: &[u8]| settled(&request, (0, b"text"), (Code::Ok, result));
        let reply = settled(&envelope(2, Kind::Message, GROUP, b"text")).unwrap();
        let item = reply.iter().next().unwrap();
        assert_eq!(
            (item.version.number(), &item.message[..4]),
            (2, &[3; 4][..])
        );
        for wrong in [
            envelope(1, Kind::Message, GROUP, b"text"),
            envelope(2, Kind::Key, GROUP, b"text"),
            envelope(2, Kind::Message, Binding::None, b"text"),
            envelope(2, Kind::Message, GROUP, b"texts"),
            b"text".to_vec(),
            Vec::new(),
        ] {
            assert!(settled(&wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn an_opened_message_has_the_length_of_its_envelope() {
        let sealed = envelope(1, Kind::Message, GROUP, b"text");
        let request = request(
            HolderOperation::Open,
            [material(2, None), material(1, None)],
        );
        let settled = |result: (Code, &[u8])| settled(&request, (1, &sealed), result);
        let reply = settled((Code::Ok, b"TEXT")).unwrap();
        assert_eq!(reply.iter().next().unwrap().message[..4], [3; 4]);
        assert!(settled((Code::Ok, b"tex")).is_none());
        assert!(settled((Code::DecryptionFailed, b"text")).is_none());
        let refused = settled((Code::DecryptionFailed, b"")).unwrap();
        let item = refused.iter().next().unwrap();
        // It is named all the same.
        assert_eq!(
            (item.code, &item.message[..4]),
            (Code::DecryptionFailed, &[3; 4][..])
        );
    }

    #[test]
    fn what_the_seed_service_sealed_opens_to_its_length_and_is_resealed_to_the_requests_binding() {
        let old = [[9; 16].as_slice(), b"text", &[0; 16]].concat();
        let versions = || {
            let reads = Some(reader(NonceLen::Sixteen, Some("0a")));
            [material(2, None), material(1, reads)]
        };
        let opens = request(HolderOperation::Open, versions());
        let reply = settled(&opens, (1, &old), (Code::Ok, b"TEXT")).unwrap();
        assert_eq!(reply.iter().next().unwrap().message, [9; 16]);
        for wrong in [&b"texts"[..], b""] {
            assert!(settled(&opens, (1, &old), (Code::Ok, wrong)).is_none());
        }
        assert!(settled(&opens, (1, &old[..31]), (Code::Ok, b"")).is_none());
        // An envelope is nothing that such a version opens or makes.
        let data_keys = request(HolderOperation::OpenDataKey, versions());
        assert!(settled(&data_keys, (1, &old), (Code::Ok, b"TEXT")).is_none());
        let reseals = request(HolderOperation::Reseal, versions());
        let made = envelope(2, Kind::Message, GROUP, b"text");
        assert!(settled(&reseals, (1, &old), (Code::Ok, &made)).is_some());
        for wrong in [
            envelope(1, Kind::Message, GROUP, b"text"),
            envelope(2, Kind::Message, Binding::None, b"text"),
            envelope(2, Kind::Message, GROUP, b"tex"),
        ] {
            assert!(settled(&reseals, (1, &old), (Code::Ok, &wrong)).is_none());
        }
        assert!(
            settled(&reseals, (2, &old), (Code::Ok, &made)).is_none(),
            "of no version"
        );
    }

    #[test]
    fn a_resealed_message_keeps_kind_length_and_binding_of_the_old_one() {
        let request = request(
            HolderOperation::Reseal,
            [material(2, None), material(1, None)],
        );
        let old = envelope(1, Kind::Message, Binding::None, b"text");
        let settled = |result: &[u8]| settled(&request, (1, &old), (Code::Ok, result));
        assert!(settled(&envelope(2, Kind::Message, Binding::None, b"text")).is_some());
        assert!(settled(&envelope(2, Kind::Message, GROUP, b"text")).is_none());
        assert!(settled(&envelope(2, Kind::Key, Binding::None, b"text")).is_none());
        assert!(settled(&old).is_none());
    }

    #[test]
    fn a_data_key_comes_with_its_own_envelope() {
        let request = request(
            HolderOperation::MakeDataKey,
            [material(2, None), material(1, None)],
        );
        let settled = |result: &[u8]| settled(&request, (0, b""), (Code::Ok, result));
        let key = [5; DATA_KEY_LEN];
        let whole = |sealed: &[u8]| [&key[..], sealed].concat();
        assert!(settled(&whole(&envelope(2, Kind::Key, GROUP, &key))).is_some());
        assert!(settled(&whole(&envelope(2, Kind::Message, GROUP, &key))).is_none());
        assert!(settled(&whole(&envelope(2, Kind::Key, GROUP, b"short"))).is_none());
        assert!(settled(&key).is_none() && settled(&key[..47]).is_none());
    }

    #[test]
    fn a_key_that_was_there_before_is_the_one_that_was_said_with_a_check_value() {
        let answer = |object: &[u8], sealed: &[u8], rest: &[u8]| {
            let mut inner = Vec::new();
            keywright_encoding::put_lp(&mut inner, object).unwrap();
            keywright_encoding::put_lp(&mut inner, sealed).unwrap();
            inner.extend_from_slice(rest);
            let mut outer = Vec::new();
            keywright_encoding::put_lp(&mut outer, &inner).unwrap();
            outer
        };
        let said = reader(NonceLen::Twelve, Some("0a"));
        let unsaid = reader(NonceLen::Twelve, None);
        let right = answer(&[10], b"check", b"");
        for asked in [&said, &unsaid] {
            let (bound, sealed) = bound(asked, &right).unwrap();
            assert_eq!((bound, sealed), (said.clone(), b"check".to_vec()));
        }
        let other = answer(&[11], b"check", b"");
        assert!(bound(&said, &other).is_none() && bound(&unsaid, &other).is_some());
        for wrong in [
            answer(&[], b"check", b""),
            answer(&[10; 65], b"check", b""),
            answer(&[10], b"", b""),
            answer(&[10], b"check", b"x"),
        ] {
            assert!(bound(&unsaid, &wrong).is_none(), "{wrong:?}");
        }
        for end in 0..right.len() {
            assert!(bound(&unsaid, &right[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn parts_are_short_and_together_all_items_in_order() {
        let mut items = Items::default();
        for number in 0..100 {
            let length = if number == 40 { PART_BYTES + 1 } else { 3 };
            items.push_slices(0, &vec![0; length], b"").unwrap();
        }
        let parts: Vec<_> = parts(&items).collect();
        assert_eq!(parts, [0..32, 32..40, 40..41, 41..73, 73..100]);
    }

    #[test]
    fn no_bytes_are_a_result_that_is_none() {
        let sealed = envelope(1, Kind::Message, Binding::None, b"text");
        let old = [[9; 16].as_slice(), b"text", &[0; 16]].concat();
        for message in [sealed, old, b"text".to_vec()] {
            for asked in 0..OPERATIONS.len() {
                let front = [asked, message.len()].map(|number| u8::try_from(number).unwrap());
                let answer = [&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4][..], b"text"].concat();
                let whole = [&front[..], &message, &answer].concat();
                for end in 0..=whole.len() {
                    fuzz_part(&whole[..end]);
                }
                for place in 0..whole.len() {
                    let mut changed = whole.clone();
                    changed[place] ^= 0x35;
                    fuzz_part(&changed);
                }
            }
        }
    }
}
