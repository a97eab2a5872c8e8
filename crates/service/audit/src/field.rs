//! The fields of a record: one typed variant per tag, so that no field takes a caller's bytes
//! (design 7.32).
//!
//! | field | bytes |
//! |---|---|
//! | message id, group, approval, data key, principal, tenant, searchable, installation, node, boot | 16 |
//! | item digest, anchor, leaf, order digest, newest head | 32 |
//! | reason u16, writer u32, preallocated u64, not after u64, resumed u8 (0 or 1) | as said |
//! | item groups | count u8, each version u32, outcome u16, items u32; then the other items u32 |
//! | item ids | 16 each |
//! | address | 4 or 16 bytes, port u16 |
//! | address prefix | bits u8 (24 or 48), 3 or 6 bytes |
//! | serial | at most 64 |
//! | subject | UTF-8 without control characters, at most 256 |
//! | name | as design 7.3 |
//! | row | lp(table), lp(key), lp(row), MAC 32 |
//! | carried from | boot 16, writer u32, sequence u64 |
//! | paths | for each item: components u8, each u32; none for the root, and for what was no path |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use keywright_encoding::Reader;
use keywright_primitives::mac::MacKey;
use keywright_types::{
    ApprovalId, BootId, DataKeyId, GroupId, InstallationId, Name, NodeId, PrincipalId, TenantId,
};

use crate::batch::Groups;
use crate::chain::FileId;
use crate::{FieldTag, Reason};

/// The first 16 bytes of a nonce, SIV or salt, zero-padded.
pub type MessageId = [u8; 16];

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "each variant is documented at the `FieldTag` of its name"
)]
pub enum Field<'a> {
    MessageId(MessageId),
    ItemGroups(Groups<'a>),
    ItemDigest([u8; 32]),
    ItemIds(&'a [MessageId]),
    Reason(Reason),
    Address(SocketAddr),
    AddressPrefix(Prefix),
    Anchor([u8; 32]),
    Leaf([u8; 32]),
    Serial(Serial<'a>),
    Subject(Subject<'a>),
    Resumed(Resumption),
    Name(NameText<'a>),
    Row(Row<'a>),
    Installation(InstallationId),
    Node(NodeId),
    Boot(BootId),
    Writer(u32),
    NewestHead([u8; 32]),
    Preallocated(u64),
    CarriedFrom(Place),
    Group(GroupId),
    Approval(ApprovalId),
    OrderDigest([u8; 32]),
    Searchable(Searchable),
    DataKey(DataKeyId),
    AboutPrincipal(PrincipalId),
    AboutTenant(TenantId),
    NotAfter(u64),
    Paths(Paths<'a>),
}

/// Paths of keys, as their numbers: no text of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths<'a>(&'a [u8]);

/// Paths that are being listed.
#[derive(Clone, Debug, Default)]
pub struct PathList(Vec<u8>);

impl PathList {
    /// No path yet. It takes no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the path over these children, hardened ones with the highest bit set; at most 255 of them.
    pub fn push(&mut self, children: impl ExactSizeIterator<Item = u32>) {
        self.0.push(u8::try_from(children.len()).unwrap_or(u8::MAX));
        for child in children.take(usize::from(u8::MAX)) {
            self.0.extend_from_slice(&child.to_be_bytes());
        }
    }

    /// Bytes that the field takes.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.0.len()
    }

    /// The field, if there is a path.
    #[must_use]
    pub fn field(&self) -> Option<Field<'_>> {
        (!self.0.is_empty()).then_some(Field::Paths(Paths(&self.0)))
    }
}

impl<'a> Paths<'a> {
    /// `None` unless these are whole paths, one at least.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        (!bytes.is_empty()).then_some(())?;
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let components = usize::from(reader.u8().ok()?);
            reader.take(components * 4).ok()?;
        }
        Some(Self(bytes))
    }

    /// Each path as it is written: `m/44'/0'/7`.
    pub fn iter(&self) -> impl Iterator<Item = String> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (count, tail) = rest.split_first()?;
            let (children, tail) = tail.split_at_checked(usize::from(*count) * 4)?;
            rest = tail;
            let (children, _) = children.as_chunks::<4>();
            let mut text = String::from("m");
            for child in children {
                let raw = u32::from_be_bytes(*child);
                let (number, mark) = (raw & !HARDENED, if raw >= HARDENED { "'" } else { "" });
                text.push_str(&format!("/{number}{mark}"));
            }
            Some(text)
        })
    }
}

/// A value by which records can be found by whoever holds the tenant's audit key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Searchable([u8; 16]);

impl Searchable {
    /// HMAC-SHA-256 of `value` under the tenant's audit key, cut to 16 bytes (design 7.32). Dropping
    /// the key erases every such value.
    #[must_use]
    pub fn new(tenant_audit_key: &MacKey, value: &[u8]) -> Self {
        let mut cut = [0; 16];
        cut.copy_from_slice(&tenant_audit_key.mac(value)[..16]);
        Self(cut)
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// HMAC-SHA-256 of `value` under the tenant's audit key, cut to 16 bytes.
#[must_use]
pub fn searchable(tenant_audit_key: &MacKey, value: &[u8]) -> Searchable {
    Searchable::new(tenant_audit_key, value)
}

/// Whether a TLS session began anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a session is new or it is not")]
pub enum Resumption {
    /// A full handshake.
    Full,
    /// Resumed from a ticket.
    Resumed,
}

/// A certificate's serial number, at most 64 bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial<'a>(&'a [u8]);

impl<'a> Serial<'a> {
    /// Keeps the last 64 bytes of a big-endian number.
    #[must_use]
    pub fn new(serial: &'a [u8]) -> Self {
        Self(&serial[serial.len().saturating_sub(SERIAL_MAX)..])
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

/// A certificate's subject for readers of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a>(&'a str);

impl<'a> Subject<'a> {
    /// Control characters are written as `?`, and what is beyond 256 bytes is cut.
    #[must_use]
    pub const fn new(escaped: &'a str) -> Self {
        Self(escaped)
    }

    /// The text.
    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.0
    }

    fn put(self, out: &mut Vec<u8>) {
        let end = out.len() + SUBJECT_MAX;
        for character in self.0.chars() {
            let shown = if character.is_control() {
                '?'
            } else {
                character
            };
            if out.len() + shown.len_utf8() > end {
                return;
            }
            out.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// A name that was checked (design 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameText<'a>(&'a str);

impl<'a> NameText<'a> {
    /// The text.
    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.0
    }
}

impl<'a> From<&'a Name> for NameText<'a> {
    fn from(name: &'a Name) -> Self {
        Self(name.as_str())
    }
}

/// A row as it stands in the store after a change, secrets sealed as they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what design 7.15 puts into the record"
)]
pub struct Row<'a> {
    /// The table.
    pub table: NameText<'a>,
    /// The row's key.
    pub key: &'a [u8],
    /// Its columns.
    pub row: &'a [u8],
    /// Its MAC.
    pub mac: &'a [u8; 32],
}

/// A record's place: file and sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a place is these two parts")]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The record in it.
    pub sequence: u64,
}

/// The network that refusals are counted by: /24 for IPv4, /48 for IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(IpAddr);

impl Prefix {
    /// The network of an address; an IPv4 address mapped into IPv6 counts as IPv4.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(v4) => {
                let [a, b, c, _] = v4.octets();
                Ipv4Addr::new(a, b, c, 0).into()
            }
            IpAddr::V6(v6) => {
                let [a, b, c, ..] = v6.segments();
                Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
            }
        })
    }

    fn put(self, out: &mut Vec<u8>) {
        match self.0 {
            IpAddr::V4(v4) => {
                out.push(24);
                out.extend_from_slice(&v4.octets()[..3]);
            }
            IpAddr::V6(v6) => {
                out.push(48);
                out.extend_from_slice(&v6.octets()[..6]);
            }
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        match reader.u8().ok()? {
            24 => {
                let [a, b, c] = *reader.array::<3>().ok()?;
                Some(Self(Ipv4Addr::new(a, b, c, 0).into()))
            }
            48 => {
                let mut octets = [0; 16];
                octets[..6].copy_from_slice(reader.array::<6>().ok()?);
                let v6 = Ipv6Addr::from(octets);
                // A mapped address has another spelling, as IPv4.
                (v6.to_ipv4_mapped().is_none()).then_some(Self(v6.into()))
            }
            _ => None,
        }
    }
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0, if self.0.is_ipv4() { 24 } else { 48 })
    }
}

impl<'a> Field<'a> {
    /// A new name, in the record that sets it.
    #[must_use]
    pub fn name(name: &'a Name) -> Self {
        Self::Name(name.into())
    }

    /// The field's number.
    #[must_use]
    pub const fn tag(&self) -> FieldTag {
        match self {
            Self::MessageId(_) => FieldTag::MessageId,
            Self::ItemGroups(_) => FieldTag::ItemGroups,
            Self::ItemDigest(_) => FieldTag::ItemDigest,
            Self::ItemIds(_) => FieldTag::ItemIds,
            Self::Reason(_) => FieldTag::Reason,
            Self::Address(_) => FieldTag::Address,
            Self::AddressPrefix(_) => FieldTag::AddressPrefix,
            Self::Anchor(_) => FieldTag::Anchor,
            Self::Leaf(_) => FieldTag::Leaf,
            Self::Serial(_) => FieldTag::Serial,
            Self::Subject(_) => FieldTag::Subject,
            Self::Resumed(_) => FieldTag::Resumed,
            Self::Name(_) => FieldTag::Name,
            Self::Row(_) => FieldTag::Row,
            Self::Installation(_) => FieldTag::Installation,
            Self::Node(_) => FieldTag::Node,
            Self::Boot(_) => FieldTag::Boot,
            Self::Writer(_) => FieldTag::Writer,
            Self::NewestHead(_) => FieldTag::NewestHead,
            Self::Preallocated(_) => FieldTag::Preallocated,
            Self::CarriedFrom(_) => FieldTag::CarriedFrom,
            Self::Group(_) => FieldTag::Group,
            Self::Approval(_) => FieldTag::Approval,
            Self::OrderDigest(_) => FieldTag::OrderDigest,
            Self::Searchable(_) => FieldTag::Searchable,
            Self::DataKey(_) => FieldTag::DataKey,
            Self::AboutPrincipal(_) => FieldTag::AboutPrincipal,
            Self::AboutTenant(_) => FieldTag::AboutTenant,
            Self::NotAfter(_) => FieldTag::NotAfter,
            Self::Paths(_) => FieldTag::Paths,
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tag().number().to_be_bytes());
        let start = out.len() + 4;
        out.extend_from_slice(&[0; 4]);
        self.put_value(out);
        // A field beyond 4 GiB would be refused as a record beyond `MAX_BODY` before it is written.
        let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
        out[start - 4..start].copy_from_slice(&length.to_be_bytes());
    }

    fn put_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::MessageId(id) => out.extend_from_slice(id),
            Self::ItemGroups(groups) => out.extend_from_slice(groups.as_bytes()),
            Self::ItemIds(ids) => out.extend_from_slice(ids.as_flattened()),
            Self::Reason(reason) => out.extend_from_slice(&reason.number().to_be_bytes()),
            Self::Address(address) => put_address(*address, out),
            Self::AddressPrefix(prefix) => prefix.put(out),
            Self::ItemDigest(bytes)
            | Self::Anchor(bytes)
            | Self::Leaf(bytes)
            | Self::NewestHead(bytes)
            | Self::OrderDigest(bytes) => out.extend_from_slice(bytes),
            Self::Serial(serial) => out.extend_from_slice(serial.0),
            Self::Subject(subject) => subject.put(out),
            Self::Resumed(resumed) => out.push(u8::from(*resumed == Resumption::Resumed)),
            Self::Name(name) => out.extend_from_slice(name.0.as_bytes()),
            Self::Row(row) => put_row(row, out),
            Self::Installation(id) => out.extend_from_slice(id.as_bytes()),
            Self::Node(id) => out.extend_from_slice(id.as_bytes()),
            Self::Boot(id) => out.extend_from_slice(id.as_bytes()),
            Self::Writer(writer) => out.extend_from_slice(&writer.to_be_bytes()),
            Self::Preallocated(number) | Self::NotAfter(number) => {
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::CarriedFrom(place) => {
                out.extend_from_slice(place.file.boot.as_bytes());
                out.extend_from_slice(&place.file.writer.to_be_bytes());
                out.extend_from_slice(&place.sequence.to_be_bytes());
            }
            Self::Group(id) => out.extend_from_slice(id.as_bytes()),
            Self::Paths(paths) => out.extend_from_slice(paths.0),
            Self::Approval(id) => out.extend_from_slice(id.as_bytes()),
            Self::Searchable(value) => out.extend_from_slice(&value.0),
            Self::DataKey(id) => out.extend_from_slice(id.as_bytes()),
            Self::AboutPrincipal(id) => out.extend_from_slice(id.as_bytes()),
            Self::AboutTenant(id) => out.extend_from_slice(id.as_bytes()),
        }
    }

    /// Reads the bytes of a known field; `None` if they are not as its definition says.
    #[must_use]
    pub fn parse(tag: FieldTag, bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let field = Self::read(tag, bytes, &mut reader)?;
        reader.is_empty().then_some(field)
    }

    fn read(tag: FieldTag, bytes: &'a [u8], reader: &mut Reader<'a>) -> Option<Self> {
        let array16 = |reader: &mut Reader<'a>| reader.array::<16>().ok().copied();
        let array32 = |reader: &mut Reader<'a>| reader.array::<32>().ok().copied();
        Some(match tag {
            FieldTag::MessageId => Self::MessageId(array16(reader)?),
            FieldTag::ItemGroups => Self::ItemGroups(Groups::parse(rest(reader)?)?),
            FieldTag::ItemDigest => Self::ItemDigest(array32(reader)?),
            FieldTag::ItemIds => {
                let (ids, left) = rest(reader)?.as_chunks::<16>();
                left.is_empty().then_some(Self::ItemIds(ids))?
            }
            FieldTag::Reason => Self::Reason(Reason::from_number(reader.u16().ok()?).ok()?),
            FieldTag::Address => Self::Address(read_address(bytes.len(), reader)?),
            FieldTag::AddressPrefix => Self::AddressPrefix(Prefix::parse(reader)?),
            FieldTag::Anchor => Self::Anchor(array32(reader)?),
            FieldTag::Leaf => Self::Leaf(array32(reader)?),
            FieldTag::Serial => {
                let serial = rest(reader)?;
                (serial.len() <= SERIAL_MAX).then_some(Self::Serial(Serial(serial)))?
            }
            FieldTag::Subject => Self::Subject(read_subject(rest(reader)?)?),
            FieldTag::Resumed => Self::Resumed(match reader.u8().ok()? {
                0 => Resumption::Full,
                1 => Resumption::Resumed,
                _ => return None,
            }),
            FieldTag::Name => Self::Name(read_name(rest(reader)?)?),
            FieldTag::Row => Self::Row(read_row(reader)?),
            FieldTag::Installation => {
                Self::Installation(InstallationId::from_bytes(array16(reader)?))
            }
            FieldTag::Node => Self::Node(NodeId::from_bytes(array16(reader)?)),
            FieldTag::Boot => Self::Boot(BootId::from_bytes(array16(reader)?)),
            FieldTag::Writer => Self::Writer(reader.u32().ok()?),
            FieldTag::NewestHead => Self::NewestHead(array32(reader)?),
            FieldTag::Preallocated => Self::Preallocated(reader.u64().ok()?),
            FieldTag::CarriedFrom => Self::CarriedFrom(Place {
                file: FileId {
                    boot: BootId::from_bytes(array16(reader)?),
                    writer: reader.u32().ok()?,
                },
                sequence: reader.u64().ok()?,
            }),
            FieldTag::Group => Self::Group(GroupId::from_bytes(array16(reader)?)),
            FieldTag::Approval => Self::Approval(ApprovalId::from_bytes(array16(reader)?)),
            FieldTag::OrderDigest => Self::OrderDigest(array32(reader)?),
            FieldTag::Searchable => Self::Searchable(Searchable(array16(reader)?)),
            FieldTag::DataKey => Self::DataKey(DataKeyId::from_bytes(array16(reader)?)),
            FieldTag::AboutPrincipal => {
                Self::AboutPrincipal(PrincipalId::from_bytes(array16(reader)?))
            }
            FieldTag::AboutTenant => Self::AboutTenant(TenantId::from_bytes(array16(reader)?)),
            FieldTag::NotAfter => Self::NotAfter(reader.u64().ok()?),
            FieldTag::Paths => Self::Paths(Paths::parse(rest(reader)?)?),
        })
    }
}

fn rest<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = reader.rest().len();
    reader.take(length).ok()
}

fn put_address(address: SocketAddr, out: &mut Vec<u8>) {
    match address.ip().to_canonical() {
        IpAddr::V4(v4) => out.extend_from_slice(&v4.octets()),
        IpAddr::V6(v6) => out.extend_from_slice(&v6.octets()),
    }
    out.extend_from_slice(&address.port().to_be_bytes());
}

fn read_address(length: usize, reader: &mut Reader<'_>) -> Option<SocketAddr> {
    let ip = match length {
        6 => IpAddr::from(*reader.array::<4>().ok()?),
        18 => IpAddr::from(*reader.array::<16>().ok()?),
        _ => return None,
    };
    (ip == ip.to_canonical()).then_some(())?;
    Some(SocketAddr::new(ip, reader.u16().ok()?))
}

fn read_subject(bytes: &[u8]) -> Option<Subject<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    (text.len() <= SUBJECT_MAX && !text.contains(char::is_control)).then_some(Subject(text))
}

fn read_name(bytes: &[u8]) -> Option<NameText<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    Name::is_valid(text).then_some(NameText(text))
}

fn put_row(row: &Row<'_>, out: &mut Vec<u8>) {
    for part in [row.table.0.as_bytes(), row.key, row.row] {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(part);
    }
    out.extend_from_slice(row.mac);
}

fn read_row<'a>(reader: &mut Reader<'a>) -> Option<Row<'a>> {
    Some(Row {
        table: read_name(reader.lp().ok()?)?,
        key: reader.lp().ok()?,
        row: reader.lp().ok()?,
        mac: reader.array().ok()?,
    })
}

/// The bit of a hardened child.
const HARDENED: u32 = 1 << 31;
const SERIAL_MAX: usize = 64;
const SUBJECT_MAX: usize = 256;
