//! What the service orders its child to do, as bytes.
//!
//! ```text
//! order    kind u8 | what follows by kind
//! perform  operation u8 | nanoseconds left u64 | binding u8 + 16 | count u16 of named | items
//! generate, bind            lp(material without a secret, JSON)
//! discard, destroy, check   named
//! probe    nothing
//! root     lp(description) | what u8 | lp(envelope or key) | 3 x lp(field of the associated data)
//! named    number u64 | lp(material, JSON)      empty: the child knows the number
//! items    count u32 | count x (version u16 | lp(payload) | lp(aad) | lp(derivation context))
//! ```
//!
//! A version of a key is told once and has a number from then on. A child that does not know a number says so, and is
//! told again.

use keywright_custody::{HolderOperation, Item, Items, KeyMaterial, Request};
use keywright_encoding::Reader;
use keywright_envelope::{Aad, Binding};
use keywright_types::{GroupId, PrincipalId};
use smallvec::SmallVec;

use crate::frame::Buffer;

/// An order, as the child reads it.
#[derive(Debug)]
pub(crate) enum Order<'a> {
    Perform(Perform<'a>),
    Generate(&'a [u8]),
    /// Takes a key that is in the token already, to read with.
    Bind(&'a [u8]),
    Discard(Named<'a>),
    Destroy(Named<'a>),
    Check(Named<'a>),
    Probe,
    Root(OfRoot<'a>),
}

/// One request for some items.
#[derive(Debug)]
pub(crate) struct Perform<'a> {
    pub(crate) operation: HolderOperation,
    /// Nanoseconds until its deadline, or all ones.
    pub(crate) left: u64,
    pub(crate) binding: Binding,
    pub(crate) versions: SmallVec<[Named<'a>; 1]>,
    pub(crate) items: Items,
}

/// A version of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) number: u64,
    /// What it is; empty where the child was told before.
    pub(crate) material: &'a [u8],
}

/// Something for the root key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfRoot<'a> {
    pub(crate) description: &'a [u8],
    pub(crate) what: RootWork,
    /// What is opened or sealed.
    pub(crate) bytes: &'a [u8],
    pub(crate) fields: [&'a [u8]; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootWork {
    Open,
    Seal,
    Probe,
}

impl OfRoot<'_> {
    /// The associated data; `None` if the caller's field is longer than it may be.
    pub(crate) fn aad(&self) -> Option<Aad<'_>> {
        let [caller, derivation, attributes] = self.fields;
        let aad = Aad::EMPTY.caller(caller).ok()?;
        Some(aad.derivation(derivation).attributes(attributes))
    }

    pub(crate) fn put(&self, out: &mut Buffer) {
        out.put_u8(ROOT);
        out.put_lp(self.description);
        out.put_u8(match self.what {
            RootWork::Open => 0,
            RootWork::Seal => 1,
            RootWork::Probe => 2,
        });
        out.put_lp(self.bytes);
        self.fields.iter().for_each(|field| out.put_lp(field));
    }
}

impl Named<'_> {
    fn put(&self, out: &mut Buffer) {
        out.put_u64(self.number);
        out.put_lp(self.material);
    }
}

/// What a child is told of a version: not its parent, whose key it has no use for.
pub(crate) fn told(material: &KeyMaterial) -> Vec<u8> {
    let alone = KeyMaterial::new(identity(material), material.sealed().to_vec(), None)
        .with_detail(material.detail().cloned());
    serde_json::to_vec(&alone).unwrap_or_default()
}

/// Who a version is.
pub(crate) const fn identity(material: &KeyMaterial) -> keywright_custody::Identity {
    keywright_custody::Identity {
        tenant: material.tenant(),
        key: material.key(),
        version: material.version(),
        spec: *material.spec(),
        created: material.created(),
    }
}

/// Writes the order for the items of a part of a request.
pub(crate) fn put_perform<'a>(
    out: &mut Buffer,
    (request, left): (&Request, u64),
    versions: &[Named<'_>],
    items: impl ExactSizeIterator<Item = Item<'a>>,
) {
    out.put_u8(PERFORM);
    out.put_u8(number_of(request.operation));
    out.put_u64(left);
    let (kind, id) = match request.binding {
        Binding::None => (0, [0; 16]),
        Binding::Principal(id) => (1, *id.as_bytes()),
        Binding::Group(id) => (2, *id.as_bytes()),
    };
    out.put_u8(kind);
    out.put(&id);
    out.put_u16(u16::try_from(versions.len()).unwrap_or(u16::MAX));
    versions.iter().for_each(|version| version.put(out));
    out.put_u32(u32::try_from(items.len()).unwrap_or(u32::MAX));
    for item in items {
        out.put_u16(u16::try_from(item.version).unwrap_or(u16::MAX));
        out.put_lp(item.payload);
        out.put_lp(item.aad);
        out.put_lp(item.context);
    }
}

pub(crate) fn put_generate(out: &mut Buffer, blank: &[u8]) {
    out.put_u8(GENERATE);
    out.put_lp(blank);
}

pub(crate) fn put_bind(out: &mut Buffer, blank: &[u8]) {
    out.put_u8(BIND);
    out.put_lp(blank);
}

pub(crate) fn put_probe(out: &mut Buffer) {
    out.put_u8(PROBE);
}

/// What is asked of one version as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfVersion {
    Discard,
    Destroy,
    Check,
}

pub(crate) fn put_of_version(out: &mut Buffer, what: OfVersion, version: Named<'_>) {
    out.put_u8(match what {
        OfVersion::Discard => DISCARD,
        OfVersion::Destroy => DESTROY,
        OfVersion::Check => CHECK,
    });
    version.put(out);
}

/// Reads an order; `None` for anything else, and for one with something behind it.
pub(crate) fn read(bytes: &[u8]) -> Option<Order<'_>> {
    let mut reader = Reader::new(bytes);
    let order = match reader.u8().ok()? {
        PERFORM => Order::Perform(perform(&mut reader)?),
        GENERATE => Order::Generate(reader.lp().ok()?),
        BIND => Order::Bind(reader.lp().ok()?),
        DISCARD => Order::Discard(named(&mut reader)?),
        DESTROY => Order::Destroy(named(&mut reader)?),
        CHECK => Order::Check(named(&mut reader)?),
        PROBE => Order::Probe,
        ROOT => Order::Root(of_root(&mut reader)?),
        _ => return None,
    };
    reader.is_empty().then_some(order)
}

fn perform<'a>(reader: &mut Reader<'a>) -> Option<Perform<'a>> {
    let operation = *OPERATIONS.get(usize::from(reader.u8().ok()?))?;
    let left = reader.u64().ok()?;
    let kind = reader.u8().ok()?;
    let id = *reader.array().ok()?;
    let binding = match kind {
        0 if id == [0; 16] => Binding::None,
        1 => Binding::Principal(PrincipalId::from_bytes(id)),
        2 => Binding::Group(GroupId::from_bytes(id)),
        _ => return None,
    };
    let versions = (0..reader.u16().ok()?).map(|_| named(reader));
    Some(Perform {
        operation,
        left,
        binding,
        versions: versions.collect::<Option<_>>()?,
        items: items(reader)?,
    })
}

fn items(reader: &mut Reader<'_>) -> Option<Items> {
    let count = reader.u32().ok()? as usize;
    let room = reader.rest().len();
    // Nobody gets room for more items than there can be.
    if count > room / LEAST_OF_ITEM {
        return None;
    }
    let mut items = Items::with_capacity(count, room);
    for _ in 0..count {
        let version = reader.u16().ok()?;
        let (payload, aad) = (reader.lp().ok()?, reader.lp().ok()?);
        items.push_slices(version, payload, aad).ok()?;
        items.add_context(reader.lp().ok()?).ok()?;
    }
    Some(items)
}

fn named<'a>(reader: &mut Reader<'a>) -> Option<Named<'a>> {
    Some(Named {
        number: reader.u64().ok()?,
        material: reader.lp().ok()?,
    })
}

fn of_root<'a>(reader: &mut Reader<'a>) -> Option<OfRoot<'a>> {
    let description = reader.lp().ok()?;
    let what = match reader.u8().ok()? {
        0 => RootWork::Open,
        1 => RootWork::Seal,
        2 => RootWork::Probe,
        _ => return None,
    };
    let mut next = || reader.lp().ok();
    Some(OfRoot {
        description,
        what,
        bytes: next()?,
        fields: [next()?, next()?, next()?],
    })
}

/// The number of an operation between the two processes, which are of one program.
pub(crate) fn number_of(operation: HolderOperation) -> u8 {
    let place = OPERATIONS.iter().position(|one| *one == operation);
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(u8::MAX)
}

/// Every operation; its place is its number.
pub(crate) const OPERATIONS: [HolderOperation; 18] = [
    HolderOperation::Agree,
    HolderOperation::Detokenize,
    HolderOperation::ExportKey,
    HolderOperation::Mac,
    HolderOperation::MakeDataKey,
    HolderOperation::Mask,
    HolderOperation::Open,
    HolderOperation::OpenDataKey,
    HolderOperation::OpenDeterministic,
    HolderOperation::PublicKey,
    HolderOperation::Reseal,
    HolderOperation::Seal,
    HolderOperation::SealDeterministic,
    HolderOperation::Sign,
    HolderOperation::Tokenize,
    HolderOperation::Verify,
    HolderOperation::VerifyMac,
    HolderOperation::Xpub,
];

const PERFORM: u8 = 1;
const GENERATE: u8 = 2;
const DISCARD: u8 = 3;
const DESTROY: u8 = 4;
const CHECK: u8 = 5;
const PROBE: u8 = 6;
const ROOT: u8 = 7;
const BIND: u8 = 8;
/// version 2 + three lengths of 4.
const LEAST_OF_ITEM: usize = 14;

/// Takes an order apart: the body of a fuzz target. One that is understood is written the same way again.
///
/// # Panics
/// If it is not.
pub fn fuzz_order(data: &[u8]) {
    let Some(order) = read(data) else {
        return;
    };
    let mut out = Buffer::new();
    out.begin();
    match &order {
        Order::Perform(perform) => {
            let request = Request {
                operation: perform.operation,
                versions: keywright_custody::Versions::new(),
                binding: perform.binding,
                deadline_ns: 0,
            };
            let items = perform.items.iter();
            put_perform(&mut out, (&request, perform.left), &perform.versions, items);
        }
        Order::Generate(blank) => put_generate(&mut out, blank),
        Order::Bind(blank) => put_bind(&mut out, blank),
        Order::Discard(version) => put_of_version(&mut out, OfVersion::Discard, *version),
        Order::Destroy(version) => put_of_version(&mut out, OfVersion::Destroy, *version),
        Order::Check(version) => put_of_version(&mut out, OfVersion::Check, *version),
        Order::Probe => put_probe(&mut out),
        Order::Root(root) => root.put(&mut out),
    }
    assert_eq!(out.body(), data, "an order has one spelling");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Buffer {
        let mut items = Items::default();
        items.push_slices(0, b"text", b"aad").unwrap();
        items.add_context(b"context").unwrap();
        items.push_slices(1, b"", b"").unwrap();
        let request = Request {
            operation: HolderOperation::Seal,
            versions: keywright_custody::Versions::new(),
            binding: Binding::Group(GroupId::from_bytes([7; 16])),
            deadline_ns: 0,
        };
        let versions = [
            Named {
                number: 9,
                material: b"",
            },
            Named {
                number: 10,
                material: b"{}",
            },
        ];
        let mut out = Buffer::new();
        out.begin();
        put_perform(&mut out, (&request, 5), &versions, items.iter());
        out
    }

    #[test]
    fn an_order_comes_back_as_it_was() {
        let frame = sample();
        let Some(Order::Perform(perform)) = read(frame.body()) else {
            panic!("an order");
        };
        assert_eq!(perform.operation, HolderOperation::Seal);
        assert_eq!((perform.left, perform.versions.len()), (5, 2));
        assert_eq!(perform.versions[1].material, b"{}");
        let seen: Vec<_> = perform
            .items
            .iter()
            .map(|item| {
                (
                    [item.payload, item.aad, item.context].map(<[u8]>::to_vec),
                    item.version,
                )
            })
            .collect();
        let first = ["text", "aad", "context"].map(|part| part.as_bytes().to_vec());
        let second = [const { Vec::new() }; 3];
        assert_eq!(seen, [(first, 0), (second, 1)]);
        fuzz_order(frame.body());
    }

    #[test]
    fn an_order_that_is_cut_changed_or_longer_is_refused_or_another_one() {
        let frame = sample();
        let whole = frame.body();
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_none(), "{end}");
        }
        let mut longer = whole.to_vec();
        longer.push(0);
        assert!(read(&longer).is_none());
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.to_vec();
                changed[at] ^= 1 << bit;
                fuzz_order(&changed);
            }
        }
    }

    #[test]
    fn a_count_of_items_that_cannot_be_there_takes_no_memory() {
        let mut bytes = vec![PERFORM, 0];
        bytes.extend([0; 8 + 17]);
        bytes.extend([0; 2]);
        bytes.extend([0xFF; 4]);
        assert!(read(&bytes).is_none());
    }

    #[test]
    fn every_operation_has_its_own_number() {
        for (place, operation) in OPERATIONS.iter().enumerate() {
            assert_eq!(usize::from(number_of(*operation)), place);
        }
    }
}
